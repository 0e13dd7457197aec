"""How a command ends: the exit statuses, and the count of what leads to them."""

from __future__ import annotations

import signal
from enum import IntEnum

import click


class ExitStatus(IntEnum):
    """The exit statuses of every command."""

    DONE = 0
    FOUND = 1  # by --check or --violations, or warnings under --strict
    USAGE = 2
    FAILED = 3  # some inputs; the others are done
    IO = 4  # stopped: the output cannot be written, or a lock cannot be had
    UNSAFE = 5  # the self-check of a rewriting failed: its file stays as it was
    INTERRUPTED = 128 + signal.SIGINT
    # Nobody reads the output any more: the status that the signal itself would leave.
    PIPE_CLOSED = 128 + 13


class OutputError(click.ClickException):
    """An output cannot be written: the command stops."""

    exit_code = ExitStatus.IO


class Tally:
    """What has happened to the inputs so far."""

    def __init__(self, failed: int = 0, unsafe: int = 0, warnings: int = 0, found: int = 0) -> None:
        self.failed = failed  # could not be processed
        self.unsafe = unsafe  # stopped by the self-check
        self.warnings = warnings
        self.found = found  # by `--check` or `--violations`

    def status(self, *, strict: bool) -> ExitStatus:
        """Return the exit status; failed inputs count for more than what was found in others."""
        if self.unsafe:
            return ExitStatus.UNSAFE
        if self.failed:
            return ExitStatus.FAILED
        if self.found or (strict and self.warnings):
            return ExitStatus.FOUND
        return ExitStatus.DONE
