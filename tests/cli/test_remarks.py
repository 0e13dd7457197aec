"""Warnings: `file:line:column: warning: text [reason]`, in order, printable, with what to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth import assert_linear_from_10_ms

from relbase import Base, Layer, Note, Reason, Span
from relbase.cli import remarks
from relbase.cli.documents import InputDocument
from relbase.cli.outcome import Collected, Verbosity
from relbase.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

NOWHERE = Base("", Layer.NONE, "")
SOMEWHERE = Base("http://h/", Layer.RETRIEVAL, "")


def document(data: bytes, number: str = "", start: int = 0, lines: int = 0) -> InputDocument:
    return InputDocument(b"", data, b"", number, start, lines, {})


def warnings(
    one: InputDocument,
    notes: Sequence[Note],
    base: Base = SOMEWHERE,
    verbosity: Verbosity = Verbosity.ALL,
) -> list[str]:
    result = Result(one.data, (), tuple(notes), base=lambda: base, links=tuple)
    warned = Collected(verbosity)
    remarks.collect("p", one, result.notes, warned)
    assert warned.counts.total() == len(notes)
    return [line for _, line in warned.lines]


def at(offset: int, text: str) -> Note:
    return Note(Reason.BASE_LATE, "", Span(offset, offset + 1), text)


def test_many_notes_take_linear_time() -> None:
    def warn_of(size: int) -> None:
        notes = [at(number * 50, "x") for number in range(size)]
        warnings(document(b"\n" * (size * 50)), notes)

    assert_linear_from_10_ms(warn_of, lambda size: size)
