"""In place of lxml's methods: one import replaces `make_links_absolute` and `iterlinks`."""

import re
from itertools import product
from pathlib import Path
from typing import Any, Final

import bs4
import html5lib
import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases

from relbase import Policy, Profile, Resolver
from relbase.trees import (
    iterlinks,
    make_links_absolute,
    resolve_base_href,
    rewrite_links,
    tree_links,
)

URL: Final = "http://h.example/d/p.html"
TABLES: Final = Path(__file__).with_name("as_lxml.txt")

# As lxml finds them, at the same positions; lxml lists those of a style sheet out of order.
SAME: Final = """<html><head><meta http-equiv="refresh" content="10;url='/quoted'">
<link rel="stylesheet" href="style.css"><script src="/js.js"></script>
<style>b{background:url(/bg.gif)}</style></head>
<body background="b.png"><a href="../x?y#z">x</a><img src="i.png" longdesc="l"><a href="#s">s</a>
<td style="background-image: url('/quoted.png')"></td><form action="f">
<input type="image" src="s"></form>
<object data="d"></object><blockquote cite="c"></blockquote><a href="http://o.example/">o</a>
</body></html>"""


def of_lxml(markup: str) -> Any:
    return lxml.html.document_fromstring(markup)


def trees(markup: str) -> list[Any]:
    return [of_lxml(markup), bs4.BeautifulSoup(markup, "html.parser")]


def written(tree: Any) -> str:
    return str(tree) if isinstance(tree, bs4.Tag) else lxml.html.tostring(tree).decode()


def test_what_lxml_finds_is_found() -> None:
    tree = of_lxml(SAME)
    theirs = {(element.tag, *found) for element, *found in tree.iterlinks()}
    ours = {(element.tag, *found) for element, *found in iterlinks(tree)}
    assert ours == theirs
    assert len(ours) == 15


SHEET: Final = "a{b:url(x\\20y.png) url( 'z' )}"
HOLDERS: Final = (
    f"<style>{SHEET}</style><p style='{SHEET.replace(chr(39), '&quot;')}'>"
    "<img srcset='a 1x, b 2x'><iframe srcdoc='<a href=&quot;x?a&amp;amp;b&quot;>q</a>'></iframe>"
    "<meta http-equiv=refresh content='0; url=n'>"
)


def test_the_loop_of_lxml_replaces_each_link() -> None:
    tree = of_lxml(HOLDERS)
    count = 0
    for element, attribute, link, position in iterlinks(tree):
        count += 1
        text = element.text if attribute is None else element.get(attribute)
        assert text[position:].startswith(link)
        text = text[:position] + "NEW" + text[position + len(link) :]
        if attribute is None:
            element.text = text
        else:
            element.set(attribute, text)
    assert count == 8
    assert tree.find(".//style").text == "a{b:url(NEW) url( 'NEW' )}"
    assert tree.find(".//img").get("srcset") == "NEW 1x, NEW 2x"
    assert tree.find(".//iframe").get("srcdoc") == '<a href="NEW">q</a>'


def test_a_link_is_decoded_and_its_place_is_that_of_the_value() -> None:
    links = {
        (link.element.tag, link.attribute): (link.reference, link.position, link.end)
        for link in tree_links(of_lxml(HOLDERS), URL)
    }
    assert links["iframe", "srcdoc"] == ("x?a&b", 9, 18)
    assert links["style", None] == ("z", 25, 26)
    [first, _] = [link for link in tree_links(of_lxml(HOLDERS)) if link.attribute is None]
    assert (first.reference, first.position, first.end) == ("x y.png", 8, 17)


# ---- resolve_base_href and rewrite_links

BASED: Final = (
    "<head><base href='http://q/s/'></head><a href=x>a</a><p style='a:url(y)'><a href=#z>b"
)


@pytest.mark.parametrize("markup", [BASED, BASED.replace("<base", "<link")])
def test_resolve_base_href_does_as_lxml_does(markup: str) -> None:
    theirs, ours = of_lxml(markup), of_lxml(markup)
    theirs.resolve_base_href()
    resolve_base_href(ours)
    assert lxml.html.tostring(ours) == lxml.html.tostring(theirs)


@pytest.mark.parametrize("handle_failures", [None, "ignore", "discard"])
def test_without_a_base_there_is_none_to_resolve_against(handle_failures: Any) -> None:
    assert resolve_base_href(of_lxml("<a href=x>"), handle_failures) == []


def test_a_base_that_needs_a_url_raises() -> None:
    tree = of_lxml("<base href=/s/><a href=x>")
    with pytest.raises(TypeError, match="no base URL is known"):
        resolve_base_href(tree)
    assert b"/s/" in lxml.html.tostring(tree)


def moved(link: str) -> str:
    return f"https://new.example/?{link}"


# lxml resolves `<base>` with a URL whatever `resolve_base_href` says.
CALLS: Final = [(SAME, (False, URL)), *product((SAME, BASED), ((), (False,), (True, URL)))]


@pytest.mark.parametrize(("markup", "arguments"), CALLS)
def test_rewrite_links_does_as_lxml_does(markup: str, arguments: Any) -> None:
    theirs, ours = of_lxml(markup), of_lxml(markup)
    theirs.rewrite_links(moved, *arguments)
    rewrite_links(ours, moved, *arguments)
    assert lxml.html.tostring(ours) == lxml.html.tostring(theirs)


def test_an_empty_url_is_written_as_lxml_does() -> None:
    theirs, ours = (of_lxml("<a href='javascript:x'>a</a><a href=y>b</a>") for _ in "ab")
    for tree, rewrite in ((theirs, type(theirs).rewrite_links), (ours, rewrite_links)):
        rewrite(tree, lambda link: "" if link.startswith("javascript:") else link)
    assert lxml.html.tostring(ours) == lxml.html.tostring(theirs)
    assert ours.find(".//a").get("href") == ""


@pytest.mark.parametrize("tree", trees("<a href=x>a</a><style>a{b:url(x)}</style><img src=y>"))
def test_none_removes_a_link(tree: Any) -> None:
    rewrite_links(tree, lambda link: None if link == "x" else link)
    assert '<a>a</a><style></style><img src="y"' in written(tree)


@pytest.mark.parametrize("tree", trees(HOLDERS))
def test_what_a_function_returns_is_escaped_for_its_place(tree: Any) -> None:
    rewrite_links(tree, lambda _: "q\")<'")
    assert {link.reference for link in tree_links(tree)} == {"q\")<'"}


@pytest.mark.parametrize("tree", trees("<a href=x></a><a href=y></a>"))
def test_nothing_changes_when_a_function_raises(tree: Any) -> None:
    def replace(link: str) -> str:
        if link == "y":
            raise KeyError(link)
        return "z"

    with pytest.raises(KeyError):
        rewrite_links(tree, replace)
    assert '<a href="x"></a><a href="y"></a>' in written(tree)


def test_what_lxml_makes_absolute_becomes_the_same() -> None:
    theirs, ours = of_lxml(SAME), of_lxml(SAME)
    theirs.make_links_absolute(URL)
    make_links_absolute(ours, URL)
    assert lxml.html.tostring(ours) == lxml.html.tostring(theirs)


@cases(TABLES, "different", markup=str, theirs=list[str], ours=list[str], why=str)
def test_what_differs_from_lxml(markup: str, theirs: list[str], ours: list[str], why: str) -> None:
    tree = of_lxml(markup)
    assert [link for _, _, link, _ in tree.iterlinks()] == theirs, why
    assert [link for _, _, link, _ in iterlinks(tree)] == ours, why


def test_white_space_around_a_value_goes() -> None:
    tree = of_lxml("<a href=' x '>a</a><a href='\n?y'>b</a><a href=' http://o.example/ '>c</a>")
    links = [link.url for link in make_links_absolute(tree, URL)]
    urls = [element.get("href") for element in tree.iter("a")]
    assert urls == [*links, "http://o.example/"]


def test_the_first_base_decides_and_stays() -> None:
    markup = "<head><base href=/s/><base href=/t/></head><a href=x>"
    theirs, ours = of_lxml(markup), of_lxml(markup)
    theirs.make_links_absolute(URL)
    make_links_absolute(ours, URL)
    assert b'<a href="http://h.example/t/x">' in lxml.html.tostring(theirs)
    assert b'<a href="http://h.example/s/x">' in lxml.html.tostring(ours)
    assert b"<base" not in lxml.html.tostring(theirs)
    assert lxml.html.tostring(ours).count(b"<base") == 2
    make_links_absolute(ours, URL, drop_base=True)
    assert b"<base" not in lxml.html.tostring(ours)


def test_the_arguments_of_lxml_by_position() -> None:
    tree = of_lxml("<base href=/s/><a href=x>")
    make_links_absolute(tree, URL, False, None)
    assert tree.find(".//a").get("href") == "http://h.example/d/x"


# ---- handle_failures

BROKEN: Final = (
    "<p><a href='//[' title=t>a</a><a href=x>b</a><style>b{c:url(//[)}</style>"
    "<img srcset='y, //[ 2x'></p>"
)


@pytest.mark.parametrize("tree", trees(BROKEN))
def test_failures_are_ignored(tree: Any) -> None:
    links = make_links_absolute(tree, URL, handle_failures="ignore", profile="whatwg")
    assert [link.url for link in links] == [None, "http://h.example/d/x", None,
                                            "http://h.example/d/y", None]  # fmt: skip
    assert 'href="//["' in written(tree)


@pytest.mark.parametrize("tree", trees(BROKEN))
def test_failures_are_discarded(tree: Any) -> None:
    links = make_links_absolute(tree, URL, handle_failures="discard", profile="whatwg")
    assert [link.url for link in links] == [None, "http://h.example/d/x", None, None]
    text = written(tree)
    assert '<a title="t">a</a><a href="http://h.example/d/x">b</a><style></style><img' in text
    assert "srcset" not in text


@pytest.mark.parametrize("tree", trees(BROKEN))
def test_failures_raise_before_anything_changes(tree: Any) -> None:
    before = written(tree)
    with pytest.raises(ValueError, match=r"'//\[' cannot be resolved: give handle_failures="):
        make_links_absolute(tree, URL, profile="whatwg")
    assert written(tree) == before


@pytest.mark.parametrize("handle_failures", [None, "discard"])
@pytest.mark.parametrize("tree", trees("<a href=x>"))
def test_without_a_base_nothing_is_discarded(tree: Any, handle_failures: Any) -> None:
    with pytest.raises(TypeError, match="no base URL is known: give base_url"):
        make_links_absolute(tree, handle_failures=handle_failures)
    assert 'href="x"' in written(tree)
    absolute = trees("<a href='http://o.example/'>")[0]
    assert make_links_absolute(absolute, handle_failures=handle_failures) == []


def test_handle_failures_is_one_of_three() -> None:
    with pytest.raises(ValueError, match="give 'ignore', 'discard' or None"):
        make_links_absolute(of_lxml("<p>"), URL, handle_failures="raise")  # type: ignore[arg-type]


# ---- trees that change, and parts that were taken out


@pytest.mark.parametrize("tree", trees("<p><a href=x>y</a></p>" * 4))
def test_a_tree_may_change_while_its_links_are_read(tree: Any) -> None:
    count = 0
    for element, *_ in iterlinks(tree):
        count += 1
        if isinstance(element, bs4.Tag):
            element.parent.decompose()  # type: ignore[union-attr]
        else:
            element.getparent().drop_tree()
    assert count == 4
    assert "href" not in written(tree)


CONDITIONAL: Final = (
    "<p>a</p><!--[if mso]><a href='x'><img src=y></a><![endif]--><!-- <a href=x> -->"
)


@pytest.mark.parametrize("parser", ["html.parser", "lxml", "html5lib"])
def test_conditional_comments(parser: str) -> None:
    tree = bs4.BeautifulSoup(CONDITIONAL, parser)
    changed = make_links_absolute(tree, URL)
    assert [(link.reference, link.position, link.attribute) for link in changed] == [
        ("x", 18, None),
        ("y", 30, None),
    ]
    comments = tree.find_all(string=lambda text: isinstance(text, bs4.Comment))
    assert comments[0] == (
        "[if mso]><a href='http://h.example/d/x'><img src=http://h.example/d/y></a><![endif]"
    )
    assert comments[1] == " <a href=x> "
    assert changed[0].element.startswith("[if mso]")


def test_conditional_comments_of_lxml() -> None:
    tree = lxml.html.document_fromstring(CONDITIONAL)
    changed = make_links_absolute(tree, URL)
    assert [link.url for link in changed] == ["http://h.example/d/x", "http://h.example/d/y"]
    assert changed[0].element.text.startswith("[if mso]><a href='http://h.example/d/x'>")


def test_the_link_of_a_conditional_comment_names_the_comment_that_is_there() -> None:
    soup = bs4.BeautifulSoup("<p><!--[if mso]><a href='x'>y</a><![endif]--></p>", "html.parser")
    [link] = make_links_absolute(soup, URL)
    assert link.element.parent is soup.p
    assert "http://h.example/d/x" in link.element


@pytest.mark.parametrize("namespaces", [True, False])
def test_conditional_comments_in_the_trees_of_html5lib(namespaces: bool) -> None:  # noqa: FBT001
    markup = "<p><!--[if mso]><a href='x'>y</a><![endif]--><a href=z>"
    tree = html5lib.parse(markup, treebuilder="lxml", namespaceHTMLElements=namespaces)
    assert [link.reference for link in tree_links(tree, URL)] == ["x", "z"]


def test_a_part_that_was_taken_out_is_on_the_given_url_alone() -> None:
    markup = "<base href=/s/><p><a href=a></a></p>"
    soup = bs4.BeautifulSoup(markup, "html.parser")
    tree = lxml.html.document_fromstring(markup, base_url="http://q.example/")
    taken = tree.find(".//p")
    taken.getparent().remove(taken)
    for part in (taken, soup.p.extract()):  # type: ignore[union-attr]
        assert [link.url for link in tree_links(part, URL)] == ["http://h.example/d/a"]
        assert [link.url for link in tree_links(part)] == [None]
    assert [link.url for link in tree_links(tree)] == ["http://q.example/s/"]


# ---- the short ways of the walk give what the long ones give

BASES: Final = (
    *("http://h.example/d/p.html", "http://h.example", "file:/a/b"),
    *("http://h.example/d;p/e?q=/r", "ftp://h/a//b", "http://h.example/a/../b"),
)
PIECES: Final = (
    *("../", "../../../../", "/", "a", ".", "..", "?", "#", ";", ":", "~b", "c.d", "-", "%20"),
    *("=", "&", " ", "a:b", "(c)", "@", "//h"),
)


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join),
    st.sampled_from(BASES),
    st.sampled_from([Profile.RFC1808, Profile.RFC3986]),
)
def test_a_plain_path_becomes_what_the_resolver_says(
    reference: str, base: str, profile: Profile
) -> None:
    tree = lxml.html.Element("a", href=reference)
    links = make_links_absolute(tree, base, profile=profile)
    if links and reference.strip():
        assert links[0].url == Resolver(base, profile).resolve(reference.strip())
        assert tree.get("href") == links[0].url or " " in reference


@pytest.mark.parametrize("policy", [Policy(), Policy(keep=re.compile("^x$"))])
def test_a_policy_is_asked_for_plain_paths_too(policy: Policy) -> None:
    tree = lxml.html.Element("a", href="x")
    assert bool(make_links_absolute(tree, BASES[0], policy=policy)) is (policy.keep is None)
