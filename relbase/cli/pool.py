"""Many inputs in several processes: each has one job at a time, and may die of it.

Strategy: a process gets the plan once and then jobs over a pipe, one after the other; what became
of each comes back the same way. A process that ends in the middle of a job (killed for its memory,
say) costs that one input: it is reported as failed, and another process takes the place. So it is
with one that takes longer than it may.

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
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Final, NoReturn

from relbase.cli.jobs import Done, Job, State
from relbase.cli.work import Worker

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from types import FrameType

    from relbase.cli.jobs import Plan

# A fork starts at once, and shares the tables of the plan. macOS and Windows cannot do it safely.
_CONTEXT: Final = (
    multiprocessing.get_context("fork")
    if sys.platform.startswith("linux")
    else multiprocessing.get_context("spawn")
)

# So many jobs of a process wait in its pipe: it need not wait for the next, and loses few.
_AHEAD: Final = 2


@dataclass(slots=True, eq=False)
class _Hand:
    """One process, and the jobs that it has, the one in work first.

    Args:
        process: that has been started.
        pipe: to it.
        jobs: what it was given.
        began: when it got the first of them, or was done with the one before.
        ended: whether the process is known to have ended.
    """

    process: BaseProcess
    pipe: Connection
    jobs: deque[Job] = field(default_factory=deque)
    began: float = 0.0
    ended: bool = False


def in_processes(
    plan: Plan, jobs: Iterable[Job], count: int, limit: float | None = None
) -> Iterator[Done]:
    """Do jobs in several processes, and yield what became of each, in the order they end in."""
    pending = iter(jobs)
    hands = [_start(plan) for _ in range(count)]
    try:
        for hand in hands:
            _supply(hand, pending)
        while busy := [hand for hand in hands if hand.jobs]:
            ready = wait([hand.pipe for hand in busy], _pause(busy, limit))
            for hand in busy:
                if hand.pipe in ready:
                    done = _received(hand)
                elif limit is not None and _is_late(hand, limit):
                    done = _ended_late(hand, limit)
                else:
                    continue
                yield done
                if hand.ended:
                    hands.remove(hand)
                    hands.append(_replaced(plan, hand))
                _supply(hands[-1] if hand.ended else hand, pending)
    finally:
        _end(hands)


def _received(hand: _Hand) -> Done:
    """What became of a job, or of the process that had it."""
    try:
        done: Done = hand.pipe.recv()
    except (EOFError, OSError):
        return _lost(hand)
    hand.jobs.popleft()
    hand.began = time.monotonic()
    return done


def _start(plan: Plan) -> _Hand:
    here, there = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_work, args=(plan, there, here), daemon=True)
    process.start()
    there.close()
    return _Hand(process, here)


def _supply(hand: _Hand, pending: Iterator[Job]) -> None:
    while len(hand.jobs) < _AHEAD:
        job = next(pending, None)
        if job is None:
            return
        if not hand.jobs:
            hand.began = time.monotonic()
        hand.jobs.append(job)
        with suppress(OSError):  # it has died: that shows when its answer is waited for
            hand.pipe.send(job)


def _lost(hand: _Hand) -> Done:
    """What became of the job that a process died of."""
    hand.process.join()
    hand.ended = True
    job = hand.jobs.popleft()
    code = hand.process.exitcode or 0
    how = f"signal {-code}" if code < 0 else f"exit status {code}"
    text = f"the process that read it was ended ({how}): it may be too large for the memory"
    return Done(job, State.FAILED, text)


def _pause(busy: Iterable[_Hand], limit: float | None) -> float | None:
    """How long to wait until the first of the jobs in work is late."""
    if limit is None:
        return None
    return max(0.0, min(hand.began for hand in busy) + limit - time.monotonic())


def _is_late(hand: _Hand, limit: float) -> bool:
    return time.monotonic() - hand.began >= limit and not hand.pipe.poll()


def _ended_late(hand: _Hand, limit: float) -> Done:
    """End a process that takes too long; first so that it can remove its unfinished file."""
    hand.process.terminate()
    hand.process.join(_FAREWELL)
    hand.process.kill()
    hand.process.join()
    hand.ended = True
    text = (
        f"it took longer than {limit:g} seconds (--time-limit): the process that read it was ended"
    )
    return Done(hand.jobs.popleft(), State.FAILED, text)


_FAREWELL: Final = 1.0  # seconds


def _replaced(plan: Plan, dead: _Hand) -> _Hand:
    """Another process in the place of one that died, with the jobs that it had not begun."""
    dead.pipe.close()
    hand = _start(plan)
    hand.jobs, hand.began = dead.jobs, time.monotonic()
    for job in hand.jobs:
        hand.pipe.send(job)
    return hand


def _end(hands: Iterable[_Hand]) -> None:
    for hand in hands:
        # SIGTERM is an exception in the process, which removes its unfinished file.
        if hand.jobs:
            hand.process.terminate()
        hand.pipe.close()
    for hand in hands:
        hand.process.join()


# ---- in the process


def _work(plan: Plan, pipe: Connection, other: Connection) -> None:
    other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _ended)
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


def _ended(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
