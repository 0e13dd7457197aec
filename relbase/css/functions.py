"""The CSS functions that hold references, one row for each, and the escapes of CSS.

The expressions match the end of a name, so they also find `xurl(`; `css` reads the whole name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from functools import partial
from typing import Final, NamedTuple

from relbase.expressions import expression
from relbase.html.tags import all_but, any_case
from relbase.view.characters import code_of
from relbase.view.runs import Run, RunView, read


class Form(Enum):
    """How a reference is written; only `IMPORT` makes another sheet part of this one."""

    URL = "url"  # without quotes, or a string and modifiers
    SRC = "src"  # a string and modifiers
    IMAGE_SET = "image-set"  # any string directly in it
    IMPORT = "import"
    FILTER = "filter"  # a string after `src=`


class Function(NamedTuple):
    name: bytes  # in lower case, of letters, digits and `-`
    form: Form
    extended: bool = False  # counts with the policy `extended` only


FUNCTIONS: Final = (
    Function(b"url", Form.URL),  # CSS Values 4 §4.5
    Function(b"src", Form.SRC),  # CSS Values 4 §4.5
    Function(b"image-set", Form.IMAGE_SET),  # CSS Images 4 §2.4
    Function(b"-webkit-image-set", Form.IMAGE_SET),
    # Internet Explorer's, for images that pages of its time need to look right
    Function(b"alphaimageloader", Form.FILTER, extended=True),
)

# Forms of a <url>, which `@import` accepts (CSS Values 4 §4.5).
URL_FORMS: Final = (Form.URL, Form.SRC)

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


# At-rules that begin with a reference, or that change what one means.
IMPORT: Final = b"import"
NAMESPACE: Final = b"namespace"
CONTAINER: Final = b"container"
# Nothing is loaded from what their conditions compare.
SUPPORTS: Final = b"supports"
DOCUMENTS: Final = (b"document", b"-moz-document")

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
    (?: \) | "" | '' | ["']?+ (?: (?i:https?://|data:) | \# ) ) )"""
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


# ---- Escapes: decoding a URL in a style sheet, and escaping new text (CSS Syntax 3 §4.3). `\41`
# without a space would go on into new text, and so would a `</st` before a `yle`: the edit rewrites
# both.

# §4.3.7 and the railroad diagram of §4.1. A newline is LF, CR, FF or CR LF.
#   escape: "\" ( hex-digit{1,6} whitespace? | not( newline | hex-digit ) | EOF )
ESCAPE: Final = rb"\\(?:[0-9A-Fa-f]{1,6}+(?:\r\n|[ \t\n\r\f])?+|[^\n\r\f0-9A-Fa-f]|\Z)"

# NUL is read as U+FFFD (§3.3), which can be in a name, as all non-ASCII characters can.
WORD: Final = rb"0-9A-Za-z_\-\x00\x80-\xff"
NAME: Final = rb"(?:[%b]++|%b)++" % (WORD, ESCAPE)
# §4.3.5: escapes, and escaped newlines. A bare newline ends a bad string and is not part of it.
_INSIDE: Final = rb"(?:%b++|%b|\\(?:\r\n|[\n\r\f]))*+"
INSIDE_DOUBLE: Final = _INSIDE % (all_but(b'"\\\n\r\f'), ESCAPE)
INSIDE_SINGLE: Final = _INSIDE % (all_but(b"'\\\n\r\f"), ESCAPE)
# What does not mean itself: an escape, an escaped newline (§4.3.5), NUL (§3.3).
_CODE: Final = rb"""
      \\ (?: (?P<digits>[0-9A-Fa-f]{1,6}+) (?P<space>\r\n|[ \t\n\r\f])?+
         | (?P<newline>\r\n|[\n\r\f])
         | (?P<itself>[^\x00])
         | (?P<nothing>\Z)
         | \x00
         )
    | \x00
    """
_CODED: Final = expression(_CODE, re.VERBOSE)
# Rows of it, since a million take a second one by one: escapes of two bytes, where the backslash of
# the next one ends a digit, and escaped newlines.
_ROWS: Final = expression(
    rb"(?P<row>(?:\\[^\n\r\f0\x00](?=\\))++) | (?P<newlines>(?:\\(?:\r\n|[\n\r\f]))++) |" + _CODE,
    re.VERBOSE,
)
_DIGITS: Final = b"123456789abcdefABCDEF"
_IN_ROW: Final = bytes.maketrans(_DIGITS, bytes(int(_DIGITS[at : at + 1], 16) for at in range(21)))

# `<` and `>` are escaped everywhere, so that new text never forms `</style`, or the `-->` or `]]>`
# of a comment or section around the sheet. Parentheses, quotes and white space would turn an
# unquoted url into a bad url (§4.3.6).
_UNSAFE: Final = {
    b'"': expression(rb'[\x00-\x1f\x7f"\\<>]'),
    b"'": expression(rb"[\x00-\x1f\x7f'\\<>]"),
    b"": expression(rb"[\x00-\x20\x7f\"'()\\<>]"),
}
_END_TAG_BEGUN: Final = expression(rb"(?i)<(?:/(?:s(?:t(?:y(?:l(?:e)?)?)?)?)?)?\Z")
_END_TAG_LENGTH: Final = len(b"</style")


def unescape(raw: bytes, quote: bytes = b"") -> bytes:
    r"""Decode an identifier, a URL or the inside of a string."""
    if b"\\" not in raw and b"\0" not in raw:
        return raw
    return read(raw, _runs(quote, raw, _ROWS))


def css_view(raw: bytes, quote: bytes) -> RunView:
    """Return the view of a URL in CSS; a NUL in new text reads back as U+FFFD."""
    unsafe = _UNSAFE.get(quote)
    if unsafe is None:
        raise ValueError(f"quote must be one of b'\"', b\"'\" and b'', not {quote!r}")
    return RunView(
        raw,
        partial(_runs, quote),
        lambda new: unsafe.sub(lambda found: b"\\%x " % found[0][0], new),
        _joins,
        partial(_runs, quote, coded=_ROWS),
    )


def _runs(quote: bytes, raw: bytes, coded: re.Pattern[bytes] = _CODED) -> Iterator[Run]:
    new = tuple.__new__  # `Run(...)` takes twice as long
    return (new(Run, (*one.span(), _meaning(one, quote), False)) for one in coded.finditer(raw))


def _meaning(match: re.Match[bytes], quote: bytes) -> bytes:
    """Consume an escaped code point, §4.3.7; in a string also what §4.3.5 skips."""
    kind = match.lastgroup
    if kind == "itself":
        return match["itself"]
    if kind in {"newline", "newlines"} or (kind == "nothing" and quote):
        return b""
    if kind == "row":
        return match["row"][1::2].translate(_IN_ROW)
    code = code_of(match["digits"] or b"", 16)
    return chr(code or 0xFFFD).encode()


def _joins(raw: bytes, at: int) -> int:
    """Return the offset from which text could combine with new text at the offset `at`."""
    begun = _END_TAG_BEGUN.search(raw, max(0, at - _END_TAG_LENGTH), at)
    first = begun.start() if begun else at
    chain = -1  # where the row of hex escapes without a space begins that ends at `done`
    done = 0
    for match in _CODED.finditer(raw):
        start, end = match.span()
        if start >= at:
            break
        # Text after `\41`, or after a `\` at the very end, could become part of it.
        if match.lastgroup in {"digits", "nothing"}:
            chain = start if chain < 0 or start > done else chain
            if end == at:
                return chain
        elif match.lastgroup != "newline" or start > done:
            chain = -1
        first = start if start < first < end else first
        done = end
    return first


def css_escaped(character: str) -> bytes:
    r"""Return the escape of a character that a style sheet's charset lacks (§4.3.7)."""
    return b"\\%x " % ord(character)
