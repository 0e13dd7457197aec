"""Tests of relbase.view.charset."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from unittest.mock import patch

import pytest
from growth import assert_linear
from hypothesis import event, given
from hypothesis import strategies as st
from rows import cases

from relbase.view import charset
from relbase.view.charset import (
    PRESCAN_LENGTH,
    Charset,
    CharsetSource,
    Lines,
    lookup,
    not_ascii,
    sniff,
    sniff_css,
)

TABLES = Path(__file__).with_name("charset.txt")
META = b"<meta charset=koi8-r>"


def stated(cell: str) -> Charset:
    """A name, what it was taken from, and the length of a byte order mark."""
    name, source, *bom = cell.split()
    return Charset(name, CharsetSource[source], *map(int, bom))


@cases(TABLES, "labels", label=str, name=str)
def test_lookup(label: str, name: str | None) -> None:
    assert lookup(label) == name


@cases(TABLES, "order", data=bytes, label=str, expected=stated)
def test_order(data: bytes, label: str | None, expected: Charset) -> None:
    assert sniff(data, label) == expected


def test_a_document_may_have_no_meta() -> None:
    assert sniff(META, meta=False) == Charset("utf-8", CharsetSource.GUESS)


@cases(TABLES, "prescan", data=bytes, name=str)
def test_prescan(data: bytes, name: str | None) -> None:
    found = sniff(data)
    assert (found.name if found.source is CharsetSource.META else None) == name


@pytest.mark.parametrize(("room", "name"), [(0, "koi8-r"), (1, "utf-8")])
def test_prescan_ends(room: int, name: str) -> None:
    padding = b" " * (PRESCAN_LENGTH - len(META) + room)
    assert sniff(padding + META).name == name


@cases(TABLES, "style sheets", data=bytes, label=str, environment=str, expected=stated)
def test_css(data: bytes, label: str | None, environment: str | None, expected: Charset) -> None:
    assert sniff_css(data, label, environment=environment) == expected


@pytest.mark.parametrize("part", ["é".encode(), b"a", b"\xf0\x9f\x98\x80"])
def test_long_documents_are_linear(part: bytes) -> None:
    assert_linear(sniff, lambda size: part * size + b"\xc3\xa9", (1 << 22, 1 << 23))


@cases(TABLES, "not ASCII", label=str, data=bytes, name=str)
def test_what_does_not_write_markup_in_ascii(
    label: str | None, data: bytes, name: str | None
) -> None:
    assert not_ascii(data, label) == name


TOKENS: Final = [
    *b"<meta <META </meta <metax charset= charset koi8-r \" ' > < / = <a <!-- --> --!> ->".split(),
    *b"<!x <?x </ content= text/html;charset=big5 http-equiv=content-type <br/> <p/x=y>".split(),
    *(
        *(b"b=c", b" ", b"\n", b'<a b="c">', b"<a b='>'>", b'<a ="b c=\'d e=f">'),
        b"<meta charset=latin2>",
    ),
    *(b'<meta charset="gbk">', b'<meta charset="gbk" />', b'<meta charset="koi8-r"/>'),
    *(b"<meta charset=koi8-r >", b"<meta charset=gbk/>", b'<meta charset="gbk>', b"gbk>"),
    *(b'<meta charset="x-user-defined">', b'<meta charset="utf-16">', b'<meta charset="?">'),
]


@given(st.lists(st.sampled_from(TOKENS), max_size=25).map(b"".join))
def test_what_the_prescan_passes_over_the_steps_pass_over(data: bytes) -> None:
    def stepped(data: bytes, position: int) -> int:
        found = data.find(b"<", position)
        return len(data) if found < 0 else found

    never = re.compile(rb"(?!)")
    with patch.object(charset, "_passed", stepped), patch.object(charset, "_USUAL_META", never):
        expected = charset.sniff(data)
    event(expected.source.value)
    assert lookup(expected.name) == expected.name
    assert charset.sniff(data) == expected


LINES = "ab\ncé\nd".encode()


@pytest.mark.parametrize(
    ("encoding", "places"),
    [
        ("utf-8", ["1:1", "1:3", "2:2", "2:4", "3:1"]),
        ("shift_jis", ["1:1", "1:3", "2:2", "line 2", "3:1"]),
        ("utf-16le", ["line 1", "line 1", "line 2", "line 2", "line 3"]),
    ],
)
def test_places(encoding: str, places: list[str]) -> None:
    offsets = [0, 2, 4, 6, 7]
    lines = Lines(LINES, encoding)
    assert [lines.of(at) for at in offsets] == places
    assert [lines.of(at) for at in reversed(offsets)] == places[::-1]
