"""`--in-place`: which file is replaced, and which is not.

To mind: a rename breaks what hangs on the old file. A symbolic link would be replaced by a file,
and a file with several names would become two. Both are refused unless they are asked for.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from relbase.cli import maildir
from relbase.cli.directories import opened_below
from relbase.cli.files import InputError
from relbase.cli.inputs import STDIN
from relbase.cli.writing import Old, Place, refuse_changed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from relbase.cli.directories import Directory
    from relbase.cli.files import OpenInput
    from relbase.cli.inputs import Input


class InPlace(NamedTuple):
    """How files are replaced."""

    backup: str | None = None  # the suffix of the name that keeps the old content
    follow: bool = False  # the file that a symbolic link leads to is replaced
    break_links: bool = False  # a file with several names is replaced under the given one


@contextmanager
def place_of(source: OpenInput, how: InPlace, roots: Mapping[str, Directory]) -> Iterator[Place]:
    """Open the directory of an input that is replaced."""
    if source.name == STDIN or source.status is None:
        raise InputError("it is not a regular file: nothing can be written in its place")
    root, steps, name = _way(source.input, how)
    with ExitStack() as stack:
        try:
            held = roots.get(root)
            parent = stack.enter_context(opened_below(root, steps, held=held))
            folder = None
            if maildir.is_message(os.path.join(root, *steps, name)):  # noqa: PTH118
                folder = stack.enter_context(opened_below(root, steps[:-1], held=held))
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
        old = Old(name, source.status, source.descriptor, how.backup)
        yield Place(parent, name, replaces=True, goes_on=True, folder=folder, old=old)


def _way(one: Input, how: InPlace) -> tuple[str, list[str], str]:
    """The directory that an input is reached from, the steps from there, and its name."""
    if one.root:
        *steps, name = one.parts
        return one.root, steps, name
    # Resolved once: what the link leads to afterwards does not matter.
    path = os.path.realpath(one.name) if how.follow else one.name
    directory, name = os.path.split(path)
    if maildir.is_message(path):
        root, box = os.path.split(os.path.abspath(directory))  # noqa: PTH100
        return root, [box], name
    return directory, [], name
