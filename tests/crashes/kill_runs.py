"""Kill runs that write, again and again, and look at what is left.

`python tests/crashes/kill_runs.py [KILLS] [--of WAY,...]` divides the kills among ways of writing.
One run is left alone: what is there afterwards is what each file may become. The others are killed
with SIGKILL, the whole group of processes, at a random moment of their writing. Then each file is
what it was or what it becomes, whole, and the report has no row of a file that is not written. The
next run goes on, until all is done; then the files are made anew. The last run of all finishes, and
removes what the killed ones left.
"""

import argparse
import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

FILES = 24
URL: Final = "http://h.example/"
MAIL: Final = b"Content-Type: text/html\nContent-Base: %b\n\n" % URL.encode()
REPORT: Final = "report.jsonl"


def page(number: int) -> bytes:
    links = b"".join(b'<a href="page%d.html">x</a>\n' % other for other in range(200))
    return b"<!DOCTYPE html><title>%d</title>\n" % number + links


def pages() -> Iterator[tuple[str, bytes]]:
    for number in range(FILES):
        yield f"in/{number}.html", page(number)


_FLAGS: Final = "" if sys.platform == "win32" else ":2,"  # Windows allows no colon


def maildir() -> Iterator[tuple[str, bytes]]:
    """Names that hold sizes: they change with the content."""
    for number in range(FILES):
        data = MAIL + page(number)
        yield f"in/cur/{number}.host,S={len(data)}{_FLAGS}", data


def mailboxes() -> Iterator[tuple[str, bytes]]:
    message = b"From a@h.example Sat Nov 21 12:00:00 2026\n" + MAIL
    for number in range(FILES // 4):
        yield f"in/{number}.mbox", (message + page(number) + b"\n") * 4


def archives() -> Iterator[tuple[str, bytes]]:
    for number in range(4):
        yield f"in/{number}.warc.gz", b"".join(map(_record, range(number, number + FILES)))


def _record(number: int) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page(number)
    head = (
        f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {URL}{number}.html\r\n"
        f"WARC-Record-ID: <urn:uuid:{number:032x}>\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n"
        "Content-Type: application/http; msgtype=response\r\n"
    )
    record = f"{head}Content-Length: {len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"
    return gzip.compress(record, mtime=0)


_PAUSE: Final = 0.002  # seconds

_JOBS: Final = 1 if sys.platform == "win32" else 2  # Windows knows no groups of processes
_RESUMED: Final = f"--report {REPORT} --resume {REPORT} -j {_JOBS}"
_ROOT: Final = f"--root in={URL}"
_DATED: Final = "--date 2026-01-02T03:04:05Z"

# name: what the files are, and the command.
WAYS: Final = {
    "in place": (pages, f"rewrite in -i {_ROOT} {_RESUMED}"),
    "backup": (pages, f"rewrite in -i --backup .bak {_ROOT} {_RESUMED}"),
    "tree": (pages, f"rewrite in -o out/ {_ROOT} {_RESUMED}"),
    "explained": (pages, f"explain in -o out/ {_ROOT} --force"),
    "Maildir": (maildir, f"rewrite in -i {_RESUMED}"),
    "Maildir tree": (maildir, f"rewrite in -o out/ {_RESUMED}"),
    "mbox": (mailboxes, f"rewrite in -i {_RESUMED}"),
    "mbox tree": (mailboxes, f"rewrite in -o out/ {_RESUMED}"),
    "archives": (archives, f"rewrite in -o out/ {_DATED} {_RESUMED}"),
    "Parquet": (archives, "links in/0.warc.gz in/1.warc.gz --parquet out.parquet"),
}


class Reference(NamedTuple):
    """What is there: the contents of the files of a name, what is left, the report's rows."""

    files: dict[str, set[bytes]]
    left: Counter[str]
    rows: list[dict[str, object]]


# The size and the flags of a message, and the number of one backup of several, make no other name.
_CHANGING: Final = re.compile(r",.*|(?<=\.bak)\.\d+$")


def found(top: Path) -> Reference:
    paths = [path for path in top.rglob("*") if path.is_file()]
    return told((path.relative_to(top).as_posix(), {path.read_bytes()}) for path in paths)


def told(named: Iterable[tuple[str, set[bytes]]]) -> Reference:
    """What names with their contents (a name may have one of several) are."""
    files: dict[str, set[bytes]] = {}
    left, rows = Counter[str](), list[dict[str, object]]()
    for name, contents in named:
        if ".lock" in name:
            left["locks"] = 1
        elif name.endswith("relbase-tmp"):
            left["temporary files"] = 1
        elif name == REPORT:
            whole = max(contents, key=len).rpartition(b"\n")[0]
            rows = [json.loads(row) for row in whole.splitlines()]
        else:
            files.setdefault(_CHANGING.sub("", name), set()).update(contents)
    return Reference(files, left, rows)


class Trial:
    """The runs of one way."""

    def __init__(self, way: str, top: Path) -> None:
        make, command = WAYS[way]
        self.made, self.command, self.top = list(make()), command.split(), top
        self.make()
        self.before = found(top).files
        run = self.start_writing()
        started = time.monotonic()
        assert run.wait() == 0, way
        self.seconds = time.monotonic() - started
        self.after = found(top).files
        assert self.after != self.before, way
        self.make()

    def make(self) -> None:
        """Make the files anew."""
        shutil.rmtree(self.top, ignore_errors=True)
        for folder in ("in/cur", "in/new", "in/tmp") if "/cur/" in self.made[0][0] else ("in",):
            (self.top / folder).mkdir(parents=True)
        for name, data in self.made:
            (self.top / name).write_bytes(data)

    def start(self) -> subprocess.Popen[bytes]:
        """Start a run in a group of its own."""
        command = [sys.executable, "-m", "relbase", *self.command]
        quiet = subprocess.DEVNULL
        return subprocess.Popen(
            command, stdout=quiet, stderr=quiet, start_new_session=True, cwd=self.top
        )

    def start_writing(self) -> subprocess.Popen[bytes]:
        """Start a run, and wait until it has made or changed a file, or has ended.

        A start takes much longer than what follows, and ever another time on a busy machine.
        """
        before = self._state()
        run = self.start()
        while run.poll() is None and self._state() == before:
            time.sleep(_PAUSE)
        return run

    def _state(self) -> dict[str, int]:
        state: dict[str, int] = {}
        for path in self.top.rglob("*"):
            with suppress(FileNotFoundError):
                state[str(path)] = path.stat().st_mtime_ns
        return state

    def kill(self, after: float) -> bool:
        """Kill a run so many seconds after it began to write; return whether it had not ended."""
        run = self.start_writing()
        with suppress(subprocess.TimeoutExpired):
            run.wait(after)
        is_killed = run.poll() is None
        if is_killed:
            if sys.platform == "win32":
                run.kill()
            else:
                os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        return is_killed

    def look(self, there: Reference) -> Counter[str]:
        """Count what is wrong, and what killed runs may leave."""
        counts = there.left
        for name in {*self.before, *there.files}:
            contents = there.files.get(name, set())
            may_be = self.before.get(name, set()) | self.after.get(name, set())
            counts["torn"] += not contents <= may_be
            counts["lost"] += name in self.before and not contents
            counts["a file twice"] += len(contents) > 1
        for row in (row for row in there.rows if row["state"] == "rewritten"):
            path = str(row["output"] or row["file"]).replace(os.sep, "/")
            name = _CHANGING.sub("", path).removeprefix("./")
            counts["reported and not written"] += there.files.get(name) != self.after.get(name)
        counts["in the middle"] = there.files not in (self.before, self.after)
        return +counts

    @property
    def is_done(self) -> bool:
        return found(self.top).files == self.after


def run(way: str, kills: int, chance: random.Random, top: Path) -> bool:
    """Kill runs of a way so many times; return whether nothing was torn or lost."""
    trial, total, done = Trial(way, top), Counter[str](), 0
    while done < kills:
        done += trial.kill(chance.random() * trial.seconds)
        total += Counter([*trial.look(found(trial.top))])
        if trial.is_done:
            trial.make()
    status = trial.start().wait()
    is_good = status == 0 and trial.is_done and not found(trial.top).left
    is_good &= not {"torn", "lost", "reported and not written"} & {*total}
    counts = ", ".join(f"{count} {what}" for what, count in sorted(total.items()))
    print(
        f"{way}: {done} kills, {counts or 'nothing left'}: {'good' if is_good else 'BAD'}",
        flush=True,
    )
    return is_good


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("kills", type=int, nargs="?", default=200, help="200 if left out")
    parser.add_argument("--of", default=",".join(WAYS), help="names, by commas")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    given = parser.parse_args()
    ways = [way for way in WAYS if way in given.of.split(",")]
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as directory:
        chance = random.Random(given.seed)
        good = [
            run(way, -(-given.kills // len(ways)), chance, Path(directory, "t")) for way in ways
        ]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
