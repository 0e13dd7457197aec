"""Which functions of CSS hold references, and in which form: one row for each.

The expressions look at the end of a name, and so find `xurl(` too: `css` reads the whole name.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from relbase.expressions import expression
from relbase.references.tags import any_case


class Form(Enum):
    """How a reference is written; only `IMPORT` makes another sheet part of this one."""

    URL = "url"  # without quotes, or a string and modifiers
    SRC = "src"  # a string and modifiers
    IMAGE_SET = "image-set"  # any string directly in it
    IMPORT = "import"
    FILTER = "filter"  # a string after `src=`


class Function(NamedTuple):
    """A function whose arguments hold references."""

    name: bytes  # in lower case, of letters, digits and `-`
    form: Form
    extended: bool = False  # counts with the policy `extended` only


FUNCTIONS: Final = (
    Function(b"url", Form.URL),  # CSS Values 4 §4.5
    Function(b"src", Form.SRC),  # CSS Values 4 §4.5
    Function(b"image-set", Form.IMAGE_SET),  # CSS Images 4 §2.4
    Function(b"-webkit-image-set", Form.IMAGE_SET),
    # Internet Explorer, for images that pages of the time need to look right
    Function(b"alphaimageloader", Form.FILTER, extended=True),
)

# Those that are a <url>, as `@import` takes it (CSS Values 4 §4.5).
URL_FORMS: Final = (Form.URL, Form.SRC)

NAMES: Final = tuple(function.name for function in FUNCTIONS)
LONGEST_NAME: Final = max(map(len, NAMES))


def _endings(names: tuple[bytes, ...]) -> list[bytes]:
    """The shortest endings by which some functions are found."""
    return [name for name in names if not any(name != end and name.endswith(end) for end in names)]


_ENDINGS: Final = _endings(NAMES)
_LASTS: Final = b"".join(name[-1:] for name in _ENDINGS)
LAST_LETTERS: Final = frozenset(_LASTS + _LASTS.upper())
# The place after the name of no function.
NOT_AFTER: Final = b"".join(b"(?<!%b)" % any_case(name) for name in _ENDINGS)


def _after(names: tuple[bytes, ...]) -> bytes:
    """Return an expression for the bracket after the name of a function."""
    return rb"\((?:%b)" % b"|".join(rb"(?<=%b\()" % any_case(name) for name in _endings(names))


# At-rules that begin with a reference, or after which one means something else.
IMPORT: Final = b"import"
NAMESPACE: Final = b"namespace"
CONTAINER: Final = b"container"

# An escape that may stand for a letter or a sign of what is looked for: `u\72l(`, `\@import`. Six
# digits are one in any case, fewer where no other digit follows.
_TELLING_ESCAPE: Final = rb"""\\(?: [^0-9A-Fa-f\n\r\f"'] | 0{4}[2-7][0-9A-Fa-f]
    | 0{0,3}[2-7][0-9A-Fa-f](?![0-9A-Fa-f]) )"""
_IMPORT: Final = rb"@" + any_case(IMPORT)
# The bracket comes first: a search for few bytes is what makes these expressions fast.
_AFTER_NAME: Final = _after(NAMES)
_URL: Final = _after(tuple(row.name for row in FUNCTIONS if row.form is Form.URL))
_AFTER_OTHER: Final = _after(tuple(row.name for row in FUNCTIONS if row.form is not Form.URL))
# Absolute in every profile, local, or empty.
_NOT_RELATIVE: Final = rb"""(?! [\t\n\f\r ]*+
    (?: \) | "" | '' | ["']?+ (?: (?i:https?://|data:) | \# ) ) )"""
_holding: Final = expression(rb"|".join((_TELLING_ESCAPE, _IMPORT, _AFTER_NAME)), re.VERBOSE)
_relative: Final = expression(
    rb"|".join((_TELLING_ESCAPE, _IMPORT, _AFTER_OTHER, _URL + _NOT_RELATIVE)),
    re.VERBOSE,
)


def holds_none(text: bytes) -> bool:
    """Whether CSS holds no reference at all, at the first sight."""
    return _holding.search(text) is None


def is_settled(text: bytes) -> bool:
    """Whether CSS holds no reference to be rewritten, at the first sight."""
    return _relative.search(text) is None


# Without one of these there is no reference. An escape has eight bytes at most.
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
