"""How far a run is, on a terminal, where a person waits for it."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from relbase.cli import streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.progress import Progress

    from relbase.cli.files import Input, OpenInput

# Less than this is done before anybody has read a bar.
_MANY: Final = 50
_LARGE: Final = 32 << 20  # bytes

_PAUSE: Final = 0.1  # seconds: a drawing takes as long as a small page
_ARCHIVE_PAUSE: Final = 0.5


class Bar:
    """Shows how far a run is, where somebody looks."""

    def __init__(self, shown: Progress | None = None, count: int = 0, size: int = 0) -> None:
        self._shown = shown
        self._count = count
        self._files = 0
        self._due = 0.0
        if shown is not None:
            self._task = shown.add_task("", total=max(size, 1), files=0, count=count)

    def read(self, size: int) -> None:
        if self._shown is None:
            return
        now = time.monotonic()
        is_due = now >= self._due or self._files == self._count
        self._due = now + _PAUSE if is_due else self._due
        self._shown.update(self._task, advance=size, files=self._files, refresh=is_due)

    def done(self) -> None:
        self._files += 1
        self.read(0)


@contextmanager
def progress(inputs: Sequence[Input], *, wanted: bool) -> Iterator[Bar]:
    size = 0
    is_shown = wanted and streams.is_terminal()
    for one in inputs if is_shown else ():
        with suppress(OSError):
            size += os.stat(one.name).st_size  # noqa: PTH116
    if not is_shown or (len(inputs) < _MANY and size < _LARGE):
        yield Bar()
        return
    from rich import progress as rich  # noqa: PLC0415
    from rich.console import Console  # noqa: PLC0415

    shown = rich.Progress(
        rich.TextColumn("{task.fields[files]}/{task.fields[count]} files"),
        rich.BarColumn(),
        rich.DownloadColumn(binary_units=True),
        rich.TransferSpeedColumn(),
        rich.TimeRemainingColumn(),
        console=Console(stderr=True, force_terminal=True),
        # No thread of its own: processes are forked, and threads do not live through that.
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
    )
    with shown:
        yield Bar(shown, len(inputs), size)


class ArchiveProgress:
    """What a person who waits for an archive sees: pages and bytes so far, over the line before."""

    def __init__(self, source: OpenInput) -> None:
        self._source = source
        self.pages = 0

    def counted(self) -> Iterator[bytes]:
        if not streams.is_terminal():
            yield from self._source.pieces
            return
        read = 0
        due = time.monotonic() + 2 * _ARCHIVE_PAUSE
        for piece in self._source.pieces:
            read += len(piece)
            if time.monotonic() > due:
                due += _ARCHIVE_PAUSE
                text = f"{self._source.shown}: {self.pages:,} pages, {read / 1e6:,.1f} MB read"
                streams.warn(f"\r\x1b[K{text}", end="")
            yield piece
        streams.warn("\r\x1b[K", end="")
