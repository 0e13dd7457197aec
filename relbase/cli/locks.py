"""Locks a mailbox that is replaced, as programs that deliver mail do."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from relbase.cli import directories, files, windows
from relbase.cli.directories import Directory, opened_directory
from relbase.cli.files import OpenInput
from relbase.cli.streams import OutputError, printable
from relbase.cli.writing import DOT_LOCK, link, remove_lock

if TYPE_CHECKING:
    from relbase.cli.jobs import Options

# How long to wait for another program to finish a delivery, in seconds.
PATIENCE: Final = 10.0


@contextmanager
def locked(source: OpenInput, how: Options) -> Iterator[OpenInput]:
    """Lock a mailbox (fcntl and dot lock), and yield it as it is under the locks."""
    path = os.path.realpath(source.name) if how.follow_symlinks else source.name
    folder, name = os.path.split(path)
    shown, dot, until = printable(path), f"{name}.lock", time.monotonic() + PATIENCE
    with ExitStack() as stack:
        try:
            parent = stack.enter_context(opened_directory(folder))
            while True:
                with ExitStack() as taken, suppress(BlockingIOError, FileExistsError):
                    taken.enter_context(directories.locked_as_mail(path))
                    # Without permission nothing can be replaced there: reported when it is tried.
                    with suppress(PermissionError):
                        taken.enter_context(_dot_lock(parent, dot))
                    stack.push(taken.pop_all())
                    break
                if time.monotonic() >= until:
                    why = "another program has locked it"
                    if os.path.lexists(f"{path}.lock"):
                        why = f"it is locked ({shown}.lock exists)"
                    text = f"{why}: wait until it is released, or rewrite a copy with -o"
                    raise OutputError(f"{shown}: {text}")
                time.sleep(0.1)
        except OSError as error:
            text = f"it cannot be locked: {error.strerror or error}"
            raise OutputError(f"{shown}: {text}") from None
        again = open(source.file.fileno(), "rb", closefd=False)  # noqa: SIM115 (`opened` closes it)
        again.seek(0)
        status = os.fstat(again.fileno())
        yield source._replace(pieces=files.pieces_of(again, status), status=status)


@contextmanager
def _dot_lock(parent: Directory, dot: str) -> Iterator[None]:
    remove_lock(parent, dot)
    with directories.NewFile(parent, dot) as made:
        made.write((DOT_LOCK,))
        status = os.fstat(made.descriptor)
        with directories.Owned(parent, dot, lambda _, there: os.path.samestat(there, status)):
            link(parent, made.name, parent, dot)
            try:
                yield
            finally:
                if windows.HERE:  # an open file cannot be removed
                    made.close()
