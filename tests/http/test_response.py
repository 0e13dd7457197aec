"""Raw HTTP responses as documents: heads, codings, and what follows a body."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import brotli
import pytest
from growth import assert_linear_from_10_ms
from hypothesis import event, given
from hypothesis import strategies as st
from rows import cases

from relbase import Kind, Reason, Status, base, entities, links, rewrite
from relbase.http.response import MAX_HEADS

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES: Final = Path(__file__).with_name("response.txt")

URL: Final = "http://h/d/p"


def message(body: bytes, *fields: str, status: str = "200 OK") -> bytes:
    if not any(field.lower().startswith("content-type:") for field in fields):
        fields = ("Content-Type: text/html", *fields)
    return "\r\n".join([f"HTTP/1.1 {status}", *fields, "", ""]).encode() + body


def body_of(data: bytes) -> bytes:
    return data.partition(b"\r\n\r\n")[2]


def reasons(data: bytes, **more: Any) -> set[Reason]:
    return {note.reason for note in rewrite(data, url=URL, **more).notes}


# ---- heads


@cases(TABLES, "references", field=str, expected=str)
def test_references_of_the_head(field: str, expected: str) -> None:
    data = message(b"<p>", field)
    assert rewrite(data, url=URL).data == message(b"<p>", expected)


def test_what_the_header_states_is_the_base_but_of_locations() -> None:
    data = message(b"<a href=x>", "Content-Base: http://b/c/", "Link: <l>", "Location: m")
    found = {(link.attribute, link.url) for link in links(data, url=URL)}
    assert found == {
        ("content-base", "http://b/c/"),
        ("link", "http://b/c/l"),
        ("location", "http://h/d/m"),
        ("href", "http://b/c/x"),
    }
    assert base(data, url=URL).source == "Content-Base of the HTTP header"


def test_the_documents_own_base_is_stronger() -> None:
    data = message(b"<base href=/q/><a href=x>", "Link: <l>", "Base: <URL:http://b/c/>")
    assert [link.url for link in links(data, url=URL)] == [
        "http://b/c/l",
        "http://b/c/",
        "http://b/q/",
        "http://b/q/x",
    ]
    assert base(data, url=URL).url == "http://b/q/"
    [entity] = entities(data, url=URL)
    assert (entity.type, entity.base.url) == ("message/http", "http://b/q/")


def test_redirects_before_the_response_lead_to_its_url() -> None:
    hops = (
        b"HTTP/1.1 301 x\r\nLocation: http://i/e/\r\n\r\nHTTP/1.1 302 x\r\nLocation: f/\r\n\r\n"
        b"HTTP/1.1 100 Continue\r\n\r\n"
    )
    data = hops + message(b"<a href=x>")
    assert [link.url for link in links(data)] == ["http://i/e/", "http://i/e/f/", "http://i/e/f/x"]
    assert rewrite(data).data == hops.replace(b": f/", b": http://i/e/f/") + message(
        b"<a href=http://i/e/f/x>"
    )


@pytest.mark.parametrize("count", [MAX_HEADS - 2, MAX_HEADS - 1, MAX_HEADS])
def test_redirects_are_followed_up_to_the_limit(count: int) -> None:
    data = b"HTTP/1.1 301 x\r\n\r\n" * count + message(b"<a href=x>")
    result = rewrite(data, url=URL)
    assert result.changed is (count < MAX_HEADS)
    assert {note.reason for note in result.notes} == (
        set() if result.changed else {Reason.LIMIT_HEADER}
    )


@cases(TABLES, "asked again", first=bytes)
def test_what_was_asked_again_is_the_response(first: bytes) -> None:
    data = first + message(b"<a href=x>", "Content-Base: http://b/")
    result = rewrite(data, url=URL)
    assert result.data == first + message(b"<a href=http://b/x>", "Content-Base: http://b/")
    assert not result.notes


@pytest.mark.parametrize("field", ["Transfer-Encoding: chunked", "Content-Encoding: gzip"])
def test_no_body_has_no_coding(field: str) -> None:
    """The answer to a HEAD says how the body would be encoded."""
    assert not reasons(message(b"", field, "Content-Length: 7"))


@pytest.mark.parametrize(
    "data", [b"GET /x HTTP/1.1\r\nLink: <a>\r\n\r\n", b"<a href=x>", b"", b"HTTP/1.1"]
)
def test_what_is_no_response_passes_through(data: bytes) -> None:
    result = rewrite(data, url=URL, kind="http")
    assert result.data is data
    assert reasons(data, kind="http") == {Reason.KIND_UNSUPPORTED}
    assert list(links(data, url=URL, kind="http")) == []


@pytest.mark.parametrize("start", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 200\n"])
def test_files_that_begin_so_are_known(start: bytes) -> None:
    assert rewrite(start + b"Content-Type: text/html\n\n<a href=x>", url=URL).changed


# ---- types of bodies


@cases(TABLES, "types", type_=str, body=bytes, expected=bytes)
def test_bodies_are_read_as_their_types_say(type_: str, body: bytes, expected: bytes) -> None:
    data = message(body, f"Content-Type: {type_}")
    assert body_of(rewrite(data, url=URL).data) == expected


def test_a_range_of_a_document_is_none() -> None:
    data = message(b"<a href=x>", status="206 Partial")
    assert rewrite(data, url=URL).data is data
    assert reasons(data) == {Reason.BODY_PARTIAL}
    whole = message(b"<a href=x>", "Content-Range: bytes 0-9/10", status="206 Partial")
    assert body_of(rewrite(whole, url=URL).data) == b"<a href=http://h/d/x>"


def test_another_message_behind_a_body_is_not_of_it() -> None:
    first = message(b"<a href=x>", "Content-Length: 10")
    second = message(b"<a href=y>")
    assert rewrite(first + second, url=URL).data == (
        message(b"<a href=http://h/d/x>", "Content-Length: 21") + second
    )
    (note,) = rewrite(first + second, url=URL).notes
    assert note.reason is Reason.KIND_UNSUPPORTED
    assert note.span == (len(first), len(first + second))


# ---- codings

ENCODED: Final = [
    (b"a\r\n<a href=x>\r\n0\r\n\r\n", "Transfer-Encoding: chunked"),
    (gzip.compress(b"<a href=x>", mtime=0), "Content-Encoding: gzip"),
    (zlib.compress(b"<a href=x>"), "Content-Encoding: deflate"),
    (brotli.compress(b"<a href=x>"), "Content-Encoding: br"),
]


@pytest.mark.parametrize(("body", "field"), ENCODED)
def test_an_encoded_body_is_read_and_passes_through(body: bytes, field: str) -> None:
    data = message(body, field, "Link: <l>")
    result = rewrite(data, url=URL)
    assert result.data == message(body, field, "Link: <http://h/d/l>")
    assert reasons(data) == {Reason.ENCODING_UNSUPPORTED}
    [head, found] = links(data, url=URL)
    assert head.status is Status.REWRITTEN
    assert (found.reference, found.url, found.status) == ("x", "http://h/d/x", Status.KEPT)
    assert data[found.span.start : found.span.end] == body


@pytest.mark.parametrize(("body", "field"), ENCODED)
def test_a_body_that_breaks_off_is_noted(body: bytes, field: str) -> None:
    data = message(body[:-9], field)
    assert list(links(data, url=URL)) == []
    assert reasons(data) == {Reason.ENCODING_UNSUPPORTED}


@pytest.mark.parametrize("field", ["Transfer-Encoding: chunked", "Content-Encoding: gzip"])
def test_a_body_that_was_written_down_decoded_is_rewritten(field: str) -> None:
    data = message(b"<a href=x>", field)
    assert body_of(rewrite(data, url=URL).data) == b"<a href=http://h/d/x>"
    assert reasons(data) == {Reason.ENCODING_MISLABELLED}


# ---- what follows a body

BEFORE: Final = b"<a href=x>"
AFTER: Final = b"<a href=http://h/d/x>"


def digest(algorithm: str, body: bytes) -> str:
    return b64encode(hashlib.new(algorithm, body).digest()).decode()


@pytest.mark.parametrize(
    "form",
    [
        lambda body: f"Content-Length: {len(body)}",
        lambda body: f"Content-MD5: {digest('md5', body)}",  # RFC 2616 §14.15
        lambda body: f"Digest: SHA-256={digest('sha256', body)}",  # RFC 3230 §4.3.2
        lambda body: f"Digest: sha={digest('sha1', body)},md5={digest('md5', body)}",
        lambda body: f"Content-Digest: sha-512=:{digest('sha512', body)}:",  # RFC 9530 §2
        lambda body: (
            f"Repr-Digest: sha-256=:{digest('sha256', body)}:, sha-512=:{digest('sha512', body)}:"
        ),
    ],
)
def test_fields_follow_the_body(form: Callable[[bytes], str]) -> None:
    data = message(BEFORE, form(BEFORE), "X: y")
    assert rewrite(data, url=URL).data == message(AFTER, form(AFTER), "X: y")
    assert reasons(data) == set()


@cases(TABLES, "wrong fields", field=str)
def test_fields_that_were_wrong_stay(field: str) -> None:
    data = message(BEFORE, field)
    assert rewrite(data, url=URL).data == message(AFTER, field)
    assert reasons(data) == {Reason.FIELD_STALE}


# ---- laws

HEADS: Final = ["Link: <a>", "Location: b", "Content-Base: http://c/", "Transfer-Encoding: chunked",
                "Content-Encoding: gzip", "Content-Length: 10", "Refresh: 0;url=d"]  # fmt: skip


@given(st.lists(st.sampled_from(HEADS)), st.sampled_from([b"<a href=x>", *(e[0] for e in ENCODED)]))
def test_the_laws_hold(fields: list[str], body: bytes) -> None:
    data = message(body, *fields)
    result = rewrite(data, url=URL)
    event("changed" if result.changed else "unchanged")
    assert rewrite(result.data, url=URL).data == result.data or "Content-Length: 10" in fields
    after = list(links(result.data, url=URL))
    assert [link.url for link in after] == [link.url for link in links(data, url=URL)]
    starts = [edit.start for edit in result.edits]
    assert starts == sorted(starts)


@given(st.binary(max_size=120))
def test_no_bytes_raise(tail: bytes) -> None:
    for start in (b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 301 x\r\nLocation: "):
        rewrite(start + tail, url=URL, kind=Kind.HTTP)
        list(links(start + tail, kind="http"))
        base(start + tail, kind="http")


@pytest.mark.parametrize(
    "unit", [b"HTTP/1.1 301 x\r\nLocation: a/\r\n\r\n", b"Link: <a>\r\n", b"1\r\nx\r\n"]
)
def test_time_is_linear(unit: bytes) -> None:
    assert_linear_from_10_ms(
        lambda data: rewrite(data, url=URL),
        lambda size: (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n" + unit * (size // len(unit))
        ),
    )


@pytest.mark.parametrize(
    ("type_", "root", "count"),
    [("text/x-amp-html", "", 2), ("text/html", "<html ⚡>", 2), ("text/html", "<html ⚡4ads>", 0)],
)
def test_amp(type_: str, root: str, count: int) -> None:
    body = f"{root}<amp-list src=x></amp-list><form action-xhr=y>".encode()
    data = message(body, f"Content-Type: {type_}; charset=utf-8")
    assert [link.url for link in links(data, url=URL)] == ["http://h/d/x", "http://h/d/y"][:count]
    assert (rewrite(data, url=URL).data is data) != bool(count)
