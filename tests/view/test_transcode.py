"""Tests of relbase.view.transcode; Python's codecs say what UTF-16 means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st
from lxml import etree
from rows import cases, edits
from view_laws import assert_law

from relbase.edit import Edit, splice
from relbase.view.charset import CharsetSource
from relbase.view.transcode import document_view, sniff_xml, text_view, utf16_view, xml_view

if TYPE_CHECKING:
    from relbase.view.runs import View

TABLES = Path(__file__).with_name("transcode.txt")
CODECS = {"utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}


def test_which_documents_need_a_view() -> None:
    names = "utf-8 windows-1252 x-user-defined shift_jis gb18030 utf-16le utf-16be iso-2022-jp"
    viewed = [name for name in names.split() if document_view(b"", name)]
    assert viewed == ["utf-16le", "utf-16be", "iso-2022-jp"]


@cases(TABLES, "UTF-16", raw=str, changes=edits, expected=str)
@pytest.mark.parametrize("charset", CODECS)
def test_utf_16(charset: str, raw: str, changes: list[Edit], expected: str) -> None:
    data = raw.encode(CODECS[charset])
    view = utf16_view(data, charset)
    assert view.inner == raw.encode()
    assert splice(data, view.lower(changes)) == expected.encode(CODECS[charset])


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


# ---- XML: RFC 7303 §3.2, XML 1.0 §4.3.3 and appendix F


@cases(TABLES, "XML", data=bytes, label=str, name=str, source=str)
def test_sniffing_xml(data: bytes, label: str | None, name: str, source: str) -> None:
    assert sniff_xml(data, label)[:2] == (name, CharsetSource[source])


def seen(raw: bytes, charset: str) -> View:
    view = xml_view(raw, charset)
    assert view is not None
    return view


@pytest.mark.parametrize("charset", ["windows-1252", "koi8-r", "iso-8859-2", "windows-1251"])
def test_law_of_single_bytes(charset: str) -> None:
    codec = charset.replace("windows-", "cp")
    texts = st.text("aé€ж", min_size=1, max_size=8)
    assert_law(
        texts.map(lambda string: string.encode(codec, "ignore")),
        lambda raw: seen(raw, charset),
        lambda raw: raw.decode(codec).encode(),
        st.sampled_from([b"", b"ab"]),
    )


@cases(TABLES, "written", charset=str, label=str, new=str, expected=bytes)
def test_what_is_written(charset: str, label: str, new: str, expected: bytes) -> None:
    wide = "utf-16-le" if charset == "utf-16le" else "ascii"
    mark = b"\xff\xfe" if charset == "utf-16le" else b""
    data = mark + f"<?xml version='1.0' encoding='{label}'?><a></a>".encode(wide)
    view = seen(data, charset)
    at = view.inner.index(b"</a>")
    (edit,) = view.lower([Edit(at, at, new.encode())])
    assert edit.new == expected
    assert etree.fromstring(splice(data, [edit])).text == new


def test_utf_8_is_seen_as_it_is() -> None:
    assert xml_view(b"<a/>", "utf-8") is None
