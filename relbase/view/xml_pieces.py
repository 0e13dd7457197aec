"""Text of XML that comes in pieces: CDATA sections, with comments and other text between them.

An edit goes to the pieces that it touches; what is new is written into the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.edit import Edit, Span
from relbase.expressions import expression
from relbase.view.xml_values import text_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from relbase.view.runs import View


class Piece(NamedTuple):
    """A part of a text, as a range of it: plain text, or the inside of a CDATA section."""

    start: int
    end: int
    is_cdata: bool


_between: Final = expression(rb"<(?:(!\[CDATA\[)|(!--)|\?)")
_CDATA, _COMMENT = 1, 2


def pieces(raw: bytes) -> list[Piece]:
    """The pieces of a text: what is neither a comment nor a processing instruction."""
    found: list[Piece] = []
    at = 0
    while markup := _between.search(raw, at):
        if at < markup.start():
            found.append(Piece(at, markup.start(), is_cdata=False))
        group = markup.lastindex
        closing = b"]]>" if group == _CDATA else b"-->" if group == _COMMENT else b"?>"
        end = raw.find(closing, markup.end())
        at = len(raw) if end < 0 else end + len(closing)
        end = len(raw) if end < 0 else end
        if group == _CDATA and markup.end() < end:
            found.append(Piece(markup.end(), end, is_cdata=True))
    if at < len(raw):
        found.append(Piece(at, len(raw), is_cdata=False))
    return found


class PiecesView:
    """The view of a text in `pieces`; `view_of` makes that of a piece, as a rule that of XML."""

    __slots__ = ("_pieces", "inner")

    def __init__(
        self,
        raw: bytes,
        found: Sequence[Piece],
        view_of: Callable[[bytes, Piece], View] | None = None,
    ) -> None:
        view_of = _inside if view_of is None else view_of
        self._pieces = [(piece, view_of(raw, piece)) for piece in found]
        self.inner: bytes = b"".join([view.inner for _, view in self._pieces])

    def lower(self, edits: Sequence[Edit]) -> list[Edit]:
        """Turn sorted, disjoint edits of `inner` into such edits of the raw text."""
        return [edit for _, lowered in self._lowered(edits) for edit in lowered]

    def locate(self, spans: Sequence[Span]) -> list[Span]:
        """Return where sorted, disjoint spans of `inner` are in the raw text, end to end."""
        places: list[Span] = []
        left = iter(spans)
        covered = 0
        for parts, lowered in self._lowered(Edit(start, end, b"") for start, end in spans):
            for part, edit in zip(parts, lowered, strict=True):
                if part.start >= covered:
                    covered = max(next(left).end, part.end, part.start + 1)
                    places.append(Span(edit.start, edit.end))
                else:
                    places[-1] = Span(places[-1].start, edit.end)
        return places

    def _lowered(self, edits: Iterable[Edit]) -> Iterator[tuple[list[Edit], list[Edit]]]:
        """Lower edits piece by piece: what is new goes with the first part of each."""
        left = iter(edits)
        ahead = next(left, None)
        start = 0
        for index, (piece, view) in enumerate(self._pieces, 1):
            end = start + len(view.inner)
            parts: list[Edit] = []
            # At the very end nothing follows that an edit could belong to.
            while ahead is not None and (ahead.start < end or index == len(self._pieces)):
                parts.append(ahead._replace(end=min(ahead.end, end)))
                if ahead.end > end:
                    ahead = Edit(end, ahead.end, b"")
                    break
                ahead = next(left, None)
            if parts:
                yield parts, _moved(view.lower(_moved(parts, -start)), piece.start)
            start = end


def _moved(edits: Sequence[Edit], by: int) -> list[Edit]:
    return [Edit(start + by, end + by, new) for start, end, new in edits]


def _inside(raw: bytes, piece: Piece) -> View:
    part = raw[piece.start : piece.end]
    return CdataView(part) if piece.is_cdata else text_view(part)


class CdataView:
    """The view of the inside of a CDATA section, which means itself.

    What is written never makes a `]]>`, together with its neighbours neither: it is (a part of) a
    URL, in which `>` and `]` may be percent-encoded.
    """

    __slots__ = ("inner",)

    def __init__(self, raw: bytes) -> None:
        self.inner = raw

    def lower(self, edits: Sequence[Edit]) -> list[Edit]:
        """Turn sorted, disjoint edits into those that keep the section open."""
        written: list[Edit] = []
        tail, at = b"", 0
        for edit in edits:
            tail = (tail + self.inner[max(at, edit.start - 2) : edit.start])[-2:]
            at = edit.end
            new = _unclosing(tail, edit.new, self.inner[at : at + 2])
            written.append(edit._replace(new=new))
            tail = (tail + new[-2:])[-2:]
        return written


def _unclosing(before: bytes, new: bytes, after: bytes) -> bytes:
    """Percent-encode in `new` what would close a section between its neighbours."""
    new = new.replace(b"]]>", b"]]%3E")
    if b"]]>" in before + new:
        new = new.replace(b">", b"%3E", 1)
    if new.endswith(b"]") and b"]]>" in new[-2:] + after:
        new = new[:-1] + b"%5D"
    return new
