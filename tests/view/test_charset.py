"""Tests of relbase.view.charset."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear
from hypothesis import event, example, given
from hypothesis import strategies as st
from laws import examples
from rows import cases

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
    """A name, and what it was taken from."""
    name, source = cell.split()
    return Charset(name, CharsetSource[source])


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


@cases(TABLES, "style sheets", data=bytes, label=str, expected=stated)
def test_css(data: bytes, label: str | None, expected: Charset) -> None:
    assert sniff_css(data, label) == expected


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


# WHATWG HTML §13.2.3.2 transcribed, byte by byte: errors are the end of the bytes


def literally_attribute(data: bytes, at: int) -> tuple[int, tuple[bytes, bytes] | None]:
    while data[at] in b"\t\n\f\r /":
        at += 1
    start = at
    if data[at] == ord(">"):
        return at, None
    while data[at] not in b"\t\n\f\r />" and (data[at] != ord("=") or at == start):
        at += 1
    name = data[start:at].lower()
    while data[at] in b"\t\n\f\r ":
        at += 1
    if data[at] != ord("="):
        return at, (name, b"")
    at += 1
    while data[at] in b"\t\n\f\r ":
        at += 1
    start = at
    if data[at] in b"\"'":
        at += 1
        while data[at] != data[start]:
            at += 1
        return at + 1, (name, data[start + 1 : at].lower())
    while data[at] not in b"\t\n\f\r >":
        at += 1
    return at, (name, data[start:at].lower())


def literally_attributes(data: bytes, at: int) -> tuple[int, dict[bytes, bytes]]:
    attributes: dict[bytes, bytes] = {}
    while True:
        at, attribute = literally_attribute(data, at)
        if attribute is None:
            return at, attributes
        attributes.setdefault(*attribute)


def literally_meta(attributes: dict[bytes, bytes]) -> str | None:
    found, need_pragma = None, None
    for name, value in attributes.items():
        if name == b"content" and need_pragma is None:
            label = re.search(
                rb"""charset\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s;"'][^\s;]*))""", value
            )
            found = lookup(label[label.lastindex or 0].decode("latin-1")) if label else None
            need_pragma = True if found else None
        elif name == b"charset":
            found, need_pragma = lookup(value.decode("latin-1")), False
    if need_pragma and attributes.get(b"http-equiv") != b"content-type":
        return None
    return {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}.get(
        found or "", found
    )


def literally_prescanned(data: bytes) -> str | None:
    at = 0
    while at < len(data):
        if data.startswith(b"<!--", at):
            at = data.index(b"-->", at + 2) + 2
        elif re.match(rb"(?i)<meta[\t\n\f\r /]", data[at : at + 6]):
            at, attributes = literally_attributes(data, at + 5)
            if name := literally_meta(attributes):
                return name
        elif re.match(rb"</?[A-Za-z]", data[at : at + 3]):
            while data[at] not in b"\t\n\f\r >":
                at += 1
            at, _ = literally_attributes(data, at)
        elif data[at : at + 2] in (b"<!", b"</", b"<?"):
            at = data.index(b">", at)
        at += 1
    return None


@examples(250)
@given(st.lists(st.sampled_from(TOKENS), max_size=25).map(b"".join))
@example(b'<meta a=b" charset="gbk" e="><meta charset=koi8-r>')
def test_the_prescan_is_that_of_the_steps(data: bytes) -> None:
    try:
        expected = literally_prescanned(data)
    except (IndexError, ValueError):
        expected = None
    found = sniff(data)
    event(found.source.value)
    assert (found.name if found.source is CharsetSource.META else None) == expected


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
