r"""`--diff`: what a rewriting changes, as a unified diff for people.

Strategy: the edits say what changes, so that nothing is compared. Edits that touch the same lines
are one block. A block of short lines is shown whole, between lines of context; hunks whose context
would meet are one hunk. In a block with a long line (pages have lines of 100 KB) each edit, or
group of edits close together, is a hunk of its own that shows some bytes around it, with the column
where the excerpt begins and `...` for what is cut.

To mind: bytes are shown as UTF-8, undecodable ones as `\xNN`, control characters as escapes: the
diff is for reading, not for patch(1). Everything is one pass over the edits.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.cli.streams import printable
from relbase.edit import Edit, Span, splice

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# Lines of context around a change, as diff -u has them.
_CONTEXT: Final = 3

# A longer line is shown in excerpts, and cut where it is context: two rows of a wide terminal.
_LONG: Final = 240

# Bytes shown on each side of an edit in an excerpt; edits that are closer share one.
_AROUND: Final = 48

# Of what an edit itself removes or inserts so much is shown; a base may be megabytes long.
_CHANGED: Final = 400

_CUT: Final = b"..."
_CONTINUATION: Final = range(0x80, 0xC0)  # bytes within a UTF-8 sequence
_newlines: Final = re.compile(rb"\n").finditer


class _Lines(NamedTuple):
    """A text and where its lines begin; line numbers begin with 0, and `above` is before them."""

    above: int
    data: bytes
    starts: array[int]

    def number(self, offset: int) -> int:
        return bisect_right(self.starts, offset) - 1

    def start(self, number: int) -> int:
        return self.starts[number] if number < len(self.starts) else len(self.data)

    def total(self) -> int:
        """How many lines there are: what is after the last newline is one if it is not empty."""
        return len(self.starts) - (self.starts[-1] == len(self.data))


class _Block(NamedTuple):
    """Lines from `first` up to `last` (exclusive), the edits of them, and what they become."""

    first: int
    last: int
    edits: list[Edit]
    old: list[bytes]
    new: list[bytes]


def diff(
    name: str, data: bytes, edits: Sequence[Edit], above: int = 0, moved: int = 0
) -> Iterator[str]:
    r"""Return the lines of the diff, without line ends; none when there are no edits."""
    if not edits:
        return
    shown = printable(name)
    yield f"--- {shown}"
    yield f"+++ {shown} (rewritten)"
    lines = _Lines(above, data, array("Q", chain((0,), (found.end() for found in _newlines(data)))))
    last = 0  # the first line that no hunk before has changed
    hunks: Iterator[list[_Block] | None] = chain(_hunks(_blocks(lines, edits)), (None,))
    for hunk, following in pairwise(hunks):
        assert hunk is not None
        if _is_long(hunk[0]):
            yield from _excerpts(lines, hunk[0], moved)
        else:
            bounds = Span(last, following[0].first if following else lines.total())
            yield from _whole(lines, hunk, moved, bounds)
        moved += sum(len(block.new) - len(block.old) for block in hunk)
        last = hunk[-1].last


def _blocks(lines: _Lines, edits: Iterable[Edit]) -> Iterator[_Block]:
    """The blocks of edits that touch the same lines."""
    group: list[Edit] = []
    first = last = 0
    for edit in edits:
        number = lines.number(edit.start)
        if group and number >= last:
            yield _block(lines, first, last, group)
            group = []
        if not group:
            first = number
        group.append(edit)
        # The line that the edit ends in, be it at its very start: its newline before was removed.
        last = lines.number(edit.end) + 1
    if group:
        yield _block(lines, first, last, group)


def _block(lines: _Lines, first: int, last: int, edits: list[Edit]) -> _Block:
    start, end = lines.start(first), lines.start(last)
    old = lines.data[start:end]
    new = splice(old, [Edit(edit.start - start, edit.end - start, edit.new) for edit in edits])
    return _Block(first, last, edits, _split(old), _split(new))


def _split(text: bytes) -> list[bytes]:
    """The lines of a text, without their ends."""
    return (text[:-1] if text.endswith(b"\n") else text).split(b"\n")


def _is_long(block: _Block) -> bool:
    return any(len(line) > _LONG for line in chain(block.old, block.new))


def _hunks(blocks: Iterable[_Block]) -> Iterator[list[_Block]]:
    """Blocks whose context would meet, together; one that is shown in excerpts, alone."""
    hunk: list[_Block] = []
    for block in blocks:
        alone = _is_long(block) or (hunk and _is_long(hunk[-1]))
        if hunk and (alone or block.first - hunk[-1].last > 2 * _CONTEXT):
            yield hunk
            hunk = []
        hunk.append(block)
    if hunk:
        yield hunk


def _whole(lines: _Lines, hunk: list[_Block], moved: int, bounds: Span) -> Iterator[str]:
    """A hunk of short lines with its context, as far as no other hunk changes that."""
    first = max(bounds.start, hunk[0].first - _CONTEXT)
    last = min(bounds.end, hunk[-1].last + _CONTEXT)
    grown = sum(len(block.new) - len(block.old) for block in hunk)
    number = lines.above + first
    old, new = _range(number, last - first), _range(number + moved, last - first + grown)
    yield f"@@ -{old} +{new} @@"
    at = first
    for block in hunk:
        yield from _context(lines, at, block.first)
        yield from (f"-{_text(line)}" for line in block.old)
        yield from (f"+{_text(line)}" for line in block.new)
        at = block.last
    yield from _context(lines, at, last)


def _range(first: int, count: int) -> str:
    return f"{first + 1}" if count == 1 else f"{first + 1},{count}"


def _context(lines: _Lines, first: int, last: int) -> Iterator[str]:
    for number in range(first, last):
        start, end = lines.start(number), lines.start(number + 1)
        line = lines.data[start : min(end, start + _LONG)].removesuffix(b"\n")
        yield f" {_text(line)}{'...' if end - start > _LONG + 1 else ''}"


def _excerpts(lines: _Lines, block: _Block, moved: int) -> Iterator[str]:
    """The edits of long lines, each with what stands around it."""
    whole = Span(lines.start(block.first), lines.start(block.last))
    for group, bounds in _near(block.edits, whole):
        start = max(bounds.start, _boundary(lines.data, group[0].start - _AROUND))
        end = max(group[-1].end, _boundary(lines.data, min(bounds.end, group[-1].end + _AROUND)))
        before = _CUT if start > whole.start else b""
        after = _CUT if end < whole.end else b""
        number = lines.number(start)
        column = start - lines.start(number) + 1
        number += lines.above + 1
        yield f"@@ -{number} +{number + moved} @@ column {column}"
        for sign, text in zip("-+", _sides(lines.data, start, end, group), strict=True):
            yield from (f"{sign}{_text(piece)}" for piece in _split(before + text + after))


def _near(edits: Iterable[Edit], bounds: Span) -> Iterator[tuple[list[Edit], Span]]:
    """Edits whose surroundings would meet, together, as long as the excerpt stays short.

    Each with the bounds of its surroundings: no other edit is shown in them.
    """
    group: list[Edit] = []
    start = bounds.start
    for edit in edits:
        far = group and edit.start - group[-1].end > 2 * _AROUND
        if group and (far or edit.end - group[0].start > _LONG):
            yield group, Span(start, edit.start)
            start = group[-1].end
            group = []
        group.append(edit)
    yield group, Span(start, bounds.end)


def _sides(data: bytes, start: int, end: int, edits: list[Edit]) -> tuple[bytes, bytes]:
    """The excerpt as it was and as it becomes."""
    old: list[bytes] = []
    new: list[bytes] = []
    at = start
    for edit in edits:
        same = data[at : edit.start]
        old += (same, _shortened(data[edit.start : edit.end]))
        new += (same, _shortened(edit.new))
        at = edit.end
    rest = data[at:end]
    return b"".join([*old, rest]), b"".join([*new, rest])


def _shortened(changed: bytes) -> bytes:
    if len(changed) <= _CHANGED:
        return changed
    return changed[: _CHANGED // 2] + _CUT + changed[-_CHANGED // 2 :]


def _boundary(data: bytes, offset: int) -> int:
    """The offset, or the start of the UTF-8 sequence that it would cut."""
    for start in range(offset, max(0, offset - 4), -1):
        if start < len(data) and data[start] not in _CONTINUATION:
            return start
    return offset


def _text(line: bytes) -> str:
    """A line for people; the CR of a line end is not news."""
    return printable(line.removesuffix(b"\r").decode("utf-8", "backslashreplace"))
