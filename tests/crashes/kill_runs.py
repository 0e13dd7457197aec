"""Kill runs that replace files, again and again, and look at what is left.

Run it as `python tests/crashes/kill_runs.py`; `--help` says how often it kills.

Strategy: a tree of pages is rewritten in place by two processes, with a report. At a random moment
the whole group is killed with SIGKILL. Then each page is what it was or what it is to be, whole,
and none is gone. The next run goes on with the report, until all is done; then the tree is made
anew. At the end a run finishes, and no temporary file is left.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

PAGES = 24
URL = "http://h.example/"


def old(number: int) -> bytes:
    """A page before."""
    links = b"".join(b'<a href="page%d.html">x</a>\n' % other for other in range(200))
    return b"<!DOCTYPE html><title>%d</title>\n" % number + links


def new(number: int) -> bytes:
    """The page after."""
    return old(number).replace(b'href="', b'href="' + URL.encode())


def make(tree: Path, report: Path) -> None:
    """Make the tree anew."""
    tree.mkdir(exist_ok=True)
    for number in range(PAGES):
        (tree / f"page{number}.html").write_bytes(old(number))
    report.unlink(missing_ok=True)


def start(tree: Path, report: Path) -> subprocess.Popen[bytes]:
    """Start a run in a group of its own."""
    command = [sys.executable, "-m", "relbase", "rewrite", "-r", str(tree), "-i", "-j", "2"]
    command += ["--root", f"{tree}={URL}", "--report", str(report)]
    command += ["--resume", str(report)]
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def look(tree: Path) -> Counter[str]:
    """What each page is."""
    found: Counter[str] = Counter()
    for number in range(PAGES):
        path = tree / f"page{number}.html"
        if not path.exists():
            found["lost"] += 1
            continue
        content = path.read_bytes()
        states = {old(number): "old", new(number): "new"}
        found[states.get(content, "torn")] += 1
    found["temporary"] = len(list(tree.glob(".*relbase-tmp")))
    return found


def main(kills: int) -> int:
    """Kill so many runs; return the exit status."""
    seed = int(os.environ.get("SEED", time.time_ns() % 10**6))
    chance = random.Random(seed)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        tree, report = Path(directory, "tree"), Path(directory, "report.jsonl")
        make(tree, report)
        started = time.monotonic()
        start(tree, report).wait()
        whole = time.monotonic() - started
        make(tree, report)
        done = 0
        until = time.monotonic() + float(os.environ.get("SECONDS_AT_MOST", "inf"))
        while done < kills and time.monotonic() < until:
            run = start(tree, report)
            time.sleep(chance.uniform(0.15, 1) * whole)
            ended = run.poll() is not None
            if not ended:
                os.killpg(run.pid, signal.SIGKILL)
                done += 1
            run.wait()
            found = look(tree)
            total["torn"] += found["torn"]
            total["lost"] += found["lost"]
            total["runs that left temporary files"] += found["temporary"] > 0
            total["runs killed in the middle"] += 0 < found["new"] < PAGES
            if ended or found["new"] == PAGES:
                make(tree, report)
        status = start(tree, report).wait()
        found = look(tree)
    print(f"seed {seed}: {done} kills, a whole run took {whole:.1f} s")
    for what in ("torn", "lost", "runs killed in the middle", "runs that left temporary files"):
        print(f"  {what}: {total[what]}")
    print(f"  the last run ended with {status}: {dict(found)}")
    good = not total["torn"] and not total["lost"] and found["new"] == PAGES
    return 0 if good and status == 0 and found["temporary"] == 0 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kills", type=int, nargs="?", default=200, help="200 if left out")
    sys.exit(main(parser.parse_args().kills))
