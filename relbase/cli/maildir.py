"""Maildir (maildir(5)) and Maildir++: which files are messages, and how a copy is delivered.

Strategy: a Maildir as an input stands for its messages, the files in `new` and `cur` of itself and
of its sub-folders (`.Sent`, `.Sent.2024`), each an input of its own. `tmp` is never read. A message
is delivered as any: written into `tmp` of the copy and then linked to its name, which fails where
there is a file already. The unique part of the name and the flags stay, and so do mode and time.
The sizes that Dovecot keeps in a name follow the message.

To mind: what else lies in a Maildir (indexes and lists of a server) tells of the old messages and
is not copied. A symbolic link in the place of a message is an error, since it may lead out of the
Maildir, and so is what may have no end, as a pipe. Names in the copy come from the names in the
original alone.
"""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import click

from relbase.cli import files, streams
from relbase.cli.files import InputError
from relbase.cli.outcome import OutputError
from relbase.cli.streams import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.cli.outcome import Tally

_BOXES: Final = ("new", "cur")
_DIRECTORIES: Final = frozenset((*_BOXES, "tmp"))

# What Maildir++ has in a sub-folder to tell that it is one.
_MARK: Final = "maildirfolder"

# Mail is read by its owner alone.
_MODE: Final = 0o700

# Of the names that are not copied so many are listed.
_LISTED: Final = 10


def is_maildir(path: str) -> bool:
    """Tell whether a directory is a Maildir: `tmp` may be missing in a copy of one."""
    return all(os.path.isdir(os.path.join(path, box)) for box in _BOXES)  # noqa: PTH112, PTH118


def is_message(name: str) -> bool:
    """Tell whether a file lies where a Maildir has its messages."""
    box = os.path.dirname(os.path.abspath(name))  # noqa: PTH100, PTH120
    root, box = os.path.split(box)
    return box in _BOXES and is_maildir(root)


def expanded(inputs: Sequence[str], tally: Tally) -> list[str]:
    """Return the inputs, in the place of each Maildir the names of its messages.

    Args:
        inputs: names; none at all is standard input.
        tally: where a Maildir that cannot be read is counted.
    """
    names: list[str] = []
    for name in inputs or (files.STDIN,):
        if name == files.STDIN or not is_maildir(name):
            names.append(name)
            continue
        with files.told(files.shown_name(name), tally), _readable():
            for folder in _folders(name):
                for box in _BOXES:
                    names += _messages(os.path.join(name, folder, box), tally)  # noqa: PTH118
    return names


def _folders(root: str) -> list[str]:
    """The Maildir itself, and its sub-folders by name."""
    with os.scandir(root) as entries:
        found = [entry.name for entry in entries if _is_folder(entry)]
    return ["", *sorted(found)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    # A symbolic link may lead out of the Maildir that was given.
    is_directory = entry.is_dir(follow_symlinks=False)
    return is_directory and entry.name.startswith(".") and is_maildir(entry.path)


def _messages(box: str, tally: Tally) -> list[str]:
    """The files of `new` or `cur` by name; names that begin with a dot are none of messages."""
    with os.scandir(box) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    names: list[str] = []
    for entry in found:
        if not entry.name.startswith("."):
            with files.told(files.shown_name(entry.path), tally):
                if not entry.is_file(follow_symlinks=False):
                    raise InputError("it is no regular file: left out")
                names.append(entry.path)
    return names


@contextmanager
def _readable() -> Iterator[None]:
    """What cannot be read in it is an error of the input."""
    try:
        yield
    except OSError as error:
        raise InputError(error.strerror or str(error)) from None


# ---- the copy


class Delivery:
    """The copy of a Maildir, which grows by a message at a time.

    Args:
        original: the directory of the Maildir.
        copy: the directory of the copy, which is made.

    Attributes:
        directories: what messages are put into, and what was made for them, for `files.settle`.

    Raises:
        click.UsageError: if one of the directories lies in the other, or the copy is a file.
        OutputError: if the directories cannot be made.
    """

    __slots__ = ("_copy", "_original", "directories")

    def __init__(self, original: str, copy: str) -> None:
        _refuse(original, copy)
        self._original = original
        self._copy = copy
        self.directories: set[str] = set()
        if not os.path.lexists(copy):
            self.directories.add(os.path.dirname(os.path.abspath(copy)))  # noqa: PTH100, PTH120
        try:
            folders = _folders(original)
            for folder in folders:
                self._make(folder)
            left = sorted(_left(original, folders))
        except OSError as error:
            where = printable(str(error.filename or copy))
            raise OutputError(f"{where}: {error.strerror}") from None
        if left:
            shown = ", ".join(map(printable, left[:_LISTED]))
            more = f" and {len(left) - _LISTED} more" if len(left) > _LISTED else ""
            text = f"not copied, since they are no messages: {shown}{more}"
            streams.warn(f"{files.shown_name(original)}: {text}")

    def _make(self, folder: str) -> None:
        path = os.path.join(self._copy, folder)  # noqa: PTH118
        self.directories.add(path)
        for directory in sorted(_DIRECTORIES):
            os.makedirs(os.path.join(path, directory), _MODE, exist_ok=True)  # noqa: PTH103, PTH118
        if os.path.lexists(os.path.join(self._original, folder, _MARK)):  # noqa: PTH118
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW
            os.close(os.open(os.path.join(path, _MARK), flags, 0o600))  # noqa: PTH118

    def deliver(
        self, name: str, data: bytes, like: os.stat_result | None, *, changed: bool
    ) -> None:
        """Put a message into the copy.

        Args:
            name: of the file of the original that it was.
            data: its bytes.
            like: of that file, for mode and time.
            changed: whether it was changed, so that sizes in its name no longer hold.

        Raises:
            InputError: if the copy has such a file already: it stays as it is.
            OutputError: if it cannot be written.
        """
        place, file_name = os.path.split(os.path.relpath(name, self._original))
        path = os.path.join(self._copy, place)  # noqa: PTH118
        if changed:
            file_name = sized(file_name, data)
        try:
            with (
                _opened(os.path.join(path, os.pardir, "tmp")) as tmp,  # noqa: PTH118
                _opened(path) as box,
                files.temporary(tmp, file_name, (data,), like) as (made, _),
            ):
                os.link(made, file_name, src_dir_fd=tmp, dst_dir_fd=box, follow_symlinks=False)
            self.directories.add(path)
        except FileExistsError:
            there = printable(os.path.join(path, file_name))  # noqa: PTH118
            raise InputError(f"{there} is there already: not replaced") from None
        except OSError as error:
            where = printable(os.path.join(path, file_name))  # noqa: PTH118
            raise OutputError(f"{where}: {error.strerror or error}") from None


def _refuse(original: str, copy: str) -> None:
    """Refuse a copy inside of its original, and the other way round."""
    if os.path.lexists(copy) and not os.path.isdir(copy):  # noqa: PTH112
        text = f"'{printable(copy)}' is no directory: a Maildir goes into one, give -o DIRECTORY"
        raise click.UsageError(text)
    inner, outer = os.path.realpath(copy), os.path.realpath(original)
    if os.path.commonpath((inner, outer)) == outer:
        where = "is" if inner == outer else "is inside of"
        text = f"the output '{printable(copy)}' {where} the input '{printable(original)}'"
        raise click.UsageError(f"{text}: give another directory with -o")


def _left(original: str, folders: Iterable[str]) -> Iterator[str]:
    """What lies in a Maildir and is not copied."""
    known = {*_DIRECTORIES, _MARK}
    for folder in folders:
        for name in os.listdir(os.path.join(original, folder)):  # noqa: PTH118, PTH208
            if name not in known and (folder or name not in folders):
                yield os.path.join(folder, name)  # noqa: PTH118
        for box in _BOXES:
            for name in os.listdir(os.path.join(original, folder, box)):  # noqa: PTH118, PTH208
                if name.startswith("."):
                    yield os.path.join(folder, box, name)  # noqa: PTH118


@contextmanager
def _opened(directory: str) -> Iterator[int]:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


# Dovecot: ",S=" the size of the file, ",W=" its size with CRLF at the end of each line; then ":2,"
# and the flags, or nothing.
_size: Final = re.compile(r",([SW])=[0-9]++(?=[,:]|\Z)")


def sized(name: str, data: bytes) -> str:
    r"""Return the name of a message with the sizes that it has.

    Args:
        name: of its file, with or without sizes.
        data: the message.

    >>> sized("1.M2P3.host,S=9,W=9:2,FS", b"a\nb\r\n")
    '1.M2P3.host,S=5,W=6:2,FS'
    """
    unique, colon, flags = name.partition(":")
    bare = data.count(b"\n") - data.count(b"\r\n")
    sizes = {"S": len(data), "W": len(data) + bare}
    return _size.sub(lambda found: f",{found[1]}={sizes[found[1]]}", unique) + colon + flags
