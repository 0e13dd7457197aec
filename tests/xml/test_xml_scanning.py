"""XML that the compiled scanner reads where the exact walk has learned what its names mean."""

import re
from itertools import product
from pathlib import Path

import pytest
from growth import assert_linear_from_10_ms
from rows import cases, filled, rows
from scanners import assert_agreed

import relbase
from relbase import Policy

TABLES = Path(__file__).with_name("xml_scanning.txt")
URL = "http://h/d/e.xml"
RSS = b'<rss xmlns:c="http://purl.org/rss/1.0/modules/content/"><channel>%b</channel></rss>'
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom">%b</feed>'
XHTML = b'<html xmlns="http://www.w3.org/1999/xhtml">%b</html>'
ITEM = (
    b"<item><link>/a/b</link><description>&lt;a href='/c?d&amp;amp;e'>x&lt;/a></description></item>"
)

_read = filled(ITEM=ITEM)
ROOTS = {"RSS": RSS, "ATOM": ATOM, "XHTML": XHTML}
ROOTS |= {"urlset": b"<urlset>%b</urlset>", "opml": b"<opml>%b</opml>"}

# Documents in which something is not what it was before, or looks like.
ODD = [
    *(ROOTS[root] % content for root, content in rows(TABLES, "odd", str, _read)),
    *(
        RSS
        % b"".join(
            ITEM * 2 + b"<link>%b</link><description>&lt;a href='/%b'>&lt;img srcset='%b'>&lt;p "
            b"style=&quot;a:url(%b)&quot;></description><description><![CDATA[<a href='%b'>]]>"
            b"</description><enclosure url='%b' type='a'/>" % (6 * (reference.replace(b"|", flaw),))
            for reference in (b"a|", b"/a|b", b"|c")
        )
        for (flaw,) in rows(TABLES, "flaws", bytes)
    ),
    b"<!DOCTYPE rss>"
    + RSS % (b"<link>x</link>" * 2 + b"<link>http://h/&x;</link><link>&x;</link>"),
    # bases of their own: of an origin, in turns, on an element with references, one in another
    ATOM
    % b"".join(
        b"<entry xml:base='http://%c/%c/'><link rel='alternate' href='%b'/>"
        b"<content type='html'>&lt;a href='c'>&lt;a href='/d'>&lt;a href='../e'></content></entry>"
        % (*pair, link)
        for pair in (b"ab", b"ac", b"db", b"ab")
        for link in (b"g", b"http://a/b/g", b"/b/g", b"x?/y")
    ),
    ATOM
    % b"".join(
        b"<entry><link href='/'/><content type='%b' xml:base='http://%c/'>&lt;a href=c></content>"
        b"<content xml:base='http://%c/' src='d'/></entry>" % (type_, host, host)
        for host in b"abcabc"
        for type_ in (b"html", b"text", b"html")
    ),
    # relative ones, in each other and deeper than they are read ahead; something odd in them
    ATOM
    % b"".join(
        b"<entry xml:base='%b'><link rel='alternate' href='%b'/><content type='html' xml:base='%b'>"
        b"&lt;a href='c'>&lt;a href='/d'>&lt;a href='#e'></content></entry>" % bases
        for first in (b"f/", b"./", b"../../../f", b"//o", b"/?p=1", b"", b"a;b/", b"http://o")
        for bases in ((first, b"g/h", b"i"), (b"f/", b"/g", first), (first, b"", b"http://h/d/"))
    ),
    ATOM
    % b"".join(
        b"<x xml:base='a/'>" * deep + b"<link href='b'/>" + b"</x>" * deep + b"<link href='c'/>"
        for deep in (1, 2, 1, 6, 2, 4, 5, 3)
    ),
    ATOM
    % b"".join(
        b"<x xml:base='a/'><link href='b'/><x xml:base='c/'><link href='%b'/></x><link href='e'/>"
        b"</x><link href='f'/>" % reference
        for reference in (b"d", b"d", b"&x;", b"d", b" d", b"../../../d", b"&#x64;", b"d")
    ),
    # the links of items whose bases are read ahead; two flaws in one text
    RSS
    % b"".join(
        b"<item xml:base='%b'><link>%b</link><description>&lt;a href='x'></description></item>"
        % (base, link)
        for link in (b"/p/1/", b"s/")
        for base in (b"a/", b"c/", b"/r/", b"k/")
    ),
    RSS % (b"<description>&lt;a href='a&b;c'>&lt;a href='d&e;f'>&lt;a href='g'></description>" * 3),
    ATOM % (b"<content type='html' xml:lang='%b'>&lt;a href='b'></content>" % (b"a" * 255) * 3),
]


@cases(TABLES, "read", root=str, piece=_read, edits=int)
def test_what_is_read_ahead(root: str, piece: bytes, edits: int) -> None:
    result = assert_agreed(ROOTS[root] % (piece * 5), url=URL, kind="xml")
    assert len(result.edits) == 5 * edits


URLS = [URL, "http://[::1]/a", "http://h/\xe9?\xe9", None]
POLICIES = [
    *(Policy(), Policy(item_links=True), Policy(keep_fragments=True)),
    Policy(keep=re.compile("^/?[bcg]")),
]
# Each policy with each profile, by turns with a URL.
PAIRED = [(URLS[at % 4], *pair) for at, pair in enumerate(product(POLICIES, relbase.Profile))]
OTHERS = [call for call in product(URLS, POLICIES, relbase.Profile) if call not in PAIRED]


@pytest.mark.parametrize("document", ODD)
@pytest.mark.parametrize("calls", [PAIRED, pytest.param(OTHERS, marks=pytest.mark.long)])
def test_both_walks_agree(
    document: bytes, calls: list[tuple[str | None, Policy, relbase.Profile]]
) -> None:
    for url, policy, profile in calls:
        assert_agreed(document, url=url, kind="xml", profile=profile, policy=policy)


@pytest.mark.parametrize(
    "unit",
    [
        *(b"<a", b"<a b='", b"<link>x", b"<link><![CDATA[", b"<link/>", b"</link>", b"&lt;base>"),
        *(
            b"<!--",
            b"<x xmlns:y='z'>",
            b"<x xml:base='y'>",
            b"<x xml:base='http://y/'>",
            b"<description>&lt;a href=x>&lt;!-- ",
        ),
    ],
)
def test_time_grows_linearly(unit: bytes) -> None:
    def rewrite(text: bytes) -> object:
        return relbase.rewrite(text, url=URL, kind="xml")

    assert_linear_from_10_ms(rewrite, lambda n: RSS % (unit * (n // len(unit))))


def test_what_was_learned_in_a_scope_is_forgotten_when_it_ends() -> None:
    """The names in it mean something else after it: here HTML, there nothing."""
    foreign = b"<link xmlns='x' type='y'><summary type='html'></summary></link >"
    summary = b"<summary type='html'>&lt;a href=x></summary>"
    feed = b"<feed xmlns='http://www.w3.org/2005/Atom'>" + foreign + summary + b"</feed>"
    assert len(assert_agreed(feed, url="http://h/", kind="xml").edits) == 1
