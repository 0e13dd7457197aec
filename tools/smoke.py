"""Rewrites documents with any Python on any platform, and prints a digest of each whole result.

    python tools/smoke.py LIST

LIST is a file that names a document on each line. Needs only relbase: profile `whatwg`,
which needs a compiled package, is left out. Two platforms that print the same lines give the same
results.
"""

from __future__ import annotations

import hashlib
import platform
import struct
import sys
from pathlib import Path
from typing import Final, Literal

import relbase

URL: Final = "http://a.example/b/c/d?q"
PROFILES: Final[tuple[Literal["rfc1808", "rfc3986"], ...]] = ("rfc1808", "rfc3986")


def digest(data: bytes) -> str:
    """Return the digest of all that relbase makes of a document.

    Args:
        data: the document.
    """
    made = hashlib.sha256()
    for profile in PROFILES:
        result = relbase.rewrite(data, url=URL, profile=profile)
        made.update(result.data)
        made.update(ascii((result.base, list(result.links), list(result.notes))).encode())
    return made.hexdigest()[:16]


def main() -> None:
    """Print the platform, and a line for each document."""
    about = [platform.python_implementation(), platform.python_version(), platform.machine()]
    bits = struct.calcsize("P") * 8
    print("#", *about, f"{bits} bits,", sys.byteorder, "endian, scanner:", relbase.scanner)  # noqa: T201
    for name in Path(sys.argv[1]).read_text("utf-8").splitlines():
        print(digest(Path(name).read_bytes()), name, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
