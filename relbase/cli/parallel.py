"""The inputs of `relbase links` in several processes.

The results come in the order of the inputs, as from one process. So what a process prints, and the
rows of a table, wait in a temporary directory until it is their turn.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from functools import partial
from tempfile import TemporaryDirectory, mkstemp
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import click

from relbase.cli import files, streams
from relbase.cli.archives import Table
from relbase.cli.jobs import Counted, Job, Outcome
from relbase.cli.run import in_processes

if TYPE_CHECKING:
    from relbase.cli.inputs import Reading, Work
    from relbase.cli.streams import Bar, Collected

_OUT, _ERR, _ROWS = ".out", ".err", ".rows"


class Workers(NamedTuple):
    """Reads the inputs in several processes (`Parallel`); each process gets a copy."""

    reading: Reading
    # Returns what reads an input, by what it is read with, and the table for its rows.
    work_of: Callable[[Reading, Table | None], Work]
    number: int  # of processes
    has_table: bool = False
    directory: str = ""
    # how standard output is written: a process of its own may have other habits
    encoding: str = "utf-8"
    errors: str = "strict"

    def read(self, table: Table | None, bar: Bar) -> Iterator[Collected]:
        ended: dict[files.Input, Outcome] = {}
        due = iter(inputs := self.reading.inputs.all)
        entry = next(due, None)
        with TemporaryDirectory(prefix="relbase-") as directory:
            there = self._replace(has_table=table is not None, directory=directory)
            if (encoding := getattr(sys.stdout, "encoding", None)) is not None:
                errors = getattr(sys.stdout, "errors", None) or self.errors
                there = there._replace(encoding=encoding, errors=errors)
            for outcome in in_processes(there.work, map(Job, inputs), self.number):
                ended[outcome.job.input] = outcome
                bar(outcome.sizes[0])
                while entry in ended:
                    yield self._shown(ended.pop(entry), table)
                    entry = next(due, None)

    def work(self, job: Job) -> Outcome:
        """Read an input in a process of its own; what it prints waits in files."""
        made, outcome = mkstemp(dir=self.directory), Outcome(job)
        os.close(made[0])
        outcome.text = made[1]
        reading, read = self.reading._replace(tally=outcome.tally), Counted(hashes=False)
        with (
            open(outcome.text + _OUT, "w", encoding=self.encoding, errors=self.errors) as out,
            open(outcome.text + _ERR, "w", encoding="utf-8", errors="surrogatepass") as err,
            open(outcome.text + _ROWS, "wb") as rows,
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            read_input = self.work_of(reading, _waiting(rows) if self.has_table else None)
            try:
                outcome.warned = reading.read(job.input, read_input, read)
            except click.ClickException as error:
                outcome.error = error.format_message()
        outcome.sizes = read.size, 0
        if (urls := reading.settings.message_urls) is not None:
            outcome.tally.matched = set(urls.matched)
            urls.matched.clear()
        return outcome

    def _shown(self, outcome: Outcome, table: Table | None) -> Collected:
        """Print what waits of an input, count, and return the warnings about it."""
        tally, urls = self.reading.tally, self.reading.settings.message_urls
        tally += outcome.tally
        if urls is not None:
            urls.matched.update(outcome.tally.matched)
        if outcome.text:  # otherwise the process died
            _copy(outcome.text, table)
        if outcome.error:
            streams.warn(f"{files.shown_name(outcome.job.input.name)}: error: {outcome.error}")
            tally.failed += 1
        return outcome.warned


def _copy(name: str, table: Table | None) -> None:
    with open(name + _OUT, "rb") as out:
        for piece in iter(partial(out.read, files.PIECE), b""):
            streams.put(piece)
    with open(name + _ERR, encoding="utf-8", errors="surrogatepass") as err:
        for line in err:
            streams.warn(line.removesuffix("\n"))
    with open(name + _ROWS, "rb") as rows, suppress(EOFError):
        while table is not None:
            method, arguments = pickle.load(rows)  # noqa: S301 (a process of this run wrote it)
            getattr(table, method)(*arguments)
    for end in (_OUT, _ERR, _ROWS):
        os.unlink(name + end)


def _waiting(file: BinaryIO) -> Table:
    def add(*called: object) -> None:
        pickle.dump(called, file)

    return Table(lambda rows: add("add", [list(rows)]), lambda *fault: add("add_fault", fault))
