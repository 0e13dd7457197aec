"""A run over inputs: jobs are handed out, and what became of them is printed and counted."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.cli import senders, streams
from relbase.cli.files import shown_name
from relbase.cli.findings import Printer
from relbase.cli.inputs import STDIN
from relbase.cli.jobs import Action, State
from relbase.cli.outcome import OutputError, Tally
from relbase.cli.progress import progress
from relbase.cli.streams import printable
from relbase.cli.summary import counted
from relbase.cli.warnings import Warned, WarningPrinter
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
        stack.callback(running.settle)
        try:
            for done in _done(plan, jobs, options, bar):
                running.add(done)
                bar.done()
        except KeyboardInterrupt:
            running.interrupted(len(jobs))
            raise
    running.close()
    return running.tally


def _done(plan: Plan, jobs: Sequence[Job], options: RunOptions, bar: Bar) -> Iterator[Done]:
    count = min(options.processes, len(jobs))
    is_limited = options.limit is not None and len(jobs) > 1
    if (count > 1 or is_limited) and all(job.input.name != STDIN for job in jobs):
        from relbase.cli.pool import in_processes  # noqa: PLC0415 (start-up time)

        for done in in_processes(plan, jobs, count, options.limit):
            bar.read(done.sizes[0])
            yield done
        return
    worker = Worker(plan, bar.read)
    for job in jobs:
        yield worker.do(job)


class _Running:
    """What has become of the inputs so far."""

    def __init__(self, plan: Plan, options: RunOptions) -> None:
        self._plan = plan
        self._options = options
        self._printer = WarningPrinter(plan.settings.verbosity)
        self._lines = Printer(plan.format)
        self._directories: set[str] = set()
        self._states: Counter[State] = Counter()
        self._places = 0
        self._unknown = 0
        self._owners: dict[str, str] = {}
        self._messages = [Counter[str](), Counter[str](), Counter[str]()]
        self.tally = Tally()

    def add(self, done: Done) -> None:
        """Print, count and report what became of an input."""
        # First of all: what is not in the report is done again.
        if self._options.report is not None and done.state is not State.SKIPPED:
            self._options.report.add(done)
        self._states[done.state] += 1
        for counted_so_far, more in zip(
            self._messages, (done.bases, done.left, done.senders), strict=True
        ):
            counted_so_far.update(more)
        self._places += done.found if self._plan.action is Action.CHECK else done.places
        self._unknown += done.state is State.UNCHANGED and done.unknown > 0
        self.tally.warnings += done.tally.warnings
        self.tally.warnings += sum(1 + one.more for one in self._warned(done))
        if self._plan.action is Action.CHECK:
            is_strange = done.state is State.PASSED and self._plan.settings.strict
            self.tally.found += done.fails_check or is_strange
        if done.directory:
            self._directories.add(done.directory)
        self._say(done)
        if done.state is State.STOPPED:
            raise OutputError(done.error + self._how_to_go_on())

    def _say(self, done: Done) -> None:
        shown = shown_name(done.job.input.name)
        if done.error and done.state is not State.STOPPED:
            streams.warn(f"{shown}: error: {done.error}")
            self.tally.failed += done.state is State.FAILED
            self.tally.unsafe += done.state is State.UNSAFE
        for line in done.errors:
            streams.warn(line)
        self.tally.failed += len(done.errors) + done.tally.failed
        self._printer.show(self._warned(done))
        self._claim(done, shown)
        for line in done.lines:
            is_diff = self._options.colour and self._plan.action is Action.DIFF
            self._lines.show(_coloured(line) if is_diff else line)
        if self._options.verbose and done.text:
            streams.warn(f"{shown}: {done.text}")
        elif done.on_given_url and not self._options.quiet:  # rule 16: one URL, many documents
            messages = counted(done.on_given_url, "message")
            streams.warn(f"{shown}: the given URL was the base of {messages}")

    def _warned(self, done: Done) -> list[Warned]:
        """The warnings on an input; what has no base is listed link by link by --check."""
        checks = self._plan.action is Action.CHECK
        hidden = Reason.BASE_NONE.value if checks else ""
        return [one for one in done.warned.all() if one.reason != hidden]

    def _claim(self, done: Done, shown: str) -> None:
        """Two pages that say they have one URL: at most one of them is right."""
        if not done.claimed:
            return
        owner = self._owners.setdefault(done.claimed, shown)
        if owner != shown:
            self.tally.warnings += 1
            text = f"{shown}: warning: {owner} states the same URL, {printable(done.claimed)[:300]}"
            self._printer.show([Warned("url-shared", f"{text} [url-shared]")])

    def _how_to_go_on(self) -> str:
        return "; --resume with the report goes on" if self._options.report is not None else ""

    def settle(self) -> None:
        """Bring the names of what was written to the disk."""
        settle(self._directories)

    def interrupted(self, total: int) -> None:
        """Say how far it came, and how to go on."""
        done = sum(self._states.values())
        text = f"interrupted: {done} of {counted(total, 'input')} done, none half written"
        streams.warn(text + self._how_to_go_on())

    def close(self) -> None:
        """Report what was counted, and sum up."""
        self._lines.close()
        self._printer.close()
        if not self._options.quiet:
            for line in senders.summed(*self._messages):
                streams.warn(line)
        many = sum(self._states.values()) > 1 or self._states[State.PASSED]
        checks = self._plan.action is Action.CHECK
        many = many or bool(self._options.skipped) or (checks and self._places > 0)
        writes = self._plan.action in {Action.WRITE, Action.REPLACE, Action.CHECK}
        if many and writes and not self._options.quiet:
            streams.warn(self._sum())

    def _sum(self) -> str:
        total = sum(self._states.values())
        parts = [counted(total, "input")]
        checks = self._plan.action is Action.CHECK
        for state, words in _WORDS.items():
            if self._states[state]:
                would = "would be " if checks and state is State.REWRITTEN else ""
                parts.append(f"{self._states[state]} {would}{words}")
            if state is State.UNCHANGED and self._unknown:
                parts[-1] += f" ({self._unknown} for want of a base URL)"
        if self._places:
            links = counted(self._places, "relative link" if checks else "link")
            parts.append(links if checks else f"{links} made absolute")
        if self.tally.warnings:
            parts.append(counted(self.tally.warnings, "warning"))
        skipped = f"; skipped: {self._options.skipped}" if self._options.skipped else ""
        done = f": {', '.join(parts[1:])}" if len(parts) > 1 else ""
        return f"{parts[0]}{done}{skipped}"


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
