"""The scanners that relbase can read with here, the fastest first."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from relbase.scan import binding

if TYPE_CHECKING:
    from collections.abc import Iterator

SCANNERS: Final = list(dict.fromkeys((binding.NAME, binding.EXACT)))


@contextmanager
def scanning(name: str) -> Iterator[None]:
    """Read by one of `SCANNERS`."""
    compiled = binding.compiled
    binding.compiled = None if name == binding.EXACT else compiled
    try:
        yield
    finally:
        binding.compiled = compiled
