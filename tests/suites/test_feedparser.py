"""feedparser's tests of bases: xml:base, Content-Location and the URL of the feed, layer by layer.

A feed's `Expect:` speaks of a value that feedparser made absolute. Here relbase makes it absolute,
and feedparser reads it from what was written, without knowing where it came from.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from counts import Counts

pytest.importorskip("feedparser", reason="feedparser: extra `ci`")
import feedparser
from feeds import SUFFIXES, compared

import relbase

URL: Final = "http://127.0.0.1:8097/wellformed/"

# Feeds that expect nothing of a base.
OTHER: Final = frozenset(
    {
        "http/headers_foo.xml",
        "http/headers_last_modified-modified.xml",
        "http/headers_last_modified-not-present.xml",
    }
)


class Feed(NamedTuple):
    """A feed, the headers it came with, and what is expected: keys of feedparser and a value."""

    name: str
    data: bytes
    headers: dict[str, str]
    keys: tuple[str, ...]
    value: str
    of_entry: bool


_header: Final = re.compile(r"^Header: +([\w-]+): *(.*?) *$", re.MULTILINE)
# What is expected of a base is a value in the dictionaries of feedparser, or an attribute of one.
_expect: Final = re.compile(
    r"""^Expect: +not bozo and (entries\[0\]|feed)((?:\['\w+'\]|\[0\])+|\.link) == (['"].*)$""",
    re.MULTILINE,
)


def feeds(data: Path) -> Iterator[Feed]:
    """Yield the feeds that expect something of a base."""
    root = data / "html/feedparser-base/wellformed"
    for path in sorted(root.rglob("*.xml")):
        name = str(path.relative_to(root))
        feed = path.read_bytes()
        comment = feed[: feed.index(b"-->")].decode()
        expected = _expect.search(comment)
        if expected is None:
            assert name in OTHER
            continue
        keys = tuple(re.findall(r"[a-z]\w*|\d+", expected[2]))
        value = ast.literal_eval(expected[3].strip())
        of_entry = expected[1] == "entries[0]"
        yield Feed(name, feed, dict(_header.findall(comment)), keys, value, of_entry)


def found(feed: Feed, outer: str, profile: relbase.Profile) -> object:
    """Return what feedparser reads in a feed as relbase wrote it, which came from nowhere."""
    result = relbase.rewrite(feed.data, url=outer, kind="xml", profile=profile)
    if feed.keys[-1] == "base":
        return base_of(feed, outer, profile)
    parsed = feedparser.parse(result.data, response_headers={"content-type": "application/xml"})
    value: object = parsed.entries[0] if feed.of_entry else parsed.feed
    if feed.keys == ("link",):
        return value.link  # type: ignore[attr-defined]
    for key in feed.keys:
        value = value[int(key) if key.isdigit() else key]  # type: ignore[index]
    return value


def base_of(feed: Feed, outer: str, profile: relbase.Profile) -> str:
    """Return the base of what a feed speaks of, as relbase tells it of a reference in its place."""
    name = feed.keys[0].removesuffix("_detail")
    tags = re.findall(rb"<(\w+)([^>]*)>", feed.data.partition(b"-->")[2])
    found = [tag for tag in tags if tag[0].decode() in ELEMENTS.get(name, (name,))]
    if not found:
        return ""
    tag, attributes = found[-1]
    link = b" xmlns:xlink='http://www.w3.org/1999/xlink' xlink:href='here'"
    marked = feed.data.replace(b"<%b%b>" % (tag, attributes), b"<%b%b%b>" % (tag, attributes, link))
    links = relbase.links(marked, url=outer, kind="xml", profile=profile)
    return next(link.base.url for link in links if link.reference == "here")


# The elements of RSS and Atom that feedparser knows by another name.
ELEMENTS: Final = {"content": ("content", "encoded"), "contributors": ("contributor",)}


def of_http(feed: Feed) -> str:
    """Return the outermost base of a feed that came over HTTP."""
    return relbase.base(b"", url=URL, headers=feed.headers, kind="xml").url


def of_mail(feed: Feed) -> str:
    """Return the outermost base of a feed that came as a MIME message."""
    header = "".join(f"{name}: {value}\n" for name, value in feed.headers.items())
    message = f"{header}Content-Type: text/xml\n\n".encode()
    return relbase.base(message, url=URL, kind="mail").url


@pytest.mark.parametrize("profile", relbase.Profile)
@pytest.mark.parametrize("outermost", [of_http, of_mail])
def test_bases(
    data: Path, counts: Counts, outermost: Callable[[Feed], str], profile: relbase.Profile
) -> None:
    rows = ((feed.name, found(feed, outermost(feed), profile), feed.value) for feed in feeds(data))
    counts.compare(
        "feedparser: bases",
        rows,
        least=61,
        note="3 profiles, over HTTP and in MIME",
        variant=f"{profile.value} {outermost.__name__}",
    )


# ---- The same links in a feed at home, and in what relbase wrote, anywhere

# Most feeds in which feedparser does otherwise, for a reason.
MOST_EXPLAINED: Final = 14


@pytest.mark.long
def test_links_are_the_same_anywhere(data: Path, counts: Counts) -> None:
    run = changed = explained = 0
    for path in sorted((data / "xml").rglob("*")):
        if not path.suffix or path.suffix not in SUFFIXES:
            continue
        found = compared(path.read_bytes())
        if found is not None:
            assert found.why is not None, (path, found.first)
            run += 1
            changed += found.changed
            explained += found.why != ""
    assert changed > 40
    assert explained <= MOST_EXPLAINED
    counts("feedparser: links anywhere", run, explained)
