"""A part of a message while it is visited, and its body under its transfer encoding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.fields import eol_of
from relbase.containers.mail import BASE64, IDENTITY, QUOTED_PRINTABLE
from relbase.notes import Note, Reason
from relbase.view.base64 import Base64View, base64_view
from relbase.view.quoted_printable import QuotedPrintableView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relbase.containers.mail import Part
    from relbase.edit import Edit, Span
    from relbase.rewriting.context import Context
    from relbase.view.runs import View


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


class _SameView:
    __slots__ = ("inner",)

    def __init__(self, raw: bytes) -> None:
        self.inner: bytes = raw

    def lower(self, edits: Sequence[Edit]) -> list[Edit]:
        return list(edits)


class _BareReturnsView:
    """The view of a quoted-printable body whose lines, as those of all the message, end with CR.

    To quoted-printable a CR alone is not a line end. In the message there is no LF, so that the one
    can stand for the other, and all places stay where they are.
    """

    __slots__ = ("_view", "inner")

    def __init__(self, raw: bytes, boundaries: Sequence[bytes]) -> None:
        self._view = QuotedPrintableView(raw.replace(b"\r", b"\n"), boundaries, b"\n")
        self.inner: bytes = self._view.inner

    def lower(self, edits: Sequence[Edit]) -> list[Edit]:
        """What is written holds no LF but that of its line ends."""
        return [
            edit._replace(new=edit.new.replace(b"\n", b"\r")) for edit in self._view.lower(edits)
        ]

    def locate(self, spans: Sequence[Span]) -> list[Span]:
        """Return where sorted spans of `inner` that do not touch are in the body."""
        return self._view.locate(spans)


def transfer_view(part: Part, raw: bytes, eol: bytes) -> View | None:
    """Return the view of a body by its Content-Transfer-Encoding; None where it cannot be read."""
    if part.encoding in IDENTITY:
        return _SameView(raw)
    if part.encoding == QUOTED_PRINTABLE:
        if eol == b"\r":
            return _BareReturnsView(raw, part.boundaries)
        return QuotedPrintableView(raw, part.boundaries, eol)
    if part.encoding == BASE64:
        return base64_view(raw, eol) or _footed_view(raw, eol)
    return None


class _FootedView(Base64View):
    """The view of a base64 body that a mailing list put its footer after."""

    __slots__ = ("footer",)

    def __init__(self, raw: bytes, eol: bytes, footer: int) -> None:
        super().__init__(raw, eol)
        self.footer: int = footer


def footer_of(view: View) -> int | None:
    """Return where clear text begins after the base64 of a body, or None."""
    return view.footer if isinstance(view, _FootedView) else None


# Up to the first padding, or the first line that is not of base64.
_base64: Final = re.compile(rb"(?:[A-Za-z0-9+/]*+[ \t]*+\r?\n)*+(?:[A-Za-z0-9+/]*+={1,2})?+").match
_SPACE: Final = b" \t\r\n"
_word: Final = re.compile(rb"[A-Za-z0-9+/]*+").match
_in_the_clear: Final = re.compile(rb"[^A-Za-z0-9+/=\s]").search


def _footed_view(raw: bytes, eol: bytes) -> _FootedView | None:
    """The view of what is base64 before a text that is not."""
    found = _base64(raw)
    end = found.end() if found else 0
    # What is again base64 some readers read, and some do not.
    if not raw[:end].strip() or _in_the_clear(raw, end) is None:
        return None
    # An edit may take the padding away: what follows must tell of itself that it is text.
    text = raw[end:].lstrip(_SPACE)
    same_line = b"\n" not in raw[end - 1 : len(raw) - len(text)]
    if (_word if same_line else _base64)(text).group():  # type: ignore[union-attr]
        return None
    try:
        return _FootedView(raw[:end], eol, end)
    except ValueError:
        return None
