"""Heads of HTTP messages, by spans."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from rows import cases, pairs, texts

from relbase.containers.http import Dump, final_head, is_partial, parse_dump, read_head, values

TABLES: Final = Path(__file__).with_name("http.txt")

# ---- heads


@cases(TABLES, "start lines", data=bytes, status=int)
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


@cases(TABLES, "parts of documents", status=int, ranges=texts, expected=bool)
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


# ---- dumps of headers


@cases(TABLES, "dumps", dump=bytes, fields=pairs, redirects=list[str])
def test_dumps(dump: bytes, fields: list[tuple[str, str]], redirects: list[str]) -> None:
    assert parse_dump(dump) == Dump(tuple(fields), tuple(redirects))


@given(
    st.binary()
    | st.lists(st.sampled_from([b"HTTP/1.1 301", b"\n", b" ", b"A: b", b"\r\n", b"\xff"])).map(
        b"".join
    )
)
def test_no_dump_raises(dump: bytes) -> None:
    parse_dump(dump)


@pytest.mark.parametrize(
    "piece", [b"A: b\n", b" x\n", b"HTTP/1.1 301 M\nLocation: x\n\n", b"x", b"\n"]
)
def test_time_is_linear(piece: bytes) -> None:
    """Threats M4 and P4: a dump is a file that somebody gives."""
    assert_linear_from_10_ms(parse_dump, lambda n: b"A: b\n" + piece * (n // len(piece)))
