"""Bytes at hand, and more of them when asked for, of what may be looked at again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# The bytes that may be looked at again, beside as many as were read so far: members in members,
# or lengths that lie, could make each byte be looked at a thousand times.
_AGAIN: Final = 1 << 24


class Buffer:
    """Bytes at hand, and more of them when asked for."""

    def __init__(self) -> None:
        self.data, self.pos = b"", 0  # what is at hand, and where in it the next byte is
        self._read = 0  # how many bytes came so far
        self._again = _AGAIN

    @property
    def offset(self) -> int:
        """Where the next byte is in all that came."""
        return self._read - len(self.data) + self.pos

    def more(self) -> bytes | None:
        raise NotImplementedError

    def fill(self) -> bool:
        """Put the next piece to what is at hand; False when it is over."""
        piece = self.more()
        if piece is not None:
            self.data, self.pos = self.data[self.pos :] + piece, 0
        return piece is not None

    def peek(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end."""
        while len(self.data) - self.pos < size and self.fill():
            pass
        return self.data[self.pos : self.pos + size]

    def give_back(self, data: bytes) -> None:
        """Make bytes that were taken last the next ones again."""
        if self.data.endswith(data, 0, self.pos):
            self.pos -= len(data)
        else:
            self.data, self.pos = data + self.data[self.pos :], 0

    def look_again(self, data: bytes) -> bool:
        """Make bytes that were taken last the next ones again; False if that was too often."""
        self._again -= len(data)
        if self._again + self._read < 0:
            return False
        self.give_back(data)
        return True


class Raw(Buffer):
    def __init__(self, chunks: Iterable[bytes]) -> None:
        super().__init__()
        self._chunks = iter(chunks)

    def more(self) -> bytes | None:
        chunk = next(self._chunks, None)
        self._read += len(chunk or b"")
        return chunk

    def take(self, most: int | None = None) -> bytes:
        """Return the next bytes, without a number as many as there are at hand; b"" at the end."""
        self.peek(most or 1)
        start = self.pos
        self.pos = len(self.data) if most is None else min(start + most, len(self.data))
        return self.data[start : self.pos]
