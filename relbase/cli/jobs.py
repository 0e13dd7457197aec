"""What a run asks for, input by input, and what became of each: values that processes exchange."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from relbase.cli.inplace import InPlace
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
    from relbase.cli.rewrite_options import Choices


class Action(Enum):
    """What becomes of the result."""

    PRINT = "print"
    DIFF = "diff"
    CHECK = "check"
    WRITE = "write"
    REPLACE = "replace"


class Plan(NamedTuple):
    """What is asked for, for all inputs."""

    settings: Settings
    finder: Finder
    action: Action
    in_place: InPlace = InPlace()
    only: frozenset[str] = frozenset()  # what --only names, none for all
    reports: bool = False  # whether hashes and counts of links are wanted
    choices: Choices | None = None  # what the options on web archives say
    several: bool = False  # inputs
    is_delivery: bool = False  # what is printed is all that is left of the input
    format: Format = "text"  # of --check
    roots: Mapping[str, Directory] = {}


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
