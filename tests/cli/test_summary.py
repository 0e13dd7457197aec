"""What is told of an input with many documents: what is the same in all, once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase import Base, Layer, Note, Reason
from relbase.cli.documents import Document
from relbase.cli.outcome import Tally
from relbase.cli.summary import Summary
from relbase.results import MAX_NOTES, Result

if TYPE_CHECKING:
    import pytest


def summed(reason: Reason, count: int) -> Tally:
    tally = Tally()
    base = Base("", Layer.NONE, "")
    summary = Summary("in", tally)
    for number in range(1, count + 1):
        notes = (Note(reason, "", None, "x"),)
        result = Result(b"", (), notes, base=lambda: base, links=tuple)
        summary.add(Document(b"", b"", b"", str(number), 0, 0, {}), result)
    summary.close(verbose=True)
    return tally


def test_references_left(capsys: pytest.CaptureFixture[str]) -> None:
    assert summed(Reason.BASE_NONE, 3).warnings == 1
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("in: warning: relative references are left as they are in 3 messages")
    assert second == "in: no link changed"


def test_many_notes_of_a_reason(capsys: pytest.CaptureFixture[str]) -> None:
    summed(Reason.SIGNATURE_BROKEN, MAX_NOTES)
    assert len(capsys.readouterr().err.splitlines()) == MAX_NOTES + 1
    summed(Reason.SIGNATURE_BROKEN, MAX_NOTES + 2)
    told = capsys.readouterr().err.splitlines()
    assert len(told) == MAX_NOTES + 2
    assert told[-2] == "in: warning: 2 more of this kind [signature-broken]"
