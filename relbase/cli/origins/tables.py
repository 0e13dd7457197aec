"""Tables of files and their URLs: `--map`, and HTTrack's list of what it saved.

To mind: a table is data like any other. What its lines say of files outside of the tree, or of URLs
that are none, does not count.
"""

from __future__ import annotations

import codecs
import os
from typing import Final

from relbase.bases.layers import unsuitable
from relbase.bases.retrieval import found_url


class MapError(ValueError):
    """A line of a map says nothing; which one and why is in the text."""


def read_map(data: bytes) -> dict[str, str]:
    r"""Return the URLs of a map, by the names of files.

    Raises:
        MapError: if a line says something else, or two say different things of one name.

    >>> read_map(b"a.html\thttp://h/a\r\n")
    {'a.html': 'http://h/a'}
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


def read_new_txt(data: bytes, tree: str) -> dict[str, str]:
    """Return the URLs in HTTrack's `hts-cache/new.txt`, by absolute path of existing files."""
    from urllib.parse import unquote_to_bytes  # noqa: PLC0415 (start-up time)

    urls: dict[str, str] = {}
    for line in data.splitlines():
        columns = line.split(b"\t")
        if len(columns) < _COLUMNS:
            continue
        url, _, _ = found_url(columns[7].decode("utf-8", "surrogateescape"), "new.txt")
        if not url:
            continue
        # The file is listed as a URL is written, and named as it is meant.
        for listed in (columns[8], unquote_to_bytes(columns[8])):
            path = _path_in(tree, os.fsdecode(listed))
            if path is not None:
                urls[path] = url
                break
    return urls


def _path_in(tree: str, listed: str) -> str | None:
    """The file of a list that may have been written elsewhere, by the longest path that is here."""
    if "\0" in listed:
        return None
    steps = [step for step in listed.split("/") if step not in {"", os.curdir, os.pardir}]
    for first in range(len(steps)):
        path = os.path.join(tree, *steps[first:])  # noqa: PTH118
        if os.path.isfile(path):  # noqa: PTH113
            return os.path.abspath(path)  # noqa: PTH100
    return None
