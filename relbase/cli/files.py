"""Files and objects, by names that the user gave and never by a document's (threat W7)."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from itertools import chain
from typing import BinaryIO, Final, NamedTuple

from relbase import storage
from relbase.cli import windows
from relbase.cli.directories import Directory, opened_below
from relbase.cli.streams import SHOWN, OutputError, in_shell, printable, warn
from relbase.cli.windows import reached, relative
from relbase.expressions import expression
from relbase.formats.sniffing import LOOKED_AT, beginning
from relbase.url.credentials import masked

PIECE: Final = 1 << 18  # bytes that are read at a time
STDIN: Final = "-"  # the name of standard input
ZONE: Final = ":Zone.Identifier"  # Windows: the stream of a file that says where it is from


class Input(NamedTuple):
    name: str  # of its file, as the user gave it or as the walk of a tree found it
    root: str = ""  # the tree or Maildir that it was found in; "" if the user named it
    listed: bool = False  # by --files-from: an output keeps its directories

    @property
    def parts(self) -> tuple[str, ...]:
        if self.root:
            return tuple((relative(self.name, self.root) or self.name).split(os.sep))
        if self.listed:
            return tuple(os.path.normpath(self.name).split(os.sep))
        name = self.name.partition("?")[0] if is_object(self.name) else self.name
        return (os.path.basename(name),)


class Inputs(NamedTuple):
    all: list[Input]
    trees: tuple[str, ...]  # the directories that were walked
    mailboxes: list[str]  # the Maildirs
    listed: bool  # whether a list was given, which may be empty
    several: bool  # whether there may be more than one document, a container counting as one
    passed: str  # what was skipped in trees, in words


class Old(NamedTuple):
    """A file to replace, as it was when it was opened."""

    name: str
    status: os.stat_result
    file: BinaryIO
    backup: str | None  # the suffix of the name that keeps its content


class Output(NamedTuple):
    root: str  # the directory of the output, which can be a symbolic link
    parts: tuple[str, ...]  # the names from there to the file
    replaces: bool = False  # an existing file
    goes_on: bool = False  # an interrupted run may have written it without a report
    is_only: bool = False  # the user named this one file: without it the run fails
    in_maildir: bool = False  # new messages are written in its tmp first
    old: Old | None = None

    @property
    def path(self) -> str:
        return os.path.join(self.root, *self.parts)

    @property
    def shown(self) -> str:
        root = self.root if self.old else self.root or "."
        return os.path.join(root, *self.parts)


_archive_name: Final = expression(r"\.w?arc(?:\.(gz|zst))?$", re.IGNORECASE)


def packing_of(name: str) -> str | None:
    match = _archive_name.search(name)
    return (match[1] or "").lower() if match else None


def is_object(name: str) -> bool:
    return storage.is_url(name) and not os.path.lexists(name)


class InputError(Exception):
    """An input cannot be read, for the reason in the text; the others can be processed."""


class SelfCheckError(Exception):
    """The result of a rewrite is wrong, for the reason in the text: nothing was written."""


class ChangedError(InputError):
    """An input was written to by another program while it was read."""


class SweptError(ChangedError):
    """The unfinished output was removed by another process, as if a killed run had left it."""


# Other errors concern one file; after these no other file can be written either.
STOPPING: Final = frozenset(
    getattr(errno, name) for name in ("ENOSPC", "EIO", "EROFS", "EDQUOT") if hasattr(errno, name)
)


@contextmanager
def failing(path: str, *, is_only: bool = True) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        text = f"{printable(path)}: {error.strerror or error}"
        stops = is_only or error.errno in STOPPING
        folder = os.path.dirname(path)
        is_missing = folder and not folder.endswith(":") and not os.path.lexists(folder)
        if error.errno == errno.ENOENT and is_missing:
            command = in_shell("mkdir", folder) if windows.HERE else in_shell("mkdir", "-p", folder)
            text += printable(f" ({command} makes its directory)")
        raise (OutputError(text) if stops else InputError(text)) from None


class OpenInput(NamedTuple):
    input: Input
    name: str  # of the input
    shown: str  # the name for messages
    pieces: Iterator[bytes]  # the first has `PIECE` bytes or all, others any size
    status: os.stat_result | None  # of the regular file it is read from, None for anything else
    file: BinaryIO


# Directories of a Maildir (maildir(5)) or its sub-folder (Maildir++: `.Sent`): with messages, all.
BOXES: Final = ("new", "cur")
MAILDIR: Final = ("cur", "new", "tmp")


def entries(*steps: str) -> list[os.DirEntry[str]]:
    with os.scandir(reached(os.path.join(*steps))) as scanned:
        return sorted(scanned, key=lambda entry: entry.name)


def maildir_folders(root: str) -> list[str]:
    """Return the names of the folders of a Maildir, "" for itself."""
    # A symbolic link may lead out of the Maildir that was given.
    inner = [entry for entry in entries(root) if entry.is_dir(follow_symlinks=False)]
    dotted = (entry for entry in inner if entry.name.startswith("."))
    return ["", *(entry.name for entry in dotted if is_maildir(entry.path))]


def is_maildir(path: str) -> bool:
    return all(os.path.isdir(os.path.join(path, box)) for box in BOXES)


def is_message(name: str) -> bool:
    """Return whether a file is among the messages of a Maildir, whatever its suffix."""
    root, box = os.path.split(os.path.dirname(os.path.abspath(name)))
    return name != STDIN and box in BOXES and is_maildir(root)


def reason(error: Exception) -> str:
    if isinstance(error, InputError):
        return str(error)
    if isinstance(error, MemoryError):
        return "it does not fit into memory"
    import traceback

    *_, (frame, number) = traceback.walk_tb(error.__traceback__)
    what = printable(f"{type(error).__name__}: {error}")[:SHOWN]
    place = f"line {number} of {printable(frame.f_code.co_filename)}"
    return f"this is a bug in relbase, please report it with the document: {what}, in {place}"


def shown_name(name: str) -> str:
    return "<stdin>" if name == STDIN else printable(masked(name) if "://" in name else name)


@contextmanager
def opened(input_: Input, roots: Mapping[str, Directory] | None = None) -> Iterator[OpenInput]:
    """Open an input for reading; `roots` are the directories that are open already."""
    is_piped = input_.name == STDIN
    if is_piped and sys.stdin is None:
        raise InputError("standard input is closed: give a file")
    if is_piped and sys.stdin.isatty():
        warn("reading standard input (Ctrl-D ends it); see --help")
    root = (roots or {}).get(input_.root)
    file, status = (sys.stdin.buffer, None) if is_piped else _open(input_, root)
    with nullcontext() if is_piped else file:
        names = input_.name, shown_name(input_.name)
        yield OpenInput(input_, *names, pieces_of(file, status), status, file)


@contextmanager
def seekable(source: OpenInput) -> Iterator[BinaryIO]:
    """Open an input again, for reading from anywhere; `source` keeps its position."""
    with opened(source.input) as again:
        if not again.file.seekable():
            raise InputError("it must be read twice, which a pipe does not allow: give a file")
        if source.status and not (again.status and os.path.samestat(again.status, source.status)):
            raise InputError("it was replaced by another file while it was read")
        yield again.file


def again(source: OpenInput, offset: int = 0) -> Iterator[bytes]:
    with seekable(source) as file:
        file.seek(offset)
        while piece := file.read(PIECE):
            yield piece


def is_read_again(source: OpenInput) -> bool:
    return source.status is not None or is_object(source.name)


def peeked(source: OpenInput) -> tuple[bytes, OpenInput]:
    first = next(source.pieces, b"")
    return first, source._replace(pieces=chain((first,), source.pieces))


def with_end(source: OpenInput, first: bytes) -> bytes:
    """Return the first piece of an input, and its last bytes if they may tell its kind."""
    size = source.status.st_size if source.status else 0
    if size <= len(first) or not beginning(first).startswith(b"{"):
        return first
    with seekable(source) as file:
        file.seek(max(len(first), size - LOOKED_AT))
        return first + file.read(LOOKED_AT)


def _open(input_: Input, root: Directory | None) -> tuple[BinaryIO, os.stat_result | None]:
    """Open a file, or an object, which has no status."""
    if is_object(input_.name):
        try:
            storage.refuse_unknown([input_.name], "give a file")
            return storage.open_archive(input_.name), None
        except (OSError, ValueError) as error:
            raise InputError(str(error)) from None
    try:
        if input_.root:
            # If a symbolic link has replaced what the walk found, it is not followed.
            with opened_below(input_.root, input_.parts[:-1], held=root) as directory:
                file = directory.open_old(input_.parts[-1])
        else:
            file = open(reached(input_.name), "rb")  # noqa: SIM115 (closed by `opened`)
    except IsADirectoryError:
        text = "it is a directory: give it as an INPUT, or list the files in it"
        raise InputError(text) from None
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode):
        return file, status
    if stat.S_ISFIFO(status.st_mode) and not input_.root:
        return file, None
    file.close()
    raise InputError("it is a device: give a file, or - for standard input")


def pieces_of(file: BinaryIO, before: os.stat_result | None) -> Iterator[bytes]:
    """The bytes of a file; raises at the end if it changed since `before`."""
    try:
        while piece := file.read(PIECE):
            yield piece
        after = os.fstat(file.fileno()) if before else None
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None
    states = {(state.st_size, state.st_mtime_ns) for state in (before, after) if state is not None}
    if len(states) > 1:
        raise ChangedError("it changed while it was read: try again")
