"""Plans where outputs go, and refuses clashes, before the first is written.

Names come only from the inputs, never from a document (threat W7).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import click

from relbase import storage
from relbase.cli import files, streams, windows
from relbase.cli.directories import NewFile, opened_directory, sweep
from relbase.cli.files import BOXES, MAILDIR, STDIN, Input, Inputs, Output
from relbase.cli.streams import printable
from relbase.cli.writing import identity, settle
from relbase.expressions import expression

if TYPE_CHECKING:
    from relbase.cli.csv_tables import CsvTable


def is_directory(output: str, inputs: Inputs) -> bool:
    """Return whether -o is a directory: it exists as one, ends in `/`, or inputs are several."""
    is_one = len(inputs.all) == 1 and not (inputs.trees or inputs.listed)
    return not is_one or output.endswith(("/", os.sep)) or os.path.isdir(output)


def plan(
    inputs: Inputs, output: str, *, force: bool, known: Container[str] | None = None
) -> dict[str, Output]:
    if not is_directory(output, inputs):
        directory, name = os.path.split(output)
        if (why := windows.why_refused((name,))) and not windows.is_null(output):
            raise click.UsageError(f"the output '{printable(output)}': {why}: give another name")
        only = Output(directory, (name,), replaces=True, is_only=True)
        refuse([inputs.all[0].name], [only.path])
        return {inputs.all[0].name: only}
    planned = {}
    for name, parts in _in_directory(output, inputs.all).items():
        made = Output(output, parts, goes_on=known is not None)
        planned[name] = made._replace(replaces=force or made.path in (known or ()))
    refuse(planned, (made.path for made in planned.values()))
    if known is None and not force:  # else existing files are compared when they would be written
        there = [made.path for made in planned.values() if os.path.lexists(made.path)]
        more = f" and {len(there) - 1} more already exist" if len(there) > 1 else " already exists"
        if there:
            text = f"'{printable(there[0])}'{more}"
            raise click.UsageError(f"{text}: give --force to replace, or another directory with -o")
    os.makedirs(output, exist_ok=True)
    return planned


def _in_directory(directory: str, inputs: Sequence[Input]) -> dict[str, tuple[str, ...]]:
    names: dict[tuple[str, ...], str] = {}
    if os.path.lexists(directory) and not os.path.isdir(directory):
        text = "several inputs need an output directory"
        raise click.UsageError(f"'{printable(directory)}' is not a directory: {text}")
    end = os.path.splitext(directory)[1]
    is_file = end and any(input_.parts[-1].endswith(end) for input_ in inputs)
    if is_file and not os.path.lexists(directory):
        text = f"several inputs need a directory, and '{printable(directory)}' looks like a file"
        raise click.UsageError(f"{text}: give -o DIR/")
    for input_ in inputs:
        if input_.name == STDIN:
            text = "standard input has no name for an output in a directory: give it alone, -o FILE"
            raise click.UsageError(text)
        if not input_.root and os.path.isdir(input_.name):  # no output: reported when it is read
            continue
        parts = input_.parts
        is_absolute = os.path.isabs(input_.name) or os.path.splitdrive(input_.name)[0]
        if input_.listed and (is_absolute or os.pardir in parts):
            text = f"'{printable(input_.name)}' in --files-from leads out of this directory"
            fix = "give -r, or run it there"
            raise click.UsageError(f"{text}: its output has no place in -o; {fix}")
        if parts in names:
            first, second = printable(names[parts]), printable(input_.name)
            why = f"'{first}' and '{second}' would have the same output: use separate commands"
            if os.path.abspath(names[parts]) == os.path.abspath(input_.name):
                raise click.UsageError(f"'{second}' is given twice: give it once")
            raise click.UsageError(f"{why} with different directories")
        names[parts] = input_.name
    for root in {input_.root for input_ in inputs if input_.root}:
        _refuse_inside(directory, root)
    return {name: parts for parts, name in names.items()}


def _refuse_inside(output: str, root: str) -> None:
    """Refuse an output inside its tree, since the next run would read it as an input."""
    real = (windows.plain(os.path.realpath(path)) for path in (output, root))
    inner, outer = map(os.path.normcase, real)
    shown, tree = f"the output '{printable(output)}'", f"the tree '{printable(root)}'"
    if inner == outer:
        fix = "give -i to rewrite it in place, or another directory"
        raise click.UsageError(f"{shown} is {tree} itself: {fix}")
    if inner.startswith(os.path.join(outer, "")):
        fix = "give a directory outside of it with -o"
        raise click.UsageError(f"{shown} is inside of {tree}: {fix}")


_FIXES: Final = (
    "give another name or directory with -o, or use rewrite -i",
    "leave -o out to write to standard output, or give another name",
)


def refuse(names: Iterable[str], paths: Iterable[str], fixes: tuple[str, str] = _FIXES) -> None:
    """Refuse outputs that are inputs, or that exist and are not regular files."""
    identities = {}
    for name in names:
        if name != STDIN:
            with suppress(OSError):  # reported when it is read
                identities[identity(os.stat(name))] = name
    for path in paths:
        with suppress(OSError):  # reported when it is written
            same = identities.get(identity(os.stat(path)))
            if same is not None:
                text = f"'{printable(path)}' is the input '{printable(same)}'"
                raise click.UsageError(f"the output {text}: {fixes[0]}")
        with suppress(OSError):
            kind = stat.S_IFMT(os.lstat(path).st_mode)
            # `-o /dev/null` would remove the device
            if kind != stat.S_IFREG and not windows.is_null(path):
                kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a directory"}
                what = kinds.get(kind, "not a regular file")
                raise click.UsageError(f"the output '{printable(path)}' is {what}: {fixes[1]}")


@contextmanager
def uploaded(*outputs: str) -> Iterator[list[str]]:
    """Yield the files to write outputs to. Objects are uploaded when all files are complete."""
    with ExitStack() as stack:
        made_at: dict[str, str] = {}
        for output in filter(files.is_object, outputs):
            from tempfile import TemporaryDirectory

            name = output.partition("?")[0].rpartition("/")[2]
            if not name:
                text = f"{files.shown_name(output)} names no object: give a name after it"
                raise click.UsageError(text)
            try:
                storage.refuse_unknown([output], "give a file")
            except ValueError as error:
                raise click.UsageError(printable(str(error))) from None
            directory = stack.enter_context(TemporaryDirectory(prefix="relbase-"))
            made_at[output] = os.path.join(directory, name)
        yield [made_at.get(output, output) for output in outputs]
        for output, made in made_at.items():
            if os.path.exists(made):  # an input that failed has no output
                with files.failing(output):
                    storage.put(made, output)


def plan_maildir(
    original: str, copy: str, messages: Sequence[Input], *, goes_on: bool
) -> dict[str, Output]:
    if os.path.lexists(copy) and not os.path.isdir(copy):
        text = f"'{printable(copy)}' is not a directory, and a Maildir needs one: give -o DIR"
        raise click.UsageError(text)
    _refuse_inside(copy, original)
    made = set() if os.path.lexists(copy) else {os.path.dirname(os.path.abspath(copy))}
    folders = files.maildir_folders(original)
    for folder in folders:
        path = os.path.join(copy, folder)
        made.add(path)
        for directory in MAILDIR:
            # Only its owner may read mail.
            os.makedirs(os.path.join(path, directory), 0o700, exist_ok=True)
        if os.path.lexists(os.path.join(original, folder, _MARK)):
            with opened_directory(path) as opened, suppress(FileExistsError):
                os.close(opened.open_new(_MARK, 0o600))
    left = sorted(_left(original, folders))
    if left:
        shown = ", ".join(map(printable, left[:10]))
        more = f" and {len(left[10:])} more" if left[10:] else ""
        text = f"not copied, since they are not messages: {shown}{more}"
        streams.warn(f"{files.shown_name(original)}: {text}")
    settle(made)
    names = ((message.name, Input(message.name, original).parts) for message in messages)
    return {name: Output(copy, parts, goes_on=goes_on, in_maildir=True) for name, parts in names}


_MARK: Final = "maildirfolder"  # a file by which Maildir++ marks a sub-folder


def _left(original: str, folders: Iterable[str]) -> Iterator[str]:
    """The files that are not copied: a server's indexes, say, describe the old messages."""
    known = {*MAILDIR, _MARK}
    for folder in folders:
        for entry in files.entries(original, folder):
            if entry.name not in known and (folder or entry.name not in folders):
                yield os.path.join(folder, entry.name)
        for box in BOXES:
            for entry in files.entries(original, folder, box):
                if entry.name.startswith("."):
                    yield os.path.join(folder, box, entry.name)


# Dovecot: ",S=" the size of the file, ",W=" its size with CRLF at the end of each line; then ":2,"
# and the flags, or nothing.
_size: Final = expression(r",([SW])=[0-9]++(?=[,:]|\Z)")


def sized(name: str, data: bytes) -> str:
    unique, colon, flags = name.partition(":")
    bare = data.count(b"\n") - data.count(b"\r\n")
    sizes = {"S": len(data), "W": len(data) + bare}
    return _size.sub(lambda match: f",{match[1]}={sizes[match[1]]}", unique) + colon + flags


# ---- tables

# The header of a table that relbase wrote.
_header: Final = expression(rb"(?:\xef\xbb\xbf)?[a-z0-9_ ]++(?:,[a-z0-9_ ]++)*+\r\n")


@contextmanager
def csv_written(path: str, inputs: Iterable[str], *columns: Any, mark: bool) -> Iterator[CsvTable]:
    """Write a table, which gets its name when it is complete; `-` is standard output."""
    from relbase.cli.csv_tables import CsvTable

    if path == STDIN:
        table = CsvTable(streams.put, *columns, mark=mark)
        yield table
        table.close()
        return
    refuse_others([path], inputs, lambda start: _header.match(start) is not None)
    with files.failing(path), uploaded(path) as [output], new_file(output) as file:
        table = CsvTable(file.write, *columns, mark=mark)
        yield table
        table.close()


_LOOKED_AT: Final = 1 << 12


def refuse_others(
    paths: Sequence[str], inputs: Iterable[str], is_table: Callable[[bytes], bool]
) -> None:
    """Refuse to replace an input, or a file that is not a table."""
    refuse(inputs, paths, ("give another name",) * 2)
    for path in paths:
        with suppress(FileNotFoundError, NotADirectoryError), open(path, "rb") as file:
            if (start := file.read(_LOOKED_AT)) and not is_table(start):
                text = f"'{printable(path)}' exists and is not a table: give another name"
                raise click.UsageError(text)


@contextmanager
def new_file(path: str) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name at the end."""
    directory, name = os.path.split(path)
    with opened_directory(directory) as parent:
        sweep(parent)
        with NewFile(parent, name, 0o666) as made:
            with open(made.descriptor, "wb", closefd=False) as file:
                yield file
            made.finish(None)
            parent.replace(made.name, parent, name)
            parent.sync()
