"""Skimming CSS: how far a text can hold references that are not absolute.

Strategy: most style elements of real pages hold none, or none after their first rules. A few
searches for literals settle that at many times the speed of `css.references`, which has to read
comments and strings too. The answer errs on one side only: after the offset there is none.
"""

from __future__ import annotations

import re
from typing import Final

from relbase.expressions import expression
from relbase.references.css_functions import TAKEN, Form, after
from relbase.references.tags import any_case

# A function that takes references; not a url() whose reference is absolute in every profile, local,
# or empty. The bracket comes first: a search for one byte is what makes the regex fast.
_relative: Final = expression(
    rb"""\( (?: %b (?! [\t\n\f\r ]*+ (?: \) | "" | '' | ["']?+ (?: (?i:https?://|data:) | \# ) ) )
        | %b )"""
    % (
        after(Form.URL, bracket=rb"\("),
        after(*(form for form in TAKEN if form is not Form.URL), bracket=rb"\("),
    ),
    re.VERBOSE,
)
_import: Final = expression(rb"@" + any_case(b"import"))

# An escape that may stand for a letter or a sign of what is looked for: `u\72l(`, `\@import`. Six
# digits are one in any case, fewer where no other digit follows.
_telling_escape: Final = expression(
    rb"\\(?:[^0-9A-Fa-f\n\r\f\"']|0{4}[2-7][0-9A-Fa-f]|0{0,3}[2-7][0-9A-Fa-f](?![0-9A-Fa-f]))"
)


def is_settled(text: bytes) -> bool:
    """Whether CSS holds no reference to be rewritten: `last_relative` is 0, at the first sight.

    >>> is_settled(b"p{background:url(data:,)}"), is_settled(b"p{background:URL(x)} b{}")
    (True, False)
    """
    if b"\\" in text and _telling_escape.search(text):
        return False
    return not any(True for search in (_relative, _import) for _ in search.finditer(text))


_function: Final = expression(rb"\(" + after(bracket=rb"\("))


def holds_none(text: bytes) -> bool:
    """Whether CSS holds no reference at all, at the first sight."""
    if b"\\" in text and _telling_escape.search(text):
        return False
    return _function.search(text) is None and _import.search(text) is None


def last_relative(text: bytes) -> int:
    """The offset up to which CSS may hold a reference to be rewritten; 0 when it holds none.

    >>> last_relative(b"p{background:url(data:,)}"), last_relative(b"p{background:URL(x)} b{}")
    (0, 17)
    """
    if b"\\" in text and _telling_escape.search(text):
        return len(text)
    last = 0
    for search in (_relative, _import):
        for found in search.finditer(text):
            last = max(last, found.end())
    return last
