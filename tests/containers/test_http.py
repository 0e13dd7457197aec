"""Heads of HTTP messages, by spans."""

from __future__ import annotations

import http.client
import io
from typing import Final

import pytest

from relbase.containers.fields import text_of
from relbase.containers.http import final_head, is_partial, read_head, values

# ---- heads


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", 200),  # RFC 9112 §4
        (b"HTTP/1.0 404\r\n\r\n", 404),
        (b"HTTP/2 301 \r\n\r\n", 301),  # as curl -i writes it
        (b"GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n", None),  # §3
    ],
)
def test_a_head_begins_with_its_start_line(data: bytes, status: int | None) -> None:
    head = read_head(data)
    assert head is not None
    assert head.status == status
    assert data[head.start.start : head.start.end] == data.partition(b"\r\n")[0]
    assert head.header.body == len(data)


@pytest.mark.parametrize(
    "data", [b"", b"HTTP/1.1", b"HTTP/1.1 2000 x\r\n", b"<html>", b"GET /\r\n"]
)
def test_what_begins_otherwise_has_no_head(data: bytes) -> None:
    assert read_head(data) is None


@pytest.mark.parametrize("block", [b"", b"<html>", b"Link: <a>\r\n\r\n", b"HTTPS 1\r\n\r\n"])
def test_what_has_no_status_line_has_no_final_head(block: bytes) -> None:
    assert final_head(block) == (None, "")


@pytest.mark.parametrize(
    ("statuses", "final"), [((100, 103, 200), 200), ((101, 200), 101), ((102,), 102)]
)
def test_informational_responses_come_before_the_final_one(
    statuses: tuple[int, ...], final: int
) -> None:
    head, _ = final_head(b"".join(b"HTTP/1.1 %d x\r\n\r\n" % status for status in statuses))
    assert head is not None
    assert head.status == final


@pytest.mark.parametrize(
    ("status", "ranges", "expected"),
    [
        (206, [], True),  # RFC 9110 §15.3.7
        (206, ["bytes 0-9/10"], False),
        (206, ["bytes 0-9/*"], True),
        (206, ["bytes 1-9/10"], True),
        (206, ["bytes 0-9/10", "bytes 5-9/10"], True),
        (206, ["pages 0-9/10"], True),
        (200, ["bytes 5-9/10"], False),  # §14.4
        (None, ["bytes 5-9/10"], True),
        (None, ["BYTES 0-9/10"], False),
        (None, [], False),
    ],
)
def test_what_is_a_part_of_a_document(
    status: int | None,
    ranges: list[str],
    expected: bool,  # noqa: FBT001 (a table)
) -> None:
    assert is_partial(status, ranges) is expected


FIELDS: Final = (
    b"HTTP/1.1 200 OK\r\nLink: <a>\r\nX: y\r\nLINK:\t<b>;\r\n rel=x\r\nRefresh:0\r\n"
    b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\nDigest: x=\r\nRepr-Digest: y=:z:\r\n"
    b"Content-Encoding: \xff\r\n\r\nbody"
)


def test_every_repeated_field_has_its_span() -> None:
    head = read_head(FIELDS)
    assert head is not None
    assert FIELDS[head.header.body :] == b"body"
    assert values(FIELDS, head, "link") == ["<a>", "<b>;\r\n rel=x"]
    assert values(FIELDS, head, "transfer-encoding") == ["gzip", "chunked"]
    assert values(FIELDS, head, "digest") + values(FIELDS, head, "repr-digest") == ["x=", "y=:z:"]
    assert values(FIELDS, head, "content-encoding") == ["\udcff"]
    for field in head.header.fields:
        assert FIELDS[field.span.start : field.span.end].lower().startswith(field.name.encode())


def test_heads_are_read_as_http_client_reads_them() -> None:
    class Socket:
        def makefile(self, _mode: str) -> io.BytesIO:
            return io.BytesIO(FIELDS)

    response = http.client.HTTPResponse(Socket())  # type: ignore[arg-type]
    response.begin()
    head = read_head(FIELDS)
    assert head is not None
    assert [
        (field.name, "".join(text_of(FIELDS, field).splitlines()))
        for field in head.header.fields
        if field.name != "content-encoding"
    ] == [
        (name.lower(), "".join(value.splitlines()))
        for name, value in response.getheaders()
        if name not in ("X", "Content-Encoding")
    ]
