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
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from types import FrameType


# A closed terminal ends a run as a request to end does.
ENDINGS: Final = (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM))


def main(*, delivers: bool = True) -> NoReturn:
    """Run the command line that `sys.argv` holds, and exit with its status.

    With --delivery in it that is done by another process, which has `delivers` False.
    """
    # What modules make as they are loaded is not garbage: looking for some takes a tenth of the
    # time of a short run. It goes on when the command has been loaded.
    gc.disable()
    for ending in ENDINGS:
        if signal.getsignal(ending) is signal.SIG_DFL:
            signal.signal(ending, terminated)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A help text that the encoding has not all characters of is better than an exception.
        sys.stdout.reconfigure(errors="backslashreplace")
    if delivers and "--delivery" in sys.argv:
        from relbase.cli.delivery import deliver  # noqa: PLC0415 (no other command needs it)

        _leave(deliver(sys.argv[1:]))
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
