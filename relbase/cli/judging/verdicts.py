"""Verdicts on links: what a link leads to, whether a page has the id, and what is known of a run.

URLs and ids are kept in a temporary database, so memory stays bounded however many there are.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from typing import Final, NamedTuple, TypeAlias

from relbase.bases.layers import Layer
from relbase.cli.origins.paths import INDEXES, readable, unquoted
from relbase.cli.streams import Tally, Verbosity, counted, warn
from relbase.expressions import expression
from relbase.formats.rows import FORMATS
from relbase.html.tags import attributes
from relbase.html.tokens import Element, elements
from relbase.kind import Kind
from relbase.url import rfc3986
from relbase.view.charrefs import attribute_view

INSIDE: Final = "inside"  # leads to a file, part or record that is there
MISSING: Final = "missing"  # belongs to the site, message or archive, and is not there
FRAGMENT_MISSING: Final = "fragment-missing"  # the page is there, the id is not
_VERDICTS: Final = (INSIDE, MISSING, FRAGMENT_MISSING, "outside", "unknown")


class Judgement(NamedTuple):
    verdict: str
    target: str = ""  # the file, part or record; of a missing file where it would be


OUTSIDE: Final = Judgement("outside")
UNKNOWN: Final = Judgement("unknown")  # relative, and no base is known
# The ids of a page, None if it is neither HTML nor SVG, and whether these are all. The argument
# says whether all of them are needed.
Ids: TypeAlias = "tuple[frozenset[str] | None, bool]"
ReadIds: TypeAlias = Callable[[bool], Ids]


class Address(NamedTuple):
    """What of a URL of the web tells one page from another; http and https count as the same."""

    host: str
    path: str  # percent-decoded
    query: str | None


_WEB: Final = {"http": ":80", "https": ":443", "ftp": ":21"}


def address_of(url: str) -> Address | None:
    """Return the address of a URL, or None if it is not one of the web."""
    scheme, authority, path, query, _ = rfc3986.split(url)
    port = _WEB.get((scheme or "").lower())
    if port is None or not authority:
        return None
    host = authority.rpartition("@")[2].lower().removesuffix(port)
    path = rfc3986.remove_dot_segments(path) if "/." in path else path
    return Address(host, unquoted(path) if "%" in path else path, query)


def key_of(address: Address, query: str | None) -> bytes:
    """Of a directory and of its index page it is the same."""
    folder, _, name = address.path.rpartition("/")
    path = folder if name in INDEXES else address.path.rstrip("/")
    return f"{address.host}{path}{'' if query is None else f'?{query}'}".encode(*_ANY)


_ANY: Final = ("utf-8", "surrogatepass")


def is_of_web(url: str) -> bool:
    """Return whether a URL or reference may lead to a page; others (mailto:, data:) are outside."""
    scheme = rfc3986.split(url)[0]
    return scheme is None or scheme.lower() in {*_WEB, "file"}


def is_own(reference: str, layer: str) -> bool:
    """Return whether a reference leads to its own page, as far as no `<base>` is around it."""
    return reference[:1] in {"", "#"} and layer != Layer.EMBEDDED.value


PageIds: TypeAlias = "tuple[array[int] | None, bool]"  # sorted hashes, and whether these are all


class Known:
    """The places that have URLs, and the ids of pages."""

    def __init__(self) -> None:
        import sqlite3

        # In memory up to the size of its cache, then in a file that has no name.
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript(_TABLES)
        self._recent: dict[int, PageIds] = {}
        self._size, self._is_full = 0, False
        self._has_places = False

    def add(self, url: str, place: str) -> None:
        if (address := address_of(url)) is not None:
            self._has_places = True
            rows = (key_of(address, address.query), place), (f"//{address.host}".encode(*_ANY), "")
            encoded = ((key, place.encode(*_ANY)) for key, place in rows)
            self._db.executemany("INSERT OR IGNORE INTO places VALUES (?, ?)", encoded)

    def find(self, address: Address, *, exact: bool = False) -> str:
        """Return the place that has an address, if need be without its query; "" for none."""
        if not self._has_places:
            return ""
        for query in (address.query,) if exact else dict.fromkeys((address.query, None)):
            if place := self._place(key_of(address, query)):
                return place
        return ""

    def has_host(self, host: str) -> bool:
        return self._place(f"//{host}".encode(*_ANY)) is not None

    def _place(self, key: bytes) -> str | None:
        row = self._db.execute("SELECT place FROM places WHERE url = ?", (key,)).fetchone()
        return None if row is None else str(row[0].decode(*_ANY))

    def has_id(self, page: Hashable, name: str, read: ReadIds) -> bool:
        """Return whether a page has an id, or is of a kind whose ids are not judged."""
        key = hash(page)
        ids, is_whole = self._recent.get(key) or self._ids(key, read, is_whole=False)
        if not (is_whole or _has(ids, name)):
            ids, _ = self._ids(key, read, is_whole=True)
        return _has(ids, name)

    def _ids(self, key: int, read: ReadIds, *, is_whole: bool) -> PageIds:
        query = "SELECT hashes, whole FROM ids WHERE page = ? AND whole >= ?"
        row = self._db.execute(query, (key, is_whole)).fetchone() if self._is_full else None
        if row is None:
            names, is_whole = read(is_whole)
            ids = None if names is None else array("q", sorted(map(hash, names)))
        else:
            ids, is_whole = None if row[0] is None else array("q", row[0]), bool(row[1])
        return self._keep(key, ids, is_whole)

    def join(self, page: Hashable, names: frozenset[str]) -> None:
        """Add all ids of another capture of a page."""
        key = hash(page)
        before, _ = self._recent.get(key) or self._ids(key, _no_ids, is_whole=True)
        self._keep(key, array("q", sorted({*(before or ()), *map(hash, names)})), True)

    def _keep(self, key: int, ids: array[int] | None, is_whole: bool) -> PageIds:  # noqa: FBT001
        self._size += _ENTRY + (0 if ids is None else len(ids) * ids.itemsize)
        if self._size > _AT_HAND:
            rows = (
                (key, None if ids is None else ids.tobytes(), whole)
                for key, (ids, whole) in self._recent.items()
            )
            self._db.executemany("REPLACE INTO ids VALUES (?, ?, ?)", rows)
            self._recent.clear()
            self._size, self._is_full = 0, True
        self._recent[key] = ids, is_whole
        return ids, is_whole


_AT_HAND: Final = 8 << 20  # bytes of ids, with what an entry of the dict takes
_ENTRY: Final = 250


def _no_ids(_: bool) -> Ids:  # noqa: FBT001 (as `ReadIds`)
    return frozenset(), True


def _has(ids: array[int] | None, name: str) -> bool:
    if ids is None:
        return True
    at = bisect_left(ids, hash(name))
    return at < len(ids) and ids[at] == hash(name)


_TABLES: Final = """\
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -8000;
CREATE TABLE places (url BLOB PRIMARY KEY, place BLOB) WITHOUT ROWID;
CREATE TABLE ids (page INTEGER PRIMARY KEY, hashes BLOB, whole INTEGER);
BEGIN
"""


def inside(known: Known, page: Hashable, target: str, fragment: str, read: ReadIds) -> Judgement:
    """Judge a link to a page that is there: a browser finds its fragment (HTML §7.4.6.4)."""
    name = fragment.partition(":~:")[0] if fragment else ""
    if not name or name.lower() == "top":
        return Judgement(INSIDE, target)
    is_there = known.has_id(page, name, read) or (
        "%" in name and known.has_id(page, unquoted(name), read)
    )
    return Judgement(INSIDE if is_there else FRAGMENT_MISSING, target)


# Most ids are found by these; a page with more that may be one is read by the tokenizer. Each
# match ends at the end of the page if what it looks for does not follow: time is linear.
_unread: Final = expression(
    rb"<!--(?:[^-]++|-(?!->))*+(?:-->|\Z)"
    rb"|<(script|style|template|textarea|title|noscript|xmp)\b(?:[^<]++|<(?!/\1))*+(?:</\1|\Z)",
    re.IGNORECASE,
)
_named: Final = expression(rb"id=(?<=[\s\"']id=)([\"']?)([^\s\"'>&<]++)\1(?=[\s/>])[^<>]{0,1000}+>")
_may_name: Final = expression(rb"(?<![\w-])(?:id|name)\s*+=", re.IGNORECASE)
_NAMES: Final = frozenset((b"id", b"xml:id", b"name"))
_svg: Final = expression(rb"(?:\xef\xbb\xbf)?\s*+<(?=.{0,4096}svg\b)(?:[?!]|svg\b)", re.DOTALL)


def ids_of(data: bytes, kind: Kind, is_whole: bool) -> Ids:  # noqa: FBT001 (as `ReadIds`)
    """Return the ids of a page, and the names of its anchors."""
    if FORMATS[kind].marks is None and not _svg.match(data):
        return None, True
    data = readable(data)
    names = _named.findall(_unread.sub(b"", data))
    if is_whole and len(names) < len(_may_name.findall(data)):
        return frozenset(_ids(data)), True
    return frozenset(name.decode("utf-8", "replace") for _, name in names), is_whole


def _ids(data: bytes) -> Iterator[str]:
    for tag in elements(data, 0, len(data)):
        if not isinstance(tag, Element) or tag.hidden:
            continue
        for attribute in attributes(data, tag.attributes, tag.end, _NAMES).values():
            if attribute.name == b"name" and tag.name != b"a":
                continue
            raw = data[attribute.start : attribute.end]
            if b"&" in raw:
                raw = attribute_view(raw, attribute.quote or b"", "utf-8").inner
            yield raw.decode("utf-8", "replace")


_BROKEN: Final = frozenset((MISSING, FRAGMENT_MISSING))


class Tallied:
    """Counts verdicts, and says how many there are: by file, and in all."""

    def __init__(self, tally: Tally, verbosity: Verbosity, *, only_broken: bool) -> None:
        self._tally, self._verbosity, self._only_broken = tally, verbosity, only_broken
        self._of_file: Counter[str] = Counter()

    def is_listed(self, judgement: Judgement) -> bool:
        """Count a link, and return whether to list it."""
        self._of_file[judgement.verdict] += 1
        return not self._only_broken or judgement.verdict in _BROKEN

    def end_file(self, shown: str) -> None:
        counts, self._of_file = self._of_file, Counter()
        self._tally.verdicts.update(counts)
        broken = counts[MISSING] + counts[FRAGMENT_MISSING]
        self._tally.findings += broken if self._only_broken else 0
        if broken or self._verbosity is Verbosity.ALL:
            self._say(shown, counts)

    def close(self, inputs: int) -> None:
        self._say(counted(inputs, "input"), self._tally.verdicts)

    def _say(self, what: str, counts: Counter[str]) -> None:
        if self._verbosity is not Verbosity.NONE:
            listed = (f"{counts[verdict]} {verdict}" for verdict in _VERDICTS if counts[verdict])
            parts = (counted(counts.total(), "link"), ", ".join(listed))
            warn(f"{what}: {': '.join(filter(None, parts))}")
