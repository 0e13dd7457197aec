"""Standard input, output and error, and the status that a command ends with.

What is shown may be hostile (threat A9): lines for people go through `printable`. A closed standard
error stops nothing, a standard output that cannot be written stops the command.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import TYPE_CHECKING, Final, TextIO

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class ExitStatus(IntEnum):
    """The exit statuses of every command."""

    DONE = 0
    FOUND = 1  # by --check or --violations, or warnings under --strict
    USAGE = 2
    FAILED = 3  # some inputs; the others are done
    IO = 4  # stopped: the output cannot be written, or a lock cannot be had
    UNSAFE = 5  # the self-check of a rewriting failed: its file stays as it was
    PIPE_CLOSED = 128 + 13  # nobody reads the output: what the signal itself would leave


class OutputError(click.ClickException):
    """An output cannot be written: the command stops."""

    exit_code = ExitStatus.IO


# What a text is cut to for people, in characters: a `data:` URL may have millions.
SHOWN: Final = 300


def printable(text: str) -> str:
    r"""Return a text on one line that no terminal obeys: escapes for what is not printable."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def excerpt(text: str, limit: int = SHOWN) -> str:
    """Return a text for people: printable, `""` when it is empty, cut when it is long."""
    if len(text) > limit:
        return f"{printable(text[:limit])}... ({len(text)} characters)"
    return printable(text) or '""'


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def say(text: str) -> None:
    with _standard_output() as stream:
        _write(stream, f"{text}\n".encode(stream.encoding or "utf-8", "backslashreplace"))


# What gzip, Zstandard, bzip2 and xz write first.
_COMPRESSED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ")


def put(data: bytes) -> None:
    if is_terminal(output=True) and (b"\0" in data or data.startswith(_COMPRESSED)):
        raise click.UsageError("the output is binary, and standard output a terminal: give -o FILE")
    with _standard_output() as stream:
        _write(stream, data)


def _write(stream: TextIO, data: bytes) -> None:
    # With PYTHONUNBUFFERED the stream has no buffer, and writes as much as it can.
    rest = memoryview(data)
    while rest:
        rest = rest[stream.buffer.write(rest) :]


def flush() -> None:
    """Make sure that standard output has taken what was written."""
    if sys.stdout is not None:
        with _standard_output() as stream:
            stream.flush()


@contextmanager
def _standard_output() -> Iterator[TextIO]:
    if sys.stdout is None:
        raise OutputError("standard output is closed: open it, or give -o FILE")
    try:
        yield sys.stdout
    except BrokenPipeError:
        raise  # nobody reads any more: that is not an error
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror}") from None


def warn(text: str, end: str = "\n") -> None:
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{text}{end}")  # its error handler is backslashreplace
        sys.stderr.flush()


def is_terminal(*, output: bool = False) -> bool:
    """Return whether a person reads standard error, or standard output."""
    stream = sys.stdout if output else sys.stderr
    return stream is not None and stream.isatty()


def listed(urls: Iterable[str]) -> Iterator[str]:
    """Yield URLs, those of standard input in the place of "-"; empty lines are none."""
    for url in urls:
        if url != "-":
            yield url
            continue
        # There is no standard input when it was closed before the start.
        for line in sys.stdin.buffer if sys.stdin else ():
            if written := line.rstrip(b"\r\n"):
                yield written.decode("utf-8", "surrogateescape")
