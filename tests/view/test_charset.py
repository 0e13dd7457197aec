"""Tests of relbase.view.charset."""

from __future__ import annotations

import re
from typing import Final
from unittest.mock import patch

import pytest
from growth import assert_linear
from hypothesis import event, given
from hypothesis import strategies as st

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

META = b"<meta charset=koi8-r>"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        # Encoding Standard §4.2 Names and labels
        ("UTF8", "utf-8"),
        ("\t\n\f\r utf-8 ", "utf-8"),
        ("latin1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("sjis", "shift_jis"),
        ("gb2312", "gbk"),
        ("utf-16", "utf-16le"),
        ("unicodefffe", "utf-16be"),
        ("iso-2022-kr", "replacement"),
        ("hz-gb-2312", "replacement"),
        ("x-user-defined", "x-user-defined"),
        # "failure"
        ("", None),
        ("utf-7", None),
        ("utf-32", None),
        ("unicode_escape", None),
        ("idna", None),
        ("rot13", None),
        ("../x", None),
        ("utf-8\0", None),
        ("\x0butf-8", None),
        ("\xa0utf-8", None),
        ("\u212aoi8-r", None),  # KELVIN SIGN: only ASCII letters have two cases
        ("\udc80", None),
        ("u" * 100_000, None),
    ],
)
def test_lookup(label: str, name: str | None) -> None:
    assert lookup(label) == name


@pytest.mark.parametrize(
    ("data", "label", "expected"),
    [
        # WHATWG HTML §13.2.3.2: BOM, transport, meta; then what browsers guess
        (b"\xef\xbb\xbf" + META, "latin1", Charset("utf-8", CharsetSource.BOM, 3)),
        (b"\xff\xfe<\0", "latin1", Charset("utf-16le", CharsetSource.BOM, 2)),
        (b"\xfe\xff\0<", None, Charset("utf-16be", CharsetSource.BOM, 2)),
        (b"\xff\xfe\0\0<\0\0\0", None, Charset("utf-16le", CharsetSource.BOM, 2)),  # no UTF-32
        (META, "latin1", Charset("windows-1252", CharsetSource.TRANSPORT)),
        (META, "utf-7", Charset("koi8-r", CharsetSource.META)),
        (META, None, Charset("koi8-r", CharsetSource.META)),
        (b"<a href=\xc3\xa9>", None, Charset("utf-8", CharsetSource.GUESS)),
        (b"<a href=\xe9>", None, Charset("windows-1252", CharsetSource.DEFAULT)),
        (b"\xc0\xbca href=x>", None, Charset("windows-1252", CharsetSource.DEFAULT)),  # overlong
        (b"\xed\xa0\x80", None, Charset("windows-1252", CharsetSource.DEFAULT)),  # a surrogate
        (b"caf\xc3", None, Charset("windows-1252", CharsetSource.DEFAULT)),  # cut off
        (b"", None, Charset("utf-8", CharsetSource.GUESS)),
        ("<a href=x>".encode("utf-16-le"), None, Charset("utf-8", CharsetSource.GUESS)),
    ],
)
def test_order(data: bytes, label: str | None, expected: Charset) -> None:
    assert sniff(data, label) == expected


def test_a_document_may_have_no_meta() -> None:
    assert sniff(META, meta=False) == Charset("utf-8", CharsetSource.GUESS)


@pytest.mark.parametrize(
    ("data", "name"),
    [
        # §13.2.3.2 "prescan a byte stream to determine its encoding", step 2
        (b"<\0?\0x\0", "utf-16le"),
        (b"\0<\0?\0x", "utf-16be"),
        # step 3, <!--
        (b"<!--" + META + b"-->", None),
        (b"<!-->" + META, "koi8-r"),
        (b"<!--->" + META, "koi8-r"),
        (b"<!-- >" + META, None),
        # step 3, <meta
        (b"<META/charset=koi8-r>", "koi8-r"),
        (b"<metacharset=koi8-r>", None),
        (b"<meta\x0bcharset=koi8-r>", None),
        (b"<meta charset=koi8-r", None),
        (b"<meta charset='koi8-r>", None),
        (b"<meta charset = 'KOI8-R' >", "koi8-r"),
        (b"<meta charset=koi8-r/>", None),  # the slash belongs to the value
        (b"<meta charset=koi8-r />", "koi8-r"),
        (b"<meta charset charset=koi8-r>", None),  # step 7: the first one counts
        (b"<meta charset=x><meta charset=koi8-r>", "koi8-r"),
        (b"<meta =charset=koi8-r>", None),
        (b"<meta charset>" + META, "koi8-r"),
        (b"<meta content='text/html; charset=koi8-r'>", None),
        (b"<meta content='charset=koi8-r' http-equiv=Content-Type>", "koi8-r"),
        (b"<meta content='charset=koi8-r' http-equiv=refresh>", None),
        (b"<meta http-equiv=content-type content=charset=koi8-r charset=big5>", "big5"),
        (b"<meta http-equiv=content-type charset=x content=charset=koi8-r>", None),
        # steps 14 and 15
        (b"<meta charset=utf-16be>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta charset=hz-gb-2312>", "replacement"),
        # step 3, tags and the rest
        (b"<a title='" + META + b"'>", None),
        (b"</a title='" + META + b"'>", None),
        (b"<a/title='>'" + META, "koi8-r"),  # a tag name ends at white space or `>`
        (b"<title>" + META, "koi8-r"),
        (b"<noscript>" + META, "koi8-r"),
        (b"<!x" + META, None),
        (b"<?x>" + META, "koi8-r"),
        (b"<" + META, "koi8-r"),
        (b"\0" + META, "koi8-r"),
        # §2.6.5 "extracting a character encoding from a meta element"
        (b"<meta http-equiv=content-type content='charset charset = koi8-r;x'>", "koi8-r"),
        (b"<meta http-equiv=content-type content='xcharset=\"koi8-r\"'>", "koi8-r"),
        (b"<meta http-equiv=content-type content='charset=\"koi8-r'>", None),
        (b"<meta http-equiv=content-type content='charset='>", None),
        (b"<meta http-equiv=content-type content='charset=x charset=koi8-r'>", None),
        # "get an XML encoding"
        (b"<?xml version='1.0' encoding=\"koi8-r\"?>", "koi8-r"),
        (b"<?xml encoding\x01=\x02'koi8-r'>", "koi8-r"),
        (b"<?xml encoding='utf-16'?>", "utf-8"),
        (b"<?xml encoding='koi8-r '?>", None),
        (b"<?xml encoding=koi8-r?>", None),
        (b"<?xml encoding='koi8-r'", None),
        (b"<?xml ?><a encoding='koi8-r'>", None),
        (b" <?xml encoding='koi8-r'?>", None),
        (b"<?xml encoding='big5'?>" + META, "koi8-r"),
    ],
)
def test_prescan(data: bytes, name: str | None) -> None:
    found = sniff(data)
    assert (found.name if found.source is CharsetSource.META else None) == name


@pytest.mark.parametrize(("room", "name"), [(0, "koi8-r"), (1, "utf-8")])
def test_prescan_ends(room: int, name: str) -> None:
    padding = b" " * (PRESCAN_LENGTH - len(META) + room)
    assert sniff(padding + META).name == name


@pytest.mark.parametrize(
    ("data", "label", "environment", "expected"),
    [
        # CSS Syntax 3 §3.2 The input byte stream
        (b'\xef\xbb\xbf@charset "koi8-r";', "big5", "big5", Charset("utf-8", CharsetSource.BOM, 3)),
        (b'@charset "koi8-r";', "big5", None, Charset("big5", CharsetSource.TRANSPORT)),
        (b'@charset "koi8-r";', "x", "big5", Charset("koi8-r", CharsetSource.AT_CHARSET)),
        (b'@charset "utf-16le";', None, None, Charset("utf-8", CharsetSource.AT_CHARSET)),
        (b"@charset 'koi8-r';", None, None, Charset("utf-8", CharsetSource.DEFAULT)),
        (b'@CHARSET "koi8-r";', None, None, Charset("utf-8", CharsetSource.DEFAULT)),
        (b'@charset  "koi8-r";', None, None, Charset("utf-8", CharsetSource.DEFAULT)),
        (b'@charset "koi8-r" ;', None, None, Charset("utf-8", CharsetSource.DEFAULT)),
        (b' @charset "koi8-r";', None, None, Charset("utf-8", CharsetSource.DEFAULT)),
        (b'@charset "x";', None, "big5", Charset("big5", CharsetSource.ENVIRONMENT)),
        (b'@charset "\xe9";', None, None, Charset("utf-8", CharsetSource.DEFAULT)),
        (b"a{}\xe9", None, None, Charset("utf-8", CharsetSource.DEFAULT)),
    ],
)
def test_css(data: bytes, label: str | None, environment: str | None, expected: Charset) -> None:
    assert sniff_css(data, label, environment=environment) == expected


@pytest.mark.parametrize("part", ["é".encode(), b"a", b"\xf0\x9f\x98\x80"])
def test_long_documents_are_linear(part: bytes) -> None:
    assert_linear(sniff, lambda size: part * size + b"\xc3\xa9", (1 << 22, 1 << 23))


@pytest.mark.parametrize(
    ("label", "data", "name"),
    [
        ("UTF-7", b"+ADw-a href=x+AD4-", "utf-7"),  # RFC 2152
        (" unicode-1-1-utf-7 ", b"", "utf-7"),
        ("utf-32le", b"", "utf-32"),
        ("ebcdic-cp-us", b"", "EBCDIC"),  # RFC 1345
        ("IBM037", b"", "EBCDIC"),
        (None, "<p>".encode("utf-32"), "utf-32"),
        (None, "<p>".encode("utf-32-be"), "utf-32"),
        # in these markup is ASCII, or UTF-16, known or not
        ("ibm866", b"", None),
        ("cp1252", b"", None),
        ("x-unknown", b"", None),
        ("utf-8", b"", None),
        (None, "<p>".encode("utf-16"), None),
        (None, b"", None),
    ],
)
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
