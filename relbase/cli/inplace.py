"""`--in-place`: which file is replaced and which is not, and the locks of mailboxes.

To mind: a rename would replace a symbolic link by a file, and make two of a file with two names.
To close any descriptor of a file gives up all fcntl locks that the process has on it: what is read
stays open until the lock is given back.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final

from relbase.cli import files, maildir
from relbase.cli.directories import opened_below
from relbase.cli.files import STDIN, InputError
from relbase.cli.streams import OutputError, printable
from relbase.cli.writing import Old, Place, refuse_changed

if TYPE_CHECKING:
    import mailbox
    from collections.abc import Iterator, Mapping

    from relbase.cli.directories import Directory
    from relbase.cli.files import Input, OpenInput
    from relbase.cli.jobs import Options


@contextmanager
def place_of(source: OpenInput, how: Options, roots: Mapping[str, Directory]) -> Iterator[Place]:
    """Open the directory of an input that is replaced."""
    if source.name == STDIN or source.status is None:
        raise InputError("it is not a regular file: nothing can be written in its place")
    root, steps, name = _way(source.input, how)
    with ExitStack() as stack:
        try:
            held = roots.get(root)
            parent = stack.enter_context(opened_below(root, steps, held=held))
            folder = None
            if maildir.is_message(os.path.join(root, *steps, name)):  # noqa: PTH118
                folder = stack.enter_context(opened_below(root, steps[:-1], held=held))
            there = parent.stat(name)
        except OSError as error:
            raise InputError(error.strerror or str(error)) from None
        if stat.S_ISLNK(there.st_mode):
            text = "it is a symbolic link: give --follow-symlinks to rewrite what it leads to"
            raise InputError(text)
        if there.st_nlink > 1 and not how.break_hardlinks:
            text = f"it has {there.st_nlink} names (hard links), of which one would be replaced"
            raise InputError(f"{text}: give --break-hardlinks if that is right")
        refuse_changed(there, source.status)
        old = Old(name, source.status, source.descriptor, how.backup)
        yield Place(parent, name, replaces=True, goes_on=True, folder=folder, old=old)


def _way(one: Input, how: Options) -> tuple[str, list[str], str]:
    """The directory that an input is reached from, the steps from there, and its name."""
    if one.root:
        *steps, name = one.parts
        return one.root, steps, name
    # Resolved once: what the link leads to afterwards does not matter.
    directory, name = os.path.split(_resolved(one.name, how))
    if maildir.is_message(os.path.join(directory, name)):  # noqa: PTH118
        root, box = os.path.split(os.path.abspath(directory))  # noqa: PTH100
        return root, [box], name
    return directory, [], name


def _resolved(name: str, how: Options) -> str:
    return os.path.realpath(name) if how.follow_symlinks else name


# How long others have to finish a delivery, in seconds, and how often it is tried.
PATIENCE: Final = 10.0
_PAUSE: Final = 0.1


@contextmanager
def locked(source: OpenInput, how: Options) -> Iterator[OpenInput]:
    """Hold the locks of a mailbox (fcntl and the dot lock), and yield it as it is under them."""
    import mailbox  # noqa: PLC0415 (start-up time: it brings the email package)

    path = _resolved(source.name, how)
    shown, until = printable(path), time.monotonic() + PATIENCE
    with ExitStack() as stack:
        try:
            # It would take a `~` for a home directory; it is closed as it was opened, unread.
            box = mailbox.mbox(os.path.abspath(path), create=False)  # noqa: PTH100
            stack.callback(_close, box)
            while not _is_locked(box):
                if time.monotonic() >= until:
                    why = "another program has locked it"
                    if os.path.lexists(f"{path}.lock"):
                        why = f"there is a lock, {shown}.lock"
                    text = f"{why}: wait for it, or rewrite a copy with -o"
                    raise OutputError(f"{shown}: {text}")
                time.sleep(_PAUSE)
        except (OSError, mailbox.Error) as error:
            text = f"it cannot be locked: {getattr(error, 'strerror', None) or error}"
            raise OutputError(f"{shown}: {text}") from None
        yield files.rewound(source)


def _close(box: mailbox.mbox) -> None:
    with suppress(OSError):
        box.close()


def _is_locked(box: mailbox.mbox) -> bool:
    import mailbox  # noqa: PLC0415 (as above)

    with suppress(mailbox.ExternalClashError):
        box.lock()
        return True
    return False
