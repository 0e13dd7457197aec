"""How a file is written: one way for outputs, for files that are replaced, and for Maildirs.

A new file is brought to the disk, and gets its name in one step. In a Maildir a name can change
with the size of the message: then both are there for a moment, better twice than lost.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import chain, count
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.cli import directories, files
from relbase.cli.directories import Directory, opened_below, opened_directory
from relbase.cli.files import STDIN, ChangedError, Input, InputError, OpenInput, Output, is_message
from relbase.cli.streams import OutputError, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from relbase.cli.jobs import Options


class Old(NamedTuple):
    name: str
    status: os.stat_result
    descriptor: int | None
    backup: str | None = None  # the suffix of the name that keeps its content


class Place(NamedTuple):
    """Where a new file goes, in directories that are open."""

    parent: Directory
    name: str
    replaces: bool = False  # what has the name already
    goes_on: bool = False  # an earlier run may have written it
    is_only: bool = False  # the one output of a run: without it nothing was done
    folder: Directory | None = None  # of a Maildir, in whose tmp new messages are written
    old: Old | None = None

    @property
    def path(self) -> str:
        return os.path.join(self.parent.path, self.name)  # noqa: PTH118


class Writer:
    """Writes the files of one process of a run; what the run has written it does not replace.

    Two names are one file where the file system takes them for one ("A" and "a").
    """

    def __init__(self) -> None:
        self._identities: set[tuple[int, int]] = set()
        self._swept: set[str] = set()

    def put(
        self,
        place: Place,
        pieces: Iterable[bytes],
        like: os.stat_result | None,
        wanted: Callable[[], bool] = lambda: True,
    ) -> str:
        """Write a file, with the mode and the times of another one, and return its directory.

        That is "" where none is `wanted` when all pieces are written, or an earlier run has written
        it. That this file cannot be written is an `InputError`, that none can an `OutputError`.
        """
        mode = 0o666 if like is None else 0o600
        with files.failing(place.path, is_only=place.is_only):
            self._refuse(place)
            below = place.folder.below("tmp") if place.folder else nullcontext(place.parent)
            with below as made_in:
                if made_in.path not in self._swept:
                    self._swept.add(made_in.path)
                    directories.sweep(made_in)
                with directories.NewFile(made_in, place.name, mode) as made:
                    made.write(pieces)
                    if not wanted():
                        return ""
                    if place.old is not None:
                        keep_attributes(place.old, made)
                    status = made.finish(like)
                    is_new = _name(made_in, made.name, place)
        self._identities.add(identity(status))
        return place.parent.path if is_new else ""

    def write(self, output: Output, pieces: Iterable[bytes], like: os.stat_result | None) -> str:
        *steps, name = output.parts
        flags = output.replaces, output.goes_on, output.is_only
        with files.failing(output.path, is_only=output.is_only), ExitStack() as stack:
            parent = stack.enter_context(opened_below(output.root, steps, make=True))
            folder = None
            if output.in_maildir:
                folder = stack.enter_context(opened_below(output.root, steps[:-1]))
            return self.put(Place(parent, name, *flags, folder), pieces, like)

    def _refuse(self, place: Place) -> None:
        """Refuse what came into the place of an output since it was planned."""
        try:
            there = place.parent.stat(place.name)
        except FileNotFoundError:
            return
        path = printable(place.path)
        if not stat.S_ISREG(there.st_mode):
            raise InputError(f"{path} is not a regular file: not replaced")
        if place.old is None and identity(there) in self._identities:
            text = "another output of this run has this name here: give it another directory"
            raise InputError(f"{path}: {text}")
        if not (place.replaces or place.goes_on):
            raise _there(place)


def identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _there(place: Place) -> InputError:
    without = "" if place.folder else " without --force"
    return InputError(f"{printable(place.path)} is there already: not replaced{without}")


def _name(made_in: Directory, made: str, place: Place) -> bool:
    """Give a new file its name; return False where a file with the same content has it."""
    old, is_new = place.old, True
    if old is not None:
        try:
            refuse_changed(place.parent.stat(old.name), old.status)
        except FileNotFoundError:
            raise InputError(_MOVED) from None
        while old.backup is not None:
            backup, is_there = _backup(place.parent, old.name, old.backup)
            with suppress(FileExistsError):
                if not is_there:  # else a run that was killed then did so
                    place.parent.link(old.name, place.parent, backup)
                break
    if place.replaces:
        made_in.replace(made, place.parent, place.name)
    else:
        try:
            _link(made_in, made, place.parent, place.name)
        except FileExistsError:
            is_new = False
            if not place.goes_on or _hash(made_in, made) != _hash(place.parent, place.name):
                raise _there(place) from None
    if old is not None and not place.replaces:
        place.parent.sync()
        with suppress(FileNotFoundError):
            place.parent.unlink(old.name)
    if old is not None and place.folder is not None:
        _refuse_moved(place, place.folder, old)
    return is_new


_MOVED: Final = "it was moved while it was read: nothing was written"


def _refuse_moved(place: Place, folder: Directory, old: Old) -> None:
    """Take the new message away where the old one is seen under another name, with other flags."""
    if old.backup or old.descriptor is None or not os.fstat(old.descriptor).st_nlink:
        return
    unique = old.name.partition(":")[0].partition(",")[0]
    seen: set[tuple[int, int]] = set()
    for box in ("cur", "new"):
        with folder.below(box) as opened:
            for name in opened.names():
                if name.startswith(unique):
                    with suppress(FileNotFoundError):
                        seen.add(identity(opened.stat(name)))
    if identity(old.status) in seen:
        place.parent.unlink(place.name)
        raise InputError(_MOVED)


def refuse_changed(now: os.stat_result, read: os.stat_result) -> None:
    fields = "st_dev", "st_ino", "st_size", "st_mtime_ns"
    if any(getattr(now, name) != getattr(read, name) for name in fields):
        raise ChangedError("it changed while it was read: nothing was written, try again")


def _link(made_in: Directory, made: str, parent: Directory, name: str) -> None:
    """Give a new file a name; `FileExistsError` where somebody has it."""
    try:
        made_in.link(made, parent, name)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno in files.STOPPING:
            raise
        with suppress(FileNotFoundError):
            parent.stat(name)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        # No hard links here: whoever makes the name in this moment loses it.
        made_in.replace(made, parent, name)


def _hash(parent: Directory, name: str) -> bytes:
    import hashlib  # noqa: PLC0415 (start-up time)

    with open(parent.open_old(name), "rb") as file:  # noqa: PTH123 (a descriptor)
        return hashlib.file_digest(file, "sha256").digest()


def _backup(parent: Directory, name: str, suffix: str) -> tuple[str, bool]:
    """The first of `x.bak`, `x.bak.1`, ... that no other file has, and whether this one has it."""
    old = identity(parent.stat(name))
    for end in chain(("",), (f".{number}" for number in count(1))):
        backup = f"{name}{suffix}{end}"
        try:
            there = identity(parent.stat(backup))
        except FileNotFoundError:
            return backup, False
        if there == old:
            break
    return backup, True


def settle(paths: Iterable[str]) -> None:
    for path in sorted(paths):
        with files.failing(path), directories.unless_unsettled(), opened_directory(path) as opened:
            opened.sync()


# A file system without extended attributes, or one where only root can set them.
_UNSUPPORTED: Final = frozenset((errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS))


def keep_attributes(old: Old, made: directories.NewFile) -> None:
    if hasattr(os, "fchown"):
        try:
            os.fchown(made.descriptor, old.status.st_uid, old.status.st_gid)
        except PermissionError:  # only root gives files away, but a group may be one's own
            with suppress(PermissionError):
                os.fchown(made.descriptor, -1, old.status.st_gid)
    if not hasattr(os, "listxattr") or old.descriptor is None:
        return
    names: list[str] = []
    try:
        names = os.listxattr(old.descriptor)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    for name in names:
        value = os.getxattr(old.descriptor, name)
        try:
            os.setxattr(made.descriptor, name, value)
        except OSError as error:
            # security.* and trusted.* are the system's own, and set by it.
            if name.startswith(("user.", "system.posix_acl")):
                raise
            if error.errno not in {*_UNSUPPORTED, errno.EPERM, errno.EACCES}:
                raise


@contextmanager
def place_of(source: OpenInput, how: Options, roots: Mapping[str, Directory]) -> Iterator[Place]:
    if source.name == STDIN or source.status is None:
        raise InputError("it is not a regular file: nothing can be written in its place")
    root, steps, name = _way(source.input, how)
    with ExitStack() as stack:
        try:
            held = roots.get(root)
            parent = stack.enter_context(opened_below(root, steps, held=held))
            folder = None
            if is_message(os.path.join(root, *steps, name)):  # noqa: PTH118
                folder = stack.enter_context(opened_below(root, steps[:-1], held=held))
            there = parent.stat(name)
        except OSError as error:
            raise InputError(error.strerror or str(error)) from None
        if stat.S_ISLNK(there.st_mode):
            text = "it is a symbolic link: give --follow-symlinks to rewrite what it leads to"
            raise InputError(text)
        if there.st_nlink > 1 and not how.break_hardlinks:
            is_kept = how.backup is not None and _backup(parent, name, how.backup)[1]
            if there.st_nlink > 1 + is_kept:
                text = f"it has {there.st_nlink} names (hard links), of which one would be replaced"
                raise InputError(f"{text}: give --break-hardlinks if that is right")
        refuse_changed(there, source.status)
        old = Old(name, source.status, source.descriptor, how.backup)
        yield Place(parent, name, replaces=True, goes_on=True, folder=folder, old=old)


def _way(one: Input, how: Options) -> tuple[str, list[str], str]:
    if one.root:
        *steps, name = one.parts
        return one.root, steps, name
    # Resolved once: what the link leads to afterwards does not matter.
    directory, name = os.path.split(os.path.realpath(one.name) if how.follow_symlinks else one.name)
    if is_message(os.path.join(directory, name)):  # noqa: PTH118
        root, box = os.path.split(os.path.abspath(directory))  # noqa: PTH100
        return root, [box], name
    return directory, [], name


# How long others have to finish a delivery, in seconds, and how often it is tried.
PATIENCE: Final = 10.0
_PAUSE: Final = 0.1


@contextmanager
def locked(source: OpenInput, how: Options) -> Iterator[OpenInput]:
    """Hold the locks of a mailbox (fcntl and the dot lock), and yield it as it is under them."""
    path = os.path.realpath(source.name) if how.follow_symlinks else source.name
    folder, name = os.path.split(path)
    shown, dot, until = printable(path), f"{name}.lock", time.monotonic() + PATIENCE
    with ExitStack() as stack:
        try:
            parent = stack.enter_context(opened_directory(folder))
            while not _lock(path, parent, dot, stack):
                if time.monotonic() >= until:
                    why = "another program has locked it"
                    if os.path.lexists(f"{path}.lock"):
                        why = f"there is a lock, {shown}.lock"
                    text = f"{why}: wait for it, or rewrite a copy with -o"
                    raise OutputError(f"{shown}: {text}")
                time.sleep(_PAUSE)
        except OSError as error:
            text = f"it cannot be locked: {error.strerror or error}"
            raise OutputError(f"{shown}: {text}") from None
        yield files.rewound(source)


# In the dot lock of a run, which is locked itself until the process ends.
_OWN: Final = b"relbase\n"


def _lock(path: str, parent: Directory, dot: str, stack: ExitStack) -> bool:
    """Take both locks until a stack ends; return False where somebody has one."""
    _break_own(parent, dot)
    with ExitStack() as taken, suppress(BlockingIOError, FileExistsError):
        file = taken.enter_context(open(path, "r+b"))  # noqa: PTH123 (the name as it was given)
        directories.lock_as_mail(file.fileno())
        with suppress(PermissionError):  # then nothing can be replaced there: reported when it is
            made = taken.enter_context(directories.NewFile(parent, dot))
            made.write((_OWN,))
            _link(parent, made.name, parent, dot)
            taken.callback(_unlock, parent, dot, made)
            with suppress(FileNotFoundError):
                parent.unlink(made.name)
        stack.push(taken.pop_all())
        return True
    return False


def _unlock(parent: Directory, dot: str, made: directories.NewFile) -> None:
    if os.name == "nt":  # it removes no open file
        made.close()
    with suppress(FileNotFoundError):
        parent.unlink(dot)


def _break_own(parent: Directory, dot: str) -> None:
    """Remove the dot lock of a run that was killed; nobody else's."""
    with suppress(OSError), ExitStack() as stack:
        descriptor = parent.open_old(dot)
        stack.callback(os.close, descriptor)
        is_over = os.read(descriptor, len(_OWN) + 1) == _OWN and directories.lock(descriptor)
        # Another run may have removed it meanwhile, and made its own.
        if is_over and os.path.samestat(os.fstat(descriptor), parent.stat(dot)):
            parent.unlink(dot)
