"""Skimming CSS: whether a text can hold a reference that is not absolute.

Strategy: most style elements of real pages hold none. A few searches for literals settle that at
many times the speed of `css.references`, which has to read comments and strings too. The answer
errs on one side only: a text that is said to hold none holds none.
"""

from __future__ import annotations

import re
from typing import Final

# What stands after `url(` when the reference is absolute in every profile, local, or none.
_settled: Final = re.compile(rb"[\t\n\f\r ]*+[\"']?(?:https?://|data:|#|[\"')])").match

# An escape that may stand for a letter or a sign of what is looked for: `u\72l(`, `\@import`.
_telling_escape: Final = re.compile(
    rb"\\(?:[^0-9A-Fa-f\n\r\f\"']|0{0,4}[2-7][0-9A-Fa-f](?![0-9A-Fa-f]))"
).search


def may_hold_relative(text: bytes) -> bool:
    """Whether a style sheet, or a value with CSS in it, may hold a reference to be rewritten.

    Args:
        text: CSS in a charset in which ASCII bytes are ASCII.

    >>> may_hold_relative(b"p{background:url(data:,)}"), may_hold_relative(b"p{background:URL(x)}")
    (False, True)
    """
    lower = text.lower()
    if b"src(" in lower or b"-set(" in lower or b"@import" in lower:
        return True
    if b"\\" in text and _telling_escape(text):
        return True
    at = lower.find(b"url(")
    while at >= 0:
        if not _settled(lower, at + 4):
            return True
        at = lower.find(b"url(", at + 4)
    return False
