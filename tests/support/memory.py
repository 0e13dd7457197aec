"""The greatest memory that a rewriting takes: of a process of its own, which does nothing else."""

import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

import pytest

import relbase

_STATUS: Final = Path("/proc/self/status")
needs_status: Final = pytest.mark.skipif(not _STATUS.exists(), reason=f"needs {_STATUS}")

# Law 9 has 32 MB for what does not grow. That of tests is as much smaller as their documents are
# than those that it is about: what is within a bound because it is small shows nothing.
SLACK: Final = 8 << 20

# VmHWM begins anew in each process; ru_maxrss is inherited. What is loaded once, is loaded first.
_MEASURE: Final = f"""
import sys
import relbase
def peak():
    with open("{_STATUS}") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
path, length, kind, call = sys.argv[1:]
mail = b"Content-Type: text/html\\nContent-Transfer-Encoding: %b\\n\\nPGEgaHJlZj14Pg=="
for text in (b"<a href=x><p style='a:url(x)'><img srcset=x>", b"Base: http://h/\\n\\n",
             *[mail % encoding for encoding in (b"7bit", b"quoted-printable", b"base64")]):
    relbase.rewrite(text, url="http://h/", kind=kind)
before = peak()
with open(path, "rb") as file:
    url, data = file.read(int(length)).decode(), file.read()
if call == "links":
    print(sum(1 for _ in relbase.links(data, url=url, kind=kind)) and peak() - before, 0)
else:
    result = relbase.rewrite(data, url=url, kind=kind)
    print(peak() - before, len(result.data) if result.changed else 0)
"""


class Memory(NamedTuple):
    """What a rewriting took, in bytes."""

    grown: int  # of memory
    taken: int  # of the document
    given: int  # of what was written; 0 when nothing changed


def memory_of(directory: Path, data: bytes, url: str, kind: str, call: str = "rewrite") -> Memory:
    """Rewrite a document, or list its links and keep none, in a process of its own."""
    path = directory / "document"
    path.write_bytes(url.encode() + data)
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(path), str(len(url)), kind, call],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(relbase.__file__).parents[1],
    )
    path.unlink()
    grown, given = map(int, done.stdout.split())
    return Memory(grown, len(data), given)
