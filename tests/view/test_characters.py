"""Tests of relbase.view.characters through the decoders and encoders of transcode."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relbase.view.characters import inner, scalar_values, text
from relbase.view.transcode import decode, encode


def bad(data: bytes) -> str:
    return data.decode("ascii", "surrogateescape")


# Rows of the indexes where Python's codecs differ, and what the decoders do with bad bytes. All
# were compared with what Chromium's TextDecoder gives for every single byte and every pair.
DECODED = [
    # Encoding Standard §9 Legacy single-byte encodings
    ("windows-1252", b"\x80\x81\x8d\x8f\x90\x9d\xff", "\u20ac\x81\x8d\x8f\x90\x9d\xff"),
    ("windows-1253", b"\x81\xaa\xd2\xe1", "\x81" + bad(b"\xaa\xd2") + "\u03b1"),
    ("windows-1255", b"\xca\xd9", "\u05ba" + bad(b"\xd9")),
    ("windows-874", b"\x81\xa1\xdb", "\x81ก" + bad(b"\xdb")),
    ("koi8-u", b"\xae\xbe\xc1", "\u045e\u040e\u0430"),
    ("iso-8859-8-i", b"\xe0\xbf", "א" + bad(b"\xbf")),
    ("macintosh", b"\xdb", "\u20ac"),
    ("x-mac-cyrillic", b"\xff", "\u20ac"),
    # §14.5 x-user-defined
    ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
    # §14.2 to §14.4, §12.2.1
    ("utf-16be", "é😀".encode("utf-16-be"), "é😀"),
    ("utf-16le", b"a\0\x00\xd8", "a\ufffd"),
    ("iso-2022-jp", b'\x1b$B$"\x1b(B!', "あ!"),
    # §8.1.1 UTF-8 decoder
    ("utf-8", b"\xc3\xa9\xc0\xbc\xed\xa0\x80\xe2\x82", "é" + bad(b"\xc0\xbc\xed\xa0\x80\xe2\x82")),
    # §10.1.1 and §10.2.1: GBK's decoder is that of gb18030
    ("gbk", b"\x80\xb0\xa1\x81\x30\x81\x30", "\u20ac啊\x80"),
    ("gb18030", b"\x80\xa3\xa0\xa6\xd9\xa8\xbc\x81\x35\xf4\x37", "\u20ac\u3000\ufe10\u1e3f\ue7c7"),
    ("gb18030", b"\x810\x81A\xffB\x81", bad(b"\x81") + "0" + "\u4e04" + bad(b"\xff") + "B"
     + bad(b"\x81")),
    # §11.1.1 Big5 decoder
    ("big5", b"\xa4\x40\xa1\x45\xa2\x42\x88\x62", "一\u2027\ufe68\xca\u0304"),
    ("big5", b"\x87\x7a\x87\xa1\xa3\xe1\xc6\xde\xfe\x52", "㡵\U000258de€\u3003猪"),
    ("big5", b'\xa4"\x80\xff', bad(b"\xa4") + '"' + bad(b"\x80\xff")),
    # §12.1.1 EUC-JP decoder
    ("euc-jp", b"\xa4\xa2\xa1\xc1\xad\xa1\x8e\xb1\x8f\xa2\xb7", "あ\uff5e\u2460ｱ\uff5e"),
    ("euc-jp", b"\xa4a\x8f\xa2a\xa0", bad(b"\xa4") + "a" + bad(b"\x8f\xa2") + "a" + bad(b"\xa0")),
    # §12.3.1 Shift_JIS decoder
    ("shift_jis", b"\x95\\\x83a\x80\xb1\xf0\x40\x81\x60", "表ヂ\x80ｱ\ue000\uff5e"),
    ("shift_jis", b'\xa0\xfd\x81"\x81\xfd', bad(b"\xa0\xfd\x81") + '"' + bad(b"\x81\xfd")),
    ("shift_jis", b"\x85\x81a", bad(b"\x85\x81") + "a"),  # a bad pair is taken whole
    # §13.1.1 EUC-KR decoder
    ("euc-kr", b"\xb0\xa1\x81A\x80\xfe\xff", "가갂" + bad(b"\x80\xfe\xff")),
    ("euc-kr", b'\xb0"\xa1', bad(b"\xb0") + '"' + bad(b"\xa1")),
]  # fmt: skip


@pytest.mark.parametrize(("charset", "data", "meaning"), DECODED)
def test_decode(charset: str, data: bytes, meaning: str) -> None:
    assert decode(data, charset) == meaning
    if charset in ("utf-16be", "iso-2022-jp"):
        assert encode(meaning, charset) == data


# U+FFFD as often as Chromium has it.
MALFORMED = [
    ("utf-8", b"\xe2\x82\xe2\x82/\xc0\xbc\xed\xa0\x80\xf0\x9f\x98", "\ufffd\ufffd/" + 6 * "\ufffd"),
    ("gb18030", b"\xfe9\xfe9\x81\xff\x81\x30\x81\x22", '\ufffd\ufffd\ufffd0\ufffd"'),
    ("gbk", b"\x81\xff\xff\xff", "\ufffd\ufffd\ufffd"),
    ("big5", b"\x81\x80\x81a\xff\xa4", "\ufffd\ufffda\ufffd\ufffd"),
    ("euc-jp", b"\x8f\xa1\xa1\x8e\x80\x8f\x80a", "\ufffd\ufffd\ufffda"),
    ("euc-kr", b'\x81\x80\xb0\xff\xb0"', '\ufffd\ufffd\ufffd"'),
    ("shift_jis", b"\x81\xad\xa0\x81\xff", "\ufffd\ufffd\ufffd"),
    ("windows-1253", b"\xd2\xaa", "\ufffd\ufffd"),
    ("utf-16le", b"\x82\xdc\xe2\xdc", "\ufffd\ufffd"),
]  # fmt: skip


@pytest.mark.parametrize(("charset", "data", "meaning"), MALFORMED)
def test_scalar_values(charset: str, data: bytes, meaning: str) -> None:
    assert scalar_values(decode(data, charset), charset) == meaning


def test_scalar_values_of_surrogates() -> None:
    assert scalar_values("\udc82\udce2", "utf-16le") == "\ufffd\ufffd"
    assert scalar_values("é\ud800\udfff", "gbk") == "é\ufffd\ufffd"
    # of a document that is scanned in a view: one byte of ISO-2022-JP, half of a pair of UTF-16
    assert scalar_values("\udced\udcb3\udcbf", "iso-2022-jp") == "\ufffd"


@pytest.mark.parametrize(
    ("charset", "string", "data"),
    [
        # Encoding Standard §5.1, §10 to §13: what the encoders leave to the decoders
        ("gbk", "€", b"\x80"),
        ("gb18030", "€", b"\xa2\xe3"),
        ("gbk", "😀", b"?"),
        ("gb18030", "😀", b"\x94\x39\xfc\x36"),
        ("gb18030", "\ufe10", b"\xa6\xd9"),
        ("big5", "一", b"\xa4\x40"),
        ("big5", "\u2027", b"\xa1\x45"),
        ("big5", "\u43f0", b"?"),  # HKSCS
        ("euc-jp", "あｱ\uff5e\u2460", b"\xa4\xa2\x8e\xb1\xa1\xc1\xad\xa1"),
        ("euc-jp", "\u4e02", b"?"),  # JIS X 0212
        ("shift_jis", "表\uff5e", b"\x95\\\x81\x60"),
        ("shift_jis", "é\xa5", b"??"),
        ("shift_jis", "\u9ad9\u2170\uffe2\ue000\x80", b"\xfb\xfc\xfa\x40\x81\xca?\x80"),
        # what is not read back as it was is in the encoders of queries alone
        ("gbk", "\u3000\ue78d", b"\xa1\xa1?"),
        ("euc-jp", "\xa5\u2212", b"??"),
        ("euc-kr", "가", b"\xb0\xa1"),
        ("windows-1252", "\x81€", b"\x81\x80"),
        ("windows-1252", "\x80", b"?"),
        ("x-user-defined", "\uf7ff\xff", b"\xff?"),
        ("utf-8", "\ud800é", b"\xef\xbf\xbd\xc3\xa9"),
    ],
)
def test_encode(charset: str, string: str, data: bytes) -> None:
    assert encode(string, charset, lambda _: b"?") == data


def test_unencodable_characters_become_references() -> None:
    assert encode("a😀", "windows-1252") == b"a&#128512;"


CHARSETS = ["utf-8", "windows-1252", "windows-1253", "ibm866", "x-user-defined", "shift_jis",
            "gbk", "gb18030", "big5", "euc-jp", "euc-kr"]  # fmt: skip


@pytest.mark.parametrize("charset", CHARSETS)
def test_any_bytes(charset: str) -> None:
    bytes_kept = []

    @given(st.binary(max_size=20))
    def law(data: bytes) -> None:
        string = decode(data, charset)
        # What is written otherwise (duplicates in the index) still means the same.
        encoded = encode(string, charset, lambda char: b"<%x>" % ord(char))
        assert encoded == data or b"<" in encoded or decode(encoded, charset) == string
        bytes_kept.append(encoded == data and not data.isascii())

    law()
    assert sum(bytes_kept) > 0.3 * len(bytes_kept)


@given(st.text())
def test_text_and_inner_are_inverse(string: str) -> None:
    assert text(inner(string)) == string


def test_text_of_anything() -> None:
    assert text(b"a\xed\x80") == "a\udced\udc80"
