"""Maildir (maildir(5)) and Maildir++: which files are messages, and how a copy is delivered.

Each message, in `new` and `cur` of the Maildir and of its sub-folders (`.Sent`), is an input of its
own. What else lies there (indexes of a server) tells of the old messages and is not copied.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from relbase.cli import streams
from relbase.cli.directories import opened_directory
from relbase.cli.files import BOXES, Input, InputError, Output, is_maildir, shown_name
from relbase.cli.outputs import refuse_inside
from relbase.cli.streams import printable
from relbase.cli.writing import settle
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

_DIRECTORIES: Final = frozenset((*BOXES, "tmp"))

_MARK: Final = "maildirfolder"  # what Maildir++ has in a sub-folder

_MODE: Final = 0o700  # its owner alone reads mail

# At most this number of the names that are not copied are listed.
_LISTED: Final = 10


def messages(
    name: str, failed: Callable[[str, Exception], None], *, follow: bool = False
) -> list[Input]:
    found: list[Input] = []
    # What is followed is reached by its name, all else from the Maildir alone.
    root = "" if follow else name
    try:
        for folder in _folders(name):
            if follow or _is_real(os.path.join(name, folder), failed):  # noqa: PTH118
                for box in BOXES:
                    found += _messages(_entries(name, folder, box), root, failed)
    except OSError as error:
        failed(name, InputError(error.strerror or str(error)))
    return found


def _is_real(folder: str, failed: Callable[[str, Exception], None]) -> bool:
    """Whether the directories of a folder are its own: a symbolic link may lead anywhere."""
    paths = [os.path.join(folder, directory) for directory in sorted(_DIRECTORIES)]  # noqa: PTH118
    links = list(filter(os.path.islink, paths))
    text = "it is a symbolic link: not followed without rewrite --follow-symlinks"
    for path in links:
        failed(path, InputError(text))
    return not links


def _entries(*steps: str) -> list[os.DirEntry[str]]:
    with os.scandir(os.path.join(*steps)) as entries:  # noqa: PTH118
        return sorted(entries, key=lambda entry: entry.name)


def _folders(root: str) -> list[str]:
    """The Maildir itself, and its sub-folders by name."""
    # A symbolic link may lead out of the Maildir that was given.
    inner = [entry for entry in _entries(root) if entry.is_dir(follow_symlinks=False)]
    return ["", *(one.name for one in inner if one.name.startswith(".") and is_maildir(one.path))]


def _messages(
    entries: Iterable[os.DirEntry[str]], root: str, failed: Callable[[str, Exception], None]
) -> Iterator[Input]:
    """The files of `new` or `cur`; names that begin with a dot are none of messages."""
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_file(follow_symlinks=False):
            yield Input(entry.path, root)
        else:
            failed(entry.path, InputError("it is not a regular file: left out"))


def copies(
    original: str, copy: str, messages: Sequence[Input], *, goes_on: bool
) -> dict[str, Output]:
    if os.path.lexists(copy) and not os.path.isdir(copy):  # noqa: PTH112
        text = f"'{printable(copy)}' is not a directory: a Maildir goes into one, give -o DIRECTORY"
        raise click.UsageError(text)
    refuse_inside(copy, original)
    made = set() if os.path.lexists(copy) else {os.path.dirname(os.path.abspath(copy))}  # noqa: PTH100, PTH120
    folders = _folders(original)
    for folder in folders:
        path = os.path.join(copy, folder)  # noqa: PTH118
        made.add(path)
        for directory in sorted(_DIRECTORIES):
            os.makedirs(os.path.join(path, directory), _MODE, exist_ok=True)  # noqa: PTH103, PTH118
        if os.path.lexists(os.path.join(original, folder, _MARK)):  # noqa: PTH118
            with opened_directory(path) as opened, suppress(FileExistsError):
                os.close(opened.open_new(_MARK, 0o600))
    left = sorted(_left(original, folders))
    if left:
        shown = ", ".join(map(printable, left[:_LISTED]))
        more = f" and {len(left) - _LISTED} more" if len(left) > _LISTED else ""
        text = f"not copied, since they are not messages: {shown}{more}"
        streams.warn(f"{shown_name(original)}: {text}")
    settle(made)
    return {
        one.name: Output(
            copy, tuple(Input(one.name, original).parts), goes_on=goes_on, in_maildir=True
        )
        for one in messages
    }


def _left(original: str, folders: Iterable[str]) -> Iterator[str]:
    known = {*_DIRECTORIES, _MARK}
    for folder in folders:
        for entry in _entries(original, folder):
            if entry.name not in known and (folder or entry.name not in folders):
                yield os.path.join(folder, entry.name)  # noqa: PTH118
        for box in BOXES:
            for entry in _entries(original, folder, box):
                if entry.name.startswith("."):
                    yield os.path.join(folder, box, entry.name)  # noqa: PTH118


# Dovecot: ",S=" the size of the file, ",W=" its size with CRLF at the end of each line; then ":2,"
# and the flags, or nothing.
_size: Final = expression(r",([SW])=[0-9]++(?=[,:]|\Z)")


def sized(name: str, data: bytes) -> str:
    r"""Return the name of a message with the sizes that it has."""
    unique, colon, flags = name.partition(":")
    bare = data.count(b"\n") - data.count(b"\r\n")
    sizes = {"S": len(data), "W": len(data) + bare}
    return _size.sub(lambda found: f",{found[1]}={sizes[found[1]]}", unique) + colon + flags
