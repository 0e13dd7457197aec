"""Files in, files out, by the names that the user gave: a document names no file (threat W7).

Strategy: an input is opened once and looked at through its descriptor, so that nothing can be put
in its place in between. An output is written to a new file in its directory, which replaces the
old one when it is complete: at every moment there is the old content or the new. Where outputs go
is planned, and clashes are refused, before the first is written. The content is on the disk before
it has its name, and the names of all files are before the run is done (`settle`).

To mind: an output that is no regular file is refused, not replaced; `-o /dev/null` would remove
the device. Nothing follows a symbolic link in the place of an output.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
import traceback
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from relbase.cli import streams
from relbase.cli.outcome import OutputError
from relbase.cli.streams import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import BinaryIO

    from relbase.cli.outcome import Tally

# The name of standard input, as an argument and in messages.
STDIN: Final = "-"

# How much is read at a time, in bytes.
PIECE: Final = 1 << 18

_OWN_BITS: Final = 0o777  # of a mode: setuid, setgid and sticky are not copied


class InputError(Exception):
    """An input cannot be read, for the reason in the text; the others can be processed."""


class Source(NamedTuple):
    """An input that is open.

    Args:
        name: as the user gave it, `STDIN` for standard input.
        shown: the name for messages.
        pieces: its bytes, in pieces of any size but the first: that has `PIECE` bytes, or all.
        status: mode and times of the regular file it is read from, None for anything else.
    """

    name: str
    shown: str
    pieces: Iterator[bytes]
    status: os.stat_result | None


def process(inputs: Sequence[str], work: Callable[[Source], None], tally: Tally) -> None:
    """Give each input to `work`; what cannot be processed is told and counted, and the next comes.

    Args:
        inputs: names.
        work: what to do with one.
        tally: where failed inputs are counted.
    """
    if inputs.count(STDIN) > 1:
        raise click.UsageError("'-' is standard input, which can be read once: give it once")
    for name in inputs:
        with told(shown_name(name), tally), opened(name) as source:
            work(source)


@contextmanager
def told(shown: str, tally: Tally) -> Iterator[None]:
    """Tell and count an input that cannot be processed; what ends the run is passed on.

    Args:
        shown: the input's name for messages.
        tally: where failed inputs are counted.
    """
    try:
        yield
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:  # noqa: BLE001 (one bad document of many stops no others)
        streams.warn(f"{shown}: error: {_reason(error)}")
        tally.failed += 1


def _reason(error: Exception) -> str:
    """Why an input could not be processed."""
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "it is too large for the memory"
    *_, (frame, number) = traceback.walk_tb(error.__traceback__)
    what = printable(f"{type(error).__name__}: {error}")[: streams.SHOWN]
    place = f"line {number} of {printable(frame.f_code.co_filename)}"
    return f"a defect of relbase, please report it with the document: {what}, in {place}"


def shown_name(name: str) -> str:
    """Return the name of an input for messages."""
    return "<stdin>" if name == STDIN else printable(name)


@contextmanager
def opened(name: str) -> Iterator[Source]:
    """Open an input for reading.

    Args:
        name: of a regular file, of a pipe with a name, or `STDIN`.

    Raises:
        InputError: if it cannot be read; its pieces raise it too.
    """
    shown = shown_name(name)
    if name == STDIN:
        yield Source(name, shown, _pieces(_standard_input(), None), None)
        return
    with _open(name) as file:
        status = os.fstat(file.fileno())
        regular = status if stat.S_ISREG(status.st_mode) else None
        yield Source(name, shown, _pieces(file, regular), regular)


def _open(name: str) -> BinaryIO:
    try:
        file = open(name, "rb")  # noqa: PTH123, SIM115 (the name as it was given; closed by `opened`)
    except IsADirectoryError:
        raise InputError(_DIRECTORY) from None
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None
    mode = os.fstat(file.fileno()).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        file.close()
        raise InputError("it is a device: give a file, or - for standard input")
    return file


def _pieces(file: BinaryIO, before: os.stat_result | None) -> Iterator[bytes]:
    """The bytes of a file; an error at its end when it changed since `before`."""
    try:
        while piece := file.read(PIECE):
            yield piece
        after = os.fstat(file.fileno()) if before else None
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None
    if before and after and _state(before) != _state(after):
        raise InputError("it changed while it was read: try again")


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


_DIRECTORY: Final = "it is a directory: give the files in it, as in directory/*.html"


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise InputError("standard input is closed: give a file")
    if sys.stdin.isatty():
        streams.warn("reading standard input, which Ctrl-D ends; --help tells more")
    return sys.stdin.buffer


# ---- where outputs go


def plan(inputs: Sequence[str], output: str) -> dict[str, str]:
    """Return the path of each input's output, and make the directory they go to.

    Args:
        inputs: names.
        output: what -o says: a directory if it is one, ends in a slash, or there are several
            inputs; else a file.

    Raises:
        click.UsageError: if outputs clash with one another, with an input, or with what is there.
    """
    several = os.path.isdir(output) or output.endswith("/") or len(inputs) > 1  # noqa: PTH112
    paths = _paths_in(output, inputs) if several else {inputs[0]: output}
    _refuse_inputs(paths)
    for path in paths.values():
        _refuse_irregular(path)
    if several:
        try:
            os.makedirs(output, exist_ok=True)  # noqa: PTH103
        except OSError as error:
            raise OutputError(f"{printable(output)}: {error.strerror}") from None
    return paths


def _paths_in(directory: str, inputs: Sequence[str]) -> dict[str, str]:
    paths: dict[str, str] = {}
    names: dict[str, str] = {}
    for name in inputs:
        if name == STDIN:
            text = "standard input has no name for an output in a directory: give it alone, -o FILE"
            raise click.UsageError(text)
        if os.path.isdir(name):  # noqa: PTH112 (no output: told when it is read)
            continue
        file_name = os.path.basename(name)  # noqa: PTH119 (the name as it was given)
        if file_name in names:
            first, second = printable(names[file_name]), printable(name)
            fix = "rewrite them with two commands, into two directories"
            raise click.UsageError(f"'{first}' and '{second}' would have one output: {fix}")
        names[file_name] = name
        paths[name] = os.path.join(directory, file_name)  # noqa: PTH118
    if os.path.lexists(directory) and not os.path.isdir(directory):  # noqa: PTH112
        text = (
            f"'{printable(directory)}' is no directory: several inputs need one for their outputs"
        )
        raise click.UsageError(text)
    return paths


def _refuse_inputs(paths: dict[str, str]) -> None:
    """Refuse an output that is an input: hard and symbolic links are seen through."""
    identities = {}
    for name in paths:
        if name != STDIN:
            with suppress(OSError):  # told when it is read
                identities[_identity(os.stat(name))] = name  # noqa: PTH116
    for path in paths.values():
        with suppress(FileNotFoundError, NotADirectoryError):
            found = identities.get(_identity(os.stat(path)))  # noqa: PTH116
            if found is not None:
                text = f"the output '{printable(path)}' is the input '{printable(found)}'"
                raise click.UsageError(f"{text}: give another name or directory with -o")


def _refuse_irregular(path: str) -> None:
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a directory"}
    what = kinds.get(stat.S_IFMT(mode), "no regular file")
    fix = "leave -o out to write to standard output, or give another name"
    raise click.UsageError(f"the output '{printable(path)}' is {what}: {fix}")


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


# ---- writing


class Written:
    """The outputs of one run.

    Two names may be one file where the file system does not tell them apart ("A" and "a"): what
    this run has written it does not replace.

    Attributes:
        directories: where they are, for `settle`.
    """

    __slots__ = ("_identities", "directories")

    def __init__(self) -> None:
        self._identities: set[tuple[int, int]] = set()
        self.directories: set[str] = set()

    def write(self, path: str, pieces: Iterable[bytes], like: os.stat_result | None) -> None:
        """Write an output in one step, with the mode and the time of its input.

        Args:
            path: its name.
            pieces: its bytes, in pieces of any size.
            like: of the input, None when that is no regular file.

        Raises:
            OutputError: if it cannot be written: then it is as it was before.
        """
        directory, name = os.path.split(path)
        try:
            with _opened(directory or ".") as parent:
                self._write(parent, path, name, pieces, like)
            self.directories.add(directory or ".")
        except OSError as error:
            raise OutputError(f"{printable(path)}: {error.strerror or error}") from None

    def _write(
        self,
        parent: int,
        path: str,
        name: str,
        pieces: Iterable[bytes],
        like: os.stat_result | None,
    ) -> None:
        # Planned long ago: somebody may have put something else there in between.
        with suppress(FileNotFoundError):
            there = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if not stat.S_ISREG(there.st_mode):
                raise OutputError(f"{printable(path)}: it is no regular file: not replaced")
            if _identity(there) in self._identities:
                text = "another output of this run has this name here: give it another directory"
                raise OutputError(f"{printable(path)}: {text}")
        with temporary(parent, name, pieces, like) as (made, status):
            os.replace(made, name, src_dir_fd=parent, dst_dir_fd=parent)
        self._identities.add(_identity(status))


def settle(directories: Iterable[str]) -> None:
    """Bring the names in directories to the disk, once for all files of a run.

    Args:
        directories: their names.

    Raises:
        OutputError: if the disk fails.
    """
    for directory in sorted(directories):
        try:
            with _opened(directory) as descriptor:
                os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _UNSETTLED:
                raise OutputError(f"{printable(directory)}: {error.strerror or error}") from None


# There are file systems that bring no directory to the disk on their own, and directories that may
# be written to and not read.
_UNSETTLED: Final = frozenset((errno.EINVAL, errno.ENOTSUP, errno.EBADF, errno.EACCES))


@contextmanager
def _opened(directory: str) -> Iterator[int]:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def temporary(
    parent: int, name: str, pieces: Iterable[bytes], like: os.stat_result | None
) -> Iterator[tuple[str, os.stat_result]]:
    """Write a file of a name that nobody has, which is removed unless it gets another name.

    Args:
        parent: descriptor of the directory for it.
        name: what it is to be called in the end.
        pieces: its bytes, in pieces of any size.
        like: of the input whose mode and time it gets, None for none.
    """
    made = f".{name[:40]}.{secrets.token_hex(8)}.relbase-tmp"
    try:
        yield made, _write_new(parent, made, pieces, like)
    finally:
        with suppress(OSError):
            os.unlink(made, dir_fd=parent)


def _write_new(
    parent: int, name: str, pieces: Iterable[bytes], like: os.stat_result | None
) -> os.stat_result:
    """Write a file that is not there yet, to the disk: a rename may reach it before the content."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    # Nobody else reads a document before it has the mode of the original.
    descriptor = os.open(name, flags, 0o666 if like is None else 0o600, dir_fd=parent)
    with open(descriptor, "wb") as file:  # noqa: PTH123 (a descriptor)
        file.writelines(pieces)
        file.flush()
        if like is not None:
            os.fchmod(descriptor, like.st_mode & _OWN_BITS)
            os.utime(descriptor, ns=(like.st_atime_ns, like.st_mtime_ns))
        os.fsync(descriptor)
        return os.fstat(descriptor)
