"""feedparser reads the same links in a feed at home, and in what relbase wrote, anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import feedparser

import relbase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from counts import Counts

URL: Final = "http://h.example/d/e/feed.xml"
SUFFIXES: Final = frozenset((".xml", ".rss", ".atom", ".rdf"))

_ID: Final = "feedparser takes an id for a link where there is none; it is a name (rule 20)"
_ENCLOSURE: Final = "feedparser does not resolve enclosures of RSS"
_WHITE_SPACE: Final = "an absolute reference is not touched, white space in it neither (rule 6)"
_EMPTY_FRAGMENT: Final = "`#` keeps its delimiter (rule 7)"
_ESCAPES: Final = "feedparser escapes `&quot` otherwise when it resolves: the same URL"

# feedparser takes its time: of large feeds those are read twice in which something was relative.
LARGE: Final = 1 << 16

KNOWN: Final = {
    "NetNewsWire/Modules/RSParser/Tests/RSParserTests/Resources/dcrainmaker.xml": _EMPTY_FRAGMENT,
    "epubcheck/src/main/assembly/dist.xml": _ID,
    "feedjira/spec/sample_feeds/DuplicateContentAtomFeed.xml": _ESCAPES,
    "rome/rome/src/test/data/atom_0.3.xml": _ID,
    "rome/rome/src/test/data/rss_0.92.xml": _ENCLOSURE,
    "rome/rome/src/test/data/rss_0.93.xml": _ENCLOSURE,
    "rome/rome/src/test/resources/atom_0.3_DC_Sy.xml": _ID,
    "rome/rome/src/test/resources/atom_1.0_prefix.xml": _ID,
    "rome/rome/src/test/resources/issue137-rss.xml": _WHITE_SPACE,
    "rome/rome/src/test/resources/rss_0.92.xml": _ENCLOSURE,
    "rome/rome/src/test/resources/rss_0.93.xml": _ENCLOSURE,
    "rome/rome/src/test/resources/rss_2.0.xml": _ENCLOSURE,
}


def links(data: bytes, location: str | None) -> list[tuple[str, object]]:
    """The links of a feed as feedparser reads them: of the feed, its entries, and their HTML."""
    headers = {"content-type": "application/xml"}
    if location is not None:
        headers["content-location"] = location
    feed = feedparser.parse(data, response_headers=headers)
    found = list(_of(feed.feed))
    for entry in feed.entries:
        found += _of(entry)
    return found


def _of(entry: Any) -> Iterator[tuple[str, object]]:
    for key in ("link", "comments", "docs", "wfw_commentrss", "icon", "logo"):
        if entry.get(key):
            yield key, entry[key]
    for key in ("links", "enclosures"):
        yield from ((key, link.get("href")) for link in entry.get(key, ()))
    for key in ("title_detail", "summary_detail", "subtitle_detail", "rights_detail"):
        if entry.get(key):
            yield key, entry[key].get("value")
    content = entry.get("content")
    if isinstance(content, list):
        yield from (("content", each.get("value")) for each in content)
    for key in ("author_detail", "image"):
        if entry.get(key):
            yield key, entry[key].get("href")


def test_links_are_the_same_anywhere(data: Path, counts: Counts) -> None:
    root = data / "xml"
    differ: dict[str, tuple[object, object]] = {}
    run = changed = 0
    for path in sorted(root.rglob("*")):
        if path.suffix not in SUFFIXES:
            continue
        document = path.read_bytes()
        at_home = links(document, URL)
        if not at_home:
            continue
        run += 1
        result = relbase.rewrite(document, url=URL, kind="xml", profile="rfc3986")
        changed += result.changed
        if not result.changed and len(document) > LARGE:
            continue
        elsewhere = links(result.data, None)
        if at_home != elsewhere:
            pairs = zip(at_home, elsewhere, strict=True)
            differ[str(path.relative_to(root))] = next(pair for pair in pairs if pair[0] != pair[1])
    assert {name: pair for name, pair in differ.items() if name not in KNOWN} == {}
    assert KNOWN.keys() - differ.keys() == set(), "these pass: take them off the list"
    assert changed > 40
    counts("feedparser: links anywhere", run, len(KNOWN))
