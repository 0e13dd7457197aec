r"""The escapes of CSS: decoding a URL in a style sheet, and escaping new text (CSS Syntax 3 §4.3).

`\41` without a space would go on into new text, and so would a `</st` before a `yle`: the edit
rewrites both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from relbase.expressions import expression
from relbase.html.tags import all_but
from relbase.view.characters import code_of
from relbase.view.runs import Run, RunView, read

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
STRING: Final = rb"""(?:"%b"?+|'%b'?+)""" % (INSIDE_DOUBLE, INSIDE_SINGLE)
# §4.3.2; an unclosed comment reaches to the end.
COMMENT: Final = rb"/\*(?:[^*]*+\*++(?:[^/*][^*]*+\*++)*+/|(?s:.)*+)"
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
        lambda new: unsafe.sub(lambda match: b"\\%x " % match[0][0], new),
        _joins,
        partial(_runs, quote, coded=_ROWS),
    )


def _runs(quote: bytes, raw: bytes, coded: re.Pattern[bytes] = _CODED) -> Iterator[Run]:
    new = tuple.__new__  # `Run(...)` takes twice as long
    return (
        new(Run, (*escape.span(), _meaning(escape, quote), False)) for escape in coded.finditer(raw)
    )


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
