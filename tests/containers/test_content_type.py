"""The grammar inside of Content-Type: types, tokens, parameters (RFC 2045 §5.1, RFC 2231)."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relbase.containers.content_type import (
    MAX_PARAMETERS,
    effective_type,
    media_type,
    parameters,
    read_type,
    token,
)

# ---- Media types and tokens

TYPES: Final = [
    # RFC 2045 §5.1
    ("text/plain; charset=us-ascii (Plain text)", "text/plain"),
    ("TEXT/Html", "text/html"),
    ("text/html charset=utf-8", "text/html"),
    ("text/html;", "text/html"),
    ("text/html,", "text/html"),
    ("\r\n text/html\r\n ;x=y", "text/html"),
    ("(a(b)c) text (d) / (e) html (f)", "text/html"),
    (r"(\)) text/html", "text/html"),
    ("application/x-foo+xml.b", "application/x-foo+xml.b"),
    # §5.2: what is none
    *((one, "") for one in ("", "text", "text/", "/html", "(text/html", "; text/html")),
    ('"text/html"', ""),
    ("te\u212at/html", ""),
]


@pytest.mark.parametrize(("value", "expected"), TYPES)
def test_media_types(value: str, expected: str) -> None:
    assert media_type(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Base64", "base64"),
        (" (c) 7BIT ; x", "7bit"),
        ("8 bit", "8"),
        ("attachment; filename=x", "attachment"),
        ("inline(c)", "inline"),
        ("", ""),
        ("=", ""),
        ("(", ""),
    ],
)
def test_tokens(value: str, expected: str) -> None:
    assert token(value) == expected


# ---- Parameters

PARAMETERS: Final = [
    # RFC 2045 §5.1
    ("text/plain; charset=us-ascii (Plain text)", {"charset": "us-ascii"}),
    ('text/plain; charset="us-ascii"', {"charset": "us-ascii"}),
    ("a/b;A=1;B=2", {"a": "1", "b": "2"}),
    ("a/b; a = 1 ; b= 2", {"a": "1", "b": "2"}),
    ("a/b;\r\n\ta=1;\r\n b=2", {"a": "1", "b": "2"}),
    ("a/b; a=1; A=2; a=3", {"a": "1"}),
    ("a/b; a; b=2", {"b": "2"}),
    ("a/b; =1; b=2", {"b": "2"}),
    ("a/b; a=; b=2", {"a": "", "b": "2"}),
    ('a/b; a=""; b=2', {"a": "", "b": "2"}),
    ("a/b;;; ; b=2;", {"b": "2"}),
    ("a/b", {}),
    ("", {}),
    ("; a=1", {"a": "1"}),
    # quoted strings (RFC 822 §3.3)
    ('a/b; a="1;2"; b=2', {"a": "1;2", "b": "2"}),
    (r'a/b; a="1\"\\\;2"; b=2', {"a": r'1"\;2', "b": "2"}),
    ('a/b; a="(1)"; b=2', {"a": "(1)", "b": "2"}),
    ('a/b; a=" 1 "', {"a": " 1 "}),
    ('a/b; a="1\r\n 2"', {"a": "1 2"}),
    ('a/b; a="1"2; b=3', {"a": "1", "b": "3"}),
    ('a/b "x;y"; b=3', {"b": "3"}),
    ('a/b; a="1; b=2', {"a": "1; b=2"}),
    ('a/b; a="1\\', {"a": "1"}),
    ('a/b; a="', {"a": ""}),
    # unquoted tspecials, as they stand in real mail
    ("a/b; a=--=_1/2:3?4[5]@6,7; b=2", {"a": "--=_1/2:3?4[5]@6,7", "b": "2"}),
    ('a/b; a=1"2; b=3', {"a": '1"2', "b": "3"}),
    ("a/b; a=1 2; b=3", {"a": "1", "b": "3"}),
    # comments
    ("a/b (;a=0); (x) a (x) = (x) 1 (x); b=2(x)", {"a": "1", "b": "2"}),
    (r"a/b; a=1 (\(;x=y) ; b=2", {"a": "1", "b": "2"}),
    ("a/b; (a(b)c); b=2", {"b": "2"}),
    ("a/b; a=1 (b; b=2", {"a": "1"}),
    ("a/b; a=1 ); b=2", {"a": "1", "b": "2"}),
    # ASCII only (rule 13)
    ("a/b; \u212a=1; \u017f=2; k=3", {"k": "3"}),
    # RFC 2231 §3
    (
        'message/external-body; access-type=URL; URL*0="ftp://"; URL*1="cs.utk.edu/pub/moose/"',
        {"access-type": "URL", "url": "ftp://cs.utk.edu/pub/moose/"},
    ),
    ("a/b; a*1=2; a*0=1; a*2=3", {"a": "123"}),
    ("a/b; a*0=1; a*2=3", {"a": "1"}),
    ("a/b; a*1=2", {}),
    ("a/b; a*0=1; a*0=2; a*1=3", {"a": "13"}),
    ("a/b; a*00=1; a*01=2", {}),
    # RFC 2231 §4
    (
        "application/x-stuff; title*=us-ascii'en-us'This%20is%20%2A%2A%2Afun%2A%2A%2A",
        {"title": "This is ***fun***"},
    ),
    # RFC 2231 §4.1
    (
        """application/x-stuff; title*0*=us-ascii'en'This%20is%20even%20more%20;
        title*1*=%2A%2A%2Afun%2A%2A%2A%20; title*2="isn't it!\"""",
        {"title": "This is even more ***fun*** isn't it!"},
    ),
    ("a/b; a*=iso-8859-1''%E9", {"a": "é"}),
    ("a/b; a*=%C3%A9", {"a": "é"}),
    ("a/b; a*=unicode_escape''%5Cx41", {"a": "\\x41"}),
    ("a/b; a*=replacement''x", {"a": "x"}),
    ("a/b; a*=utf-8''%zz%4", {"a": "%zz%4"}),
    ("a/b; a*0*=utf-8''%C3; a*1*=%A9", {"a": "é"}),
    ("a/b; a*0=%41; a*1*=%41", {"a": "%41A"}),
    ("a/b; a*='x", {"a": "'x"}),
    ("a/b; a**=1; *=2; *0=3; a*x=4; b=5", {"b": "5"}),
    ("a/b; a*0=1; a=2", {"a": "2"}),
    ("a/b; a=2; a*=utf-8''1", {"a": "2"}),
]


@pytest.mark.parametrize(("value", "expected"), PARAMETERS)
def test_parameters(value: str, expected: dict[str, str]) -> None:
    found = parameters(value)
    # Names that no reader of them would ask for do not matter.
    assert {name: text for name, text in found.items() if name.isalpha() or "-" in name} == expected


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_the_limit_of_parameters_and_of_sections(more: int) -> None:
    assert MAX_PARAMETERS == 1000
    numbers = range(MAX_PARAMETERS + more)
    plain, split = ("a/b" + "".join(f"; p{mark}{n}=x" for n in numbers) for mark in ("", "*"))
    assert len(parameters(plain)) == MAX_PARAMETERS + min(more, 0)
    assert len(parameters(split)["p"]) == MAX_PARAMETERS + min(more, 0)


@given(st.text(alphabet="ab0;=\"()\\*' %/\r\n\u212aé\udcff\ud800"))
def test_any_text(value: str) -> None:
    for name in parameters(f"text/plain; {value}"):
        assert name
        assert name == name.lower()
    assert media_type(value) == media_type(value).strip()
    assert token(value) == token(value).strip()


_words = st.text(alphabet='ab1 ;=()"\\', max_size=8)


@given(st.dictionaries(st.sampled_from(("a", "b", "charset")), _words, min_size=1))
def test_what_is_quoted_is_read(stated: dict[str, str]) -> None:
    def quoted(text: str) -> str:
        return '"{}"'.format(text.replace("\\", "\\\\").replace('"', '\\"'))

    value = "".join(f"; {name}={quoted(text)}" for name, text in stated.items())
    assert parameters(f"text/plain{value}") == stated


# Fetch Standard §2.2.2, "extract a MIME type", with its examples.
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["text/plain;charset=gbk, text/html"], "text/html"),
        (["text/html;charset=gbk;a=b, text/html;x=y"], 'text/html;x=y; charset="gbk"'),
        (["text/html;charset=gbk;a=b", "text/html;x=y"], 'text/html;x=y; charset="gbk"'),
        (["text/html;charset=gbk", "x/x", "text/html;x=y"], "text/html;x=y"),
        (["text/html", "cannot-parse"], "text/html"),
        (["text/html", "*/*"], "text/html"),
        (["text/html", ""], "text/html"),
        (['text/html; x="a,b", image/png'], "image/png"),
        (['text/html; charset="a\\"b"', "text/html"], r'text/html; charset="a\"b"'),
        (["nothing"], "nothing"),
        (["nothing", "at all"], "nothing"),
        ([], ""),
    ],
)
def test_the_last_valid_of_several_types_counts(values: list[str], expected: str) -> None:
    assert effective_type(values) == expected


def test_boundaries_and_charsets_without_white_space_at_their_ends() -> None:
    stated = read_type('multipart/x; boundary="a b  "; charset=" utf-8 "')
    assert (stated.boundary, stated.charset) == (b"a b", "utf-8")
    assert read_type("multipart/x; boundary=; charset=")[1:3] == (None, None)
