"""Spark: the same archives by one core and by two, start-up not counted, in interleaved rounds.

Eight archives of 30 MB, each some 160 MB of pages, are converted, and their links listed. Each run
is a process of its own with a session of its own; the clock runs once a small job has started the
workers. The clock is that of the wall, so that it says something only where nothing else runs.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.archives import make
from benchmarks.timing import Timing, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ARCHIVES: Final = 8
# The real pages five times are some 30 MB of archive.
_COPIES: Final = 5
_DATE: Final = "2026-01-02T03:04:05Z"
_ONE, _TWO = "local[1]", "local[2]"


def run(data: Path | None, rounds: int) -> Iterator[str]:
    """Yield a table for each job."""
    if data is None:
        yield "spark: give --data, the directory that has real-pages/"
    elif importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        yield "spark: needs pyspark and Java"
    else:
        yield from _tables(data, max(1, rounds // 3))


def _tables(data: Path, rounds: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder) / "0.warc.gz"
        size = _ARCHIVES * make(first, data, _COPIES)
        for number in range(1, _ARCHIVES):
            first.with_name(f"{number}.warc.gz").hardlink_to(first)
        for job in JOBS:
            best = dict.fromkeys((_ONE, _TWO), float("inf"))
            for _ in range(rounds):
                for master in best:
                    best[master] = min(best[master], _spent(master, job, folder))
            timings = [Timing(name, seconds) for name, seconds in best.items()]
            title = f"spark: {job} of {_ARCHIVES} archives, {size / 1e6:.0f} MB of pages (wall)"
            yield table(title, timings, size / 1e6, "MB", _ONE)


def _spent(master: str, job: str, folder: str) -> float:
    command = [sys.executable, "-m", "benchmarks.spark", master, job, folder]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return float(done.stdout)


def _links(session: Any, paths: list[str], _output: str) -> None:  # noqa: ANN401
    from relbase.spark import links  # the process that has a session

    links(session, paths).write.format("noop").mode("overwrite").save()


def _convert(session: Any, paths: list[str], output: str) -> None:  # noqa: ANN401
    from relbase.spark import convert

    reports = convert(session, paths, output, date=_DATE)
    assert len(reports) == len(paths)
    assert not any(report.faults for report in reports)


JOBS: Final[dict[str, Callable[[Any, list[str], str], None]]] = {
    "convert": _convert,
    "links": _links,
}


def contender(master: str, job: str, folder: str) -> float:
    """Return the seconds that a job takes once the workers have started."""
    from pyspark.sql import SparkSession  # of the extra `spark`

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    session = builder.config("spark.log.level", "OFF").getOrCreate()
    paths = sorted(map(str, Path(folder).glob("*.warc.gz")))
    with tempfile.TemporaryDirectory() as output:
        small = Path(output) / "small.warc.gz"
        small.write_bytes(_start(paths[0]))
        copies = [small.with_name(f"{number}.warc.gz") for number in range(4)]
        for copy in copies:
            copy.hardlink_to(small)
        JOBS[job](session, list(map(str, copies)), f"{output}/warm")
        start = time.perf_counter()
        JOBS[job](session, paths, f"{output}/made")
        spent = time.perf_counter() - start
    session.stop()
    return spent


def _start(path: str) -> bytes:
    """The first record of an archive."""
    from relbase.compression.members import pieces  # of this process alone

    with Path(path).open("rb") as file:
        data = file.read(1 << 20)
    end = next(piece.at for piece in pieces([data]) if piece.at)  # of the next member
    return data[:end]


if __name__ == "__main__":
    print(contender(*sys.argv[1:]))
