"""Regular expressions that are compiled when they are first used: all take longer than a page."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, AnyStr, cast

if TYPE_CHECKING:
    from collections.abc import Callable


def expression(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression as `re.compile` does, compiled when it is first used.

    To take a method compiles it: look it up where it is called, as in `_digits.match(text)`.
    """
    return cast("re.Pattern[AnyStr]", _Expression(partial(re.compile, pattern, flags)))


class _Expression:
    def __init__(self, compiled: Callable[[], object]) -> None:
        self._compiled = compiled

    def __getattr__(self, name: str) -> object:
        # What was looked up stays, so that this is asked once for each method.
        found: object = getattr(self._compiled(), name)
        setattr(self, name, found)
        return found
