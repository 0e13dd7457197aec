"""The locks of a mailbox that others deliver to: fcntl and the dot lock, by Python's `mailbox`.

Strategy: the lock is taken, or the run stops and says which one is held; a lock of somebody else
is never broken, however old it is. A program that delivers looks for both kinds, or for one.

To mind: to close any descriptor of a file gives up all fcntl locks that the process has on it. So
what is read stays open until the lock is given back.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from relbase.cli.outcome import OutputError
from relbase.cli.streams import printable

if TYPE_CHECKING:
    import mailbox
    from collections.abc import Iterator

# How long others have to finish a delivery, in seconds, and how often it is tried.
PATIENCE: Final = 10.0
_PAUSE: Final = 0.1


@contextmanager
def locked_mailbox(path: str) -> Iterator[None]:
    """Hold the locks of a mailbox."""
    import mailbox  # noqa: PLC0415 (start-up time: it brings the email package)

    try:
        # It would take a `~` for a home directory; it is closed as it was opened, unread.
        box = mailbox.mbox(os.path.abspath(path), create=False)  # noqa: PTH100
    except (OSError, mailbox.Error) as error:
        raise OutputError(f"{printable(path)}: it cannot be locked: {error}") from None
    try:
        _lock(box, path)
        yield
    finally:
        with suppress(OSError):
            box.close()


def _lock(box: mailbox.mbox, path: str) -> None:
    import mailbox  # noqa: PLC0415 (as above)

    until = time.monotonic() + PATIENCE
    while True:
        try:
            box.lock()
        except mailbox.ExternalClashError:
            if time.monotonic() >= until:
                raise OutputError(f"{printable(path)}: {_held(path)}") from None
            time.sleep(_PAUSE)
        except OSError as error:
            text = f"it cannot be locked: {error.strerror or error}"
            raise OutputError(f"{printable(path)}: {text}") from None
        else:
            return


def _held(path: str) -> str:
    lock = f"{path}.lock"
    why = "another program has locked it"
    if os.path.lexists(lock):
        why = f"there is a lock, {printable(lock)}"
    return f"{why}: wait for it, or rewrite a copy with -o"
