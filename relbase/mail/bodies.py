"""The bodies of parts: what they mean under their transfer encoding, and the lines in them.

A body in quoted-printable or base64 is read through a view, which writes no line that mail could
misread. Where nothing is encoded (7bit, 8bit, binary) an edit makes the line longer that it stands
in, and that is all that can be done: `fit_lines` notes which lines grow beyond what mail
transports, and leaves those edits out that would turn a line into a delimiter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.fields import eol_of
from relbase.containers.parts import BASE64, IDENTITY, QUOTED_PRINTABLE
from relbase.edit import Edit, Span, splice
from relbase.notes import Note, Reason
from relbase.view.base64 import Base64View, base64_view
from relbase.view.quoted_printable import QuotedPrintableView

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.containers.parts import Part
    from relbase.view.runs import View

# RFC 5322 §2.1.1: a line has at most 998 octets without its line end.
MAX_LINE: Final = 998


def line_end(data: bytes) -> bytes:
    """Return the line end of a message, of its first line if it has any."""
    first = data.find(b"\n")
    return b"\r\n" if first > 0 and data[first - 1] == _CR else eol_of(data, 0, len(data))


_CR: Final = 0x0D


class _SameView:
    """The view of a body that is not encoded."""

    __slots__ = ("inner",)

    def __init__(self, raw: bytes) -> None:
        self.inner: bytes = raw

    def lower(self, edits: Sequence[Edit]) -> list[Edit]:
        """Edits of the inner text are edits of the raw text."""
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


class _Line(NamedTuple):
    """A line with its line end, or several that edits join, and those edits."""

    start: int
    end: int
    edits: list[Edit]


def fit_lines(
    data: bytes, within: Span, edits: Sequence[Edit], boundaries: Sequence[bytes], eol: bytes
) -> tuple[list[Edit], list[Note]]:
    r"""Return the edits that are possible where lines cannot be broken, and notes."""
    kept: list[Edit] = []
    notes: list[Note] = []
    eol = eol[-1:]  # CR and LF of one line end may be mixed with LF alone
    delimiters = [b"--" + boundary for boundary in boundaries]
    for start, end, changes in _lines(data, within, edits, eol):
        before = data[start:end]
        is_long = _longest(before, eol) > MAX_LINE
        if is_long and not delimiters:
            kept += changes
            continue
        if is_long and before.find(eol, 0, len(before) - 1) < 0:
            after = _beginning(before, start, changes, max(map(len, delimiters)))
        else:
            after = splice(before, [Edit(e.start - start, e.end - start, e.new) for e in changes])
        if _starts(after, delimiters, eol) - _starts(before, delimiters, eol):
            text = "the line would become a delimiter of a multipart: its links are left unchanged"
            notes.append(Note(Reason.MIME_BOUNDARY, "", Span(start, end), text))
            continue
        kept += changes
        if not is_long and _longest(after, eol) > MAX_LINE:
            text = f"the line grows beyond {MAX_LINE} octets (RFC 5322 §2.1.1)"
            notes.append(Note(Reason.LINE_LENGTH, "", Span(start, end), text))
    return kept, notes


def _beginning(line: bytes, start: int, edits: Sequence[Edit], length: int) -> bytes:
    """The first bytes of a line as it is written: it may be all of a body, with a million edits."""
    text, at = b"", 0
    for edit in edits:
        text += line[at : edit.start - start] + edit.new
        at = edit.end - start
        if len(text) >= length:
            return text
    return text + line[at : at + length]


def _lines(data: bytes, within: Span, edits: Sequence[Edit], eol: bytes) -> Iterator[_Line]:
    """Group edits by the lines that they stand in."""
    line = _Line(within.start, within.start, [])
    for edit in edits:
        if edit.start >= line.end and line.end < within.end:
            if line.edits:
                yield line
            start = data.rfind(eol, line.end, edit.start) + 1 or line.end
            line = _Line(start, start, [])
        line.edits.append(edit)
        if edit.end >= line.end:
            found = data.find(eol, edit.end, within.end)
            line = line._replace(end=within.end if found < 0 else found + 1)
    if line.edits:
        yield line


def _starts(text: bytes, delimiters: Sequence[bytes], eol: bytes) -> set[bytes]:
    """The delimiters that lines begin with: other readers compare only beginnings."""
    if b"--" not in text:
        return set()
    lines = [line for line in text.split(eol) if line.startswith(b"--")]
    return {delimiter for delimiter in delimiters for line in lines if line.startswith(delimiter)}


def _longest(text: bytes, eol: bytes) -> int:
    if len(text) <= MAX_LINE:
        return 0
    return max(len(line.rstrip(b"\r")) for line in text.split(eol))
