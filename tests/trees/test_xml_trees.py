"""The links of XML trees: feeds, XHTML, SVG, and what the policy adds."""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import bs4
import lxml.etree
import pytest
from rows import rows

from relbase import Policy, Profile, Status, links, rewrite
from relbase.trees import make_links_absolute, tree_links

URL: Final = "http://h.example/d/p.html"

FEED: Final = """<?xml version="1.0"?><?xml-stylesheet title=' href="t"' href="s.css"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:x="http://www.w3.org/1999/xhtml" xml:base="/f/">
<id>i</id><link href="l" rel="r"/><icon>ic</icon>
<entry xml:base="e/"><content type="html">&lt;a href="h"&gt;</content></entry>
<entry><content type="xhtml"><x:div><x:a href="x">y</x:a></x:div></content></entry></feed>"""

MADE: Final = [
    "http://h.example/d/s.css",
    "http://h.example/f/",
    "http://h.example/f/l",
    "http://h.example/f/ic",
    "http://h.example/f/e/",
    "http://h.example/f/e/h",
    "http://h.example/f/x",
]


def test_a_feed() -> None:
    tree = lxml.etree.fromstring(FEED.encode())
    assert [link.url for link in make_links_absolute(tree.getroottree(), URL)] == MADE
    assert b' href="http://h.example/d/s.css"?>' in lxml.etree.tostring(tree.getroottree())
    tree = bs4.BeautifulSoup(FEED, "xml")
    assert [link.url for link in make_links_absolute(tree, URL)] == MADE
    assert '&lt;a href="http://h.example/f/e/h"&gt;' in str(tree)


def test_a_feed_of_xml_etree() -> None:
    tree = ET.fromstring(FEED)
    assert [link.url for link in make_links_absolute(tree, URL)] == MADE[1:]  # no instructions


def test_a_part_of_a_feed() -> None:
    tree = lxml.etree.fromstring(FEED.encode())
    (content, _) = tree.iter("{*}content")
    assert [link.url for link in make_links_absolute(content, URL)] == ["http://h.example/f/e/h"]
    soup_ = bs4.BeautifulSoup(FEED, "xml")
    part = soup_.find("content")
    assert [link.url for link in make_links_absolute(part, URL)] == ["http://h.example/f/e/h"]


SCOPED: Final = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry>'
    '<content type="html" xml:base="/p/">&lt;a href="x"&gt;</content>'
    '<link href="y" xml:base="q/"/><icon xml:base="q/">i</icon></entry></feed>'
)


@pytest.mark.parametrize("profile", Profile)
def test_xml_base_counts_for_its_own_element(profile: Profile) -> None:
    """XML Base 2 §4.2: the base of an element is first of all that of its own xml:base."""
    for tree in (lxml.etree.fromstring(SCOPED), bs4.BeautifulSoup(SCOPED, "xml")):
        assert [link.url for link in make_links_absolute(tree, URL, profile=profile)] == [
            "http://h.example/p/",
            "http://h.example/p/x",
            "http://h.example/d/q/y",
            "http://h.example/d/q/",
            "http://h.example/d/q/",
            "http://h.example/d/q/i",
        ]


IN_A_FEED: Final = (
    '<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/f/"><content type="xhtml">'
    '<div xmlns="http://www.w3.org/1999/xhtml" xml:base="d/"><a href="x"/></div></content></feed>'
)
SHOWN: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" xml:base="/f/">'
    '<r:Seq xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xml:base="d/" r:about="x"/></svg>'
)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [(IN_A_FEED, ["f/", "f/d/", "f/d/x"]), (SHOWN, ["f/", "f/d/", "d/x"])],
)
def test_whether_xml_base_counts_in_browsers(markup: str, expected: list[str]) -> None:
    """Rule 7: by the document, as its root says, not by the element."""
    for tree in (lxml.etree.fromstring(markup), bs4.BeautifulSoup(markup, "xml")):
        changed = make_links_absolute(tree, URL, profile=Profile.WHATWG)
        assert [link.url for link in changed] == [f"http://h.example/{url}" for url in expected]


PIECES: Final = (
    "<rss><channel><link>../x<!-- c -->y<?p i?>/z</link>"
    "<docs><!-- c --><![CDATA[ q]]> </docs><url>a<b/></url></channel></rss>"
)


def test_text_around_comments_is_one() -> None:
    for tree in (
        lxml.etree.fromstring(PIECES),
        lxml.etree.fromstring(PIECES, lxml.etree.XMLParser(strip_cdata=False)),
        bs4.BeautifulSoup(PIECES, "xml"),
    ):
        changed = make_links_absolute(tree, URL)
        assert [(link.reference, link.position, link.url) for link in changed] == [
            ("../xy/z", 0, "http://h.example/xy/z"),
            ("q", 1, "http://h.example/d/q"),
        ]
        is_soup = isinstance(tree, bs4.Tag)
        written = str(tree) if is_soup else lxml.etree.tostring(tree, encoding="unicode")
        again = lxml.etree.fromstring(written.encode())
        (link,), (docs,) = again.iter("link"), again.iter("docs")
        assert link.xpath("string()") == "http://h.example/xy/z"
        assert docs.xpath("string()") == " http://h.example/d/q "
        assert written.count("<!-- c -->") == 2
        assert written.count("<?p i?>") == 1


def test_text_with_an_entity_stays() -> None:
    parser = lxml.etree.XMLParser(resolve_entities=False)
    tree = lxml.etree.fromstring(
        "<!DOCTYPE rss [<!ENTITY e 'x'>]><rss><link>/&e;</link></rss>", parser
    )
    assert make_links_absolute(tree, URL) == []


XHTML: Final = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><base href="/s/"/></head>'
    '<body xml:base="b/"><a href="x"/><IMG src="n"/></body></html>'
)


@pytest.mark.parametrize(("profile", "base"), list(zip(Profile, ("s/b", "s/b", "s"), strict=True)))
def test_xhtml(profile: Profile, base: str) -> None:
    """Rule 7: browsers know no xml:base. Names have the case of XML."""
    tree = lxml.etree.fromstring(XHTML)
    urls = [link.url for link in make_links_absolute(tree, URL, profile=profile)]
    assert urls == [
        "http://h.example/s/",
        "http://h.example/s/b/",
        f"http://h.example/{base}/x",
    ]
    tree = bs4.BeautifulSoup(XHTML, "xml")
    assert [link.url for link in make_links_absolute(tree, URL, profile=profile)] == urls


def test_svg_with_another_prefix() -> None:
    markup = (
        '<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink">'
        '<s:image l:href="x"/><s:a href="y"/><image href="z"/></s:svg>'
    )
    for tree in (lxml.etree.fromstring(markup), bs4.BeautifulSoup(markup, "xml")):
        assert [link.reference for link in make_links_absolute(tree, URL)] == ["x", "y"]


def test_html_without_a_namespace_is_html() -> None:
    tree = lxml.etree.fromstring('<div><a href="x"/><svg><use href="#i"/></svg></div>')
    assert [link.reference for link in make_links_absolute(tree, URL)] == ["x"]
    tree = lxml.etree.fromstring('<catalogue><a href="x"/><item src="y"/></catalogue>')
    assert make_links_absolute(tree, URL) == []  # of a vocabulary that is not known


ITEMS: Final = (
    "<rss><channel><item><link>posts/1.html</link><description>&lt;img src='a.png'></description>"
    "</item><item><description>&lt;img src='b.png'></description></item></channel></rss>"
)
ENTRIES: Final = (
    "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link rel='self' href='http://o/'/>"
    "<link rel='alternate' href='posts/1.html'/><content type='html'>&lt;img src='a.png'></content>"
    "</entry><entry><link href='http://o/e'/><content type='html' xml:base='http://h.example/d/'>"
    "&lt;img src='b.png'></content></entry></feed>"
)
XHTMLS: Final = re.sub(
    r"html'([^>]*)>&lt;img src='(.*?)'>",
    r"xhtml'\1><div xmlns='http://www.w3.org/1999/xhtml'><img src='\2'/></div>",
    ENTRIES,
)
XML: Final = pytest.mark.parametrize(
    "parse",
    [lxml.etree.fromstring, lambda text: bs4.BeautifulSoup(text, "xml")],
    ids=["lxml", "bs4"],
)


@XML
@pytest.mark.parametrize(
    ("policy", "expected"), [(Policy(), "d/a.png"), (Policy(item_links=True), "d/posts/a.png")]
)
@pytest.mark.parametrize("feed", [ITEMS, ENTRIES, XHTMLS], ids=["RSS", "Atom", "XHTML"])
def test_html_of_an_item_is_on_its_link(
    parse: Any, policy: Policy, expected: str, feed: str
) -> None:
    url = "http://h.example/d/feed.xml"
    links = make_links_absolute(parse(feed), url, policy=policy)
    found = [f"http://h.example/{place}" for place in ("d/posts/1.html", expected, "d/b.png")]
    assert [link.url for link in links] == found
    written = rewrite(feed.encode(), url=url, kind="xml", policy=policy).links
    assert [link.url for link in written if link.status is Status.REWRITTEN] == found


@XML
@pytest.mark.parametrize("order", [1, -1])
def test_which_attribute_says_that_a_text_is_html(parse: Any, order: int) -> None:
    texts = [f"<title {name}='html'>&lt;a href='{name}'></title>" for name in ("type", "mode")]
    feed = f"<feed xmlns='http://www.w3.org/2005/Atom'>{''.join(texts[::order])}</feed>"
    assert [link.reference for link in make_links_absolute(parse(feed), URL)] == ["type"]


@XML
@pytest.mark.parametrize("reference", ["a&#1;b", "a&nbsp;b"])
def test_a_style_sheet_with_a_flaw_stays(parse: Any, reference: str) -> None:
    sheet = f"<?xml-stylesheet href='{reference}'?><rss/>"
    tree = parse(sheet)
    assert make_links_absolute(tree, URL) == []
    assert [link.status for link in tree_links(tree, URL)] == [Status.KEPT]
    assert [link.status for link in rewrite(sheet.encode(), url=URL, kind="xml").links] == [
        Status.KEPT
    ]


USERS: Final = (
    "<t:p xmlns:t='urn:t' url='a' b='b 2x'><t:n>c</t:n><n url='d'>&lt;a href='e'></n></t:p>"
)


@XML
def test_rows_of_a_user(parse: Any) -> None:
    rows = ("{urn:t}p@b=srcset", "{urn:t}*@url=url", "{urn:t}n=url", "n@url=url", "n=html")
    policy = Policy(xml_rows=rows)
    found = [link.url for link in make_links_absolute(parse(USERS), "http://h/", policy=policy)]
    assert found == [f"http://h/{name}" for name in "abcde"]
    written = rewrite(USERS.encode(), url="http://h/", kind="xml", policy=policy).links
    assert [link.url for link in written] == found


# As in the bytes (rule 4): a `<base>` is of a document that a browser shows, the instruction is of
# the prolog, and the empty reference of XML is a reference to its own document.
AS_BYTES: Final = [
    (
        '<feed xmlns="http://www.w3.org/2005/Atom"><content type="xhtml"><div '
        'xmlns="http://www.w3.org/1999/xhtml"><base href="http://o.example/"/><a href="x"/></div>'
        '</content><link href="y"/></feed>'
    ),
    '<?xml-stylesheet href="x"?><r><?xml-stylesheet href="y"?><a/></r><?xml-stylesheet href="z"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom"><link href=""/><link href=" "/></feed>',
]


@XML
@pytest.mark.parametrize("document", AS_BYTES)
def test_links_are_those_of_the_bytes(parse: Any, document: str) -> None:
    policy = Policy(keep_fragments=True)
    found = [(link.url, link.status) for link in tree_links(parse(document), URL, policy=policy)]
    expected = rewrite(document.encode(), url=URL, kind="xml", policy=policy).links
    assert found == [(link.url, link.status) for link in expected]


# ---- Feeds: the rows of the tests of bytes hold for trees

TABLES: Final = Path(__file__).parents[1] / "xml" / "xml_visit.txt"
NAMES: Final = {
    "[atom]": "xmlns='http://www.w3.org/2005/Atom'",
    "[xhtml]": "xmlns='http://www.w3.org/1999/xhtml'",
}


def written(cell: str) -> str:
    for name, meant in NAMES.items():
        cell = cell.replace(name, meant)
    return cell


def urls_of_each(feed: str, policy: Policy) -> Iterator[list[str | None]]:
    """The URLs of the links that change, in trees of each package."""
    made: list[Callable[[], Any]] = [
        lambda: lxml.etree.fromstring(feed.encode()),
        lambda: ET.fromstring(feed),
        lambda: bs4.BeautifulSoup(feed, "xml"),
    ]
    for make in made:
        tree = make()
        links = make_links_absolute(tree, URL, policy=policy)
        again = make_links_absolute(tree, URL, policy=policy)
        assert again == []
        yield [link.url for link in links if link.status is Status.REWRITTEN]


def in_bytes(feed: str, policy: Policy) -> list[str | None]:
    found = links(feed.encode(), url=URL, kind="xml", policy=policy)
    return [link.url for link in found if link.status is Status.REWRITTEN]


FEEDS: Final = [
    *(row for row, why in rows(TABLES, "not escaped", written, str) if why != "xml-unsound"),
    *(row for row, *_ in rows(TABLES, "the site of a feed", written, str, str)),
]


@pytest.mark.parametrize("feed", FEEDS)
@pytest.mark.parametrize(
    "policy",
    [Policy(), Policy(site_links=True), Policy(item_links=True, site_links=True)],
    ids=["plain", "site", "item"],
)
def test_feeds_are_read_as_their_bytes(feed: str, policy: Policy) -> None:
    expected = in_bytes(feed, policy)
    assert [*urls_of_each(feed, policy)] == [expected] * 3


def test_the_site_of_a_feed_counts_for_a_part_of_its_tree() -> None:
    site = "<link>http://site.example/b/</link>"
    feed = f"<rss><channel>{site}<item><link>x</link></item></channel></rss>"
    item = lxml.etree.fromstring(feed)[0][1]
    [link] = make_links_absolute(item, URL, policy=Policy(site_links=True))
    assert link.url == "http://site.example/b/x"


@pytest.mark.parametrize(("type_", "html", "becomes"), rows(TABLES, "in base64", str, str, str))
def test_html_in_base64(type_: str, html: str, becomes: str | None) -> None:
    def feed(text: str) -> str:
        coded = b64encode(text.replace("L", "\n").encode()).decode()
        content = f"<content mode='base64' type='{type_}'>\n {coded}\n</content>"
        return f"<feed xmlns='http://purl.org/atom/ns#'><entry>{content}</entry></feed>"

    expected = in_bytes(feed(html), Policy())
    assert [*urls_of_each(feed(html), Policy())] == [expected] * 3
    tree = ET.fromstring(feed(html))
    make_links_absolute(tree, URL)
    text = tree[0][0].text
    assert text is not None
    assert b64decode(text).decode() == (becomes or html).replace("L", "\n")
    for link in tree_links(ET.fromstring(feed(html)), URL):
        assert "<" not in link.reference


def test_base64_that_does_not_decode_stays_in_trees() -> None:
    for coded in ("!!!", "PGEgaHJlZj14", "/////w=="):
        content = f"<content mode='base64'>{coded}</content>"
        feed = f"<feed xmlns='http://purl.org/atom/ns#'>{content}</feed>"
        assert [*urls_of_each(feed, Policy())] == [[]] * 3
