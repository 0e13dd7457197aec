"""XML that the compiled scanner reads where the exact walk has learned what its names mean."""

from itertools import product

import pytest
from growth import assert_linear_from_10_ms
from scanners import assert_agreed

import relbase
from relbase import Policy

URL = "http://h/d/e.xml"
RSS = b'<rss xmlns:c="http://purl.org/rss/1.0/modules/content/"><channel>%b</channel></rss>'
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom">%b</feed>'
XHTML = b'<html xmlns="http://www.w3.org/1999/xhtml">%b</html>'
ITEM = (
    b"<item><link>/a/b</link><description>&lt;a href='/c?d&amp;amp;e'>x&lt;/a></description></item>"
)

# Rows: what stands in a document many times, so that it is learned, and how many edits each makes.
READ = [
    (RSS, ITEM, 2),
    (RSS, b"<item><c:encoded> <![CDATA[<img src='x.png'>]]> </c:encoded></item>", 1),
    (RSS, b"<item><guid isPermaLink='false'>a</guid><guid>http://h/</guid></item>", 0),
    (RSS, b"<item><link>../a&amp;b</link><enclosure url=' f.mp3 '/></item>", 2),
    (ATOM, b"<entry><link href='/a'/><title>a</title><title type='html'>b</title></entry>", 1),
    (ATOM, b"<entry><content type='html'>&lt;p style=&quot;a:url(x)&quot;></content></entry>", 1),
    (ATOM, b"<entry xml:base='http://a/b/'><link href='/c'/><link href='d'/></entry>", 2),
    (ATOM, b"<entry><content xml:base='http://a/' type='html'>&lt;a href=b></content></entry>", 1),
    (ATOM, b"<entry xml:base='../f/'><link href='/c'/><link href='d' xml:base='g/?h'/></entry>", 4),
    (XHTML, b"<p style='a:url(\"x\")'><img srcset='a 1x, b 2x' src='#'/><br/></p>", 4),
    (b"<urlset>%b</urlset>", b"<url><loc>/a</loc></url><!-- x --><?y z?>", 1),
    (b"<opml>%b</opml>", b"<outline text='&lt;x&gt;' xmlUrl='a'><outline/></outline>", 1),
]


# Documents in which something is not what it was before, or looks like.
ODD = [
    RSS
    % (ITEM * 3 + b"<item><link>/other/b</link><description>&lt;a href='c'></description></item>"),
    RSS % (ITEM + b"<x xmlns:c='y'><c:encoded>&lt;a href='c'></c:encoded></x>" + ITEM),
    RSS
    % (
        b"<item><description>a</description></item>" * 2
        + b"<item><description><b/>/x</description>"
    ),
    RSS % (b"<description>&lt;base href='/x/'>&lt;a href='y'></description>" * 2),
    RSS % (b"<description>&lt;!-- base href=\"http://o/\" -->&lt;a href='y'></description>" * 2),
    RSS % (b"<description>&lt;a href=&#39;y&#39;>&#x26;</description>" * 2),
    RSS % (b"<description>&#60;a href=y></description>" * 3),
    RSS
    % (
        ITEM
        + b"<description><![CDATA[<a href='&#x1;'><a href='\x01 '><a href=' '>]]></description>"
    ),
    RSS % (b"<description>&lt;a href='&#2;'>&lt;a href=' \x02'></description>" * 2),
    RSS % (b"<description>&lt;a href=y>\r\n</description>" * 2),
    # flaws: what is not UTF-8, undefined entities, bare ampersands, in references and beside them
    RSS % (ITEM * 2 + b"<link>a\xe9</link><description>&lt;a href='\xe9'></description>"),
    RSS % (ITEM * 2 + b"<link>a\xef\xbf\xbe</link><description>\xef\xbf\xbf</description>"),
    RSS % (ITEM * 2 + b"<link>a&b;</link><description>&lt;a href='c&d-e;'></description>"),
    RSS % (ITEM * 2 + b"<link>a&b</link><description>&x; &lt;a href='c&d'></description>"),
    RSS % (ITEM * 2 + b"<description>&lt;a href='c'>&#1;&#x27;</description>"),
    *(
        RSS
        % b"".join(
            ITEM * 2 + b"<link>%b</link><description>&lt;a href='/%b'>&lt;img srcset='%b'>&lt;p "
            b"style=&quot;a:url(%b)&quot;></description><description><![CDATA[<a href='%b'>]]>"
            b"</description><enclosure url='%b' type='a'/>" % (6 * (reference.replace(b"|", flaw),))
            for reference in (b"a|", b"/a|b", b"|c")
        )
        for flaw in (
            *(b"&nbsp;", b"&colon;", b"&Tab;", b"&num;", b"&#2;", b"&#0;", b"&#x1f;", b"&#233;"),
            *(
                b"\x01",
                b"\x0c",
                b"\xe9",
                b"\xef\xbf\xbe",
                b"&amp;nbsp;",
                b"&amp;#2;&#0;",
                b"\xc3\xa9",
            ),
        )
    ),
    RSS % (b"<enclosure url='x'/>" * 2 + b"<enclosure url='x' url='/y'/>"),
    RSS % (b"<enclosure url='x'/>" * 2 + b"<enclosure url='http://y/' url='x'/>"),
    b"<!DOCTYPE rss>"
    + RSS % (b"<link>x</link>" * 2 + b"<link>http://h/&x;</link><link>&x;</link>"),
    ATOM % (b"<entry xml:base='f/'><link href='a'/><link href='b'/></entry><link href='c'/>" * 3),
    # bases of their own: of an origin, in turns, on an element with references, one in another
    ATOM
    % b"".join(
        b"<entry xml:base='http://%c/%c/'><link rel='alternate' href='%b'/>"
        b"<content type='html'>&lt;a href='c'>&lt;a href='/d'>&lt;a href='../e'></content></entry>"
        % (*pair, link)
        for pair in (b"ab", b"ac", b"db", b"ab")
        for link in (b"g", b"http://a/b/g", b"/b/g", b"x?/y")
    ),
    ATOM % (b"<entry xml:base='http://a/'><link href='b'/></entry><link href='c'/>" * 3),
    ATOM
    % b"".join(
        b"<entry><link href='/'/><content type='%b' xml:base='http://%c/'>&lt;a href=c></content>"
        b"<content xml:base='http://%c/' src='d'/></entry>" % (type_, host, host)
        for host in b"abcabc"
        for type_ in (b"html", b"text", b"html")
    ),
    ATOM % (b"<entry xml:base='http://a/'><link href='b' xml:base='http://c/'/></entry>" * 3),
    ATOM
    % (
        b"<entry xml:base='http://a/b/'><source xml:base='http://c/'><link href='d'/></source>"
        b"<link href='e'/></entry>" * 3
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
    ATOM % (b"<link href='a' xml:base='b/'/><link xml:base='b/' href='a'/>" * 4),
    ATOM % (b"<content type='html' xml:lang='%b'>&lt;a href='b'></content>" % (b"a" * 255) * 3),
    ATOM % (b"<link xml:base='http://a/'>x</link><link href='b'/>" * 3 + b"<link xml:base='//['/>"),
    ATOM % (b"<entry xml:base='http://a/b'><link href='&x;'/><link href='c'/></entry>" * 3),
    ATOM % (b"<entry xml:base='http://a/b'><title>&#x20;</title><link href='c'/></entry>" * 3),
    ATOM
    % (b"<entry xml:base='http://a/b'><link href='c'/></entry>" * 3 + b"<entry xml:base='d:e'>"),
    ATOM % (b"<link href='a'/>" * 2 + b"</feed></feed><link href='b'/>"),
    ATOM
    % (b"<title type='html'>&lt;a href='b'></title><title type='text'>&lt;a href='b'></title>" * 2),
    XHTML % (b"<a href='x'/>" * 3 + b"<base href='/y/'/><a href='x'/>"),
    XHTML % (b"<a href='x'/>" * 3 + b"<template><a href='x'/></template><a href='\n'/>"),
]


@pytest.mark.parametrize(("document", "piece", "edits"), READ)
def test_what_is_read_ahead(document: bytes, piece: bytes, edits: int) -> None:
    result = assert_agreed(document % (piece * 5), url=URL, kind="xml")
    assert len(result.edits) == 5 * edits


URLS = [URL, "http://[::1]/a", "http://h/\xe9?\xe9", None]
POLICIES = [Policy(), Policy(item_links=True), Policy(keep_fragments=True)]
CALLS = list(product(URLS, POLICIES, relbase.Profile))
# Each URL with each policy and with each profile: every third call, a place later for each policy.
PAIRED = [call for at, call in enumerate(CALLS) if (at + at // 3 + at // 9) % 3 == 0]
OTHERS = [call for call in CALLS if call not in PAIRED]


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
