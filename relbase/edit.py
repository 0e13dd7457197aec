"""Spans and edits of a byte string, and the one place where edits are applied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple


class Span(NamedTuple):
    """A range of bytes: `start` inclusive, `end` exclusive, both offsets in the input."""

    start: int
    end: int


class Edit(NamedTuple):
    """Replace the bytes from `start` (inclusive) to `end` (exclusive) of the input with `new`."""

    start: int
    end: int
    new: bytes


def growth(edits: Iterable[Edit]) -> int:
    """Return how many bytes longer the edits make a text."""
    return sum([len(new) - end + start for start, end, new in edits])


# `join` takes about 80 extra bytes for each piece, and a hostile page has millions.
_JOINED_AT_ONCE: Final = 4096


def splice(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `data` with the edits applied; ValueError if they overlap or are out of order."""
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
