"""The scanners that relbase can read with here, the fastest first."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from relbase.references import scanner

if TYPE_CHECKING:
    from collections.abc import Iterator

SCANNERS: Final = list(dict.fromkeys((scanner.NAME, scanner.EXACT)))


@contextmanager
def scanning(name: str) -> Iterator[None]:
    """Read by one of `SCANNERS`."""
    compiled = scanner.compiled
    scanner.compiled = None if name == scanner.EXACT else compiled
    try:
        yield
    finally:
        scanner.compiled = compiled
