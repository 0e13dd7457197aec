"""feedparser's tests of bases: xml:base, Content-Location and the URL of the feed, layer by layer.

A feed's `Expect:` speaks of a value that feedparser made absolute. Here relbase makes it absolute,
and feedparser reads it from what was written, without knowing where it came from.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import feedparser
import pytest
from counts import Counts
from feeds import SUFFIXES, compared
from tables import assert_known

import relbase

URL: Final = "http://127.0.0.1:8097/wellformed/"

_HTTP: Final = "Content-Location is not a base in HTTP (rule 3, RFC 9110 §8.7)"
_SLASHES: Final = "an empty net_loc is kept: only browsers skip further slashes"
_HOST: Final = "the URL Standard writes a host in ASCII (§3.3)"
_BASE64: Final = "Atom 0.3 in mode base64 is not text that anybody links in (rule 20 has none)"
_ID: Final = "an id is a name and stays, or every entry would be new (rule 20)"
_CDF: Final = "the Channel Definition Format is not a vocabulary of relbase's"
_NO_NAMESPACE: Final = "XHTML in no namespace is not XHTML (rule 20)"

_EVERYWHERE: Final = {
    "base/cdf_item_abstract_xml_base.xml": _CDF,
    "base/http_entry_content_base64_base_docuri.xml": _BASE64,
    "base/http_entry_id_base_docuri.xml": _ID,
    "base/http_entry_summary_base64_base_docuri.xml": _BASE64,
    "base/http_entry_title_base64_base_content_location.xml": _BASE64,
    "base/http_feed_copyright_base64_base_docuri.xml": _BASE64,
    "base/http_feed_id_base_docuri.xml": _ID,
    "base/http_feed_info_base64_base_content_location.xml": _BASE64,
    "base/http_feed_tagline_base64_base_content_location.xml": _BASE64,
    "base/http_feed_title_base64_base_docuri.xml": _BASE64,
    "base/http_item_body_base_content_location.xml": _NO_NAMESPACE,
}
# By profile: the feeds of which feedparser expects something else.
DIFFER: Final[dict[str, dict[str, str]]] = {
    "rfc1808": {**_EVERYWHERE, "base/malformed_base.xml": _SLASHES},
    "rfc3986": {**_EVERYWHERE, "base/malformed_base.xml": _SLASHES},
    "whatwg": {**_EVERYWHERE, "base/feed_link_xml_base_iri.xml": _HOST},
}
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
    expected = dict(DIFFER[profile.value])
    differ, run = {}, 0
    for feed in feeds(data):
        run += 1
        if outermost is of_http and "Content-Location" in feed.headers:
            expected[feed.name] = _HTTP
        if (got := found(feed, outermost(feed), profile)) != feed.value:
            differ[feed.name] = (got, feed.value)
    assert_known(differ, expected)
    assert run > 60
    counts("feedparser: bases", run, len(expected), "3 profiles, over HTTP and in MIME")


# ---- The same links in a feed at home, and in what relbase wrote, anywhere

# Most feeds in which feedparser does otherwise, for a reason.
MOST_EXPLAINED: Final = 14


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
