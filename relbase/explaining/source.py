"""The source of a document, with each reference marked by the layer that decides it.

Strategy: the source is cut where a mark or an edit begins or ends, and written piece by piece. An
edit strikes its bytes out (`<del>`) and puts the new ones after them (`<ins>`). The whole stands in
chunks of many lines, so that a browser lays out only those that are in sight.

A body in base64 or quoted-printable is shown as it decodes, in a frame of its own: there its
references can be read. Its marks are those of the document's links, in the same order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from relbase.edit import Span
from relbase.explaining.layers import SHOWN
from relbase.explaining.listing import MAX_LISTED
from relbase.explaining.markup import attribute, text
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.edit import Edit
    from relbase.explaining.decoding import Decoder
    from relbase.results import Link

# A chunk ends at the first line end after so many bytes; without one it is cut here at last: a page
# that was minified is one line.
_CHUNK: Final = 8 << 10
_LONGEST: Final = 64 << 10

# A longer source is laid out by the browser as far as it is in sight; of a short one it would
# guess a height, and jump.
_FAR: Final = 16 * _CHUNK

# What the title of a mark has of a URL, in characters.
_TITLE: Final = 300


T = TypeVar("T", "Edit", "_Mark")


class Body(NamedTuple):
    """An encoded body that is shown as it decodes."""

    title: str  # what stands above it, markup
    span: Span  # of the body, in the document
    part: str  # its number
    inner: bytes  # the decoded bytes
    spans: Sequence[Span]  # of its references, in offsets of `inner`
    edits: Sequence[Edit]  # in offsets of `inner`
    decoder: Decoder


class _Mark(NamedTuple):
    """A reference, numbered from 1, and where it is shown."""

    number: int
    link: Link
    start: int
    end: int


def source(
    data: bytes,
    edits: Sequence[Edit],
    links: Sequence[Link],
    decoder: Decoder,
    bodies: Iterable[Body] = (),
) -> str:
    """Return the marked source."""
    marks = [_Mark(number, link, *link.span) for number, link in enumerate(links, 1)]
    shown = _decoded(marks, bodies)
    inside = {mark.number for _, own in shown for mark in own}
    marks = [mark for mark in marks if mark.number not in inside]
    pieces: list[str] = []
    at = 0
    for body, own in shown:
        start, end = body.span
        around = Span(at, start)
        pieces.append(_marked(data, around, _of(edits, at, start), _of(marks, at, start), decoder))
        changes = body.edits if _of(edits, start, end) else ()
        inner = _marked(body.inner, Span(0, len(body.inner)), changes, own, body.decoder)
        pieces.append(f'<div class="decoded"><p>{body.title}</p>{inner}</div>')
        at = end
    rest = len(data) + 1  # what stands at the end is a part of it
    pieces.append(
        _marked(data, Span(at, len(data)), _of(edits, at, rest), _of(marks, at, rest), decoder)
    )
    far = " far" if len(data) > _FAR else ""
    return f'<div class="all{far}">{"".join(pieces)}</div>'


def _decoded(marks: Sequence[_Mark], bodies: Iterable[Body]) -> list[tuple[Body, list[_Mark]]]:
    """The bodies whose references are all known, with their marks."""
    by_part: dict[str, list[_Mark]] = defaultdict(list)
    for mark in marks:
        by_part[mark.link.part].append(mark)
    shown = []
    for body in bodies:
        own = _of(by_part[body.part], body.span.start, body.span.end)
        if own and len(own) == len(body.spans):
            places = zip(own, body.spans, strict=True)
            shown.append((body, [_Mark(mark.number, mark.link, *span) for mark, span in places]))
    return shown


def _of(sorted_: Sequence[T], start: int, end: int) -> Sequence[T]:
    """Those of sorted edits or marks that begin in a span."""
    first = bisect_left(sorted_, start, key=_start)
    return sorted_[first : bisect_left(sorted_, end, first, key=_start)]


def _start(one: Edit | _Mark) -> int:
    return one.start


def _marked(
    data: bytes, within: Span, edits: Sequence[Edit], marks: Sequence[_Mark], decoder: Decoder
) -> str:
    """A span of the source with its marks and edits, in chunks."""
    breaks = set(_breaks(data, within, decoder.unit))
    bounds = {bound for edit in edits for bound in (edit.start, edit.end)}
    bounds |= {bound for mark in marks for bound in (mark.start, mark.end)}
    cuts = sorted(breaks | bounds | set(within))
    writer = _Writer(edits, marks, decoder)
    for at, until in pairwise((*cuts, cuts[-1])):
        writer.stop(at, breaks=at in breaks)
        writer.text(data[at:until], at)
    return f'<div class="chunk">{"".join(writer.pieces)}</div>'


class _Writer:
    """Writes marks, edits and text; it is told each place where one begins or ends, in order."""

    def __init__(self, edits: Iterable[Edit], marks: Iterable[_Mark], decoder: Decoder) -> None:
        self.pieces: list[str] = []
        self._edits = deque(edits)  # those that have not ended
        self._marks = deque(marks)  # those that have not begun
        self._open: _Mark | None = None
        self._breaks = False  # whether a chunk is to end as soon as it can
        self._decoder = decoder

    def stop(self, at: int, *, breaks: bool) -> None:
        """What begins or ends at a place."""
        self._breaks |= breaks
        edits = self._edits
        if edits and edits[0].end == at and (self._open or edits[0].start < at):
            self._insert(at)
        if self._open and self._open.end <= at:
            self._close()
        if self._breaks and not self._open and not (edits and edits[0].start < at):
            self.pieces.append('</div><div class="chunk">')
            self._breaks = False
        while not self._open and self._marks and self._marks[0].start <= at:
            self._begin(at)
        self._insert(at)

    def text(self, piece: bytes, at: int) -> None:
        """What stands up to the next place."""
        if not piece:
            return
        shown = text(self._decoder.text(piece))
        is_struck = self._edits and self._edits[0].start <= at
        self.pieces.append(f"<del>{shown}</del>" if is_struck else shown)

    def _insert(self, at: int) -> None:
        while self._edits and self._edits[0].end <= at:
            new = self._edits.popleft().new
            if new:
                self.pieces.append(f"<ins>{text(self._decoder.text(new))}</ins>")

    def _begin(self, at: int) -> None:
        self._open = self._marks.popleft()
        self.pieces.append(_opening(self._open.number, self._open.link))
        if self._open.end <= at:
            self._insert(at)
            self._close()

    def _close(self) -> None:
        self.pieces.append("</a>")
        self._open = None


def _opening(number: int, link: Link) -> str:
    kind = link.status.value
    layer = "" if link.status is Status.ABSOLUTE else f" {SHOWN[link.base.layer].name}"
    url = link.url or ""
    cut = url if len(url) <= _TITLE else f"{url[:_TITLE]}..."
    title = f"{kind}: {cut}" if url else kind
    target = f'href="#r{number}"' if number <= MAX_LISTED else 'tabindex="0"'
    return f'<a class="{kind}{layer}" id="s{number}" {target} title="{attribute(title)}">'


def _breaks(data: bytes, within: Span, unit: int) -> Iterator[int]:
    """Where chunks may end: after lines, or between characters of UTF-8 and units of UTF-16."""
    start, end = within
    while start + _CHUNK < end:
        cut = data.find(b"\n", start + _CHUNK, start + _LONGEST) + 1
        if not cut:
            cut = min(start + _LONGEST, end - 1)
            cut -= next((back for back in range(4) if data[cut - back] not in _CONTINUING), 0)
        start = cut + -cut % unit
        if start < end:
            yield start


_CONTINUING: Final = range(0x80, 0xC0)
