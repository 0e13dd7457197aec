"""RFC 5545 §3.1 and §3.3.11: folding and escapes of TEXT."""

from __future__ import annotations

import re

import pytest
from hypothesis import strategies as st
from view_laws import assert_law

from relbase.edit import Edit
from relbase.view.folding import calendar_view


def decode(raw: bytes) -> bytes:
    """As `icalendar` and others: unfold, then undo the escapes one after the other."""
    unfolded = re.sub(rb"\r?\n[ \t]", b"", raw)
    return re.sub(
        rb"\\([\\;,nN])", lambda found: b"\n" if found[1] in b"nN" else found[1], unfolded
    )


@pytest.mark.parametrize(
    ("raw", "inner"),
    [
        (b"a\\,b\\;c\\\\d\\ne\\Nf", b"a,b;c\\d\ne\nf"),
        (b"a\r\n b\n\tc", b"abc"),
        (b"a\\\r\n ,b", b"a,b"),
        (b"caf\xc3\r\n \xa9", None),  # a fold within a character: bytes, then nothing is changed
        (b"a\\xb\\", b"a\\xb\\"),
    ],
)
def test_inner(raw: bytes, inner: bytes | None) -> None:
    view = calendar_view(raw)
    if inner is not None:
        assert view.inner == inner
    assert view.lower([]) == []


def test_lower() -> None:
    view = calendar_view(b"<a href=\r\n x>\\")
    assert view.lower([Edit(8, 8, b"http://h/;a,b\\")]) == [Edit(8, 8, b"http://h/\\;a\\,b\\\\")]
    assert view.lower([Edit(11, 11, b"n")]) == [Edit(13, 14, b"\\\\n")]


def test_law() -> None:
    pieces = [b"a", b"\\", b",", b";", b"n", b"\\n", b"\\\\", b"\n ", b"\r\n\t", b"<x>"]
    news = st.sampled_from([b"", b"http://h/", b"n", b"\\", b",;", b"\n"])
    assert_law(st.lists(st.sampled_from(pieces)).map(b"".join), calendar_view, decode, news)
