"""Tables of files and their URLs: `--map`, and HTTrack's list of what it saved.

To mind: a table is data like any other. What its lines say of files outside of the tree, or of URLs
that are none, does not count.
"""

from __future__ import annotations

import codecs
import os
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_to_bytes

from relbase.bases.layers import unsuitable
from relbase.bases.retrieval import found_url
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class MapError(ValueError):
    """A line of a map says nothing; which one and why is in the text."""


def read_map(data: bytes) -> dict[str, str]:
    r"""Return the URLs of a map, by the names of files.

    Raises:
        MapError: if a line says something else, or two say different things of one name.
    """
    urls: dict[str, str] = {}
    # Programs of Windows begin a text with a mark, which is not part of the first name.
    for number, raw in enumerate(data.removeprefix(codecs.BOM_UTF8).split(b"\n"), 1):
        line = raw.removesuffix(b"\r")
        if not line:
            continue
        name, tab, url = line.rpartition(b"\t")
        if not tab or not name:
            raise MapError(f"line {number}: write the name of a file, a tab, and its URL")
        stated = url.strip().decode("utf-8", "surrogateescape")
        if why := unsuitable(stated):
            shown = ascii(stated[:200])
            raise MapError(f"line {number}: {shown} is not a base for relative links, {why}")
        key = os.path.normpath(os.fsdecode(name))
        if urls.setdefault(key, stated) != stated:
            raise MapError(f"line {number}: {key!a} has another URL on a line before")
    return urls


# ---- HTTrack

# date, sizes, flags, status, message, type, etag, URL, local file, where from.
_COLUMNS: Final = 9

# Where HTTrack asked for the type of a file, it lists the name of that moment. The name that it
# gave to the file at last lacks the counter, and has the end of its type: x.7ed04.delayed is
# xed04.html.
_delayed: Final = expression(r"(.*)\.[0-9A-Fa-f]+([0-9A-Fa-f]{4})\.delayed", re.DOTALL)


def read_new_txt(data: bytes, tree: str) -> dict[str, str]:
    """Return the URLs in HTTrack's `hts-cache/new.txt`, by absolute path of existing files."""
    urls: dict[str, str] = {}
    delayed: list[tuple[str, str]] = []
    for listed, url in _rows(data):
        # The file is listed as a URL is written, and named as it is meant.
        names = [os.fsdecode(name) for name in (listed, unquote_to_bytes(listed))]
        if path := next(filter(None, (_path_in(tree, name) for name in names)), None):
            urls[path] = url
        else:
            delayed.append((names[1], url))
    for name, url in delayed:
        if path := _named_later(name, tree, urls):
            urls[path] = url
    return urls


def _rows(data: bytes) -> Iterator[tuple[bytes, str]]:
    """The local file and the URL of each line that has both."""
    for line in data.splitlines():
        columns = line.split(b"\t")
        if len(columns) >= _COLUMNS:
            url, _, _ = found_url(columns[7].decode("utf-8", "surrogateescape"), "new.txt")
            if url:
                yield columns[8], url


def _path_in(
    tree: str, listed: str, is_there: Callable[[str], bool] = os.path.isfile
) -> str | None:
    """The file of a list that may have been written elsewhere, by the longest path that is here."""
    if "\0" in listed:
        return None
    steps = [step for step in listed.split("/") if step not in {"", os.curdir, os.pardir}]
    for first in range(len(steps)):
        path = os.path.join(tree, *steps[first:])  # noqa: PTH118
        if is_there(path):
            return os.path.abspath(path)  # noqa: PTH100
    return None


def _named_later(listed: str, tree: str, urls: dict[str, str]) -> str | None:
    """The one file without a URL that a delayed name can have become."""
    folder, _, name = listed.rpartition("/")
    found = _delayed.fullmatch(name)
    directory = _path_in(tree, folder, os.path.isdir)
    if found is None or directory is None:
        return None
    later = (
        os.path.join(directory, one)  # noqa: PTH118
        for one in os.listdir(directory)  # noqa: PTH208 (names alone)
        if os.path.splitext(one)[0] == found[1] + found[2]  # noqa: PTH122
    )
    fitting = [path for path in later if path not in urls and os.path.isfile(path)]  # noqa: PTH113
    return fitting[0] if len(fitting) == 1 else None
