"""Heads of HTTP messages, by spans."""

from __future__ import annotations

from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st

from relbase.containers.http import Dump, final_head, is_partial, parse_dump, read_head, values

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


# ---- dumps of headers

BASE = (("base", "http://h.example/"),)

# (the dump, fields, redirects)
DUMPS = [
    (b"", (), ()),
    (b"\r\n\r\n", (), ()),
    (b"Base: http://h.example/", BASE, ()),
    (b"\xef\xbb\xbfBase:http://h.example/ \r\n\r\n", BASE, ()),
    (b"\n\nBase :\thttp://h.example/\n", BASE, ()),
    (b"HTTP/1.1 200 OK\rBase: http://h.example/\r\r", BASE, ()),
    (b"HTTP/2 200\nBase: http://h.example/\n", BASE, ()),
    # curl -D FILE -L
    (
        (
            b"HTTP/1.1 301 Moved\r\nlocation: /x\r\nBase: y\r\n\r\n"
            b"HTTP/1.1 302 Found\r\nLOCATION: http://i.example/z\r\n\r\n"
            b"HTTP/1.1 200 OK\r\nBase: http://h.example/\r\n\r\n"
        ),
        BASE,
        ("/x", "http://i.example/z"),
    ),
    # a proxy's answer, an interim one, one with a Location that is not a redirect
    (
        (
            b"HTTP/1.1 200 Connection established\nX: y\n\nHTTP/1.1 100 Continue\n\n"
            b"HTTP/1.1 200 OK\nBase: http://h.example/\n"
        ),
        BASE,
        (),
    ),
    (b"HTTP/1.1 201 Created\nLocation: /x\n\nHTTP/1.1 200 OK\nBase: http://h.example/\n", BASE, ()),
    (b"HTTP/1.1 301 Moved\n\nHTTP/1.1 200 OK\nBase: http://h.example/\n", BASE, ()),
    (b"HTTP/1.1 301 Moved\nLocation: /x\nLocation: /y\n\nHTTP/1.1 200 OK\n", (), ("/x",)),
    # the last header is that of the document, be it a redirect
    (b"HTTP/1.1 301 Moved\nLocation: /x\n\n", (("location", "/x"),), ()),
    # wget -S, with its own remarks around
    (
        (
            b"--2024-01-01 10:00:00--  http://h.example/a\n"
            b"Connecting to h.example|10.0.0.1|:80... connected.\n"
            b"HTTP request sent, awaiting response... \n"
            b"  HTTP/1.1 301 Moved Permanently\n"
            b"  Location: /b\n"
            b"Location: /b [following]\n"
            b"--2024-01-01 10:00:01--  http://h.example/b\n"
            b"HTTP request sent, awaiting response... \n"
            b"  HTTP/1.1 200 OK\n"
            b"  Content-Base: http://h.example/long/\n"
            b"    path\n"
            b"  Base: http://h.example/\n"
            b"Saving to: x\n"
        ),
        (("content-base", "http://h.example/long/ path"), *BASE),
        ("/b",),
    ),
    # RFC 9112 §5.2: a folded line continues its field, whatever it looks like
    (
        b"Base: <URL:\r\n http://h.example/>\r\nX: y",
        (("base", "<URL: http://h.example/>"), ("x", "y")),
        (),
    ),
    (b"A: b\n\tc: d\n  e\n", (("a", "b c: d e"),), ()),
    (b"  Base: http://h.example/\n  X: y\n", (*BASE, ("x", "y")), ()),  # pasted with a margin
    # a range counts with the status 206 alone
    (b"HTTP/1.1 200 OK\nContent-Range: bytes 5-9/10\n", (), ()),
    (b"HTTP/1.1 206 P\nContent-Range: bytes 5-9/10\n", (("content-range", "bytes 5-9/10"),), ()),
    (b"HTTP/1.1 206 P\n", (("content-range", "bytes */*"),), ()),
    (b"Content-Range: bytes 5-9/10\n", (("content-range", "bytes 5-9/10"),), ()),
    # the body is not a header
    (b"HTTP/1.1 200 OK\nBase: http://h.example/\n\nBase: http://evil.example/\n", BASE, ()),
    (b"Base: http://h.example/\n \t\nBase: http://evil.example/\n", BASE, ()),
    # what is not a field is passed over
    (b"Base http://x\nno field\n: x\nBase: http://h.example/\nB\xe9: x\n", BASE, ()),
    (b"A: \xe9", (("a", "é"),), ()),
    (b"A: \xc3\xa9", (("a", "é"),), ()),
]


@pytest.mark.parametrize(("dump", "fields", "redirects"), DUMPS)
def test_dumps(
    dump: bytes, fields: tuple[tuple[str, str], ...], redirects: tuple[str, ...]
) -> None:
    assert parse_dump(dump) == Dump(fields, redirects)


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
