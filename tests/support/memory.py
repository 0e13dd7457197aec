"""The greatest memory that a rewriting takes: of a process of its own, which does nothing else."""

import atexit
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

import pytest

import relbase

_STATUS: Final = Path("/proc/self/status")
needs_status: Final = pytest.mark.skipif(not _STATUS.exists(), reason=f"needs {_STATUS}")

# Law 9 has 32 MB for what does not grow. That of tests is as much smaller as their documents are
# than those that it is about: what is within a bound because it is small shows nothing.
SLACK: Final = 8 << 20

# A process that has loaded all, and forks one that measures for each line that it reads: VmHWM
# begins anew there, while ru_maxrss would be inherited. What is used once, is used before.
_MEASURE: Final = f"""
import os, sys
import relbase
def peak():
    with open("{_STATUS}") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
def measure(length, kind, call, path):
    mail = b"Content-Type: text/html\\nContent-Transfer-Encoding: %b\\n\\nPGEgaHJlZj14Pg=="
    for text in (b"<a href=x><p style='a:url(x)'><img srcset=x>", b"Base: http://h/\\n\\n",
                 *[mail % encoding for encoding in (b"7bit", b"quoted-printable", b"base64")]):
        relbase.rewrite(text, url="http://h/", kind=kind)
    before = peak()
    with open(path, "rb") as file:
        url, data = file.read(int(length)).decode(), file.read()
    if call == "links":
        return sum(1 for _ in relbase.links(data, url=url, kind=kind)) and peak() - before, 0
    result = relbase.rewrite(data, url=url or None, kind=kind)
    return peak() - before, len(result.data) if result.changed else 0
for line in sys.stdin:
    if os.fork() == 0:
        print(*measure(*line[:-1].split(" ", 3)), flush=True)
        os._exit(0)
    os.wait()
"""


@cache
def _server() -> subprocess.Popen[str]:
    pipe, root = subprocess.PIPE, Path(relbase.__file__).parents[1]
    command = [sys.executable, "-c", _MEASURE]
    server = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=root)
    atexit.register(server.communicate)  # closes what it reads
    return server


class Memory(NamedTuple):
    """What a rewriting took, in bytes."""

    grown: int  # of memory
    taken: int  # of the document
    given: int  # of what was written; 0 when nothing changed


def memory_of(directory: Path, data: bytes, url: str, kind: str, call: str = "rewrite") -> Memory:
    """Rewrite a document, or list its links and keep none, in a process of its own."""
    path = directory / "document"
    path.write_bytes(url.encode() + data)
    server = _server()
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(f"{len(url)} {kind} {call} {path}\n")
    server.stdin.flush()
    grown, given = map(int, server.stdout.readline().split())
    path.unlink()
    return Memory(grown, len(data), given)
