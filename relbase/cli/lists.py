"""Lists of URLs: from the command line, and from standard input in the place of "-"."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def listed(urls: Iterable[str]) -> Iterator[str]:
    """The URLs, those of standard input in the place of "-"; empty lines are none."""
    for url in urls:
        if url != "-":
            yield url
            continue
        # There is no standard input when it was closed before the start.
        for line in sys.stdin.buffer if sys.stdin else ():
            if written := line.rstrip(b"\r\n"):
                yield written.decode("utf-8", "surrogateescape")
