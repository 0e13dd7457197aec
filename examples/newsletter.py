"""A newsletter: absolute links, its style sheet in the elements, a message for smtplib.

message = newsletter.message(html, "https://site.example/letters/1", css_inline.inline)
message["Subject"], message["From"], message["To"] = "News", "us@site.example", "you@h.example"
with smtplib.SMTP("localhost") as smtp:
    smtp.send_message(message)
"""

from collections.abc import Callable
from email.message import EmailMessage

from relbase import Policy, rewrite_text

# Placeholders are filled in later, and a link to a place in the letter stays in it.
POLICY = Policy(keep_templates=True, keep_fragments=True)


def message(html: str, url: str, inline: Callable[[str], str]) -> EmailMessage:
    """Return a letter; `inline` is `premailer.transform`, `css_inline.inline` or the like.

    Links become absolute first: those from an inlined style sheet are relative to that sheet.
    """
    made = EmailMessage()
    made.set_content(f"Read this letter in your browser: {url}\n")
    made.add_alternative(inline(rewrite_text(html, url=url, policy=POLICY)), subtype="html")
    return made
