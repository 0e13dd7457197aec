"""XML, from bytes to bytes: relbase against lxml, on feeds with HTML in them and on a sitemap.

lxml: parse, make the links of each HTML text absolute with `lxml.html`, serialise.

The feed is RSS of 10 MB with HTML of 4 to 20 KB in each item, escaped as most programs write it;
the HTML are pieces of real pages of `--data`, or one that is made up, when there are none. In the
sitemap everything is absolute, so that nothing is to be done: lxml parses and serialises.
"""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING, Final

import lxml.html
from lxml import etree

import relbase
from benchmarks.timing import Contender, measure, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_URL: Final = "http://example.com/2015/03/feed.xml"
_PAGES: Final = "real-pages/mozilla-readability"
_SIZE: Final = 10_000_000
_SIZES: Final = (4_000, 8_000, 20_000, 6_000, 12_000)


def run(data: Path | None, rounds: int) -> Iterator[str]:
    """Yield a table for the feed, and one for the sitemap."""
    texts, source = _pages(data)
    document = _feed(texts)
    yield _compared(f"A feed with escaped HTML, of {source}", document, feed_by_lxml, rounds)
    yield _compared("A feed of short items, full of links", _dense(), feed_by_lxml, rounds)
    flawed = _dense().replace(b"Post", b"Q&A").replace(b"Some", b"&nbsp;") + b"<script/>"
    yield _compared("The same with a flaw in each text", flawed, feed_by_lxml, rounds)
    yield _compared("A sitemap of absolute URLs", _sitemap(), _by_lxml, rounds)
    yield _with_bases(rounds)


def _with_bases(rounds: int) -> str:
    """A feed whose entries state bases of their own, against the same without."""
    contenders = [
        Contender(name, partial(relbase.rewrite, _entries(base), url=_URL, kind="xml"))
        for name, base in _BASES.items()
    ]
    title = f"A feed of {_ENTRIES:,} entries with a link and two in HTML, and xml:base"
    return table(title, measure(contenders, rounds), _ENTRIES, "entries", _WITHOUT)


_ENTRIES: Final = 20_000
_WITHOUT: Final = "without"
_BASES: Final = {
    _WITHOUT: lambda _number: "",
    "the same in each": lambda _number: ' xml:base="http://example.com/a/"',
    "two in turns": lambda number: f' xml:base="http://example.com/{number % 2}/"',
    "another in each": lambda number: f' xml:base="http://example.com/{number}/"',
    "a relative one in each": lambda number: f' xml:base="{number}/"',
}


def _entries(base: Callable[[int], str]) -> bytes:
    entry = (
        '<entry{1}><title>Post {0}</title><link href="p/{0}.html"/><content type="html">&lt;p&gt;'
        'Some words &lt;a href="a/{0}"&gt;one&lt;/a&gt; &lt;img src="/i/{0}.png"&gt;&lt;/p&gt;'
        "</content></entry>\n"
    )
    entries = "".join(entry.format(number, base(number)) for number in range(_ENTRIES))
    return f'<feed xmlns="http://www.w3.org/2005/Atom">\n{entries}</feed>\n'.encode()


def _pages(data: Path | None) -> tuple[list[str], str]:
    paths = sorted((data / _PAGES).rglob("source.html")) if data else []
    if not paths:
        item = '<p>Some words. <a href="/a/{0}">one</a> <a href="http://h/{0}">two</a></p>\n'
        return ["".join(map(item.format, range(1_000)))], "a page that is made up (no --data)"
    return [_body(path.read_bytes()) for path in paths], f"{len(paths)} pages of {_PAGES}"


def _body(page: bytes) -> str:
    text = page.decode("utf-8", "replace")
    body = text[max(text.find("<body"), 0) :]
    return "".join(letter for letter in body if letter.isprintable() or letter in "\t\n")


def _compared(title: str, document: bytes, peer: Callable[[bytes], bytes], rounds: int) -> str:
    contenders = [
        Contender("relbase", lambda: relbase.rewrite(document, url=_URL, kind="xml")),
        Contender("lxml", lambda: peer(document)),
    ]
    megabytes = len(document) / 1e6
    timings = measure(contenders, rounds)
    return table(f"{title}: {megabytes:.1f} MB", timings, megabytes, "MB", "lxml")


def _parsed(document: bytes) -> etree._Element:
    return etree.fromstring(document, etree.XMLParser(huge_tree=True, recover=True))


def _by_lxml(document: bytes) -> bytes:
    return bytes(etree.tostring(_parsed(document), encoding="utf-8"))


def feed_by_lxml(document: bytes) -> bytes:
    """What lxml makes of a feed and of the HTML in it."""
    tree = _parsed(document)
    for element in tree.iter("description"):
        fragment = lxml.html.fromstring(f"<div>{element.text or ''}</div>")
        fragment.make_links_absolute(_URL, handle_failures="ignore")
        element.text = lxml.html.tostring(fragment, encoding="unicode")
    return bytes(etree.tostring(tree, encoding="utf-8"))


def feed(data: Path | None) -> bytes:
    """A feed of 10 MB with escaped HTML."""
    return _feed(_pages(data)[0])


def _feed(texts: list[str]) -> bytes:
    items: list[str] = []
    size = number = 0
    while size < _SIZE:
        text = texts[number % len(texts)]
        length = _SIZES[number % len(_SIZES)]
        start = text.find("<p", number * 1_000 % max(1, len(text) - length))
        piece = text[max(start, 0) :][:length].rpartition("<")[0]
        link = f"http://example.com/2015/03/{number}.html"
        items.append(
            f"<item><title>Post {number}</title><link>{link}</link><guid>{link}</guid>"
            f"<description>{html.escape(piece)}</description></item>\n"
        )
        size += len(items[-1])
        number += 1
    start_ = (
        '<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel><title>x</title>\n'
    )
    return f"{start_}{''.join(items)}</channel></rss>\n".encode()


def _dense() -> bytes:
    item = (
        "<item><title>Post {0}</title><link>/p/{0}.html</link><description>&lt;p&gt;Some words "
        '&lt;a href="/a/{0}"&gt;one&lt;/a&gt; &lt;img src="/i/{0}.png"&gt;&lt;/p&gt;</description>'
        "</item>\n"
    )
    items = "".join(map(item.format, range(20_000)))
    return f'<?xml version="1.0"?>\n<rss version="2.0"><channel>{items}</channel></rss>\n'.encode()


def _sitemap() -> bytes:
    entry = (
        "<url>\n  <loc>https://www.example.com/some/path/to/page-{}.html</loc>\n"
        "  <lastmod>2024-01-01</lastmod>\n  <changefreq>monthly</changefreq>\n"
        "  <priority>0.8</priority>\n</url>\n"
    )
    entries = "".join(entry.format(number) for number in range(_SIZE // len(entry)))
    namespace = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<?xml version="1.0"?>\n<urlset xmlns="{namespace}">\n{entries}</urlset>\n'.encode()
