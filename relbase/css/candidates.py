"""Where CSS may hold references: quick tests, made of the names of functions.

The expressions match the end of a name, so they also find `xurl(`; `css` reads the whole name.
"""

from __future__ import annotations

import re
from typing import Final

from relbase.css.functions import FUNCTIONS, IMPORT, Form
from relbase.expressions import expression
from relbase.html.tags import any_case
from relbase.url.plain import ABSOLUTE

NAMES: Final = tuple(function.name for function in FUNCTIONS)
LONGEST_NAME: Final = max(map(len, NAMES))


def _endings(names: tuple[bytes, ...]) -> list[bytes]:
    """Return the names without those that end in another one."""
    return [name for name in names if not any(name != end and name.endswith(end) for end in names)]


_ENDINGS: Final = _endings(NAMES)
_LASTS: Final = b"".join(name[-1:] for name in _ENDINGS)
LAST_LETTERS: Final = frozenset(_LASTS + _LASTS.upper())
# Matches a place that is not after the name of a function.
NOT_AFTER: Final = b"".join(b"(?<!%b)" % any_case(name) for name in _ENDINGS)


def _after(names: tuple[bytes, ...]) -> bytes:
    """Return an expression for the bracket after one of these names."""
    return rb"\((?:%b)" % b"|".join(rb"(?<=%b\()" % any_case(name) for name in _endings(names))


# An escape that may stand for a letter or sign of what is searched for: `u\72l(`, `\@import`. Six
# digits always make an escape, fewer only if no other digit follows.
_TELLING_ESCAPE: Final = rb"""\\(?: [^0-9A-Fa-f\n\r\f"'] | 0{4}[2-7][0-9A-Fa-f]
    | 0{0,3}[2-7][0-9A-Fa-f](?![0-9A-Fa-f]) )"""
_IMPORT: Final = rb"@" + any_case(IMPORT)
# The bracket comes first, since these expressions are fast if they search for few bytes.
_AFTER_NAME: Final = _after(NAMES)
_URL: Final = _after(tuple(row.name for row in FUNCTIONS if row.form is Form.URL))
_AFTER_OTHER: Final = _after(tuple(row.name for row in FUNCTIONS if row.form is not Form.URL))
# Absolute in every profile, local, or empty.
_NOT_RELATIVE: Final = rb"""(?! [\t\n\f\r ]*+
    (?: \) | "" | '' | ["']?+ (?: (?i:%b) | \# ) ) )""" % "|".join(ABSOLUTE).encode()
_holding: Final = expression(rb"|".join((_TELLING_ESCAPE, _IMPORT, _AFTER_NAME)), re.VERBOSE)
_relative: Final = expression(
    rb"|".join((_TELLING_ESCAPE, _IMPORT, _AFTER_OTHER, _URL + _NOT_RELATIVE)),
    re.VERBOSE,
)


def holds_none(text: bytes) -> bool:
    """Return whether CSS surely holds no reference; a quick test."""
    return _holding.search(text) is None


def has_no_reference(text: bytes) -> bool:
    """Return whether CSS surely holds no reference to rewrite; a quick test."""
    return _relative.search(text) is None


# There is no reference without one of these. An escape has at most eight bytes.
_TRIGGERS: Final = {
    **{name + b"(": len(name) + 1 for name in _ENDINGS},
    b"@" + IMPORT: 7,
    b"\\": 8,
}


def last_trigger(text: bytes, start: int, end: int) -> int:
    """Return the end of the last place where a reference may begin, or 0 if there is none."""
    if text.find(b"(", start, end) < 0 and text.find(b"@", start, end) < 0:
        return 0
    lowered = text[start:end].lower()
    founds = [(lowered.rfind(trigger), length) for trigger, length in _TRIGGERS.items()]
    limit = max((start + found + length for found, length in founds if found >= 0), default=0)
    return min(limit, end)
