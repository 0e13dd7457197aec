"""What a run asks for, input by input, and what became of each: values that processes exchange."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from relbase.cli.inplace import InPlace
from relbase.records import NamedTuple

if TYPE_CHECKING:
    from relbase.cli.archive_options import Choices
    from relbase.cli.inputs import Input
    from relbase.cli.maildir import Delivery
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Finder
    from relbase.cli.outputs import Output
    from relbase.cli.warnings import Warned


class Action(Enum):
    """What becomes of the result."""

    PRINT = "print"
    DIFF = "diff"
    CHECK = "check"
    WRITE = "write"
    REPLACE = "replace"
    DELIVER = "deliver"


class Plan(NamedTuple):
    """What is asked for, for all inputs.

    Args:
        settings: the shared options.
        finder: finds the URLs of inputs.
        action: what becomes of the results.
        how: of files that are replaced.
        delivery: of the messages of a Maildir, into its copy.
        only: what --only names, none for all.
        reports: whether hashes and counts of links are wanted.
        choices: what the options on web archives say.
        several: whether there are several inputs.
    """

    settings: Settings
    finder: Finder
    action: Action
    how: InPlace = InPlace()
    delivery: Delivery | None = None
    only: frozenset[str] = frozenset()
    reports: bool = False
    choices: Choices | None = None
    several: bool = False


class Job(NamedTuple):
    """One input, where its output goes, and what an earlier run made of it.

    Args:
        input: its name.
        output: None where none is written to a file.
        hashes: of its content and its output's, as the report of an earlier run has them.
    """

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
    STOPPED = "stopped"  # an output cannot be written


class Done(NamedTuple):
    """What became of one input.

    Args:
        job: the input.
        state: what became of it.
        error: why nothing did.
        errors: why some messages of it were passed through.
        failed: how much of an archive could not be read, which was said already.
        warned: the warnings on it.
        warnings: how many they were.
        found: whether --check or --diff found something to change.
        lines: for standard output.
        text: what was done, in words.
        directory: that was written into, for `outputs.settle`.
        url: its base, "" for none.
        source: what states that.
        sizes: of its content and its output's.
        hashes: of the same, in hexadecimal; "" where nobody asked.
        links: how many there are of each status.
        notes: how many there are of each reason.
        places: how many were changed.
        on_given_url: how many messages of a mailbox were changed on the URL that was given for it.
        unknown: how many of its documents have relative references and no base.
        claimed: the URL that was found for it, "" where it was given.
    """

    job: Job
    state: State
    error: str = ""
    errors: tuple[str, ...] = ()
    failed: int = 0
    warned: tuple[Warned, ...] = ()
    warnings: int = 0
    found: bool = False
    lines: tuple[str, ...] = ()
    text: str = ""
    directory: str = ""
    url: str = ""
    source: str = ""
    sizes: tuple[int, int] = (0, 0)
    hashes: tuple[str, str] = ("", "")
    links: dict[str, int] = {}  # noqa: RUF012 (never written to)
    notes: dict[str, int] = {}  # noqa: RUF012 (likewise)
    places: int = 0
    on_given_url: int = 0
    unknown: int = 0
    claimed: str = ""
