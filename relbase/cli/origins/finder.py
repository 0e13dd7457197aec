"""Finds the URL of each input: reads every place that may state one, in order; the first counts.

URLs that the user gave come first, then those found outside the page, then the page's own marks. A
finder is made once, with all tables, and is sent to the processes of a run.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import found_url, retrieval
from relbase.cli import windows
from relbase.cli.files import STDIN, Input, InputError, OpenInput, opened, shown_name
from relbase.cli.origins import paths, places
from relbase.cli.origins.paths import FoundUrl, Mirror, Root
from relbase.cli.streams import counted, in_shell
from relbase.expressions import expression
from relbase.notes import Note, Reason
from relbase.savers.rows import NONE, LocalFiles, Marks, Unarchived, archived
from relbase.session import run
from relbase.session.options import Origin
from relbase.url.credentials import masked
from relbase.url.profiles import BROWSERS

if TYPE_CHECKING:
    from relbase.kind import Kind
    from relbase.session.session import Call, OpenedDocument


class Origins(NamedTuple):
    detect: bool = True
    mapped: dict[str, FoundUrl] | None = None  # --map: by file names; the source is a line
    roots: tuple[Root, ...] = ()
    image_roots: tuple[Root, ...] = ()
    mirrors: tuple[Mirror, ...] = ()
    sidecars: tuple[str, ...] = ()  # suffixes
    canonical: bool = False
    original: bool = False
    local: places.Local | None = None


# The limit of a cache: links lead to the same files again and again, and a tree may be large.
_REMEMBERED: Final = 1 << 16
_COMPARED: Final = 1000  # inputs, when --map names a file that is not there
_requested: Final = expression(rb"^--[0-9]{4}-[0-9-]+ [0-9:]+--  (\S+)", re.MULTILINE)

# A page without any of these has no base of its own. NUL is for UTF-16.
_may_have_base: Final = expression(rb"<base|:base|\0", re.IGNORECASE)


class Finder:
    def __init__(self, origins: Origins, trees: tuple[str, ...]) -> None:
        self.trees = trees  # whose lists of saved files are read
        self._listed: dict[str, str] = {}
        self._known: dict[str, str | None] = {}
        mirrors = []
        for mirror in origins.mirrors:
            listed = paths.listed_in(mirror.directory)
            if listed is None:
                mirrors.append(mirror._replace(adds=paths.adds(mirror.directory)))
            else:  # HTTrack renames files: without a list their paths say nothing
                self._add(listed)
        self.origins = origins._replace(mirrors=tuple(mirrors))
        for tree in trees if origins.detect else ():
            self._add(paths.listed_in(tree) or {})

    def _add(self, listed: dict[str, str]) -> None:
        self._listed |= {os.path.normcase(path): url for path, url in listed.items()}

    def _stated(self, path: str) -> Iterator[FoundUrl]:
        """The URLs that the options and the lists give a file, strongest first."""
        mapped = self.origins.mapped or {}
        for name in self._names(path) if mapped else ():
            if name in mapped:
                yield FoundUrl(mapped[name].url, "--map", given=True)
        roots = self.origins.roots
        if roots and (rooted := paths.url_on_root(path, roots)) is not None:
            yield rooted
        if listed := self._listed.get(os.path.normcase(path)):
            yield FoundUrl(listed, "the list of what was saved")
        for mirror in self.origins.mirrors:
            if (mirrored := paths.url_in_mirror(path, mirror)) is not None:
                yield mirrored

    def _names(self, path: str) -> Iterator[str]:
        """The names of a file that --map may have: from here, its whole path, or from its tree."""
        ways = (paths.inside(path, tree) for tree in self.trees)
        in_trees = (os.path.join(*steps) for steps in ways if steps)
        names = (windows.relative(path, os.curdir), path, *in_trees)
        return map(os.path.normcase, filter(None, names))

    def _meant(self, name: str, inputs: Sequence[Input]) -> str:
        """Ask for the name of an input that is most like a name of --map; "" if none is."""
        from difflib import get_close_matches

        known = (os.path.abspath(given.name) for given in inputs[:_COMPARED])
        names = [name for path in known for name in self._names(path) if name != path]
        close = get_close_matches(name, names, n=1)
        return "".join(f". Did you mean {in_shell(name)}?" for name in close)

    def doubts(self, inputs: Sequence[Input]) -> Iterator[str]:
        origins = self.origins
        mapped = origins.mapped or {}
        named = (self._names(os.path.abspath(given.name)) for given in inputs)
        asked = {*chain.from_iterable(named)} if mapped else set()
        # The map of a whole site may be given with only some of its files.
        others = [name for name in mapped if name not in asked and not self._is_there(name)]
        if mapped and asked.isdisjoint(mapped):
            fix = "write names as given, or relative to the DIR"
            if any("@" in name for name in mapped):
                fix = "for the messages of a mailbox give --message-map"
            else:
                fix += self._meant(next(iter(mapped)), inputs)
            yield f"warning: no line of --map names an input: {fix}"
        elif others:
            more = f"; {counted(len(others) - 1, 'more line')} like it" if others[1:] else ""
            text = f"there is no file {in_shell(others[0])}{more}{self._meant(others[0], inputs)}"
            yield f"warning: {mapped[others[0]].source}: {text}"
        for end in origins.sidecars:
            if not any(os.path.lexists(given.name + end) for given in inputs):
                yield f"warning: --sidecar {in_shell(end)}: no input has such a file beside it"
        for mirror in origins.mirrors:
            if any(paths.url_in_mirror(given.name, mirror) for given in inputs):
                continue
            parent = os.path.normpath(os.path.join(mirror.directory, os.pardir))
            above = mirror._replace(directory=parent)
            fix = "give the directory that holds one directory for each host"
            if any(paths.url_in_mirror(given.name, above) for given in inputs):
                fix += f": --mirror {in_shell(parent)}"
            yield f"warning: --mirror {in_shell(mirror.directory)} gives no input a URL: {fix}"
        yield from self._likely_mirrors(inputs)

    def _likely_mirrors(self, inputs: Sequence[Input]) -> Iterator[str]:
        origins = self.origins
        for root, url in origins.roots:
            if paths.mirror_in(root) == root:
                fix = f"give --mirror {in_shell(root)} for a mirror, or --root for each host"
                text = "contains directories named like hosts, and gives all of them the URL of"
                yield f"warning: --root {in_shell(f'{root}={masked(url)}')} {text} one host: {fix}"
        if any((origins.mapped, origins.roots, origins.mirrors, origins.sidecars, self._listed)):
            return
        for tree in self.trees:
            directory = paths.mirror_in(tree)
            pages = (given.name for given in inputs if given.root == tree)
            page = next((page for page in pages if os.path.basename(page) in paths.INDEXES), None)
            is_stated = page is not None and origins.detect and _stated_in(page) is not None
            if directory is not None and not is_stated:
                option = f"--mirror {in_shell(directory)}=https"
                text = "this looks like a wget mirror; to read URLs from its paths, give"
                fix = "and --local resolve to make links within it absolute"
                yield f"{shown_name(tree)}: {text} {option} (or =http), {fix}"

    def _is_there(self, name: str) -> bool:
        tops = (os.curdir, *self.trees)
        return any(os.path.lexists(os.path.join(top, name)) for top in tops)

    def find(self, source: OpenInput, url: str | None) -> FoundUrl:
        known = FoundUrl(url, "--url", given=True) if url else FoundUrl()
        if not url and source.name != STDIN:
            stated = self._stated(os.path.abspath(source.name))
            known = _chosen(chain(stated, paths.beside(source) if self.origins.detect else ()))
        for suffix in self.origins.sidecars:
            dump = paths.side_file(source.input, source.input.parts[-1] + suffix)
            if dump is not None:
                return _with_dump(known, dump, suffix)
        return known

    def place(self, given: OpenedDocument, known: FoundUrl, source: OpenInput) -> OpenedDocument:
        """Return a document with the base that its URL gives it, if one is found."""
        call, data, row = given.call, given.document.data, given.document.format
        is_piped = source.name == STDIN and self.origins.local is None
        if is_piped and known.url is None and not (self.origins.canonical or self.origins.original):
            return given  # as in the library: looks at no file, and marks count
        marks = given.document.context.marks or NONE
        if self.origins.original and not self.origins.detect and row.marks is not None:
            from relbase.savers.marks import read_marks

            marks = read_marks(paths.readable(data))
        if known.url is None and (row.marks is not None or self.origins.canonical):
            known = self._in_page(known, marks, data, row.kind)
        # The page that a web archive copied: from the page's URL, or from the archive's marks.
        urls = (known.url or "", *(mark.value for mark in marks.pages))
        of = next(filter(None, map(archived, urls)), None) if self.origins.original else None
        if of is not None and (not known.given or archived(known.url or "")):
            stated = "the page that the web archive copied"
            known = known._replace(url=found_url(of.url, "")[0] or known.url, source=stated)
        elif self.origins.original:  # a `<base>` may be all that the archive left
            of = of or archived(given.document.base().url or "")
        roots = self.origins.image_roots
        if roots and (images := paths.url_on_root(os.path.abspath(source.name), roots)):
            call = call.with_options(images_url=images.url)
        call = call._replace(url=known.url, redirects=call.redirects or known.redirects)
        # Pages are saved beside the files that they need; mail contains its own.
        beside = None if row.charset is None else self._places(call, known, source, given, marks)
        if of is not None:
            beside = Unarchived(of.stamp, beside)
        if known.url is None and not known.notes and beside is None:
            return given.of(call)
        return given.of(call._replace(origin=Origin(known.source, known.notes, beside)))

    def _in_page(self, known: FoundUrl, marks: Marks, data: bytes, kind: Kind) -> FoundUrl:
        if marks.pages:
            return known._replace(url=marks.pages[0].value, source=marks.pages[0].source)
        own = own_url(data, kind) if self.origins.canonical else FoundUrl()
        if own.url:
            return known._replace(url=own.url, source=own.source)
        return known._replace(notes=(*known.notes, *marks.notes, *own.notes))

    def _places(
        self, call: Call, known: FoundUrl, source: OpenInput, given: OpenedDocument, marks: Marks
    ) -> LocalFiles | None:
        data, row = given.document.data, given.document.format
        # Nobody saves Markdown with a folder: it is the source, and so are the files beside it.
        usual: places.Local = "off" if row.is_asked_for else "companion"
        local = self.origins.local or (usual if known.given else "keep")
        if local == "off" or known.url is None or source.name == STDIN:
            return None
        path = os.path.abspath(source.name)
        # A browser saved it with a folder, even if the folder is gone.
        had_folder = any("the mark of a browser" in mark.source for mark in marks.pages)
        tree = source.input.root or os.path.dirname(source.name) or "."
        # Files beside a page have URLs by --root, too, if that covers the whole tree.
        roots = self.origins.roots if len(self.origins.roots) == 1 else ()
        if local == "companion" and (
            paths.url_on_root(os.path.abspath(os.path.join(tree, "x")), roots)
            or not (
                had_folder or places.may_lead_beside(path, data, in_tree=bool(source.input.root))
            )
        ):
            return None
        base = opened_base(call, path, data)
        if not base.startswith("file:"):
            return None
        final, _ = retrieval(known.url, call.redirects, call.options.profile)
        # With `keep`, links to the page itself are not counted as links with a known URL.
        own = path if local != "keep" else "", final[0].value if known.sure else None
        url_of = partial(self.url_of, own=own, detect=local == "resolve")
        asked = self.origins.local is not None
        beside = places.Neighbours(
            path, base, tree, local, url_of, had_folder=had_folder, asked=asked
        )
        return self._unconverted(call, source, data, beside) if local == "resolve" else beside

    def _unconverted(
        self, call: Call, source: OpenInput, data: bytes, beside: LocalFiles
    ) -> LocalFiles | None:
        """The places that undo the conversion of a mirrored page; None if it was not converted."""
        around = (row for row in self.origins.mirrors if paths.inside(source.name, row[0]))
        mirror = next(around, None)
        path = os.path.normcase(os.path.abspath(source.name))
        if mirror is None or path in self._listed:
            return beside
        before = paths.original_name(source.name)
        original = paths.side_file(source.input, f"{before}.orig") if before else None
        if original is not None:
            return places.undone(call, data, original, beside)
        return beside if places.is_converted(call, data, source.name, mirror) else None

    def url_of(self, path: str, *, own: tuple[str, str | None], detect: bool) -> str | None:
        """Return the URL of a file; None if it is not certain. `own` is the page and its URL."""
        if os.path.normcase(path) == os.path.normcase(own[0]):
            return own[1]
        if path not in self._known:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[path] = self.known_url(path, detect=detect)
        return self._known[path]

    def known_url(self, path: str, *, detect: bool) -> str | None:
        url = next((stated.url for stated in self._stated(path) if stated.sure), None)
        return _stated_in(path) if url is None and detect and self.origins.detect else url


def _chosen(all_stated: Iterable[FoundUrl]) -> FoundUrl:
    notes: list[Note] = []
    for stated in all_stated:
        if stated.given:
            return stated
        url, why, remarks = found_url(stated.url or "", stated.source)
        if url:
            return stated._replace(url=url, notes=(*notes, *remarks, *stated.notes))
        notes.append(Note(Reason.MARK_REFUSED, "", None, f"{stated.source}: {why}"))
    return FoundUrl(notes=tuple(notes))


def own_url(data: bytes, kind: Kind) -> FoundUrl:
    """Return the address that a document calls its own."""
    return _chosen(paths.stated_in(data, kind, paths.OWN))


def site_url(data: bytes, kind: Kind) -> FoundUrl:
    """Return the address that a feed states for its site."""
    return _chosen(paths.stated_in(data, kind, paths.SITE))


def opened_base(call: Call, path: str, data: bytes) -> str:
    """What the references of a page resolve against when it is opened as `file:`."""
    steps = paths.quoted(windows.plain(path).replace(os.sep, "/"), "/:")
    is_on_server = windows.has_drives() and steps.startswith("//")
    opened = f"file:{steps}" if is_on_server else f"file:///{steps.removeprefix('/')}"
    if _may_have_base.search(data) is None:
        return opened
    as_file = call._replace(url=opened, redirects=(), origin=None)
    as_file = as_file.with_options(profile=BROWSERS, detect=False)
    return next(run.entities(as_file.opened(data))).base.url


def _stated_in(path: str) -> str | None:
    from relbase.savers.marks import read_marks

    try:
        with opened(Input(path)) as source:
            if url := _chosen(paths.beside(source)).url:
                return url
            pages = read_marks(paths.readable(next(source.pieces, b""))).pages
    except InputError:
        return None
    return pages[0].value if pages else None


def _with_dump(known: FoundUrl, dump: bytes, suffix: str) -> FoundUrl:
    """Add what a header dump states. The log of `wget -S` has the URL; `curl -D` does not."""
    from relbase.containers.http import parse_dump

    read = parse_dump(dump)
    url, source = known.url, known.source
    requested = _requested.search(dump)
    if url is None and requested is not None:
        url = found_url(requested[1].decode("utf-8", "surrogateescape"), "")[0] or None
        source = f"its side file {suffix}"
    return known._replace(url=url, source=source, redirects=read.redirects, fields=read.fields)
