"""Where the payloads of an archive are: names to offsets, in two words each.

A crawl of a gigabyte has some hundred thousand names, and a dictionary of them would take twenty
megabytes. So only a hash of a name is kept, in a table of open addressing; who finds an offset
looks whether what is there has the name.
"""

from __future__ import annotations

from array import array
from typing import Final

_FIRST: Final = 1 << 10
_WORD: Final = (1 << 64) - 1


class Places:
    """Offsets by names.

    >>> places = Places()
    >>> places.add("a", 0)
    >>> places.find("a"), places.find("b")
    (0, None)
    """

    __slots__ = ("_count", "_keys", "_offsets")

    def __init__(self) -> None:
        self._count = 0
        self._keys = array("Q", bytes(8 * _FIRST))
        self._offsets = array("Q", bytes(8 * _FIRST))

    def add(self, name: str, offset: int) -> None:
        """Remember where a name is, unless it is known."""
        if 3 * self._count >= 2 * len(self._keys):
            self._grow()
        self._put(hash(name) & _WORD or 1, offset)

    def find(self, name: str) -> int | None:
        """Return where a name probably is, None when it is not known."""
        key = hash(name) & _WORD or 1
        at = self._slot(key)
        return self._offsets[at] if self._keys[at] == key else None

    def _slot(self, key: int) -> int:
        """The place of a key, or the free one where it belongs."""
        mask = len(self._keys) - 1
        at = key & mask
        while self._keys[at] not in (0, key):
            at = at + 1 & mask
        return at

    def _put(self, key: int, offset: int) -> None:
        at = self._slot(key)
        if self._keys[at] == 0:
            self._keys[at], self._offsets[at] = key, offset
            self._count += 1

    def _grow(self) -> None:
        keys, offsets = self._keys, self._offsets
        self._count = 0
        self._keys = array("Q", bytes(16 * len(keys)))
        self._offsets = array("Q", bytes(16 * len(keys)))
        for key, offset in zip(keys, offsets, strict=True):
            if key:
                self._put(key, offset)
