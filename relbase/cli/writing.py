"""How a file is written: one way for outputs, for files that are replaced, and for Maildirs.

In a Maildir the name can change with the size of the message. Then both names exist for a moment:
better twice than lost.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from itertools import chain, count
from typing import TYPE_CHECKING, Final

from relbase.cli import directories, files, windows
from relbase.cli.directories import Directory, opened_below, opened_directory
from relbase.cli.files import (
    STDIN,
    ChangedError,
    InputError,
    Old,
    OpenInput,
    Output,
    SweptError,
    is_message,
)
from relbase.cli.streams import printable

if TYPE_CHECKING:
    from relbase.cli.jobs import Options


_NOT_REGULAR: Final = "it is not a regular file: nothing can be written in its place"


def refuse_special(name: str) -> None:
    with suppress(OSError):
        if not stat.S_ISREG(mode := os.stat(name).st_mode) and not stat.S_ISDIR(mode):
            raise InputError(_NOT_REGULAR)


class Writer:
    """Writes the files of one process of a run, and does not replace files that it wrote itself.

    It knows these by identity, since a file system may treat two names ("A" and "a") as one.
    `roots` are the directories that are open already.
    """

    def __init__(self, roots: Mapping[str, Directory] | None = None) -> None:
        self._roots = roots or {}
        self._identities: set[tuple[int, int]] = set()
        self._swept: set[str] = set()

    def write(
        self,
        output: Output,
        pieces: Iterable[bytes],
        like: os.stat_result | None,
        has_changed: Callable[[], bool] = lambda: True,
    ) -> str:
        """Write a file, with the mode and the times of another one, and return its directory.

        Return "" if an earlier run has written it, or if the content of the file to be replaced has
        not changed. Raise `InputError` if this file cannot be written, and `OutputError` if no file
        can.
        """
        if windows.is_null(output.path):
            deque(pieces, maxlen=0)
            return ""
        *steps, name = output.parts
        mode, held = 0o666 if like is None else 0o600, self._roots.get(output.root)
        box = steps.pop() if output.in_maildir else ""
        with files.failing(output.shown, is_only=output.is_only), ExitStack() as stack:
            makes = output.old is None
            if makes and (why := windows.why_refused(output.parts)):
                raise InputError(f"{printable(output.shown)} cannot be made: {why}")
            folder = stack.enter_context(opened_below(output.root, steps, make=makes, held=held))
            parent = made_in = folder
            if box:  # new messages are written in the tmp of a Maildir
                parent, made_in = (stack.enter_context(folder.below(step)) for step in (box, "tmp"))
            self._refuse(parent, output)
            self._sweep(made_in)
            made = stack.enter_context(directories.NewFile(made_in, name, mode))
            made.write(pieces)
            if output.old is not None:
                if not has_changed():
                    return ""
                keep_attributes(output.old, made)
                if windows.HERE:  # where it is from, and whether to trust it
                    zone = f"{output.old.name}{files.ZONE}"
                    with suppress(OSError), parent.open_old(zone) as stream:
                        made.add_stream(files.ZONE, stream.read(files.PIECE))
            try:
                status = made.finish(like)
                is_new = _name(folder, made_in, made.name, parent, output)
            except FileNotFoundError:
                if made_in.stat(made.name) is not None:
                    raise
                # Another process swept it; on Windows it can be closed for a moment.
                raise SweptError("another run removed the unfinished file: try again") from None
            if output.old is not None and box and not output.old.file.closed:
                _refuse_moved(folder, parent, name, output.old)
        self._identities.add(identity(status))
        return parent.path if is_new else ""

    def _sweep(self, made_in: Directory) -> None:
        """Remove what killed runs left in a directory, the first time that it is named."""
        if made_in.path not in self._swept:
            self._swept.add(made_in.path)
            directories.sweep(made_in)

    def _refuse(self, parent: Directory, output: Output) -> None:
        """Refuse to replace what has appeared at an output's path since it was planned."""
        there = parent.stat(output.parts[-1])
        if output.old is not None:
            refuse_changed(parent.stat(output.old.name), output.old.status)
        if there is None:
            return
        if not stat.S_ISREG(there.st_mode):
            raise InputError(f"{printable(output.shown)} is not a regular file: not replaced")
        if output.old is None and identity(there) in self._identities:
            text = "another output of this run has the same name: give it another directory"
            raise InputError(f"{printable(output.shown)}: {text}")
        if not (output.replaces or output.goes_on):
            raise _there(output)

    def in_place(self, source: OpenInput, how: Options) -> Output:
        """Return the output that replaces an input; raise `InputError` if that is impossible."""
        file = source.input
        if file.name == STDIN or source.status is None:
            raise InputError(_NOT_REGULAR)
        # Resolved once, so that a later change of the link does not matter.
        path = os.path.realpath(file.name) if how.follow_symlinks and not file.root else file.name
        in_maildir = is_message(path)
        (root, name), steps = os.path.split(path), file.parts[:-1] if file.root else ()
        if steps or (file.root and not in_maildir):
            root = file.root
        elif in_maildir:  # named, or found in its cur or new
            root, box = os.path.split(os.path.abspath(root))
            steps = (box,)
        old = Old(name, source.status, source.file, how.backup)
        output = Output(root, (*steps, name), replaces=True, goes_on=True, old=old)
        output = output._replace(in_maildir=in_maildir)
        try:
            held = self._roots.get(root)
            with opened_below(root, output.parts[:-1], held=held) as parent:
                there = parent.stat(name)
                if there is not None and stat.S_ISLNK(there.st_mode):
                    text = "give --follow-symlinks to rewrite its target"
                    raise InputError(f"it is a symbolic link: {text}")
                refuse_changed(there, source.status)
                if there is not None and there.st_nlink > 1 and not how.break_hardlinks:
                    self._refuse_hardlinks(parent, output, how.backup)
        except OSError as error:
            raise InputError(error.strerror or str(error)) from None
        return output

    def _refuse_hardlinks(self, parent: Directory, output: Output, suffix: str | None) -> None:
        """Refuse to replace one of several hard links; those that a killed run made are none."""
        *steps, name = output.parts
        if output.in_maildir:
            steps[-1] = "tmp"
        held = self._roots.get(output.root)
        with suppress(OSError), opened_below(output.root, steps, held=held) as made_in:
            self._sweep(made_in)  # it was killed when the new file had its second name
        there = parent.stat(name)
        links = there.st_nlink if there is not None else 0
        is_kept = suffix and _is_backed_up(parent, name, suffix)
        if links > 1 + bool(is_kept):
            text = f"it has {links} hard links, and only one of them would be replaced"
            raise InputError(f"{text}: give --break-hardlinks if that is what you want")


def _name(
    folder: Directory, made_in: Directory, made: str, parent: Directory, output: Output
) -> bool:
    """Give a new file its name; return False if a file with the same content has it."""
    old = output.old
    with ExitStack() as stack:
        if old is not None:
            # Windows replaces no file that is open. Nothing is lost by closing it now: who writes
            # to it or moves it from here on is noticed by its name, number, size and time, as
            # everywhere (threat P2); who still has it open there keeps it from being replaced.
            if windows.HERE:
                old.file.close()
                # Nothing happens, or it is refused before there is a backup, which would stay.
                parent.replace(old.name, parent, old.name)
            refuse_changed(parent.stat(old.name), old.status)
            if old.backup is not None:
                _is_backed_up(parent, old.name, old.backup, stack)
        return _place(folder, made_in, made, parent, output)


def _place(
    folder: Directory, made_in: Directory, made: str, parent: Directory, output: Output
) -> bool:
    name, old = output.parts[-1], output.old
    if output.replaces:
        made_in.replace(made, parent, name)
        return True
    is_new = True
    try:
        link(made_in, made, parent, name)
    except FileExistsError:
        is_new = False
        if not output.goes_on or _hash(made_in, made) != _hash(parent, name):
            raise _there(output) from None
    if old is not None:
        parent.sync()
        if not parent.unlink(old.name) and old.file.closed:
            # In the moment since it was closed it was moved, or another run replaced it as well:
            # then what has the name is the only copy.
            _refuse_moved(folder, parent, name, old)
    return is_new


def _refuse_moved(folder: Directory, parent: Directory, name: str, old: Old) -> None:
    """Remove the new message if the old one has moved to another name."""
    if old.backup or not (old.file.closed or os.fstat(old.file.fileno()).st_nlink):
        return
    unique = old.name.partition(":")[0].partition(",")[0]
    for box in files.BOXES:
        with folder.below(box) as opened:
            names = (entry for entry in opened.names() if entry.startswith(unique))
            seen = [there for there in map(opened.stat, names) if there is not None]
        if any(os.path.samestat(there, old.status) for there in seen):
            parent.unlink(name)
            raise InputError(_MOVED)


def identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _there(output: Output) -> InputError:
    without = "" if output.in_maildir else " without --force"
    return InputError(f"{printable(output.shown)} already exists: not replaced{without}")


_MOVED: Final = "it was moved while it was read: nothing was written"


def refuse_changed(now: os.stat_result | None, read: os.stat_result) -> None:
    if now is None:
        raise InputError(_MOVED)
    fields = "st_dev", "st_ino", "st_size", "st_mtime_ns"
    if any(getattr(now, name) != getattr(read, name) for name in fields):
        raise ChangedError("it changed while it was read: nothing was written, try again")


def link(made_in: Directory, made: str, parent: Directory, name: str) -> None:
    """Give a new file a name; raise `FileExistsError` if the name is taken."""
    try:
        made_in.link(made, parent, name)
    except FileExistsError:
        raise
    except (OSError, NotImplementedError) as error:
        if isinstance(error, OSError) and error.errno in files.STOPPING:
            raise
        if parent.stat(name) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        # No hard links here: a file that is made with this name right now is replaced.
        made_in.replace(made, parent, name)


def _hash(parent: Directory, name: str) -> bytes:
    import hashlib

    with parent.open_old(name) as file:
        return hashlib.file_digest(file, "sha256").digest()


def _is_backed_up(
    parent: Directory, name: str, suffix: str, stack: ExitStack | None = None
) -> bool:
    """Return whether a file has one of the names `x.bak`, `x.bak.1`, ...

    With a stack it gets one, and loses it when the stack is closed if it was not replaced by then.
    """
    own = parent.stat(name)

    def is_left(parent: Directory, there: os.stat_result) -> bool:
        now = parent.stat(name)
        return now is not None and os.path.samestat(now, there)

    for end in chain(("",), (f".{number}" for number in count(1))):
        backup = f"{name}{suffix}{end}"
        there = parent.stat(backup)
        if there is None and stack is not None:
            stack.enter_context(directories.Owned(parent, backup, is_left))
            with suppress(FileExistsError):
                parent.link(name, parent, backup)
            there = parent.stat(backup)  # another program may have been faster
        is_own = there is not None and own is not None and os.path.samestat(there, own)
        if is_own or (there is None and stack is None):
            break
    return there is not None


# The content of a run's dot lock; the run keeps that file locked until it ends.
DOT_LOCK: Final = b"relbase\n"


def remove_lock(parent: Directory, dot: str) -> None:
    """Remove the dot lock of a killed run, and nobody else's."""
    directories.remove_if_over(parent, dot, lambda held: held.read(len(DOT_LOCK) + 1) == DOT_LOCK)


def sweep_after(name: str, output: Output | None) -> None:
    """Remove what a process left that was stopped while it wrote an output, or replaced a file."""
    folder, file = os.path.split(output.path if output is not None else name)
    in_maildir = is_message(name) if output is None else output.in_maildir
    if in_maildir:
        folder = os.path.join(os.path.dirname(folder), "tmp")
    with suppress(OSError), opened_directory(folder) as parent:
        directories.sweep(parent)
        remove_lock(parent, f"{file}.lock")


def settle(paths: Iterable[str]) -> None:
    for path in sorted(filter(None, paths)):
        with files.failing(path), directories.unless_unsettled(), opened_directory(path) as opened:
            opened.sync()


# A file system without extended attributes, or one where only root can set them.
_UNSUPPORTED: Final = frozenset((errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS))


def keep_attributes(old: Old, made: directories.NewFile) -> None:
    if hasattr(os, "fchown"):
        try:
            os.fchown(made.descriptor, old.status.st_uid, old.status.st_gid)
        except PermissionError:  # only root can give files away, but users can set their own groups
            with suppress(PermissionError):
                os.fchown(made.descriptor, -1, old.status.st_gid)
    if not hasattr(os, "listxattr"):
        return
    try:
        names = os.listxattr(old.file.fileno())
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return
    for name in names:
        value = os.getxattr(old.file.fileno(), name)
        # The system sets security.* and trusted.* itself.
        is_own = not name.startswith(("user.", "system.posix_acl"))
        with suppress(*[OSError] if is_own else ()):
            os.setxattr(made.descriptor, name, value)
