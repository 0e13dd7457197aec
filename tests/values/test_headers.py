"""References in headers (RFC 1808 §3.1, RFC 2369, RFC 2557), threats M4, M11 and A4."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote_to_bytes

from hypothesis import given
from hypothesis import strategies as st
from rows import cases
from strategies import HOSTILE
from view_laws import check_law, edits_of

from relbase.edit import Edit, Span
from relbase.values.headers import EXTERNAL_BODY, FIELDS, quote_before
from relbase.view.characters import decode_inner, encode_inner
from relbase.view.folding import decoded_words, folded_view

TABLES = Path(__file__).with_name("headers.txt")

LOCATION, ONE, LIST, ARCHIVED = b"Location", b"Content-Location", b"List-Post", b"Archived-At"
URI, LINK, REFRESH = b"URI", b"Link", b"Refresh"


def references(name: bytes, raw: bytes) -> list[Span]:
    field = FIELDS.get(name.decode("ascii", "replace").lower())
    return list(field.find(raw)) if field else []


def found(name: bytes, raw: bytes) -> list[bytes]:
    return [raw[start:end] for start, end in references(name, raw)]


def read(name: bytes, raw: bytes) -> list[bytes]:
    return [folded_view(url).inner for url in found(name, raw)]


@cases(TABLES, "references", name=bytes, raw=bytes, urls=list[bytes])
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


@given(
    st.sampled_from(sorted(map(str.encode, FIELDS))),
    st.one_of(RAWS, RAWS.map(b"<%b>, ".__mod__), st.binary()),
)
def test_spans(name: bytes, raw: bytes) -> None:
    """Laws 6 and 7."""
    spans = list(references(name, raw))
    for before, after in pairwise(spans):
        assert before.end <= after.start
    for start, end in spans:
        assert 0 <= start < end <= len(raw)
        assert raw[start] > 0x20 < raw[end - 1]


@cases(TABLES, "external bodies", value=bytes, urls=list[bytes])
def test_the_url_of_an_external_body(value: bytes, urls: list[bytes]) -> None:
    assert [value[start:end] for start, end in EXTERNAL_BODY.find(value)] == urls
