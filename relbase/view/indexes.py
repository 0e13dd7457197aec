"""The indexes of the WHATWG Encoding Standard, as differences from the tables of Python's codecs.

Strategy: a codec of Python knows nearly all of an index; `patches` has what its decoder reads
otherwise, `preferred` what its encoder writes otherwise. Section numbers are those of the standard.
All was compared with Chromium, character by character: tests/view/test_encoders.py, and
tests/browser/test_encoders_in_browser.py where one runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class MultiByte(NamedTuple):
    """What is known of a charset of one, two or more bytes a character."""

    unit: bytes  # matches all the bytes that the decoder takes at once, a good or a bad character
    codec: str  # Python's codec
    patches: Mapping[bytes, str] = {}  # what units mean, where the codec says otherwise
    # what characters are written as, where the codec writes another unit
    preferred: Mapping[str, bytes] = {}
    unwritten: bytes = b"(?!)"  # matches the units that are read and never written


def _patches(table: str) -> dict[bytes, str]:
    """Read what units mean: the first one in hex, a colon, the characters from there on."""
    patches: dict[bytes, str] = {}
    for run in table.split(" "):
        code, characters = run.split(":")
        unit = bytes.fromhex(code)
        for character in characters:
            patches[unit] = character
            unit = unit[:-1] + bytes([0xA1 if unit[-1] == _LAST_LOW else unit[-1] + 1 & 0xFF])
    return patches


# The trail bytes of Big5 go on at 0xA1 after it. No other run reaches so far.
_LAST_LOW: Final = 0x7E


def _preferred(table: str) -> dict[str, bytes]:
    return {character: unit for unit, character in _patches(table).items()}


_GB18030: Final = MultiByte(
    # §10.2.1 gb18030 decoder: four bytes, or two; its index is of GB 18030-2022.
    rb"[\x81-\xfe](?:[0-9][\x81-\xfe][0-9]|[\x40-\x7e\x80-\xff])",
    "gb18030",
    _patches(
        "80:\u20ac a3a0:\u3000 a6d9:\ufe10\ufe12\ufe11\ufe13\ufe14\ufe15\ufe16 a6ec:\ufe17\ufe18"
        " a6f3:\ufe19 a8bc:\u1e3f 8135f437:\ue7c7 fe59:\u9fb4 fe61:\u9fb5 fe66:\u9fb6\u9fb7"
        " fe6d:\u9fb8 fe7e:\u9fb9 fe90:\u9fba fea0:\u9fbb"
    ),
    unwritten=rb".",  # §10.2.2: one byte is GBK's euro sign
)

# Symbols that were mapped anew, what HKSCS-2008 added, duplicates; then the control pictures.
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
    # §10.1.1: GBK's decoder is gb18030's decoder. §10.2.2: its encoder writes no four bytes.
    "gbk": _GB18030._replace(unwritten=rb".{4}"),
    "gb18030": _GB18030,
    "big5": MultiByte(  # §11.1.1 Big5 decoder
        rb"[\x81-\xfe][\x40-\x7e\x80-\xff]",
        "big5hkscs",
        _BIG5,
        _preferred("a1fe:\uff0f a240:\uff3c a27e:\u256d\u256e a2a2:\u2570\u256f"),
        unwritten=rb"[\x81-\xa0].",  # §5: HKSCS is left out
    ),
    "euc-jp": MultiByte(  # §12.1.1 EUC-JP decoder
        rb"\x8f[\xa1-\xfe][\x80-\xff]?|[\x8e\x8f\xa1-\xfe][\x80-\xff]",
        "euc_jp",
        _patches("8fa2b7:\uff5e"),
        unwritten=rb".{3}",  # §12.1.2: no JIS X 0212
    ),
    "shift_jis": MultiByte(  # §12.3.1 Shift_JIS decoder; IBM's kanji are where IBM has them
        rb"[\x81-\x9f\xe0-\xfc][\x40-\x7e\x80-\xff]",
        "cp932",
        _patches("a0:\udca0 fd:\udcfd\udcfe\udcff"),
        # §5, index Shift_JIS pointer: not NEC's selection of IBM's extensions; no private use.
        unwritten=rb"[\xed\xee\xf0-\xf9].",
    ),
    "euc-kr": MultiByte(rb"[\x81-\xfe][\x41-\x7e\x80-\xff]", "cp949"),  # §13.1.1 EUC-KR decoder
}

# §9 Legacy single-byte encodings.
SINGLE_BYTE_PATCHES: Final = {
    "koi8-u": {0xAE: "\u045e", 0xBE: "\u040e"},
    "windows-1255": {0xCA: "\u05ba"},
}
