"""What a run asks for, input by input, and what became of each: values that processes exchange."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from relbase.cli.outcome import Collected, Tally
from relbase.cli.senders import Unresolved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from relbase.cli.directories import Directory
    from relbase.cli.files import Input
    from relbase.cli.findings import Format
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Finder
    from relbase.cli.outputs import Output


class Action(Enum):
    """What becomes of the result."""

    PRINT = "print"
    DIFF = "diff"
    CHECK = "check"
    WRITE = "write"
    REPLACE = "replace"


class Options(NamedTuple):
    """The options that `relbase rewrite` alone has."""

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
    resume: str | None
    with_originals: bool
    all_status: bool
    salvage: bool
    date: str | None

    @property
    def action(self) -> Action:
        """What becomes of the results."""
        if self.diff:
            return Action.DIFF
        if self.check:
            return Action.CHECK
        if self.in_place:
            return Action.REPLACE
        return Action.PRINT if self.output is None else Action.WRITE


class Plan(NamedTuple):
    """What is asked for, for all inputs."""

    settings: Settings
    options: Options
    finder: Finder
    several: bool  # inputs
    skipped: str  # what is left out of trees, in words
    now: str  # one time for all archives of the run, whatever process does them
    roots: Mapping[str, Directory]

    @property
    def action(self) -> Action:
        """What becomes of the results."""
        return self.options.action


class Job(NamedTuple):
    """One input, where its output goes, and the hashes that an earlier run has reported of both."""

    input: Input
    output: Output | None = None
    hashes: tuple[str, str] | None = None


class State(Enum):
    """What became of an input."""

    REWRITTEN = "rewritten"
    UNCHANGED = "unchanged"
    FAILED = "failed"
    UNSAFE = "unsafe"  # the self-check failed: nothing was written
    SKIPPED = "skipped"  # an earlier run has done it
    PASSED = "passed"  # not of the kinds that --only names
    STOPPED = "stopped"  # no output can be written


@dataclass(slots=True)
class Done:
    """What became of one input; it is filled as the input is done."""

    job: Job
    state: State = State.UNCHANGED
    error: str = ""
    errors: list[str] = field(default_factory=list)  # of messages that stay as they are
    tally: Tally = field(default_factory=Tally)  # of records that cannot be read, said already
    warned: Collected = field(default_factory=Collected)
    lines: list[str] = field(default_factory=list)  # for standard output
    text: str = ""  # what was done
    directory: str = ""  # that was written into, for `settle`
    url: str = ""  # the base
    source: str = ""  # what states it
    claimed: str = ""  # the URL that was found for it, "" where it was given
    sizes: tuple[int, int] = (0, 0)  # of its content and of its output's
    hashes: tuple[str, str] = ("", "")  # of the same, "" where nobody asked
    links: Counter[str] = field(default_factory=Counter)  # by status
    notes: Counter[str] = field(default_factory=Counter)  # by reason
    changed: int = 0  # documents
    places: int = 0  # that were changed in them
    found: int = 0  # relative links, by --check
    fails_check: bool = False  # something would change, or cannot be made ready
    first_unknown: str = ""  # the first message with relative references and no base
    on_given_url: int = 0  # messages of a mailbox that were changed on the URL given for it
    # With --message-map or --message-base: what gave messages their bases, and who lacks one.
    bases: Counter[str] = field(default_factory=Counter)
    unresolved: Unresolved = field(default_factory=Unresolved)
