"""The source of a document, with each reference marked by the layer that decides it.

Strategy: references and edits are walked in order, once. The source falls into regions: a mark for
each reference, and what is between. Within a region an edit strikes its bytes out (`<del>`) and
puts the new ones after them (`<ins>`). The whole stands in chunks of many lines, so that a browser
lays out only those that are in sight.

A body in base64 or quoted-printable is shown as it decodes, in a frame of its own: there its
references can be read. Its marks are those of the document's links, in the same order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Final, TypeAlias

from relbase.edit import Span
from relbase.explaining.layers import SHOWN
from relbase.explaining.listing import MAX_LISTED
from relbase.explaining.markup import attribute, text
from relbase.records import NamedTuple
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.edit import Edit
    from relbase.explaining.decoding import Decoder
    from relbase.results import Link

# A chunk ends at the first line end after so many bytes; without one it is cut here at last,
# between two references too: a page that was minified is one line.
_CHUNK: Final = 8 << 10
_LONGEST: Final = 64 << 10

# What the title of a mark has of a URL, in characters.
_TITLE: Final = 300


# A longer source is laid out by the browser as far as it is in sight; of a short one it would
# guess a height, and jump.
_FAR: Final = 16 * _CHUNK

_Marked: TypeAlias = "tuple[int, Link]"


class Body(NamedTuple):
    """An encoded body that is shown as it decodes.

    Args:
        title: what stands above it, markup.
        span: of the body, in the document.
        part: the number of its part.
        inner: the decoded bytes.
        spans: of its references, in offsets of `inner`.
        edits: in offsets of `inner`.
        decode: shows its bytes as text.
    """

    title: str
    span: Span
    part: str
    inner: bytes
    spans: Sequence[Span]
    edits: Sequence[Edit]
    decode: Decoder


def source(
    data: bytes,
    edits: Sequence[Edit],
    links: Sequence[Link],
    decode: Decoder,
    bodies: Iterable[Body] = (),
) -> str:
    """Return the marked source."""
    by_part: dict[str, list[_Marked]] = defaultdict(list)
    for number, link in enumerate(links, 1):
        by_part[link.part].append((number, link))
    shown: list[tuple[Body, list[_Marked]]] = []
    inside: set[int] = set()
    for body in bodies:
        own = [(number, link) for number, link in by_part[body.part] if _within(link, body)]
        if own and len(own) == len(body.spans):
            shown.append((body, own))
            inside.update(number for number, _ in own)
    outside = [marked for marked in enumerate(links, 1) if marked[0] not in inside]
    return _whole(data, edits, outside, decode, shown)


def _within(link: Link, body: Body) -> bool:
    return body.span.start <= link.span.start and link.span.end <= body.span.end


def _whole(
    data: bytes,
    edits: Sequence[Edit],
    outside: Sequence[_Marked],
    decode: Decoder,
    shown: Sequence[tuple[Body, list[_Marked]]],
) -> str:
    """What is between the decoded bodies, and these."""
    pieces: list[str] = []
    at = mark = 0
    starts = [edit.start for edit in edits]
    far = len(data) > _FAR
    for body, own in (*shown, (None, [])):
        end = len(data) if body is None else body.span.start
        first, last = bisect_left(starts, at), bisect_left(starts, end)
        until = mark
        while until < len(outside) and outside[until][1].span.start < end:
            until += 1
        around = edits[first : len(edits) if body is None else last]
        pieces.append(_text(data, Span(at, end), around, outside[mark:until], decode, far=far))
        if body is None:
            break
        changed = bisect_left(starts, body.span.end) > last
        marks = [
            (number, link._replace(span=span))
            for (number, link), span in zip(own, body.spans, strict=True)
        ]
        inner = _text(
            body.inner,
            Span(0, len(body.inner)),
            body.edits if changed else (),
            marks,
            body.decode,
            far=far,
        )
        pieces.append(f'<div class="decoded"><p>{body.title}</p>{inner}</div>')
        at, mark = body.span.end, until
    return "".join(pieces)


def _text(
    data: bytes,
    within: Span,
    edits: Sequence[Edit],
    marks: Sequence[_Marked],
    decode: Decoder,
    *,
    far: bool,
) -> str:
    opening = f'<div class="{"chunk far" if far else "chunk"}">'
    writer = _Writer(data, decode, f"</div>{opening}")
    for mark, start, end, own in _regions(within, edits, marks):
        if mark is None:
            writer.between(start, end, own)
        else:
            writer.mark(mark, start, end, own)
    return f"{opening}{''.join(writer.pieces)}</div>"


def _regions(
    within: Span, edits: Sequence[Edit], marks: Sequence[_Marked]
) -> Iterator[tuple[_Marked | None, int, int, list[Edit]]]:
    """The marks and what is between them, each with its edits; an edit is in one region alone."""
    at, index = within.start, 0
    for number, link in marks:
        start, end = link.span
        if start < at or (start == end == at and at > within.start):
            continue
        before: list[Edit] = []
        while index < len(edits) and not _is_inside(edits[index], start, end):
            if edits[index].end > start or edits[index].start >= end:
                break
            before.append(edits[index])
            index += 1
        yield None, at, start, before
        own: list[Edit] = []
        while index < len(edits) and _is_inside(edits[index], start, end):
            own.append(edits[index])
            index += 1
        yield (number, link), start, end, own
        at = end
    yield None, at, within.end, list(edits[index:])


def _is_inside(edit: Edit, start: int, end: int) -> bool:
    return start <= edit.start and edit.end <= end


def _opening(number: int, link: Link) -> str:
    shown = SHOWN[link.base.layer]
    kind = link.status.value
    layer = "" if link.status is Status.ABSOLUTE else f" {shown.name}"
    url = link.url or ""
    cut = url if len(url) <= _TITLE else f"{url[:_TITLE]}..."
    title = f"{kind}: {cut}" if url else kind
    target = f'href="#r{number}"' if number <= MAX_LISTED else 'tabindex="0"'
    return f'<a class="{kind}{layer}" id="s{number}" {target} title="{attribute(title)}">'


class _Writer:
    """Writes regions one after the other, and breaks what is between marks into chunks.

    Attributes:
        pieces: of markup.
    """

    def __init__(self, data: bytes, decode: Decoder, breaking: str) -> None:
        self._data = data
        self._decode = decode
        self._breaking = breaking
        self._size = 0  # of the chunk so far, in bytes
        self.pieces: list[str] = []

    def mark(self, mark: tuple[int, Link], start: int, end: int, edits: Sequence[Edit]) -> None:
        """A reference."""
        self.pieces.append(_opening(*mark))
        self._edited(start, end, edits)
        self.pieces.append("</a>")

    def between(self, start: int, end: int, edits: Sequence[Edit]) -> None:
        """What is between two references; no edit is cut in two."""
        index = 0
        while True:
            cut = _cut(self._data, start, end, self._size, self._decode.unit)
            last = index
            while last < len(edits) and edits[last].start < cut:
                cut = max(cut, edits[last].end)
                last += 1
            if cut >= end:
                self._edited(start, end, edits[index:])
                return
            self._edited(start, cut, edits[index:last])
            self.pieces.append(self._breaking)
            self._size, start, index = 0, cut, last

    def _edited(self, start: int, end: int, edits: Sequence[Edit]) -> None:
        at = start
        for edit in edits:
            self._show(at, edit.start)
            at = max(at, edit.start)
            if at < edit.end:
                self.pieces.append("<del>")
                self._show(at, edit.end)
                self.pieces.append("</del>")
            if edit.new:
                self.pieces.append(f"<ins>{text(self._decode(edit.new))}</ins>")
            at = max(at, edit.end)
        self._show(at, end)
        self._size += end - start

    def _show(self, start: int, end: int) -> None:
        if start < end:
            self.pieces.append(text(self._decode(self._data[start:end])))


def _cut(data: bytes, start: int, end: int, size: int, unit: int) -> int:
    """Where the chunk ends that has `size` bytes already, between two units of the charset."""
    cut = _line_cut(data, start, end, size)
    return min(cut + -cut % unit, end)


def _line_cut(data: bytes, start: int, end: int, size: int) -> int:
    least = start + max(_CHUNK - size, 0)
    longest = start + max(_LONGEST - size, 0)
    newline = data.find(b"\n", least, min(longest, end))
    if newline >= 0:
        return newline + 1
    if longest >= end:
        return end
    # Not inside of a character of UTF-8.
    while longest > least and data[longest] in _CONTINUING:
        longest -= 1
    return longest


_CONTINUING: Final = range(0x80, 0xC0)
