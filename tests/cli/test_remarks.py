"""Warnings: `file:line:column: warning: text [reason]`, in order, printable, with what to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth import assert_linear

from relbase import Base, Layer, Note, Reason, Span
from relbase.cli import remarks
from relbase.cli.documents import Document
from relbase.cli.outcome import Tally
from relbase.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

NOWHERE = Base("", Layer.NONE, "")
SOMEWHERE = Base("http://h/", Layer.RETRIEVAL, "")


def document(data: bytes, number: str = "", start: int = 0, lines: int = 0) -> Document:
    return Document(b"", data, b"", number, start, lines, {})


def warn(one: Document, notes: Sequence[Note], base: Base, tally: Tally) -> None:
    result = Result(one.data, (), tuple(notes), base=lambda: base, links=tuple)
    remarks.warn("p", one, result, result.notes, tally)


def warnings(
    capsys: pytest.CaptureFixture[str], data: bytes, notes: Sequence[Note], base: Base = SOMEWHERE
) -> list[str]:
    tally = Tally()
    warn(document(data), notes, base, tally)
    assert tally.warnings == len(notes)
    return capsys.readouterr().err.splitlines()


def at(offset: int, text: str) -> Note:
    return Note(Reason.BASE_LATE, "", Span(offset, offset + 1), text)


def test_places_and_order(capsys: pytest.CaptureFixture[str]) -> None:
    data = b"ab\ncd\r\n\xc3\xa9f"
    notes = [at(9, "d"), at(3, "b"), Note(Reason.LIMIT_GROWTH, "", None, "whole"), at(0, "a")]
    assert warnings(capsys, data, [*notes, at(4, "c")]) == [
        "p: warning: whole [limit-growth]",
        "p:1:1: warning: a [base-late]",
        "p:2:1: warning: b [base-late]",
        "p:2:2: warning: c [base-late]",
        "p:3:3: warning: d [base-late]",
    ]


def test_parts_and_escapes(capsys: pytest.CaptureFixture[str]) -> None:
    note = Note(Reason.BASE_LATE, "1.2", None, "a\x1b[2J\nb\udcff")
    assert warnings(capsys, b"", [note]) == [
        "p: warning: part 1.2: a\\x1b[2J\\nb\\udcff [base-late]"
    ]


def test_what_to_give(capsys: pytest.CaptureFixture[str]) -> None:
    note = Note(Reason.BASE_NONE, "", None, "give it")
    [without] = warnings(capsys, b"", [note], NOWHERE)
    [unsuitable] = warnings(capsys, b"", [note], SOMEWHERE)
    assert without == "p: warning: give it with --url URL [base-none]"
    assert "--url" not in unsuitable


def test_of_a_message_in_an_mbox(capsys: pytest.CaptureFixture[str]) -> None:
    notes = [at(3, "b"), at(1, "a")._replace(part="1.2")]
    warn(document(b"ab\ncd", "7", start=100, lines=9), notes, SOMEWHERE, Tally())
    assert capsys.readouterr().err.splitlines() == [
        "p:10:2: warning: part 7/1.2: a [base-late]",
        "p:11:1: warning: part 7: b [base-late]",
    ]


def test_many_notes_take_linear_time(capsys: pytest.CaptureFixture[str]) -> None:
    def warn_of(size: int) -> None:
        notes = [at(number * 50, "x") for number in range(size)]
        warn(document(b"\n" * (size * 50)), notes, SOMEWHERE, Tally())
        capsys.readouterr()

    assert_linear(warn_of, lambda size: size, (10_000, 20_000, 40_000), rounds=3)
