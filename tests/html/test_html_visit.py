"""From a document to its references and back: contexts, nesting, and what is written where."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import html5lib
import pytest
from rows import cases
from scanners import assert_agreed

import relbase
from relbase import Layer, Profile, Reason, Status, links, resolve, rewrite

TABLES = Path(__file__).with_name("html_visit.txt")

URL = "http://h.example/d/p.html"


def _as_they_are(characters: str) -> dict[str, str]:
    return {character: character for character in characters}


# --- Rule 10. What each character of a base becomes in each context, written out by hand: a page
# with `{}` where the base is written, and how characters are written there.
CONTEXTS: Final[dict[str, tuple[str, dict[str, str]]]] = {
    "double": (
        '<a href="{}x">',
        {'"': "&quot;", "&": "&amp;", "<": "&lt;", ">": "&gt;"} | _as_they_are("' `="),
    ),
    "single": ("<a href='{}x'>", {"'": "&#39;", "&": "&amp;", '"': '"'}),
    "unquoted": (
        "<a href={}x>",
        {'"': "&quot;", "'": "&#39;", "`": "&#96;", "=": "&#61;", " ": "&#32;", ">": "&gt;"},
    ),
    "css url": (
        "<style>a{{b:url({}x)}}</style>",
        {character: f"\\{ord(character):x} " for character in "\"'() <"} | {"&": "&"},
    ),
    "css double": (
        '<style>a{{b:url("{}x")}}</style>',
        {'"': "\\22 ", "<": "\\3c "} | _as_they_are("')"),
    ),
    "css single": ("<style>a{{b:url('{}x')}}</style>", {"'": "\\27 ", '"': '"'}),
    "css in double": ('<p style="a:url({}x)">', {'"': "\\22 ", "&": "&amp;", "<": "\\3c "}),
    "css string in double": ("<p style=\"a:url('{}x')\">", {'"': "&quot;", "'": "\\27 "}),
    "css in unquoted": ("<p style=a:url({}x)>", {" ": "\\20&#32;"}),
    "srcset": ('<img srcset="{}x 1x, {}y 2x">', {" ": "%20", '"': "&quot;"} | _as_they_are(",(")),
    "space list": ('<a ping="{}x {}y">', {" ": "%20", ",": ","}),
    "comma list": ('<applet archive="{}x,{}y">', {" ": "%20", ",": "%2C"}),
    "refresh": (
        '<meta http-equiv=refresh content="0;url={}x">',
        {'"': "&quot;"} | _as_they_are(" '"),
    ),
    "refresh single": (
        "<meta http-equiv=refresh content=\"0;url='{}x'\">",
        {"'": "%27", '"': "&quot;"},
    ),
    "refresh double": (
        "<meta http-equiv=refresh content='0;url=\"{}x\"'>",
        {"'": "&#39;", '"': "%22"},
    ),
    "link": (
        '<meta http-equiv=link content="<{}x>; rel=y">',
        {">": "%3E", "<": "%3C", " ": "%20", ",": ","},
    ),
    "json": (
        '<script type=importmap>{{"imports":{{"a":"{}x"}}}}</script>',
        {'"': '\\"', "<": "\\u003c", ">": "\\u003e"} | _as_they_are("'&"),
    ),
    "srcdoc": (
        '<iframe srcdoc="<a href=&quot;{}x&quot;>"></iframe>',
        {'"': "&amp;quot;", "&": "&amp;amp;", "<": "&amp;lt;", "'": "'"},
    ),
}


@pytest.mark.parametrize("context", CONTEXTS)
def test_what_is_written_is_escaped_for_its_place(context: str) -> None:
    template, characters = CONTEXTS[context]
    dot = "./" if context == "json" else ""
    document = template.format(dot, dot).encode()
    for character, written in characters.items():
        expected = template.format(*[f"http://h.example/a{written}b/"] * 2)
        result = assert_agreed(document, url=f"http://h.example/a{character}b/p", kind="html")
        assert result.data.decode() == expected


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


@pytest.mark.parametrize("context", CONTEXTS)
@pytest.mark.parametrize("path", HOSTILE)
def test_a_base_ends_no_value(path: str, context: str) -> None:
    """Law 8, with html5lib as the referee: the same elements and attributes."""
    dot = "./" if context == "json" else ""
    document = (CONTEXTS[context][0].format(dot, dot) + "<b title=t>end</b>").encode()
    for profile in Profile:
        result = rewrite(document, url=f"http://h.example/{path}p", profile=profile)
        # In the RFC profiles no URL holds a backslash (rule 5).
        assert result.changed == (profile is Profile.WHATWG or "\\" not in path)
        assert structure(result.data.decode()) == structure(document.decode())
        if context != "json":  # absolute addresses of an import map are not listed
            statuses = [link.status for link in links(result.data)]
            status = Status.ABSOLUTE if result.changed else Status.UNRESOLVED
            assert statuses == [status] * len(result.links)


@pytest.mark.parametrize("context", ["double", "single", "unquoted"])
@pytest.mark.parametrize("path", HOSTILE)
def test_what_a_parser_reads_is_what_was_meant(path: str, context: str) -> None:
    """With html5lib as the referee of character references."""
    template = CONTEXTS[context][0]
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


@pytest.mark.parametrize("template", [template for template, _ in UNENCODABLE])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "utf-16-be"])
def test_unicode_has_every_character(template: str, charset: str) -> None:
    dot = "./" if "importmap" in template else ""
    base = "http://h2.example/\xe9\u0416/"
    page = f'\ufeff<base href="{base}">{template}'
    result = rewrite(page.format(dot).encode(charset), url=URL, kind="html")
    assert result.data.decode(charset) == page.format(base)


def test_a_sheet_in_iso_2022_jp_has_escapes_of_css() -> None:
    sheet = b"a{b:url(\\e9 /./x)}\x1b$B$\x22\x1b(B"
    result = rewrite(sheet, url="http://h/", kind="css", charset="iso-2022-jp")
    assert result.data == sheet.replace(b"\\e9 /./x", b"http://h/\\e9 /x")


# --- Rule 4: what browsers fetch before they see a late base
@cases(TABLES, "before a late base", markup=str, early=bool)
def test_what_is_fetched_at_once_is_resolved_against_the_base_around(
    markup: str, *, early: bool
) -> None:
    base = "<base href=http://b.example/>"
    document = f"<meta name=x>{markup}{base}<img src=x>"
    for profile in Profile:
        is_early = early and profile is Profile.WHATWG
        expected = "http://h.example/d/x" if is_early else "http://b.example/x"
        result = assert_agreed(document.encode(), url=URL, profile=profile)
        first, *_, last = result.links
        assert (first.url, last.url) == (expected, "http://b.example/x")
        assert result.data.count(f"{expected}".encode()) == 1 + (not is_early)
        notes = [note.reason for note in result.notes]
        assert notes == ([] if is_early else [Reason.BASE_LATE])
        again = relbase.rewrite(result.data, url=URL, profile=profile)
        assert not again.changed


def test_a_srcdoc_before_a_late_base_has_the_base_around_and_its_own() -> None:
    inner = b"<img src=x><base href=c/><a href=y>"
    document = b"<iframe srcdoc='%b'></iframe><base href=http://b.example/><a href=z>" % inner
    result = assert_agreed(document, url=URL, profile="whatwg")
    around = "http://h.example/d"
    urls = [link.url for link in result.links if link.element != "base"]
    assert urls == [f"{around}/x", f"{around}/c/y", "http://b.example/z"]


def test_what_is_fetched_at_once_from_an_unknown_url_stays() -> None:
    document = b"<img src=x><a href=y><base href=http://b.example/>"
    result = assert_agreed(document, profile="whatwg")
    assert result.data == document.replace(b"y", b"http://b.example/y")
    assert {note.reason for note in result.notes} == {Reason.BASE_NONE, Reason.BASE_LATE}


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
    assert relbase.base(document, url=URL).url == "http://h.example/d/b/"


@pytest.mark.parametrize("tag", ["href=http://b.example/", "href=b/", "target=x"])
def test_what_a_base_element_has_besides_is_resolved_on_what_is_around(tag: str) -> None:
    first, second = "<base href=http://b.example/>", f"<base {tag} style='a:url(x)'>"
    for document in (second, first + second):
        result = assert_agreed(f"{document}<a href=y>".encode(), url=URL)
        urls = [
            link.url for link in result.links if link.element != "base" or link.attribute != "href"
        ]
        assert urls[0] == "http://h.example/d/x"
        assert b"url(http://h.example/d/x)" in result.data


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


# --- Rule 9: custom properties. (document, whether it is rewritten)
LINKED = b"<link rel=stylesheet href='http://a.example/s.css'>"


@cases(TABLES, "custom properties", document=bytes, rewritten=bool)
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


def test_a_drive_is_the_root_of_file_urls_in_profile_whatwg() -> None:
    result = rewrite(b"<a href='/D:/x'><a href='/x'>", url="file:///C:/d/p", profile="whatwg")
    assert result.data == b"<a href='file:///D:/x'><a href='file:///C:/x'>"


def test_a_dot_of_a_reference_is_not_that_of_a_name() -> None:
    assert rewrite(b"<a href='./x'>", url="http://h/y./z").edits == ((9, 9, b"http://h/y"),)


def test_the_text_of_a_section_is_in_the_charset_of_the_page() -> None:
    page = '<base href="http://h/é/"><svg><style><![CDATA[a{b:url(%sx)}]]></style>'
    result = relbase.rewrite((page % "").encode("latin-1"), charset="latin1", kind="html")
    assert result.data == (page % "http://h/é/").encode("latin-1")


def test_a_reference_is_read_in_the_charset_of_its_page_though_it_would_be_utf_8() -> None:
    page = "<a href='é'><a href='http://h/é'>".encode()
    found = [link.reference for link in relbase.links(page, url="http://h/", charset="latin1")]
    assert found == ["Ã©", "http://h/Ã©"]


@pytest.mark.parametrize("undecodable", [b"\xb6\0", b"\xb6\xffl", b"\xb6\xff\xffl"])
def test_an_undecodable_byte_of_a_base_takes_no_escape_after_it(undecodable: bytes) -> None:
    """In GBK `\\xb6` and the backslash of an escape would be one character."""
    data = b'<base href="http://h/%b/"><style>a{b:url(y)}</style>' % undecodable
    result = relbase.rewrite(data, charset="gbk", kind="html")
    assert b"\xb6" not in result.data.partition(b"<style>")[2]
    assert [link.status.value for link in relbase.links(result.data, charset="gbk")] == [
        "absolute",
        "absolute",
    ]


_BASES = ("http://h", "http://h/", "http://h/a./b/", "http://h/%20/a%/b", "http://h/%2E%2e/a%2e/b")
_REFERENCES = ("x", "/x", "./x", "../x", "../../x", "../../../x", "?x", "#x", "//x/", "x.", "..x")


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("url", [*_BASES, "http://h/a/?b=/../c;d", "http://h/a/b/c/d/e?f#g"])
def test_plain_references_become_what_they_resolve_to(url: str, profile: Profile) -> None:
    urls = [resolve(url.partition("#")[0], reference, profile) for reference in _REFERENCES]
    page, expected = (
        "".join(f"<a href='{one}'></a>" for one in each) for each in (_REFERENCES, urls)
    )
    assert rewrite(page.encode(), url=url, profile=profile).data.decode() == expected
    feed, expected = (
        '<feed xmlns="http://www.w3.org/2005/Atom">'
        + "".join(f'<entry xml:base="{url}"><link href="{one}"/></entry>' for one in each)
        + "</feed>"
        for each in (_REFERENCES, urls)
    )
    assert rewrite(feed.encode(), url="http://h/", profile=profile).data.decode() == expected
