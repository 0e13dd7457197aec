"""Send a signal at each system call of a run that writes, and look at what is left.

`python tests/crashes/signals.py [--of WAY,...] [--every N]` records the calls of a run (by strace)
in each way of writing of kill_runs.py, from its first lock or unfinished file on. Then it repeats
the run and sends SIGINT, SIGTERM or SIGHUP at one of these calls, for each call and each signal
(or each N-th of these). Then each file is what it was or what it becomes, no lock, unfinished file
or needless backup is left, and the run ends with the status of the signal, or as if there had been
none when it came too late. A process of several that is ended costs its input.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import kill_runs
from kill_runs import WAYS, Trial, found
from power_cuts import has_strace

SIGNALS: Final = ("SIGINT", "SIGTERM", "SIGHUP")
_CALLS: Final = (
    *("openat", "close", "flock", "fcntl", "write", "fsync", "fchmod", "fchown", "utimensat"),
    *("newfstatat", "rename", "renameat", "linkat", "link", "unlink", "unlinkat", "mkdir"),
    *("mkdirat", "flistxattr"),
)
_LINE: Final = re.compile(r"(\d+) +(\w+)\((.*)")
# A frame of a function: before, the modules load that `main` is in, which nothing can catch.
_STARTED: Final = re.compile(rb'relbase/cli/[^"\n]*", line \d+, in (?!<module>)')


class Moment(NamedTuple):
    """A call of a process: the n-th with that name."""

    call: str
    number: int


def _strace(trial: Trial, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = ["strace", "-f", "-e", f"trace={','.join(_CALLS)}", *arguments]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    return subprocess.run(
        [*command, sys.executable, "-m", "relbase", *trial.command],
        cwd=trial.top,
        env=environment,
        capture_output=True,
        timeout=60,
        check=False,
    )


def moments(trial: Trial, trace: Path) -> list[Moment]:
    """Record a run; return its calls in its directory, by their numbers in their processes."""
    trial.make()
    assert _strace(trial, "-y", "-o", str(trace)).returncode == 0
    counts, within = Counter[tuple[str, str]](), dict[Moment, None]()
    has_begun = set[str]()
    for process, call, arguments in _LINE.findall(trace.read_text("utf-8", "replace")):
        counts[process, call] += 1
        if f"{trial.top.resolve()}/" in arguments and "relbase-tmp" in arguments:
            has_begun.add(process)
        if process in has_begun or ".lock" in arguments:
            within[Moment(call, counts[process, call])] = None
    return list(within)


def send(trial: Trial, name: str, moment: Moment) -> Iterator[str]:
    """Repeat a run with a signal at a moment; yield what is wrong, and whether it was ended."""
    trial.make()
    inject = f"inject={moment.call}:signal={name}:when={moment.number}"
    ran = _strace(trial, "-e", inject, "-o", os.devnull)
    number = getattr(signal, name)
    allowed = {0, 128 + number, -number}
    if "-j 2" in " ".join(trial.command):
        allowed.add(3)
    there = found(trial.top)
    if b"Traceback" in ran.stderr and not _STARTED.search(ran.stderr):
        # A call of another process had this number in this one, before it had started.
        yield "ended" if there.files == trial.before else "a traceback"
        return
    if ran.returncode not in allowed:
        yield f"status {ran.returncode}"
    if b"Traceback" in ran.stderr or b"this is a bug" in ran.stderr:
        yield "a traceback"
    if ran.returncode != 0:
        yield "ended"
    elif there.files != trial.after:
        yield "not done"
    wrong = trial.look(there)
    # A message that gets another name has both for a moment; the next run ends that.
    for usual in ("in the middle", "a file twice"):
        wrong.pop(usual, None)
    yield from wrong
    if any(".bak" in path.name and path.stat().st_nlink > 1 for path in trial.top.rglob("*")):
        yield "a backup of what was not replaced"


def trials(way: str, top: Path, every: int, *, jobs: int) -> Counter[str]:
    """Send signals in runs of a way; count the runs, and what was wrong."""
    counts = Counter[str]()
    trial = Trial(way, top)
    words = zip(("", *trial.command), trial.command, strict=False)
    trial.command = [str(jobs) if before == "-j" else word for before, word in words]
    with tempfile.TemporaryDirectory() as directory:
        recorded = moments(trial, Path(directory, "trace"))
    pairs = [(name, moment) for moment in recorded for name in SIGNALS]
    for name, moment in pairs[::every]:
        counts["runs"] += 1
        for wrong in send(trial, name, moment):
            counts[wrong] += 1
            if wrong == "ended":
                continue
            text = f"{way}, {jobs} processes: {name} at {moment.call} {moment.number}: {wrong}"
            print(text, flush=True)
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--of", default=",".join(WAYS), help="names, by commas")
    parser.add_argument("--every", type=int, default=1, help="send each N-th signal (default 1)")
    given = parser.parse_args()
    if not has_strace():
        parser.error("strace records no run here: install it, or let it trace")
    kill_runs.FILES, total = 4, Counter[str]()
    for way in given.of.split(","):
        for jobs in (1, 2) if "-j" in WAYS[way][1] else (1,):
            with tempfile.TemporaryDirectory() as directory:
                counts = trials(way, Path(directory, "t"), given.every, jobs=jobs)
            total += counts
            print(f"{way}, {jobs} processes: {dict(counts)}", flush=True)
    return int({*total} != {"runs", "ended"})


if __name__ == "__main__":
    sys.exit(main())
