"""The function that gives links their URLs, and text wherever bytes are read."""

import re
from typing import Any

import pytest

import relbase
from relbase import Link, Policy, Rewriter, base, explain, links, rewrite, rewrite_text

URL = "http://old.example/d/p.html"
PAGE = b"""<a href="x">1</a>
<a href=http://old.example/y>2</a><img srcset="http://old.example/a 1x, b 2x">
<p style="background:url(http://old.example/c)"><style>@import "/q&amp;";</style>
<iframe srcdoc="&lt;a href='/z?a&amp;amp;b'&gt;"></iframe><form action=""><svg><use href="#u"/>
<script type=importmap>{"imports":{"a":"/x"}}</script>"""
MAIL = b"""From: a@b
Link: <q>
Content-Base: http://old.example/
MIME-Version: 1.0
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable

<a href=3D"x?a=3D1"> =
<img src=3D"http://old.example/p.png">
"""
FEED = (
    b"<rss><channel><link>http://old.example/</link><item><link>q</link>"
    b"<description>&lt;a href='x'&gt;&lt;a href='http://old.example/y'&gt;</description></item>"
    b"</channel></rss>"
)
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nLink: <a>\r\n\r\n<a href=b>"
SHEET = b"@import '/a'; p{b:url(http://old.example/c)}"
JSON = (
    b'{"version":"https://jsonfeed.org/version/1","items":[{"url":"/a",'
    b'"content_html":"<a href=\\"b\\">"}]}'
)
DOCUMENTS = [
    *((PAGE, "html"), (MAIL, "mail"), (FEED, "xml"), (HTTP, "http"), (SHEET, "css")),
    *((JSON, "json"), (b"From a@b Thu Nov 29 22:33:52 2001\n" + MAIL, "mbox")),
]


def moved(link: Link) -> str | None:
    return None if link.url is None else link.url.replace("old.example", "new.example")


@pytest.mark.parametrize(("data", "kind"), DOCUMENTS)
def test_a_function_gives_each_link_its_url(data: bytes, kind: Any) -> None:
    seen: list[Link] = []

    def asked(link: Link) -> str | None:
        seen.append(link)
        return moved(link)

    result = rewrite(data, url=URL, kind=kind, replace=asked)
    listed = list(links(data, url=URL, kind=kind))
    changing = [link for link in listed if link.status != "kept"]
    assert seen == changing  # once each, in document order, with the places of the input
    assert list(result.links) == listed
    written = [link.url for link in links(result.data, url=URL, kind=kind) if link.status != "kept"]
    assert written == [moved(link) for link in changing]
    assert b"old.example" not in result.data


@pytest.mark.parametrize(("data", "kind"), DOCUMENTS)
def test_a_function_that_leaves_all_links_changes_nothing(data: bytes, kind: Any) -> None:
    assert rewrite(data, url=URL, kind=kind, replace=lambda link: link.reference).data is data
    usual = rewrite(data, url=URL, kind=kind)
    replaced = rewrite(data, url=URL, kind=kind, replace=lambda _: None)
    assert (replaced.data, replaced.notes) == (usual.data, usual.notes)


def test_each_of_two_equal_links_has_an_answer_of_its_own() -> None:
    count = iter(range(9))
    result = rewrite(b"<a href=x><a href=x><a href=x>", replace=lambda _: f"/{next(count)}")
    assert result.data == b"<a href=/0><a href=/1><a href=/2>"


def test_urls_are_escaped_for_where_they_are_written() -> None:
    def hostile(_: Link) -> str:
        return "http://h/\"'><b>, c"

    for page in (b'<a href="x">', b"<a href='x'>", b"<a href=x>", b"<a href>"):
        (link,) = links(rewrite(page, replace=hostile).data)
        assert link.reference == hostile(link)
    assert rewrite(b"<img srcset=x>", replace=hostile).data.count(b">") == 1
    sheet = rewrite(b"p{a:url(x)}", kind="css", replace=hostile).data
    assert [link.reference for link in links(sheet, kind="css")] == [hostile(link)]


def test_kept_links_are_not_asked_for() -> None:
    asked: list[str] = []

    def ask(link: Link) -> None:
        asked.append(link.reference)

    policy = Policy(keep=re.compile("^k"), keep_fragments=True)
    page = b"<a href=kept><a href='#f'><svg><use href='#u'/></svg><a href=x>"
    rewrite(page, url=URL, policy=policy, replace=ask)
    assert asked == ["x"]


def test_a_wrong_answer_raises_and_an_exception_reaches_the_caller() -> None:
    wrong: Any = lambda _: 5  # noqa: E731
    with pytest.raises(TypeError, match="replace must return a str, not int: return a URL"):
        rewrite(b"<a href=x>", replace=wrong)
    with pytest.raises(ValueError, match="replace returned an empty URL"):
        rewrite(b"<a href=x>", replace=lambda _: "")
    with pytest.raises(ZeroDivisionError):
        rewrite(b"<a href=x>", replace=lambda _: str(1 // 0))
    with pytest.raises(TypeError, match="replace must be a function, not str"):
        rewrite(b"", replace="http://h/")  # type: ignore[arg-type]


def test_all_functions_that_rewrite_take_it() -> None:
    assert rewrite_text("<a href=x>", url=URL, replace=moved) == "<a href=http://new.example/d/x>"
    rewriter = Rewriter(URL, kind="html", replace=moved)
    assert rewriter.rewrite(b"<a href=x>").data == b"<a href=http://new.example/d/x>"
    assert rewriter.rewrite_text("<a href=x>") == "<a href=http://new.example/d/x>"


# ---- text


def test_a_rewriter_lists_the_links_of_the_input() -> None:
    rewriter = Rewriter(URL, replace=moved)
    page = '<a href="http://old.example/x">'
    assert [link.status for link in rewriter.links(page.encode())] == ["absolute"]
    assert [link.status for link in rewriter.links(page)] == ["absolute"]
    assert "new.example" in rewriter.rewrite_text(page)


def test_text_has_spans_and_columns_in_characters() -> None:
    text = "é<a href=ü>\né<img src=ß>é<i style='a:url(x)'>"
    listed = list(links(text, url=URL))
    assert [text[slice(*link.span)] for link in listed] == ["ü", "ß", "x"]
    lines = text.split("\n")
    for link in listed:
        assert lines[link.line - 1].startswith(link.reference, link.column - 1)
    assert Rewriter(URL).links(text) is not None
    assert list(Rewriter(URL).links(text)) == listed


def test_text_is_never_sniffed() -> None:
    assert [link.url for link in links("From: a\n\n<a href=x>", url=URL)] == [
        "http://old.example/d/x"
    ]
    assert next(links("p{a:url(x)}", url=URL, kind="css")).url == "http://old.example/d/x"
    with pytest.raises(ValueError, match="text of kind 'mail' is not read: give bytes"):
        next(links("", kind="mail"))
    assert "http://b/x" in explain("<base href='http://b/'><a href=x>")


def test_the_base_of_a_text() -> None:
    found = base("é<base href=/s/><base href=/t/>", url=URL)
    assert (found.url, found.layer) == ("http://old.example/s/", "embedded")
    (note,) = found.refused
    assert note.span is not None
    assert "é<base href=/s/><base href=/t/>"[slice(*note.span)] == "/t/"
    assert Rewriter(URL).base("<base href=/s/>").url == "http://old.example/s/"


def test_an_empty_url_is_unknown() -> None:
    for call in (rewrite(b"<a href=x>", url=""), rewrite(b"<a href=x>", url=None)):
        assert call.base.layer == "none"
    assert rewrite_text("<base href='http://b/'><a href=x>") == (
        "<base href='http://b/'><a href=http://b/x>"
    )
    assert Rewriter(base="http://b/").rewrite_text("<a href=x>") == "<a href=http://b/x>"
    assert Rewriter("").links("<a href=x>") is not None
    with pytest.raises(TypeError, match="the text needs its URL"):
        Rewriter().rewrite_text("<a href=x>")
    assert relbase.Rewriter(URL).rewrite_text("<a href=x>", base="http://b/s/") == (
        "<a href=http://b/s/x>"
    )
