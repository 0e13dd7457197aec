"""Tests of relbase.view.transcode; Python's codecs say what UTF-16 means."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from view_laws import assert_law

from relbase.edit import Edit, splice
from relbase.view.charset import UNREADABLE, lookup
from relbase.view.transcode import document_view, text_view, utf16_view

CODECS = {"utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}


def test_which_documents_need_a_view() -> None:
    names = "utf-8 windows-1252 x-user-defined shift_jis gb18030 utf-16le utf-16be iso-2022-jp"
    viewed = [name for name in names.split() if document_view(b"", name)]
    assert viewed == ["utf-16le", "utf-16be", "iso-2022-jp"]


@pytest.mark.parametrize("charset", [*UNREADABLE, "utf-16", "UTF-8", "latin1", "utf-7", ""])
def test_no_other_charsets(charset: str) -> None:
    with pytest.raises(ValueError, match="pass it through"):
        document_view(b"", charset)
    assert lookup(charset) != charset or charset in UNREADABLE


@pytest.mark.parametrize(
    ("raw", "edit", "expected"),
    [
        ("<a href=x>", Edit(8, 9, b"/y"), "<a href=/y>"),
        ("\ufeffé😀x", Edit(9, 10, "€😀".encode()), "\ufeffé😀€😀"),
        ("é😀", Edit(1, 2, b"\xa8"), "è😀"),  # splits a character
    ],
)
@pytest.mark.parametrize("charset", CODECS)
def test_utf_16(charset: str, raw: str, edit: Edit, expected: str) -> None:
    data = raw.encode(CODECS[charset])
    view = utf16_view(data, charset)
    assert view.inner == raw.encode()
    assert splice(data, view.lower([edit])) == expected.encode(CODECS[charset])


def test_half_characters_do_not_raise() -> None:
    view = utf16_view("é😀".encode("utf-16-le"), "utf-16le")
    lowered = view.lower([Edit(1, 1, b"a"), Edit(3, 5, b""), Edit(6, 6, b"\xff")])
    assert [edit[:2] for edit in lowered] == [(0, 6)]


def test_an_odd_last_byte_stays_last() -> None:
    view = utf16_view(b"a\0b", "utf-16le")
    assert view.inner == b"a"
    assert splice(b"a\0b", view.lower([Edit(1, 1, b"c")])) == b"a\0c\0b"


UNITS = st.lists(
    st.sampled_from(
        ["a", "<", "é", "あ", "😀", "\ud800", "\udc80", "\udfff", "\r", "\0", "\ufeff"]
    ),
    max_size=12,
).map("".join)


@pytest.mark.parametrize("charset", CODECS)
def test_law_of_utf_16(charset: str) -> None:
    codec = CODECS[charset]

    def oracle(raw: bytes) -> bytes:
        whole = raw[: len(raw) // 2 * 2]
        return whole.decode(codec, "surrogatepass").encode("utf-8", "surrogatepass")

    def paired(inner: bytes) -> bytes:
        """Single surrogates that come to stand together are one character."""
        string = inner.decode("utf-8", "surrogatepass")
        return oracle(string.encode(codec, "surrogatepass"))

    new = UNITS.map(lambda string: string.encode("utf-8", "surrogatepass"))

    raws = st.builds(
        lambda string, odd: string.encode(codec, "surrogatepass") + odd,
        UNITS,
        st.sampled_from([b"", b"\0", b"\xd8"]),
    )
    assert_law(raws, lambda raw: utf16_view(raw, charset), oracle, new, paired)


@pytest.mark.parametrize("size", [(1 << 16) - 1, 1 << 16, (1 << 16) + 1])
def test_characters_across_the_parts_of_a_long_text(size: int) -> None:
    raw = ("é" + "😀" * size + "\ud83d").encode("utf-16-le", "surrogatepass")
    view = utf16_view(raw, "utf-16le")
    assert view.inner == ("é" + "😀" * size + "\ud83d").encode("utf-8", "surrogatepass")
    at = len(view.inner) - 3
    assert view.lower([Edit(at, at, b"a")]) == [Edit(len(raw) - 2, len(raw) - 2, b"a\0")]


def test_text_view() -> None:
    raw = b"\x95\\url(x)"
    view = text_view(raw, "shift_jis", lambda character: b"\\%x " % ord(character))
    assert view.inner == "表url(x)".encode()
    assert splice(raw, view.lower([Edit(7, 8, "é/表".encode())])) == b"\x95\\url(\\e9 /\x95\\)"
    assert text_view(b"abc", "big5").inner == b"abc"
