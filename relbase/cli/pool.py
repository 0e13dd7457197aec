"""Many inputs in several processes: each has one job at a time, and may die of it.

Strategy: a process gets the plan once and then jobs over a pipe, one after the other; what became
of each comes back the same way. A process that ends in the middle of a job (killed for its memory,
say), or takes longer than it may, costs that one input: it is reported as failed, and another
process takes the place.

To mind: an interrupt of the terminal reaches all processes. They ignore it and are ended by the
one that hands out the jobs, so that each can remove its unfinished file. When that one is killed,
they see the end of their pipe, finish what they have, and end.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from contextlib import suppress
from itertools import chain, islice
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Final

from relbase.cli import ENDINGS, terminated
from relbase.cli.jobs import Done, Job, State
from relbase.cli.work import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection

    from relbase.cli.jobs import Plan

# A fork starts at once, and shares the tables of the plan. macOS and Windows cannot do it safely.
_CONTEXT: Final = (
    multiprocessing.get_context("fork")
    if sys.platform.startswith("linux")
    else multiprocessing.get_context("spawn")
)

# How long a process that takes too long has to remove its unfinished file, in seconds.
_FAREWELL: Final = 1.0


# So many jobs of a process wait in its pipe: it need not wait for the next.
_AHEAD: Final = 2


class _Process:
    """A process, and the jobs that it has, the one in work first."""

    def __init__(self, plan: Plan) -> None:
        self.pipe, there = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_work, args=(plan, there, self.pipe), daemon=True)
        self._process.start()
        there.close()
        self.jobs: deque[Job] = deque()
        self.began = 0.0

    def supply(self, pending: Iterator[Job]) -> None:
        for job in islice(pending, _AHEAD - len(self.jobs)):
            if not self.jobs:
                self.began = time.monotonic()
            self.jobs.append(job)
            with suppress(OSError):  # it has died: that shows when its answer is waited for
                self.pipe.send(job)

    def answer(self) -> Done:
        """What became of the job in work; the process may have died of it."""
        try:
            done: Done = self.pipe.recv()
        except (EOFError, OSError):
            self._process.join()
            code = self._process.exitcode or 0
            how = f"signal {-code}" if code < 0 else f"exit status {code}"
            memory = "it may be too large for the memory"
            return self._failed(f"the process that read it was ended ({how}): {memory}")
        self.jobs.popleft()
        self.began = time.monotonic()
        return done

    def is_late(self, limit: float) -> bool:
        return time.monotonic() - self.began >= limit and not self.pipe.poll()

    def end_late(self, limit: float) -> Done:
        """End a process that takes too long; first so that it can remove its unfinished file."""
        self._process.terminate()
        self._process.join(_FAREWELL)
        self._process.kill()
        self._process.join()
        limited = f"it took longer than {limit:g} seconds (--time-limit)"
        return self._failed(f"{limited}: the process that read it was ended")

    def _failed(self, text: str) -> Done:
        self.pipe.close()
        return Done(self.jobs.popleft(), State.FAILED, text)

    @property
    def is_dead(self) -> bool:
        return self.pipe.closed

    def let_go(self) -> None:
        """Tell the process to end: one without a job does so by itself."""
        # SIGTERM is an exception in the process, which removes its unfinished file.
        if self.jobs:
            self._process.terminate()
        self.pipe.close()

    def join(self) -> None:
        self._process.join()


def in_processes(
    plan: Plan, jobs: Iterable[Job], count: int, limit: float | None = None
) -> Iterator[Done]:
    """Do jobs in several processes, and yield what became of each, in the order they end in."""
    pending = iter(jobs)
    processes = [_Process(plan) for _ in range(count)]
    try:
        for process in processes:
            process.supply(pending)
        while busy := [process for process in processes if process.jobs]:
            for process, done in _answers(busy, limit):
                if process.is_dead:  # another one takes the jobs that it had not begun
                    processes.remove(process)
                    pending = chain(process.jobs, pending)
                    processes.append(_Process(plan))
                (processes[-1] if process.is_dead else process).supply(pending)
                yield done
    finally:
        for process in processes:
            process.let_go()
        for process in processes:
            process.join()


def _answers(busy: list[_Process], limit: float | None) -> Iterator[tuple[_Process, Done]]:
    """What became of the jobs that are done, or have taken too long."""
    pause = None
    if limit is not None:
        until = min(process.began for process in busy) + limit
        pause = max(0.0, until - time.monotonic())
    ready = wait([process.pipe for process in busy], pause)
    for process in busy:
        if process.pipe in ready:
            yield process, process.answer()
        elif limit is not None and process.is_late(limit):
            yield process, process.end_late(limit)


# ---- in the process


def _work(plan: Plan, pipe: Connection, other: Connection) -> None:
    other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for ending in ENDINGS:
        signal.signal(ending, terminated)
    _limit_memory()
    worker = Worker(plan)
    while True:
        try:
            job = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(worker.do(job))
        except BrokenPipeError:
            return


def _limit_memory() -> None:
    """Let a document that needs more than all the memory be an error, before the system decides."""
    try:
        import resource  # noqa: PLC0415 (not every system has it)

        most = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if most > 0 and (hard == resource.RLIM_INFINITY or most < hard):
            resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    except (ImportError, AttributeError, ValueError, OSError):
        return  # then a process that takes too much is ended, which costs its input
