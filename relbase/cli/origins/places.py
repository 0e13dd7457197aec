"""The files beside a saved page: which references lead to files that exist (rule 17).

References are resolved as in a browser that opens the page as `file:`. Files outside the tree,
reached by `..` or a symbolic link, do not count. No file is read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from relbase.cli import windows
from relbase.cli.origins.paths import INDEXES, Mirror, inside, quoted, unquoted
from relbase.cli.streams import counted
from relbase.expressions import expression
from relbase.notes import Note, Reason
from relbase.rewriting.outcomes import Status
from relbase.savers.rows import LocalFile, LocalFiles
from relbase.session import run
from relbase.url import rfc3986
from relbase.url.profiles import BROWSERS

if TYPE_CHECKING:
    from relbase.results import Link
    from relbase.session.session import Call

Local: TypeAlias = Literal["keep", "companion", "resolve", "off"]

# What browsers and Windows call the folder of files saved with a page, by language.
_COMPANIONS: Final = (
    *("_files", ".files", "-Dateien", "_fichiers", "_bestanden", "_file", "_archivos", "-filer"),
    *("_tiedostot", "_pliki", "_soubory", "_elemei", "_ficheiros", "_arquivos", "_dosyalar"),
    *("_datoteke", "_fitxers", "_failid", "_fails", "_bylos", "_fajlovi", "_fitxategiak"),
)

# References that all parsers read alike, without escaped dots.
_plain: Final = expression(r"(?!.*%2[Ee])[!#-;=?-\[\]-~]*")

# The first step of a path that all systems and parsers read alike.
_step: Final = expression(r"/?[A-Za-z0-9_~][A-Za-z0-9_.~-]*(?=[/?#]|\Z)")

# With more names than this beside a page, looking at each of its references is faster.
_NAMES: Final = 200
_REMEMBERED: Final = 4096


def file_path(url: str, page: str) -> str | None:
    """The path that a URL names; on Windows None unless it is on the drive of the page."""
    components = rfc3986.split(url)
    if components.scheme != "file" or (components.authority and not windows.has_drives()):
        return None
    path = unquoted(components.path)
    if windows.has_drives():
        path = path.replace("/", os.sep)
        server = components.authority
        path = f"{os.sep * 2}{server}{path}" if server else path.removeprefix(os.sep)
        # To look for a file on another server is to log in there (threat N12).
        drives = (os.path.splitdrive(side)[0] for side in (path, windows.plain(page)))
        if len({*map(os.path.normcase, drives)}) > 1:
            return None
    return None if "\0" in path else os.path.abspath(path)


def as_opened(base: str, reference: str) -> str:
    """Resolve a reference as a browser that opened the page; "" if it leads nowhere."""
    keeps_drive = not windows.has_drives() or not reference.startswith("/")
    if keeps_drive and _plain.fullmatch(reference):
        return _prepared(base).resolve(reference)
    from relbase.url import whatwg  # loads a C library: start-up time

    try:
        return whatwg.PreparedBase(base).resolve(reference)
    except ValueError:
        return ""


_prepared: Final = lru_cache(1)(rfc3986.PreparedBase)


def real(path: str) -> str:
    return os.path.normcase(windows.plain(os.path.realpath(path)))


def may_lead_beside(page: str, data: bytes, *, in_tree: bool) -> bool:
    """Return whether a page may lead to a file beside it; if not, the fast scanner can read it."""
    if (in_tree and b"../" in data) or b"\0" in data:  # UTF-16
        return True
    folder, own = os.path.split(page)
    try:
        with os.scandir(folder) as entries:
            listed = [entry.name for entry in islice(entries, _NAMES + 2)]
    except OSError:  # a directory that can be entered but not read
        return True
    names = [name for name in listed if name != own]
    if len(names) > _NAMES or any(name.startswith(os.path.splitext(own)[0]) for name in names):
        return True
    names += [name.replace("&", "&amp;") for name in names if "&" in name]
    written = {os.fsencode(name) for name in names}
    written |= {quoted(name).encode() for name in names if not _step.fullmatch(name)}
    return any(name in data for name in written)


class Neighbours:
    """Decides on the references of one page; `base` is its base when opened as `file:`."""

    def __init__(
        self,
        page: str,
        base: str,
        tree: str,
        local: Local,
        url_of: Callable[[str], str | None],
        *,
        had_folder: bool = False,  # by a browser's mark: with any name, even if missing
        asked: bool = True,  # whether the user gave --local; if not, notes say what stays
    ) -> None:
        stem = os.path.splitext(os.path.abspath(page))[0]
        folders = (f"{stem}{suffix}" for suffix in _COMPANIONS)
        there = [folder for folder in folders if had_folder or os.path.isdir(folder)]
        self._folders = tuple(os.path.normcase(os.path.join(folder, "")) for folder in there)
        self._base, self._page = base, os.path.abspath(page)
        opened = file_path(base, self._page) or ""
        self._folder = opened if base.endswith("/") else os.path.dirname(opened)
        beside = os.path.dirname(stem)
        self._of_any_name = os.path.normcase(os.path.join(beside, "")) if had_folder else ""
        self._ends = tuple(map(os.path.normcase, _COMPANIONS))
        # With a given URL only links into the companion folder stay, if the base leads there.
        self._keeps_base = local != "companion" or (bool(there) and self._folder == beside)
        if not self._keeps_base:
            self._folders, self._of_any_name = (), ""
        self._tree = os.path.join(real(tree), "")
        self._local = local
        self._url_of = url_of
        # Most references of a page lead to the same few files.
        self._is_there = lru_cache(_REMEMBERED)(os.path.lexists)
        self._placed = lru_cache(_REMEMBERED)(self._place)
        self._asked = asked
        self._said: Counter[str] = Counter()  # links by what is said of them
        self._folders_kept: set[str] = set()  # into which links stay relative

    def __call__(self, reference: str, element: str) -> LocalFile | None:
        """Return what becomes of a reference; None to resolve it against the base."""
        if element == "base" and self._keeps_base:
            return LocalFile()
        first = _step.match(reference)
        # Most references are settled at once, since the first step of their path is missing.
        path = os.path.join(self._folder, first[0]) if first is not None else self._folder
        if first is None or self._is_there(path) or self._is_companion(f"{path}{os.sep}"):
            placed, text = self._placed(reference)
            self._said[text] += 1
            return placed
        return None

    def _is_companion(self, folder: str) -> bool:
        """Return whether a folder is the page's, perhaps by the name that the page had before."""
        folder = os.path.normcase(folder)
        if folder in self._folders:
            return True
        within = folder[:-1].removeprefix(self._of_any_name) if self._of_any_name else os.sep
        return os.sep not in within and within.endswith(self._ends)

    def left_behind(self, page: str, copy: str) -> set[str]:
        """Return the folders beside a page that its kept links need beside a copy of it."""
        beside, target = os.path.dirname(page), os.path.dirname(copy)
        ways = (windows.relative(kept, beside or os.curdir) for kept in self._folders_kept)
        firsts = {way.partition(os.sep)[0] for way in filter(None, ways)}
        names = firsts - {os.curdir, os.pardir}
        gone = (name for name in names if not os.path.lexists(os.path.join(target, name)))
        return {path for name in gone if os.path.isdir(path := os.path.join(beside, name))}

    def notes(self) -> Iterator[Note]:
        """Yield notes on the links so far: call it when the page was read once."""
        for text, reason in _SAID.items():
            if count := self._said[text]:
                yield Note(reason, "", None, f"{counted(count, 'link')} {text}")

    def _is_elsewhere(self, reference: str, url: str) -> bool:
        """Return whether a file's URL differs from a link to it, resolved against the page's."""
        page = self._url_of(self._page)
        if page is None or self._folder != os.path.dirname(self._page):
            return False
        made = rfc3986.split(rfc3986.PreparedBase(page).resolve(reference))
        known = rfc3986.split(url)
        folder, name = os.path.split(unquoted(made.path))
        paths = {unquoted(made.path), *({folder, f"{folder}/"} if name in INDEXES else ())}
        return made[:2] != known[:2] or unquoted(known.path) not in paths

    def _place(self, reference: str) -> tuple[LocalFile | None, str]:
        """Return what becomes of a reference, and what is said of it, or ""."""
        path = file_path(as_opened(self._base, reference), self._page)
        if path is None:
            return None, ""
        is_there = os.path.isfile(path) and real(path).startswith(self._tree)
        # Browsers save all files of a page into one folder, without folders in it.
        folder = os.path.join(os.path.dirname(path), "")
        is_saved = self._is_companion(folder) or (
            is_there and os.path.normcase(path).startswith(self._folders)
        )
        if not (is_there or is_saved):
            return None, ""
        if self._local != "companion" and not is_there:
            return LocalFile(None, Note(Reason.LOCAL_UNKNOWN, "", None, _NOT_SAVED)), ""
        url = None if self._asked and self._local == "keep" else self._url_of(path)
        if self._local == "keep":
            self._folders_kept.add(folder)
            return LocalFile(), "" if url is None else _LEFT
        if self._local == "companion" and not is_saved:
            if url is None:
                return None, _REWRITTEN
            return None, _ELSEWHERE if self._is_elsewhere(reference, url) else ""
        if url is not None:
            # A query in the file's URL replaces that of the link.
            _, _, _, query, fragment = rfc3986.split(reference)
            parts = rfc3986.split(url)
            query = query if parts.query is None else parts.query
            return LocalFile(rfc3986.unsplit(parts._replace(query=query, fragment=fragment))), ""
        self._folders_kept.add(folder)
        if self._local == "resolve":
            return LocalFile(None, Note(Reason.LOCAL_UNKNOWN, "", None, _UNKNOWN)), ""
        return LocalFile(), _KEPT


_NOT_SAVED: Final = (
    "points into the folder of files saved with the page, to a file that is not there"
)
_UNKNOWN: Final = (
    "points to a file saved with the page; its original URL is unknown (--map can give it, "
    "or --root if its path is that of the URL)"
)
_KEPT: Final = (
    "into the folder of files saved with the page left unchanged: the URLs of those files are "
    "unknown (--local off makes the links absolute)"
)
_LEFT: Final = (
    "to files saved with the page left unchanged, though their URLs are known (--local resolve "
    "makes the links absolute, --local keep confirms that they should stay)"
)
_REWRITTEN: Final = (
    "to files beside the page made absolute: the URLs of those files are unknown "
    "(--local keep leaves the links unchanged)"
)
_ELSEWHERE: Final = (
    "to files beside the page made absolute by the page's URL, but those files have other URLs "
    "(--local resolve uses these)"
)
_SAID: Final = {
    _LEFT: Reason.LOCAL_KEPT,
    _KEPT: Reason.LOCAL_KEPT,
    _REWRITTEN: Reason.LOCAL_REWRITTEN,
    _ELSEWHERE: Reason.LOCAL_REWRITTEN,
}


# `wget -K` keeps the page that `wget -k` converted as `page.orig`. Its links correspond one to one
# to those of the converted page. Without it, a page was not converted if a link that begins with
# `/` leads to a file in the mirror.


def undone(call: Call, data: bytes, original: bytes, places: LocalFiles) -> LocalFiles:
    """Return the places that give each reference of a page the URL it had before conversion."""
    now, before = list(_links(call, data)), list(_links(call, original))
    stand = [
        [(link.element, link.attribute, link.syntax) for link in page] for page in (now, before)
    ]
    if stand[0] != stand[1]:
        return places
    were: dict[str, str | None] = {}  # None: it had several
    for link, was in zip(now, before, strict=True):
        url = was.url if were.setdefault(link.reference, was.url) == was.url else None
        were[link.reference] = url

    def place(reference: str, element: str) -> LocalFile | None:
        url = were.get(reference)
        if element == "base":
            return LocalFile()
        return LocalFile(url) if url else places(reference, element)

    return place


def _links(call: Call, data: bytes) -> Iterator[Link]:
    bare = call._replace(origin=None).with_options(detect=False, profile=BROWSERS)
    return run.links(bare.opened(data))


def is_converted(call: Call, data: bytes, path: str, mirror: Mirror) -> bool:
    host = rfc3986.split(call.url or "").authority or ""
    steps = inside(path, mirror.directory) or []
    if host not in steps:
        return True
    top = os.path.join(mirror.directory, *steps[: steps.index(host) + 1])
    for link in _links(call, data):
        is_from_root = link.reference.startswith("/") and not link.reference.startswith("//")
        if link.status is Status.REWRITTEN and is_from_root and _is_saved(link.reference, top):
            return False
    return True


def _is_saved(reference: str, top: str) -> bool:
    """Whether the target of a link that begins with `/` was saved under its own name."""
    components = rfc3986.split(reference)
    if components.path == "/":
        return os.path.isfile(os.path.join(top, "index.html"))
    path = unquoted(components.path.lstrip("/"))
    query = f"?{unquoted(components.query)}" if components.query else ""
    if "\0" in path or os.pardir in path.split("/"):
        return False
    return os.path.isfile(os.path.join(top, f"{path}{query}"))
