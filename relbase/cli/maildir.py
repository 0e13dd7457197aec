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
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from relbase.cli import streams
from relbase.cli.directories import new_file, opened_directory
from relbase.cli.files import InputError, shown_name
from relbase.cli.inplace import Target, keep_attributes, refuse_changed
from relbase.cli.inputs import Input
from relbase.cli.outcome import OutputError
from relbase.cli.streams import printable
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.cli.directories import Directory
    from relbase.cli.files import OpenInput
    from relbase.cli.outputs import Written

_BOXES: Final = ("new", "cur")
_DIRECTORIES: Final = frozenset((*_BOXES, "tmp"))

# What Maildir++ has in a sub-folder to say that it is one.
_MARK: Final = "maildirfolder"

# Mail is read by its owner alone.
_MODE: Final = 0o700

# Of the names that are not copied so many are listed.
_LISTED: Final = 10


def is_maildir(path: str) -> bool:
    """Return whether a directory is a Maildir: `tmp` may be missing in a copy of one."""
    return all(os.path.isdir(os.path.join(path, box)) for box in _BOXES)  # noqa: PTH112, PTH118


def is_message(name: str) -> bool:
    """Return whether a file lies where a Maildir has its messages."""
    box = os.path.dirname(os.path.abspath(name))  # noqa: PTH100, PTH120
    root, box = os.path.split(box)
    return box in _BOXES and is_maildir(root)


def messages(name: str, failed: Callable[[str, Exception], None]) -> list[Input]:
    """Return the messages of a Maildir and its sub-folders."""
    found: list[Input] = []
    try:
        for folder in _folders(name):
            for box in _BOXES:
                found += _messages(os.path.join(name, folder, box), failed)  # noqa: PTH118
    except OSError as error:
        failed(name, InputError(error.strerror or str(error)))
    return found


def _folders(root: str) -> list[str]:
    """The Maildir itself, and its sub-folders by name."""
    with os.scandir(root) as entries:
        found = [entry.name for entry in entries if _is_folder(entry)]
    return ["", *sorted(found)]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    # A symbolic link may lead out of the Maildir that was given.
    is_directory = entry.is_dir(follow_symlinks=False)
    return is_directory and entry.name.startswith(".") and is_maildir(entry.path)


def _messages(box: str, failed: Callable[[str, Exception], None]) -> list[Input]:
    """The files of `new` or `cur` by name; names that begin with a dot are none of messages."""
    with os.scandir(box) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    found: list[Input] = []
    for entry in listed:
        if entry.name.startswith("."):
            continue
        if entry.is_file(follow_symlinks=False):
            found.append(Input(entry.path))
        else:
            failed(entry.path, InputError("it is not a regular file: left out"))
    return found


# ---- the copy


class Delivery:
    """The copy of a Maildir, which grows by a message at a time.

    Args:
        original: the directory of the Maildir.
        copy: the directory of the copy, which is made.
        goes_on: whether an earlier run may have put messages into the copy.

    Attributes:
        directories: what was made, for `outputs.settle`.

    Raises:
        click.UsageError: if one of the directories lies in the other, or the copy is a file.
        OutputError: if the directories cannot be made.
    """

    __slots__ = ("_copy", "_goes_on", "_original", "directories")

    def __init__(self, original: str, copy: str, *, goes_on: bool = False) -> None:
        _refuse(original, copy)
        self._goes_on = goes_on
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
            text = f"not copied, since they are not messages: {shown}{more}"
            streams.warn(f"{shown_name(original)}: {text}")

    def _make(self, folder: str) -> None:
        path = os.path.join(self._copy, folder)  # noqa: PTH118
        self.directories.add(path)
        for directory in sorted(_DIRECTORIES):
            os.makedirs(os.path.join(path, directory), _MODE, exist_ok=True)  # noqa: PTH103, PTH118
        if os.path.lexists(os.path.join(self._original, folder, _MARK)):  # noqa: PTH118
            with opened_directory(path) as made, suppress(FileExistsError):
                os.close(made.open_new(_MARK, 0o600))

    def deliver(self, name: str, data: bytes, like: os.stat_result | None, *, changed: bool) -> str:
        """Put a message into the copy.

        Returns:
            the directory that it was put into; "" where an earlier run has done so.

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
                opened_directory(os.path.join(path, os.pardir, "tmp"), follow=False) as tmp,  # noqa: PTH118
                opened_directory(path, follow=False) as box,
                new_file(tmp, file_name) as made,
            ):
                made.write((data,))
                made.finish(like)
                try:
                    tmp.link(made.name, box, file_name)
                except FileExistsError:
                    if not (self._goes_on and _holds(box, file_name, data)):
                        raise
                    return ""
        except FileExistsError:
            there = printable(os.path.join(path, file_name))  # noqa: PTH118
            raise InputError(f"{there} is there already: not replaced") from None
        except OSError as error:
            where = printable(os.path.join(path, file_name))  # noqa: PTH118
            raise OutputError(f"{where}: {error.strerror or error}") from None
        return path


def _holds(box: Directory, name: str, data: bytes) -> bool:
    with open(box.open_old(name), "rb") as file:  # noqa: PTH123 (a descriptor)
        return file.read(len(data) + 1) == data


def _refuse(original: str, copy: str) -> None:
    """Refuse a copy inside of its original, and the other way round."""
    if os.path.lexists(copy) and not os.path.isdir(copy):  # noqa: PTH112
        text = f"'{printable(copy)}' is not a directory: a Maildir goes into one, give -o DIRECTORY"
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


# ---- in place


def replace(source: OpenInput, place: Target, data: bytes, written: Written) -> str:
    """Put a message in the place of an old one: written into `tmp`, then given its name.

    Returns:
        the directory that it is in.

    Raises:
        InputError: if the message changed since it was read, or was moved: then it stays.
        OutputError: if the new one cannot be written: then the old one stays.

    Sizes in the name follow. Then it is another name, and both are there for a moment: a message
    that stands twice is better than one that is lost.
    """
    name = sized(place.name, data)
    tmp_name = os.path.join(place.parent.path, os.pardir, "tmp")  # noqa: PTH118
    try:
        with opened_directory(tmp_name, follow=False) as tmp:
            written.sweep(tmp)
            with new_file(tmp, name) as made:
                made.write((data,))
                keep_attributes(source, made, place.status)
                made.finish(place.status)
                refuse_changed(place.parent.stat(place.name), place.status)
                if name == place.name:
                    tmp.replace(made.name, place.parent, name)
                else:
                    tmp.link(made.name, place.parent, name)
                    place.parent.sync()
                    place.parent.unlink(place.name)
    except FileNotFoundError:
        raise InputError("it was moved while it was read: nothing was written") from None
    except OSError as error:
        raise OutputError(f"{printable(place.path)}: {error.strerror or error}") from None
    return place.parent.path


# ---- names


# Dovecot: ",S=" the size of the file, ",W=" its size with CRLF at the end of each line; then ":2,"
# and the flags, or nothing.
_size: Final = expression(r",([SW])=[0-9]++(?=[,:]|\Z)")


def sized(name: str, data: bytes) -> str:
    r"""Return the name of a message with the sizes that it has.

    >>> sized("1.M2P3.host,S=9,W=9:2,FS", b"a\nb\r\n")
    '1.M2P3.host,S=5,W=6:2,FS'
    """
    unique, colon, flags = name.partition(":")
    bare = data.count(b"\n") - data.count(b"\r\n")
    sizes = {"S": len(data), "W": len(data) + bare}
    return _size.sub(lambda found: f",{found[1]}={sizes[found[1]]}", unique) + colon + flags
