"""A run over inputs: hands out the jobs, and prints and counts their results."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import click

from relbase.cli import ENDINGS, streams, terminated
from relbase.cli.directories import disown, remove_owned
from relbase.cli.files import STDIN, Input, shown_name
from relbase.cli.jobs import Job, Outcome, Plan, State, reporting, unresolved_lines
from relbase.cli.streams import OutputError, Tally, Verbosity, WarningPrinter, counted, printable
from relbase.cli.work import do
from relbase.cli.writing import Writer, settle, sweep_after
from relbase.notes import Reason

if TYPE_CHECKING:
    from multiprocessing.connection import Connection


def run(plan: Plan, jobs: Sequence[Job], tally: Tally) -> None:
    """Do the jobs, and add what failed and what was found to the tally."""
    with ExitStack() as stack:
        report = _Report(plan, stack, tally)
        own = plan.options
        prints = own.diff or (own.output is None and not (own.check or own.in_place))
        wanted = not report.quiet and not (prints and streams.is_terminal(output=True))
        bar = stack.enter_context(streams.progress([job.input.name for job in jobs], wanted=wanted))
        stack.callback(lambda: settle(report.directories))
        try:
            for outcome in _outcomes(plan, jobs, bar):
                report.add(outcome)
                bar(0, 1)
        except KeyboardInterrupt:
            text = f"{report.states.total()} of {counted(len(jobs), 'input')} done"
            streams.warn(f"interrupted: {text}, none half written{report.how_to_go_on}")
            raise
    report.close()


def _outcomes(plan: Plan, jobs: Sequence[Job], bar: streams.Bar) -> Iterator[Outcome]:
    limit = plan.options.time_limit
    count = workers(plan.options.jobs, [job.input for job in jobs])
    if count > 1 or (count and limit is not None):
        work = partial(do, plan, writer=Writer(plan.roots))
        for outcome in in_processes(work, jobs, count, limit or inf):
            bar(outcome.sizes[0])
            yield outcome
        return
    writer = Writer(plan.roots)
    for job in jobs:
        yield do(plan, job, writer, bar)


def workers(wanted: int, inputs: Sequence[Input]) -> int:
    """Return how many processes read inputs (`wanted` 0: one per CPU); 0 if they cannot."""
    if any(each.name == STDIN for each in inputs):
        return 0
    has_affinity = hasattr(os, "sched_getaffinity")
    processors = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(wanted or processors, len(inputs))


Work: TypeAlias = Callable[[Job], Outcome]  # can be pickled; each process has its own


class _Report:
    def __init__(self, plan: Plan, stack: ExitStack, tally: Tally) -> None:
        self._plan = plan
        own, verbosity = plan.options, plan.settings.verbosity
        self._checks = own.check
        self.quiet = verbosity is Verbosity.NONE
        is_shown = own.output is not None and streams.is_terminal() and not plan.several
        self._verbose = verbosity is Verbosity.ALL or (is_shown and not self.quiet)
        is_coloured = own.diff and streams.obeys_escapes(output=True)
        self._is_coloured = is_coloured and "NO_COLOR" not in os.environ
        self._report: Callable[[Outcome], None] | None = None
        if own.report is not None:
            goes_on, writes = own.report == own.resume, not (own.check or own.diff)
            report = reporting(own.report, goes_on=goes_on, writes=writes, mark=own.csv_bom)
            self._report = stack.enter_context(report)
        self._warnings = WarningPrinter(verbosity)
        self._before = self._after = ""
        if own.format == "sarif":  # its lines are results within one object
            from relbase.cli.findings import SARIF_AFTER, sarif_before

            self._before, self._after = sarif_before(), SARIF_AFTER
        self._unknown = 0
        self._owners: dict[str, str] = {}
        self.directories: set[str] = set()  # that were written into
        self.states: Counter[State] = Counter()
        self.tally = tally
        self.how_to_go_on = "; --resume with the report continues" if self._report else ""

    def add(self, outcome: Outcome) -> None:
        # Report first, since --resume repeats what is not in the report.
        if self._report is not None and outcome.state is not State.SKIPPED:
            self._report(outcome)
        shown = shown_name(outcome.job.input.name)
        # If two pages state the same URL, at most one of them is right.
        owner = self._owners.setdefault(outcome.claimed, shown)
        if outcome.claimed and owner != shown:
            text = f"{shown}: warning: {owner} states the same URL"
            text = f"{text}, {printable(outcome.claimed)[:300]} [url-shared]"
            outcome.warned.add("url-shared", text)
        self.states[outcome.state] += 1
        is_unknown = Reason.BASE_NONE.value in outcome.notes
        self._unknown += outcome.state is State.UNCHANGED and is_unknown
        self.directories.add(outcome.directory)
        self.tally += outcome.tally
        self.tally.warnings += outcome.warned.counts.total()
        self.tally.failed += outcome.state is State.FAILED
        self.tally.unsafe += outcome.state is State.UNSAFE
        is_strange = outcome.state is State.PASSED and self._plan.settings.strict
        self.tally.findings += self._checks and is_strange
        if outcome.state is State.STOPPED:
            raise OutputError(outcome.error + self.how_to_go_on)
        self._say(outcome, shown)

    def _say(self, outcome: Outcome, shown: str) -> None:
        if outcome.error:
            streams.warn(f"{shown}: error: {outcome.error}")
        for line in outcome.errors:
            streams.warn(line)
        self._warnings.show(outcome.warned)
        for line in outcome.lines:
            code = _COLOURS.get(line[:4]) or _COLOURS.get(line[:1]) if self._is_coloured else None
            streams.say(f"\x1b[{code}m{line}\x1b[m" if code else f"{self._before}{line}")
            self._before = self._after and ","
        if self._verbose and outcome.text:
            streams.warn(f"{shown}: {outcome.text}")
        elif not self._plan.mailbox:
            self._say_given(shown, outcome.tally.on_given_url)

    def _say_given(self, mailbox: str, count: int) -> None:
        """Say how many messages have the one URL that was given for all (rule 16)."""
        if count and not self.quiet:
            text = f"the given URL was the base of {counted(count, 'message')}"
            streams.warn(f"{mailbox}: {text} whose headers state none")

    def close(self) -> None:
        if self._after:
            streams.say(f"{self._before.removeprefix(',')}{self._after}")
        is_whole = {*self.states} <= {State.REWRITTEN, State.UNCHANGED} and not self.tally.failed
        if is_whole and not self._plan.options.delivery:  # it reads only one message of many
            unmatched = self._plan.settings.unmatched(self.tally.matched)
            self.tally.warnings += unmatched.counts.total()
            self._warnings.show(unmatched)
        self._warnings.close()
        is_none = 0 < self.states[State.PASSED] == self.states.total()
        self.tally.warnings += is_none
        if self.quiet:
            return
        if is_none:
            streams.warn("warning: no input has a kind that --only names")
        if self._plan.mailbox:
            self._say_given(shown_name(self._plan.mailbox), self.tally.on_given_url)
        self._say_bases()
        if count := self.tally.unasked:
            files = counted(count, "Markdown file")
            streams.warn(f"{files} in directories left unchanged: --only markdown rewrites them")
        many = self.states.total() > 1 or self.states[State.PASSED] or self._plan.skipped
        writes = self._plan.options.output is not None or self._plan.options.in_place
        if (many and (writes or self._checks)) or self.tally.listed:
            streams.warn(self._sum())

    def _say_bases(self) -> None:
        if bases := self.tally.bases:
            parts = ", ".join(f"{count} {printable(name)}" for name, count in bases.most_common())
            for field in click.get_current_context().params["message_base"] or ():
                parts = parts.replace(f" by {field.lower()} of ", f" by {field} of ")  # as typed
            messages = f"{counted(bases.total(), 'message')} with relative links"
            streams.warn(f"base URLs of {messages}: {parts}")
        lines = unresolved_lines(self.tally.unresolved)
        if lines:
            how = "relbase links --unresolved-by lists them; --message-map names a domain @h"
            streams.warn(f"relative links without a base, by sender ({how}):")
        for line in lines[:10]:
            streams.warn(f"  {line}")
        if lines[10:]:
            streams.warn(f"  and {len(lines[10:])} more")

    def _sum(self) -> str:
        parts: list[str] = []
        for state in filter(self.states.get, State):
            would = "would be " if self._checks and state is State.REWRITTEN else ""
            parts.append(f"{self.states[state]} {would}{_WORDS.get(state, state.value)}")
            if state is State.UNCHANGED and self._unknown:
                parts[-1] += f" ({self._unknown} without a base URL)"
        if self.tally.listed:
            is_replaced = self._plan.settings.replace is not None
            parts.append(counted(self.tally.listed, "link" if is_replaced else "relative link"))
        elif self.tally.rewritten and not self._checks:
            parts.append(f"{counted(self.tally.rewritten, 'link')} {self._plan.settings.made}")
        errors = self.tally.failed - self.states[State.FAILED]
        counts = {"error": errors, "warning": self.tally.warnings}
        parts += (counted(count, what) for what, count in counts.items() if count)
        skipped = f"; skipped: {self._plan.skipped}" if self._plan.skipped else ""
        done = f": {', '.join(parts)}" if parts else ""
        return f"{counted(self.states.total(), 'input')}{done}{skipped}"


_WORDS: Final = {
    State.SKIPPED: "done before",
    State.PASSED: "of other kinds",
    State.UNSAFE: "not written (self-check)",
}


_COLOURS: Final = {"--- ": "1", "+++ ": "1", "+": "32", "-": "31", "@": "36"}


_SIGNALS: Final = frozenset((signal.SIGINT, *ENDINGS))
_CAN_BLOCK: Final = hasattr(signal, "pthread_sigmask")


class _Process:
    def __init__(self, work: Work) -> None:
        import multiprocessing

        # A fork starts at once and shares the tables of the plan, but is only safe on Linux.
        can_fork = sys.platform.startswith("linux")
        context: Any = multiprocessing.get_context("fork" if can_fork else "spawn")
        self.pipe, there = context.Pipe()
        self.process = context.Process(target=_work, args=(work, there, self.pipe), daemon=True)
        # Signals wait, where the system can let them, until `_work` handles them in its own way.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS) if _CAN_BLOCK else None
        try:
            self.process.start()
        finally:
            if before is not None:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        there.close()
        self.job: Job | None = None
        self.began = inf  # until the process says that it has started

    def give(self, job: Job | None) -> None:
        self.job = job
        if job is not None:
            with suppress(OSError):  # it has died, which `result` finds out
                self.pipe.send(job)

    def stop(self) -> None:
        """End the process, and remove what it leaves."""
        self.process.terminate()  # first so that it can remove its unfinished file
        self.process.join(timeout=1)
        self.process.kill()
        self.ended()

    def ended(self) -> None:
        self.process.join()
        if self.job is not None:
            sweep_after(self.job.input.name, self.job.output)

    def result(self, job: Job, limit: float) -> Outcome | None:
        """The result of its job; None if it is not done. Closes the pipe if the process is gone."""
        try:
            if self.pipe.poll():
                outcome: Outcome | None = self.pipe.recv()
                self.began = time.monotonic()
                return outcome
            if time.monotonic() - self.began < limit:
                return None
            why = f"it took longer than {limit:g} seconds (--time-limit)"
            text = f"{why}: the process that read it was stopped"
            self.stop()
        except (EOFError, OSError):
            self.ended()
            code = self.process.exitcode or 0
            how = f"signal {-code}" if code < 0 else f"exit status {code}"
            text = f"the process that read it died ({how}): it may not fit into memory"
        self.pipe.close()
        return Outcome(job, State.FAILED, text)


_LONGEST_PAUSE: Final = 3600.0  # seconds: longer ones overflow in the operating system


def in_processes(
    work: Work, jobs: Iterable[Job], count: int, limit: float = inf
) -> Iterator[Outcome]:
    """Do jobs in several processes, and yield their results, in the order in which they end."""
    from multiprocessing.connection import wait

    pending = iter(jobs)
    processes = [_Process(work) for _ in range(count)]
    try:
        for process in processes:
            process.give(next(pending, None))
        while busy := [(process, process.job) for process in processes if process.job is not None]:
            until = min(process.began for process, _ in busy) + limit
            pause = min(max(0.0, until - time.monotonic()), _LONGEST_PAUSE)
            wait([process.pipe for process, _ in busy], pause)
            for process, job in busy:
                outcome = process.result(job, limit)
                if outcome is None:
                    continue
                free = process
                if process.pipe.closed:
                    free = processes[processes.index(process)] = _Process(work)
                free.give(next(pending, None))
                yield outcome
    finally:
        for process in processes:
            # SIGTERM raises an exception in the process, which then removes its unfinished file. A
            # process without a job ends when its pipe is closed.
            if process.job is not None:
                process.process.terminate()
            process.pipe.close()
        for process in processes:
            process.ended()


def _work(work: Work, pipe: Connection, other: Connection) -> None:
    other.close()
    disown()
    # Ctrl-C in a terminal reaches all processes. The one that hands out the jobs ends the others,
    # so that each can remove its unfinished file.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for ending in ENDINGS:
        signal.signal(ending, terminated)
    if _CAN_BLOCK:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    _limit_memory()
    try:
        with suppress(EOFError, OSError):
            pipe.send(None)  # it has started
            while True:
                pipe.send(work(pipe.recv()))
    finally:
        remove_owned()


def _limit_memory() -> None:
    """Make a document that needs more than all the memory an error, before the system acts."""
    # Without a limit the system ends a process that takes too much, and its input fails.
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource  # not every system has it

        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if most > 0 and (hard == resource.RLIM_INFINITY or most < hard):
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
