"""feedparser's tests of bases: xml:base, Content-Location and the URL of the feed, layer by layer.

relbase passes feeds through until it reads XML. So a reader in this test finds the element that a
feed's `Expect:` speaks of and the layers around it; each layer is established by `relbase.base`
with a `<base>` in the place of an xml:base, links are resolved by `relbase.resolve`, and HTML in a
feed goes through `relbase.rewrite` on the base of its element.
"""

from __future__ import annotations

import ast
import base64
import html
import re
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest
from lxml import etree

import relbase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from counts import Counts

URL: Final = "http://127.0.0.1:8097/wellformed/"

_HTTP: Final = "Content-Location is no base in HTTP (design rule 3, RFC 9110 §8.7)"
_SLASHES: Final = "an empty net_loc is kept: only browsers skip further slashes"
_IDNA: Final = "the URL Standard writes hosts in ASCII"

# By profile: the feeds of which feedparser expects something else.
DIFFER: Final[dict[str, dict[str, str]]] = {
    "rfc1808": {"base/malformed_base.xml": _SLASHES},
    "rfc3986": {"base/malformed_base.xml": _SLASHES},
    "whatwg": {"base/feed_link_xml_base_iri.xml": _IDNA},
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
    """A feed, the headings it came with, and what is expected: keys of feedparser and a value."""

    name: str
    data: bytes
    headers: dict[str, str]
    keys: tuple[str, ...]
    value: str


_header: Final = re.compile(r"^Header: +([\w-]+): *(.*?) *$", re.MULTILINE)
# What is expected of a base is a value in the dictionaries of feedparser, or an attribute of one.
_expect: Final = re.compile(
    r"""^Expect: +not bozo and (?:entries\[0\]|feed)((?:\['\w+'\]|\[0\])+|\.link) == (['"].*)$""",
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
        keys = tuple(re.findall(r"[a-z]\w*", expected[1]))
        value = ast.literal_eval(expected[2].strip())
        yield Feed(name, feed, dict(_header.findall(comment)), keys, value)


# The elements of RSS, Atom and CDF that feedparser knows by another name.
ELEMENTS: Final = {
    "content": ("content", "body", "fullitem", "encoded"),
    "summary": ("summary", "abstract"),
    "links": ("link",),
    "contributors": ("contributor",),
    "wfw_comment": ("comment",),
    "wfw_commentrss": ("commentrss",),
}


def element_of(feed: Feed) -> etree._Element:
    """Return the last element of the name that a feed's expectation begins with."""
    name = feed.keys[0].removesuffix("_detail")
    names = ELEMENTS.get(name, (name,))
    found = [
        element
        for element in etree.fromstring(feed.data).iter(etree.Element)
        if etree.QName(element).localname.lower() in names
    ]
    return found[-1]


def base_of(element: etree._Element, outer: str, profile: relbase.Profile) -> str:
    """Return the base of an element: the chain of xml:base, or of BASE in CDF, on `outer`."""
    for ancestor in (*reversed(list(element.iterancestors())), element):
        stated = ancestor.get("{http://www.w3.org/XML/1998/namespace}base", ancestor.get("BASE"))
        if stated is not None:
            document = f'<base href="{html.escape(stated)}">'.encode()
            outer = relbase.base(
                document, url=outer, kind="html", charset="utf-8", profile=profile
            ).url
    return outer


def found(feed: Feed, outer: str, profile: relbase.Profile) -> str:
    """Return what relbase makes of what a feed's expectation names."""
    element = element_of(feed)
    base = base_of(element, outer, profile)
    if feed.keys[-1] == "base":
        return base
    if feed.keys[-1] in {"url", "href"} or feed.keys == ("link",):
        stated = element.get("href", element.get("url"))
        inner = element.find("{*}url")
        text = inner.text if inner is not None else element.text
        return relbase.resolve(base, (text if stated is None else stated).strip(), profile)
    markup = markup_of(element)
    if not markup.startswith(b"<"):
        return relbase.resolve(base, markup.decode(), profile)
    return relbase.rewrite(markup, url=base, kind="html", profile=profile).data.decode()


def markup_of(element: etree._Element) -> bytes:
    """Return the HTML in an element, which is written in one of three modes."""
    if len(element):
        return re.sub(rb' xmlns="[^"]*"', b"", etree.tostring(element[0], with_tail=False))
    if element.get("mode") == "base64":
        return base64.b64decode(element.text)
    return bytes(element.text.strip().encode())


def of_http(feed: Feed) -> str:
    """Return the outermost base of a feed that came over HTTP."""
    return relbase.base(feed.data, url=URL, headers=feed.headers, kind="xml").url


def of_mail(feed: Feed) -> str:
    """Return the outermost base of a feed that came as a MIME message."""
    heading = "".join(f"{name}: {value}\n" for name, value in feed.headers.items())
    message = f"{heading}Content-Type: text/xml\n\n".encode() + feed.data
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
    assert {name: row for name, row in differ.items() if name not in expected} == {}
    assert expected.keys() - differ.keys() == set(), "these pass: take them off the list"
    assert run > 60
    counts("feedparser: bases", run, len(expected), "3 profiles, over HTTP and in MIME")


def test_feeds_pass_through_with_a_note(data: Path) -> None:
    for feed in feeds(data):
        headers = {"Content-Type": "application/atom+xml", **feed.headers}
        result = relbase.rewrite(feed.data, url=URL, headers=headers)
        assert result.data is feed.data
        assert "kind-unsupported" in [note.reason.value for note in result.notes], feed.name
