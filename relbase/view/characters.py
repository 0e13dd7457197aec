"""The characters of the legacy charsets of the WHATWG Encoding Standard, one at a time.

Python's codecs decode each unit, corrected by the differences below. Undecodable bytes become the
surrogates U+DC80 to U+DCFF.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from typing import Final, NamedTuple

from relbase.expressions import expression, regex
from relbase.view.charset import ISO_2022_JP, WIDE
from relbase.view.runs import Run

_REPLACEMENT: Final = "\ufffd"


def decode_inner(inner: bytes) -> str:
    """Decode inner text; bytes that are not UTF-8 become surrogates."""
    try:
        return inner.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return inner.decode("utf-8", "surrogateescape")


def encode_inner(string: str) -> bytes:
    return string.encode("utf-8", "surrogatepass")


_GREATEST: Final = 0x10FFFF
_GREATEST_DIGITS: Final = len(str(_GREATEST))


def code_of(digits: bytes, radix: int) -> int:
    """Return the code point that the digits of a reference name, or 0 if they name none."""
    digits = digits.lstrip(b"0")
    code = int(digits or b"0", radix) if len(digits) <= _GREATEST_DIGITS else 0
    is_surrogate = 0xD800 <= code < 0xE000  # noqa: PLR2004
    return 0 if code > _GREATEST or is_surrogate else code


# Unicode, table 3-7: well-formed UTF-8 outside ASCII. Each byte that it does not match is bad.
_UTF_8: Final = (
    rb"(?:[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]|\xed[\x80-\x9f][\x80-\xbf]"
    rb"|[\xe1-\xec\xee\xef][\x80-\xbf][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf][\x80-\xbf]"
    rb"|[\xf1-\xf3][\x80-\xbf][\x80-\xbf][\x80-\xbf]|\xf4[\x80-\x8f][\x80-\xbf][\x80-\xbf])++"
)


def unit_pattern(charset: str) -> bytes:
    """Return the pattern of the non-ASCII bytes that a charset's decoder reads in one step."""
    multi_byte = MULTI_BYTE.get(charset)
    if multi_byte:
        return multi_byte.unit + rb"|[\x80-\xff]"
    return _UTF_8 + rb"|[\x80-\xff]" if charset == "utf-8" else rb"[\x80-\xff]"


def unit_run(unit: bytes, start: int, charset: str) -> Run | None:
    """Return the run of the unit at the offset `start`, or None if the unit means itself."""
    if charset == "utf-8":
        return None if len(unit) > 1 else Run(start, start + 1, encode_inner(_undecodable(unit)))
    character = _character(unit, charset)
    if character is not None:
        return Run(start, start + len(unit), encode_inner(character))
    # Encoding Standard, the decoders: an ASCII byte that completes no character is read again.
    length = 1 if len(unit) == 2 and unit[1:].isascii() else len(unit)  # noqa: PLR2004
    bad = _undecodable(unit[:length])
    return Run(start, start + length, encode_inner(bad), unended=charset in MULTI_BYTE)


def scalar_values(string: str, charset: str) -> str:
    """Return a string as a browser decodes it, with one U+FFFD for each decoding error."""
    if string.isascii():
        return string
    if charset == "utf-8":  # Python replaces "maximal subparts", as the UTF-8 decoder does
        string = _BAD_BYTES.sub(lambda bad: _bytes(bad[0]).decode("utf-8", "replace"), string)
    elif charset in _VIEWED:
        string = _CODED.sub(_REPLACEMENT, string)
    elif charset in MULTI_BYTE:
        unit = _units(charset)
        string = _BAD_UNITS.sub(lambda bad: unit.sub(_ERROR, _bytes(bad[0])).decode(), string)
    return _SURROGATES.sub(_REPLACEMENT, string)


_SURROGATES: Final = expression("[\ud800-\udfff]")
# A document in one of these is scanned in a view. Lone surrogates in the view's UTF-8 arrive here
# as three undecodable bytes each.
_VIEWED: Final = frozenset({ISO_2022_JP, *WIDE})
_CODED: Final = expression("\udced[\udca0-\udcbf][\udc80-\udcbf]")
_BAD_BYTES: Final = expression("[\udc80-\udcff]{2,}+")
_ERROR: Final = _REPLACEMENT.encode()
# A bad four-byte character of gb18030 contains two ASCII digits.
_BAD_UNITS: Final = expression("[\udc80-\udcff](?:[0-9]?[\udc80-\udcff])++[0-9]?+")


def _bytes(bad: str) -> bytes:
    return bad.encode("ascii", "surrogateescape")


def characters(charset: str, raw: bytes) -> Iterator[Run]:
    for unit in _units(charset).finditer(raw):
        run = unit_run(unit[0], unit.start(), charset)
        if run is not None:
            yield run


@cache
def _units(charset: str) -> re.Pattern[bytes]:
    return regex(unit_pattern(charset))


def _undecodable(unit: bytes) -> str:
    return unit.decode("ascii", "surrogateescape")


# Texts repeat their characters, and no charset has more than 24,000.
@lru_cache(maxsize=1 << 14)
def _character(unit: bytes, charset: str) -> str | None:
    multi_byte = MULTI_BYTE.get(charset)
    if multi_byte is None:
        return single_bytes(charset)[0][unit[0]]
    if unit in multi_byte.patches:
        return multi_byte.patches[unit]
    if charset == "euc-jp" and len(unit) == 2 and unit[0] > 0xA0:  # noqa: PLR2004
        return jis_0208().get(bytes(byte & 0x7F for byte in unit))
    return _looked_up(unit, multi_byte.codec)


def _looked_up(unit: bytes, codec: str) -> str | None:
    try:
        return unit.decode(codec)
    except UnicodeDecodeError:
        return None


def bytes_of(character: str, charset: str) -> bytes | None:
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00])
    if charset not in MULTI_BYTE:
        return single_bytes(charset)[1].get(character)
    return _multi_bytes(character, charset)


@lru_cache(maxsize=1 << 14)
def _multi_bytes(character: str, charset: str) -> bytes | None:
    is_unwritten = MULTI_BYTE[charset].unwritten.fullmatch
    # §5 Indexes: the "index pointer" is the first that matches.
    for unit in sorted(_candidates(character, charset), key=lambda unit: (len(unit), unit)):
        if _character(unit, charset) == character and not is_unwritten(unit):
            return unit
    return None


def _candidates(character: str, charset: str) -> Iterator[bytes]:
    if special := _special(charset).get(character):
        yield special
    jis = jis_0208_bytes().get(character) if charset == "euc-jp" else None
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
    """Return the bytes of characters that the codec lacks or encodes differently."""
    known = MULTI_BYTE[charset]
    return {character: unit for unit, character in known.patches.items()} | dict(known.preferred)


@cache
def _ibm_extensions() -> dict[str, bytes]:
    """Return the bytes of IBM's extensions of Shift_JIS; Python would write NEC's."""
    units = (bytes((lead, trail)) for lead in range(0xFA, 0xFD) for trail in range(0x40, 0xFD))
    return {known: unit for unit in units if (known := _looked_up(unit, "cp932"))}


@cache
def single_bytes(charset: str) -> tuple[str, dict[str, bytes]]:
    """Return the character of each byte of a single-byte charset, and the reverse table."""
    import webencodings  # rare, and costs start-up

    codec = webencodings.lookup(charset).codec_info
    patches = SINGLE_BYTE_PATCHES.get(charset, {})
    table: list[str] = []
    for byte in range(256):
        character = codec.decode(bytes([byte]), "replace")[0]
        if character == _REPLACEMENT:
            # The windows indexes fill gaps in the C1 area with the control characters.
            is_control = charset.startswith("windows-") and byte < 0xA0  # noqa: PLR2004
            character = chr(byte) if is_control else _undecodable(bytes([byte]))
        table.append(patches.get(byte, character))
    return "".join(table), {character: bytes([byte]) for byte, character in enumerate(table)}


@cache
def jis_0208() -> dict[bytes, str]:
    """Return JIS X 0208 by its bytes in ISO-2022-JP, taken from the index of Shift_JIS."""
    # Shift_JIS puts two rows under one lead byte, has its single-byte katakana between two ranges
    # of lead bytes, and leaves out DEL as a trail byte.
    leads = (*range(0x81, 0xA0), *range(0xE0, 0xF0))
    trails = (*range(0x40, 0x7F), *range(0x80, 0xFD))
    pairs = map(bytes, product(range(0x21, 0x7F), repeat=2))
    units = zip(pairs, map(bytes, product(leads, trails)), strict=True)
    return {pair: known for pair, unit in units if (known := _looked_up(unit, "cp932"))}


@cache
def jis_0208_bytes() -> dict[str, bytes]:
    return {character: pair for pair, character in reversed(jis_0208().items())}


# ---- The indexes of the standard, as differences from Python's codecs. The results were compared
# with Chromium, character by character.


class MultiByte(NamedTuple):
    """A charset whose characters have one, two or more bytes."""

    unit: bytes  # pattern of the bytes that the decoder reads in one step, valid or not
    codec: str  # Python's codec
    patches: Mapping[bytes, str] = {}  # characters of units that the codec decodes differently
    # units of characters that the codec encodes differently
    preferred: Mapping[str, bytes] = {}
    # matches units that are decoded but never written
    unwritten: re.Pattern[bytes] = expression(rb"(?!)")


def _patches(table: str) -> dict[bytes, str]:
    """Read runs of "UNIT:CHARACTERS": the first unit in hex, then the characters from it on."""
    patches: dict[bytes, str] = {}
    for run in table.split(" "):
        code, characters = run.split(":")
        unit = bytes.fromhex(code)
        for character in characters:
            patches[unit] = character
            unit = unit[:-1] + bytes([0xA1 if unit[-1] == _LAST_LOW else unit[-1] + 1 & 0xFF])
    return patches


# After this trail byte, those of Big5 continue at 0xA1. No run of another charset reaches it.
_LAST_LOW: Final = 0x7E


_GB18030: Final = MultiByte(
    # §10.2.1 gb18030 decoder: four bytes or two; the index is that of GB 18030-2022.
    rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xff])",
    "gb18030",
    _patches(
        "80:\u20ac a3a0:\u3000 a6d9:\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16 a6ec:\ufe17\ufe18"
        " a6f3:\ufe19 a8bc:\u1e3f 8135f437:\ue7c7 fe59:\u9fb4 fe61:\u9fb5 fe66:\u9fb6\u9fb7"
        " fe6d:\u9fb8 fe7e:\u9fb9 fe90:\u9fba fea0:\u9fbb"
    ),
    unwritten=expression(rb"(?s)."),  # §10.2.2: only GBK writes a single byte (the euro sign)
)

# Remapped symbols, additions of HKSCS-2008, and duplicates; then the control pictures.
_BIG5: Final = _patches(
    "877a:㡵𡵓𣚞𦀡㻬𥣞㫵竼龗𤅡𨤍𣇪𠪊𣉞䌊蒄龖鐯䤰蘓墖靊鈘秐稲晠権袝瑌篅枂稬剏遆㓦珄𥶹瓆鿇垳"
    "䤯呌䄱𣚎堘穲𧭥讏䚮𦺈䆁𥶙箮𢒼鿈𢓁𢓉𢓌鿉蔄𣖻䂴鿊䓡𪷿拁灮鿋"
    " 8e69:箸 8e6f:簆 8e7e:糎 8eab:緒 8eb4:縝 8ecd:者 8ed0:耨 8f57:菁 8f69:蒨 8f6e:萏 8fcb:覦覩"
    " 8ffe:起 906d:都 907a:銹 90dc:靜 90f1:響 91bf:鼖 9244:蔃 92af:兙兛兝兞 92c8:鍮 92d1:瑹"
    " 9447:浧 94ca:禛 95d9:邗 9644:靝 96ed:瀞 96fc:嬨 9b76:爁 9b78:矗 9b7b:纇 9bc6:駖 9bde:釔"
    " 9bec:惞 9bf6:澶 9c42:輶 9c53:侻 9c62:營 9c68:鄄 9c6b:鷰 9c77:菏 9cbc:尐秣 9cd0:婧 9d57:輋"
    " 9d5a:筑 9dc4:拐 9ea9:恢 9eef:痹 9efd:汊 9f60:鬮 9f66:鼗 9fcb:僭 9fd8:弌 a063:蠏 a077:拎"
    " a0d5:瑨 a0df:煢 a0e4:牐 a145:\u2027 a14e:\ufe51 a1c2:\u00af a1e3:\uff5e a1f2:\u2295"
    " a1f3:\u2299 a241:\u2215 a242:\ufe68 a244:\uffe5 a246:\uffe0 a247:\uffe1 c6cf:廴 c6d3:无"
    " c6d5:癶 c6d7:隶 c6de:\u3003仝 fa5f:倩 fa66:偽 fabd:包 fac5:卄 fad5:卿 fb48:嘅 fbb8:婷"
    " fbf3:幵 fbf9:廐 fc4f:彘 fc6c:悤 fcb9:撐 fce2:晴 fcf1:杞 fdb7:沜渝 fdbb:港 fdf1:煮 fe52:猪"
    " fe6f:瑜 feaa:瓩 fedd:砉"
    f" a3c0:{''.join(map(chr, (*range(0x2400, 0x2420), 0x2421, 0x20AC)))}"
)

MULTI_BYTE: Final = {
    # §10.1.1: GBK's decoder is gb18030's decoder. §10.2.2: its encoder writes no four-byte units.
    "gbk": _GB18030._replace(unwritten=expression(rb"(?s).{4}")),
    "gb18030": _GB18030,
    "big5": MultiByte(  # §11.1.1 Big5 decoder
        rb"[\x81-\xfe][\x40-\x7e\x80-\xff]",
        "big5hkscs",
        _BIG5,
        {
            character: unit
            for unit, character in _patches(
                "a1fe:\uff0f a240:\uff3c a27e:\u256d\u256e a2a2:\u2570\u256f"
            ).items()
        },
        unwritten=expression(rb"(?s)[\x81-\xa0]."),  # §5: HKSCS is left out
    ),
    "euc-jp": MultiByte(  # §12.1.1 EUC-JP decoder
        rb"\x8f[\xa1-\xfe][\x80-\xff]?|[\x8e\x8f\xa1-\xfe][\x80-\xff]",
        "euc_jp",
        _patches("8fa2b7:\uff5e"),
        unwritten=expression(rb"(?s).{3}"),  # §12.1.2: no JIS X 0212
    ),
    "shift_jis": MultiByte(  # §12.3.1 Shift_JIS decoder; IBM's kanji keep IBM's codes
        rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xff]",
        "cp932",
        _patches("a0:\udca0 fd:\udcfd\udcfe\udcff"),
        # §5, index Shift_JIS pointer: excludes NEC's selection of IBM's extensions; no private use.
        unwritten=expression(rb"(?s)[\xed\xee\xf0-\xf9]."),
    ),
    "euc-kr": MultiByte(rb"[\x81-\xfe][\x41-\x7e\x80-\xff]", "cp949"),  # §13.1.1 EUC-KR decoder
}

# §9 Legacy single-byte encodings.
SINGLE_BYTE_PATCHES: Final = {
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}
