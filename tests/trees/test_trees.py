"""The links of trees: what relbase knows of documents holds for every parser's tree."""

import re
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final
from xml.dom import minidom

import bs4
import html5lib
import lxml.etree
import lxml.html
import lxml.objectify
import pytest
from extras import needed
from growth import assert_linear_from_10_ms
from rows import rows
from tree_values import values

from relbase import Policy, Profile, Status, links, rewrite_text
from relbase.trees import TreeLink, iterlinks, make_links_absolute, tree_links
from relbase.xml.bases import MAX_XML_BASE_DEPTH

URL: Final = "http://h.example/d/p.html"

SOUPS: Final = ("html.parser", "lxml", "html5lib")


def soup(markup: str, parser: str) -> bs4.BeautifulSoup:
    return bs4.BeautifulSoup(markup, parser)


ROWS: Final = [row for (row,) in rows(Path(__file__).with_name("trees.txt"), "rows", str)]
EXTENDED: Final = Policy(extended=True)


@pytest.mark.parametrize(
    "parser", [*SOUPS, "lxml.html", "lxml.etree", "html5lib of lxml", "xml.etree"]
)
@pytest.mark.parametrize("row", ROWS)
def test_a_tree_is_what_the_parser_makes_of_the_rewritten_text(row: str, parser: str) -> None:
    for profile in Profile:
        for policy in (Policy(), EXTENDED):
            tree = parsed(row, parser)
            changed = make_links_absolute(tree, URL, profile=profile, policy=policy)
            text = rewrite_text(row, url=URL, profile=profile, policy=policy)
            assert values(tree) == values(parsed(text, parser)), (profile, policy)
            assert all(link.status in {Status.REWRITTEN, Status.UNRESOLVED} for link in changed)
            again = make_links_absolute(tree, URL, profile=profile, policy=policy)
            assert {link.status for link in again} <= {Status.UNRESOLVED}  # law 3


def parsed(markup: str, parser: str) -> Any:
    if parser == "lxml.html":
        return lxml.html.document_fromstring(markup)
    if parser == "lxml.etree":
        return lxml.etree.HTML(markup)
    if parser == "xml.etree":
        return html5lib.parse(markup, namespaceHTMLElements=False)
    if parser == "html5lib of lxml":
        return html5lib.parse(markup, treebuilder="lxml", namespaceHTMLElements=False).getroot()
    return soup(markup, parser)


@pytest.mark.parametrize("parser", [*SOUPS, "lxml.html", "html5lib of lxml", "xml.etree"])
@pytest.mark.filterwarnings("ignore:Coercing non-XML name")
@pytest.mark.parametrize("root", ["amp", "AMP4EMAIL", "⚡", "⚡️", "⚡4email", "⚡️4email"])
def test_documents_of_amp(parser: str, root: str) -> None:
    is_of_lxml = parser in {"lxml", "lxml.html"}
    if is_of_lxml and not root.isascii() and not lxml.html.document_fromstring("<html ⚡>").attrib:
        pytest.skip("this libxml2 drops attributes whose names are not ASCII")
    for name, count in ((root, 3), (f"x title={root}", 0), ("amp4ads", 0), ("⚡4ads", 0)):
        page = f"<html {name}><body><amp-img src=x srcset='y 2x'></amp-img><form action-xhr=z>"
        assert len(make_links_absolute(parsed(page, parser), URL)) == count
        assert len(make_links_absolute(parsed(page, parser), URL, policy=EXTENDED)) == 3


@pytest.mark.parametrize("parser", [*SOUPS, "lxml.html", "lxml.etree"])
def test_vml(parser: str) -> None:
    tree = parsed("<v:rect href=x><v:fill src=y></v:fill></v:rect><o:p href=z></o:p>", parser)
    found = [(link.attribute, link.reference) for link in make_links_absolute(tree, URL)]
    assert found == [("href", "x"), ("src", "y")]


def test_the_rows_change_trees() -> None:
    assert sum(rewrite_text(row, url=URL) != row for row in ROWS) > 20


# ---- what a call gives


def test_the_links_in_their_order() -> None:
    tree = lxml.html.fromstring(
        "<div><a href=' ../x '><img srcset='é 1x, /b 2x'></a><style>a{b:url(c)}</style>"
        "<a href='http://o.example/'></a><use href='#i'></use></div>"
    )
    links = list(tree_links(tree, URL))
    assert [(*link[1:4], link.end, *link[4:6]) for link in links] == [
        ("href", "../x", 1, 5, "http://h.example/x", Status.REWRITTEN),
        ("srcset", "é", 0, 1, "http://h.example/d/é", Status.REWRITTEN),
        ("srcset", "/b", 6, 8, "http://h.example/b", Status.REWRITTEN),
        (None, "c", 8, 9, "http://h.example/d/c", Status.REWRITTEN),
        ("href", "http://o.example/", 0, 17, "http://o.example/", Status.ABSOLUTE),
    ]
    assert [link.element.tag for link in links] == ["a", "img", "img", "style", "a"]
    assert isinstance(links[0], TreeLink)
    assert lxml.html.tostring(tree).count(b"h.example") == 0  # nothing was changed


def test_what_is_told_is_what_changed_or_cannot_be_resolved() -> None:
    tree = soup("<a href=x><a href='//[bad'><a href='#s'><a href=http://o.example/>", "lxml")
    policy = Policy(keep_fragments=True)
    changed = make_links_absolute(
        tree, URL, handle_failures="ignore", profile="whatwg", policy=policy
    )
    assert [(link.reference, link.status) for link in changed] == [
        ("x", Status.REWRITTEN),
        ("//[bad", Status.UNRESOLVED),
    ]
    assert changed[1].url is None


def test_without_a_base_nothing_changes_and_all_is_told() -> None:
    tree = soup("<a href=x></a><a href=http://o.example/></a>", "html.parser")
    changed = make_links_absolute(tree, handle_failures="ignore")
    assert [(link.reference, link.url, link.status) for link in changed] == [
        ("x", None, Status.UNRESOLVED)
    ]
    assert str(tree) == '<a href="x"></a><a href="http://o.example/"></a>'


def test_lxml_says_what_it_was_parsed_from() -> None:
    tree = lxml.html.document_fromstring("<a href=x>", base_url=URL)
    assert [link.url for link in tree_links(tree)] == ["http://h.example/d/x"]
    tree = lxml.html.document_fromstring("<a href=x>", base_url="/home/page.html")
    assert [link.url for link in tree_links(tree)] == [None]


@pytest.mark.parametrize("parser", [*SOUPS, "lxml.html", "xml.etree"])
def test_base(parser: str) -> None:
    markup = (
        "<html><head><base href=/s/>\n<title>t</title></head><body><a href=x></a></body></html>"
    )
    tree = parsed(markup, parser)
    assert [link.url for link in make_links_absolute(tree, URL)] == [
        "http://h.example/s/",
        "http://h.example/s/x",
    ]
    tree = parsed(markup, parser)
    changed = make_links_absolute(tree, URL, resolve_base_href=False)
    assert [link.url for link in changed] == ["http://h.example/s/", "http://h.example/d/x"]
    tree = parsed(markup, parser)
    make_links_absolute(tree, URL, drop_base=True)
    assert [value[1:] for value in values(tree)] == [("href", "http://h.example/s/x")]
    if parser == "xml.etree":
        text = ET.tostring(tree, encoding="unicode")
    else:
        text = str(tree) if isinstance(tree, bs4.Tag) else lxml.html.tostring(tree).decode()
    assert "\n<title>t</title>" in text  # what stands after it stays


@pytest.mark.parametrize("is_whole", [True, False])
def test_the_trees_of_html5lib_as_it_makes_them(is_whole: bool) -> None:  # noqa: FBT001
    markup = "<base href=/s/><!--[if mso]><a href=x><![endif]--><a href=y>z</a>"
    markup += "<noscript><img src=i>"
    tree = html5lib.parse(markup)
    changed = make_links_absolute(ET.ElementTree(tree) if is_whole else tree, URL, drop_base=True)
    assert [link.url for link in changed] == [
        f"http://h.example/s/{name}" for name in ("", "x", "y", "i")
    ]
    assert tree.find(".//{*}base") is None
    [comment] = [node for node in tree.iter() if node.tag is ET.Comment]
    assert comment.text == "[if mso]><a href=http://h.example/s/x><![endif]"


# ---- parts of trees


@pytest.mark.parametrize("parser", SOUPS)
def test_a_part_of_a_soup(parser: str) -> None:
    tree = soup(
        "<base href=/s/><p><a href=a></a></p><div><a href=b></a><b>c</b></div><a href=d>", parser
    )
    changed = make_links_absolute(tree.div, URL)
    assert [link.url for link in changed] == ["http://h.example/s/b"]
    assert [link.reference for link in tree_links(tree)] == [
        "/s/",
        "a",
        "http://h.example/s/b",
        "d",
    ]
    taken = tree.p.extract()  # type: ignore[union-attr]
    assert [link.url for link in make_links_absolute(taken, URL)] == ["http://h.example/d/a"]


@pytest.mark.parametrize("parser", [*SOUPS, "lxml.html"])
def test_a_part_inside_of_what_changes_the_rules(parser: str) -> None:
    tree = parsed("<svg><g><use href='#i'></use><image href=x></image></g></svg>", parser)
    part = tree.g if isinstance(tree, bs4.Tag) else tree.find(".//g")
    found = [(link.reference, link.status) for link in tree_links(part, URL)]
    assert found == [("#i", Status.KEPT), ("x", Status.REWRITTEN)]


def test_names_in_capitals_and_of_namespaces_in_a_parsed_tree() -> None:
    tree = lxml.html.document_fromstring("<p>a<svg><title>b</title></svg>")
    for name in ("A", "{http://www.w3.org/1999/xhtml}a", "{http://www.w3.org/2000/svg}use"):
        lxml.etree.SubElement(tree.body, name, href="x")
    assert [link.url for link in make_links_absolute(tree, URL)] == ["http://h.example/d/x"] * 3


def test_a_part_of_lxml() -> None:
    tree = lxml.html.document_fromstring(
        "<base href=/s/><p><a href=a></a>t</p><div><a href=b></a></div>"
    )
    changed = make_links_absolute(tree.find(".//div"), URL)
    assert [link.url for link in changed] == ["http://h.example/s/b"]
    changed = make_links_absolute(lxml.html.fragment_fromstring("<p><a href=a></a></p>"), URL)
    assert [link.url for link in changed] == ["http://h.example/d/a"]


# ---- hostile trees


def test_a_value_that_lxml_refuses_stays_and_is_told() -> None:
    tree = lxml.html.document_fromstring('<a href="x">')
    tree.find(".//a").attrib["href"] = "x"
    bad = lxml.html.document_fromstring(b"<img srcset='a\x01 1x, b 2x'><a href=c>")
    changed = make_links_absolute(bad, URL)
    assert {link.status for link in changed if link.attribute == "srcset"} <= {
        Status.UNRESOLVED,
        Status.REWRITTEN,
    }
    assert [link.url for link in changed if link.reference == "c"] == ["http://h.example/d/c"]


@pytest.mark.parametrize(
    "link", ["<a href=%d>", "<a style='b:url(%d)'>", "<style>b:url(%d)</style>"]
)
def test_a_long_base_does_not_fill_the_memory(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relbase.rewriting.budget.MAX_GROWTH_BYTES", 10_000)
    markup = f"<base href='/{'b' * 1000}/'>" + "".join(link % n for n in range(100))
    changed = make_links_absolute(soup(markup, "lxml"), URL, handle_failures="ignore")
    assert len([link for link in changed if link.status is Status.REWRITTEN]) < 12
    assert len([link for link in changed if link.status is Status.UNRESOLVED]) > 88


def deep(kind: str, size: int) -> Any:
    count = size // 16
    if kind == "xml:base":
        root = inner = lxml.etree.Element("x")
        for _ in range(min(count, 20_000)):
            inner = lxml.etree.SubElement(inner, "x")
            inner.set("{http://www.w3.org/XML/1998/namespace}base", "a")
        return root
    if kind == "svg":
        return lxml.html.document_fromstring("<svg><foreignobject>" * 60 + "<a href=x>" * count)
    if kind == "sheet":
        return lxml.html.document_fromstring("<style>é" + "a{b:url(x)}" * count)
    if kind == "custom properties":
        return lxml.html.document_fromstring("<style>" + "--a:url(x);" * count)
    if kind == "links":
        return soup("".join(f"<a href={n}></a>" for n in range(count)), "lxml")
    return soup("<svg>" + "<g><use href=x></use></g>" * count, "html.parser")


@pytest.mark.parametrize("kind", ["svg", "links", "sheet", "custom properties", "soup svg"])
def test_trees_take_linear_time(kind: str) -> None:
    assert_linear_from_10_ms(
        lambda tree: [*tree_links(tree, URL), *iterlinks(tree)],
        lambda size: deep(kind, size),
        # Each character of a text is quickly counted, or searched for a word.
        {"sheet": 1 << 18, "custom properties": 1 << 16}.get(kind, 1 << 8),
    )


def test_xml_base_nests_deep() -> None:
    tree = deep("xml:base", 1 << 18)
    links = list(tree_links(tree, URL))
    assert len(links) > 10_000
    assert links[MAX_XML_BASE_DEPTH].url == "http://h.example/d/a"
    assert links[MAX_XML_BASE_DEPTH + 1].status is Status.UNRESOLVED
    assert links[-1].url is None


# ---- threads


def test_many_threads_at_once() -> None:
    """Trees of their own, and what is remembered in common."""

    def made(number: int) -> list[str | None]:
        parser = SOUPS[number % 3]
        tree = soup("".join(ROWS[number % 7 :]), parser)
        return [link.url for link in make_links_absolute(tree, f"http://h{number % 5}.example/")]

    alone = [made(number) for number in range(60)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(made, range(60))) == alone


# ---- bad calls: the error names the fix

PAGE: Final = lxml.html.document_fromstring("<a href=x>")


def destroyed() -> Any:
    tag = soup("<p><a href=x></a></p>", "html.parser").p
    assert tag is not None
    tag.decompose()
    return tag


BAD: Final[list[tuple[Any, dict[str, Any], type[Exception], str]]] = [
    (None, {}, TypeError, "give what BeautifulSoup"),
    (5, {}, TypeError, r"give one of BeautifulSoup, .* each value to relbase\.rewrite_value, or"),
    ("<p>", {}, TypeError, r"a str to relbase\.rewrite_text"),
    (b"<p>", {}, TypeError, r"give bytes to relbase\.rewrite"),
    ([PAGE], {}, TypeError, "give one tree at a time"),
    ((), {}, TypeError, "give one tree at a time"),
    (ET.ElementTree(), {}, ValueError, "has no root: parse"),
    (ET.Comment("x"), {}, TypeError, "give an element"),
    (minidom.Document(), {}, TypeError, "give an element"),
    (lxml.etree.ElementTree(), {}, ValueError, "has no root: parse"),
    (lxml.etree.Comment("x"), {}, TypeError, "give an element"),
    (lxml.etree.PI("x"), {}, TypeError, "give an element"),
    (lxml.etree.XMLParser(), {}, TypeError, "give an element"),
    (lxml.etree.XPath("."), {}, TypeError, "give an element"),
    (bs4.element.NavigableString("x"), {}, TypeError, "give the soup, or a tag"),
    (bs4.element.Comment("x"), {}, TypeError, "give the soup, or a tag"),
    (soup("<p>", "lxml").find_all("p"), {}, TypeError, "one tree at a time"),
    (destroyed(), {}, ValueError, r"destroyed by decompose\(\)"),
    (PAGE, {"base_url": "/d/"}, ValueError, "base_url is not absolute: '/d/'"),
    (PAGE, {"base_url": "http://[", "profile": "whatwg"}, ValueError, "base_url is not valid by"),
    (PAGE, {"base_url": " "}, ValueError, "base_url is empty"),
    (PAGE, {"base_url": b"http://h/"}, TypeError, "decode it first"),
    (PAGE, {"base_url": 5}, TypeError, "base_url must be a str, not int"),
    (PAGE, {"base_url": "h.example"}, ValueError, "with its scheme"),
    (PAGE, {"profile": "rfc"}, ValueError, "one of rfc1808, rfc3986, whatwg"),
    (PAGE, {"profile": None}, ValueError, "one of rfc1808"),
    (PAGE, {"policy": None}, TypeError, r"give Policy\(\.\.\.\)"),
    (PAGE, {"policy": {"extended": True}}, TypeError, r"give Policy\(\.\.\.\)"),
    (PAGE, {"resolve_base_href": None}, TypeError, "give True or False"),
    (PAGE, {"resolve_base_href": "no"}, TypeError, "give True or False"),
]  # fmt: skip


@pytest.mark.parametrize("function", [make_links_absolute, tree_links])
@pytest.mark.parametrize(("tree", "arguments", "error", "fix"), BAD)
def test_a_bad_call_raises_at_once(
    function: Any, tree: Any, arguments: dict[str, Any], error: type[Exception], fix: str
) -> None:
    with pytest.raises(error, match=fix) as raised:
        function(tree, **arguments)
    assert type(raised.value) is error
    assert len(str(raised.value)) < 250


def test_what_browsers_fetch_before_a_late_base_is_resolved_as_in_bytes() -> None:
    page = (
        b"<html><head><style>a{b:url(c)}</style><template><img src=t></template></head><body>"
        b"<p style='a:url(s)'><img src=i srcset='j 2x'><img src=k loading=lazy><a href=l>l</a></p>"
        b"<iframe srcdoc='&lt;a href=d>'></iframe><base href='http://b.example/'><img src=m>"
        b"<style>a{b:url(n)}</style></body></html>"
    )
    expected = [link.url for link in links(page, url=URL, profile="whatwg")]
    trees = (lxml.html.document_fromstring(page), soup(page.decode(), "html.parser"))
    for tree in trees:
        found = tree_links(tree, URL, profile="whatwg")
        assert [link.url for link in found] == expected
    assert sum(link.startswith("http://b.example/") for link in expected if link) == 6
    body = trees[0].find("body")
    changed = make_links_absolute(body.find("style"), URL, profile="whatwg")
    assert [link.url for link in changed] == ["http://b.example/n"]


def test_a_selector_of_parsel_is_refused() -> None:
    with pytest.raises(TypeError, match=r"give selector\.root"):
        tree_links(needed("parsel").Selector("<p>"))


def test_drop_base_is_a_bool() -> None:
    with pytest.raises(TypeError, match="drop_base must be a bool, not str: give True or False"):
        make_links_absolute(PAGE, URL, drop_base="yes")  # type: ignore[arg-type]


def test_keep_is_asked_with_the_reference() -> None:
    policy = Policy(keep=re.compile("^/x"), keep_templates=True)
    tree = soup("<a href=/x><a href=y><a href='{{ z }}'>", "lxml")
    changed = make_links_absolute(tree, URL, policy=policy)
    assert [link.reference for link in changed] == ["y"]


@pytest.mark.parametrize(
    "make", [lambda markup: soup(markup, "lxml"), lxml.html.document_fromstring]
)
def test_attributes_that_the_caller_names(make: Any) -> None:
    tree = make("<a data-link=x data-set='a 1x, b 2x' href=y><svg><g data-link=z></g></svg>")
    policy = Policy(attributes={"data-link": "url", "data-set": "srcset"})
    changed = make_links_absolute(tree, "http://h/", policy=policy)
    assert [(link.attribute, link.url) for link in changed] == [
        ("data-link", "http://h/x"),
        ("data-set", "http://h/a"),
        ("data-set", "http://h/b"),
        ("href", "http://h/y"),
        ("data-link", "http://h/z"),
    ]
