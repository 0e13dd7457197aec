"""Kill runs that replace files, again and again, and look at what is left.

Run it as `python tests/crashes/kill_runs.py`; `--help` says how often it kills.

Strategy: a tree of pages, or a Maildir whose names hold sizes, is rewritten in place by two
processes, with a report. At a random moment the whole group is killed with SIGKILL. Then each file
is what it was or what it is to be, whole, and none is gone. The next run goes on with the report,
until all is done; then the files are made anew. At the end a run finishes: each file is there once,
and no temporary file is left.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

FILES = 24
URL = "http://h.example/"
MAIL = b"Content-Type: text/html\nContent-Base: %b\n\n" % URL.encode()


def old(number: int) -> bytes:
    """A page before."""
    links = b"".join(b'<a href="page%d.html">x</a>\n' % other for other in range(200))
    return b"<!DOCTYPE html><title>%d</title>\n" % number + links


def new(number: int) -> bytes:
    """The page after."""
    return old(number).replace(b'href="', b'href="' + URL.encode())


def make(tree: Path, report: Path, *, mail: bool) -> None:
    """Make the files anew."""
    shutil.rmtree(tree, ignore_errors=True)
    for box in ("cur", "new", "tmp") if mail else (".",):
        (tree / box).mkdir(parents=True)
    for number in range(FILES):
        if mail:
            data = MAIL + old(number)
            (tree / f"cur/{number}.host,S={len(data)}:2,").write_bytes(data)
        else:
            (tree / f"{number}.html").write_bytes(old(number))
    report.unlink(missing_ok=True)


def start(tree: Path, report: Path, *, mail: bool) -> subprocess.Popen[bytes]:
    """Start a run in a group of its own."""
    command = [sys.executable, "-m", "relbase", "rewrite", str(tree), "-i", "-j", "2"]
    command += [] if mail else ["--root", f"{tree}={URL}"]
    command += ["--report", str(report), "--resume", str(report)]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdout=quiet, stderr=quiet, start_new_session=True)


def look(tree: Path) -> Counter[str]:
    """What each file is."""
    found: Counter[str] = Counter()
    for number in range(FILES):
        there = [path for path in tree.rglob(f"{number}.*") if path.is_file()]
        contents = {path.read_bytes().removeprefix(MAIL) for path in there}
        if not there:
            found["lost"] += 1
        elif contents - {old(number), new(number)}:
            found["torn"] += 1
        else:
            found["new" if contents == {new(number)} else "old"] += 1
            found["doubled"] += len(there) > 1
    found["temporary"] = len(list(tree.rglob(".*relbase-tmp")))
    return +found


def main(kills: int, *, mail: bool) -> int:
    """Kill so many runs; return the exit status."""
    seed = int(os.environ.get("SEED", time.time_ns() % 10**6))
    chance = random.Random(seed)
    total: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        tree, report = Path(directory, "tree"), Path(directory, "report.jsonl")
        make(tree, report, mail=mail)
        started = time.monotonic()
        start(tree, report, mail=mail).wait()
        whole = time.monotonic() - started
        make(tree, report, mail=mail)
        done = 0
        until = time.monotonic() + float(os.environ.get("SECONDS_AT_MOST", "inf"))
        while done < kills and time.monotonic() < until:
            run = start(tree, report, mail=mail)
            time.sleep(chance.uniform(0.15, 1) * whole)
            ended = run.poll() is not None
            if not ended:
                os.killpg(run.pid, signal.SIGKILL)
                done += 1
            run.wait()
            found = look(tree)
            total["torn"] += found["torn"]
            total["lost"] += found["lost"]
            total["runs that left a file twice"] += found["doubled"] > 0
            total["runs that left temporary files"] += found["temporary"] > 0
            total["runs killed in the middle"] += 0 < found["new"] < FILES
            if ended or found["new"] == FILES:
                make(tree, report, mail=mail)
        status = start(tree, report, mail=mail).wait()
        found = look(tree)
    print(f"seed {seed}: {done} kills, a whole run took {whole:.1f} s")
    for what, count in total.items():
        print(f"  {what}: {count}")
    print(f"  the last run ended with {status}: {dict(found)}")
    is_good = not total["torn"] and not total["lost"] and found == {"new": FILES}
    return 0 if is_good and status == 0 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kills", type=int, nargs="?", default=200, help="200 if left out")
    parser.add_argument("--mail", action="store_true", help="a Maildir instead of pages")
    given = parser.parse_args()
    sys.exit(main(given.kills, mail=given.mail))
