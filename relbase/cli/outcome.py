"""What has happened to the inputs so far: counts, and warnings.

A mailbox has thousands of warnings that say the same: the first of each kind is kept where they
arise, in whatever process, and at the end a line says how many more came.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from relbase.cli import streams
from relbase.cli.streams import ExitStatus, counted, printable

if TYPE_CHECKING:
    from typing import Self


@dataclass(slots=True)
class Tally:
    """The counts that decide the exit status."""

    failed: int = 0  # could not be processed
    unsafe: int = 0  # stopped by the self-check
    warnings: int = 0
    found: int = 0  # by `--check` or `--violations`

    def __iadd__(self, other: Tally) -> Self:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    def status(self, *, strict: bool) -> ExitStatus:
        """Return the exit status; failed inputs count for more than what was found in others."""
        if self.unsafe:
            return ExitStatus.UNSAFE
        if self.failed:
            return ExitStatus.FAILED
        if self.found or (strict and self.warnings):
            return ExitStatus.FOUND
        return ExitStatus.DONE


class Verbosity(Enum):
    """How much is said of warnings."""

    NONE = "none"
    COUNTED = "counted"
    ALL = "all"


class Collected:
    """The warnings on one input; those of the reason `ignored` are not wanted."""

    __slots__ = ("_ignored", "_verbosity", "counts", "lines")

    def __init__(self, verbosity: Verbosity = Verbosity.COUNTED, ignored: str = "") -> None:
        self._verbosity = verbosity
        self._ignored = ignored
        self.counts: Counter[str] = Counter()  # by reason
        self.lines: list[tuple[str, str]] = []  # a reason, and a printable line

    def add(self, reason: str, line: str) -> None:
        """Keep a warning, or count it when there is one of its kind."""
        if reason == self._ignored:
            return
        if self._verbosity is Verbosity.ALL or reason not in self.counts:
            self.lines.append((reason, line))
        self.counts[reason] += 1


class WarningPrinter:
    """Prints the warnings of a run."""

    def __init__(self, verbosity: Verbosity) -> None:
        self._verbosity = verbosity
        self._more: Counter[str] = Counter()  # warnings that were not printed
        self._inputs: Counter[str] = Counter()  # that these are of, but for the first

    def show(self, warned: Collected) -> None:
        """Print the warnings on an input, or count them."""
        for reason, line in warned.lines:
            self.add(reason, line, warned.counts[reason])

    def add(self, reason: str, line: str, count: int = 1) -> None:
        """Print the warning that an input has `count` times, or count it."""
        if self._verbosity is Verbosity.NONE:
            return
        is_first = reason not in self._more
        if is_first or self._verbosity is Verbosity.ALL:
            streams.warn(line)
        if self._verbosity is Verbosity.COUNTED:
            self._more[reason] += count - is_first
            self._inputs[reason] += not is_first

    def close(self) -> None:
        """Print how many more there were of each kind."""
        for reason, count in self._more.items():
            inputs = self._inputs[reason]
            where = f", in {counted(inputs, 'more input')}" if inputs else ""
            text = f"{counted(count, 'more warning')} like it [{reason}]{where}; -v shows all"
            if count:
                streams.warn(printable(text))
