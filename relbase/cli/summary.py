"""What became of an input, whose documents are done one after the other."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from relbase.cli import remarks, streams
from relbase.cli.streams import excerpt, printable
from relbase.notes import Reason
from relbase.results import MAX_NOTES

if TYPE_CHECKING:
    from relbase.cli.documents import Document
    from relbase.cli.outcome import Tally
    from relbase.results import Result


class Summary:
    """Tells what is remarked on the documents of an input, and sums up what was done.

    An mbox may have a hundred thousand messages: what is the same in all is told once.

    Args:
        shown: the name of the input for messages.
        tally: where warnings are counted.
    """

    __slots__ = ("_changed", "_left", "_places", "_shown", "_single", "_tally", "_told")

    def __init__(self, shown: str, tally: Tally) -> None:
        self._shown = shown
        self._tally = tally
        self._told: Counter[Reason] = Counter()
        self._left: list[str] = []  # the messages in which references were left
        self._changed = self._places = 0
        self._single: Result | None = None

    def add(self, document: Document, result: Result) -> None:
        """Tell what is remarked on a document that is done."""
        self._changed += result.changed
        self._places += len(result.edits)
        notes = result.notes
        if document.number:
            self._left += [document.number for note in notes if note.reason is Reason.BASE_NONE]
            notes = tuple(note for note in notes if note.reason is not Reason.BASE_NONE)
            self._told.update(note.reason for note in notes)
            notes = tuple(note for note in notes if self._told[note.reason] <= MAX_NOTES)
        else:
            self._single = result
        remarks.warn(self._shown, document, result, notes, self._tally)

    def close(self, *, verbose: bool) -> None:
        """Tell what is remarked on the input as a whole, and what was done if that is wanted."""
        for reason, count in self._told.items():
            if count > MAX_NOTES:
                text = f"{count - MAX_NOTES} more of this kind [{reason.value}]"
                streams.warn(f"{self._shown}: warning: {text}")
        if self._left:
            self._tally.warnings += 1
            streams.warn(f"{self._shown}: warning: {self._references_left()}")
        if verbose:
            streams.warn(f"{self._shown}: {self._done()}")

    def _references_left(self) -> str:
        count, first = len(self._left), self._left[0]
        messages = f"{count} messages, part {first} the first" if count > 1 else f"part {first}"
        text = f"relative references are left as they are in {messages}: no base URL is known"
        return f"{text}; {remarks.ADVICE} [{Reason.BASE_NONE.value}]"

    def _done(self) -> str:
        if not self._places:
            return "no link changed"
        text = f"links made absolute in {_counted(self._places, 'place')}"
        if self._single is None:
            return f"{text} of {_counted(self._changed, 'message')}"
        base = self._single.base
        return f"{text}, on {excerpt(base.url)} ({printable(base.source)})"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s'[: count > 1]}"
