"""Warnings: `file:line:column: warning: text [reason]`, in order, printable, with what to give."""

from __future__ import annotations

from typing import TYPE_CHECKING

from growth import assert_linear_from_10_ms

from relbase import Base, Layer, Note, Reason, Span
from relbase.cli import remarks
from relbase.cli.documents import InputDocument
from relbase.cli.warnings import Collected, Verbosity
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
    remarks.collect("p", one, result, result.notes, warned)
    assert warned.count == len(notes)
    return [warning.line for warning in warned.all()]


def at(offset: int, text: str) -> Note:
    return Note(Reason.BASE_LATE, "", Span(offset, offset + 1), text)


def test_places_and_order() -> None:
    data = b"ab\ncd\r\n\xc3\xa9f"
    notes = [at(9, "d"), at(3, "b"), Note(Reason.LIMIT_GROWTH, "", None, "whole"), at(0, "a")]
    assert warnings(document(data), [*notes, at(4, "c")]) == [
        "p: warning: whole [limit-growth]",
        "p:1:1: warning: a [base-late]",
        "p:2:1: warning: b [base-late]",
        "p:2:2: warning: c [base-late]",
        "p:3:3: warning: d [base-late]",
    ]


def test_parts_and_escapes() -> None:
    note = Note(Reason.BASE_LATE, "1.2", None, "a\x1b[2J\nb\udcff")
    assert warnings(document(b""), [note]) == [
        "p: warning: part 1.2: a\\x1b[2J\\nb\\udcff [base-late]"
    ]


def test_what_to_give() -> None:
    note = Note(Reason.BASE_NONE, "", None, "give it")
    [without] = warnings(document(b""), [note], NOWHERE)
    [unsuitable] = warnings(document(b""), [note], SOMEWHERE)
    assert without == "p: warning: give it with --url URL [base-none]"
    assert "--url" not in unsuitable


def test_of_a_message_in_an_mbox() -> None:
    notes = [at(3, "b"), at(1, "a")._replace(part="1.2")]
    one = document(b"ab\ncd", "7", start=100, lines=9)
    assert warnings(one, notes) == [
        "p:10:2: warning: part 7/1.2: a [base-late]",
        "p:11:1: warning: message 7: b [base-late]",
    ]


def test_many_notes_take_linear_time() -> None:
    def warn_of(size: int) -> None:
        notes = [at(number * 50, "x") for number in range(size)]
        warnings(document(b"\n" * (size * 50)), notes)

    assert_linear_from_10_ms(warn_of, lambda size: size)
