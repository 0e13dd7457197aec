"""The options that say which inputs there are, and where their URLs are stated."""

from __future__ import annotations

import os
import sys
from typing import Any, Final, get_args

import click

from relbase.bases.layers import unsuitable
from relbase.cli.inputs import STDIN, read_list
from relbase.cli.origins.finder import Local, Whence
from relbase.cli.origins.paths import Mirror, Root, read_mirror, read_root
from relbase.cli.origins.tables import MapError, read_map
from relbase.cli.streams import printable


def _map(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> dict[str, str] | None:
    if value is None:
        return None
    try:
        return read_map(read_file(value, "give a file with a name, a tab and a URL on each line"))
    except MapError as error:
        raise click.BadParameter(f"{printable(value)}: {error}") from None


def _roots(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[Root, ...]:
    roots: list[Root] = []
    for value in values:
        root = read_root(value)
        why = "there is no URL in it" if root is None else _unsuitable_root(root.url)
        if root is None or why:
            fix = "give it as in site=http://host/path/"
            raise click.BadParameter(f"'{printable(value)[:200]}' is not DIR=URL, {why}: {fix}")
        if not os.path.isdir(root.directory):  # noqa: PTH112 (the name as it was given)
            text = f"'{printable(root.directory)[:200]}' is not a directory"
            raise click.BadParameter(f"{text}: give the one that the tree of the site lies in")
        roots.append(root)
    return tuple(roots)


def _unsuitable_root(url: str) -> str | None:
    if "?" in url or "#" in url:
        return "paths cannot follow a query or a fragment"
    return unsuitable(url)


def _sidecars(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    if any(not value or "/" in value for value in values):
        raise click.BadParameter("it wants the end of a name, as in --sidecar .headers")
    return values


def _mirrors(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[Mirror, ...]:
    mirrors = tuple(map(read_mirror, values))
    for mirror in mirrors:
        if not os.path.isdir(mirror.directory):  # noqa: PTH112 (the name as it was given)
            text = f"'{printable(mirror.directory)[:200]}' is not a directory"
            fix = "give the one that the hosts lie in, as in --mirror saved or --mirror saved=https"
            raise click.BadParameter(f"{text}: {fix}")
    return mirrors


def _names(
    context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[str, ...] | None:
    if value is None:
        return None
    data = read_file(value, "give a file with a name on each line")
    nul = bool(context.params.get("nul"))
    if not nul and b"\0" in data:
        raise click.BadParameter(f"{printable(value)}: there are NUL bytes in it: give -0 too")
    return tuple(read_list(data, nul=nul))


def read_file(name: str, fix: str) -> bytes:
    """Return the content of a file that an option names, "-" being standard input.

    Raises:
        click.BadParameter: if it cannot be read.
    """
    try:
        if name == STDIN:
            return sys.stdin.buffer.read()
        with open(name, "rb") as file:  # noqa: PTH123 (the name as it was given)
            return file.read()
    except OSError as error:
        raise click.BadParameter(f"{printable(name)}: {error.strerror}: {fix}") from None


INPUT_OPTIONS: Final = (
    click.Option(
        ["-r", "--recursive", "trees"],
        metavar="DIR",
        multiple=True,
        type=click.Path(file_okay=False, readable=False),
        help="Take all files below a directory, over no symbolic link; repeat it for several. Left "
        "out are names that begin with a dot, and what is kept beside pages (.orig, backups).",
    ),
    click.Option(
        ["-0", "--null", "nul"],
        is_flag=True,
        is_eager=True,
        help="The names of --files-from end with a NUL byte, as 'find -print0' writes them.",
    ),
    click.Option(
        ["--files-from", "listed"],
        metavar="FILE",
        type=click.Path(allow_dash=True, readable=False),
        callback=_names,
        help="Take the files whose names are in a list, a line each; '-' is standard input.",
    ),
)

ORIGIN_OPTIONS: Final = (
    click.Option(
        ["--map", "mapped"],
        metavar="FILE",
        type=click.Path(allow_dash=True, readable=False),
        callback=_map,
        help="The URLs of the inputs: on each line the name of a file, a tab, and its URL.",
    ),
    click.Option(
        ["--root", "roots"],
        metavar="DIR=URL",
        multiple=True,
        callback=_roots,
        help="The files in a directory have the URLs of their paths on this one; index pages have "
        "that of their directory.",
    ),
    click.Option(
        ["--mirror", "mirrors"],
        metavar="DIR[=SCHEME]",
        multiple=True,
        callback=_mirrors,
        help="The directory is a mirror by wget or HTTrack, host/path or protocol/host/path. What "
        "hts-cache/new.txt or the .orig files of 'wget -K' say counts first.",
    ),
    click.Option(
        ["--sidecar", "sidecars"],
        metavar="SUFFIX",
        multiple=True,
        callback=_sidecars,
        help="The headers that came with FILE are in FILE followed by this suffix, as 'curl -D' or "
        "'wget -S' write them.",
    ),
    click.Option(
        ["--canonical"],
        is_flag=True,
        help="Where nothing else states a URL take the one that the page calls its own, <link "
        "rel=canonical> or og:url.",
    ),
    click.Option(
        ["--original"],
        is_flag=True,
        help="Take a page of the Wayback Machine for the page that was archived: undo /web/DATE/.",
    ),
    click.Option(
        ["--local"],
        type=click.Choice(get_args(Local)),
        help="What becomes of references to files that are there beside the page: keep them as "
        "they are (the default for URLs that were found), resolve them to those files' own URLs, "
        "or make no difference (off, the default for URLs that were given).",
    ),
)


def whence(values: dict[str, Any], *, detect: bool) -> Whence:
    """Return what the options say of where URLs are stated."""
    return Whence(
        mapped=values.pop("mapped") or {},
        roots=values.pop("roots"),
        mirrors=values.pop("mirrors"),
        sidecars=values.pop("sidecars"),
        detect=detect,
        canonical=values.pop("canonical"),
        original=values.pop("original"),
        local=values.pop("local"),
    )
