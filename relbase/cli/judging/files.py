"""Judges the links of files: by the URLs of the options and lists, of marks, and by the files.

A link to a URL below a `--root`, or of a host of a `--mirror`, belongs to the site. So does a link
to a file of its tree, or to a page with a known URL.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.cli import windows
from relbase.cli.files import STDIN, Inputs, OpenInput
from relbase.cli.judging.verdicts import (
    INSIDE,
    MISSING,
    OUTSIDE,
    UNKNOWN,
    Ids,
    Judgement,
    Known,
    address_of,
    ids_of,
    inside,
    is_own,
)
from relbase.cli.origins import paths
from relbase.cli.origins.finder import Finder, opened_base
from relbase.cli.origins.places import as_opened, file_path, real
from relbase.expressions import expression
from relbase.formats.recognition import recognized
from relbase.kind import Kind
from relbase.rewriting.outcomes import Status

if TYPE_CHECKING:
    from relbase.cli.documents import InputDocument
    from relbase.cli.options import Settings
    from relbase.results import Link

_REMEMBERED: Final = 1 << 12  # URLs
_DIRECTORIES: Final = 1 << 13
_LONGEST: Final = 1 << 12  # characters of a URL that a file can have
# A name that leads to no other directory.
_name: Final = expression(r"[^/\\:]*[^/\\:.]")
_absolute: Final = expression(r"[A-Za-z][A-Za-z0-9+.-]*:|//")


class _Directory(NamedTuple):
    """A directory that may have the pages of a URL's directory."""

    path: str  # with a separator at its end; "" for the current one
    tree: str  # the real path of the tree, of which nothing outside is looked at
    is_inside: bool  # no symbolic link leads out of the tree
    is_of_mirror: bool = False  # whose names may not be those of the URLs


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
        self._directories = lru_cache(_DIRECTORIES)(self._directories_of)
        self._real = lru_cache(_DIRECTORIES)(lambda path: os.path.join(real(path), ""))
        given = self._origins.roots
        roots = ((address_of(root.url), _tree(root.directory)) for root in given)
        longest = sorted(roots, key=lambda row: -len(row[0].path) if row[0] else 0)
        self.is_mirror = bool(self._origins.mirrors)
        self._roots = [(address, directory) for address, directory in longest if address]

    def judge(self, source: OpenInput, document: InputDocument) -> Callable[[Link], Judgement]:
        """Return what judges the links of a file."""
        uses_files = source.name != STDIN and self._origins.local != "off"
        return partial(_judged, self, _File(self, source, document), uses_files=uses_files)

    def _fill(self) -> None:
        """Read the URLs of the inputs, but where --root says them all."""
        self._is_filled = True
        roots, mapped = self._origins.roots, self._origins.mapped
        is_rooted = lru_cache(1)(
            lambda tree: paths.url_on_root(os.path.abspath(os.path.join(tree, "x")), roots)
        )
        for given in self._inputs.all:
            if mapped or not is_rooted(given.root or os.path.dirname(given.name)):
                url = self._finder.known_url(os.path.abspath(given.name), detect=True)
                self.known.add(url or "", given.name)

    def _has_host(self, url: str) -> bool:
        """Whether anything is known of the host of a URL."""
        if (address := address_of(url)) is None:
            return False
        is_given = any(address.host == root.host for root, _ in self._roots)
        if not (is_given or self._is_filled):
            self._fill()
        host = address.host
        return is_given or any(self._in_mirrors(host)) or self.known.has_host(host)

    def _at(self, url: str, tree: str) -> Judgement:
        """Where a URL without a fragment leads; of `file:` URLs, those below `tree` are inside."""
        way, mark, query = url.partition("?")
        folder, _, name = way.rpartition("/")
        directories = [] if name in {".", ".."} else self._directories(folder, tree)
        if not directories:  # it may be the directory itself
            directories, name = self._directories(way, tree), ""
        first = ""
        name = paths.unquoted(name) if "%" in name else name
        for directory in directories:
            names = _in_mirror(name, query if mark else None) if directory.is_of_mirror else (name,)
            for named in names:
                path = os.path.normpath(directory.path + named)
                if file := _served(path, directory, named):
                    return Judgement(INSIDE, file)
                first = first or path
        if (address := address_of(url)) is not None:
            if not self._is_filled:
                self._fill()
            if place := self.known.find(address):
                return Judgement(INSIDE, place)
        return Judgement(MISSING, first) if first else OUTSIDE

    def _directories_of(self, folder: str, tree: str) -> list[_Directory]:
        """The directories that have what is in a URL's directory."""
        if tree:
            path = _in_tree(f"{folder}/", tree)
            return [] if path is None else [_directory(path, self._real(tree))]
        if (address := address_of(f"{folder}/")) is None:
            return []
        host, way, _ = address
        below = (
            _directory(top + way[len(root.path) :], self._real(top))
            for root, top in self._roots
            if host == root.host and way.startswith(root.path)
        )
        mirrored = (_directory(top + way[1:], self._real(top)) for top in self._in_mirrors(host))
        return [*below, *(directory._replace(is_of_mirror=True) for directory in mirrored)]

    def _in_mirrors(self, host: str) -> Iterator[str]:
        """The directories of a host in mirrors, with the names that wget may have given them."""
        names = dict.fromkeys((host, host.replace(":", "+"), host.partition(":")[0]))
        for mirror, way, name in product(self._origins.mirrors, ("", *_SCHEMES), names):
            directory = _tree(mirror.directory, way, name)
            if os.path.isdir(directory):
                yield directory

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


def _in_tree(url: str, tree: str) -> str | None:
    """The directory that a `file:` URL leads to, as it is shown; None if it is not in a tree."""
    top = windows.plain(os.path.abspath(tree))
    path = file_path(url, top)
    if path is None or (windows.key(path) != windows.key(top) and paths.inside(path, top) is None):
        return None
    return path if os.path.isabs(tree) else windows.relative(path, os.curdir)


def _directory(path: str, real_tree: str) -> _Directory:
    is_inside = "\0" not in path and os.path.join(real(path), "").startswith(real_tree)
    path = os.path.join(os.path.normpath(path), "").removeprefix(os.path.join(os.curdir, ""))
    return _Directory(path, real_tree, is_inside)


def _in_mirror(name: str, query: str | None) -> Iterator[str]:
    """The names that wget may have given a page."""
    asked = () if query is None else (f"{name}?{query}", f"{name}?{paths.unquoted(query)}")
    return map("".join, product((*asked, name), ("", ".html")))


def _served(path: str, directory: _Directory, name: str) -> str:
    """The file in a directory that a server would send for a path; "" for none."""
    try:
        mode = 0 if "\0" in path else os.lstat(path).st_mode
        is_link = stat.S_ISLNK(mode)
        mode = os.stat(path).st_mode if is_link else mode
    except OSError:
        return ""
    if stat.S_ISDIR(mode):
        indexes = (os.path.normpath(os.path.join(path, name)) for name in _INDEXES)
        path = next(filter(os.path.isfile, indexes), "")
        is_link = is_link or os.path.islink(path)
    elif not (stat.S_ISREG(mode) and name):  # behind a slash there is no file
        return ""
    # Nothing outside of the tree is looked at, be it by `..` or a symbolic link.
    if is_link or not _name.fullmatch(name):
        return path if real(path).startswith(directory.tree) else ""
    return path if directory.is_inside else ""


_INDEXES: Final = sorted(paths.INDEXES)


class _File:
    """A file whose links are judged."""

    def __init__(self, site: Site, source: OpenInput, document: InputDocument) -> None:
        self._site, self.name, self._document = site, source.name, document
        self._tree = source.input.root or os.path.dirname(source.name) or os.curdir
        self._opened_as = ""

    def ids(self, is_whole: bool) -> Ids:  # noqa: FBT001 (as `ReadIds`)
        return ids_of(self._document.data, self._document.given.document.format.kind, is_whole)

    def opened(self, reference: str) -> Judgement:
        """Judge where a relative reference leads a browser that opens the file from the disk."""
        if not self._opened_as:
            call, data = self._document.given.call, self._document.data
            self._opened_as = opened_base(call, os.path.abspath(self.name), data)
        url = as_opened(self._opened_as, reference)
        url = url.partition("#")[0].partition("?")[0]
        return self._site.at(url, self._tree) if len(url) <= _LONGEST else OUTSIDE


def _judged(site: Site, file: _File, link: Link, *, uses_files: bool) -> Judgement:
    reference, url = link.reference, link.url
    target, _, fragment = (reference if url is None else url).partition("#")
    if is_own(reference, link.base.layer.value):
        return inside(site.known, file.name, file.name, fragment, file.ids)
    is_relative = not _absolute.match(reference)
    is_near = is_relative or (url and site.has_host("/".join(target.split("/", 3)[:3])))
    if not is_near:
        return OUTSIDE
    judged = site.at(target, "") if url is not None and len(target) <= _LONGEST else OUTSIDE
    is_by_url = judged.verdict == INSIDE or (judged is not OUTSIDE and not site.is_mirror)
    if uses_files and is_relative and not is_by_url:
        opened = file.opened(reference)
        # If it stays relative although there is a base, its file was saved with the page.
        is_kept = url is None and bool(link.base.url) and link.status is Status.KEPT
        judged = opened if opened.verdict == INSIDE or is_kept else judged
    if judged.verdict == INSIDE and fragment:
        path = judged.target
        ids = file.ids if path == file.name else partial(site.ids, path)
        return inside(site.known, path, path, fragment, ids)
    if judged is not OUTSIDE and (judged.verdict == INSIDE or link.element != "base"):
        return judged
    return UNKNOWN if url is None and is_relative else OUTSIDE
