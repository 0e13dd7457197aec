"""Tests of relbase.view.characters through the decoders and encoders of transcode."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases

from relbase.view.characters import decode_inner, encode_inner, scalar_values
from relbase.view.transcode import decode, encode

TABLES = Path(__file__).with_name("characters.txt")


@cases(TABLES, "decoded", charset=str, data=bytes, meaning=str)
def test_decode(charset: str, data: bytes, meaning: str) -> None:
    assert decode(data, charset) == meaning
    if charset == "iso-2022-jp":
        assert encode(meaning, charset) == data


@cases(TABLES, "malformed", charset=str, data=bytes, meaning=str)
def test_scalar_values(charset: str, data: bytes, meaning: str) -> None:
    assert scalar_values(decode(data, charset), charset) == meaning


def test_scalar_values_of_surrogates() -> None:
    assert scalar_values("\udc82\udce2", "utf-16le") == "\ufffd\ufffd"
    assert scalar_values("é\ud800\udfff", "gbk") == "é\ufffd\ufffd"
    # of a document that is scanned in a view: one byte of ISO-2022-JP, half of a pair of UTF-16
    assert scalar_values("\udced\udcb3\udcbf", "iso-2022-jp") == "\ufffd"


@cases(TABLES, "encoded", charset=str, string=str, data=bytes)
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
    assert decode_inner(encode_inner(string)) == string


def test_text_of_anything() -> None:
    assert decode_inner(b"a\xed\x80") == "a\udced\udc80"
