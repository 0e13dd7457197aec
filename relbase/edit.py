"""Spans and edits of a byte string, and the one place where edits are applied.

Everything that relbase changes is an `Edit` in coordinates of the text it was found in. A view
(`relbase.view`) lowers edits of its inner text to edits of the text around it, until they are
edits of the file; then `splice` runs once.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


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
    """Return by how many bytes edits make a text longer.

    >>> growth([Edit(0, 1, b"abc"), Edit(4, 6, b"")])
    0
    """
    return sum([len(new) - end + start for start, end, new in edits])


# `join` needs some 80 bytes more for each piece: a hostile page has millions.
_JOINED_AT_ONCE: Final = 2048


def splice(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Return `data` with `edits` applied; `data` itself when there are none.

    Args:
        data: the text that the edits are coordinates of.
        edits: sorted by `start` and disjoint; insertions have `start == end`.

    Raises:
        ValueError: if the edits overlap, are not sorted, or reach beyond the data.

    >>> splice(b"<a href=x>", [Edit(8, 8, b"http://a/")])
    b'<a href=http://a/x>'
    """
    left = iter(edits)
    batch = list(islice(left, _JOINED_AT_ONCE))
    if not batch:
        return data
    # Slices of a view are not copied; those of a short text are copied sooner than a view is made.
    source = memoryview(data) if len(data) > _SHORT else data
    joined: list[bytes] = []
    at = 0
    while following := list(islice(left, _JOINED_AT_ONCE)):
        places = _places(at, batch, len(data))
        joined.append(_joined(source, places, batch))
        at, batch = places[-1], following
    joined.append(_joined(source, [*_places(at, batch, len(data)), len(data)], batch))
    return joined[0] if len(joined) == 1 else b"".join(joined)


_SHORT: Final = 1 << 14


def _places(at: int, edits: list[Edit], size: int) -> list[int]:
    """Where the pieces between edits begin and end, from `at` to the last edit."""
    places = [at]
    for start, end, _ in edits:
        places += (start, end)
    if places[-1] > size or places != sorted(places):
        raise ValueError(_first_bad(at, edits, size))
    return places


def _joined(source: bytes | memoryview, places: list[int], edits: list[Edit]) -> bytes:
    """The pieces between places, and what is written between them."""
    pieces: list[bytes | memoryview] = [b""] * (len(places) // 2 + len(edits))
    pieces[::2] = [source[i:j] for i, j in zip(places[::2], places[1::2], strict=False)]
    pieces[1::2] = [edit[2] for edit in edits]
    return b"".join(pieces)


def _first_bad(at: int, edits: Iterable[Edit], size: int) -> str:
    for start, end, _ in edits:
        if not at <= start <= end <= size:
            return f"edit {start}:{end} overlaps its neighbour or leaves the data"
        at = end
    return ""
