"""Cut the power at each moment of a run, and look at what may be on the disk.

`python tests/crashes/power_cuts.py [--of WAY,...]` records what a run writes (with strace), in each
way of writing of kill_runs.py, and takes every state that a disk may be in after each step. What
happened to names is there in its order, up to any moment since a directory was last synced. Of what
was written to a file since it was synced all is there, or half of it, or nothing. In each state a
file must be what it was or what it becomes, whole. Where the report is ahead of the names, a run
that goes on must finish.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from kill_runs import WAYS, Trial, told

_CALLS: Final = (
    *("openat", "write", "ftruncate", "fsync", "fdatasync"),
    *("rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat"),
    *("pwrite64", "writev", "truncate", "sendfile", "copy_file_range"),
)
_LINE: Final = re.compile(r"\d+ +(\w+)\((.*)\) += (\d+)(?:<(.*)>)?$")
_TOLD: Final = re.compile(r'(?:\w+<|")((?:\\x..)*)[>"](?:\(deleted\)|(\.\.\.))?|([\w|]+)')


@dataclass(eq=False)
class File:
    """A file of whatever names: what a program reads in it, and what is on the disk for certain."""

    data: bytes
    synced: bytes

    def contents(self) -> set[bytes]:
        """What may be on the disk."""
        return {self.data, self.synced, self.data[: (len(self.synced) + len(self.data)) // 2]}


@dataclass
class Disk:
    """The names of files, as they were changed one after the other."""

    names: dict[str, File]
    past: list[dict[str, File]] = field(default_factory=list)  # that may still be what is there

    def change(self) -> None:
        self.past.append(dict(self.names))

    def states(self) -> Iterator[dict[str, File]]:
        yield from self.past
        yield self.names


def _words(arguments: str) -> list[str]:
    """The arguments of a call: paths of descriptors, texts, numbers and flags."""
    words = []
    for text, cut_off, other in _TOLD.findall(arguments):
        assert not cut_off, arguments[:200]
        words.append(bytes.fromhex(text.replace("\\x", "")).decode("latin-1") or other)
    return words


def steps(trace: Path, disk: Disk, top: str) -> Iterator[str]:
    """Do what a trace tells to a disk, step by step."""
    begun: dict[str, str] = {}
    for line in trace.read_text("ascii").splitlines():
        process, _, rest = line.partition(" ")
        if rest.endswith("<unfinished ...>"):
            begun[process] = line.removesuffix("<unfinished ...>").rstrip()
            continue
        if "resumed>" in rest:
            line = begun.pop(process) + rest.partition("resumed>")[2]  # noqa: PLW2901
        told_ = _LINE.match(line)
        if told_ is not None and do(told_[1], _words(told_[2]), disk, top):
            yield told_[1]


def do(call: str, words: list[str], disk: Disk, top: str) -> bool:
    """Do a call; return whether it changed anything below a directory."""

    def name(*at: str) -> str:
        return os.path.relpath(os.path.join(top, *at), top)  # noqa: PTH118

    names, kind = disk.names, call.removesuffix("2").removesuffix("at")
    if kind == "open":
        return "O_CREAT" in words[2] and opened(name(*words[:2]), words[2], disk)
    if kind in {"rename", "link", "unlink"}:
        ends = [words[:2], words[2:4]] if "at" in call else [[word] for word in words]
        return renamed(kind, [name(*end) for end in ends if end], disk)
    if kind in {"fsync", "fdatasync"} and Path(words[0]).is_dir():
        disk.past.clear()
        return True
    file = names.get(name(words[0]))
    if file is None:
        return False
    if kind == "write":
        file.data += words[1].encode("latin-1")
    elif kind == "ftruncate":
        file.data = file.data[: int(words[1])]
    else:
        assert kind in {"fsync", "fdatasync"}, call  # how else it is written is not known here
        file.synced = file.data
    return True


def opened(name: str, flags: str, disk: Disk) -> bool:
    file = disk.names.get(name)
    if file is None and not name.startswith(".."):
        disk.change()
        disk.names[name] = File(b"", b"")
    elif file is not None and "O_TRUNC" in flags:
        file.data = b""
    return not name.startswith("..")


def renamed(kind: str, ends: list[str], disk: Disk) -> bool:
    old, *_ = ends
    if old not in disk.names:
        return False
    disk.change()
    file = disk.names[old] if kind == "link" else disk.names.pop(old)
    if kind != "unlink":
        disk.names[ends[1]] = file
    return True


def files_below(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes() for path in top.rglob("*") if path.is_file()
    }


def cut(way: str, top: Path) -> Counter[str]:
    """Record a run of a way; count the moments, the states, and those that are wrong."""
    trial = Trial(way, top)
    disk = Disk({name: File(data, data) for name, data in files_below(top).items()})
    with tempfile.TemporaryDirectory() as directory:
        trace = Path(directory, "trace")
        command = ["strace", "-f", "-y", "-xx", "-s", "100000000", "-o", str(trace)]
        command += ["-e", f"trace={','.join(_CALLS)}", sys.executable, "-m", "relbase"]
        subprocess.run([*command, *trial.command], cwd=top, check=True, capture_output=True)
        counts, ahead = Counter[str](), dict[str, bytes]()
        for _ in steps(trace, disk, str(top.resolve())):
            counts["moments"] += 1
            for names in disk.states():
                wrong = trial.look(told((name, file.contents()) for name, file in names.items()))
                counts["states"] += 1
                counts += Counter({what: 1 for what in ("torn", "lost") if wrong[what]})
                if wrong["reported and not written"]:
                    ahead = {n: file.data for n, file in names.items() if not n.endswith(".lock")}
                    counts["report ahead"] += 1
    real, mine = files_below(top), {name: file.data for name, file in disk.names.items()}
    assert mine == real, [name for name in {*real, *mine} if real.get(name) != mine.get(name)]
    if ahead:
        counts += goes_on(trial, ahead)
    return counts


def goes_on(trial: Trial, files: dict[str, bytes]) -> Counter[str]:
    """Let a run go on from a state."""
    trial.make()
    for path in trial.top.rglob("*"):
        if path.is_file():
            path.unlink()
    for name, data in files.items():
        (trial.top / name).parent.mkdir(parents=True, exist_ok=True)
        (trial.top / name).write_bytes(data)
    is_good = trial.start().wait() == 0 and trial.is_done
    return Counter() if is_good else Counter(["not finished"])


def has_strace() -> bool:
    return (
        shutil.which("strace") is not None
        and subprocess.run(["strace", "-o", os.devnull, "true"], check=False).returncode == 0
    )


BAD: Final = frozenset(("torn", "lost", "not finished"))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--of", default=",".join(WAYS), help="names, by commas")
    ways, total = parser.parse_args().of.split(","), Counter[str]()
    if not has_strace():
        parser.error("strace records no run here: install it, or let it trace")
    with tempfile.TemporaryDirectory() as directory:
        for way in ways:
            counts = cut(way, Path(directory, "t"))
            total += counts
            print(
                f"{way}: {', '.join(f'{count} {what}' for what, count in counts.items())}",
                flush=True,
            )
    return int(bool(BAD & {*total}))


if __name__ == "__main__":
    sys.exit(main())
