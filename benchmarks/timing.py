"""How contenders compare: interleaved rounds in one run, and the minimum of equal rounds.

In: contenders, each a name and a function without arguments that does one whole round of the work.
Out: seconds per contender, and a table of ratios.

What to mind: absolute times belong to one machine on one day, ratios of one run are what to quote.
In every round each contender has a turn of several runs, since the first has to fill the caches
that another one used. The order rotates, so that a slow spell of the machine does not fall on one
of them alone. The clock counts processor time: what else the machine does is not timed.
"""

from __future__ import annotations

import gc
import platform
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Final, NamedTuple

import relbase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Contender(NamedTuple):
    """What is timed: `run` does one whole round."""

    name: str
    run: Callable[[], object]


class Timing(NamedTuple):
    """The fastest of a contender's rounds."""

    name: str
    seconds: float
    noise: float = 0.0  # by how much of that the next best turn was slower


# How often a contender runs in a turn.
_IN_TURN: Final = 3


class Spent(NamedTuple):
    """What a process and its children used: processor time in seconds, most memory in bytes."""

    seconds: float
    memory: int


# Linux counts for a process also the memory of the one that spawned it: this one is small.
_SPAWN = """
import os, sys
closed = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=closed)
_, status, used = os.wait4(process, 0)
print(used.ru_utime + used.ru_stime, used.ru_maxrss << 10)
sys.exit(f"{sys.argv[1:]}: status {status}" if status else 0)
"""


def spent(command: Sequence[str]) -> Spent:
    """Run a command; return what it used."""
    spawn = [sys.executable, "-c", _SPAWN, *command]
    ran = subprocess.run(spawn, check=True, stdout=subprocess.PIPE, text=True)
    seconds, memory = ran.stdout.split()
    return Spent(float(seconds), int(memory))


def machine() -> str:
    """Return what the measurements are of: the processor, Python and its compiler, the scanner."""
    processor = platform.processor() or platform.machine()
    with suppress(OSError):
        about = Path("/proc/cpuinfo").read_text(encoding="utf-8")
        named = (
            line.partition(":")[2].strip() for line in about.splitlines() if "model name" in line
        )
        processor = next(named, processor)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{processor.strip()}; {python}, {platform.python_compiler()}; {relbase.scanner} scanner"


def measure(contenders: Sequence[Contender], rounds: int) -> list[Timing]:
    """Give every contender a turn in each of the rounds; one run before is not counted."""
    for contender in contenders:
        contender.run()
    turns: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    for round_number in range(rounds):
        first = round_number % len(contenders)
        for name, run in (*contenders[first:], *contenders[:first]):
            turns[name].append(min(_timed(run) for _ in range(_IN_TURN)))
    return [_best(name, sorted(seconds)) for name, seconds in turns.items()]


def _best(name: str, seconds: list[float]) -> Timing:
    return Timing(name, seconds[0], seconds[1] / seconds[0] - 1 if len(seconds) > 1 else 0.0)


def _timed(run: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    try:
        started = process_time()
        run()
        return process_time() - started
    finally:
        gc.enable()


def table(title: str, timings: Sequence[Timing], amount: float, unit: str, peer: str) -> str:
    """Return the table: amount of work per second, times as fast as the peer, and noise.

    Args:
        title: what was done, and on how much.
        timings: of one run.
        amount: how many units one round works through.
        unit: what they are, such as "MB".
        peer: the name of the contender that has ratio 1.
    """
    of_peer = next(timing.seconds for timing in timings if timing.name == peer)
    width = max(len(timing.name) for timing in timings)
    lines = [title, f"  {'':{width}}  {unit + '/s':>12}  {'ratio':>6}  {'noise':>6}"]
    lines += [
        f"  {name:{width}}  {amount / seconds:12,.1f}  {of_peer / seconds:6.2f}  {noise:6.1%}"
        for name, seconds, noise in sorted(timings, key=lambda timing: timing.seconds)
    ]
    return "\n".join(lines)
