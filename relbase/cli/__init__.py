"""The command line: arguments and files in, documents and reports out; the only I/O of relbase.

`main` is what the console script calls: it runs a command and turns whatever ends it into an exit
status and at most a few lines on standard error, never a traceback for a user's mistake.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Final, NoReturn

ENDINGS: Final = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))


def main(*, delivers: bool = True) -> NoReturn:
    """Run the command line of `sys.argv`; --delivery has another process do it (`delivers`)."""
    # What modules make as they are loaded is not garbage: looking for some takes a tenth of the
    # time of a short run. It goes on when the command has been loaded.
    gc.disable()
    # Arrow loads numpy where it is installed, which takes longer than a hundred pages; no table
    # needs it.
    sys.modules.setdefault("numpy", None)  # type: ignore[arg-type]
    for ending in ENDINGS:
        if signal.getsignal(ending) is signal.SIG_DFL:
            signal.signal(ending, terminated)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A help text that the encoding has not all characters of is better than an exception.
        sys.stdout.reconfigure(errors="backslashreplace")
    if delivers and "--delivery" in sys.argv:
        _leave(_deliver(sys.argv[1:]))
    try:
        # Inside of the `try`: whoever interrupts the start sees no traceback either.
        from relbase.cli.group import run  # noqa: PLC0415

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    _leave(status)


def terminated(number: int, _frame: FrameType | None) -> NoReturn:
    """End as the signal would, after unfinished files have been removed."""
    for ending in ENDINGS:  # another one does not disturb that; it may be on its way already
        signal.signal(ending, lambda _number, _frame: None)
    raise SystemExit(128 + number)


def _leave(status: int) -> NoReturn:
    """Exit; what standard output could not take has been reported, and is dropped."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            # Otherwise the interpreter tries again, fails, and changes the status to 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    gc.freeze()  # nor does what is left when the process ends
    raise SystemExit(status)


# ---- --delivery: a filter for programs that deliver mail, which must not lose a message. Another
# process rewrites it, and may fail in any way, in its imports too: nothing else of relbase is
# loaded here. Whatever it does not hand over with success goes on as it came.

_TEMPORARY_FAILURE: Final = 75  # EX_TEMPFAIL of sysexits.h: it is delivered again later

# What the other process ends with when it has written a message: 0 is the end of --help, too.
HANDED_OVER: Final = 100

# How long a message may take, in seconds: procmail waits 16 minutes, maildrop five.
_PATIENCE: Final = 60

# -P: nothing is loaded from the directory that the mail program runs in.
_PROGRAM: Final = (sys.executable, "-P", "-c", "from relbase.cli import main; main(delivers=False)")


def _deliver(arguments: Sequence[str]) -> int:
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
        _warn(f"it took longer than {_PATIENCE} seconds: the message is passed on unchanged")
    except (OSError, MemoryError, ValueError) as error:
        _warn(f"it could not be started: the message is passed on unchanged: {error}")
    else:
        if ran.returncode == HANDED_OVER:
            return ran.stdout
        _warn(f"it ended with status {ran.returncode}: the message is passed on unchanged")
    return data


def _warn(text: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"relbase: {text}\n")
        sys.stderr.flush()
