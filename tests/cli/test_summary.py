"""What is reported of an input with many documents: what is the same in all, once."""

from __future__ import annotations

from relbase import Base, Layer, Note, Reason
from relbase.cli.documents import InputDocument
from relbase.cli.summary import Summary, counted
from relbase.cli.warnings import Collected, Verbosity
from relbase.results import Result


def summed(
    reason: Reason, count: int, verbosity: Verbosity = Verbosity.COUNTED
) -> tuple[Summary, Collected]:
    warned = Collected(verbosity)
    base = Base("", Layer.NONE, "")
    summary = Summary("in", warned)
    for number in range(1, count + 1):
        notes = (Note(reason, "", None, "x"),)
        result = Result(b"", (), notes, base=lambda: base, links=tuple)
        summary.add(InputDocument(b"", b"", b"", str(number), 0, 0, {}), result)
    summary.close()
    return summary, warned


def test_references_left() -> None:
    summary, warned = summed(Reason.BASE_NONE, 3)
    [one] = warned.all()
    assert one.line.startswith("in: warning: relative references are left as they are in 3 mess")
    assert (summary.unknown, summary.done(), warned.count) == (3, "no link changed", 1)


def test_many_notes_of_a_reason() -> None:
    _, warned = summed(Reason.SIGNATURE_BROKEN, 5)
    [one] = warned.all()
    assert (one.more, warned.count) == (4, 5)
    _, warned = summed(Reason.SIGNATURE_BROKEN, 5, Verbosity.ALL)
    assert [warning.more for warning in warned.all()] == [0] * 5


def test_numbers_in_words() -> None:
    assert [counted(n, "place") for n in (0, 1, 2)] == ["0 places", "1 place", "2 places"]
