"""The characters of the legacy charsets of the WHATWG Encoding Standard, one at a time.

Strategy: the bytes of a text are cut into units as the standard's decoders cut them (section
numbers are those of the standard), and Python's codecs only look up what one unit means, with the
differences in `indexes`. Units come in, runs of a view go out; the way back is `bytes_of`.

To mind: undecodable bytes are carried as the surrogates U+DC80 to U+DCFF, so that they can be
written back; `scalar_values` is what a browser makes of them. An ASCII byte that completes no
character is given back and means itself. `bytes_of` writes only what is read back as it was; what
the standard's encoders write for want of it is in `encoders`.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from relbase.expressions import expression
from relbase.view.charset import WIDE
from relbase.view.indexes import MULTI_BYTE, SINGLE_BYTE_PATCHES
from relbase.view.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterator

_REPLACEMENT: Final = "\ufffd"


def text(inner: bytes) -> str:
    """Return the characters of inner text, those of its bytes that are not UTF-8 as surrogates."""
    try:
        return inner.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return inner.decode("utf-8", "surrogateescape")


def inner(string: str) -> bytes:
    """Return the inner text of a view that means `string`."""
    return string.encode("utf-8", "surrogatepass")


# Unicode, table 3-7: well-formed UTF-8 outside ASCII. What it leaves is one bad byte each.
_UTF_8: Final = (
    rb"(?:[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf][\x80-\xbf]"
    rb"|[\xf1-\xf3][\x80-\xbf][\x80-\xbf][\x80-\xbf]|\xf4[\x80-\x8f][\x80-\xbf][\x80-\xbf])++"
)


def unit_pattern(charset: str) -> bytes:
    """Return what matches the bytes outside ASCII that a charset's decoder takes at once.

    In UTF-8 that is all well-formed text up to the next ASCII or bad byte.
    """
    multi_byte = MULTI_BYTE.get(charset)
    if multi_byte:
        return multi_byte.unit + rb"|[\x80-\xff]"
    return _UTF_8 + rb"|[\x80-\xff]" if charset == "utf-8" else rb"[\x80-\xff]"


def unit_run(unit: bytes, start: int, charset: str) -> Run | None:
    """Return the run of a unit that begins at the offset `start`, None if it means itself."""
    if charset == "utf-8":
        return None if len(unit) > 1 else Run(start, start + 1, inner(_undecodable(unit)))
    character = _character(unit, charset)
    if character is not None:
        return Run(start, start + len(unit), inner(character))
    # Encoding Standard, the decoders: an ASCII byte that completes nothing is given back.
    length = 1 if len(unit) == 2 and unit[1:].isascii() else len(unit)  # noqa: PLR2004
    bad = _undecodable(unit[:length])
    return Run(start, start + length, inner(bad), unended=charset in MULTI_BYTE)


def scalar_values(string: str, charset: str) -> str:
    """Return what a browser has for a string with undecodable bytes: one U+FFFD for each error.

    Implements the decoders of the Encoding Standard, error mode "replacement".
    """
    if string.isascii():
        return string
    if charset == "utf-8":
        string = _BAD_BYTES.sub(_utf8_errors, string)
    elif charset in _VIEWED:
        string = _CODED.sub(_REPLACEMENT, string)
    elif charset in MULTI_BYTE:
        string = _BAD_UNITS.sub(lambda found: _unit_errors(found[0], charset), string)
    return _SURROGATES.sub(_REPLACEMENT, string)


_SURROGATES: Final = expression("[\ud800-\udfff]")
# A document in these is scanned in a view, whose UTF-8 has surrogates of its own: they come as the
# three bytes that they are there.
_VIEWED: Final = frozenset({"iso-2022-jp", *WIDE})
_CODED: Final = expression("\udced[\udca0-\udcbf][\udc80-\udcbf]")
_BAD_BYTES: Final = expression("[\udc80-\udcff]{2,}+")
# A bad character of four bytes in gb18030 has two digits.
_BAD_UNITS: Final = expression("[\udc80-\udcff](?:[0-9]?[\udc80-\udcff])++[0-9]?+")


def _utf8_errors(found: re.Match[str]) -> str:
    """Python replaces "maximal subparts", as the UTF-8 decoder does."""
    return found[0].encode("ascii", "surrogateescape").decode("utf-8", "replace")


def _unit_errors(string: str, charset: str) -> str:
    raw = string.encode("ascii", "surrogateescape")
    return _units(charset).sub(b"\0", raw).decode("ascii").replace("\0", _REPLACEMENT)


def is_multi_byte(charset: str) -> bool:
    """Whether an undecodable byte could become a character with an ASCII byte after it."""
    return charset in MULTI_BYTE


def characters(charset: str, raw: bytes) -> Iterator[Run]:
    """Yield the runs of a text that are its characters outside ASCII."""
    for unit in _units(charset).finditer(raw):
        run = unit_run(unit[0], unit.start(), charset)
        if run is not None:
            yield run


@cache
def _units(charset: str) -> re.Pattern[bytes]:
    return re.compile(unit_pattern(charset))


def _undecodable(unit: bytes) -> str:
    return unit.decode("ascii", "surrogateescape")


# A text repeats its characters; a character table has at most 24,000 of them.
@lru_cache(maxsize=1 << 14)
def _character(unit: bytes, charset: str) -> str | None:
    """Return the character that one unit of a legacy charset means, None for none."""
    multi_byte = MULTI_BYTE.get(charset)
    if multi_byte is None:
        return _single_bytes(charset)[0][unit[0]]
    if unit in multi_byte.patches:
        return multi_byte.patches[unit]
    if charset == "euc-jp" and len(unit) == 2 and unit[0] > 0xA0:  # noqa: PLR2004
        return jis_0208(bytes(byte & 0x7F for byte in unit))
    return _looked_up(unit, multi_byte.codec)


def _looked_up(unit: bytes, codec: str) -> str | None:
    try:
        return unit.decode(codec)
    except UnicodeDecodeError:
        return None


def bytes_of(character: str, charset: str) -> bytes | None:
    """Return the bytes of a character in a legacy charset, None if it has none there."""
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00])
    if charset not in MULTI_BYTE:
        return _single_bytes(charset)[1].get(character)
    return _multi_bytes(character, charset)


@lru_cache(maxsize=1 << 14)
def _multi_bytes(character: str, charset: str) -> bytes | None:
    is_unwritten = _unwritten(charset).fullmatch
    # §5 Indexes: "index pointer" is the first one.
    for unit in sorted(_candidates(character, charset), key=lambda unit: (len(unit), unit)):
        if _character(unit, charset) == character and not is_unwritten(unit):
            return unit
    return None


def _candidates(character: str, charset: str) -> Iterator[bytes]:
    if special := _special(charset).get(character):
        yield special
    jis = to_jis_0208(character) if charset == "euc-jp" else None
    if jis:
        yield bytes(byte | 0x80 for byte in jis)
    try:
        yield character.encode(MULTI_BYTE[charset].codec)
    except UnicodeEncodeError:
        return
    if charset == "shift_jis" and (unit := _ibm_extensions().get(character)):
        yield unit


@cache
def _special(charset: str) -> dict[str, bytes]:
    """Return what is written for characters that the codec does not know, or knows elsewhere."""
    known = MULTI_BYTE[charset]
    return {character: unit for unit, character in known.patches.items()} | dict(known.preferred)


@cache
def _unwritten(charset: str) -> re.Pattern[bytes]:
    return re.compile(MULTI_BYTE[charset].unwritten, re.DOTALL)


@cache
def _ibm_extensions() -> dict[str, bytes]:
    """Return IBM's extensions of Shift_JIS, which Python writes as NEC has them."""
    units = (bytes((lead, trail)) for lead in range(0xFA, 0xFD) for trail in range(0x40, 0xFD))
    return {known: unit for unit in units if (known := _looked_up(unit, "cp932"))}


@cache
def _single_bytes(charset: str) -> tuple[list[str | None], dict[str, bytes]]:
    """Return the table of a single-byte charset and its reverse."""
    import webencodings  # noqa: PLC0415  rare, and costs start-up

    codec = webencodings.lookup(charset).codec_info
    patches = SINGLE_BYTE_PATCHES.get(charset, {})
    table: list[str | None] = []
    for byte in range(256):
        character = codec.decode(bytes([byte]), "replace")[0]
        if character == _REPLACEMENT:
            # The windows indexes fill their holes in the C1 area with the control itself.
            is_control = charset.startswith("windows-") and byte < 0xA0  # noqa: PLR2004
            character = chr(byte) if is_control else None
        table.append(patches.get(byte, character))
    return table, {character: bytes([byte]) for byte, character in enumerate(table) if character}


# JIS X 0208, in the bytes of ISO-2022-JP; index jis0208 is that of Shift_JIS, which Python has.

_PAIR: Final = 2
_JIS: Final = range(0x21, 0x7F)
_CELLS: Final = len(_JIS)
# Shift_JIS puts two rows under one lead byte, has its single-byte katakana between two ranges of
# lead bytes, and leaves out DEL as a trail byte.
_ROWS_BELOW_KANA: Final = 0x1F
_CELLS_BELOW_DEL: Final = 0x3F


def jis_0208(pair: bytes) -> str | None:
    """Return the character of a pair in JIS X 0208, None for any other bytes."""
    if len(pair) != _PAIR or pair[0] not in _JIS or pair[1] not in _JIS:
        return None
    row, is_second = divmod(pair[0] - 0x21, 2)
    cell = pair[1] - 0x21 + _CELLS * is_second
    lead = row + (0x81 if row < _ROWS_BELOW_KANA else 0xC1)
    trail = cell + (0x40 if cell < _CELLS_BELOW_DEL else 0x41)
    return _looked_up(bytes((lead, trail)), "cp932")


def to_jis_0208(character: str) -> bytes | None:
    """Return the pair of a character in JIS X 0208, None if it has none."""
    try:
        lead, trail = character.encode("cp932")
    except ValueError:  # not in Shift_JIS, or a single byte there
        return None
    row = lead - (0x81 if lead < 0xA0 else 0xC1)  # noqa: PLR2004  the katakana
    cell = trail - (0x40 if trail < 0x7F else 0x41)  # noqa: PLR2004  no DEL
    is_second, cell = divmod(cell, _CELLS)
    pair = (2 * row + is_second + 0x21, cell + 0x21)
    return bytes(pair) if pair[0] in _JIS and jis_0208(bytes(pair)) == character else None
