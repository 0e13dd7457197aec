"""What the caller may choose. The command line's flags are generated from these fields."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final

from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Choices about what is rewritten; the defaults are what most users want.

    Args:
        keep_fragments: leave references into the same document (`#top`) alone.
        keep: leave references alone that match this regular expression. In Python it may also be
            a function that returns whether a reference stays.
        extended: rewrite what only some readers take for URLs too: param values, RDFa, lazy
            loading, social media metadata.
        attachments: rewrite documents attached to a message.
        dkim_signed: rewrite messages that carry a DKIM signature or an ARC seal.
        keep_templates: leave references with placeholders alone, such as `{{url}}` or `*|URL|*`.
        item_links: resolve the HTML of a feed's items against each item's link, as some readers do.

    Raises:
        TypeError: if `keep` is neither a compiled pattern of strings nor a function, or another
            field is not a bool.

    >>> Policy(keep=re.compile(r"^/private/")).keeps("/private/x")
    True
    """

    keep_fragments: bool = False
    keep: re.Pattern[str] | Callable[[str], bool] | None = None
    extended: bool = False
    attachments: bool = True
    dkim_signed: bool = True
    keep_templates: bool = False
    item_links: bool = False

    def __post_init__(self) -> None:
        keep: object = self.keep
        compiled = isinstance(keep, re.Pattern) and isinstance(keep.pattern, str)
        if keep is not None and not compiled and (isinstance(keep, type) or not callable(keep)):
            raise TypeError(
                "keep is a compiled pattern of strings or a function: give re.compile('...')"
            )
        for field in fields(self):
            value: object = getattr(self, field.name)
            if field.name != "keep" and not isinstance(value, bool):
                raise TypeError(f"{field.name} is a bool, not {type(value).__name__}: give True")

    @property
    def chooses(self) -> bool:
        """Whether the text of a reference decides if it is left alone."""
        return self.keep is not None or self.keep_templates

    def keeps(self, reference: str) -> bool:
        """Whether a relative reference is left alone for what it says.

        >>> Policy(keep_templates=True).keeps("/u/{{ user }}")
        True
        """
        if self.keep_templates and is_template(reference):
            return True
        keep = self.keep
        if keep is None:
            return False
        if isinstance(keep, re.Pattern):
            return keep.search(reference) is not None
        return bool(keep(reference))


def is_template(reference: str) -> bool:
    """Whether a reference holds a placeholder, which some program is still to fill in.

    >>> [is_template(one) for one in ("{{ base }}/x", "*|UNSUB|*", "%20x%20", "a[1]", "[link]")]
    [True, True, False, False, True]
    """
    if _rarely.search(reference) is None:
        return False
    if any(opening in reference for opening in _OPENINGS) or _whole.fullmatch(reference):
        return True
    lowered = reference.lower()
    return any(_encloses(lowered, *pair) for pair in _PAIRS) or any(
        not (_escape.match(reference, found.start()) and _escape.match(reference, found.end()))
        for found in _named.finditer(reference)
    )


def _encloses(text: str, opening: str, closing: str) -> bool:
    # What the first opening does not enclose, no later one does: linear.
    start = text.find(opening)
    return start >= 0 and text.find(closing, start + len(opening)) >= 0


# Without one of these there is no placeholder.
_rarely: Final = expression(r"[{<%|\[]|\A-")

# These count without their end too, since a quote inside often ends the attribute before it:
# Jinja, Django, Handlebars, Liquid; ERB, ASP, JSP; PHP.
_OPENINGS: Final = ("{{", "{%", "<%", "<?")

_PAIRS: Final = (
    ("${", "}"),  # JSP, Thymeleaf, Freemarker, JavaScript
    ("#{", "}"),  # Ruby, JSF
    ("{!", "}"),  # Salesforce
    ("%%", "%%"),  # Salesforce Marketing Cloud, ezmlm
    ("%7b%7b", "%7d%7d"),  # {{ }} that an editor has percent-encoded
    ("*|", "|*"),  # Mailchimp
    ("[[", "]]"),  # Mailjet, WordPress plugins
)

# [link], {link} and -link-: as the whole value only, since URLs hold such characters too.
_whole: Final = expression(r"\[[^\[\]]++\] | \{[^{}]++\} | -[A-Za-z_][\w.]*+-", re.VERBOSE)

# %name%, where one of the two is not the `%` of an escape such as %20.
_named: Final = expression(r"%[A-Za-z_][\w.:-]*+(?=%)")
_escape: Final = expression(r"%[0-9A-Fa-f]{2}")
