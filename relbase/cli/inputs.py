"""Which files a run is about: names, Maildirs, lists of names, and whole trees.

Strategy: a tree is walked before anything is written, over no symbolic link, by name. What programs
keep beside the pages that they save is skipped and counted: nobody wants it changed.

To mind: a name in a list may be anything but empty. A tree may have a million files, so that what
is kept of each is small.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import click

from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# The name of standard input, as an argument and in messages.
STDIN: Final = "-"


class Input(NamedTuple):
    """One input of a run."""

    name: str  # of its file, as the user gave it or as the walk of a tree found it
    root: str = ""  # the tree or Maildir that it was found in; "" for one that was named
    listed: bool = False  # in a file of names: its directories are kept in an output

    @property
    def parts(self) -> list[str]:
        """The steps from the root to it; its last name alone without a root."""
        if self.root:
            return os.path.relpath(self.name, self.root).split(os.sep)  # noqa: PTH206
        return [os.path.basename(self.name)]  # noqa: PTH119 (the name as it was given)

    @property
    def directory(self) -> str:
        """The directory that its local references stay inside of."""
        return self.root or os.path.dirname(self.name) or "."  # noqa: PTH120


def refuse_twice(names: Sequence[str]) -> None:
    """Refuse standard input where it is given twice."""
    if names.count(STDIN) > 1:
        raise click.UsageError("'-' is standard input, which can be read once: give it once")


# ---- lists of names


def read_list(data: bytes, *, nul: bool) -> list[str]:
    r"""Return the names in a list."""
    if nul:
        return [os.fsdecode(name) for name in data.split(b"\0") if name]
    return [os.fsdecode(name) for line in data.split(b"\n") if (name := line.removesuffix(b"\r"))]


# ---- trees


# Why a name in a tree is left out, in words for the summary.
_HIDDEN: Final = "with a name that begins with a dot"
_LINK: Final = "that are symbolic links"
_SPECIAL: Final = "that are not regular files"
_KEPT: Final = "kept beside a page by a program, or as a backup"

# HTTrack's directory of its own.
_OWN_DIRECTORIES: Final = frozenset(("hts-cache",))

# What stands beside a file and says something of it: wget -K, Windows.
_BESIDE: Final = (".orig", ":Zone.Identifier")

# What keeps a file as it was, as people and editors name it: a second run would change the backups
# of the first.
_BACKUPS: Final = (".bak", ".old", "~")

# --backup numbers what it keeps when there is one already: x.bak, x.bak.1, ...
_NUMBER: Final = expression(r"\.[0-9]++\Z")


def walk(
    root: str,
    failed: Callable[[str, OSError], None],
    sidecars: Iterable[str] = (),
    backup: str | None = None,
) -> tuple[list[Input], Counter[str]]:
    """Return the files of a tree by name, and how many names are skipped for what."""
    found: list[Input] = []
    skipped: Counter[str] = Counter()
    beside = (*_BESIDE, *sidecars)
    backups = _BACKUPS if backup is None else (*_BACKUPS, backup)
    pending = [root]
    while pending:
        directory = pending.pop()
        try:
            with os.scandir(directory) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            failed(directory, error)
            continue
        names = {entry.name for entry in listed}
        inner: list[str] = []
        for entry in listed:
            why = _why_skipped(entry, names, beside, backups)
            if why is not None:
                skipped[why] += 1
            elif entry.is_dir(follow_symlinks=False):
                inner.append(entry.path)
            else:
                found.append(Input(entry.path, root))
        pending += reversed(inner)
    return found, skipped


def _why_skipped(
    entry: os.DirEntry[str], names: set[str], beside: tuple[str, ...], backups: tuple[str, ...]
) -> str | None:
    if entry.name.startswith("."):
        return _HIDDEN
    if entry.is_symlink():
        return _LINK
    if entry.is_dir(follow_symlinks=False):
        return _KEPT if entry.name in _OWN_DIRECTORIES else None
    if not entry.is_file(follow_symlinks=False):
        return _SPECIAL
    for suffix in beside:
        own = entry.name.removesuffix(suffix)
        if entry.name.endswith(suffix) and (own in names or _is_before(own, suffix, names)):
            return _KEPT
    return _KEPT if _is_backup(entry.name, names, backups) else None


def _is_backup(name: str, names: set[str], suffixes: tuple[str, ...]) -> bool:
    """Whether a name is that of another file with the end of a backup, perhaps numbered."""
    unnumbered = _NUMBER.sub("", name)
    return any(
        one.endswith(suffix) and one.removesuffix(suffix) in names
        for one in (name, unnumbered)
        for suffix in suffixes
    )


def _is_before(own: str, suffix: str, names: set[str]) -> bool:
    """Whether wget -K kept a page under the name that it had before -E added an end to it."""
    return suffix == ".orig" and not names.isdisjoint({f"{own}.html", f"{own}.css"})
