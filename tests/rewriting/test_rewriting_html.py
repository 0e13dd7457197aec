"""From a document to its references and back: contexts, nesting, and what is written where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import html5lib
import pytest
from scanners import SCANNERS, scanning

import relbase
from relbase import Policy, Profile, Status, links, resolve, rewrite
from relbase.bases.layers import UNKNOWN, Base, Layer
from relbase.edit import Edit, splice
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.opening.recognition import reader
from relbase.rewriting.context import Context, Task
from relbase.rewriting.css import visit_css
from relbase.rewriting.html import visit_html
from relbase.rewriting.html_base import html_base
from relbase.rewriting.items import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

URL = "http://h.example/d/p.html"
RETRIEVED = Base(URL, Layer.RETRIEVAL, "retrieval URL", UNKNOWN)


def context(base: Base = RETRIEVED) -> Context:
    return Context(UNKNOWN, Task(Profile.RFC1808, Policy(), reader)).on(base)


# --- Rule 10. What each character of a base becomes in each context: written out by hand, the
# context's row first. Columns: the document, with `{}` where the base is written.
TEMPLATES = {
    "double": '<a href="{}x">',
    "single": "<a href='{}x'>",
    "unquoted": "<a href={}x>",
    "css url": "<style>a{{b:url({}x)}}</style>",
    "css double": '<style>a{{b:url("{}x")}}</style>',
    "css single": "<style>a{{b:url('{}x')}}</style>",
    "css in double": '<p style="a:url({}x)">',
    "css string in double": "<p style=\"a:url('{}x')\">",
    "css in unquoted": "<p style=a:url({}x)>",
    "srcset": '<img srcset="{}x 1x, {}y 2x">',
    "space list": '<a ping="{}x {}y">',
    "comma list": '<applet archive="{}x,{}y">',
    "refresh": '<meta http-equiv=refresh content="0;url={}x">',
    "refresh single": "<meta http-equiv=refresh content=\"0;url='{}x'\">",
    "refresh double": "<meta http-equiv=refresh content='0;url=\"{}x\"'>",
    "link": '<meta http-equiv=link content="<{}x>; rel=y">',
    "json": '<script type=importmap>{{"imports":{{"a":"{}x"}}}}</script>',
    "srcdoc": '<iframe srcdoc="<a href=&quot;{}x&quot;>"></iframe>',
}
# (character of the base, context, how it is written); others mean themselves.
WRITTEN = [
    ('"', "double", "&quot;"),
    ("'", "double", "'"),
    ("&", "double", "&amp;"),
    ("<", "double", "&lt;"),
    (">", "double", "&gt;"),
    (" ", "double", " "),
    ("`", "double", "`"),
    ("=", "double", "="),
    ('"', "single", '"'),
    ("'", "single", "&#39;"),
    ("&", "single", "&amp;"),
    ('"', "unquoted", "&quot;"),
    ("'", "unquoted", "&#39;"),
    ("`", "unquoted", "&#96;"),
    ("=", "unquoted", "&#61;"),
    (" ", "unquoted", "&#32;"),
    (">", "unquoted", "&gt;"),
    ("<", "unquoted", "&lt;"),
    ('"', "css url", "\\22 "),
    ("'", "css url", "\\27 "),
    ("(", "css url", "\\28 "),
    (")", "css url", "\\29 "),
    (" ", "css url", "\\20 "),
    ("\\", "css url", "\\5c "),
    ("<", "css url", "\\3c "),
    ("&", "css url", "&"),
    ('"', "css double", "\\22 "),
    ("'", "css double", "'"),
    (")", "css double", ")"),
    ("\\", "css double", "\\5c "),
    ("<", "css double", "\\3c "),
    ('"', "css single", '"'),
    ("'", "css single", "\\27 "),
    ('"', "css in double", "\\22 "),
    ("&", "css in double", "&amp;"),
    ("<", "css in double", "\\3c "),
    ('"', "css string in double", "&quot;"),
    ("'", "css string in double", "\\27 "),
    (" ", "css in unquoted", "\\20&#32;"),
    (" ", "srcset", "%20"),
    (",", "srcset", ","),
    ('"', "srcset", "&quot;"),
    ("(", "srcset", "("),
    (" ", "space list", "%20"),
    (",", "space list", ","),
    (" ", "comma list", "%20"),
    (",", "comma list", "%2C"),
    (" ", "refresh", " "),
    ("'", "refresh", "'"),
    ('"', "refresh", "&quot;"),
    ("'", "refresh single", "%27"),
    ('"', "refresh single", "&quot;"),
    ("'", "refresh double", "&#39;"),
    ('"', "refresh double", "%22"),
    (">", "link", "%3E"),
    ("<", "link", "%3C"),
    (",", "link", ","),
    (" ", "link", "%20"),
    ('"', "json", '\\"'),
    ("\\", "json", "\\\\"),
    ("<", "json", "\\u003c"),
    (">", "json", "\\u003e"),
    ("'", "json", "'"),
    ("&", "json", "&"),
    ('"', "srcdoc", "&amp;quot;"),
    ("'", "srcdoc", "'"),
    ("&", "srcdoc", "&amp;amp;"),
    ("<", "srcdoc", "&amp;lt;"),
]


@pytest.mark.parametrize(("character", "context", "written"), WRITTEN)
def test_what_is_written_is_escaped_for_its_place(
    character: str, context: str, written: str
) -> None:
    template = TEMPLATES[context]
    dot = "./" if context == "json" else ""
    document = template.format(dot, dot).encode()
    expected = template.format(*[f"http://h.example/a{written}b/"] * 2)
    for name in SCANNERS:
        with scanning(name):
            result = rewrite(document, url=f"http://h.example/a{character}b/p")
        assert result.data.decode() == expected


def test_every_context_is_in_the_table() -> None:
    assert {context for _, context, _ in WRITTEN} == set(TEMPLATES)


HOSTILE = [
    *('"><script src=//evil.example/>/', "'onload='x'/", "a)b(c/", "a,b, c 2x/", "&copy=1&lt;/"),
    *("</style></script></noscript></iframe>-->]]>/", "\\22 );x:url(/", "\r\n\t\f\0/", "`=<>/"),
    *("\u202e\u2028é/", "&quot;/", "<!--<script>/", "&amp/", "&#39/", "%22%27/", "{}[]\"'/"),
    *("/*/", "*/", "url(/", "1x, evil 2x,/"),
]


def structure(document: str) -> list[tuple[str, tuple[str, ...], int]]:
    """The elements that a browser sees, with the names of their attributes."""
    tree = html5lib.parse(document, namespaceHTMLElements=False)
    return [
        (str(node.tag), tuple(node.attrib), len(node))
        for node in tree.iter()
        if isinstance(node.tag, str)
    ]


@pytest.mark.parametrize("context", TEMPLATES)
@pytest.mark.parametrize("path", HOSTILE)
def test_a_base_ends_no_value(path: str, context: str) -> None:
    """Law 8, with html5lib as the referee: the same elements and attributes."""
    dot = "./" if context == "json" else ""
    document = (TEMPLATES[context].format(dot, dot) + "<b title=t>end</b>").encode()
    for profile in Profile:
        result = rewrite(document, url=f"http://h.example/{path}p", profile=profile)
        assert result.changed
        assert structure(result.data.decode()) == structure(document.decode())
        if context != "json":  # absolute addresses of an import map are not listed
            statuses = [link.status for link in links(result.data)]
            assert statuses == [Status.ABSOLUTE] * len(result.links)


@pytest.mark.parametrize("context", ["double", "single", "unquoted"])
@pytest.mark.parametrize("path", HOSTILE)
def test_what_a_parser_reads_is_what_was_meant(path: str, context: str) -> None:
    """With html5lib as the referee of character references."""
    template = TEMPLATES[context]
    result = rewrite(template.format("").encode(), url=f"http://h.example/{path}p")
    tree = html5lib.parse(result.data.decode(), namespaceHTMLElements=False)
    (anchor,) = tree.iter("a")
    assert anchor.get("href") == resolve(result.base.url, "x")


# --- Rule 22, threat N6: what the charset of the document has not is escaped for its place
UNENCODABLE = [
    ("<style>a{{b:url({}x)}}</style>", "\\e9 "),
    ('<style>a{{b:url("{}x")}}</style>', "\\e9 "),
    ('<script type=importmap>{{"imports":{{"a":"{}x"}}}}</script>', "\\u00e9"),
    ("<a href={}x>", "&#233;"),
    ('<p style="a:url({}x)">', "&#233;"),
    ('<iframe srcdoc="<style>a{{b:url({}x)}}</style>"></iframe>', "&#233;"),
]


@pytest.mark.parametrize(("template", "escaped"), UNENCODABLE)
@pytest.mark.parametrize("charset", ["iso-2022-jp", "shift_jis", "windows-1251"])
def test_what_a_charset_has_not(template: str, escaped: str, charset: str) -> None:
    base = '<base href="http://h2.example/&#233;\u0416/">'
    dot = "./" if "importmap" in template else ""
    document = f"{base}{template.format(dot)}".encode(charset.replace("windows-", "cp"))
    expected = template.format(f"http://h2.example/{escaped}\u0416/")
    result = rewrite(document, url=URL, kind="html", charset=charset)
    assert result.data.decode(charset.replace("windows-", "cp")) == base + expected


def test_a_sheet_in_iso_2022_jp_has_escapes_of_css() -> None:
    document = b"a{b:url(x)}\x1b$B$\x22\x1b(B"
    read = FORMATS[Kind.CSS].read(document, "iso-2022-jp", context())
    assert read.view is not None
    assert read.view.lower([Edit(8, 8, "\u00e9".encode())]) == [Edit(8, 8, b"\\e9 ")]


# --- The way a value is written decides where new text goes
SPELLED = [
    (b"<a href>", b'<a href="http://h.example/d/p.html">'),
    (b"<a href/>", b'<a href="http://h.example/d/p.html"/>'),
    (b"<a href=>", b'<a href="http://h.example/d/p.html">'),
    (b"<a href= >", b'<a href="http://h.example/d/p.html" >'),
    (b"<a href=''>", b"<a href='http://h.example/d/p.html'>"),
    (b"<a href=' '>", b"<a href=' http://h.example/d/p.html'>"),
    (b"<a href=x/>", b"<a href=http://h.example/d/x/>"),
    (b"<a href=&#120;>", b"<a href=http://h.example/d/&#120;>"),
    (b"<a href='&#46;&#46;/x'>", b"<a href='http://h.example/x'>"),
    (b"<a href='&amp'>", b"<a href='http://h.example/d/&amp'>"),
    (b"<a href='?a&ltb'>", b"<a href='http://h.example/d/p.html?a&ltb'>"),
    (b"<a href='\r\n/x\r\n'>", b"<a href='\r\nhttp://h.example/x\r\n'>"),
    (b"<a href='x\0'>", b"<a href='http://h.example/d/x\0'>"),
]


@pytest.mark.parametrize(("document", "expected"), SPELLED)
def test_how_a_value_is_written(document: bytes, expected: bytes) -> None:
    assert rewrite(document, url=URL).data == expected


# --- Where a base element has its own base
def test_a_base_element_is_resolved_on_what_is_around_and_the_rest_on_it() -> None:
    document = (
        b"<a href=w><base href=b/><a href=x><base href=c/><template><base href=d/></template>"
    )
    found = [(link.reference, link.url, link.base.layer) for link in links(document, url=URL)]
    outside, inside = Layer.RETRIEVAL, Layer.EMBEDDED
    assert found == [
        ("w", "http://h.example/d/b/w", inside),
        ("b/", "http://h.example/d/b/", outside),
        ("x", "http://h.example/d/b/x", inside),
        ("c/", "http://h.example/d/c/", outside),
        ("d/", "http://h.example/d/d/", outside),
    ]
    assert html_base(document, context()).url == "http://h.example/d/b/"


# --- Nesting: what a text holds is found through every view around it
NESTED = [
    (b"<p style='a:url(&quot;x&quot;)'>", ["p style css x"]),
    (b"<p style='a:\\75rl(&#120;)'>", ["p style css x"]),
    (b"<iframe srcdoc='<p style=&quot;a:url(x)&quot;>'>", ["p style css x"]),
    (b"<iframe srcdoc='<iframe srcdoc=&quot;&amp;lt;a href=x>&quot;>'>", ["a href url x"]),
    (
        b'<iframe srcdoc=\'<script type=importmap>{"imports":{"a":".\\u002fx"}}</script>\'>',
        ["script  import map ./x"],
    ),
    (b"<noscript><style>@import 'x';</style></noscript>", ["style  css x"]),
    (b"<!--[if IE]><style>a{b:url(x)}</style><![endif]-->", ["style  css x"]),
    (b"<svg><style>a{b:url(x)}</style></svg>", ["style  css x"]),
    (b"<svg fill='url(x)'>", ["svg fill css x"]),
]


@pytest.mark.parametrize(("document", "expected"), NESTED)
def test_nested_references(document: bytes, expected: list[str]) -> None:
    found = list(links(document, url=URL, kind="html"))
    assert [f"{x.element} {x.attribute} {x.syntax} {x.reference}" for x in found] == expected
    result = rewrite(document, url=URL, kind="html")
    assert result.changed
    assert rewrite(result.data, url=URL, kind="html").data is result.data


def test_items_are_references_and_edits_of_the_text() -> None:
    text = b"<a href=x><p style='b:url(y)'>"
    items = list(visit_html(text, context()))
    found = [item for item in items if isinstance(item, Found)]
    edits = [item for item in items if isinstance(item, Edit)]
    assert [text[slice(*one.span)] for one in found] == [b"x", b"y"]
    assert splice(text, edits) == (
        b"<a href=http://h.example/d/x><p style='b:url(http://h.example/d/y)'>"
    )


def test_a_style_sheet_is_visited_without_an_element() -> None:
    found = _found(visit_css(b"@import 'x'; a{b:url(y)}", context()))
    assert [(one.element, one.attribute, one.reference) for one in found] == [
        ("", "", "x"),
        ("", "", "y"),
    ]


def _found(items: Iterator[Any]) -> list[Found]:
    return [item for item in items if isinstance(item, Found)]


# --- Rule 9: custom properties. (document, profile, whether it is rewritten)
LINKED = b"<link rel=stylesheet href='http://a.example/s.css'>"
CUSTOM = [
    (b"<p style='--a:url(x)'>", True),
    (LINKED + b"<p style='--a:url(x)'>", False),
    (LINKED + b"<p style='--a:url(?x)'>", False),
    (LINKED + b"<p style='--a:url(/x)'>", True),
    (LINKED + b"<p style='--a:url(//x)'>", True),
    (LINKED + b"<p style='--a:url(\"\\2f x\")'>", True),
    (LINKED + b"<p style='--a:url(\"\\78 \")'>", False),
    (LINKED + b"<p style='a:url(x)'>", True),
    (b"<LINK REL='alternate StyleSheet' HREF='http://a.example/'><p style='--a:url(x)'>", False),
    (b"<link rel=icon href='http://a.example/'><p style='--a:url(x)'>", True),
    (b"<style>@import 'http://a.example/';</style><p style='--a:url(x)'>", False),
    (b"<style>--a:url(x)</style>", True),
    # sheets are where sheets can be
    (b"<!-- @import 'y' --><p style='--a:url(x)'>", True),
    (b"<p>a@import.example<script>'@import'</script><p style='--a:url(x)'>", True),
    (b"<!-- <link rel=stylesheet href=y> --><p style='--a:url(x)'>", True),
    (b"<style>/* @import 'y' */</style><p style='--a:url(x)'>", True),
    (
        b"<noscript><link rel=styleshee&#116; href=http://a/></noscript><p style='--a:url(x)'>",
        False,
    ),
    (b"<style>@i\\6dport 'http://a.example/'</style><p style='--a:url(x)'>", False),
    (b"<p><svg><style>@import 'http://a.example/'</style></svg><p style='--a:url(x)'>", False),
    # what is compared is what is written
    (LINKED + b"<style>@container style(--a:url(x)){}</style>", False),
    (b"<style>@container style(--a:url(x)){}</style>", True),
]


@pytest.mark.parametrize(("document", "rewritten"), CUSTOM)
def test_custom_properties(document: bytes, rewritten: bool) -> None:  # noqa: FBT001
    result = rewrite(document, url=URL)
    assert result.changed == rewritten
    assert [note.reason.value for note in result.notes] == (
        [] if rewritten else ["reference-custom-property"]
    )
    assert result.links[-1].status is (Status.REWRITTEN if rewritten else Status.KEPT)


def test_a_backslash_is_a_slash_in_profile_whatwg_alone() -> None:
    document = LINKED + b"<p style='--a:url(\"\\\\x\")'>"
    assert rewrite(document, url=URL, profile="whatwg").changed
    assert not rewrite(document, url=URL).changed


def test_an_undecodable_byte_of_a_base_takes_no_escape_after_it() -> None:
    """In GBK `\\xb6` and the backslash of an escape would be one character."""
    data = b'<base href="http://h/\xb6\0/"><style>a{b:url(y)}</style>'
    result = relbase.rewrite(data, charset="gbk", kind="html")
    assert result.data.endswith(b"url(http://h/\\fffd \\fffd /y)}</style>")
    assert [link.status.value for link in relbase.links(result.data, charset="gbk")] == [
        "absolute",
        "absolute",
    ]
