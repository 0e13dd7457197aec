"""The text of an archive as its records are read: what is at hand, and more of it when asked for.

To mind: an offset of what is compressed is that of its member; else it is the byte's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.containers.members import begins_record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.containers.members import Piece

# The bytes that may be put back, beside as many as were read so far: lengths that lie could make
# each byte be looked at a thousand times.
_AGAIN: Final = 1 << 24

_line_ends: Final = re.compile(rb"[\r\n]*+").match


class Unfolded:
    """The text of an archive, joined from its pieces, no further than to the end of a member.

    Attributes:
        data: what is at hand of the member.
        pos: where in it the next byte is.
        over: whether no more of the member comes.
        fault: of the member, known when it is over.
        packed: whether it was compressed.
    """

    __slots__ = ("_again", "_ahead", "_at", "_pieces", "data", "fault", "over", "packed", "pos")

    def __init__(self, found: Iterator[Piece]) -> None:
        self._pieces = found
        self._again = _AGAIN
        self._ahead = next(found, None)
        self._at = 0  # where the member begins; where `data` does in what is not compressed
        self.data, self.pos, self.over, self.fault, self.packed = b"", 0, True, "", False

    @property
    def offset(self) -> int:
        """Where the next byte is in the archive; of what is compressed, its member."""
        return self._at if self.packed else self._at + self.pos

    def _next(self) -> Piece | None:
        piece = self._ahead
        if piece is not None:
            self._ahead = next(self._pieces, None)
            self._again += len(piece.data)
            self.packed, self.fault = piece.packed, piece.fault
            is_last = piece.end is not None or bool(piece.fault)
            self.over = is_last if piece.packed else self._ahead is None
        return piece

    def more(self) -> bytes | None:
        """Return the next piece of the member, None when it is over."""
        piece = None if self.over else self._next()
        return None if piece is None else piece.data

    def fill(self) -> bool:
        """Put the next piece of the member to what is at hand; False when it is over."""
        piece = self.more()
        if piece is None:
            return False
        self._hold(self.data[self.pos :] + piece)
        return True

    def _hold(self, data: bytes, before: int = 0) -> None:
        """Let `data` be at hand: what was, and maybe more, `before` bytes of it in front."""
        if not self.packed:
            self._at += self.pos - before
        self.data, self.pos = data, 0

    def put_back(self, data: bytes) -> bool:
        """Put back what was taken last; False if that has been done too often."""
        self._again -= len(data)
        if self._again < 0:
            return False
        self._hold(data + self.data[self.pos :], len(data))
        return True

    def peek(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end of the member."""
        while len(self.data) - self.pos < size and self.fill():
            pass
        return self.data[self.pos : self.pos + size]

    def goes_on(self) -> bool:
        """Whether another member follows that begins no record: some records lie in several."""
        ahead = self._ahead
        if ahead is None or ahead.fault or self.fault:
            return False
        return not (begins_record(ahead.data))

    def enter(self) -> bool:
        """Go into the next member; False when there is none."""
        if self._ahead is not None:
            self._at = self._ahead.at
        piece = self._next()
        self.data, self.pos = b"" if piece is None else piece.data, 0
        return piece is not None

    def begin(self) -> bool:
        """Go to the next byte that is not a line end, or to a fault; False at the archive's end."""
        while True:
            blank = _line_ends(self.data, self.pos)
            self.pos = blank.end() if blank else self.pos
            if self.pos < len(self.data):
                return True
            if self.fault and self.over:
                return True
            if not self.fill() and not self.enter():
                return False

    def take(self, size: int, most: int) -> tuple[bytes | None, int]:
        """Take bytes of the member; return them, None if they are too many, and their number.

        Too many are more than `most`, or than fit into the memory.
        """
        kept: list[bytes] = []
        count = 0
        while True:
            taken = self.data[self.pos : self.pos + size - count]
            count += len(taken)
            self.pos += len(taken)
            kept.append(taken)
            if count > most:
                kept.clear()
            if count == size:
                break
            piece = self.more()
            if piece is not None:
                self._hold(piece)
            elif not self.goes_on() or not self.enter():
                break
        try:
            return b"".join(kept) if count <= most else None, count
        except MemoryError:
            return None, count
