"""From arguments to inputs: names, Maildirs, lists and trees, for every command on documents."""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from relbase.cli import maildir, options, streams
from relbase.cli.files import shown_name
from relbase.cli.inputs import STDIN, Input, read_list, refuse_twice, walk
from relbase.cli.origins.finder import Finder
from relbase.cli.origins.paths import INDEXES, mirror_in
from relbase.cli.outcome import Verbosity
from relbase.cli.streams import printable
from relbase.expressions import expression

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
        passed: what was skipped in trees, in words.
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
    listed = _listed(given)
    if given.pop("recursive") and not names and listed is None:
        raise click.UsageError("-r needs a directory, as in: relbase rewrite -r site/ -o out/")
    if not names and listed is None:
        names = (STDIN,)
    refuse_twice(names)
    _refuse_urls(names)

    def failed(name: str, error: Exception) -> None:
        why = error.strerror if isinstance(error, OSError) else error
        streams.warn(f"{shown_name(name)}: error: {why}")
        tally.failed += 1

    found: list[Input] = []
    trees: list[str] = []
    passed: list[str] = []
    for name in names:
        if name == STDIN or not os.path.isdir(name):  # noqa: PTH112 (the name as it was given)
            found.append(Input(name))
        elif maildir.is_maildir(name):
            found += maildir.messages(name, failed, follow=follow)
        else:
            trees.append(name)
            walked, over = walk(name, failed, given["sidecars"], backup)
            found += walked
            if not walked and not given["quiet"]:
                streams.warn(f"{shown_name(name)}: warning: the directory holds no files to read")
            tally.warnings += not walked
            passed += (f"{count} {why}" for why, count in over.items())
    found += (Input(name, listed=True) for name in listed or ())
    several = bool(trees) or len(names) + len(listed or ()) > 1
    _refuse_repeated(found)
    return Inputs(found, tuple(trees), listed is not None, several, ", ".join(passed))


def _listed(given: dict[str, Any]) -> list[str] | None:
    """The names in the file of --files-from."""
    data, nul = given.pop("files_from"), given.pop("null")
    if data is None:
        return None
    if not nul and b"\0" in data:
        raise click.UsageError("the list of --files-from has NUL bytes in it: give -0 too")
    return read_list(data, nul=nul)


_is_url: Final = expression(r"(?:https?|ftp)://", re.IGNORECASE)


def _refuse_urls(names: Sequence[str]) -> None:
    """Tell people who give a URL as an input what they can do: relbase fetches nothing."""
    urls = [name for name in names if _is_url.match(name) and not os.path.lexists(name)]
    if not urls:
        return
    url = printable(shlex.quote(urls[0]))
    command = click.get_current_context().command_path
    others = [printable(shlex.quote(name)) for name in names if name not in urls]
    if len(others) == len(urls) == 1:
        raise click.UsageError(f"Did you mean: {command} {others[0]} --url {url}")
    fetch = f"curl -sL -D headers.txt {url}"
    fix = f"{fetch} | {command} --url {url} --headers headers.txt"
    raise click.UsageError(f"{url} is a URL, and relbase fetches nothing. Try: {fix}")


def begin(
    names: Sequence[str], given: dict[str, Any], tally: Tally
) -> tuple[Inputs, Settings, Finder]:
    """Return what a command on documents is about, what its options say, and where URLs are."""
    found = inputs_of(names, given, tally)
    settings = options.settings(given)
    refuse_one_url(found, settings)
    return found, settings, finder_of(found, settings, tally)


def finder_of(inputs: Inputs, settings: Settings, tally: Tally) -> Finder:
    """Return what finds the URLs of inputs, with its tables read."""
    finder = Finder(settings.origins, inputs.trees)
    finder.load()
    if finder.map_is_of_others(inputs.all):
        tally.warnings += 1
        if settings.verbosity is not Verbosity.NONE:
            text = "no line of --map names an input: write names as given, or relative to the DIR"
            streams.warn(f"warning: {text}")
    if settings.verbosity is not Verbosity.NONE and finder.may_be_mirrors():
        _name_mirrors(inputs, finder)
    return finder


def _name_mirrors(inputs: Inputs, finder: Finder) -> None:
    """Name --mirror where a tree looks like one whose pages nothing else gives a URL."""
    for tree in inputs.trees:
        directory = mirror_in(tree)
        pages = (one.name for one in inputs.all if one.root == tree)
        indexes = [page for page in pages if os.path.basename(page) in INDEXES]  # noqa: PTH119
        if directory is not None and not any(map(finder.is_stated, indexes[:1])):
            option = printable(f"--mirror {shlex.quote(directory)}=https")
            text = "it looks like a mirror by wget; to take URLs from its paths"
            streams.warn(f"{shown_name(tree)}: {text}: {option}")


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
