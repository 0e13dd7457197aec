"""Tables of files and their URLs: `--map`, HTTrack's list of what it saved, wget's originals.

To mind: a table is data like any other. What its lines say of files outside of the tree, or of URLs
that are none, does not count.
"""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from relbase import pipeline
from relbase.bases.layers import unsuitable
from relbase.bases.marks import found_url
from relbase.call import check
from relbase.cli.origins.paths import inside, may_be, url_in_mirror
from relbase.cli.origins.places import file_url, path_of
from relbase.url import rfc3986
from relbase.url.resolver import Profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.cli.origins.paths import Mirror
    from relbase.results import Link


class MapError(ValueError):
    """A line of a map says nothing; which one and why is in the text."""


def read_map(data: bytes) -> dict[str, str]:
    r"""Return the URLs of a map, by the names of files.

    Args:
        data: a line each: name, tab, URL.

    Raises:
        MapError: if a line says something else, or two say different things of one name.

    >>> read_map(b"a.html\thttp://h/a\r\n")
    {'a.html': 'http://h/a'}
    """
    urls: dict[str, str] = {}
    for number, raw in enumerate(data.split(b"\n"), 1):
        line = raw.removesuffix(b"\r")
        if not line:
            continue
        name, tab, url = line.rpartition(b"\t")
        if not tab or not name:
            raise MapError(f"line {number}: write the name of a file, a tab, and its URL")
        stated = url.strip().decode("utf-8", "surrogateescape")
        if why := unsuitable(stated):
            shown = ascii(stated[:200])
            raise MapError(f"line {number}: {shown} is no base for relative links, {why}")
        key = os.path.normpath(os.fsdecode(name))
        if urls.setdefault(key, stated) != stated:
            raise MapError(f"line {number}: {key!a} has another URL on a line before")
    return urls


# ---- HTTrack

# date, sizes, flags, status, message, type, etag, URL, local file, where from.
_COLUMNS: Final = 9


def read_new_txt(data: bytes, tree: str) -> dict[str, str]:
    """Return the URLs of HTTrack's `hts-cache/new.txt`, by absolute paths of files that are there.

    Args:
        data: the list, tab-separated: column 8 is the URL, column 9 the local file.
        tree: the directory that `hts-cache` is in.
    """
    urls: dict[str, str] = {}
    for line in data.splitlines():
        columns = line.split(b"\t")
        if len(columns) < _COLUMNS:
            continue
        url, _, _ = found_url(columns[7].decode("utf-8", "surrogateescape"), "new.txt")
        path = _path_in(tree, os.fsdecode(columns[8])) if url else None
        if path is not None:
            urls[path] = url
    return urls


def _path_in(tree: str, listed: str) -> str | None:
    """The file of a list that may have been written elsewhere, by the longest path that is here."""
    steps = [step for step in listed.split("/") if step not in {"", os.curdir, os.pardir}]
    for first in range(len(steps)):
        path = os.path.join(tree, *steps[first:])  # noqa: PTH118
        if os.path.isfile(path):  # noqa: PTH113
            return os.path.abspath(path)  # noqa: PTH100
    return None


# ---- wget -k -K: what a page was before its links were converted stands beside it


def read_originals(mirror: Mirror) -> dict[str, str]:
    """Return the URLs of a mirror's files that the originals of its pages tell.

    Args:
        mirror: the tree. The links of `page` lead to files, those of `page.orig` to URLs; they are
            the same links in the same order.

    A file that more than one URL leads to has the one that its name can stand for.
    """
    stated: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for path in _with_originals(mirror.directory):
        own = url_in_mirror(path, mirror)
        if own is not None:
            for target, url in _pairs(path, own.url, mirror.directory):
                stated[target].setdefault(url)
    chosen = ((path, _one_of(path, list(urls), mirror)) for path, urls in stated.items())
    return {path: url for path, url in chosen if url is not None}


def _with_originals(directory: str) -> Iterator[str]:
    for folder, directories, names in os.walk(directory):
        directories.sort()
        there = set(names)
        for name in sorted(there):
            if f"{name}.orig" in there:
                yield os.path.join(folder, name)  # noqa: PTH118


def _pairs(path: str, url: str, tree: str) -> Iterator[tuple[str, str]]:
    with suppress(OSError):
        now = _links(_content(path), file_url(path))
        before = _links(_content(f"{path}.orig"), url)
        if [_place(link) for link in now] != [_place(link) for link in before]:
            return
        for local, original in zip(now, before, strict=True):
            target = path_of(local.url or "", tree)
            if target is not None and original.url and (whole := _page(original.url)):
                yield target, whole


def _content(path: str) -> bytes:
    with open(path, "rb") as file:  # noqa: PTH123
        return file.read()


def _links(data: bytes, url: str) -> list[Link]:
    call = check(data, url=url, profile=Profile.WHATWG, detect=False)
    return list(pipeline.links_called(data, call))


def _place(link: Link) -> tuple[str, str, str]:
    return link.element, link.attribute, link.syntax


def _page(url: str) -> str:
    """A URL without fragment; "" for what is not of the web."""
    return found_url(url, "")[0]


def _one_of(path: str, urls: list[str], mirror: Mirror) -> str | None:
    steps = inside(path, mirror.directory) or []
    fitting = [url for url in urls if _fits(url, steps)]
    if len(fitting) == 1:
        return fitting[0]
    # Under a name of its own a redirected URL may stand: it is the only one, or nobody knows.
    return urls[0] if len(urls) == 1 else None


def _decoded(text: str) -> str:
    return unquote(text, errors="surrogateescape")


def _fits(url: str, steps: list[str]) -> bool:
    components = rfc3986.split(url)
    query = None if components.query is None else _decoded(components.query)
    path = _decoded(components.path).removeprefix("/")
    host = steps.index(components.authority or "") if components.authority in steps else 0
    return may_be(path, query, steps[host + 1 :])
