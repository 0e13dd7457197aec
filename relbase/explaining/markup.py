"""Text of a document as text of a page: nothing in it is markup, and all of it can be seen."""

from __future__ import annotations

import re
from html import escape
from typing import Final

# What changes how text around it is read, or what cannot be seen: controls, formats (bidirectional
# overrides among them), lone surrogates, private use, line and paragraph separators.
_UNSEEN: Final = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff9-\ufffc\U000e0000-\U000e0fff]+"
)

# A URL may be as long as its document.
_LONG: Final = 2_000


def text(value: str) -> str:
    r"""Return a text as markup: escaped, and what cannot be seen as escapes in a `<span>`."""
    escaped = escape(value, quote=False).replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub(_seen, escaped) if _UNSEEN.search(escaped) else escaped


def _seen(found: re.Match[str]) -> str:
    return f'<span class="u">{ascii(found[0])[1:-1]}</span>'


def attribute(value: str) -> str:
    """Return a text as the value of an attribute in double quotes."""
    return escape(_UNSEEN.sub(lambda found: ascii(found[0])[1:-1], value)).replace("\n", " ")


def url(value: str) -> str:
    """Return a URL as markup: never a link, `""` when it is empty, cut when it is very long."""
    if not value:
        return '<code class="url empty">""</code>'
    more = ""
    if len(value) > _LONG:
        more = f" <small>and {len(value) - _LONG:,} characters more</small>"
    return f'<code class="url">{text(value[:_LONG])}</code>{more}'


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
