"""URLs of files from their paths: `--root`, `--map`, `--mirror`, and HTTrack's list.

If a program renamed a file, this is undone only if the name can mean one thing. Entries of a list
for files outside its tree do not count.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from relbase.bases.layers import found_url
from relbase.cli import windows
from relbase.cli.directories import opened_below
from relbase.cli.files import ZONE, Input, OpenInput, entries
from relbase.expressions import expression
from relbase.kind import Kind
from relbase.notes import Note, Reason

_SAFE: Final = "/!$&'()*+,;=:@-._~"

INDEXES: Final = frozenset(("index.html", "index.htm", "index.xhtml", "index.shtml", "index.php"))
_SCHEMES: Final = frozenset(("http", "https", "ftp"))

# A name with a dot, an address, or localhost; wget writes ":port", on Windows "+port".
_host: Final = expression(
    r"((?:[A-Za-z0-9_-]+\.)+[A-Za-z0-9_-]+|localhost|\[[0-9A-Fa-f:.]+\])(?:[:+]([0-9]{1,5}))?"
)

# Names to which wget -E has added a suffix: "a.php.html", "style.css?v=1.css".
_added: Final = expression(r".*(?:\?.*|\.(?:php[0-9]?|aspx?|jsp|cgi|pl|cfm|do))\.(?:html|css)")

# Stricter than `_host`: people have directories such as `v1.2`, which are not hosts.
_domain: Final = expression(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?", re.IGNORECASE)
_COLUMNS: Final = 9  # date, sizes, flags, status, message, type, etag, URL, local file

# If HTTrack had to ask for the type of a file, it lists a temporary name. The final name lacks the
# counter and has the suffix of the type: x.7ed04.delayed becomes xed04.html.
_delayed: Final = expression(r"(.*)\.[0-9A-Fa-f]+([0-9A-Fa-f]{4})\.delayed", re.DOTALL)

# Anybody may have written the file beside a page; genuine ones are not longer than this.
_LIMIT: Final = 1 << 20
_zone: Final = expression(
    r"^[ \t]*\[ZoneTransfer\](?:(?!^[ \t]*\[).)*?^[ \t]*HostUrl[ \t]*=[ \t]*(\S+)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)

# How a page states its own address: the element, the attribute and its value, the attribute that
# has the URL, and the source for people.
_CANONICAL: Final = (
    (b"link", b"rel", b"canonical", b"href", "<link rel=canonical>"),
    (b"meta", b"property", b"og:url", b"content", "<meta property=og:url>"),
)


class FoundUrl(NamedTuple):
    url: str | None = None
    source: str = ""  # for people
    sure: bool = True  # otherwise its directory is right, but its end is a guess
    given: bool = False  # by the user
    redirects: tuple[str, ...] = ()  # these and the fields are from a side file
    fields: tuple[tuple[str, str], ...] = ()
    notes: tuple[Note, ...] = ()  # about what was refused or is doubtful


class Root(NamedTuple):
    directory: str
    url: str


def inside(path: str, directory: str) -> list[str] | None:
    """Return the steps from a directory to a path inside it; None if it is outside."""
    way = windows.relative(os.path.abspath(path), os.path.abspath(directory))
    steps = [] if way is None else way.split(os.sep)
    return None if way is None or steps[0] in {os.pardir, os.curdir} else steps


def quoted(path: str, safe: str = "/") -> str:
    from urllib.parse import quote

    return quote(os.fsencode(path), safe)


def readable(data: bytes) -> bytes:
    """Return a page with its markup in ASCII: only UTF-16 needs to be decoded."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data


def unquoted(path: str | bytes) -> str:
    from urllib.parse import unquote_to_bytes

    # A URL may have surrogates: of a byte that does not decode, or of JSON.
    encoded = path.encode("utf-8", "surrogatepass") if isinstance(path, str) else path
    return windows.decoded(unquote_to_bytes(encoded))


def _quoted(steps: list[str]) -> str:
    """The steps of a path as a URL's path; an index page becomes its directory."""
    *directories, name = steps
    return quoted("/".join((*directories, "" if name in INDEXES else name)), _SAFE)


def url_on_root(path: str, roots: tuple[Root, ...]) -> FoundUrl | None:
    # The last --root for a directory counts: reversed, since `min` takes the first of equals.
    around = ((inside(path, root.directory), root) for root in reversed(roots))
    held = ((steps, root) for steps, root in around if steps is not None)
    steps, root = min(held, key=lambda pair: len(pair[0]), default=([], None))
    if root is None:
        return None
    return FoundUrl(root.url + _quoted(steps), f"--root {root.directory}", given=True)


class Mirror(NamedTuple):
    directory: str  # that has a directory for each host
    scheme: str | None = None  # of the URLs, if the path does not state it
    adds: bool = False  # whether its program added suffixes to names


def original_name(path: str) -> str | None:
    folder, name = os.path.split(path)
    for suffix in ("", ".html", ".css"):
        before = name.removesuffix(suffix)
        original = os.path.join(folder, f"{before}.orig")
        if name.endswith(suffix) and os.path.isfile(original):
            return before
    return None


def url_in_mirror(path: str, mirror: Mirror) -> FoundUrl | None:
    steps = inside(path, mirror.directory)
    if steps is None:
        return None
    scheme = mirror.scheme
    if steps[0] in _SCHEMES and len(steps) > 1 and _host.fullmatch(steps[1]):
        scheme, *steps = steps
    host = _host.fullmatch(steps[0])
    if host is None or len(steps) == 1:
        return None
    option = f"--mirror {mirror.directory}"
    notes: list[Note] = []
    source = option
    if not scheme:
        text = f"{option}: its paths do not state the scheme: http is assumed; for https give"
        notes.append(Note(Reason.MARK_DOUBTFUL, "", None, f"{text} {option}=https"))
        source += ", its scheme is unknown: http is assumed"
    name, before = steps[-1], original_name(path)
    may_add = mirror.adds and name.endswith((".html", ".css"))
    sure = before is not None or name in INDEXES or not (may_add or _added.fullmatch(name))
    if not sure:
        text = "the end of its name may have been added by the program that saved it"
        source += f"{',' if scheme else ';'} {text}"
    file, mark, query = (before or name).partition("?")
    port = f":{host[2]}" if host[2] else ""
    url = f"{scheme or 'http'}://{host[1]}{port}/{_quoted([*steps[1:-1], file])}"
    if mark:
        url = f"{url}?{quoted(query, _SAFE + '?')}"
    return FoundUrl(url, source, sure, notes=tuple(notes))


def mirror_in(tree: str) -> str | None:
    """Return the directory that looks like a mirror: its directories of hosts have index pages."""
    inside = os.path.dirname(os.path.abspath(tree))
    hosts: list[str] = []
    with suppress(OSError):  # a directory that can be entered but not read
        hosts = [os.path.join(tree, name) for name in sorted(os.listdir(tree))]
    for directory, host in [(inside, os.path.abspath(tree)), *((tree, host) for host in hosts)]:
        indexes = (os.path.join(host, name) for name in INDEXES)
        if _domain.fullmatch(os.path.basename(host)) and any(map(os.path.isfile, indexes)):
            return directory
    return None


def adds(directory: str) -> bool:
    return any(_added.fullmatch(name) for _, _, names in os.walk(directory) for name in names)


def listed_in(tree: str) -> dict[str, str] | None:
    """Return the URLs of the files that HTTrack lists for a tree; None without a list."""
    data = side_file(Input(os.path.join(tree, "hts-cache", "new.txt")), "new.txt")
    if data is None:
        return None
    urls: dict[str, str] = {}
    delayed: list[tuple[str, str]] = []
    for line in data.splitlines():
        columns = line.split(b"\t")
        if len(columns) < _COLUMNS:
            continue
        url, _, _ = found_url(columns[7].decode("utf-8", "surrogateescape"), "new.txt")
        if not url:
            continue
        # The list may percent-encode names that are plain on the disk.
        names = [windows.decoded(columns[8]), unquoted(columns[8])]
        if path := next(filter(None, (_path_in(tree, name) for name in names)), None):
            urls[path] = url
        else:
            delayed.append((names[1], url))
    for name, url in delayed:
        if path := _named_later(name, tree, urls):
            urls[path] = url
    return urls


def _path_in(
    tree: str, listed: str, is_there: Callable[[str], bool] = os.path.isfile
) -> str | None:
    """The file that a list names, by the longest end of its path that exists in the tree."""
    if "\0" in listed:
        return None
    steps = [step for step in listed.split("/") if step not in {"", os.curdir, os.pardir}]
    paths = (os.path.join(tree, *steps[first:]) for first in range(len(steps)))
    return next((os.path.abspath(path) for path in paths if is_there(path)), None)


def _named_later(listed: str, tree: str, urls: dict[str, str]) -> str | None:
    """The only file without a URL that a delayed name can have become, or None."""
    folder, _, name = listed.rpartition("/")
    parts = _delayed.fullmatch(name)
    directory = _path_in(tree, folder, os.path.isdir)
    if parts is None or directory is None:
        return None
    stem, there = parts[1] + parts[2], entries(directory)
    later = (entry.path for entry in there if os.path.splitext(entry.name)[0] == stem)
    fitting = [path for path in later if path not in urls and os.path.isfile(path)]
    return fitting[0] if len(fitting) == 1 else None


def beside(source: OpenInput) -> Iterator[FoundUrl]:
    """Yield the URLs that are stated beside an input, strongest first."""
    if source.status is None:
        return
    for name, read in _ATTRIBUTES:
        value = b""
        with suppress(OSError, AttributeError):  # Windows has none
            value = os.getxattr(source.file.fileno(), name)
        if 0 < len(value) <= _LIMIT and (url := read(value)):
            yield FoundUrl(url, f"the attribute {name}")
    own = os.path.basename(source.name)
    for pattern, read, shown in _FILES:
        content = side_file(source.input, pattern.format(own))
        if content is not None and (url := read(content)):
            yield FoundUrl(url, shown)


def side_file(source: Input, name: str) -> bytes | None:
    directory = os.path.dirname(source.name)
    if not (windows.HERE or os.path.lexists(os.path.join(directory, name))):
        return None  # as most of them; streams of Windows only show when they are opened
    root, steps = (source.root, source.parts[:-1]) if source.root else (directory, [])
    with suppress(OSError), opened_below(root, steps) as parent, parent.open_old(name) as file:
        data = file.read(_LIMIT + 1)
        return data if len(data) <= _LIMIT else None
    return None


def _plain(value: bytes) -> str:
    """Wget and curl --xattr: the URL itself."""
    return value.rstrip(b"\0").decode("utf-8", "surrogateescape").strip()


def _where_froms(value: bytes) -> str:
    """macOS: a property list, an array whose first item is the URL of the file."""
    import plistlib  # start-up time: it brings a parser of XML

    try:
        items = plistlib.loads(value)
    except Exception:  # noqa: BLE001 (it may be anything; what plistlib raises is not documented)
        return ""
    is_list = isinstance(items, list) and items and isinstance(items[0], str)
    return items[0] if is_list else ""


def _host_url(value: bytes) -> str:
    """Windows: `[ZoneTransfer]` and `HostUrl=` of the stream or file Zone.Identifier."""
    utf_16 = value.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = value.decode("utf-16" if utf_16 else "utf-8-sig", "replace").replace("\r", "\n")
    match = _zone.search(text)
    return "" if match is None or match[1].lower().startswith("about:") else match[1]


def _archive_box(value: bytes) -> str:
    """ArchiveBox: the key `url` of a snapshot's index.json, which has a `timestamp`, too."""
    import json

    try:
        index = json.loads(value)
    except (ValueError, RecursionError):
        return ""
    url = index.get("url") if isinstance(index, dict) and "timestamp" in index else None
    return url if isinstance(url, str) else ""


_ATTRIBUTES: Final[tuple[tuple[str, Callable[[bytes], str]], ...]] = (
    ("user.xdg.origin.url", _plain),
    ("user.com.apple.metadata:kMDItemWhereFroms", _where_froms),
    ("com.apple.metadata:kMDItemWhereFroms", _where_froms),
    ("user.Zone.Identifier", _host_url),
)
_FILES: Final[tuple[tuple[str, Callable[[bytes], str], str], ...]] = (
    (f"{{}}{ZONE}", _host_url, "Zone.Identifier"),
    ("index.json", _archive_box, "index.json of ArchiveBox"),
)


def stated_in(data: bytes, kind: Kind, rows: Rows) -> Iterable[FoundUrl]:
    """Yield the URLs that a document states, as the row of its kind finds them."""
    return rows[kind](data) if kind in rows else ()


def _of_feed(data: bytes, *, is_own: bool = True) -> Iterator[FoundUrl]:
    from relbase.xml.bases import url_of  # their regexes: start-up time
    from relbase.xml.item_link import feed_link

    if link := feed_link(data, is_own=is_own):
        yield FoundUrl(url_of(data, link), f"the feed's link{' rel=self' if is_own else ''}")


def _of_json_feed(data: bytes, name: str = "feed_url") -> Iterator[FoundUrl]:
    from relbase.xml.json_feed import stated_url

    if stated := stated_url(data, name.encode()):
        yield FoundUrl(stated, name)


def _of_page(data: bytes) -> Iterator[FoundUrl]:
    from relbase.html.tags import attribute_text, attributes, head_tokens
    from relbase.values.syntaxes import clean

    tokens = list(head_tokens(data))
    for element, tells, value, url, source in _CANONICAL:
        for token in tokens:
            if token.name != element:
                continue
            read = attributes(data, token.start, token.end, frozenset((tells, url)))
            if tells in read and url in read:
                says = data[read[tells].start : read[tells].end]
                if says.strip().lower() == value:
                    yield FoundUrl(clean(attribute_text(data, read[url], "utf-8")), source)
                    return


Rows: TypeAlias = dict[Kind, Callable[[bytes], Iterable[FoundUrl]]]

# The address that a page or a feed calls its own; several may state the same.
OWN: Final[Rows] = {
    Kind.XML: _of_feed,
    Kind.JSON: _of_json_feed,
    Kind.HTML: _of_page,
}

# The URL that a feed states for its site.
SITE: Final[Rows] = {
    Kind.XML: partial(_of_feed, is_own=False),
    Kind.JSON: partial(_of_json_feed, name="home_page_url"),
}
