"""Spans and edits of a byte string, and the one place where edits are applied."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple


class Span(NamedTuple):
    """A range of bytes: `start` inclusive, `end` exclusive, both offsets of the input."""

    start: int
    end: int


class Edit(NamedTuple):
    """Replace the bytes from `start` (inclusive) to `end` (exclusive) of the input by `new`."""

    start: int
    end: int
    new: bytes


def growth(edits: Iterable[Edit]) -> int:
    """Return by how many bytes edits make a text longer."""
    return sum([len(new) - end + start for start, end, new in edits])


# `join` needs some 80 bytes more for each piece: a hostile page has millions.
_JOINED_AT_ONCE: Final = 4096


def splice(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `data` with edits applied, itself for none; ValueError where they are not in order."""
    # Slices of a view are not copied; those of a short text are copied sooner than a view is made.
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
