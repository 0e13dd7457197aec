"""Warnings: in order, at their places."""

from __future__ import annotations

from growth import assert_linear_from_10_ms

from relbase import Note, Reason, Span
from relbase.cli import remarks
from relbase.cli.documents import InputDocument
from relbase.cli.streams import Collected, Verbosity


def test_many_notes_take_linear_time() -> None:
    def warn_of(size: int) -> None:
        places = (Span(at, at + 1) for at in range(0, size * 50, 50))
        notes = [Note(Reason.BASE_LATE, "", place, "x") for place in places]
        one = InputDocument(b"", b"\n" * (size * 50), b"", "", 0, 0, {})
        warned = Collected(Verbosity.ALL)
        remarks.collect("p", one, notes, warned)
        assert len(warned.lines) == size

    assert_linear_from_10_ms(warn_of, lambda size: size)
