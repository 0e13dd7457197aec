"""What a person who waits for an archive sees: pages and bytes so far."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from relbase.cli import streams

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Progress:
    """What a person who waits sees: pages and bytes so far, twice a second."""

    __slots__ = ("_bytes", "_next", "_shown", "pages")

    def __init__(self, shown: str) -> None:
        self._shown = shown
        self._bytes = self.pages = 0
        self._next = time.monotonic() + 1 if streams.is_terminal() else float("inf")

    def counted(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The pieces, counted."""
        for piece in pieces:
            self._bytes += len(piece)
            if time.monotonic() > self._next:
                self._next += 0.5
                text = f"{self._shown}: {self.pages:,} pages, {self._bytes / 1e6:,.1f} MB read"
                _show(text)
            yield piece

    def clear(self) -> None:
        """Leave a line that is empty."""
        if self._next != float("inf"):
            _show("")


def _show(text: str) -> None:
    """Write a line over the one before, for a person who waits."""
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
