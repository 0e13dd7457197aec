"""Character references in HTML attribute values and texts.

Whether `&amp` without a semicolon is a reference depends on what follows, so these runs are
`unended`. `_begun_reference` finds a plain `&am` of the author's that an edit could complete.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache, partial
from typing import Final

from relbase.expressions import expression, regex
from relbase.view.characters import MULTI_BYTE, code_of, decode_inner, unit_pattern, unit_run
from relbase.view.runs import Run, RunView
from relbase.view.transcode import encode, reference

# Finds a byte that may not mean itself. Edits of other values need only `spell`, no view.
needs_view: Final = regex(rb"[&\r\0\x80-\xff]").search

# Used as the quote of a text, where the longest known name counts, whatever follows it.
TEXT: Final = b"&"


def attribute_view(raw: bytes, quote: bytes, charset: str) -> RunView:
    """Return the view of an attribute's value (WHATWG HTML §13.2.5.72 to §13.2.5.80, §13.2.3.5).

    A NUL is read as U+FFFD. It cannot be written; nor can a C1 control that the charset lacks.
    """
    find, rows = (partial(_runs, pattern(charset), charset, quote) for pattern in (_coded, _rows))
    return RunView(raw, find, lambda new: spell(new, quote, charset), _begun_reference, rows)


def spell(new: bytes, quote: bytes, charset: str) -> bytes:
    """Escape inner text so that it means itself anywhere in a value."""
    unsafe = _UNSAFE[quote]
    string = decode_inner(new)
    if string.isascii() and not unsafe.search(string):
        return new
    string = unsafe.sub(lambda match: _REFERENCES[match[0]], string)
    if charset in MULTI_BYTE:
        string = _BEHIND_BYTE.sub(lambda match: reference(match[0]).decode("ascii"), string)
    return encode(string, charset)


# Characters written as references: those that the tokenizer would misread, LF because a CR may
# precede it, and `<` and `>` for the sake of whatever contains the tag.
_REFERENCES: Final = {character: f"&#{ord(character)};" for character in "'`=\t\n\f\r "} | {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "\0": "&#65533;",
}
_UNSAFE: Final = {
    b'"': expression('[&<>"\r\n\0]'),
    b"'": expression("[&<>'\r\n\0]"),
    TEXT: expression("[&<>\r\n\0]"),
    b"": expression("[&<>\"'`=\t\n\f\r \0]"),
}
# A character after an undecodable byte, which could take it as its second half.
_BEHIND_BYTE: Final = expression("(?<=[\udc80-\udcff])[^&\udc80-\udcff]")


def _runs(coded: re.Pattern[bytes], charset: str, quote: bytes, raw: bytes) -> Iterator[Run]:
    for match in coded.finditer(raw):
        start, end = match.span()
        first = raw[start]
        if first == _AMPERSAND:
            run = _reference_run(match, raw, quote)
        elif first >= _NOT_ASCII:
            run = unit_run(match[0], start, charset)
        elif first:  # §13.2.3.5: CR and CRLF are LF
            run = Run(start, end, b"\n", unended=end - start == 1)
        else:  # §13.2.5.36 to .38
            run = Run(start, end, "\ufffd".encode())
        if run is not None:
            yield run


_AMPERSAND: Final = 0x26
_SEMICOLON: Final = 0x3B
_NOT_ASCII: Final = 0x80

# §13.5: the longest name has 31 letters and a semicolon.
_LONGEST_NAME: Final = 32

# §13.2.5.73 Named character reference state, §13.2.5.75 Numeric character reference state.
# Digits are matched in one go, however many there are.
_CODED: Final = (
    rb"&(?: \#(?P<number>[xX][0-9A-Fa-f]++|[0-9]++) | (?P<name>[0-9A-Za-z]++) );?+"
    rb"| \r\n?+ | \0 |"
)


# Addresses are hidden from programs as such a row. Its end keeps what is decoded at once small.
_ROW: Final = rb"(?P<row>(?:&\#(?:[0-9]{1,6}|[xX][0-9A-Fa-f]{1,5});){2,256}+) |"


@cache
def _coded(charset: str) -> re.Pattern[bytes]:
    return regex(_CODED + unit_pattern(charset), re.VERBOSE)


@cache
def _rows(charset: str) -> re.Pattern[bytes]:
    return regex(_ROW + _CODED + unit_pattern(charset), re.VERBOSE)


def _reference_run(match: re.Match[bytes], raw: bytes, quote: bytes) -> Run | None:
    # A reference may be as long as the document, so nothing is copied without need.
    start, end = match.span()
    if match.lastgroup == "name":
        end = _name_end(raw, start + 1, end, quote)
        meaning = _names().get(raw[start + 1 : end])
    elif match.lastgroup == "row":
        numbers = match[0][len(b"&#") : -len(b";")].split(b";&#")
        meaning = "".join(map(_short_numbered, numbers)).encode("utf-8")
    else:
        meaning = _numbered(match["number"]).encode("utf-8")
    if meaning is None:
        return None
    return Run(start, end, meaning, unended=raw[end - 1] != _SEMICOLON)


def _numbered(number: bytes) -> str:
    """Return the character that the number of a reference stands for."""
    is_hex = number[0] in b"xX"
    code = code_of(number[is_hex:], 16 if is_hex else 10)
    return _C1.get(code) or chr(code or 0xFFFD)


_short_numbered: Final = lru_cache(maxsize=256)(_numbered)


def _name_end(raw: bytes, start: int, end: int, quote: bytes) -> int:
    """Return the end of the name that begins at `start`, or `start` if there is none."""
    if quote == TEXT:
        longest = min(end, start + _LONGEST_NAME)
        return next((at for at in range(longest, start, -1) if raw[start:at] in _names()), start)
    is_assigned = raw[end - 1] != _SEMICOLON and raw[end : end + 1] == b"="
    return start if is_assigned or end - start > _LONGEST_NAME else end


@cache
def _names() -> dict[bytes, bytes]:
    from html.entities import html5  # costs start-up

    return {name.encode("ascii"): meaning.encode("utf-8") for name, meaning in html5.items()}


# §13.2.5.80 Numeric character reference end state, the table: that of windows-1252.
_C1: Final = {code: bytes((code,)).decode("cp1252", "ignore") for code in range(0x80, 0xA0)}


_BEGUN: Final = expression(rb"&(?:\#[xX]?+|[0-9A-Za-z]*+)\Z", re.VERBOSE)


def _begun_reference(raw: bytes, at: int) -> int:
    """Return the offset of a plain `&` that text at `at` could make a reference; `at` if none."""
    begun = _BEGUN.search(raw, max(0, at - 1 - _LONGEST_NAME), at)
    return begun.start() if begun else at
