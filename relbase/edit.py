"""Spans and edits of a byte string, and the one place where edits are applied."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final, NamedTuple, overload


class Span(NamedTuple):
    """A range of bytes: `start` inclusive, `end` exclusive, both offsets in the input."""

    start: int
    end: int


class Edit(NamedTuple):
    """Replace the bytes from `start` (inclusive) to `end` (exclusive) of the input with `new`."""

    start: int
    end: int
    new: bytes


class PackedEdits(Sequence[Edit]):
    """Edits as columns, which take a quarter of the memory of as many tuples."""

    __slots__ = ("_ends", "_new", "_news", "_starts")

    def __init__(self, edits: Sequence[Edit] = ()) -> None:
        self._starts, self._ends = array("q"), array("q")
        self._news, self._new = array("q", [0]), bytearray()  # where in `_new` each begins
        self.extend(edits)

    def extend(self, edits: Sequence[Edit]) -> None:
        """Append edits, as a list does."""
        self._starts.extend([start for start, _, _ in edits])
        self._ends.extend([end for _, end, _ in edits])
        news = [new for _, _, new in edits]
        self._news.extend(accumulate(map(len, news), initial=self._news.pop()))
        self._new += b"".join(news)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, at: int) -> Edit: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Edit, ...]: ...
    def __getitem__(self, at: int | slice) -> Edit | tuple[Edit, ...]:
        if isinstance(at, slice):
            return tuple(map(self.__getitem__, range(*at.indices(len(self)))))
        start, end, at = self._starts[at], self._ends[at], range(len(self))[at]
        return Edit(start, end, bytes(self._new[self._news[at] : self._news[at + 1]]))

    def __iter__(self) -> Iterator[Edit]:
        for start, end, (at, until) in zip(
            self._starts, self._ends, pairwise(self._news), strict=True
        ):
            yield Edit(start, end, bytes(self._new[at:until]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | PackedEdits) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PackedEdits({len(self)} edits)"


def are_dense(edits: list[Edit]) -> bool:
    """Whether edits take several times as much memory as the text up to the last one."""
    return len(edits) > _MANY and len(edits) * _NEAR > edits[-1].start


# An `Edit` takes about 120 bytes; on real pages one in a hundred bytes has a link.
_MANY: Final = 1 << 18
_NEAR: Final = 8


def growth(edits: Iterable[Edit]) -> int:
    """Return how many bytes longer the edits make a text."""
    return sum([len(new) - end + start for start, end, new in edits])


# `join` takes about 80 extra bytes for each piece, and a hostile page has millions.
_JOINED_AT_ONCE: Final = 4096


def splice(data: bytes, edits: Iterable[Edit], offset: int = 0) -> bytes:
    """Return `data` with the edits applied; ValueError if they overlap or are out of order.

    `offset` is where `data` begins in the text that the edits are of.
    """
    if offset:
        edits = (Edit(start - offset, end - offset, new) for start, end, new in edits)
    # Slicing a memoryview copies nothing, but for a short text making one takes longer than a copy.
    source = memoryview(data) if len(data) > _SHORT else data
    joined: list[bytes] = []
    pieces: list[bytes | memoryview] = []
    at = 0
    for start, end, new in edits:
        if not at <= start <= end <= len(data):
            raise ValueError(f"edit {start}:{end} overlaps its neighbour or leaves the data")
        pieces += (source[at:start], new)
        at = end
        if len(pieces) > _JOINED_AT_ONCE:
            joined.append(b"".join(pieces))
            pieces.clear()
    if not joined and not pieces:
        return data
    joined.append(b"".join([*pieces, source[at:]]))
    return joined[0] if len(joined) == 1 else b"".join(joined)


_SHORT: Final = 1 << 14
