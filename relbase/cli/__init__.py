"""The command line: arguments and files in, documents and reports out.

The console script calls `main`. It runs a command and turns whatever ends it into an exit status
and at most a few lines on standard error. A user's mistake never shows a traceback.
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

# Those that the system has: Windows sends SIGBREAK, also when a console is closed.
ENDINGS: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
)


def main(*, delivers: bool = True) -> NoReturn:
    """Run the command line of `sys.argv`; if `delivers`, --delivery runs it in another process."""
    # What modules create as they load is not garbage, and looking for garbage takes a tenth of a
    # short run. Collection starts again when the command has been loaded.
    gc.disable()
    # Arrow loads numpy if it is installed, which takes longer than a hundred pages, and no table
    # needs it.
    sys.modules.setdefault("numpy", None)  # type: ignore[arg-type]
    for ending in ENDINGS:
        if signal.getsignal(ending) is signal.SIG_DFL:
            signal.signal(ending, terminated)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # If the encoding lacks a character of a help text, an escape is better than an exception.
        sys.stdout.reconfigure(errors="backslashreplace")
    if os.name == "nt" and "PYTHONIOENCODING" not in os.environ:
        write_utf8()
    if delivers and "--delivery" in sys.argv:
        _leave(_deliver(sys.argv[1:]))
    try:
        # Inside the `try`, so that interrupting the start shows no traceback either.
        from relbase.cli.group import run

        status = run(sys.argv[1:])
        for number in (signal.SIGINT, *ENDINGS):  # all is done: too late to end it in another way
            signal.signal(number, signal.SIG_IGN)
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    _leave(status)


def write_utf8() -> None:
    """Write UTF-8 and line feeds to files and pipes, as on other systems."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def terminated(number: int, _frame: FrameType | None) -> NoReturn:
    """End as the signal would, after unfinished files have been removed."""
    for ending in ENDINGS:  # ignore more of them, which may be on their way
        signal.signal(ending, lambda _number, _frame: None)
    raise SystemExit(128 + number)


def _leave(status: int) -> NoReturn:
    """Exit. If standard output could not be written, that has been reported: drop the rest."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            # Otherwise the interpreter tries again, fails, and changes the status to 120.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    gc.freeze()  # nothing needs to be collected at exit
    raise SystemExit(status)


# ---- --delivery: a filter for programs that deliver mail, which must not lose a message. Another
# process rewrites the message. It may fail in any way, even in its imports, so nothing else of
# relbase is loaded here. If it fails, the message is passed on unchanged.

_TEMPORARY_FAILURE: Final = 75  # EX_TEMPFAIL of sysexits.h: delivery is tried again later

# The status of the other process when it has written a message: not 0, which --help gives, too.
HANDED_OVER: Final = 100

# How long rewriting a message may take, in seconds: procmail waits 16 minutes, maildrop five.
_PATIENCE: Final = 60

_UNCHANGED: Final = "the message is passed on unchanged"

# -P: load no modules from the directory that the mail program runs in.
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
    """The message as another process rewrites it, or unchanged if that fails."""
    import subprocess  # the other process needs only the constant above

    try:
        command = [*_PROGRAM, *arguments]
        ran = subprocess.run(  # noqa: S603 (this program)
            command, input=data, stdout=subprocess.PIPE, timeout=_PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        _warn(f"rewriting took longer than {_PATIENCE} seconds: {_UNCHANGED}")
    except (OSError, MemoryError, ValueError) as error:
        _warn(f"rewriting could not be started ({error}): {_UNCHANGED}")
    else:
        if ran.returncode == HANDED_OVER:
            return ran.stdout
        _warn(f"rewriting ended with status {ran.returncode}: {_UNCHANGED}")
    return data


def _warn(text: str) -> None:
    with suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(f"relbase: {text}\n")
        sys.stderr.flush()
