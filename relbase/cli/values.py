"""The values of options: each reader takes what was typed, and raises what names the fix."""

from __future__ import annotations

import codecs
import os
import re
import sys
import warnings
from typing import TYPE_CHECKING, Final

import click

from relbase.bases.layers import unsuitable
from relbase.cli.files import STDIN
from relbase.cli.origins.paths import Mirror, Root
from relbase.cli.streams import printable
from relbase.containers.sniffing import beginning
from relbase.expressions import expression
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.policy import Policy
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from relbase.containers.http import Dump

# What feed readers and search engines fetch, of whatever kind.
FEEDS: Final = "feeds"
CHOICES: Final = (*(kind.value for kind in Kind), FEEDS)
_SHOWN = 200


def _quoted(value: str) -> str:
    return f"'{printable(value)[:_SHOWN]}'"


def read_file(name: str, fix: str = "give a file with a name on each line") -> bytes:
    try:
        if name == STDIN:
            return sys.stdin.buffer.read()
        with open(name, "rb") as file:  # noqa: PTH123 (the name as it was given)
            return file.read()
    except OSError as error:
        raise click.BadParameter(f"{printable(name)}: {error.strerror}: {fix}") from None


def url(value: str) -> str:
    if why := unsuitable(value.strip()):
        fix = "give an absolute URL, such as http://host/path"
        text = f"{_quoted(value)} is not a base for relative links, {why}: {fix}"
        raise click.BadParameter(text)
    return value


def charset(value: str) -> str:
    if lookup(value) is None:
        fix = "give one, such as utf-8, or leave the option out to have it found"
        text = f"{_quoted(value)} is not a charset label of the Encoding Standard: {fix}"
        raise click.BadParameter(text)
    return value


def headers(value: str) -> Dump:
    from relbase.containers.http import parse_dump  # noqa: PLC0415 (start-up time)

    return parse_dump(read_file(value, "give the file that 'curl -D FILE' or 'wget -S' wrote"))


def pattern(value: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # future changes of Python
            return re.compile(value)
    except (re.error, OverflowError, RecursionError) as error:
        fix = r"put '\' before a character that stands for itself"
        text = f"{_quoted(value)} is not a regular expression, {error}: {fix}"
        raise click.BadParameter(text) from None


def xml_rows(value: str) -> tuple[str, ...]:
    """Read --xml-row: a row, or `@FILE` with one on each line, empty ones and comments between."""
    rows = [value]
    if value.startswith("@"):
        text = read_file(value[1:], "give a file with a row on each line").decode(
            "utf-8", "replace"
        )
        lines = (line.strip() for line in text.splitlines())
        rows = [line for line in lines if line and not line.startswith("#")]
    return Policy(xml_rows=tuple(rows)).xml_rows


def attributes(value: str) -> tuple[tuple[str, str], ...]:
    name, equals, syntax = value.partition("=")
    if not equals:
        fix = "give NAME=url, NAME=srcset or NAME=css"
        raise click.BadParameter(f"{_quoted(value)} names no syntax: {fix}")
    return tuple(Policy(attributes={name: syntax}).attributes)  # type: ignore[arg-type]


def kinds(value: str) -> frozenset[str]:
    """Read --only: kinds and `feeds`, with commas."""
    names = frozenset(name.strip().lower() for name in value.split(","))
    if wrong := names - set(CHOICES):
        shown = ", ".join(sorted(map(ascii, wrong)))
        raise click.BadParameter(f"{shown}: give some of {', '.join(CHOICES)}, with commas")
    return names


def is_wanted(kind: Kind, start: bytes, only: frozenset[str] | None) -> bool:
    if not only or kind.value in only:
        return True
    return FEEDS in only and FORMATS[kind].is_feed(beginning(start))


def suffix(value: str) -> str:
    if not value or "/" in value:
        raise click.BadParameter("give the end of a file name, such as .headers or .bak")
    return value


def date(value: str) -> str:
    from relbase.warc.writing import check_date  # noqa: PLC0415 (start-up time)

    check_date(value)
    return value


def map_of_urls(value: str) -> dict[str, str]:
    data = read_file(value, "give a file with a name, a tab and a URL on each line")
    urls: dict[str, str] = {}
    # Programs of Windows begin a text with a mark, which is not part of the first name.
    for number, raw in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        line = raw.removesuffix(b"\r")
        name, tab, stated = line.rpartition(b"\t")
        url = stated.strip().decode("utf-8", "surrogateescape")
        key = os.path.normpath(os.fsdecode(name))
        why = ""
        if not tab or not name:
            why = "write the name of a file, a tab, and its URL"
        elif unsuited := unsuitable(url):
            why = f"{url[:_SHOWN]!a} is not a base for relative links, {unsuited}"
        elif urls.setdefault(key, url) != url:
            why = f"{key!a} has another URL on a line before"
        if line and why:
            raise click.BadParameter(f"{printable(value)}: line {number}: {why}")
    return urls


_root: Final = expression(r"(.+?)=([A-Za-z][A-Za-z0-9+.-]+:/.*)", re.DOTALL)
_mirror: Final = expression(r"(.+)=(https?)", re.DOTALL)


def root(value: str) -> Root:
    found = _root.fullmatch(value)
    directory, url = found.groups() if found else ("", "")
    why = unsuitable(url) if found else "it lacks the directory or the URL"
    if "?" in url or "#" in url:
        why = "paths cannot follow a query or a fragment"
    if why:
        fix = "write it as in site=http://host/path/"
        raise click.BadParameter(f"{_quoted(value)} is not DIR=URL, {why}: {fix}")
    _check_directory(directory, "give the directory of the site")
    return Root(directory, url if url.endswith("/") else f"{url}/")


def mirror(value: str) -> Mirror:
    # A directory may have a name like that.
    found = None if os.path.isdir(value) else _mirror.fullmatch(value)  # noqa: PTH112
    read = Mirror(found[1], found[2]) if found else Mirror(value)
    fix = "give the directory that holds those of the hosts, such as --mirror saved"
    _check_directory(read.directory, f"{fix} or --mirror saved=https")
    return read


def _check_directory(name: str, fix: str) -> None:
    if not os.path.isdir(name):  # noqa: PTH112 (the name as it was given)
        raise click.BadParameter(f"{_quoted(name)} is not a directory: {fix}")


def message_map(value: str) -> dict[str, str]:
    from relbase.bases.headers import key  # noqa: PLC0415 (start-up time)

    lines = read_file(value, "give a file with a selector, a tab and a URL on each line")
    found: dict[str, str] = {}
    for number, line in enumerate(lines.decode("utf-8", "surrogateescape").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        selector, _, url = (piece.strip() for piece in line.partition("\t"))
        try:
            selected = key(selector) if "\t" in line else ""
            why = unsuitable(url) if selected else "it has no tab"
            if why is None and found.setdefault(selected, url) != url:
                why = "another line gives these messages another URL"
        except ValueError as error:
            why = str(error)
        if why:
            text = f"{printable(value)}:{number}: {_quoted(line)}: {why}"
            raise click.BadParameter(f"{text}. Write a selector, a tab and an absolute URL")
    return found


def message_base(value: str) -> tuple[str, ...]:
    names = tuple(name.strip().lower().removesuffix(":") for name in value.split(","))
    wrong = [name for name in names if not name.isascii() or not name or set(name) & _NOT_OF_NAMES]
    if wrong:
        text = f"{printable(wrong[0])!r} is not the name of a header field"
        raise click.BadParameter(f"{text}: give some, such as List-Archive,Archived-At")
    return names


_NOT_OF_NAMES: Final = frozenset(" \t:<>")
