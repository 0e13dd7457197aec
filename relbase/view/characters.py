"""The characters of the legacy charsets of the WHATWG Encoding Standard, one at a time.

Strategy: the bytes of a text are cut into units as the standard's decoders cut them (section
numbers are those of the standard), and Python's codecs only look up what one unit means, with
patches where their tables differ from the standard's indexes. Units come in, runs of a view go
out; the way back is `bytes_of`.

To mind: undecodable bytes are carried as the surrogates U+DC80 to U+DCFF. An ASCII byte that
completes no character is given back and means itself. 192 pairs of Big5 (additions of HKSCS-2008,
duplicates) are unknown to Python: they count as undecodable, and so come through unchanged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.view.runs import Run

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_REPLACEMENT: Final = "\ufffd"


def text(inner: bytes) -> str:
    r"""Return the characters of a view's inner text; bytes in it that are no UTF-8 as surrogates.

    >>> text(b"caf\xc3\xa9")
    'café'
    """
    try:
        return inner.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return inner.decode("utf-8", "surrogateescape")


def inner(string: str) -> bytes:
    r"""Return the inner text of a view that means `string`.

    >>> inner("caf\udce9")
    b'caf\xed\xb3\xa9'
    """
    return string.encode("utf-8", "surrogatepass")


class _MultiByte(NamedTuple):
    """`unit` matches all the bytes that the decoder takes at once, a good or a bad character."""

    unit: bytes
    codec: str
    patches: Mapping[bytes, str] = {}


def _patches(table: str) -> dict[bytes, str]:
    return {bytes.fromhex(pair[:-1]): pair[-1] for pair in table.split(" ")}


_GB18030: Final = _MultiByte(
    # §10.2.1 gb18030 decoder: four bytes, or two; its index is of GB 18030-2022.
    rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xff])",
    "gb18030",
    _patches(
        "80\u20ac a3a0\u3000 a6d9\ufe10 a6da\ufe12 a6db\ufe11 a6dc\ufe13 a6dd\ufe14 a6de\ufe15"
        " a6df\ufe16 a6ec\ufe17 a6ed\ufe18 a6f3\ufe19 a8bc\u1e3f 8135f437\ue7c7 fe59\u9fb4"
        " fe61\u9fb5 fe66\u9fb6 fe67\u9fb7 fe6d\u9fb8 fe7e\u9fb9 fe90\u9fba fea0\u9fbb"
    ),
)

_MULTI_BYTE: Final = {
    "gbk": _GB18030,  # §10.1.1: GBK's decoder is gb18030's decoder
    "gb18030": _GB18030,
    "big5": _MultiByte(  # §11.1.1 Big5 decoder
        rb"[\x81-\xfe][\x40-\x7e\x80-\xff]",
        "big5hkscs",
        _patches(
            "a145\u2027 a14e\ufe51 a1c2\u00af a1e3\uff5e a1f2\u2295 a1f3\u2299 a241\u2215"
            " a242\ufe68 a244\uffe5 a246\uffe0 a247\uffe1"
        ),
    ),
    "euc-jp": _MultiByte(  # §12.1.1 EUC-JP decoder
        rb"\x8f[\xa1-\xfe][\x80-\xff]?|[\x8e\x8f\xa1-\xfe][\x80-\xff]",
        "euc_jp",
        _patches("8fa2b7\uff5e"),
    ),
    "shift_jis": _MultiByte(  # §12.3.1 Shift_JIS decoder
        rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xff]",
        "cp932",
        _patches("a0\udca0 fd\udcfd fe\udcfe ff\udcff"),
    ),
    "euc-kr": _MultiByte(rb"[\x81-\xfe][\x41-\x7e\x80-\xff]", "cp949"),  # §13.1.1 EUC-KR decoder
}

# §9 Legacy single-byte encodings: where Python's tables differ from the indexes.
_SINGLE_BYTE_PATCHES: Final = {
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}

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
    multi_byte = _MULTI_BYTE.get(charset)
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
    return Run(start, start + length, inner(bad), unended=charset in _MULTI_BYTE)


def is_multi_byte(charset: str) -> bool:
    """Whether an undecodable byte could become a character with an ASCII byte behind it."""
    return charset in _MULTI_BYTE


@dataclass(frozen=True, slots=True)
class Characters:
    """The characters outside ASCII of a text, found anew by each iteration."""

    raw: bytes
    charset: str

    def __iter__(self) -> Iterator[Run]:
        for unit in _units(self.charset).finditer(self.raw):
            run = unit_run(unit[0], unit.start(), self.charset)
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
    multi_byte = _MULTI_BYTE.get(charset)
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


@lru_cache(maxsize=1 << 14)
def bytes_of(character: str, charset: str) -> bytes | None:
    """Return the bytes of a character in a legacy charset, None if it has none there."""
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00])
    if charset not in _MULTI_BYTE:
        return _single_bytes(charset)[1].get(character)
    for candidate in _candidates(character, charset):
        if _character(candidate, charset) == character and not _decode_only(candidate, charset):
            return candidate
    return None


def _candidates(character: str, charset: str) -> Iterator[bytes]:
    multi_byte = _MULTI_BYTE[charset]
    for unit, meaning in multi_byte.patches.items():
        if meaning == character:
            yield unit
    jis = to_jis_0208(character) if charset == "euc-jp" else None
    if jis:
        yield bytes(byte | 0x80 for byte in jis)
    try:
        yield character.encode(multi_byte.codec)
    except UnicodeEncodeError:
        return


def _decode_only(unit: bytes, charset: str) -> bool:
    """Whether the standard's encoder never writes the unit, though its decoder reads it."""
    return (
        (charset == "gb18030" and len(unit) == 1)  # §10.2.2: 0x80 is GBK's euro sign
        or (charset == "gbk" and len(unit) == 4)  # noqa: PLR2004  §10.2.2: four bytes are gb18030's
        or (charset == "big5" and unit[0] < 0xA1)  # noqa: PLR2004  §5: HKSCS is left out
        or (charset == "euc-jp" and len(unit) == 3)  # noqa: PLR2004  §12.1.2: no JIS X 0212
    )


@cache
def _single_bytes(charset: str) -> tuple[list[str | None], dict[str, bytes]]:
    """Return the table of a single-byte charset and its reverse."""
    import webencodings  # noqa: PLC0415  rare, and costs start-up

    codec = webencodings.lookup(charset).codec_info
    patches = _SINGLE_BYTE_PATCHES.get(charset, {})
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
    """Return the character of a pair in JIS X 0208, None for any other bytes.

    >>> jis_0208(b'$"')
    'あ'
    """
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
