"""Ten thousand files by one process and by two, with one among them that ends its process.

Run it as `python tests/crashes/many_files.py` on a machine that does nothing else; `--help` lists
its arguments.

Strategy: a tree of pages, some of them of a megabyte, is rewritten into another, by one process
and by two in turns. The poison ends the process that reads it (for one process it is an error).
The most memory of each process is looked up as they run. Two are to take less than 1/1.7 of the
time of one, the poison is to cost itself alone, and no process is to need more than the largest
page takes six times over.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

URL: Final = "http://h.example/"
LARGE: Final = 1 << 20
POISON: Final = "poison.html"
FASTER: Final = 1.7
# Of a process that has rewritten one small page, in bytes, measured before.
_MARGIN: Final = 6 * LARGE + (32 << 20)

# The command line, but for a page that kills a child, and is an error in the process itself.
PROGRAM: Final = """
import multiprocessing, os, signal, sys
from relbase.session import run
from relbase.cli import main
rewrite = run.rewrite
def poisoned(given):
    if b"poison" in given.document.data:
        if multiprocessing.parent_process() is None:
            raise MemoryError
        os.kill(os.getpid(), signal.SIGKILL)
    return rewrite(given)
run.rewrite = poisoned
main()
"""


class Ran(NamedTuple):
    """A run: its seconds, those of processors, what it printed, and its processes' memory."""

    seconds: float
    processors: float
    printed: str
    memory: dict[int, int]


def make(tree: Path, count: int) -> int:
    """Write the pages; return how many bytes they have."""
    size = 0
    for number in range(count):
        links = b"".join(
            b'<a href="../d%d/p%d.html">x</a>\n' % (one % 7, one) for one in range(150)
        )
        page = b"<!DOCTYPE html><title>%d</title>\n%b" % (number, links * 3)
        if number % 500 == 0:
            page *= LARGE // len(page)
        if number == count // 2:
            page += b"poison"
        folder = tree / f"d{number % 97}"
        folder.mkdir(exist_ok=True)
        name = POISON if number == count // 2 else f"p{number}.html"
        (folder / name).write_bytes(page)
        size += len(page)
    return size


def run(tree: Path, output: Path, jobs: int) -> Ran:
    """Rewrite the tree, and look at the processes meanwhile."""
    shutil.rmtree(output, ignore_errors=True)
    report = output.with_suffix(".jsonl")
    report.unlink(missing_ok=True)
    command = [sys.executable, "-c", PROGRAM, "rewrite", "-r", str(tree), "-o", f"{output}/"]
    command += ["-j", str(jobs), "--root", f"{tree}={URL}", "--report", str(report)]
    started, used = time.perf_counter(), spent()
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    memory: dict[int, int] = {}
    while process.poll() is None:
        for one in (process.pid, *children(process.pid)):
            memory[one] = max(memory.get(one, 0), most_memory(one))
        time.sleep(0.05)
    seconds = time.perf_counter() - started
    assert process.stderr is not None
    printed = process.stderr.read()
    lost = [row for row in map(json.loads, report.open()) if row["state"] == "failed"]
    assert process.returncode == 3, (process.returncode, printed)
    assert [Path(row["file"]).name for row in lost] == [POISON], lost
    written = sum(1 for path in output.rglob("*.html"))
    assert written == sum(1 for path in tree.rglob("*.html")) - 1, written
    return Ran(seconds, spent() - used, printed, memory)


def spent() -> float:
    """The processor time of all processes that have ended, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def children(process: int) -> list[int]:
    """The processes that a process has started."""
    with suppress(OSError):
        return [*map(int, Path(f"/proc/{process}/task/{process}/children").read_text().split())]
    return []


def most_memory(process: int) -> int:
    """The most memory that a process has had, in bytes."""
    with suppress(OSError):
        for line in Path(f"/proc/{process}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) << 10
    return 0


def main(count: int, rounds: int) -> int:
    with tempfile.TemporaryDirectory() as name:
        tree, few = Path(name) / "tree", Path(name) / "few"
        tree.mkdir()
        few.mkdir()
        size = make(tree, count)
        make(few, 2)
        small = max(run(few, Path(name) / "out", 2).memory.values())
        best = dict.fromkeys((1, 2), float("inf"))
        least = dict(best)
        most = 0
        for _ in range(rounds):
            for jobs in best:
                ran = run(tree, Path(name) / "out", jobs)
                best[jobs] = min(best[jobs], ran.seconds)
                least[jobs] = min(least[jobs], ran.processors)
                most = max(most, *ran.memory.values())
        print(ran.printed)
        ratio = best[1] / best[2]
        print(f"{count} files, {size / 1e6:.0f} MB: {best[1]:.1f} s by one process, ", end="")
        print(f"{best[2]:.1f} s by two: {ratio:.2f} times as fast (at least {FASTER})")
        allowed = 2 * least[1] / least[2]
        print(f"processor time: {least[1]:.1f} s by one, {least[2]:.1f} s by two: ", end="")
        print(f"where nothing else runs, two cores allow {allowed:.2f}")
        print(f"memory: {most / 1e6:.0f} MB; {small / 1e6:.0f} MB for two files", end="")
        print(f" (at most {_MARGIN / 1e6:.0f} MB more)")
    return 0 if ratio >= FASTER and most - small <= _MARGIN else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("files", type=int, nargs="?", default=10_000, help="10,000 if left out")
    parser.add_argument("rounds", type=int, nargs="?", default=3, help="3 if left out")
    given = parser.parse_args()
    sys.exit(main(given.files, given.rounds))
