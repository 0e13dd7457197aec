"""References in headers (RFC 1808 §3.1, RFC 2369, RFC 2557), threats M4, M11 and A4."""

from __future__ import annotations

import re
from itertools import pairwise
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE
from view_laws import check_law, edits_of

from relbase.edit import Edit, Span
from relbase.references.headers import EXTERNAL_BODY, FIELDS, quote_before
from relbase.view.characters import inner as encode_inner
from relbase.view.characters import text as decode_inner
from relbase.view.folding import decoded_words, folded_view

LOCATION, ONE, LIST, ARCHIVED = b"Location", b"Content-Location", b"List-Post", b"Archived-At"
URI, LINK, REFRESH = b"URI", b"Link", b"Refresh"


def references(name: bytes, raw: bytes) -> list[Span]:
    field = FIELDS.get(name.lower())
    return list(field.find(raw)) if field else []


def found(name: bytes, raw: bytes) -> list[bytes]:
    return [raw[start:end] for start, end in references(name, raw)]


def read(name: bytes, raw: bytes) -> list[bytes]:
    return [folded_view(url).inner for url in found(name, raw)]


@pytest.mark.parametrize(
    ("name", "raw", "urls"),
    [
        # RFC 2557 §4.2: [CFWS] URI [CFWS]
        # tests/bases/test_bases_headers.py has more: bases are stated by the same grammar
        (ONE, b" fiction1/fiction2\r\n", [b"fiction1/fiction2"]),
        (ONE, b" (a) (b) x (c) (d)\r\n", [b"x"]),
        (ONE, rb" (\)) x (\()", [b"x"]),
        (ONE, b" x (c", [b"x"]),  # a comment that does not end
        (ONE, b" image(1).jpeg", [b"image(1).jpeg"]),
        (ONE, b" (1).jpeg", [b"(1).jpeg"]),
        (ONE, b" image (1).jpeg", [b"image (1).jpeg"]),
        (ONE, b" a (b) c (d)", [b"a (b) c (d)"]),
        (ONE, b" (only", []),
        (ONE, b'(a)(b)"x"', [b"x"]),
        (ONE, b"<x(b)>", [b"x(b)"]),
        (ONE, b'x "y"', []),
        # what is not a URL, and no saying what is
        (ONE, b"=?utf-8?Q?=3Cx=3E?=", []),
        (ONE, b"=?utf-8?Q?=22x=22?=", []),
        # RFC 9110 §10.2.2 has no white space
        (LOCATION, b" x/y", [b"x/y"]),
        (LOCATION, b" <x>", [b"x"]),
        (LOCATION, b" x/\r\n y", [b"x/\r\n y"]),
        (LOCATION, b" Room 5", []),
        (LOCATION, b" Room\t5", []),
        # RFC 2369 §2 and §3
        (LIST, b" <mailto:a@b>, <x>\r\n", [b"mailto:a@b", b"x"]),
        (LIST, b" <x> (first), (second) <y>", [b"x", b"y"]),
        (LIST, b" (all) <x>", [b"x"]),
        (LIST, b" <x>\r\n (a\r\n b),\r\n <y>", [b"x", b"y"]),
        (LIST, b"< x >", [b"x"]),
        (LIST, b"<x,y>", [b"x,y"]),
        (LIST, b"<x(y)>", [b"x(y)"]),
        (LIST, b"<>, <x>", [b"x"]),
        (LIST, b"NO (<x>)", []),
        (LIST, b"x, <y>", []),  # (1) it does not begin with "<"
        (LIST, b"<x> <y>, <z>", [b"x"]),  # (2) what follows a URL, unless a comma
        (LIST, b"<x>;<y>", [b"x"]),
        (LIST, b"<x>, y, <z>", [b"x"]),  # (3) the remainder
        (LIST, b"<x>,, <z>", [b"x"]),
        (LIST, b"<x>, (<y>) <z>", [b"x", b"z"]),
        (LIST, b"<x>, (<y>", [b"x"]),
        (LIST, b"<x>, <y", [b"x"]),
        (LIST, b"(x) (y (z)) <x>", [b"x"]),
        (LIST, b"", []),
        (b"List-Id", b" <x>", []),
        (b"List-Unsubscribe-Post", b" <x>", []),
        # RFC 5064 §2, RFC 2068 §19.6.2.5
        (ARCHIVED, b" <x>\r\n", [b"x"]),
        (ARCHIVED, b" x\r\n", []),
        (URI, b" <x>, <y>", [b"x", b"y"]),
        # RFC 8288 §3
        (LINK, b' <x>; rel="a, <b>",\r\n <y>', [b"x", b"y"]),
        (LINK, b" x", []),
        # WHATWG HTML, shared declarative refresh steps
        (REFRESH, b" 0; url=x\r\n", [b"x"]),
        (REFRESH, b" 0; url='x' y", [b"x"]),
        (REFRESH, b" 5", []),
        (REFRESH, b" 0; url=<x>", [b"<x>"]),
        # threat M11: to some readers a CR alone ends a line, and `http:` after it begins a field
        (LINK, b" \r<x>", []),
        (LIST, b"<\rx>, <y>", []),
        (ONE, b" x\ry", []),
        (LIST, b"<x\r y>\r", [b"x\r y"]),  # a fold, in a message without LF
        # names
        (b"CONTENT-location", b"x", [b"x"]),
        (b"Content-Base", b" x (a comment)", [b"x"]),
        (b"Base", b"<URL:x>", [b"x"]),
        (b"Snapshot-Content-Location", b"x", []),
        (b"Lin\xe2\x84\xaa", b"<x>", []),
        (b"", b"<x>", []),
    ],
)
def test_references(name: bytes, raw: bytes, urls: list[bytes]) -> None:
    assert found(name, raw) == urls


def test_the_quote_of_a_refresh_is_not_written() -> None:
    raw = b"0; url=' x'"
    (span,) = references(REFRESH, raw)
    quote = quote_before(raw, span)
    assert quote == b"'"
    view = folded_view(raw[span.start : span.end], quote)
    assert view.lower([Edit(0, 0, b"it's")]) == [Edit(0, 0, b"it%27s")]
    assert quote_before(b"x", Span(0, 1)) == b""
    assert quote_before(b"<x>", Span(1, 2)) == b""


# Law 5

RAWS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *(b"\r\n ", b"\n\t", b" ", b"a", b"/", b"..", b"=", b"?", b"=?", b"?=", b"\0"),
                *(b"\xe9", b"\xc3", b"\xa9", b"\xc3\xa9", b"=?utf-8?Q?=C3=A9?="),
                *(b"=?utf-8?B?eA==?=", b"utf-8", b"?Q?", b"=?utf-8?Q?_?=", b"%41", b"<", b'"'),
                b"'",
            ]
        ),
        st.binary(max_size=3),
    ),
    max_size=8,
).map(b"".join)
NEW = st.one_of(
    st.text(max_size=4).map(encode_inner),
    st.sampled_from(
        [b"=", b"?", b"=?utf-8?Q?x?=", b"?utf-8?Q?x?=", b"?=", b"", b"http://h/", b"\r\n"]
    ),
    st.sampled_from(HOSTILE).map(encode_inner),
)


def means(raw: bytes) -> bytes:
    """What a raw text means: base headers are read by another function."""
    text = decoded_words(raw.decode("utf-8", "surrogateescape"))
    return encode_inner(re.sub(r"[\0-\x20\x7f]+", "", text))


def octets(inner: bytes) -> bytes:
    """What no percent-encoding changes."""
    text = decode_inner(inner)
    plain = b"".join(
        character.encode(
            "utf-8", "surrogateescape" if "\udc80" <= character <= "\udcff" else "surrogatepass"
        )
        for character in text
    )
    return unquote_to_bytes(plain)


@given(st.data(), RAWS)
def test_law_of_views(data: st.DataObject, raw: bytes) -> None:
    view = folded_view(raw)
    if b"=?" in raw and means(raw) != view.inner:
        return  # Unicode white space in a broken word: the other reader sees text, not bytes
    edited = check_law(raw, view, data.draw(edits_of(view.inner, NEW)), means, octets)
    new = set(edited) - set(raw)
    assert all(0x20 < byte < 0x7F for byte in new)
    for byte in (b"\r", b"\n", b"\0"):  # threat M11: no line break that was not there
        assert edited.count(byte) <= raw.count(byte)


@given(st.sampled_from(sorted(FIELDS)), st.one_of(RAWS, RAWS.map(b"<%b>, ".__mod__), st.binary()))
def test_spans(name: bytes, raw: bytes) -> None:
    """Laws 6 and 7."""
    spans = list(references(name, raw))
    for before, after in pairwise(spans):
        assert before.end <= after.start
    for start, end in spans:
        assert 0 <= start < end <= len(raw)
        assert raw[start] > 0x20 < raw[end - 1]


# (the Content-Type of a message/external-body, its URL): RFC 2017 §3.1
EXTERNAL = [
    (b'message/external-body; access-type=URL; URL="x"', [b"x"]),
    (b'message/external-body; URL="ftp://h/a/\r\n b"; Access-Type="url"', [b"ftp://h/a/\r\n b"]),
    (b'message/external-body;\n\taccess-type = URL (a comment; URL="no");\n url = " x "', [b"x"]),
    (b'message/external-body; access-type=URL; name="URL"; URL="x"; URL="y"', [b"x"]),
    (b'message/external-body; access-type=URL; URL="x', [b"x"]),
    # No URL, or none by this field
    (b'message/external-body; access-type=anon-ftp; URL="x"', []),
    (b'message/external-body; URL="x"', []),
    (b"message/external-body; access-type=URL", []),
    (b'message/external-body; access-type=URL; URL=""', []),
    (b'message/external-body; access-type=URL; URL=" "', []),
    (b"message/external-body; access-type=URL; URL=x", []),  # not quoted: could hold no `/`
    (b'message/external-body; access-type=URL; URL="a\\"b"', []),
    (b'message/external-body; access-type=URL; xURL="x"', []),
    (b'message/external-body; access-type=URL; URL=a"x"', []),
    (b'message/external-body; access-type=URL; (URL="x"', []),
    (b'message/external-body; access-type=URL; "URL="x', []),
    (b"", []),
]


@pytest.mark.parametrize(("value", "urls"), EXTERNAL)
def test_the_url_of_an_external_body(value: bytes, urls: list[bytes]) -> None:
    assert [value[start:end] for start, end in EXTERNAL_BODY.find(value)] == urls
