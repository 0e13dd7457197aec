"""What became of an input, whose documents are done one after the other."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from relbase.bases.layers import Layer
from relbase.cli import remarks
from relbase.cli.streams import excerpt, printable
from relbase.notes import Reason

if TYPE_CHECKING:
    from relbase.cli.documents import InputDocument
    from relbase.cli.warnings import Collected
    from relbase.results import Result


class Summary:
    """Collects what is remarked on the documents of an input, and sums up what was done."""

    def __init__(self, shown: str, warned: Collected, *, several: bool = False) -> None:
        self._several = several
        self._shown = shown
        self._warned = warned
        self._first_left = ""
        self._single: Result | None = None
        self.changed = 0  # documents
        self.places = 0  # that were changed in them
        self.shared = 0  # messages that were changed on the URL of their mailbox
        self.unknown = 0  # documents with relative references and no base
        self.notes: Counter[Reason] = Counter()

    def add(self, document: InputDocument, result: Result, *, has_url: bool = True) -> None:
        """Collect what is remarked on a document that is done."""
        self.changed += result.changed
        self.places += len(result.edits)
        self.notes.update(note.reason for note in result.notes)
        left = any(note.reason is Reason.BASE_NONE for note in result.notes)
        notes = result.notes
        if document.number:
            # Of the messages of a mailbox that is reported once, with the first of them.
            notes = tuple(note for note in notes if note.reason is not Reason.BASE_NONE)
            if left:
                self._first_left = self._first_left or document.number
            self.shared += has_url and result.changed and _is_on_url(result)
        else:
            self._single = result
        self.unknown += left
        remarks.collect(self._shown, document, result, notes, self._warned, several=self._several)

    def close(self) -> None:
        """Collect what is remarked on the input as a whole."""
        if self._first_left:
            reason = Reason.BASE_NONE.value
            self._warned.add(reason, f"{self._shown}: warning: {self._references_left()}")

    def _references_left(self) -> str:
        count, first = self.unknown, self._first_left
        messages = (
            f"{count} messages, the first is message {first}" if count > 1 else f"message {first}"
        )
        advice = remarks.advice("message/rfc822", several=self._several)
        text = f"relative references are left as they are in {messages}: no base URL is known"
        return f"{text}; {advice} [{Reason.BASE_NONE.value}]"

    def done(self) -> str:
        """Return what was done, in words."""
        if not self.places:
            return "no link changed"
        text = f"links made absolute in {counted(self.places, 'place')}"
        if self._single is None:
            text = f"{text} of {counted(self.changed, 'message')}"
            return f"{text}, {self.shared} of them on the given URL" if self.shared else text
        base = self._single.base
        return f"{text}, on {excerpt(base.url)} ({printable(base.source)})"


def _is_on_url(result: Result) -> bool:
    """Whether the base of a message is the retrieval URL that was given (rule 16)."""
    base = result.base
    return base.layer is Layer.RETRIEVAL and not base.source.startswith("Snapshot")


def counted(count: int, what: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "file"), counted(2, "file")
    ('1 file', '2 files')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"
