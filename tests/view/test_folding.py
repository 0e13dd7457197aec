"""URLs in fields: encoded words by the examples of RFC 2047 §8, any bytes, what is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from hypothesis import strategies as st
from rows import cases, edits
from view_laws import assert_law

from relbase.bases.headers import url_of
from relbase.edit import Edit, Span, splice
from relbase.view.folding import calendar_view, decoded_words, folded_view, meant

TABLES: Final = Path(__file__).with_name("folding.txt")


@cases(TABLES, "words", raw=bytes, expected=str)
def test_words(raw: bytes, expected: str | None) -> None:
    value = raw.decode()
    assert decoded_words(value) == (value if expected is None else expected)
    # What states a base (str) and what is a reference (bytes) is one text.
    url = url_of(value.strip("()")) or ""
    assert url.encode() == meant(raw.strip(b"()"))


@cases(TABLES, "written", raw=bytes, changes=edits, written=bytes)
def test_what_is_written(raw: bytes, changes: list[Edit], written: bytes) -> None:
    assert splice(raw, folded_view(raw).lower(changes)) == written


def test_the_place_of_a_url_in_encoded_words_is_all_of_it() -> None:
    raw = b"=?utf-8?Q?a?=/b"
    assert folded_view(raw).places()(Span(1, 3)) == Span(0, len(raw))


# ---- values of calendars: RFC 5545 §3.1 and §3.3.11, folding and escapes of TEXT


def unfolded(raw: bytes) -> bytes:
    """As `icalendar` and others: unfold, then undo the escapes one after the other."""
    unfolded = re.sub(rb"\r?\n[ \t]", b"", raw)
    return re.sub(
        rb"\\([\\;,nN])", lambda found: b"\n" if found[1] in b"nN" else found[1], unfolded
    )


@cases(TABLES, "calendars", raw=bytes, inner=bytes)
def test_what_a_calendar_means(raw: bytes, inner: bytes | None) -> None:
    view = calendar_view(raw)
    if inner is not None:
        assert view.inner == inner
    assert view.lower([]) == []


def test_what_is_written_into_a_calendar() -> None:
    view = calendar_view(b"<a href=\r\n x>\\")
    assert view.lower([Edit(8, 8, b"http://h/;a,b\\")]) == [Edit(8, 8, b"http://h/\\;a\\,b\\\\")]
    assert view.lower([Edit(11, 11, b"n")]) == [Edit(13, 14, b"\\\\n")]


def test_law_of_calendars() -> None:
    pieces = [b"a", b"\\", b",", b";", b"n", b"\\n", b"\\\\", b"\n ", b"\r\n\t", b"<x>"]
    news = st.sampled_from([b"", b"http://h/", b"n", b"\\", b",;", b"\n"])
    assert_law(st.lists(st.sampled_from(pieces)).map(b"".join), calendar_view, unfolded, news)
