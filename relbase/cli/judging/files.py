"""Judges the links of files: by the URLs of the options and lists, of marks, and by the files.

A link to a URL below a `--root`, or of a host of a `--mirror`, belongs to the site. So does a link
to a file of its tree, or to a page with a known URL.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import chain, product
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import Layer
from relbase.cli import windows
from relbase.cli.files import STDIN, Inputs, OpenInput
from relbase.cli.judging.verdicts import (
    MISSING,
    OUTSIDE,
    UNKNOWN,
    Address,
    Ids,
    Judgement,
    Known,
    address_of,
    ids_of,
    inside,
)
from relbase.cli.origins import paths
from relbase.cli.origins.finder import Finder, opened_base
from relbase.cli.origins.places import path_of, real
from relbase.expressions import expression
from relbase.formats.recognition import recognized
from relbase.kind import Kind
from relbase.rewriting.outcomes import Status

if TYPE_CHECKING:
    from relbase.cli.documents import InputDocument
    from relbase.cli.options import Settings
    from relbase.results import Link

_REMEMBERED: Final = 1 << 13
_DIRECTORIES: Final = 1 << 12
_LONGEST: Final = 1 << 12  # characters of a URL that a file can have
_absolute: Final = expression(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class _Place(NamedTuple):
    path: str = ""  # of the file; if there is none, of where it would be
    is_there: bool = False


_NOWHERE: Final = _Place()


class Site:
    """The files of a run: judges their links."""

    def __init__(self, inputs: Inputs, settings: Settings, finder: Finder) -> None:
        self._inputs = inputs
        self._kind = settings.kind
        self._finder, self._origins = finder, finder.origins
        self.known = Known()
        self._is_filled = False
        self.at = lru_cache(_REMEMBERED)(self._at)
        self.has_host = lru_cache(_REMEMBERED)(self._has_host)
        of_directory = lru_cache(_DIRECTORIES)(
            lambda path: os.path.join(real(path or os.curdir), "")
        )
        self.served = partial(_served, of_directory)
        given = self._origins.roots
        roots = ((address_of(root.url), _tree(root.directory)) for root in given)
        longest = sorted(roots, key=lambda row: -len(row[0].path) if row[0] else 0)
        self.is_mirror = bool(self._origins.mirrors)  # whose names may not be those of the URLs
        self._roots = [(address, directory) for address, directory in longest if address]

    def judge(self, source: OpenInput, document: InputDocument) -> Callable[[Link], Judgement]:
        """Return what judges the links of a file."""
        uses_files = source.name != STDIN and self._origins.local != "off"
        return partial(_judged, self, _File(self, source, document), uses_files=uses_files)

    def _fill(self) -> None:
        """Read the URLs of the inputs, but where --root says them all."""
        self._is_filled = True
        roots, mapped = self._origins.roots, self._origins.mapped
        is_rooted = lru_cache(1)(lambda tree: paths.url_on_root(os.path.join(tree, "x"), roots))
        for given in self._inputs.all:
            if mapped or not (given.root and is_rooted(given.root)):
                url = self._finder.known_url(os.path.abspath(given.name), detect=True)
                self.known.add(url or "", given.name)

    def _has_host(self, url: str) -> bool:
        """Whether anything is known of the host of a URL."""
        if (address := address_of(url)) is None:
            return False
        is_given = any(address.host == root.host for root, _ in self._roots)
        if not (is_given or self._is_filled):
            self._fill()
        return is_given or any(self._in_mirrors(address)) or self.known.has_host(address.host)

    def _at(self, url: str) -> _Place:
        """The place that a URL without a fragment has; no path if it is not of the site."""
        address, first = address_of(url), _NOWHERE
        if address is None:
            return first
        in_mirrors = self._in_mirrors(address) if self.is_mirror else ()
        for directory, way in chain(self._below_roots(address), in_mirrors):
            path = os.path.normpath(directory + way.lstrip("/"))
            if file := self.served(path, directory):
                return _Place(file, is_there=True)
            first = first if first.path else _Place(path)
        if not self._is_filled:
            self._fill()
        place = self.known.find(address)
        return _Place(place, is_there=True) if place else first

    def _below_roots(self, address: Address) -> Iterator[tuple[str, str]]:
        for root, directory in self._roots:
            if address.host == root.host and f"{address.path}/".startswith(root.path):
                yield directory, address.path[len(root.path) :]

    def _in_mirrors(self, address: Address) -> Iterator[tuple[str, str]]:
        """The names that wget may have given a page, in the directories of its host."""
        host, path, query = address
        asked = () if query is None else (f"{path}?{query}", f"{path}?{paths.unquoted(query)}")
        names = dict.fromkeys((host, host.replace(":", "+"), host.partition(":")[0]))
        for mirror, way, name in product(self._origins.mirrors, ("", *_SCHEMES), names):
            directory = _tree(mirror.directory, way, name)
            if os.path.isdir(directory):
                files = product((*asked, path), ("", ".html"))
                yield from ((directory, f"{file}{end}") for file, end in files)

    def ids(self, path: str, is_whole: bool) -> Ids:  # noqa: FBT001
        """Read the ids of a file."""
        try:
            with open(windows.reached(path), "rb", buffering=0) as file:
                data = file.readall()
        except OSError:
            return None, True
        kind, _ = recognized(Kind(self._kind) if self._kind else None, "", path, data)
        return ids_of(data, kind, is_whole)


_SCHEMES: Final = ("http", "https", "ftp")


def _tree(*steps: str) -> str:
    return os.path.join(os.path.normpath(os.path.join(*steps)), "")


def _served(real: Callable[[str], str], path: str, tree: str) -> str:
    """The file in a tree that a server would send for a path; "" for none."""
    try:
        mode = 0 if "\0" in path else os.lstat(path).st_mode
        is_link = stat.S_ISLNK(mode)
        mode = os.stat(path).st_mode if is_link else mode
    except OSError:
        return ""
    if stat.S_ISDIR(mode):
        path = next(filter(os.path.isfile, (os.path.join(path, name) for name in _INDEXES)), "")
        is_link = os.path.islink(path)
    elif not stat.S_ISREG(mode):
        return ""
    # Nothing outside of the tree is looked at, be it by `..` or a symbolic link.
    folder = real(path if is_link else os.path.dirname(path))
    return path if folder.startswith(real(tree)) else ""


_INDEXES: Final = sorted(paths.INDEXES)


class _File:
    """A file whose links are judged."""

    def __init__(self, site: Site, source: OpenInput, document: InputDocument) -> None:
        self._site, self.name, self._document = site, source.name, document
        self._root, self._opened_as = source.input.root, ""

    def ids(self, is_whole: bool) -> Ids:  # noqa: FBT001 (as `ReadIds`)
        return ids_of(self._document.data, self._document.given.document.format.kind, is_whole)

    def place(self, reference: str) -> _Place:
        """Where a relative reference leads a browser that opens the file from the disk."""
        path = os.path.abspath(self.name)
        tree = self._root or os.path.dirname(self.name) or os.curdir
        self._opened_as = self._opened_as or opened_base(
            self._document.call, path, self._document.data
        )
        target = path_of(self._opened_as, reference, path)
        if target is None or paths.inside(target, tree) is None:
            return _NOWHERE
        shown = target if os.path.isabs(self.name) else windows.relative(target, os.curdir)
        shown = shown or target
        file = self._site.served(shown, tree)
        return _Place(file or shown, is_there=bool(file))


def _judged(site: Site, file: _File, link: Link, *, uses_files: bool) -> Judgement:
    reference, url = link.reference, link.url
    target, _, fragment = (reference if url is None else url).partition("#")
    if not reference or (reference[0] == "#" and link.base.layer is not Layer.EMBEDDED):
        return inside(site.known, file.name, file.name, fragment, file.ids)
    is_relative = not _absolute.match(reference)
    is_near = is_relative or (url and site.has_host("/".join(target.split("/", 3)[:3])))
    if not is_near:
        return OUTSIDE
    place = site.at(target) if url is not None and len(target) <= _LONGEST else _NOWHERE
    if uses_files and is_relative and not place.is_there and (site.is_mirror or not place.path):
        on_disk = file.place(reference)
        # If it stays relative although there is a base, its file was saved with the page.
        is_kept = url is None and bool(link.base.url) and link.status is Status.KEPT
        place = on_disk if on_disk.is_there or is_kept else place
    if place.is_there:
        is_itself = place.path == file.name
        ids = file.ids if is_itself else partial(site.ids, place.path)
        return inside(site.known, place.path, place.path, fragment, ids)
    if place.path and link.element != "base":
        return Judgement(MISSING, place.path)
    return UNKNOWN if url is None and is_relative else OUTSIDE
