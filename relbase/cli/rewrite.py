"""`relbase rewrite`: documents in, the same documents with absolute links out."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Any, Final

import click

from relbase.cli import maildir, options, outputs, streams
from relbase.cli.delivery import HANDED_OVER
from relbase.cli.directories import opened_directory
from relbase.cli.files import STDIN, uploaded
from relbase.cli.help import Command
from relbase.cli.inplace import InPlace
from relbase.cli.inputs import finder_of, inputs_of
from relbase.cli.jobs import Action, Job, Plan
from relbase.cli.outcome import Tally, Verbosity
from relbase.cli.report import Report, read_report
from relbase.cli.rewrite_options import EPILOG, OPTIONS, Choices
from relbase.cli.run import RunOptions, run
from relbase.cli.streams import ExitStatus, printable
from relbase.kind import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relbase.cli.directories import Directory
    from relbase.cli.inputs import Inputs
    from relbase.cli.options import Settings
    from relbase.cli.report import Earlier


@click.command(
    "rewrite",
    cls=Command,
    short_help="Make relative links absolute.",
    params=options.parameters(*OPTIONS),
    epilog=EPILOG,
)
@click.pass_context
def rewrite(context: click.Context, /, inputs: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401 (the options)
    """Make the relative links of each INPUT absolute and change no other byte.

    INPUT is a page, style sheet, XML file, feed, message, mbox, Maildir or web archive (WARC,
    ARC); "-" or no INPUT is standard input. A DIR is a tree: all files below it, without dotfiles,
    symbolic links and backups.

    The result of one INPUT goes to standard output, unless -o or -i is given. For a web archive it
    is a WARC of conversion records, one for each page whose links changed.

    For saved pages relbase recovers each page's URL from metadata that the saving program left.
    Warnings go to standard error as file:line:column, the first of each kind.
    """
    own = {option.name: given.pop(option.name) for option in OPTIONS if option.name}
    tally = Tally()
    follow = own["follow_symlinks"]
    found, settings = inputs_of(inputs, given, tally, own["backup"], follow=follow)
    _refuse(inputs, found, own)
    if own["delivery"] and settings.kind is None:
        settings = settings._replace(kind=Kind.MAIL.value)
    action = _action(own)
    earlier = read_report(own["resume"]) if own["resume"] else None
    with ExitStack() as stack:
        if own["output"] is not None:
            [own["output"]] = stack.enter_context(uploaded(own["output"]))
        jobs = _jobs(inputs, found, action, own, earlier)
        finder = finder_of(found, settings, tally)
        plan = Plan(
            settings,
            finder,
            action,
            InPlace(own["backup"], own["follow_symlinks"], own["break_hardlinks"]),
            own["only"] or frozenset(),
            reports=own["report"] is not None,
            choices=_choices(own),
            several=found.several,
            is_delivery=own["delivery"],
            format=own["format"] or "text",
            roots=_held(found, stack),
        )
        tally += run(plan, jobs, _options(own, settings, found))
    status = tally.status(strict=settings.strict)
    if own["delivery"] and status is ExitStatus.DONE:
        context.exit(HANDED_OVER)
    context.exit(status)


# A process can have a thousand files open, or fewer: more trees than this are opened by name.
_HELD: Final = 100


def _held(found: Inputs, stack: ExitStack) -> dict[str, Directory]:
    """The directories that inputs are reached from, open for the whole run: none can be swapped."""
    roots: dict[str, Directory] = {}
    for root in dict.fromkeys(one.root for one in found.all if one.root):
        if len(roots) == _HELD:
            break
        with suppress(OSError):  # reported when an input is read
            roots[root] = stack.enter_context(opened_directory(root))
    return roots


def _choices(own: dict[str, Any]) -> Choices:
    # One time for all archives of the run, whatever process does them.
    now = os.environ.get("SOURCE_DATE_EPOCH") or str(int(time.time()))
    return Choices(now=now, **{name: own[name] for name in Choices._fields if name != "now"})


def _action(own: dict[str, Any]) -> Action:
    """What becomes of the results."""
    for option, action in (("diff", Action.DIFF), ("check", Action.CHECK)):
        if own[option]:
            return action
    if own["in_place"]:
        return Action.REPLACE
    if own["output"] is None:
        return Action.PRINT
    return Action.WRITE


def _jobs(
    names: Sequence[str],
    found: Inputs,
    action: Action,
    own: dict[str, Any],
    earlier: Earlier | None,
) -> list[Job]:
    planned: dict[str, outputs.Output] = {}
    if action is Action.WRITE and _maildirs(names):
        planned = maildir.copies(names[0], own["output"], found.all, goes_on=earlier is not None)
    elif action is Action.WRITE:
        planned = outputs.plan(
            found.all,
            own["output"],
            trees=bool(found.trees) or found.listed,
            force=own["force"],
            known=earlier.outputs if earlier else None,
        )
    return [
        Job(one, planned.get(one.name), earlier.hashes.get(one.name) if earlier else None)
        for one in found.all
    ]


def _maildirs(names: Sequence[str]) -> list[str]:
    return [name for name in names if name != STDIN and maildir.is_maildir(name)]


def _options(own: dict[str, Any], settings: Settings, found: Inputs) -> RunOptions:
    is_shown = own["output"] is not None and streams.is_terminal() and not found.several
    colour = streams.is_terminal(output=True) and "NO_COLOR" not in os.environ
    report = None
    if own["report"] is not None:
        report = Report(own["report"], goes_on=own["report"] == own["resume"])
    return RunOptions(
        own["jobs"] or _processors(),
        verbose=settings.verbosity is Verbosity.ALL
        or (is_shown and settings.verbosity is not Verbosity.NONE),
        quiet=settings.verbosity is Verbosity.NONE,
        colour=colour,
        skipped=found.passed,
        report=report,
        limit=own["time_limit"],
    )


def _processors() -> int:
    with suppress(AttributeError):  # not every system has it
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# ---- what is refused before anything is read

# Options that say what becomes of the results exclude each other.
_EXCLUDING: Final = (
    ("diff", "--diff", "shows what would change"),
    ("check", "--check", "only looks"),
    ("in_place", "--in-place", "replaces the inputs"),
)


def _refuse(names: tuple[str, ...], found: Inputs, own: dict[str, Any]) -> None:
    chosen = [(flag, does) for name, flag, does in _EXCLUDING if own[name]]
    if len(chosen) > 1:
        flags = " and ".join(flag for flag, _ in chosen)
        raise click.UsageError(f"{flags} exclude each other: give one of them")
    if own["output"] is not None and chosen:
        flag, does = chosen[0]
        raise click.UsageError(f"{flag} {does}, so it excludes -o: give one of them")
    if own["delivery"] and (chosen or own["output"] is not None or names not in {(), (STDIN,)}):
        text = "--delivery filters standard input to standard output: leave inputs and outputs out"
        raise click.UsageError(text)
    if own["output"] == "":
        raise click.UsageError("-o is empty: give the name of a file or a directory")
    if own["format"] and not own["check"]:
        raise click.UsageError("--format is for --check: give that too")
    for name, flag in (
        ("backup", "--backup"),
        ("follow_symlinks", "--follow-symlinks"),
        ("break_hardlinks", "--break-hardlinks"),
    ):
        is_read = name == "follow_symlinks" and _maildirs(names)
        if own[name] and not own["in_place"] and not is_read:
            raise click.UsageError(f"{flag} is for files that are replaced: give -i too")
    _refuse_inputs(names, found, own, writes=not chosen)


def _refuse_inputs(
    names: Sequence[str], found: Inputs, own: dict[str, Any], *, writes: bool
) -> None:
    if own["in_place"] and any(one.name == STDIN for one in found.all):
        raise click.UsageError("standard input cannot be replaced: leave -i out")
    if not writes:
        return
    if mailboxes := _maildirs(names):
        _refuse_maildir(mailboxes[0], found, own["output"])
    if own["output"] is None and (found.several or len(found.all) > 1):
        text = (
            "several inputs need a directory for their output: give -o DIR, -i, --check or --diff"
        )
        raise click.UsageError(text)


def _refuse_maildir(name: str, found: Inputs, output: str | None) -> None:
    shown = printable(name)
    if found.several:
        fix = "rewrite it with a command of its own"
        raise click.UsageError(f"the Maildir '{shown}' has a directory for its output: {fix}")
    if output is None:
        fix = "give -o DIRECTORY (or -i, --check, --diff)"
        raise click.UsageError(f"the Maildir '{shown}' goes into a directory: {fix}")
