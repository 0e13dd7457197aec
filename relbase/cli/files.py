"""Files in, files out, by the names that the user gave: a document names no file (threat W7).

Strategy: an input is opened once and looked at through its descriptor, so that nothing can be put
in its place in between. An output is written to a new file in its directory, which replaces the
old one when it is complete: at every moment there is the old content or the new. Where outputs go
is planned, and clashes are refused, before the first is written.

To mind: an output that is no regular file is refused, not replaced; `-o /dev/null` would remove
the device. Nothing follows a symbolic link in the place of an output.
"""

from __future__ import annotations

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
    from collections.abc import Callable, Iterator, Sequence

    from relbase.cli.outcome import Tally

# The name of standard input, as an argument and in messages.
STDIN: Final = "-"

_OWN_BITS: Final = 0o777  # of a mode: setuid, setgid and sticky are not copied


class InputError(Exception):
    """An input cannot be read, for the reason in the text; the others can be processed."""


class Source(NamedTuple):
    """An input that has been read.

    Args:
        name: as the user gave it, `STDIN` for standard input.
        shown: the name for messages.
        data: its bytes.
        status: mode and times of the regular file it was read from, None for anything else.
    """

    name: str
    shown: str
    data: bytes
    status: os.stat_result | None


def process(inputs: Sequence[str], work: Callable[[Source], None], tally: Tally) -> None:
    """Give each input to `work`; what cannot be processed is told and counted, and the next comes.

    Args:
        inputs: names; none at all is standard input.
        work: what to do with one.
        tally: where failed inputs are counted.
    """
    if inputs.count(STDIN) > 1:
        raise click.UsageError("'-' is standard input, which can be read once: give it once")
    for name in inputs or (STDIN,):
        try:
            work(read(name))
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 (one bad document of many stops no others)
            streams.warn(f"{shown_name(name)}: error: {_reason(error)}")
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


def read(name: str) -> Source:
    """Return an input, read whole.

    Args:
        name: of a regular file, of a pipe with a name, or `STDIN`.

    Raises:
        InputError: if it cannot be read.
    """
    try:
        if name == STDIN:
            return Source(name, shown_name(name), _read_standard_input(), None)
        with open(name, "rb") as file:  # noqa: PTH123 (the name as it was given)
            before = os.fstat(file.fileno())
            _check_readable(before.st_mode)
            data = file.read()
            after = os.fstat(file.fileno())
    except IsADirectoryError:
        raise InputError(_DIRECTORY) from None
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None
    regular = stat.S_ISREG(before.st_mode)
    if regular and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise InputError("it changed while it was read: try again")
    return Source(name, shown_name(name), data, before if regular else None)


_DIRECTORY: Final = "it is a directory: give the files in it, as in directory/*.html"


def _check_readable(mode: int) -> None:
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise InputError("it is a device: give a file, or - for standard input")


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise InputError("standard input is closed: give a file")
    if sys.stdin.isatty():
        streams.warn("reading standard input, which Ctrl-D ends; --help tells more")
    return sys.stdin.buffer.read()


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
    """

    __slots__ = ("_identities",)

    def __init__(self) -> None:
        self._identities: set[tuple[int, int]] = set()

    def write(self, path: str, data: bytes, like: os.stat_result | None) -> None:
        """Write an output in one step, with the mode and the time of its input.

        Args:
            path: its name.
            data: its bytes.
            like: of the input, None when that is no regular file.

        Raises:
            OutputError: if it cannot be written: then it is as it was before.
        """
        directory, name = os.path.split(path)
        try:
            with _opened(directory or ".") as parent:
                self._write(parent, path, name, data, like)
        except OSError as error:
            raise OutputError(f"{printable(path)}: {error.strerror or error}") from None

    def _write(
        self, parent: int, path: str, name: str, data: bytes, like: os.stat_result | None
    ) -> None:
        # Planned long ago: somebody may have put something else there in between.
        with suppress(FileNotFoundError):
            there = os.stat(name, dir_fd=parent, follow_symlinks=False)
            if not stat.S_ISREG(there.st_mode):
                raise OutputError(f"{printable(path)}: it is no regular file: not replaced")
            if _identity(there) in self._identities:
                text = "another output of this run has this name here: give it another directory"
                raise OutputError(f"{printable(path)}: {text}")
        temporary = f".{name[:40]}.{secrets.token_hex(8)}.relbase-tmp"
        try:
            made = _write_new(parent, temporary, data, like)
            os.replace(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary, dir_fd=parent)
            raise
        self._identities.add(_identity(made))


@contextmanager
def _opened(directory: str) -> Iterator[int]:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _write_new(parent: int, name: str, data: bytes, like: os.stat_result | None) -> os.stat_result:
    """Write a file that is not there yet, to the disk: a rename may reach it before the content."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    # Nobody else reads a document before it has the mode of the original.
    descriptor = os.open(name, flags, 0o666 if like is None else 0o600, dir_fd=parent)
    with open(descriptor, "wb") as file:  # noqa: PTH123 (a descriptor)
        file.write(data)
        file.flush()
        if like is not None:
            os.fchmod(descriptor, like.st_mode & _OWN_BITS)
            os.utime(descriptor, ns=(like.st_atime_ns, like.st_mtime_ns))
        os.fsync(descriptor)
        return os.fstat(descriptor)
