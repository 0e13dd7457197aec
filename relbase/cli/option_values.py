"""The values of options: each function reads a text, or raises a ValueError with the fix."""

from __future__ import annotations

import os
import re
import sys
import warnings
from functools import partial
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import unsuitable
from relbase.cli import windows
from relbase.cli.files import STDIN, InputError
from relbase.cli.origins.paths import FoundUrl, Mirror, Root
from relbase.cli.streams import printable
from relbase.expressions import expression, regex
from relbase.kind import Kind
from relbase.policy import Policy
from relbase.session.options import as_url
from relbase.url.credentials import masked
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from relbase.containers.http import Dump
    from relbase.results import Link

FEEDS: Final = "feeds"
CHOICES: Final = (*(kind.value for kind in Kind), FEEDS)

_root: Final = expression(r"(.+?)=([A-Za-z][A-Za-z0-9+.-]+:/.*)", re.DOTALL)
_mirror: Final = expression(r"(.+)=(https?)", re.DOTALL)


def quoted(value: str) -> str:
    return f"'{printable(value)[:200]}'"


def read_file(name: str, fix: str = "give a file with a name on each line") -> bytes:
    try:
        if name == STDIN:
            return sys.stdin.buffer.read()
        with open(name, "rb") as file:
            return file.read()
    except OSError as error:
        raise ValueError(f"{printable(name)}: {error.strerror}: {fix}") from None


def url(value: str) -> str:
    if why := unsuitable(value.strip()):
        text = f"is not a base for relative links because {why}"
        fix = "give an absolute URL, such as http://host/path"
        raise ValueError(f"{quoted(masked(value))} {text}: {fix}")
    return as_url(value)


def charset(value: str) -> str:
    if lookup(value) is None:
        fix = "give one, such as utf-8, or leave the option out to detect it"
        raise ValueError(f"{quoted(value)} is not a charset label of the Encoding Standard: {fix}")
    return value


def headers(value: str) -> Dump:
    from relbase.containers.http import parse_dump

    fix = "give the file that 'curl -D FILE' or 'wget -S' wrote"
    data = read_file(value, fix)
    if any(dump := parse_dump(data)) or data.startswith(b"HTTP/") or not data.strip():
        return dump
    raise ValueError(f"{quoted(value)} contains no header fields: {fix}")


def pattern(value: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # future changes of Python
            return regex(value)
    except (re.error, OverflowError, RecursionError) as error:
        fix = r"put '\' before a character to match it literally"
        text = f"{quoted(value)} is not a regular expression, {error}: {fix}"
        raise ValueError(text) from None


def xml_rows(value: str) -> tuple[str, ...]:
    """Read --xml-row: a row, or `@FILE` with rows, comments and empty lines."""
    rows = [value]
    if value.startswith("@"):
        data = read_file(value[1:], "give a file with a row on each line")
        lines = (line.strip() for line in data.decode("utf-8", "replace").splitlines())
        rows = [line for line in lines if line and not line.startswith("#")]
    return Policy(xml_rows=tuple(rows)).xml_rows


def attributes(value: str) -> tuple[tuple[str, str], ...]:
    name, equals, syntax = value.partition("=")
    if not equals:
        fix = "give NAME=url, NAME=srcset or NAME=css"
        raise ValueError(f"{quoted(value)} names no syntax: {fix}")
    return tuple(Policy(attributes={name: syntax}).attributes)  # type: ignore[arg-type]


def template(value: str) -> tuple[str, ...]:
    return Policy(templates=(value,)).templates


def places(value: str) -> tuple[str, ...]:
    return Policy(only=(value,)).only


def kinds(value: str) -> frozenset[str]:
    names = frozenset(name.strip().lower() for name in value.split(","))
    if wrong := ", ".join(sorted(map(ascii, names - set(CHOICES)))):
        raise ValueError(f"{wrong}: give some of {', '.join(CHOICES)}, with commas")
    return names


def suffix(example: str, value: str) -> str:
    # If the value was forgotten, this is an option or a file; a file may be called `.bak`, too.
    is_other = value[:2] == "--" or (value[:1] == "-" and len(value) == 2)  # noqa: PLR2004
    is_other |= value[:1] != "." and os.path.lexists(value)
    is_other |= windows.why_refused((f"x{value}",)) is not None
    if not value or "/" in value or is_other:
        raise ValueError(f"{quoted(value)} is not a suffix: give one, as in {example}")
    return value


sidecar: Final = partial(suffix, "--sidecar .headers")
backup: Final = partial(suffix, "-i --backup .bak")


def date(value: str) -> str:
    from relbase.warc.writing import check_date

    check_date(value)
    return value


def map_of_files(value: str) -> dict[str, FoundUrl]:
    from relbase.cli.url_maps import file_key, read_map

    data = read_file(value, "give a file with a file name, a tab and a URL on each line")
    return read_map(value, data, "a file name", file_key)


def map_of_messages(value: str) -> dict[str, FoundUrl]:
    from relbase.bases.headers import key
    from relbase.cli.url_maps import read_map

    data = read_file(value, "give a file with a selector, a tab and a URL on each line")
    return read_map(value, data, "a selector", key, ("#",))


def root(value: str) -> Root:
    match = _root.fullmatch(value)
    directory, url = match.groups() if match else value.partition("=")[::2]
    why = unsuitable(url) if directory and url else "it lacks the directory or the URL"
    if "?" in url or "#" in url:
        why = "paths cannot follow a query or a fragment"
    if why:
        fix = "write it as in site=http://host/path/"
        shown = f"{directory}={masked(url)}" if url else masked(value)
        raise ValueError(f"{quoted(shown)} is not DIR=URL because {why}: {fix}")
    _check_directory(directory, "give the directory of the site")
    return Root(directory, url if url.endswith("/") else f"{url}/")


def mirror(value: str) -> Mirror:
    # A directory may be called `x=https`.
    match = None if os.path.isdir(value) else _mirror.fullmatch(value)
    read = Mirror(match[1], match[2]) if match else Mirror(value)
    fix = "give the directory that holds those of the hosts, such as --mirror saved"
    _check_directory(read.directory, f"{fix} or --mirror saved=https")
    return read


def _check_directory(name: str, fix: str) -> None:
    if not os.path.isdir(name):
        raise ValueError(f"{quoted(name)} is not a directory: {fix}")


def message_base(value: str) -> tuple[str, ...]:
    names = tuple(name.strip().removesuffix(":") for name in value.split(","))
    wrong = [name for name in names if not name.isascii() or not name or set(name) & set(" \t:<>")]
    if wrong:
        text = f"{printable(wrong[0])!r} is not the name of a header field"
        raise ValueError(f"{text}: give some, such as List-Archive,Archived-At")
    return names


class Replacing:
    """The function `replace` of a call; workers can get it."""

    def __init__(self, rules: tuple[tuple[re.Pattern[str], str], ...]) -> None:
        self._rules = rules

    def __call__(self, link: Link) -> str | None:
        new = url = link.url or ""
        for pattern, by in self._rules:
            new = pattern.sub(by, new)
        if url and not new:
            fix = "write an expression that matches less"
            raise InputError(f"--replace leaves nothing of {quoted(url)}: {fix}")
        return None if new == url else new


def rule(given: tuple[str, str]) -> tuple[re.Pattern[str], str]:
    searched, new = pattern(given[0]), given[1]
    try:
        searched.sub(new, "")  # reads the groups of NEW
    except (re.error, IndexError) as error:
        fix = r"give '\1' or '\g<name>' for a group of the expression, '\\' for a backslash"
        text = f"{quoted(new)} cannot replace a match, {error}: {fix}"
        raise ValueError(text) from None
    return searched, new
