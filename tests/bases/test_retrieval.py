"""RFC 1808 §3.3: the retrieval URL after its redirects."""

from __future__ import annotations

import pytest

from relbase.bases.layers import Layer, retrieval
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
    # a fragment is not part of a base (RFC 3986 §5.1)
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
    (stated,), notes = retrieval(url, redirects)
    assert (stated.layer, stated.value, stated.source) == (Layer.RETRIEVAL, expected, source)
    assert notes == []


@pytest.mark.parametrize(
    ("url", "redirects"), [(None, []), ("", []), (" \n", []), (None, ["", " "])]
)
def test_no_url_states_nothing(url: str | None, redirects: list[str]) -> None:
    assert retrieval(url, redirects) == ([], [])


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
    (stated,), (note,) = retrieval(url, redirects)
    assert stated.value == expected
    assert note.reason is Reason.CREDENTIALS_REMOVED
    assert "secret" not in note.text
    assert note.text.startswith(stated.source)


def test_credentials_of_an_earlier_url_need_no_note() -> None:
    (stated,), notes = retrieval("http://u:p@h.example/", ["http://i.example/@x"])
    assert (stated.value, notes) == ("http://i.example/@x", [])
