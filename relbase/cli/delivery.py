"""`--delivery`: a filter for programs that deliver mail, which must not lose a message.

Another process rewrites it, and may fail in any way, in its imports too: nothing of relbase is
loaded here but this file. Whatever it does not hand over with success goes on as it came.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEMPORARY_FAILURE: Final = 75  # EX_TEMPFAIL of sysexits.h: it is delivered again later

# What the other process ends with when it has written a message: 0 is the end of --help, too.
HANDED_OVER: Final = 100

# How long a message may take, in seconds: procmail waits 16 minutes, maildrop five.
_PATIENCE: Final = 60

# -P: nothing is loaded from the directory that the mail program runs in.
_PROGRAM: Final = (sys.executable, "-P", "-c", "from relbase.cli import main; main(delivers=False)")


def deliver(arguments: Sequence[str]) -> int:
    """Filter the message on standard input; return the exit status."""
    try:
        with open(0, "rb", closefd=False) as file:
            data = file.read()
        rest = memoryview(_made(data, arguments))
        while rest:
            rest = rest[os.write(1, rest) :]
    except (OSError, MemoryError, KeyboardInterrupt, SystemExit) as error:
        _warn(f"the message was not written: {str(error) or type(error).__name__}")
        return _TEMPORARY_FAILURE
    return 0


def _made(data: bytes, arguments: Sequence[str]) -> bytes:
    """What another process makes of a message; the message where it fails."""
    import subprocess  # noqa: PLC0415 (the other process needs the constant above alone)

    try:
        command = [*_PROGRAM, *arguments]
        ran = subprocess.run(  # noqa: S603 (this program)
            command, input=data, stdout=subprocess.PIPE, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        _warn(f"it took longer than {_PATIENCE} seconds: the message goes on unchanged")
    except (OSError, MemoryError, ValueError) as error:
        _warn(f"it could not be started: the message goes on unchanged: {error}")
    else:
        if ran.returncode == HANDED_OVER:
            return ran.stdout
        _warn(f"it ended with status {ran.returncode}: the message goes on unchanged")
    return data


def _warn(text: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"relbase: {text}\n")
        sys.stderr.flush()
