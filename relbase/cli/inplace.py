"""`--in-place`: a file is replaced by what it was rewritten to, in one step, or stays as it is.

Strategy: the new content goes to a new file in the same directory, which gets the owner, the
permissions, the times and the extended attributes (access control lists among them) of the old one.
It is brought to the disk. Then the old file is looked at again: who wrote it in between loses
nothing. A second name keeps the old content where a backup is wanted. One rename puts the new file
in the place of the old one, so that at every moment there is the one or the other, whole.

To mind: a rename breaks what hangs on the old file. A symbolic link would be replaced by a file,
and a file with several names would become two. Both are refused unless they are asked for.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, count
from typing import TYPE_CHECKING, Final

from relbase.cli.directories import new_file, opened_below, opened_directory
from relbase.cli.files import InputError
from relbase.cli.inputs import STDIN
from relbase.cli.locks import locked_mailbox
from relbase.cli.outcome import OutputError
from relbase.cli.streams import printable
from relbase.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.cli.directories import Directory, NewFile
    from relbase.cli.files import OpenInput
    from relbase.cli.inputs import Input
    from relbase.cli.outputs import Written


class InPlace(NamedTuple):
    """How files are replaced.

    Args:
        backup: the suffix of the name that keeps the old content, None for no backup.
        follow: whether the file that a symbolic link leads to is replaced.
        break_links: whether a file with several names is replaced under the one that was given.
    """

    backup: str | None = None
    follow: bool = False
    break_links: bool = False


class Target(NamedTuple):
    """The file to be replaced: its directory, open, its name there, and what it was when read."""

    parent: Directory
    name: str
    status: os.stat_result

    @property
    def path(self) -> str:
        """Its name."""
        return os.path.join(self.parent.path, self.name)  # noqa: PTH118


@contextmanager
def place_of(source: OpenInput, how: InPlace) -> Iterator[Target]:
    """Open the directory of an input that is to be replaced.

    Raises:
        InputError: if the input is not to be replaced.
    """
    if source.name == STDIN or source.status is None:
        raise InputError("it is not a regular file: nothing can be written in its place")
    with ExitStack() as stack:
        try:
            parent, name = _parent(source.input, how, stack)
            there = parent.stat(name)
        except OSError as error:
            raise InputError(error.strerror or str(error)) from None
        if stat.S_ISLNK(there.st_mode):
            text = "it is a symbolic link: give --follow-symlinks to rewrite what it leads to"
            raise InputError(text)
        if there.st_nlink > 1 and not how.break_links:
            text = f"it has {there.st_nlink} names (hard links), of which one would be replaced"
            raise InputError(f"{text}: give --break-hardlinks if that is right")
        refuse_changed(there, source.status)
        yield Target(parent, name, source.status)


def _parent(one: Input, how: InPlace, stack: ExitStack) -> tuple[Directory, str]:
    if one.root:
        *steps, name = one.parts
        return stack.enter_context(opened_below(one.root, steps)), name
    # Resolved once: what the link leads to afterwards does not matter.
    path = os.path.realpath(one.name) if how.follow else one.name
    directory, name = os.path.split(path)
    return stack.enter_context(opened_directory(directory)), name


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def refuse_changed(now: os.stat_result, read: os.stat_result) -> None:
    """Refuse to replace a file that is not what was read."""
    if _state(now) != _state(read):
        raise InputError("it changed while it was read: nothing was written, try again")


def replace(
    source: OpenInput,
    place: Target,
    pieces: Iterable[bytes],
    how: InPlace,
    written: Written,
    *,
    wanted: Callable[[], bool] = lambda: True,
) -> str:
    """Put new content in the place of an input.

    Returns:
        the directory that it is in, for `settle`; "" where the input stays.

    Raises:
        InputError: if the input changed since it was read: then it stays.
        OutputError: if the new file cannot be written: then the old one stays.
    """
    try:
        written.sweep(place.parent)
        with new_file(place.parent, place.name) as made:
            made.write(pieces)
            if not wanted():
                return ""
            keep_attributes(source, made, place.status)
            made.finish(place.status)
            refuse_changed(place.parent.stat(place.name), place.status)
            if how.backup is not None:
                _back_up(place, how.backup)
            place.parent.replace(made.name, place.parent, place.name)
    except OSError as error:
        raise OutputError(f"{printable(place.path)}: {error.strerror or error}") from None
    return place.parent.path


@contextmanager
def locked(place: Target) -> Iterator[None]:
    """Hold the locks of a mailbox that is replaced; what was read of it must still be right."""
    with locked_mailbox(place.path):
        try:
            now = place.parent.stat(place.name)
        except OSError as error:
            raise InputError(error.strerror or str(error)) from None
        refuse_changed(now, place.status)
        yield


# ---- what the new file has of the old one

# A file system without extended attributes, or one where only root may set them.
_UNSUPPORTED: Final = frozenset((errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS))


def keep_attributes(source: OpenInput, made: NewFile, status: os.stat_result) -> None:
    """Give a new file the owner and the extended attributes of an input."""
    if hasattr(os, "fchown"):
        with suppress(PermissionError):  # only root gives files away
            os.fchown(made.descriptor, status.st_uid, status.st_gid)
    if not hasattr(os, "listxattr") or source.descriptor is None:
        return
    for name in _attributes(source.descriptor):
        value = os.getxattr(source.descriptor, name)
        try:
            os.setxattr(made.descriptor, name, value)
        except OSError as error:
            # security.* and trusted.* are the system's own, and set by it.
            if name.startswith(("user.", "system.posix_acl")):
                raise
            if error.errno not in {*_UNSUPPORTED, errno.EPERM, errno.EACCES}:
                raise


def _attributes(descriptor: int) -> list[str]:
    try:
        return os.listxattr(descriptor)
    except OSError as error:
        if error.errno in _UNSUPPORTED:
            return []
        raise


def _back_up(place: Target, suffix: str) -> None:
    """Give the old file a second name: the first of `x.bak`, `x.bak.1`, ... that nobody has."""
    names = chain((f"{place.name}{suffix}",), (f"{place.name}{suffix}.{n}" for n in count(1)))
    for name in names:
        try:
            place.parent.link(place.name, place.parent, name)
        except FileExistsError:
            continue
        return
