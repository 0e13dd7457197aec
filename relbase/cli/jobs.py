"""The jobs of a run, one for each input, and their results: values that processes exchange."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

import click

from relbase.cli.files import STDIN, Input, InputError, Output, failing, opened
from relbase.cli.group import Option
from relbase.cli.streams import (
    Collected,
    Tally,
    Unresolved,
    counted,
    excerpt,
    object_line,
    printable,
)
from relbase.notes import Reason
from relbase.rewriting.outcomes import Status
from relbase.session import run

if TYPE_CHECKING:
    from relbase.cli.directories import Directory
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Finder
    from relbase.session.session import OpenedDocument

OnRead: TypeAlias = Callable[[int], None]  # takes numbers of bytes
Format: TypeAlias = Literal["text", "json", "github", "sarif"]

JOBS: Final = Option(
    "-j, --jobs N",
    "Use N parallel workers (default 1; 0: one per CPU).",
    basic=True,
    default=1,
    type=click.IntRange(min=0, max=256),
)
CSV_BOM: Final = Option("--csv-bom", "Begin the CSV with a byte order mark, as Excel expects.")

SELECTORS: Final = {"sender": "(no sender)", "list": "(no list)", "message": "(no Message-ID)"}


def count_unresolved(counts: Unresolved, given: OpenedDocument, by: str = "sender") -> None:
    from relbase.bases import headers
    from relbase.mail.message import fields_of_mail

    count = sum(each.status is Status.UNRESOLVED for each in run.references(given))
    if count:
        of = {"sender": headers.sender, "list": headers.list_id, "message": headers.message_id}
        name = of[by](fields_of_mail(given.document.data)) or SELECTORS[by]
        counts.update({("reference", name): count, ("message", name): 1})


def unresolved_lines(counts: Unresolved) -> list[str]:
    rows = sorted((-count, name) for (what, name), count in counts.items() if what == "reference")
    return [
        f"{excerpt(name)}\t{counted(-count, 'reference')} in "
        f"{counted(counts['message', name], 'message')}"
        for count, name in rows
    ]


class Options(NamedTuple):
    """The options that only `relbase rewrite` has; -o, -i, --diff, --check exclude each other."""

    output: str | None
    in_place: bool
    backup: str | None  # the suffix of the name that keeps the old content
    delivery: bool
    diff: bool
    check: bool
    format: Format | None
    force: bool
    follow_symlinks: bool
    break_hardlinks: bool
    only: frozenset[str] | None
    jobs: int
    time_limit: float | None
    report: str | None
    csv_bom: bool
    resume: str | None
    with_originals: bool
    all_status: bool
    salvage: bool
    date: str | None


class Plan(NamedTuple):
    settings: Settings
    options: Options
    finder: Finder
    several: bool  # whether there is more than one input
    skipped: str  # what is left out of trees, in words
    deciding: str  # a digest of the options that decide about links
    now: str  # the same time for all archives of the run, in all processes
    roots: Mapping[str, Directory]
    mailbox: str = ""  # the Maildir whose messages are the inputs, if --url is given for them
    uploads: bool = False  # whether the output is an object


class Job(NamedTuple):
    """One input, where its output goes, and what an earlier run reported of it."""

    input: Input
    output: Output | None = None
    reported: tuple[str, str, str] | None = None  # hashes of input and output, and `digest`


class State(Enum):
    REWRITTEN = "rewritten"
    UNCHANGED = "unchanged"
    SKIPPED = "skipped"  # an earlier run has done it
    PASSED = "passed"  # not of the kinds that --only names
    FAILED = "failed"
    UNSAFE = "unsafe"  # the self-check failed: nothing was written
    STOPPED = "stopped"  # no output can be written


class Outcome:
    """The result for one input, filled in while it is processed."""

    def __init__(
        self,
        job: Job,
        state: State = State.UNCHANGED,
        error: str = "",
        *,
        warned: Collected | None = None,
    ) -> None:
        self.job, self.state, self.error = job, state, error
        self.errors: list[str] = []  # of messages that were left unchanged
        self.tally = Tally()  # without those for `state` and `warned`
        self.warned = warned or Collected()
        self.lines: list[str] = []  # for standard output
        self.text = ""  # what was done
        self.directory = ""  # in which a file was written, for `settle`
        self.url = ""  # the base
        self.source = ""  # what states it
        self.options = ""  # as `digest` returns it
        self.claimed = ""  # the URL that was found for it; "" if the user gave it
        self.sizes = 0, 0  # of the input and of the output
        self.hashes = "", ""  # of the same; "" if not needed
        self.links = Counter[str]()  # by status
        self.notes = Counter[str]()  # by reason
        self.changed = 0  # how many documents
        self.places = 0  # how many places in them
        self.first_unknown = ""  # the first message with relative references and no base


class Counted:
    """Counts the bytes that pass through it, and hashes them if that is wanted."""

    def __init__(self, read: OnRead | None = None, *, hashes: bool) -> None:
        self.size, self._read, self._digest = 0, read, None
        if hashes:
            from hashlib import sha256

            self._digest = sha256()

    def counting(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            self.size += len(piece)
            if self._read is not None:
                self._read(len(piece))
            if self._digest is not None:
                self._digest.update(piece)
            yield piece

    @property
    def hash(self) -> str:
        return "" if self._digest is None else str(self._digest.hexdigest())


@contextmanager
def reporting(
    path: str, *, goes_on: bool, writes: bool, mark: bool = False
) -> Iterator[Callable[[Outcome], None]]:
    if goes_on:
        # If the run before was interrupted, its last line may be incomplete: remove it.
        with suppress(FileNotFoundError), open(path, "r+b") as cut:
            cut.truncate(sum(len(line) for line in cut if line.endswith(b"\n")))
    try:
        file = open(path, "ab" if goes_on else "xb")  # noqa: SIM115 (closed below)
    except FileExistsError:
        fix = "give --resume with the same name to go on with it, or another name"
        text = f"the report '{printable(path)}' already exists: {fix}"
        raise click.UsageError(text) from None

    def put(row: Mapping[str, object]) -> None:
        file.write(object_line(row).encode() + b"\n")

    if is_csv(path):
        from relbase.cli.csv_tables import CsvTable

        put = CsvTable(file.write, (), mark=mark).add

    def add(outcome: Outcome) -> None:
        before, after = outcome.hashes
        failed = outcome.tally.failed
        unread = f"{counted(failed, 'record')} cannot be read" if failed else None
        row = {
            "file": outcome.job.input.name,
            "output": outcome.job.output.path if outcome.job.output else None,
            "state": outcome.state.value,
            "url": outcome.url or None,
            "source": outcome.source or None,
            "options": outcome.options or None,
            "places": outcome.places,
            "on_given_url": outcome.tally.on_given_url,
            "links": outcome.links,
            "notes": outcome.notes,
            "size_before": outcome.sizes[0],
            "size_after": outcome.sizes[bool(after)] if writes else None,
            "sha256_before": before or None,
            "sha256_after": (writes and (after or before)) or None,
            "error": outcome.error or "; ".join(outcome.errors)[:10_000] or unread,
        }
        with failing(path):
            put(row)
            file.flush()

    try:
        yield add
    finally:
        with failing(path), file:
            os.fsync(file.fileno())


def is_csv(path: str | None) -> bool:
    return path is not None and path.lower().endswith(".csv")


_START: Final = b'{"version": 1, "file": "'


def read_report(path: str) -> tuple[dict[str, tuple[str, str, str]], set[str]]:
    """What is reported of inputs that need not be done again, and all outputs."""
    import json

    done: dict[str, tuple[str, str, str]] = {}
    outputs: set[str] = set()
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if not line.endswith(b"\n") and line[: len(_START)] == _START[: len(line)]:
                break  # that run was interrupted in its last line
            try:
                row = json.loads(line)
                name, output, state = row["file"], row["output"], row["state"]
                has_base = Reason.BASE_NONE.value not in row["notes"]  # else one may be given now
                hashes = (row["sha256_before"], row["sha256_after"])
            except (ValueError, KeyError, TypeError):
                text = f"{printable(path)}, line {number}: it is not a report of relbase"
                raise click.UsageError(f"{text}: give one that --report wrote") from None
            done.pop(name, None)
            if state in {State.REWRITTEN.value, State.UNCHANGED.value}:
                outputs.add(output)
                if all(hashes) and has_base and not row.get("error") and name != STDIN:
                    done[name] = (*hashes, row.get("options") or "")
    return done, outputs


def is_done(job: Job) -> bool:
    if job.reported is None:
        return False
    before, after, _ = job.reported
    if job.output is None:
        return _hash_of(job.input) == after
    return (_hash_of(job.input), _hash_of(Input(job.output.path))) == (before, after)


def digest(*deciding: object) -> str:
    """Return a short digest of what decides about the links of an input besides its content."""
    from hashlib import sha256

    return sha256(ascii(deciding).encode()).hexdigest()[:16]


def _hash_of(input_: Input) -> str:
    whole = Counted(hashes=True)
    with suppress(InputError), opened(input_) as source:
        deque(whole.counting(source.pieces), maxlen=0)
        return whole.hash
    return ""
