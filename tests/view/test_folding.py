"""URLs in fields: encoded words by the examples of RFC 2047 §8, any bytes, what is written."""

from __future__ import annotations

import re
from typing import Final

import pytest
from hypothesis import strategies as st
from view_laws import assert_law

from relbase.bases.headers import url_of
from relbase.edit import Edit, splice
from relbase.view.characters import inner as encode_inner
from relbase.view.folding import calendar_view, decoded_words, folded_view, meant

# (what is written, what it is with its words decoded, None where it has none)
WORDS: Final[list[tuple[bytes, str | None]]] = [
    # RFC 2047 §8
    (b"=?US-ASCII?Q?Keith_Moore?=", "Keith Moore"),
    (b"=?ISO-8859-1?Q?Keld_J=F8rn_Simonsen?=", "Keld Jørn Simonsen"),
    (b"=?ISO-8859-1?Q?Andr=E9?= Pirard", "André Pirard"),
    (
        b"=?ISO-8859-1?B?SWYgeW91IGNhbg==?=\r\n =?ISO-8859-2?B?IHJlYWQgdGhpcy4=?=",
        "If you can\r\n  read this.",
    ),
    (b"(=?ISO-8859-1?Q?a?=  =?ISO-8859-1?Q?b?=)", "(a  b)"),
    (b"(=?ISO-8859-1?Q?a_b?=)", "(a b)"),
    # §2: names in any case, text that may be empty
    (b"=?uTF-8?b?w6k=?=", "é"),
    (b"=?utf-8?Q??=", ""),
    # RFC 2231 §5
    (b"=?US-ASCII*EN?Q?Keith_Moore?=", "Keith Moore"),
    # The WHATWG table: what its single-byte charsets leave undefined means itself
    (b"=?windows-1252?Q?=80=81?=", "€\x81"),
    (b"=?latin1?Q?=80?=", "€"),
    (b"=?iso-2022-jp?B?GyRCJCIbKEI=?=", "あ"),
    (b"=?utf-16le?B?YQA=?=", "a"),
    # §6.3: what cannot be decoded stands for itself
    (b"=?utf-8?Q?=FF?=", None),
    (b"=?iso-2022-jp?Q?=FF?=", None),
    (b"=?utf-16le?Q?=00=D8?=", None),
    (b"=?utf-8?B?a?=", None),
    (b"=?utf-8?B?a*==?=", None),
    (b"=?x-unknown?Q?a?=", None),
    (b"=?utf-7?Q?+ADw-?=", None),
    (b"=?hz-gb-2312?Q?a?=", None),  # "replacement"
    (b"=?utf-8?X?a?=", None),
    (b"=?utf-8?Q?\xc3\xa9?=", None),
    (b"=?utf-8?Q?a b?=", None),
    (b"=?utf-8?Q?a?b?=", None),
    (b"=?" + b"a" * 41 + b"?Q?a?=", None),
    # One that does not end begins none
    (b"=?utf-8?Q?=?utf-8?Q?a?=", "=?utf-8?Q?a"),
    (b"a=?b", None),
]


@pytest.mark.parametrize(("raw", "expected"), WORDS)
def test_words(raw: bytes, expected: str | None) -> None:
    value = raw.decode()
    assert decoded_words(value) == (value if expected is None else expected)


@pytest.mark.parametrize("raw", [row[0] for row in WORDS])
def test_bases_and_references_read_the_same(raw: bytes) -> None:
    """What states a base (str) and what is a reference (bytes) is one text."""
    raw = raw.strip(b"()")
    url = url_of(raw.decode("utf-8", "surrogateescape")) or ""
    assert url.encode("utf-8", "surrogateescape") == meant(raw)


@pytest.mark.parametrize(
    ("raw", "edit", "written"),
    [
        # the suffix stays, and with it its folding
        (b"a/\r\n b", Edit(0, 0, b"http://h/"), b"http://h/a/\r\n b"),
        (b"../a/\r\n b", Edit(0, 2, b"http://h"), b"http://h/a/\r\n b"),
        (b"..\r\n /a", Edit(0, 2, b"http://h"), b"http://h\r\n /a"),
        (b".\r\n ./a", Edit(0, 2, b"http://h"), b"http://h/a"),
        (b"\xe9\xc3\xa9", Edit(0, 0, b"http://h/"), b"http://h/\xe9\xc3\xa9"),
        # threat M11: nothing ends the line, the field or the URL
        (b"x", Edit(0, 0, b"h\r\n\0y"), b"h%0D%0A%00yx"),
        (b"x", Edit(0, 0, b'<"> \t\x0b\x7f'), b"%3C%22%3E%20%09%0B%7Fx"),
        (b"x", Edit(0, 0, "é\u2028\x85".encode()), b"%C3%A9%E2%80%A8%C2%85x"),
        (b"x", Edit(0, 0, encode_inner("\udce9\ud800")), b"%E9%ED%A0%80x"),
        (b"x", Edit(0, 0, b"a,;'()\\%41"), b"a,;'()\\%41x"),
        (b"\0x\x7fy", Edit(1, 1, b"z"), b"\0xz\x7fy"),
        # no encoded word comes into being, and one that is there does not stay behind a prefix
        (b"x", Edit(0, 0, b"=?utf-8?Q?y?="), b"%3D?utf-8?Q?y?%3Dx"),
        (b"?utf-8?Q?x?=", Edit(0, 0, b"="), b"%3D?utf-8?Q?x?="),
        (b"a=", Edit(2, 2, b"?utf-8?Q?x?="), b"a%3D?utf-8?Q?x?%3D"),
        (b"a=b=c", Edit(0, 0, b"d=e/?=/"), b"d=e/?=/a=b=c"),
        (b"=?utf-8?Q?=C3=A9?=/\r\n x", Edit(0, 0, b"http://h/"), b"http://h/%C3%A9/x"),
        (b"a=?b", Edit(0, 0, b"http://h/"), b"http://h/a%3D?b"),
    ],
)
def test_what_is_written(raw: bytes, edit: Edit, written: bytes) -> None:
    assert splice(raw, folded_view(raw).lower([edit])) == written


# ---- values of calendars: RFC 5545 §3.1 and §3.3.11, folding and escapes of TEXT


def unfolded(raw: bytes) -> bytes:
    """As `icalendar` and others: unfold, then undo the escapes one after the other."""
    unfolded = re.sub(rb"\r?\n[ \t]", b"", raw)
    return re.sub(
        rb"\\([\\;,nN])", lambda found: b"\n" if found[1] in b"nN" else found[1], unfolded
    )


@pytest.mark.parametrize(
    ("raw", "inner"),
    [
        (b"a\\,b\\;c\\\\d\\ne\\Nf", b"a,b;c\\d\ne\nf"),
        (b"a\r\n b\n\tc", b"abc"),
        (b"a\\\r\n ,b", b"a,b"),
        (b"caf\xc3\r\n \xa9", None),  # a fold within a character: bytes, then nothing is changed
        (b"a\\xb\\", b"a\\xb\\"),
    ],
)
def test_what_a_calendar_means(raw: bytes, inner: bytes | None) -> None:
    view = calendar_view(raw)
    if inner is not None:
        assert view.inner == inner
    assert view.lower([]) == []


def test_what_is_written_into_a_calendar() -> None:
    view = calendar_view(b"<a href=\r\n x>\\")
    assert view.lower([Edit(8, 8, b"http://h/;a,b\\")]) == [Edit(8, 8, b"http://h/\\;a\\,b\\\\")]
    assert view.lower([Edit(11, 11, b"n")]) == [Edit(13, 14, b"\\\\n")]


def test_law_of_calendars() -> None:
    pieces = [b"a", b"\\", b",", b";", b"n", b"\\n", b"\\\\", b"\n ", b"\r\n\t", b"<x>"]
    news = st.sampled_from([b"", b"http://h/", b"n", b"\\", b",;", b"\n"])
    assert_law(st.lists(st.sampled_from(pieces)).map(b"".join), calendar_view, unfolded, news)
