"""The URL of each input: every place that may state one is asked, in order, and the first counts.

Strategy: what the user gave is stronger than what was found: --url, --map, --root; then --mirror,
the side files of --sidecar, HTTrack's list, the attributes that the system keeps; then the marks in
the page itself, and last, where it is asked for, the address that the page calls its own. What is
refused on the way is noted, and stands in the chain that `relbase base` shows.

To mind: a finder is made once, with all tables, and travels to the processes of a run.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from relbase import pipeline
from relbase.bases.archived import Unarchived, archived
from relbase.bases.marks import read_marks
from relbase.bases.retrieval import found_url, statements
from relbase.call import Call, Origin, check
from relbase.cli.inputs import STDIN, Input
from relbase.cli.origins.beside import Stated, beside, side_file
from relbase.cli.origins.paths import adds, inside, url_in_mirror, url_on_root
from relbase.cli.origins.places import Beside, file_url
from relbase.formats import FORMATS
from relbase.notes import Note, Reason
from relbase.opening.door import kind_of_call
from relbase.records import NamedTuple
from relbase.url.resolver import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relbase.bases.archived import Archived
    from relbase.bases.marks import Marks, Places
    from relbase.call import Arguments
    from relbase.cli.files import OpenInput
from relbase.cli.origins.paths import Mirror, Root
from relbase.expressions import expression

Local: TypeAlias = Literal["keep", "resolve", "off"]


class Origins(NamedTuple):
    """What the options say of where URLs are stated.

    Args:
        mapped: --map: the URLs by names.
        roots: --root.
        mirrors: --mirror.
        sidecars: --sidecar: suffixes of header dumps beside files.
        detect: whether attributes, side files and marks are looked for.
        canonical: whether the address that a page calls its own counts.
        original: whether a page of a web archive counts as the page that was archived.
        local: --local, None for the default.
    """

    mapped: dict[str, str] | None = None
    roots: tuple[Root, ...] = ()
    mirrors: tuple[Mirror, ...] = ()
    sidecars: tuple[str, ...] = ()
    detect: bool = True
    canonical: bool = False
    original: bool = False
    local: Local | None = None


class Found(NamedTuple):
    """What is known of an input's URL before the input is read.

    Args:
        url: where it was retrieved, None when unknown.
        source: what states that, for people.
        redirects: of its side file.
        fields: of its side file: the header that it came with.
        given: whether the user gave it.
        notes: on what does not count.
        sure: whether it is the URL itself; otherwise its directory is right, and its end a guess.
    """

    url: str | None = None
    source: str = ""
    redirects: tuple[str, ...] = ()
    fields: tuple[tuple[str, str], ...] = ()
    given: bool = False
    notes: tuple[Note, ...] = ()
    sure: bool = True


_SAVED_HEAD: Final = 1 << 18  # bytes of a page in which its mark is looked for, when linked to

_requested: Final = expression(rb"^--[0-9]{4}-[0-9-]+ [0-9:]+--  (\S+)", re.MULTILINE)


class Finder:
    """Finds the URLs of inputs.

    Args:
        origins: what the options say.
        trees: the directories that are walked, whose lists are read.
    """

    __slots__ = ("_known", "_listed", "origins", "trees")

    def __init__(self, origins: Origins, trees: tuple[str, ...] = ()) -> None:
        self.origins = origins
        self.trees = trees
        self._listed: dict[str, str] = {}
        self._known: dict[str, str | None] = {}

    def load(self) -> None:
        """Read the tables of programs that mirror, once for all processes."""
        mirrors = (one._replace(adds=adds(one.directory)) for one in self.origins.mirrors)
        self.origins = self.origins._replace(mirrors=tuple(mirrors))
        for mirror in self.origins.mirrors:
            self._listed |= _list_of(mirror.directory)
        if self.origins.detect:
            for tree in self.trees:
                self._listed |= _list_of(tree)

    # ---- before an input is read

    def find(self, source: OpenInput, url: str | None) -> Found:
        """Return what is known of an input's URL from outside of it."""
        found = Found(url, "--url", given=True) if url else self._outside(source)
        for suffix in self.origins.sidecars:
            dump = side_file(source.input, source.input.parts[-1] + suffix)
            if dump is not None:
                return _with_dump(found, dump, suffix)
        return found

    def _outside(self, source: OpenInput) -> Found:
        if source.name == STDIN:
            return Found()
        if (given := self._given(source.input)) is not None:
            return Found(*given, given=True)
        notes: list[Note] = []
        for stated in self._stated(source):
            url, why, remarks = found_url(stated.url, stated.source)
            if url:
                notes += remarks
                if stated.remark:
                    notes.append(Note(Reason.MARK_DOUBTFUL, "", None, stated.remark))
                return Found(url, stated.source, notes=tuple(notes), sure=stated.sure)
            notes.append(Note(Reason.MARK_REFUSED, "", None, f"{stated.source}: {why}"))
        return Found(notes=tuple(notes))

    def _given(self, one: Input) -> tuple[str, str] | None:
        for name in _mapped_names(one):
            url = (self.origins.mapped or {}).get(name)
            if url is not None:
                return url, "--map"
        return url_on_root(one.name, self.origins.roots)

    def map_is_of_others(self, inputs: Iterable[Input]) -> bool:
        """Return whether there is a map and none of its lines is of an input."""
        mapped = self.origins.mapped or {}
        return bool(mapped) and not any(
            name in mapped for one in inputs for name in _mapped_names(one)
        )

    def _stated(self, source: OpenInput) -> Iterator[Stated]:
        path = os.path.abspath(source.name)  # noqa: PTH100
        if path in self._listed:
            yield Stated(self._listed[path], "the list of what was saved")
        for mirror in self.origins.mirrors:
            mirrored = url_in_mirror(path, mirror)
            if mirrored is not None:
                doubt = f", {mirrored.doubt}" if mirrored.doubt else ""
                source_ = f"--mirror {mirror.directory}{doubt}"
                remark = _guessed(mirror) if mirrored.guessed else ""
                yield Stated(mirrored.url, source_, mirrored.sure, remark)
        if self.origins.detect:
            yield from beside(source)

    # ---- when it is read

    def call(self, arguments: Arguments, found: Found, source: OpenInput, data: bytes) -> Call:
        """Return the call of the library for a document."""
        call = check(data, **arguments)
        kind = kind_of_call(call, data)
        is_read = FORMATS[kind].has_marks and (self.origins.detect or self.origins.original)
        marks = _marks(data) if is_read else None
        if found.url is None and FORMATS[kind].has_marks:
            found = self._in_page(found, marks, data)
        of = _archived(found, marks) if self.origins.original else None
        if of is not None and (not found.given or archived(found.url or "")):
            stated = "what the web archive holds it of"
            found = found._replace(url=found_url(of.url, "")[0] or found.url, source=stated)
        redirects = call.redirects or found.redirects
        call = call._replace(url=found.url, redirects=redirects)
        # Documents of text are saved with the files that they need; mail holds its own.
        is_text = FORMATS[kind].charset is not None
        places = self._places(call, found, source, data) if is_text else None
        if of is not None:
            places = Unarchived(of.stamp, places)
        if found.url is None and not found.notes and places is None:
            return call
        return call._replace(origin=Origin(found.source, found.notes, places))

    def _in_page(self, found: Found, marks: Marks | None, data: bytes) -> Found:
        notes = found.notes
        if marks is not None:
            notes += marks.notes
            if marks.pages:
                mark = marks.pages[0]
                return found._replace(url=mark.value, source=mark.source)
        if not self.origins.canonical:
            return found._replace(notes=notes)
        from relbase.cli.origins.canonical import canonical  # noqa: PLC0415 (start-up time)

        if (stated := canonical(data)) is not None:
            url, why, _ = found_url(stated.url, stated.source)
            if url:
                return found._replace(url=url, source=stated.source)
            notes = (*notes, Note(Reason.MARK_REFUSED, "", None, f"{stated.source}: {why}"))
        return found._replace(notes=notes)

    # ---- what lies beside it

    def _places(self, call: Call, found: Found, source: OpenInput, data: bytes) -> Places | None:
        local = self.origins.local or ("off" if found.given else "keep")
        if local == "off" or found.url is None or source.name == STDIN:
            return None
        opened = file_url(source.name)
        as_file = call._replace(
            url=opened, redirects=(), profile=Profile.WHATWG, detect=False, origin=None
        )
        (first, *_) = pipeline.entities_called(data, as_file)
        if not first.base.url.startswith("file:"):
            return None
        if local == "keep":
            return Beside(source.name, first.base.url, source.input.directory, None)
        final, _ = statements(found.url, call.redirects)
        own = os.path.abspath(source.name)  # noqa: PTH100
        url_of = _Own(self, own, final[0].value if found.sure else None)
        places = Beside(source.name, first.base.url, source.input.directory, url_of)
        return self._unconverted(call, source, data, places)

    def _unconverted(
        self, call: Call, source: OpenInput, data: bytes, places: Places
    ) -> Places | None:
        """What undoes the conversion of a page in a mirror; None for one that was not converted."""
        mirror = next((one for one in self.origins.mirrors if inside(source.name, one[0])), None)
        if mirror is None or os.path.abspath(source.name) in self._listed:  # noqa: PTH100
            return places
        from relbase.cli.origins.converted import is_converted, undone  # noqa: PLC0415 (likewise)

        name = source.input.parts[-1]
        for before in dict.fromkeys((name, name.removesuffix(".html"), name.removesuffix(".css"))):
            original = side_file(source.input, f"{before}.orig")
            if original is not None:
                return undone(call, data, original, places)
        return places if is_converted(call, data, source.name, mirror) else None

    def url_of(self, path: str) -> str | None:
        """Return the URL of a file that a reference leads to, or None if it is not certain."""
        if path not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[path] = self._url_of(path)
        return self._known[path]

    def _url_of(self, path: str) -> str | None:
        origins = self.origins
        for name in self._names(path):
            if origins.mapped and name in origins.mapped:
                return origins.mapped[name]
        if (rooted := url_on_root(path, origins.roots)) is not None:
            return rooted[0]
        if path in self._listed:
            return self._listed[path]
        for mirror in origins.mirrors:
            mirrored = url_in_mirror(path, mirror)
            if mirrored is not None and mirrored.sure:
                return mirrored.url
        return self._stated_in(path) if origins.detect else None

    def _names(self, path: str) -> Iterator[str]:
        """How --map may name a file: from here, or from the tree that is walked."""
        yield os.path.relpath(path)
        yield path
        for tree in self.trees:
            if (steps := inside(path, tree)) is not None:
                yield os.path.join(*steps)  # noqa: PTH118

    def _stated_in(self, path: str) -> str | None:
        from relbase.cli.files import InputError, opened  # noqa: PLC0415 (files knows inputs alone)

        try:
            with opened(Input(path)) as source:
                for stated in beside(source):
                    if url := found_url(stated.url, "")[0]:
                        return url
                pages = _marks(next(source.pieces, b"")[:_SAVED_HEAD]).pages
        except InputError:
            return None
        return pages[0].value if pages else None


def _mapped_names(one: Input) -> Iterator[str]:
    """What a map may call an input: as it was given, from its tree, or its whole path."""
    yield os.path.normpath(one.name)
    if one.root:
        yield os.path.normpath("/".join(one.parts))
    yield os.path.abspath(one.name)  # noqa: PTH100


def _guessed(mirror: Mirror) -> str:
    fix = f"give --mirror {mirror.directory}=https if it is that"
    return f"--mirror {mirror.directory}: its paths do not say the scheme: taken for http; {fix}"


# Links lead to the same files again and again; a tree may have a million.
_REMEMBERED: Final = 1 << 16


class _Own:
    """The URLs of files, the page's own among them."""

    __slots__ = ("_finder", "_path", "_url")

    def __init__(self, finder: Finder, path: str, url: str | None) -> None:
        self._finder = finder
        self._path = path
        self._url = url

    def __call__(self, path: str) -> str | None:
        return self._url if path == self._path else self._finder.url_of(path)


def _archived(found: Found, marks: Marks | None) -> Archived | None:
    """What a web archive holds the page of: as its URL says, or what its scripts get."""
    stated = [mark.value for mark in marks.pages] if marks is not None else []
    return next(filter(None, map(archived, [found.url or "", *stated])), None)


def _marks(data: bytes) -> Marks:
    """The marks of a page in any charset: they are in ASCII."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    return read_marks(data)


def _list_of(tree: str) -> dict[str, str]:
    data = side_file(Input(os.path.join(tree, "hts-cache", "new.txt")), "new.txt")  # noqa: PTH118
    if not data:
        return {}
    from relbase.cli.origins.tables import read_new_txt  # noqa: PLC0415 (start-up time)

    return read_new_txt(data, tree)


def _with_dump(found: Found, dump: bytes, suffix: str) -> Found:
    """What a header dump adds: `curl -D` has no URL of the request, a log of `wget -S` has."""
    from relbase.containers.dumps import parse_dump  # noqa: PLC0415 (start-up time)

    read = parse_dump(dump)
    requested = _requested.search(dump)
    source = found.source
    url = found.url
    if url is None and requested is not None:
        url = found_url(requested[1].decode("utf-8", "surrogateescape"), "")[0] or None
        source = f"its side file {suffix}"
    return found._replace(url=url, source=source, redirects=read.redirects, fields=read.fields)
