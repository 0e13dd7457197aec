"""A part of a message while it is visited."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from relbase.containers.fields import eol_of
from relbase.notes import Note, Reason

if TYPE_CHECKING:
    from relbase.containers.parts import Part
    from relbase.edit import Span
    from relbase.rewriting.context import Context


class MailPart(NamedTuple):
    """A part of a message while it is visited."""

    data: bytes  # the message
    eol: bytes  # what ends its lines
    part: Part
    context: Context  # of the part, with its base
    states_base: bool  # whether its own header states that base
    attached: bool  # whether it is an attachment or in one
    notes: tuple[Note, ...]  # on its base

    @property
    def body(self) -> bytes:
        """The bytes of its body."""
        return self.data[self.part.body.start : self.part.body.end]

    def note(self, reason: Reason, text: str, span: Span | None = None) -> Note:
        """Return a note on the part, which its text begins with; on its body without a span."""
        whole = f"{called(self.part)} ({self.part.type}) {text}"
        return Note(reason, self.context.part, span or self.part.body, whole)


def number_of(part: Part, context: Context) -> str:
    """Return the number of a part; `context` is that of what is around the message."""
    return "/".join(filter(None, (context.part, part.number)))


def called(part: Part) -> str:
    """Return what a note on a part calls it: its number stands beside the text."""
    return "this part" if part.number else "the message"


def line_end(data: bytes) -> bytes:
    """Return the line end of a message, of its first line if it has any."""
    first = data.find(b"\n")
    return b"\r\n" if first > 0 and data[first - 1] == _CR else eol_of(data, 0, len(data))


_CR = 0x0D
