"""`--report` and `--resume`: JSON Lines, one object an input, what it was and what became of it.

Strategy: a line is written when an input is done, and is on the disk before the run ends. A run
that reads the report of an earlier one compares hashes, so that it skips only what is as it was.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import click

from relbase.cli.jobs import Done, State
from relbase.cli.jsonl import object_line
from relbase.cli.outcome import OutputError
from relbase.cli.streams import printable
from relbase.cli.summary import counted

if TYPE_CHECKING:
    from typing import Self

# The states of inputs that need not be done again.
_FINISHED: Final = frozenset((State.REWRITTEN.value, State.UNCHANGED.value))


# How each line begins: see `row`.
_START: Final = b'{"version": 1, "file": "'


def row(done: Done) -> dict[str, object]:
    """Return the object for an input: its fields are what the README lists."""
    output = done.job.output
    before, after = done.hashes
    sizes = done.sizes
    return {
        "file": done.job.input.name,
        "output": None if output is None else output.path,
        "state": done.state.value,
        "url": done.url or None,
        "source": done.source or None,
        "places": done.places,
        "on_given_url": done.on_given_url,
        "links": done.links,
        "notes": done.notes,
        "size_before": sizes[0],
        "size_after": sizes[1] if after else sizes[0],
        "sha256_before": before or None,
        "sha256_after": after or before or None,
        "error": _error(done),
    }


def _error(done: Done) -> str | None:
    """What went wrong with an input, or with some of what is in it."""
    if done.error:
        return done.error
    if done.errors:
        return "; ".join(done.errors)[:_LONGEST]
    failed = done.tally.failed
    return f"{counted(failed, 'record')} cannot be read" if failed else None


# In characters: of a mailbox each message may have an error.
_LONGEST: Final = 10_000


class Report:
    """The report of a run, which may go on with the lines that are there.

    A `UsageError` says that it is there and not to be added to.
    """

    def __init__(self, path: str, *, goes_on: bool) -> None:
        self._path = path
        flags = "ab" if goes_on else "xb"
        try:
            if goes_on:
                _cut_off(path)
            self._file = open(path, flags)  # noqa: PTH123, SIM115 (closed by `__exit__`)
        except FileExistsError:
            fix = "give --resume with the same name to go on with it, or another name"
            text = f"the report '{printable(path)}' is there already: {fix}"
            raise click.UsageError(text) from None
        except OSError as error:
            raise self._failed(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            with self._file:
                self._file.flush()
                os.fsync(self._file.fileno())
        except OSError as error:
            raise self._failed(error) from None

    def add(self, done: Done) -> None:
        """Write the line of an input."""
        try:
            self._file.write(object_line(row(done)).encode() + b"\n")
            self._file.flush()
        except OSError as error:
            raise self._failed(error) from None

    def _failed(self, error: OSError) -> OutputError:
        return OutputError(f"{printable(self._path)}: {error.strerror or error}")


def _cut_off(path: str) -> None:
    """Take off the line that whatever ended a run has cut: what follows it would not be read."""
    with suppress(FileNotFoundError), open(path, "r+b") as file:  # noqa: PTH123
        whole = sum(len(line) for line in file if line.endswith(b"\n"))
        file.truncate(whole)


class Earlier:
    """What the report of an earlier run says; one that is not there says nothing.

    A `UsageError` says that it is not a report.
    """

    def __init__(self, path: str) -> None:
        self._rows: dict[str, tuple[str, str]] = {}
        self.outputs: set[str] | None = None  # that it wrote; None where there is no report
        try:
            with open(path, "rb") as file:  # noqa: PTH123
                self.outputs = set()
                for number, line in enumerate(file, 1):
                    self._read(line, self.outputs, f"{printable(path)}, line {number}")
        except FileNotFoundError:
            return
        except OSError as error:
            raise OutputError(f"{printable(path)}: {error.strerror or error}") from None

    def _read(self, line: bytes, outputs: set[str], where: str) -> None:
        if not line.endswith(b"\n") and line[: len(_START)] == _START[: len(line)]:
            return  # it was cut by whatever ended the run
        import json  # noqa: PLC0415 (start-up time)

        try:
            found = json.loads(line)
            name, output, state = found["file"], found["output"], found["state"]
            hashes = (found["sha256_before"], found["sha256_after"])
        except (ValueError, KeyError, TypeError):
            text = f"{where}: it is not a report of relbase: give one that --report wrote"
            raise click.UsageError(text) from None
        self._rows.pop(name, None)
        if state in _FINISHED and all(hashes) and not found.get("error"):
            self._rows[name] = hashes
        if state in _FINISHED and output:
            outputs.add(output)

    def hashes(self, name: str) -> tuple[str, str] | None:
        """Return the hashes of an input and of its output, None where it has to be done."""
        return self._rows.get(name)
