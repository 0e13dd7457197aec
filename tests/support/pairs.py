"""Hostile documents in two dimensions: one thing that is long, and another that is there often.

The lengths lie on both sides of every limit of relbase between 1 KiB and 128 KiB, since what is
remembered up to a limit is prepared again and again beyond it. Limits are found by their names
(`MAX_...`), so that a new one brings its documents. `tests/pairs.txt` has what is long and often.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rows import rows

import relbase

if TYPE_CHECKING:
    from collections.abc import Callable

KINDS: Final = ("html", "xml", "mail")
# What is remembered for a few short texts, and what hostile documents exceed first.
_OTHERS: Final = (1 << 12, 1 << 14, 1 << 16)
_LEAST, _MOST = 1 << 10, 1 << 17
_SEGMENT: Final = b"a/"


def limits() -> list[int]:
    """Return the limits of relbase's modules that are of such a size, and some others."""
    found = set(_OTHERS)
    for module in pkgutil.walk_packages(relbase.__path__, "relbase."):
        if module.name.split(".")[1] in {"cli", "spark", "storage", "__main__"}:
            continue
        for name, value in vars(import_module(module.name)).items():
            if name.startswith("MAX_") and type(value) is int and _LEAST <= value <= _MOST:
                found.add(value)
    return sorted(found)


def lengths() -> list[int]:
    """Return lengths on both sides of each limit, with room for what stands around."""
    return [length for limit in limits() for length in (limit - 1 - _AROUND, limit + 1)]


_AROUND: Final = 32  # `http://h/`, a slash, and what is relative to it


def longs(kind: str) -> list[tuple[bytes, bytes]]:
    """Return what is long in a kind, with `@` for it, and what follows it often."""
    return rows(Path(__file__).parents[1] / "pairs.txt", kind, bytes, bytes)


def long(before: bytes, length: int) -> bytes:
    return before.replace(b"@", (_SEGMENT * (length // 2 + 1))[:length].strip(b"/"))


def pairs(
    kind: str, made: Callable[[bytes, bytes], Callable[[int], bytes]]
) -> dict[str, Callable[[int], bytes]]:
    """Return makers of documents by name; `made` repeats a unit after what precedes it."""
    return {
        f"{number} at {length} {unit[:40]!r}": made(unit, long(before, length))
        for number, (before, unit) in enumerate(longs(kind))
        for length in lengths()
    }
