"""Where CSS may hold references: a quick test, made of the names of functions.

It matches the end of a name, so it also finds `xurl(`; `statements` reads the whole name.
"""

from __future__ import annotations

import re
from typing import Final

from relbase.css.functions import FUNCTIONS, IMPORT
from relbase.expressions import expression
from relbase.html.tags import any_case

NAMES: Final = tuple(function.name for function in FUNCTIONS)
LONGEST_NAME: Final = max(map(len, NAMES))


# The names without those that end in another one.
_ENDINGS: Final = [
    name for name in NAMES if not any(name != end and name.endswith(end) for end in NAMES)
]
_LASTS: Final = b"".join(name[-1:] for name in _ENDINGS)
LAST_LETTERS: Final = frozenset(_LASTS + _LASTS.upper())
# Matches a place that is not after the name of a function.
NOT_AFTER: Final = b"".join(b"(?<!%b)" % any_case(name) for name in _ENDINGS)


# An escape that may stand for a letter or sign of what is searched for: `u\72l(`, `\@import`. Six
# digits always make an escape, fewer only if no other digit follows.
_TELLING_ESCAPE: Final = rb"""\\(?: [^0-9A-Fa-f\n\r\f"'] | 0{4}[2-7][0-9A-Fa-f]
    | 0{0,3}[2-7][0-9A-Fa-f](?![0-9A-Fa-f]) )"""
# The bracket comes first, since the expression is fast if it searches for few bytes.
_AFTER_NAME: Final = rb"\((?:%b)" % b"|".join(rb"(?<=%b\()" % any_case(name) for name in _ENDINGS)
_holding: Final = expression(
    rb"|".join((_TELLING_ESCAPE, rb"@" + any_case(IMPORT), _AFTER_NAME)), re.VERBOSE
)


def holds_none(text: bytes) -> bool:
    """Return whether CSS surely holds no reference."""
    return _holding.search(text) is None
