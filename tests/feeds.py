"""Feeds that relbase rewrites, as feedparser reads them.

`python tests/feeds.py DIRECTORY...`: each link that feedparser reads in a feed at its URL must be
what it reads in what relbase wrote, without a URL. A difference that none of `EXPLAINED` makes
equal is printed, and the exit status is 1.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import urljoin

import feedparser

import relbase

URL: Final = "http://h.example/d/e/feed.xml"
SUFFIXES: Final = frozenset(("", ".xml", ".rss", ".atom", ".rdf"))
# feedparser takes its time: of large feeds those are read twice in which something was relative.
LARGE: Final = 1 << 16

Read: TypeAlias = "tuple[str, str]"


def read(data: bytes, location: str | None) -> list[Read]:
    """The links of a feed as feedparser reads them: of the feed, its entries, and their HTML."""
    headers = {"content-type": "application/xml"}
    if location is not None:
        headers["content-location"] = location
    feed = feedparser.parse(data, response_headers=headers, sanitize_html=False)
    found = list(_of(feed.feed))
    for entry in feed.entries:
        found += _of(entry)
    return found


def _of(entry: Any) -> Iterator[Read]:
    for key in ("link", "comments", "docs", "wfw_commentrss", "icon", "logo"):
        if entry.get(key):
            is_link = key != "link" or any(
                link.get("href") == entry[key] for link in entry.get("links", ())
            )
            yield key if is_link else ID, entry[key]
    for key in ("links", "enclosures"):
        yield from ((key, link.get("href") or "") for link in entry.get(key, ()))
    for key in ("title_detail", "summary_detail", "subtitle_detail", "rights_detail"):
        if entry.get(key):
            yield key, entry[key].get("value") or ""
    content = entry.get("content")
    if isinstance(content, list):
        yield from (("content", each.get("value") or "") for each in content)
    for key in ("author_detail", "image"):
        if entry.get(key):
            yield key, entry[key].get("href") or ""


ID: Final = "id"


def _without(pattern: str, by: str = "") -> Callable[[str, str], str]:
    written = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    return lambda _, value: written.sub(by, value)


def _resolved(*keys: str) -> Callable[[str, str], str]:
    return lambda key, value: urljoin(URL, value) if key in keys else value


# What feedparser does otherwise, and what makes equal what differs in nothing else.
EXPLAINED: Final[dict[str, Callable[[str, str], str]]] = {
    "feedparser takes an id for a link where there is none; it is a name (rule 20)": _resolved(ID),
    "feedparser does not resolve enclosures of RSS": _resolved("links", "enclosures"),
    "feedparser drops an empty query or fragment, which has a delimiter (rule 7)": _without(
        r"[?#](?=[#\"'<]|\Z)"
    ),
    "feedparser resolves an empty `src`, and `http:` without a host (rule 6)": _without(
        rf"(?<=[\"'])(?:(?:{re.escape(URL)}|http://)(?=[\"'])|http:/+(?:h\.example/)?(?=\?))"
    ),
    "feedparser takes `mailto:` in character references for a path": _without(
        rf"{re.escape(urljoin(URL, '.'))}(?=&#)"
    ),
    "feedparser does not resolve `srcset`, `use` and `image`": _without(
        r"\bsrcset=([\"']).*?\1|<(?:use|image)\b[^<>]*>"
    ),
    "feedparser resolves nothing from a tag on whose quotes do not match": _without(
        r"<[^<>]*=\"[^\"<>]*\"[^\s\"<>/][^<>]*>.*\Z"
    ),
    "feedparser does not read conditional comments": _without("<!--.*?-->"),
    "feedparser reads tags in raw text, which it unescapes, and `<script/>` as closed": _without(
        r"<(style|script|xmp|textarea)\b.*?(?:</\1\b|\Z)"
    ),
    "feedparser escapes `&quot` otherwise when it resolves": lambda _, value: unescape(
        unescape(value)
    ),
    "feedparser makes several slashes in a path one": _without("//+", "/"),
    "feedparser drops white space in an absolute URL, which stays (rule 6)": _without(r"\s"),
}


class Compared(NamedTuple):
    """What became of a feed: why it differs, "" for no difference, None for no explanation."""

    why: str | None
    changed: bool
    first: tuple[Read, Read] | None = None


def compared(document: bytes) -> Compared | None:
    """Compare the two readings of a feed; None where feedparser reads no links."""
    at_home = read(document, URL)
    if not at_home:
        return None
    result = relbase.rewrite(document, url=URL, kind="xml", profile="rfc3986")
    if not result.changed and len(document) > LARGE:
        return Compared("", changed=False)
    elsewhere = read(result.data, None)
    pairs = list(zip(at_home, elsewhere, strict=True))
    differ = [pair for pair in pairs if pair[0] != pair[1]]
    whys = Counter(_why(*pair) for pair in differ)
    unexplained = next((pair for pair in differ if _why(*pair) is None), None)
    why = None if unexplained else "; ".join(filter(None, whys))
    return Compared(why, result.changed, unexplained)


def _why(at_home: Read, elsewhere: Read) -> str | None:
    key, (one, other) = at_home[0], (at_home[1], elsewhere[1])
    for why, alike in EXPLAINED.items():
        if alike(key, one) == alike(key, other):
            return why
    for alike in EXPLAINED.values():
        one, other = alike(key, one), alike(key, other)
    return "several of these" if one == other else None


def main(directories: list[str]) -> int:
    whys: Counter[str] = Counter()
    unexplained = 0
    for path in sorted(path for one in directories for path in Path(one).rglob("*")):
        if not path.is_file() or path.suffix not in SUFFIXES:
            continue
        found = compared(path.read_bytes())
        if found is not None and found.why is None:
            unexplained += 1
            print(f"{path}: {found.first}")
        elif found is not None:
            whys[found.why or "as at home"] += 1
    for why, count in whys.most_common():
        print(f"{count:5} {why}")
    print(f"{unexplained:5} UNEXPLAINED" if unexplained else "no difference is unexplained")
    return int(unexplained > 0 or not whys)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
