"""RFC 1808 §3.3: the retrieval URL after its redirects, and dumps of headings."""

from __future__ import annotations

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from relbase.bases.layers import Layer
from relbase.bases.retrieval import Dump, parse_dump, statements
from relbase.notes import Reason

# (url, redirects, the URL, its source)
ROWS = [
    ("http://h.example/a/b", [], "http://h.example/a/b", "retrieval URL"),
    (" http://h.example/a\n", [], "http://h.example/a", "retrieval URL"),
    # each is resolved on the one before, by RFC 3986 whatever the profile
    ("http://h.example/a/b", ["https://i.example/"], "https://i.example/", "redirect 1"),
    ("http://h.example/a/b", ["c"], "http://h.example/a/c", "redirect 1"),
    ("http://h.example/a/b", ["/c", "d/e", "../f"], "http://h.example/f", "redirect 3"),
    ("http://h.example/a/b", ["//i.example/x", "?q"], "http://i.example/x?q", "redirect 2"),
    ("http://h.example/a/b", ["../../../c"], "http://h.example/c", "redirect 1"),
    ("http://h.example/a/b?q", [" c\r\n"], "http://h.example/a/c", "redirect 1"),
    ("http://h.example/a/b", [""], "http://h.example/a/b", "redirect 1"),
    ("http://h.example/a/b", ["x:g"], "x:g", "redirect 1"),
    (None, ["http://h.example/"], "http://h.example/", "redirect 1"),
    (None, ["/c"], "/c", "redirect 1"),
    # a fragment is no part of a base (RFC 3986 §5.1)
    ("http://h.example/a#f", [], "http://h.example/a", "retrieval URL"),
    ("http://h.example/a#f", ["b#g"], "http://h.example/b", "redirect 1"),
    ("http://h.example/a#f", ["#g"], "http://h.example/a", "redirect 1"),
    ("http://h.example/a?b?c#d#e", [], "http://h.example/a?b?c", "retrieval URL"),
    # a bare authority stays as it is: the profile's algorithm adds the path
    ("http://h.example", [], "http://h.example", "retrieval URL"),
    ("about:blank", [], "about:blank", "retrieval URL"),
]


@pytest.mark.parametrize(("url", "redirects", "expected", "source"), ROWS)
def test_the_last_url_is_stated(
    url: str | None, redirects: list[str], expected: str, source: str
) -> None:
    (stated,), notes = statements(url, redirects)
    assert (stated.layer, stated.value, stated.source) == (Layer.RETRIEVAL, expected, source)
    assert notes == []


@pytest.mark.parametrize(
    ("url", "redirects"), [(None, []), ("", []), (" \n", []), (None, ["", " "])]
)
def test_no_url_states_nothing(url: str | None, redirects: list[str]) -> None:
    assert statements(url, redirects) == ([], [])


# (url, redirects, the URL): threat A7
CREDENTIALS = [
    ("http://u:secret@h.example/a", [], "http://h.example/a"),
    ("http://u@h.example:8080/a", [], "http://h.example:8080/a"),
    ("http://u:p@ss@h.example/a", [], "http://h.example/a"),
    ("http://@h.example/a", [], "http://h.example/a"),
    ("http://u:secret@h.example/a", ["b", "/c"], "http://h.example/c"),
    ("http://h.example/a", ["//u:secret@i.example/"], "http://i.example/"),
    ("ftp://u:secret@h.example", [], "ftp://h.example"),
]


@pytest.mark.parametrize(("url", "redirects", "expected"), CREDENTIALS)
def test_credentials_are_removed_with_a_note(url: str, redirects: list[str], expected: str) -> None:
    (stated,), (note,) = statements(url, redirects)
    assert stated.value == expected
    assert note.reason is Reason.CREDENTIALS_REMOVED
    assert "secret" not in note.text
    assert note.text.startswith(stated.source)


def test_credentials_of_an_earlier_url_need_no_note() -> None:
    (stated,), notes = statements("http://u:p@h.example/", ["http://i.example/@x"])
    assert (stated.value, notes) == ("http://i.example/@x", [])


BASE = (("Base", "http://h.example/"),)

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
    # a proxy's answer, an interim one, one with a Location that is no redirect
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
    # the last heading is that of the document, be it a redirect
    (b"HTTP/1.1 301 Moved\nLocation: /x\n\n", (("Location", "/x"),), ()),
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
        (("Content-Base", "http://h.example/long/    path"), *BASE),
        ("/b",),
    ),
    # RFC 9112 §5.2: a folded line continues its field, whatever it looks like
    (
        b"Base: <URL:\r\n http://h.example/>\r\nX: y",
        (("Base", "<URL: http://h.example/>"), ("X", "y")),
        (),
    ),
    (b"A: b\n\tc: d\n  e\n", (("A", "b\tc: d  e"),), ()),
    (b"  Base: http://h.example/\n  X: y\n", (*BASE, ("X", "y")), ()),  # pasted with a margin
    # the body is no heading
    (b"HTTP/1.1 200 OK\nBase: http://h.example/\n\nBase: http://evil.example/\n", BASE, ()),
    (b"Base: http://h.example/\n \t\nBase: http://evil.example/\n", BASE, ()),
    # what is no field is passed over
    (b"Base http://x\nno field\n: x\nBase: http://h.example/\nB\xe9: x\n", BASE, ()),
    (b"A: \xe9", (("A", "é"),), ()),
    (b"A: \xc3\xa9", (("A", "é"),), ()),
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
    assert_linear(parse_dump, lambda n: b"A: b\n" + piece * (n // len(piece)), (1 << 18, 1 << 19))
