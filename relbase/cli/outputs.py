"""Files out: where outputs go, and how one is written.

Strategy: an output is written to a new file in its directory, which gets its name when it is
complete: at every moment there is the old content or the new. Where outputs go is planned, and
clashes are refused, before the first is written. The content is on the disk before it has its name,
and the names of all files are before the run is done (`settle`).

To mind: names come from the inputs alone, never from a document (threat W7). An output that is not
a regular file is refused, not replaced; `-o /dev/null` would remove the device. Nothing follows a
symbolic link in the place of an output, or on the way to it inside of the directory that was given.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from relbase.cli.directories import UNSETTLED, new_file, opened_below, opened_directory, sweep
from relbase.cli.files import InputError
from relbase.cli.inputs import STDIN, Input
from relbase.cli.outcome import OutputError
from relbase.cli.streams import printable
from relbase.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence

    from relbase.cli.directories import Directory


class Output(NamedTuple):
    """Where the output of an input goes.

    Args:
        root: the directory of the output, which may be a symbolic link.
        parts: the names from there to the file.
        replaces: whether a file that is there may be replaced.
        goes_on: whether an earlier run, which had no time to report it, may have written it.
    """

    root: str
    parts: tuple[str, ...]
    replaces: bool
    goes_on: bool = False

    @property
    def path(self) -> str:
        """Its name."""
        return os.path.join(self.root, *self.parts)  # noqa: PTH118


def is_directory(output: str, count: int, *, trees: bool = False) -> bool:
    """Return whether -o is a directory: it exists as one, ends in `/`, or inputs are several."""
    return trees or count > 1 or output.endswith(("/", os.sep)) or os.path.isdir(output)  # noqa: PTH112


def plan(
    inputs: Sequence[Input],
    output: str,
    *,
    trees: bool = False,
    force: bool = False,
    known: Container[str] | None = None,
) -> dict[str, Output]:
    """Return where the output of each input goes, and make the directory they go to.

    Raises:
        click.UsageError: if outputs clash with one another, with an input, or with what is there.
    """
    several = is_directory(output, len(inputs), trees=trees)
    if several:
        found = _in_directory(output, inputs, force=force)
    else:
        directory, name = os.path.split(output)
        found = {inputs[0].name: Output(directory, (name,), replaces=True)}
    refuse_inputs(found, (one.path for one in found.values()))
    for one in found.values():
        refuse_irregular(one.path)
    if several:
        if known is None:  # else it is looked at when it is known what would be there
            _refuse_there(list(found.values()), force=force)
        try:
            os.makedirs(output, exist_ok=True)  # noqa: PTH103
        except OSError as error:
            raise OutputError(f"{printable(output)}: {error.strerror}") from None
    if known is None or not several:
        return found
    return {
        name: one._replace(replaces=force or one.path in known, goes_on=True)
        for name, one in found.items()
    }


def _in_directory(directory: str, inputs: Sequence[Input], *, force: bool) -> dict[str, Output]:
    found: dict[str, Output] = {}
    names: dict[tuple[str, ...], str] = {}
    if os.path.lexists(directory) and not os.path.isdir(directory):  # noqa: PTH112
        text = "several inputs need one for their outputs"
        raise click.UsageError(f"'{printable(directory)}' is not a directory: {text}")
    for one in inputs:
        if one.name == STDIN:
            text = "standard input has no name for an output in a directory: give it alone, -o FILE"
            raise click.UsageError(text)
        if not one.root and os.path.isdir(one.name):  # noqa: PTH112 (no output: reported when it is read)
            continue
        parts = _parts(one)
        if parts in names:
            first, second = printable(names[parts]), printable(one.name)
            fix = "rewrite them with two commands, into two directories"
            raise click.UsageError(f"'{first}' and '{second}' would have one output: {fix}")
        names[parts] = one.name
        found[one.name] = Output(directory, parts, replaces=force)
    for root in {one.root for one in inputs if one.root}:
        _refuse_inside(directory, root)
    return found


def _parts(one: Input) -> tuple[str, ...]:
    """The names of an output in a directory: of a tree and of a list the directories stay."""
    if not one.listed:
        return tuple(one.parts)
    path = os.path.normpath(one.name)
    steps = tuple(path.split(os.sep))  # noqa: PTH206
    if os.path.isabs(path) or os.pardir in steps:  # noqa: PTH117
        text = f"'{printable(one.name)}' in --files-from leads out of this directory"
        raise click.UsageError(f"{text}: its output has no place in -o; give -r, or run it there")
    return steps


def _refuse_inside(output: str, root: str) -> None:
    """Refuse an output inside of its tree: the next run would take it for an input."""
    inner, outer = os.path.realpath(output), os.path.realpath(root)
    if inner == outer:
        text = f"the output '{printable(output)}' is the tree '{printable(root)}' itself"
        raise click.UsageError(f"{text}: give -i to rewrite it in place, or another directory")
    if inner.startswith(os.path.join(outer, "")):  # noqa: PTH118
        text = f"the output '{printable(output)}' is inside of the tree '{printable(root)}'"
        raise click.UsageError(f"{text}: give a directory outside of it with -o")


def refuse_inputs(names: Iterable[str], paths: Iterable[str]) -> None:
    """Refuse an output that is an input: hard and symbolic links are seen through.

    Raises:
        click.UsageError: if one is.
    """
    identities = {}
    for name in names:
        if name != STDIN:
            with suppress(OSError):  # reported when it is read
                identities[_identity(os.stat(name))] = name  # noqa: PTH116
    for path in paths:
        with suppress(FileNotFoundError, NotADirectoryError):
            found = identities.get(_identity(os.stat(path)))  # noqa: PTH116
            if found is not None:
                text = f"the output '{printable(path)}' is the input '{printable(found)}'"
                fix = "give -i to rewrite it in place, or another name or directory with -o"
                raise click.UsageError(f"{text}: {fix}")


def refuse_irregular(path: str) -> None:
    """Refuse an output in whose place there is something else than a file.

    Raises:
        click.UsageError: if there is.
    """
    try:
        mode = os.lstat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return
    if stat.S_ISREG(mode):
        return
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a directory"}
    what = kinds.get(stat.S_IFMT(mode), "not a regular file")
    fix = "leave -o out to write to standard output, or give another name"
    raise click.UsageError(f"the output '{printable(path)}' is {what}: {fix}")


def _refuse_there(outputs: Sequence[Output], *, force: bool) -> None:
    there = [] if force else [one.path for one in outputs if os.path.lexists(one.path)]
    if there:
        more = f" and {len(there) - 1} more are" if len(there) > 1 else " is"
        text = f"'{printable(there[0])}'{more} there already"
        raise click.UsageError(f"{text}: give --force to replace, or another directory with -o")


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


# ---- writing


class Written:
    """The outputs of one process of a run.

    Two names may be one file where the file system takes them for one ("A" and "a"): what
    this run has written it does not replace.
    """

    __slots__ = ("_identities", "_swept")

    def __init__(self) -> None:
        self._identities: set[tuple[int, int]] = set()
        self._swept: set[str] = set()

    def write(self, output: Output, pieces: Iterable[bytes], like: os.stat_result | None) -> str:
        """Write an output in one step, with the mode and the time of its input.

        Returns:
            the directory that it is in, for `settle`.

        Raises:
            InputError: if a file is there that may not be replaced.
            OutputError: if it cannot be written: then it is as it was before.
        """
        try:
            steps = list(output.parts[:-1])
            with opened_below(output.root, steps, make=True) as parent:
                self.sweep(parent)
                self._write(parent, output, pieces, like)
                return parent.path
        except OSError as error:
            raise OutputError(f"{printable(output.path)}: {error.strerror or error}") from None

    def sweep(self, parent: Directory) -> None:
        """Remove what killed runs left in a directory, once."""
        if parent.path not in self._swept:
            self._swept.add(parent.path)
            with suppress(OSError):  # a directory that may be written to and not read
                sweep(parent)

    def _write(
        self,
        parent: Directory,
        output: Output,
        pieces: Iterable[bytes],
        like: os.stat_result | None,
    ) -> None:
        name = output.parts[-1]
        # Planned long ago: somebody may have put something else there in between.
        with suppress(FileNotFoundError):
            self._refuse(parent.stat(name), output)
        with new_file(parent, name, 0o666 if like is None else 0o600) as made:
            made.write(pieces)
            status = made.finish(like)
            if output.replaces or (output.goes_on and _is_same(parent, made.name, name)):
                parent.replace(made.name, parent, name)
            else:
                _name_new(parent, made.name, output)
        self._identities.add(_identity(status))

    def _refuse(self, there: os.stat_result, output: Output) -> None:
        path = printable(output.path)
        if not stat.S_ISREG(there.st_mode):
            raise OutputError(f"{path}: it is not a regular file: not replaced")
        if _identity(there) in self._identities:
            text = "another output of this run has this name here: give it another directory"
            raise OutputError(f"{path}: {text}")
        if not output.replaces and not output.goes_on:
            raise InputError(f"{path} is there already: not replaced without --force")


def _is_same(parent: Directory, made: str, name: str) -> bool:
    """Whether a name has what was made: a run may end before it reports what it has written."""
    try:
        return _hash(parent, name) == _hash(parent, made)
    except FileNotFoundError:
        return False


def _hash(parent: Directory, name: str) -> bytes:
    import hashlib  # noqa: PLC0415 (start-up time)

    with open(parent.open_old(name), "rb") as file:  # noqa: PTH123 (a descriptor)
        return hashlib.file_digest(file, "sha256").digest()


def _name_new(parent: Directory, made: str, output: Output) -> None:
    """Give a new file its name, which nobody may have yet."""
    name = output.parts[-1]
    try:
        parent.link(made, parent, name)
    except FileExistsError:
        text = f"{printable(output.path)} is there already: not replaced without --force"
        raise InputError(text) from None
    except (OSError, NotImplementedError):
        # No hard links here: whoever makes the name in this moment loses it.
        parent.replace(made, parent, name)


def settle(directories: Iterable[str]) -> None:
    """Bring the names in directories to the disk, once for all files of a run.

    Raises:
        OutputError: if the disk fails.
    """
    for directory in sorted(directories):
        try:
            with opened_directory(directory) as opened:
                opened.sync()
        except OSError as error:
            if error.errno not in UNSETTLED:
                raise OutputError(f"{printable(directory)}: {error.strerror or error}") from None
