"""Many inputs in several processes: each has one job at a time, and may die of it.

To mind: an interrupt of the terminal reaches all processes. They ignore it and are ended by the one
that hands out the jobs, so that each can remove its unfinished file.
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
from math import inf
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

# How many jobs a process has at once: it need not wait for the next.
_AHEAD: Final = 2


class _Process:
    """A process, and the jobs that it has, the one in work first."""

    def __init__(self, plan: Plan) -> None:
        self.pipe, there = _CONTEXT.Pipe()
        self.process = _CONTEXT.Process(target=_work, args=(plan, there, self.pipe), daemon=True)
        self.process.start()
        there.close()
        self.jobs: deque[Job] = deque()
        self.began = inf  # the job in work; none before the process says that it has started

    def supply(self, pending: Iterator[Job]) -> None:
        for job in islice(pending, _AHEAD - len(self.jobs)):
            self.jobs.append(job)
            with suppress(OSError):  # it has died: that shows when its answer is waited for
                self.pipe.send(job)

    def result(self, limit: float) -> Done | None:
        """What became of the job in work, None while it is; the pipe is closed if it was fatal."""
        try:
            if self.pipe.poll():
                done: Done | None = self.pipe.recv()
                self.began = time.monotonic()
                if done is not None:
                    self.jobs.popleft()
                return done
            if time.monotonic() - self.began < limit:
                return None
            why = f"it took longer than {limit:g} seconds (--time-limit)"
            text = f"{why}: the process that read it was ended"
            self.process.terminate()  # first so that it can remove its unfinished file
            self.process.join(_FAREWELL)
            self.process.kill()
            self.process.join()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode or 0
            how = f"signal {-code}" if code < 0 else f"exit status {code}"
            memory = "it may be too large for the memory"
            text = f"the process that read it was ended ({how}): {memory}"
        self.pipe.close()
        return Done(self.jobs.popleft(), State.FAILED, text)


def in_processes(plan: Plan, jobs: Iterable[Job], count: int, limit: float = inf) -> Iterator[Done]:
    """Do jobs in several processes, and yield what became of each, in the order they end in."""
    pending = iter(jobs)
    processes = [_Process(plan) for _ in range(count)]
    try:
        for process in processes:
            process.supply(pending)
        while busy := [process for process in processes if process.jobs]:
            until = min(process.began for process in busy) + limit
            pause = None if until == inf else max(0.0, until - time.monotonic())
            wait([process.pipe for process in busy], pause)
            for process in busy:
                done = process.result(limit)
                if process.pipe.closed:  # another one takes the jobs that it had not begun
                    processes.remove(process)
                    pending = chain(process.jobs, pending)
                    processes.append(_Process(plan))
                if done is not None:
                    (processes[-1] if process.pipe.closed else process).supply(pending)
                    yield done
    finally:
        for process in processes:
            # SIGTERM is an exception in the process, which removes its unfinished file. One
            # without a job ends when its pipe does.
            if process.jobs:
                process.process.terminate()
            process.pipe.close()
        for process in processes:
            process.process.join()


# ---- in the process


def _work(plan: Plan, pipe: Connection, other: Connection) -> None:
    other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for ending in ENDINGS:
        signal.signal(ending, terminated)
    _limit_memory()
    worker = Worker(plan)
    with suppress(EOFError, OSError):
        pipe.send(None)  # it has started
        while True:
            pipe.send(worker.do(pipe.recv()))


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
