"""A run over inputs: jobs are handed out, and what became of them is printed and counted."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from math import inf
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.cli import streams
from relbase.cli.files import STDIN, shown_name
from relbase.cli.findings import Printer
from relbase.cli.jobs import Action, State
from relbase.cli.outcome import Tally, WarningPrinter
from relbase.cli.progress import progress
from relbase.cli.senders import Unresolved, summed
from relbase.cli.streams import OutputError, counted, printable
from relbase.cli.work import Worker
from relbase.cli.writing import settle
from relbase.notes import Reason

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.cli.jobs import Done, Job, Plan
    from relbase.cli.progress import Bar
    from relbase.cli.report import Report


class RunOptions(NamedTuple):
    """How a run is done, and what of it is shown."""

    processes: int  # at once
    verbose: bool  # for each input what was done
    quiet: bool  # only errors
    colour: bool  # lines of a diff
    skipped: str  # what is left out of trees, in words
    report: Report | None
    limit: float | None = None  # seconds for one input


def run(plan: Plan, jobs: Sequence[Job], options: RunOptions) -> Tally:
    """Do the jobs of a run."""
    running = _Running(plan, options)
    with ExitStack() as stack:
        if options.report is not None:
            stack.enter_context(options.report)
        is_shown = plan.action in {Action.PRINT, Action.DIFF} and streams.is_terminal(output=True)
        wanted = not options.quiet and not is_shown
        bar = stack.enter_context(progress([job.input for job in jobs], wanted=wanted))
        stack.callback(lambda: settle(running.directories))
        try:
            for done in _done(plan, jobs, options, bar):
                running.add(done)
                bar.done()
        except KeyboardInterrupt:
            text = f"{running.states.total()} of {counted(len(jobs), 'input')} done"
            streams.warn(f"interrupted: {text}, none half written{running.how_to_go_on}")
            raise
    running.close()
    return running.tally


def _done(plan: Plan, jobs: Sequence[Job], options: RunOptions, bar: Bar) -> Iterator[Done]:
    count = min(options.processes, len(jobs))
    is_limited = options.limit is not None and len(jobs) > 1
    if (count > 1 or is_limited) and all(job.input.name != STDIN for job in jobs):
        from relbase.cli.pool import in_processes  # noqa: PLC0415 (start-up time)

        for done in in_processes(plan, jobs, count, options.limit or inf):
            bar.read(done.sizes[0])
            yield done
        return
    worker = Worker(plan, bar.read)
    for job in jobs:
        yield worker.do(job)


class _Running:
    """What has become of the inputs so far."""

    def __init__(self, plan: Plan, options: RunOptions) -> None:
        self._settings = plan.settings
        self._action = plan.action
        self._checks = plan.action is Action.CHECK
        self._options = options
        self._warnings = WarningPrinter(plan.settings.verbosity)
        self._lines = Printer(plan.format)
        self._places = 0
        self._unknown = 0
        self._owners: dict[str, str] = {}
        self._bases: Counter[str] = Counter()
        self._unresolved = Unresolved()
        self.directories: set[str] = set()  # that were written into
        self.states: Counter[State] = Counter()
        self.tally = Tally()
        self.how_to_go_on = "; --resume with the report goes on" if options.report else ""

    def add(self, done: Done) -> None:
        """Print, count and report what became of an input."""
        # First of all: what is not in the report is done again.
        if self._options.report is not None and done.state is not State.SKIPPED:
            self._options.report.add(done)
        self._count(done)
        if done.state is State.STOPPED:
            raise OutputError(done.error + self.how_to_go_on)
        self._say(done, shown_name(done.job.input.name))

    def _count(self, done: Done) -> None:
        self.states[done.state] += 1
        self._bases += done.bases
        self._unresolved += done.unresolved
        self._places += done.found if self._checks else done.places
        self._unknown += done.state is State.UNCHANGED and Reason.BASE_NONE.value in done.notes
        if done.directory:
            self.directories.add(done.directory)
        self.tally += done.tally
        self.tally.warnings += done.warned.counts.total()
        self.tally.failed += len(done.errors) + (done.state is State.FAILED)
        self.tally.unsafe += done.state is State.UNSAFE
        if self._checks:
            is_strange = done.state is State.PASSED and self._settings.strict
            self.tally.found += done.fails_check or is_strange

    def _say(self, done: Done, shown: str) -> None:
        if done.error:
            streams.warn(f"{shown}: error: {done.error}")
        for line in done.errors:
            streams.warn(line)
        self._warnings.show(done.warned)
        self._claim(done.claimed, shown)
        for line in done.lines:
            is_coloured = self._options.colour and self._action is Action.DIFF
            self._lines.show(_coloured(line) if is_coloured else line)
        if self._options.verbose and done.text:
            streams.warn(f"{shown}: {done.text}")
        elif done.on_given_url and not self._options.quiet:  # rule 16: one URL, many documents
            messages = counted(done.on_given_url, "message")
            streams.warn(f"{shown}: the given URL was the base of {messages}")

    def _claim(self, url: str, shown: str) -> None:
        """Two pages that say they have one URL: at most one of them is right."""
        owner = self._owners.setdefault(url, shown)
        if url and owner != shown:
            self.tally.warnings += 1
            text = f"{shown}: warning: {owner} states the same URL, {printable(url)[:300]}"
            self._warnings.add("url-shared", f"{text} [url-shared]")

    def close(self) -> None:
        """Report what was counted, and sum up."""
        self._lines.close()
        self._warnings.close()
        if self._options.quiet:
            return
        for line in summed(self._bases, self._unresolved):
            streams.warn(line)
        many = self.states.total() > 1 or self.states[State.PASSED] or self._options.skipped
        writes = self._action in {Action.WRITE, Action.REPLACE}
        if (many and (writes or self._checks)) or (self._checks and self._places):
            streams.warn(self._sum())

    def _sum(self) -> str:
        parts: list[str] = []
        for state, words in _WORDS.items():
            if self.states[state]:
                would = "would be " if self._checks and state is State.REWRITTEN else ""
                parts.append(f"{self.states[state]} {would}{words}")
            if state is State.UNCHANGED and self._unknown:
                parts[-1] += f" ({self._unknown} for want of a base URL)"
        if self._places and self._checks:
            parts.append(counted(self._places, "relative link"))
        elif self._places:
            parts.append(f"{counted(self._places, 'link')} made absolute")
        if self.tally.warnings:
            parts.append(counted(self.tally.warnings, "warning"))
        skipped = f"; skipped: {self._options.skipped}" if self._options.skipped else ""
        done = f": {', '.join(parts)}" if parts else ""
        return f"{counted(self.states.total(), 'input')}{done}{skipped}"


# In the order of the sum.
_WORDS: Final = {
    State.REWRITTEN: "rewritten",
    State.UNCHANGED: "unchanged",
    State.SKIPPED: "done before",
    State.PASSED: "of other kinds",
    State.FAILED: "failed",
    State.UNSAFE: "not written (self-check)",
}

_COLOURS: Final = {"+": "32", "-": "31", "@": "36"}


def _coloured(line: str) -> str:
    """A line of a diff for a terminal; the two of its header are bold."""
    code = "1" if line.startswith(("--- ", "+++ ")) else _COLOURS.get(line[:1])
    return f"\x1b[{code}m{line}\x1b[m" if code else line
