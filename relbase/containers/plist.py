"""Binary property lists (CFBinaryPList.c): objects, a table of their offsets, a trailer.

In a sound list no objects overlap. What they span is limited by its size, so that a hostile one,
whose objects share their bytes, is not read again and again. Python's own reader has no limit.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final, NamedTuple

# Of lists in lists: each frame of a page takes two levels, and browsers nest them less deeply.
MAX_DEPTH: Final = 100
# Of objects that are read: each takes memory, however short it is.
MAX_OBJECTS: Final = 1_000_000
_POINTER: Final = 8  # bytes of memory for an item of a list, whose reference may be one byte
MARK: Final = b"bplist00"
_TRAILER: Final = 32


class Data(NamedTuple):
    offset: int  # in the file
    body: bytes | memoryview


class Binary:
    """A binary property list, of whose dicts only members with some names are read."""

    def __init__(self, data: bytes, names: Container[str]) -> None:
        trailer = data[-_TRAILER:].rjust(_TRAILER, b"\0")
        self._data, self._view, self._names = data, memoryview(data), names
        self._offset_size, self._ref_size = trailer[6], trailer[7]
        numbers = (int.from_bytes(trailer[at : at + 8], "big") for at in (8, 16, 24))
        self._count, self._top, self._table = numbers
        if not (self._offset_size and self._ref_size and self._table <= len(data) - _TRAILER):
            raise ValueError("it is cut off")
        self._left = 2 * len(data)  # what objects may span; pointers count more than references
        self._known: dict[int, Any] = {}  # by their offsets

    def root(self) -> object:
        """Return its dicts, lists and texts; Data for bytes, None for what is none of these."""
        return self._value(self._top, 0)

    def _value(self, ref: int, depth: int) -> Any:  # noqa: ANN401 (as a list holds it)
        at = self._table + ref * self._offset_size
        start = int.from_bytes(self._data[at : at + self._offset_size], "big")
        if ref >= self._count or not len(MARK) <= start < self._table:
            raise ValueError("an object lies outside the file")
        if start not in self._known:
            self._known[start] = None  # a list that holds itself
            self._known[start] = self._read(start, depth)
        return self._known[start]

    def _read(self, start: int, depth: int) -> Any:  # noqa: ANN401
        kind, count, at = self._data[start] >> 4, self._data[start] & 15, start + 1
        unit = {0x4: 1, 0x5: 1, 0x6: 2, 0xA: self._ref_size, 0xD: 2 * self._ref_size}.get(kind, 0)
        if count == 15 and unit:  # noqa: PLR2004 (an integer follows, which is the count)
            at += 1 + (size := 1 << (self._data[at] & 3))
            count = int.from_bytes(self._data[at - size : at], "big")
        end = at + count * unit
        self._left -= max(end - start, count * _POINTER * (kind == 0xA))  # noqa: PLR2004 (a list)
        if end > self._table or self._left < 0:
            raise ValueError("its objects overlap")
        if depth > MAX_DEPTH or len(self._known) > MAX_OBJECTS:
            raise ValueError("it is nested too deeply, or has too many objects")
        raw = self._view[at:end]
        match kind:
            case 0x4:
                return Data(at, raw)
            case 0x5 | 0x6:
                return str(raw, "latin-1" if kind == 0x5 else "utf-16-be", "replace")  # noqa: PLR2004
            case 0xA:
                return [self._value(ref, depth + 1) for ref in self._refs(raw)]
            case 0xD:
                half = len(raw) // 2
                pairs = zip(self._refs(raw[:half]), self._refs(raw[half:]), strict=True)
                named = ((self._value(key, depth + 1), value) for key, value in pairs)
                wanted = (pair for pair in named if type(pair[0]) is str and pair[0] in self._names)
                return {key: self._value(value, depth + 1) for key, value in wanted}
        return None  # numbers, dates and others hold nothing

    def _refs(self, raw: memoryview) -> Iterator[int]:
        size = self._ref_size
        return (int.from_bytes(raw[at : at + size], "big") for at in range(0, len(raw), size))
