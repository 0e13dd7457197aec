"""What is made of a base is remembered: references of a page and parts of a mail share it.

To mind: a hostile URL is as long as its document, and would stay in memory after it (threat N3).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

# Messages of a mailbox have few bases in turns.
_SHORT: Final = 1 << 12
_OF_SHORT: Final = 16
# What a message may state as its base (`relbase.mail.bases`), and its parts share, some in another
# charset.
_LONG: Final = 1 << 16
_OF_LONG: Final = 4


def remembering(make: Callable[P, T]) -> Callable[[str], Callable[P, T]]:
    """Return what says, for a base, how something is made of it: anew, or as it was made before."""
    short = cast("Callable[P, T]", lru_cache(maxsize=_OF_SHORT)(make))
    long = cast("Callable[P, T]", lru_cache(maxsize=_OF_LONG)(make))

    def made(url: str) -> Callable[P, T]:
        if len(url) <= _SHORT:
            return short
        return long if len(url) <= _LONG else make

    return made
