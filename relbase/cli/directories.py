"""Directories to read files from and write files into, on different systems.

All access to a directory goes through its descriptor, so nobody can put another directory in its
place in between. Windows lacks these calls.

What a run makes and does not keep (an unfinished file, a lock) is `Owned`: noted before it is made,
and removed at the end of a `with`. If a signal comes between, the end of the process removes it.
"""

from __future__ import annotations

import atexit
import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias

from relbase.cli import windows
from relbase.expressions import expression

if TYPE_CHECKING:
    from io import BufferedReader

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_temporary: Final = expression(r"\..*\.[0-9a-f]{16}\.relbase-tmp", re.DOTALL)


def _flag(*names: str) -> int:
    """The flags of `os.open` with these names, as far as the system has them."""
    return sum(getattr(os, name, 0) for name in names)


_READING: Final = os.O_RDONLY | _flag("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY", "O_NOCTTY")
_MAKING: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _flag("O_NOFOLLOW", "O_BINARY")
_ENTERING: Final = os.O_RDONLY | _flag("O_DIRECTORY")

# Whether files are reached through the descriptor of their directory.
_NEEDED: Final = {os.open, os.stat, os.unlink, os.rename, os.mkdir}
BY_DESCRIPTOR = hasattr(os, "O_DIRECTORY") and os.supports_dir_fd >= _NEEDED


class Directory(AbstractContextManager["Directory"]):
    """A directory that is open until the `with` ends. On Windows the descriptor is None."""

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: str, descriptor: int | None) -> None:
        self.path = path
        self._descriptor = descriptor

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def __reduce__(self) -> tuple[Callable[[str], Directory], tuple[str]]:
        # A process that was spawned, not forked, does not share the descriptors.
        return opened_directory, (self.path,)

    def _at(self, name: str) -> str:
        if self._descriptor is not None:
            return name
        return windows.reached(os.path.join(self.path, name))

    def open_old(self, name: str) -> BufferedReader:
        """Open a file for reading; a symbolic link is an error, and a pipe does not block."""
        at, path = self._descriptor, self._at(name)
        there = None if BY_DESCRIPTOR else self.stat(name)
        if there is not None and stat.S_ISLNK(there.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
        return open(path, "rb", opener=lambda path, _: os.open(path, _READING, dir_fd=at))

    def open_new(self, name: str, mode: int) -> int:
        return os.open(self._at(name), _MAKING, mode, dir_fd=self._descriptor)

    def stat(self, name: str) -> os.stat_result | None:
        """Return the status of a name, not following symbolic links; None if it does not exist."""
        with suppress(FileNotFoundError):
            return os.stat(self._at(name), follow_symlinks=False, dir_fd=self._descriptor)
        return None

    def unlink(self, name: str) -> bool:
        """Remove a name; return whether it existed."""
        with suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self._descriptor)
            return True
        return False

    def replace(self, old: str, into: Directory, new: str) -> None:
        """Move a file of this directory to a name in a directory, replacing what has the name."""
        ends = {"src_dir_fd": self._descriptor, "dst_dir_fd": into._descriptor}
        from_, to = self._at(old), into._at(new)
        windows.patiently(lambda: os.replace(from_, to, **ends))

    def link(self, old: str, into: Directory, new: str) -> None:
        """Give a file of this directory a second name in a directory; it must not exist yet."""
        ends = {"src_dir_fd": self._descriptor, "dst_dir_fd": into._descriptor}
        follow = os.link not in os.supports_follow_symlinks
        os.link(self._at(old), into._at(new), **ends, follow_symlinks=follow)

    def make(self, name: str) -> None:
        """Make a directory in this one and bring its name to the disk, unless it exists."""
        try:
            os.mkdir(self._at(name), dir_fd=self._descriptor)
        except FileExistsError:
            return
        self.sync()

    def below(self, name: str) -> Directory:
        """Open a directory in this one; a symbolic link is an error."""
        path = os.path.join(self.path, name)
        return _opened(path, self._at(name), _flag("O_NOFOLLOW"), at=self._descriptor)

    def sync(self) -> None:
        if self._descriptor is not None:
            with unless_unsettled():
                os.fsync(self._descriptor)

    def names(self) -> list[str]:
        by_name = self._descriptor is None or os.listdir not in os.supports_fd
        return os.listdir(windows.reached(self.path) if by_name else self._descriptor)


# Some file systems cannot bring a directory alone to the disk, and some directories can be written
# to but not read.
_UNSETTLED: Final = frozenset((errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES))


@contextmanager
def unless_unsettled() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno not in _UNSETTLED:
            raise


def opened_directory(path: str) -> Directory:
    return _opened(path or ".", path or ".")


def _opened(path: str, reached: str, *flags: int, at: int | None = None) -> Directory:
    """Open a directory; `reached` is its name in the one that is open as `at`."""
    if BY_DESCRIPTOR:
        return Directory(path, os.open(reached, _ENTERING | sum(flags), dir_fd=at))
    status = os.stat(windows.reached(path), follow_symlinks=not flags)
    if not stat.S_ISDIR(status.st_mode) or (flags and windows.is_junction(status)):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    return Directory(path, None)


@contextmanager
def opened_below(
    root: str, parts: Sequence[str], *, make: bool = False, held: Directory | None = None
) -> Iterator[Directory]:
    """Open a directory inside another (`held` if it is open), following no symbolic links."""
    with ExitStack() as stack:
        directory = held or stack.enter_context(opened_directory(root))
        for part in parts:
            if make:
                directory.make(part)
            inner = directory.below(part)
            stack.close()  # a tree may have more levels than files can be open
            directory = stack.enter_context(inner)
        yield directory


_IsOwn: TypeAlias = Callable[[Directory, os.stat_result], bool]


class Owned(AbstractContextManager["Owned"]):
    """A name in a directory. What has it when the `with` ends is removed, if `is_own` says so."""

    def __init__(self, parent: Directory, name: str, is_own: _IsOwn = lambda *_: True) -> None:
        self.parent, self._name, self._is_own = parent, name, is_own
        _owned[id(self)] = self

    def __exit__(self, *_: object) -> None:
        self.remove(self.parent)
        _owned.pop(id(self), None)

    def remove(self, parent: Directory) -> None:
        with suppress(OSError):
            there = parent.stat(self._name)
            if there is not None and self._is_own(parent, there):
                windows.patiently(lambda: parent.unlink(self._name))


_owned: Final[dict[int, Owned]] = {}


@atexit.register
def remove_owned() -> None:
    """Remove what a signal kept from being removed, when the process ends."""
    while _owned:
        owned = _owned.popitem()[1]
        with suppress(OSError), opened_directory(owned.parent.path) as parent:  # closed by now
            owned.remove(parent)


def disown() -> None:
    """Leave what a process owns to it, in a fork of it."""
    _owned.clear()


class NewFile(AbstractContextManager["NewFile"]):
    """A locked file that is being written. It is removed unless it gets another name."""

    def __init__(self, parent: Directory, name: str, mode: int = 0o600) -> None:
        self._parent, self.descriptor = parent, -1
        for _ in range(8):  # another run may remove it, as if a killed run had left it
            self.name = f".{name[:40]}.{os.urandom(8).hex()}.relbase-tmp"
            self._owned = Owned(parent, self.name)
            try:
                self.descriptor = parent.open_new(self.name, mode)
            except OSError:
                self._owned.__exit__()
                raise
            is_own = lock(self.descriptor) is not False
            if is_own and (windows.HERE or os.fstat(self.descriptor).st_nlink != 0):
                return
            self.__exit__()
        raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), name)

    def __exit__(self, *_: object) -> None:
        self.close()
        self._owned.__exit__()

    def write(self, pieces: Iterable[bytes]) -> None:
        for piece in pieces:
            rest = memoryview(piece)
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]

    def add_stream(self, name: str, data: bytes) -> None:
        """Write a second content, as Windows has it: `name` begins with a colon."""
        descriptor = self._parent.open_new(f"{self.name}{name}", 0o600)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)

    def finish(self, like: os.stat_result | None) -> os.stat_result:
        """Bring the content to the disk, before a rename gets there, and return its status."""
        times = (like.st_atime_ns, like.st_mtime_ns) if like else None
        if like is not None and hasattr(os, "fchmod"):
            os.fchmod(self.descriptor, like.st_mode & 0o777)  # without setuid, setgid and sticky
        if times and not _CLOSED_FIRST:
            os.utime(self.descriptor, ns=times)
        os.fsync(self.descriptor)
        status = os.fstat(self.descriptor)
        if _CLOSED_FIRST:
            self.close()
        if times and _CLOSED_FIRST:
            path = os.path.join(self._parent.path, self.name)
            os.utime(windows.reached(path), ns=times)
        return status

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


# Windows can neither rename an open file nor set its times.
_CLOSED_FIRST: Final = os.utime not in os.supports_fd


def lock(descriptor: int) -> bool | None:
    """Lock a file until it is closed; False if somebody has it, None if locks are not supported."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (AttributeError, OSError):
        return None
    return True


@contextmanager
def locked_as_mail(path: str) -> Iterator[None]:
    """Take the lock that mail programs take; raise `BlockingIOError` if another has it."""
    try:
        with open(path, "r+b") as file:
            if fcntl is not None:
                fcntl.lockf(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield
                return
    except PermissionError as error:
        if getattr(error, "winerror", None) == _SHARING:
            raise BlockingIOError(error.errno, error.strerror) from None
        raise
    yield  # Windows: nothing but a file that is closed can be replaced


_SHARING: Final = 32  # ERROR_SHARING_VIOLATION


def remove_if_over(parent: Directory, name: str, is_known: Callable[[BinaryIO], bool]) -> None:
    """Remove a file of a killed run: one that `is_known` knows, and that nobody has locked."""
    with suppress(OSError):
        before = parent.stat(name)
        if before is None or not stat.S_ISREG(before.st_mode):
            return
        with parent.open_old(name) as file:
            status = os.fstat(file.fileno())
            if not (stat.S_ISREG(status.st_mode) and is_known(file)):
                return
            there = parent.stat(name) if lock(file.fileno()) else None
            # Another run may have removed it meanwhile, and made its own.
            if there is not None and os.path.samestat(status, there):
                parent.unlink(name)
        if windows.HERE:  # a run that lives has its file open, so this fails
            parent.unlink(name)


def sweep(parent: Directory) -> None:
    """Remove files of killed runs from a directory: those that nobody has locked."""
    names: list[str] = []
    with suppress(OSError):  # a directory that can be written to but not read
        names = parent.names()
    for name in filter(_temporary.fullmatch, names):
        remove_if_over(parent, name, lambda _: True)
