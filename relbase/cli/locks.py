"""The locks of a mailbox that others deliver to: fcntl and the dot lock, in Debian's order.

Strategy: the lock is taken, or the run stops and says who holds it; a lock of somebody else is
never broken, however old it is. A program that delivers looks for both kinds, or for one of them.

To mind: to close any descriptor of a file gives up all fcntl locks that the process has on it. So
what is read stays open until the lock is given back.
"""

from __future__ import annotations

import errno
import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from relbase.cli.directories import flag
from relbase.cli.outcome import OutputError
from relbase.cli.streams import printable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# How long others have to finish a delivery, in seconds, and how often it is tried.
_PATIENCE: Final = 10.0
_PAUSE: Final = 0.1

_BUSY: Final = frozenset((errno.EAGAIN, errno.EACCES))


@contextmanager
def locked_mailbox(path: str, patience: float = _PATIENCE) -> Iterator[None]:
    """Hold the locks of a mailbox.

    Raises:
        OutputError: if somebody else holds one of them, or it cannot be made.
    """
    try:
        with _record_lock(path, patience), _dot_lock(path, patience):
            yield
    except _HeldError as held:
        text = f"{printable(path)}: {held}"
        fix = "wait for it, or rewrite a copy with -o"
        raise OutputError(f"{text}: {fix}") from None


class _HeldError(Exception):
    """Somebody else holds a lock."""


@contextmanager
def _record_lock(path: str, patience: float) -> Iterator[None]:
    if fcntl is None:
        yield
        return
    try:
        descriptor = os.open(path, os.O_RDWR | flag("O_NOFOLLOW"))
    except OSError as error:
        text = f"{printable(path)}: it cannot be locked: {error.strerror}"
        raise OutputError(text) from None
    try:
        _wait(lambda: _take(descriptor), patience, "another program has locked it")
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int) -> bool:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _BUSY:
            return False
        raise _HeldError(f"it cannot be locked: {error.strerror}") from None
    return True


@contextmanager
def _dot_lock(path: str, patience: float) -> Iterator[None]:
    lock = f"{path}.lock"
    held = f"there is a lock, {printable(lock)}"
    _wait(lambda: _make(lock), patience, held)
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(lock)  # noqa: PTH108


def _make(lock: str) -> bool:
    try:
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError:
        return False
    except OSError as error:
        raise _HeldError(f"{printable(lock)} cannot be made: {error.strerror}") from None
    os.write(descriptor, f"{os.getpid()}\n".encode())
    os.close(descriptor)
    return True


def _wait(take: Callable[[], bool], patience: float, held: str) -> None:
    until = time.monotonic() + patience
    while not take():
        if time.monotonic() >= until:
            raise _HeldError(held)
        time.sleep(_PAUSE)
