"""Dumps of HTTP headers."""

from __future__ import annotations

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st

from relbase.containers.http import Dump, parse_dump

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
