"""From arguments to inputs: names, Maildirs, lists and trees, for every command on documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from relbase.cli import maildir, streams
from relbase.cli.files import shown_name
from relbase.cli.inputs import STDIN, Input, passed_words, refuse_no_directory, refuse_twice, walk
from relbase.cli.origins.finder import Finder
from relbase.cli.streams import printable
from relbase.cli.warnings import Verbosity
from relbase.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relbase.cli.options import Settings
    from relbase.cli.outcome import Tally


class Inputs(NamedTuple):
    """What a run is about.

    Args:
        all: the inputs, in order.
        trees: the directories that were walked.
        listed: whether some stand in a list.
        several: whether there may be more than one document, a container counting as one.
        passed: what was passed over in trees, in words.
    """

    all: list[Input]
    trees: tuple[str, ...]
    listed: bool
    several: bool
    passed: str


def inputs_of(
    names: Sequence[str],
    given: dict[str, Any],
    tally: Tally,
    backup: str | None = None,
    *,
    follow: bool = False,
) -> Inputs:
    """Return the inputs of a command."""
    trees: tuple[str, ...] = given.pop("trees")
    listed: tuple[str, ...] | None = given.pop("listed")
    if not names and not trees and listed is None:
        names = (STDIN,)
    refuse_twice(names)

    def failed(name: str, error: Exception) -> None:
        why = error.strerror if isinstance(error, OSError) else error
        streams.warn(f"{shown_name(name)}: error: {why}")
        tally.failed += 1

    found: list[Input] = []
    for name in names:
        if name != STDIN and maildir.is_maildir(name):
            found += maildir.messages(name, failed, follow=follow)
        else:
            found.append(Input(name))
    found += (Input(name, listed=True) for name in listed or ())
    passed: list[str] = []
    for tree in trees:
        refuse_no_directory(tree)
        walked, over = walk(tree, failed, given["sidecars"], backup)
        found += walked
        passed += [words] if (words := passed_words(over)) else []
    several = bool(trees) or len(names) + len(listed or ()) > 1
    _refuse_repeated(found)
    return Inputs(found, trees, listed is not None, several, ", ".join(passed))


def finder_of(inputs: Inputs, settings: Settings, tally: Tally) -> Finder:
    """Return what finds the URLs of inputs, with its tables read."""
    finder = Finder(settings.whence, inputs.trees)
    finder.load()
    if finder.map_is_of_others(inputs.all):
        tally.warnings += 1
        if settings.verbosity is not Verbosity.NONE:
            text = "no line of --map is of an input: it names files as they are given, or from -r"
            streams.warn(f"warning: {text}")
    return finder


def _refuse_repeated(inputs: Sequence[Input]) -> None:
    seen: set[str] = set()
    for one in inputs:
        if one.root and one.name in seen:
            text = f"'{printable(one.name)}' is found twice: give each tree once"
            raise click.UsageError(text)
        seen.add(one.name)


_ONE_URL: Final = (
    "{option} is that of one document, and there are several: give each its own with --map FILE, "
    "--root DIR=URL or --mirror DIR"
)


def refuse_one_url(inputs: Inputs, settings: Settings) -> None:
    """Refuse one URL, or the headers of one document, for several (rule 16)."""
    if not inputs.several:
        return
    for option, value in (
        ("--url", settings.url),
        ("--redirect", settings.redirects),
        ("--headers", settings.fields),
    ):
        if value:
            raise click.UsageError(_ONE_URL.format(option=option))
