"""Standard input, output and error, and the status that a command ends with.

Texts to show may be hostile (threat A9), so lines for people go through `printable`.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Enum, IntEnum
from typing import Final, Self, TypeAlias

import click

from relbase.cli import windows
from relbase.cli.hyperlinks import linked, shows_links
from relbase.edit import Span


class ExitStatus(IntEnum):
    DONE = 0
    FOUND = 1  # by --check or --violations, or warnings under --strict
    USAGE = 2
    FAILED = 3  # some inputs; the others are done
    IO = 4  # stopped: the output cannot be written, or a mailbox is locked
    UNSAFE = 5  # the self-check of a result failed: its file was left unchanged
    PIPE_CLOSED = 128 + 13  # nobody reads the output: the status of the signal SIGPIPE


class OutputError(click.ClickException):
    exit_code = ExitStatus.IO


# How many characters of a text people see: a `data:` URL may have millions.
SHOWN: Final = 300


def printable(text: str) -> str:
    r"""Return a text on one line that no terminal obeys, with unprintable characters escaped."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in text)


def in_shell(*words: str) -> str:
    import shlex

    return printable(windows.quoted(words) if windows.HERE else shlex.join(words))


def excerpt(text: str, limit: int = SHOWN) -> str:
    """Return a text for people: printable, `""` when it is empty, cut when it is long."""
    if len(text) > limit:
        return f"{printable(text[:limit])}... ({len(text)} characters)"
    return printable(text) or '""'


def counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def say(text: str) -> None:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    _write(f"{text}\n".encode(encoding, "backslashreplace"))


# What compressed data begins with, by the suffix of its file.
PACKED: Final = {
    ".gz": b"\x1f\x8b",
    ".zst": b"\x28\xb5\x2f\xfd",
    ".bz2": b"BZh",
    ".xz": b"\xfd7zXZ",
}


def put(data: bytes) -> None:
    if is_terminal(output=True) and (b"\0" in data or data.startswith((*PACKED.values(),))):
        raise click.UsageError("a terminal cannot show the binary output: give -o FILE")
    _write(data)


def flush() -> None:
    if sys.stdout is not None:
        _write(b"", is_last=True)


def _write(data: bytes, *, is_last: bool = False) -> None:
    if sys.stdout is None:
        raise OutputError("standard output is closed: open it, or give -o FILE")
    # With PYTHONUNBUFFERED the stream has no buffer, and may write only a part.
    rest = memoryview(data)
    try:
        while rest:
            rest = rest[sys.stdout.buffer.write(rest) :]
        if is_last:
            sys.stdout.flush()
    except BrokenPipeError:
        raise  # nobody reads the output any more: not an error
    except OSError as error:
        raise OutputError(f"standard output: {error.strerror}") from None


def warn(text: str) -> None:
    if sys.stderr is None:
        return
    with suppress(OSError, ValueError):
        erased = _ERASE if _bars else ""
        sys.stderr.write(f"{erased}{text}\n")  # its error handler is backslashreplace
        sys.stderr.flush()


def is_terminal(*, output: bool = False) -> bool:
    stream = sys.stdout if output else sys.stderr
    return stream is not None and stream.isatty()


def obeys_escapes(*, output: bool = False) -> bool:
    """Return whether it is a terminal that obeys escape sequences."""
    return is_terminal(output=output) and os.environ.get("TERM") != "dumb"


def listed(urls: Iterable[str]) -> Iterator[str]:
    """Yield URLs, with those of standard input in place of "-"; empty lines are skipped."""
    for url in urls:
        if url != "-":
            yield url
            continue
        # Python has no `sys.stdin` if it was closed before the start.
        for line in sys.stdin.buffer if sys.stdin else ():
            if written := line.rstrip(b"\r\n"):
                yield written.decode("utf-8", "surrogateescape")


# Counts of references, and of the messages that have them, by the selector of the messages.
Unresolved: TypeAlias = Counter[tuple[str, str]]


class Tally:
    """Counts, of an input or of a run. No dataclass, which takes longer to start with."""

    def __init__(self) -> None:
        self.failed = 0  # could not be processed
        self.unsafe = 0  # stopped by the self-check
        self.warnings = 0
        self.findings = 0  # by `--check` or `--violations`
        self.rewritten = 0  # how many links: an edit of an encoded line may hold several, or none
        self.listed = 0  # links, by --check
        self.tabled = 0  # inputs whose rows a table has, which may be none
        self.unasked = 0  # files in directories that are left unchanged unless they are asked for
        self.on_given_url = 0  # messages of a mailbox that were changed on the URL given for it
        # With --message-map or --message-base: where messages got their bases, and who lacks one.
        self.bases = Counter[str]()
        self.unresolved: Unresolved = Counter()
        self.verdicts = Counter[str]()  # of links, with --judge
        self.matched = set[str]()  # used selectors of --message-map

    def __iadd__(self, other: Tally) -> Self:
        for name, more in vars(other).items():
            own = getattr(self, name)
            if isinstance(own, int):
                setattr(self, name, own + more)
            else:
                own.update(more)
        return self

    def status(self, *, strict: bool) -> ExitStatus:
        if self.unsafe:
            return ExitStatus.UNSAFE
        if self.failed:
            return ExitStatus.FAILED
        return ExitStatus.FOUND if self.findings or (strict and self.warnings) else ExitStatus.DONE


class Verbosity(Enum):
    NONE = "none"
    COUNTED = "counted"
    ALL = "all"


class Collected:
    """The warnings about one input."""

    def __init__(self, verbosity: Verbosity = Verbosity.COUNTED) -> None:
        self.verbosity = verbosity
        self.counts = Counter[str]()  # by reason
        self.lines: list[tuple[str, str]] = []  # reasons, texts

    def add(self, reason: str, line: str) -> None:
        if self.verbosity is Verbosity.ALL or reason not in self.counts:
            self.lines.append((reason, line))
        self.counts[reason] += 1


class WarningPrinter:
    def __init__(self, verbosity: Verbosity) -> None:
        self._verbosity = verbosity
        self._has_links = obeys_escapes() and shows_links()
        self._more: Counter[str] = Counter()  # warnings that were not printed
        self._inputs: Counter[str] = Counter()  # inputs that have them, after the first

    def show(self, warned: Collected) -> None:
        for reason, line in warned.lines if self._verbosity is not Verbosity.NONE else ():
            is_first = reason not in self._more
            if is_first or self._verbosity is Verbosity.ALL:
                self._warn(line, reason)
            if self._verbosity is Verbosity.COUNTED:
                self._more[reason] += warned.counts[reason] - is_first
                self._inputs[reason] += not is_first

    def close(self) -> None:
        for reason, count in self._more.items():
            inputs = self._inputs[reason]
            where = f", in {counted(inputs, 'more input')}" if inputs else ""
            text = f"{counted(count, 'more warning')} like it [{reason}]{where}; -v shows all"
            if count:
                self._warn(printable(text), reason)

    def _warn(self, line: str, reason: str) -> None:
        warn(linked(line, reason) if self._has_links else line)


_MANY: Final = 50  # with fewer, a run ends before anybody has read a bar
_LARGE: Final = 32 << 20  # bytes
_PAUSE: Final = 0.1  # seconds: drawing the bar takes as long as a small page
_ERASE: Final = "\r\x1b[K"  # the line of the bar, which is drawn again below a warning
_bars: Final[list[object]] = []  # that are shown
Bar: TypeAlias = Callable[..., None]  # takes how many more bytes, and how many more inputs


@contextmanager
def progress(names: Sequence[str], *, wanted: bool) -> Iterator[Bar]:
    """Yield what to tell of progress."""
    size = 0
    for name in names if wanted and obeys_escapes() else ():
        with suppress(OSError):
            size += os.stat(name).st_size
    if not size or (len(names) < _MANY and size < _LARGE):
        yield lambda read, done=0: None  # noqa: ARG005 (of a `Bar`)
        return
    files, unseen, due = 0, 0, 0.0

    def advance(read: int, done: int = 0) -> None:
        nonlocal files, unseen, due
        now, files, unseen = time.monotonic(), files + done, unseen + read
        if now >= due or files == len(names):
            bar.label = f"{files}/{len(names)} files"
            bar.make_step(unseen)
            bar.render_progress()
            unseen, due = 0, now + _PAUSE

    with click.progressbar(length=size, file=sys.stderr) as bar:
        _bars.append(bar)
        try:
            yield advance
        finally:
            _bars.remove(bar)


# Of the JSON objects. Fields can be added, but a changed meaning needs a new number.
_VERSION: Final = 1


def object_line(*values: object) -> str:
    import json

    fields: dict[str, object] = {"version": _VERSION}
    for value in values:
        fields |= fields_of(value) or {}
    return json.dumps({name: plain(field) for name, field in fields.items()})


def plain(value: object) -> object:
    """A value in the types of JSON: enum members as their values, spans as pairs."""
    if isinstance(value, Enum):
        return value.value
    fields = fields_of(value)
    if fields is not None:
        return {name: plain(field) for name, field in fields.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def fields_of(value: object) -> dict[str, object] | None:
    if isinstance(value, dict):
        return value
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict") and not isinstance(value, Span):
        return dict(value._asdict())
    return None
