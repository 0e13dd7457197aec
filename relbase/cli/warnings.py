"""Warnings: the first of each kind is reported, the others are counted.

Strategy: a mailbox of a gigabyte has thousands of warnings that say the same. Where they arise they
are collected (`Collected`), in whatever process that is. Where they are reported (`WarningPrinter`)
the first of each reason stands as the example of its kind, and at the end a line says how many more
came.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import NamedTuple

from relbase.cli import streams
from relbase.cli.streams import printable


class Verbosity(Enum):
    """How much is said of warnings."""

    NONE = "none"
    COUNTED = "counted"
    ALL = "all"


class Warned(NamedTuple):
    """A warning, and how many more of its kind were counted and not kept."""

    reason: str
    line: str  # printable
    more: int = 0


class Collected:
    """The warnings on one input."""

    __slots__ = ("_first", "_kept", "_verbosity", "count")

    def __init__(self, verbosity: Verbosity = Verbosity.COUNTED) -> None:
        self._verbosity = verbosity
        self._kept: list[Warned] = []
        self._first: dict[str, int] = {}
        self.count = 0

    def add(self, reason: str, line: str) -> None:
        """Keep a warning, or count it when there is one of its kind."""
        self.count += 1
        if self._verbosity is Verbosity.ALL or reason not in self._first:
            self._first.setdefault(reason, len(self._kept))
            self._kept.append(Warned(reason, line))
        else:
            at = self._first[reason]
            self._kept[at] = self._kept[at]._replace(more=self._kept[at].more + 1)

    def all(self) -> list[Warned]:
        """The warnings, in their order."""
        return self._kept


class WarningPrinter:
    """Prints the warnings of a run."""

    __slots__ = ("_more", "_names", "_seen", "_verbosity")

    def __init__(self, verbosity: Verbosity) -> None:
        self._verbosity = verbosity
        self._seen: set[str] = set()
        self._more: Counter[str] = Counter()
        self._names: Counter[str] = Counter()

    def show(self, warned: list[Warned]) -> None:
        """Print the warnings on an input, or count them."""
        if self._verbosity is Verbosity.NONE:
            return
        for one in warned:
            if self._verbosity is Verbosity.ALL or one.reason not in self._seen:
                streams.warn(one.line)
                more = one.more
            else:
                more = one.more + 1
                self._names[one.reason] += 1
            self._seen.add(one.reason)
            if more:
                self._more[one.reason] += more

    def close(self) -> None:
        """Print how many more there were of each kind."""
        for reason, count in self._more.items():
            files = self._names[reason]
            where = f", in {files} more input{'s'[: files > 1]}" if files else ""
            plural = "s" if count > 1 else ""
            text = f"{count} more warning{plural} like it [{reason}]{where}; -v shows all"
            streams.warn(printable(text))
