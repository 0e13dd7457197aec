"""Where outputs go: planned, and clashes refused, before the first is written.

To mind: names come from the inputs alone, never from a document (threat W7), and lead over no
symbolic link inside of the directory that was given.
"""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

import click

from relbase.cli.directories import opened_below
from relbase.cli.files import STDIN, Input, Output
from relbase.cli.streams import printable
from relbase.cli.writing import Place, Writer, failure, identity

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Sequence


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
    """Return where the output of each input goes, and make the directory they go to."""
    several = is_directory(output, len(inputs), trees=trees)
    if several:
        found = _in_directory(output, inputs, force=force)
    else:
        directory, name = os.path.split(output)
        found = {inputs[0].name: Output(directory, (name,), replaces=True, is_only=True)}
    refuse_inputs(found, (one.path for one in found.values()))
    for one in found.values():
        refuse_irregular(one.path)
    if not several:
        return found
    if known is None and not force:  # else it is looked at when it is known what would be there
        there = [one.path for one in found.values() if os.path.lexists(one.path)]
        more = f" and {len(there) - 1} more are" if len(there) > 1 else " is"
        if there:
            text = f"'{printable(there[0])}'{more} there already"
            raise click.UsageError(f"{text}: give --force to replace, or another directory with -o")
    os.makedirs(output, exist_ok=True)  # noqa: PTH103
    if known is None:
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
        refuse_inside(directory, root)
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


def refuse_inside(output: str, root: str) -> None:
    """Refuse an output inside of its tree: the next run would take it for an input."""
    inner, outer = os.path.realpath(output), os.path.realpath(root)
    shown, tree = f"the output '{printable(output)}'", f"the tree '{printable(root)}'"
    if inner == outer:
        fix = "give -i to rewrite it in place, or another directory"
        raise click.UsageError(f"{shown} is {tree} itself: {fix}")
    if inner.startswith(os.path.join(outer, "")):  # noqa: PTH118
        fix = "give a directory outside of it with -o"
        raise click.UsageError(f"{shown} is inside of {tree}: {fix}")


def refuse_inputs(names: Iterable[str], paths: Iterable[str]) -> None:
    identities = {}
    for name in names:
        if name != STDIN:
            with suppress(OSError):  # reported when it is read
                identities[identity(os.stat(name))] = name  # noqa: PTH116
    for path in paths:
        with suppress(OSError):  # as when it is written
            found = identities.get(identity(os.stat(path)))  # noqa: PTH116
            if found is not None:
                text = f"the output '{printable(path)}' is the input '{printable(found)}'"
                fix = "give -i to rewrite it in place, or another name or directory with -o"
                raise click.UsageError(f"{text}: {fix}")


def refuse_irregular(path: str) -> None:
    """Refuse an output in whose place there is something else than a file."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:  # reported when it is written
        return
    if stat.S_ISREG(mode):
        return
    # `-o /dev/null` would remove the device.
    kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a directory"}
    what = kinds.get(stat.S_IFMT(mode), "not a regular file")
    fix = "leave -o out to write to standard output, or give another name"
    raise click.UsageError(f"the output '{printable(path)}' is {what}: {fix}")


def write(
    writer: Writer, output: Output, pieces: Iterable[bytes], like: os.stat_result | None
) -> bool:
    """Write an output, with the mode and the times of its input; return whether it is new."""
    steps = output.parts[:-1]
    try:
        with ExitStack() as stack:
            parent = stack.enter_context(opened_below(output.root, steps, make=True))
            folder = None
            if output.in_maildir:
                folder = stack.enter_context(opened_below(output.root, steps[:-1]))
            flags = output.replaces, output.goes_on, output.is_only
            return writer.put(Place(parent, output.parts[-1], *flags, folder), pieces, like)
    except OSError as error:
        raise failure(output.path, error, is_only=output.is_only) from None
