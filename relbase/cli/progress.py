"""A progress bar on a terminal, for runs that a person waits for."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, Protocol

from relbase.cli import streams

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.cli.inputs import Input

# Less than this is done before anybody has read a bar.
_MANY: Final = 50
_LARGE: Final = 32 << 20  # bytes

# A drawing takes as long as a small page, in seconds.
_PAUSE: Final = 0.1


class Bar(Protocol):
    """Shows how far a run is."""

    def read(self, size: int) -> None:
        """Show that so many bytes more are read."""

    def done(self) -> None:
        """Show that another input is done."""


class _NoBar:
    def read(self, size: int) -> None:
        """Show nothing."""

    def done(self) -> None:
        """Show nothing."""


@contextmanager
def progress(inputs: Sequence[Input], *, wanted: bool) -> Iterator[Bar]:
    """Show a bar on standard error while inputs are done."""
    size = 0
    if wanted and streams.is_terminal():
        for one in inputs:
            with suppress(OSError):
                size += os.stat(one.name).st_size  # noqa: PTH116
    if not wanted or not streams.is_terminal() or (len(inputs) < _MANY and size < _LARGE):
        yield _NoBar()
        return
    with _rich_bar(len(inputs), size) as bar:
        yield bar


@contextmanager
def _rich_bar(count: int, size: int) -> Iterator[Bar]:
    # Start-up time of the usual case.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.fields[files]}/{task.fields[count]} files"),
        BarColumn(),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    # No thread of its own: processes are forked, and threads do not live through that.
    console = Console(stderr=True, force_terminal=True)
    shown_by = Progress(
        *columns, console=console, auto_refresh=False, transient=True, redirect_stdout=False
    )
    with shown_by as shown:
        task = shown.add_task("", total=max(size, 1), files=0, count=count)

        class RichBar:
            files = 0
            drawn = 0.0

            def read(self, size: int) -> None:
                self._update(size)

            def done(self) -> None:
                self.files += 1
                self._update(0)

            def _update(self, size: int) -> None:
                now = time.monotonic()
                is_due = now - self.drawn >= _PAUSE or self.files == count
                self.drawn = now if is_due else self.drawn
                shown.update(task, advance=size, files=self.files, refresh=is_due)

        yield RichBar()
