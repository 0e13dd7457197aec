"""What a header states as the base (rules 2 and 3; RFC 1808 §3.1, RFC 2110, RFC 9110)."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases

from relbase.bases.headers import http_statements, snapshot_statements, statements_of, url_of
from relbase.bases.layers import Layer
from relbase.containers.header_fields import States
from relbase.edit import Span
from relbase.notes import Reason
from relbase.url.profiles import Profile
from relbase.values.headers import FIELDS
from relbase.view.folding import folded_view

TABLES = Path(__file__).with_name("headers.txt")


@cases(TABLES, "values", value=str, url=str)
def test_the_url_of_a_value(value: str, url: str | None) -> None:
    assert url_of(value) == url
    raw = value.encode()
    found = FIELDS["content-location"].find(raw)
    assert [folded_view(raw[start:end]).inner.decode() for start, end in found] == [url] * bool(url)


@given(st.text(alphabet='<>"=?Qb utf-8:/URL\r\n\té'))
def test_no_value_raises_and_none_keeps_white_space(value: str) -> None:
    assert not set(url_of(value) or "") & set(" \t\r\n")


A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"

# (fields, the statements, strongest first): rule 2
ORDER = [
    ([], []),
    ([("Content-Type", "text/html"), ("X-Base", A)], []),
    ([("Base", A)], [(A, "Base")]),
    ([("BASE", A)], [(A, "Base")]),
    ([(" base ", A)], [(A, "Base")]),
    ([("content-BASE", A)], [(A, "Content-Base")]),
    ([("Content-Base", B), ("Base", A)], [(A, "Base"), (B, "Content-Base")]),
    ([("Base", A), ("Base", B)], [(A, "Base"), (B, "Base")]),
    ([("Base", ""), ("Base", "<URL: >"), ("Base", B)], [(B, "Base")]),
    (
        [("Content-Base", A), ("Base", "b/"), ("Base", C)],
        [("b/", "Base"), (C, "Base"), (A, "Content-Base")],
    ),
]


@pytest.mark.parametrize(("fields", "expected"), ORDER)
def test_the_order_of_statements(
    fields: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    statements, notes = http_statements(fields)
    assert [(found.value, found.source) for found in statements] == [
        (value, f"{name} of the HTTP header") for value, name in expected
    ]
    assert all(found.layer is Layer.ENTITY for found in statements)
    assert notes == []


@pytest.mark.parametrize("name", ["Content-Location", "content-location", "CONTENT-LOCATION"])
def test_content_location_is_noted_and_no_base(name: str) -> None:
    """RFC 9110 §8.7; rule 3."""
    statements, (note,) = http_statements([(name, "\x1bhttp://h.example/"), ("Base", A)])
    assert [found.value for found in statements] == [A]
    assert note.reason is Reason.CONTENT_LOCATION_HTTP
    assert "RFC 9110" in note.text
    assert "\x1b" not in note.text


# (fields, the statements, strongest first): rules 2 and 3, RFC 2557 §5
MIME = [
    ([], []),
    ([("content-location", A)], [(A, "Content-Location")]),
    (
        [("content-location", A), ("content-base", B)],
        [(B, "Content-Base"), (A, "Content-Location")],
    ),
    (
        [("content-location", A), ("content-base", B), ("base", f"<URL:{C}>")],
        [(C, "Base"), (B, "Content-Base"), (A, "Content-Location")],
    ),
    ([("content-location", "x/y.png")], [("x/y.png", "Content-Location")]),
    # A name for links to the part is not a base
    ([("content-location", "cid:css-1@mhtml.blink")], []),
    ([("content-location", "MID:x@y")], []),
    ([("content-base", "cid:x@y")], [("cid:x@y", "Content-Base")]),  # refused later, with a note
    ([("snapshot-content-location", A), ("location", A), ("content-id", "<x>")], []),
    ([("content-base", '""'), ("base", " ")], []),
]


@pytest.mark.parametrize(("fields", "expected"), MIME)
def test_the_statements_of_a_mime_header(
    fields: list[tuple[str, str]], expected: list[tuple[str, str]]
) -> None:
    given_ = [(name, value, Span(at, at + 1)) for at, (name, value) in enumerate(fields)]
    found = statements_of(given_, States.MAIL, "part 1.2")
    assert [(one.value, one.source) for one in found] == [
        (value, f"{name} of part 1.2") for value, name in expected
    ]
    for one in found:
        assert one.span is not None
        assert one.source.lower().startswith(fields[one.span.start][0])
        assert one.layer is Layer.ENTITY


# (the value, the URL, the reasons of the notes): rules 3 and 5, threat A7
SNAPSHOTS = [
    (None, [], []),
    ("", [], []),
    (" http://h.example/\r\n x ", ["http://h.example/x"], []),
    ("http://h.example/x#f", ["http://h.example/x"], []),
    ("http://u:p@h.example/x", ["http://h.example/x"], [Reason.CREDENTIALS_REMOVED]),
    ("file:///home/alice/x.html", [], [Reason.BASE_UNSUITABLE]),
    ("FILE:/x", [], [Reason.BASE_UNSUITABLE]),
    ("filed://h/x", ["filed://h/x"], []),
]


@pytest.mark.parametrize(("value", "urls", "reasons"), SNAPSHOTS)
def test_chromium_states_a_retrieval_url(
    value: str | None, urls: list[str], reasons: list[Reason]
) -> None:
    found, notes = snapshot_statements(value, Profile.RFC1808)
    assert [(one.layer, one.value) for one in found] == [(Layer.RETRIEVAL, url) for url in urls]
    assert [note.reason for note in notes] == reasons
    for one in (*(one.source for one in found), *(note.text for note in notes)):
        assert one.startswith("Snapshot-Content-Location of the message")
