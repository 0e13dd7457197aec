"""The source of a document, with each reference marked by the layer that decides it.

Strategy: references and edits are walked in order, once. The source falls into regions: a mark for
each reference, and what is between. Within a region an edit strikes its bytes out (`<del>`) and
puts the new ones after them (`<ins>`). The whole stands in chunks of many lines, so that a browser
lays out only those that are in sight.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.explaining.layers import SHOWN
from relbase.explaining.listing import MAX_LISTED
from relbase.explaining.markup import attribute, text
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from relbase.edit import Edit
    from relbase.results import Link

# A chunk ends at the first line end after so many bytes; without one it is cut here at last.
_CHUNK: Final = 8 << 10
_LONGEST: Final = 64 << 10

# What the title of a mark has of a URL, in characters.
_TITLE: Final = 300


def source(
    data: bytes, edits: Sequence[Edit], links: Sequence[Link], decode: Callable[[bytes], str]
) -> str:
    """Return the marked source.

    Args:
        data: the bytes of the document.
        edits: what is changed in them, sorted and disjoint.
        links: the references; of those that overlap the first is marked.
        decode: shows bytes as text.
    """
    writer = _Writer(data, decode)
    for mark, start, end, own in _regions(len(data), edits, links):
        if mark is None:
            writer.between(start, end, own)
        else:
            writer.mark(mark, start, end, own)
    return f'<div class="chunk">{"".join(writer.pieces)}</div>'


def _regions(
    size: int, edits: Sequence[Edit], links: Sequence[Link]
) -> Iterator[tuple[tuple[int, Link] | None, int, int, list[Edit]]]:
    """The marks and what is between them, each with its edits; an edit is in one region alone."""
    at, index = 0, 0
    for number, link in enumerate(links, 1):
        start, end = link.span
        if start < at or (start == end == at and at):
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
    yield None, at, size, list(edits[index:])


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

    def __init__(self, data: bytes, decode: Callable[[bytes], str]) -> None:
        self._data = data
        self._decode = decode
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
            cut = _cut(self._data, start, end, self._size)
            last = index
            while last < len(edits) and edits[last].start < cut:
                cut = max(cut, edits[last].end)
                last += 1
            if cut >= end:
                self._edited(start, end, edits[index:])
                return
            self._edited(start, cut, edits[index:last])
            self.pieces.append('</div><div class="chunk">')
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


def _cut(data: bytes, start: int, end: int, size: int) -> int:
    """Where the chunk ends that has `size` bytes already."""
    least = start + max(_CHUNK - size, 0)
    if least >= end:
        return end
    longest = min(least + _LONGEST, end)
    newline = data.find(b"\n", least, longest)
    if newline >= 0:
        return newline + 1
    # Not inside of a character of UTF-8.
    while least < longest < end and data[longest] in _CONTINUING:
        longest -= 1
    return longest


_CONTINUING: Final = range(0x80, 0xC0)
