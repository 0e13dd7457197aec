"""The text and the `rel` of the element that a link is on: `links(texts=True)`."""

from __future__ import annotations

import re
from collections import Counter
from email.message import EmailMessage
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Final

import bs4
import pytest
from bs4.element import NavigableString
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from rows import cases

import relbase
from relbase.html.anchors import MAX_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES = Path(__file__).with_name("anchors.txt")


def texts_of(document: bytes, **how: object) -> list[str]:
    return [link.text for link in relbase.links(document, texts=True, **how)]  # type: ignore[arg-type]


def listed(cell: str) -> list[str]:
    return [text.strip('"') for text in cell.split("; ")]


@cases(TABLES, "HTML", document=bytes, texts=str)
def test_texts_in_html(document: bytes, texts: str) -> None:
    assert texts_of(document.replace(b"\xa0", b""), kind="html") == listed(texts)


@cases(TABLES, "rel", document=bytes, rels=str)
def test_rels(document: bytes, rels: str) -> None:
    found = relbase.links(document, kind="html", texts=True)
    assert [link.rel for link in found] == listed(rels)


@cases(TABLES, "XML", content=bytes, texts=str)
def test_texts_in_xhtml(content: bytes, texts: str) -> None:
    page = b'<html xmlns="http://www.w3.org/1999/xhtml"><body>%b</body></html>' % content
    assert texts_of(page, kind="xml") == listed(texts)


PAGE: Final = "<a href=x rel=next>é <b>a</b></a>"


@pytest.mark.parametrize("charset", ["utf-8", "windows-1252", "utf-16", "shift_jis", "gb18030"])
def test_texts_are_decoded(charset: str) -> None:
    page = PAGE.replace("é", "\u0416" if charset in {"shift_jis", "gb18030"} else "é")
    expected = page.split(">")[1][0] + " a"
    assert texts_of(page.encode(charset), kind="html", charset=charset) == [expected]


def test_text_that_is_held_as_str() -> None:
    [link] = relbase.links(PAGE, texts=True)
    assert (link.text, link.rel, link.span) == ("é a", "next", (8, 9))
    assert list(relbase.Rewriter().links(PAGE, texts=True)) == [link]
    assert list(relbase.Rewriter(kind="html").links(PAGE.encode(), texts=True)) == [link]


@pytest.mark.parametrize("encoding", ["quoted-printable", "base64", "8bit"])
def test_texts_in_mail(encoding: str) -> None:
    message = EmailMessage()
    message.set_content("plain")
    message.add_alternative(PAGE, subtype="html", cte=encoding)
    [link] = relbase.links(message.as_bytes(), kind="mail", texts=True)
    assert (link.text, link.rel, link.part) == ("é a", "next", "2")


def test_html_in_a_feed_and_the_links_of_the_feed() -> None:
    feed = (
        b'<feed xmlns="http://www.w3.org/2005/Atom"><link rel="self" href="f"/><entry>'
        b'<content type="html">&lt;a href="x">One &amp;amp; two&lt;/a></content></entry></feed>'
    )
    found = list(relbase.links(feed, kind="xml", texts=True, url="http://h.example/"))
    assert [(link.text, link.rel) for link in found] == [("", "self"), ("One & two", "")]


RESPONSE: Final = SimpleNamespace(
    content=b"<a href=x>a</a>",
    url="http://h.example/",
    headers={"Content-Type": "text/html", "Link": "<y>; rel=next"},
    status_code=200,
)


def test_texts_of_responses() -> None:
    http = (
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nLink: <y>; rel=next\r\n\r\n<a href=x>a</a>"
    )
    assert texts_of(http, kind="http", url="http://h.example/") == ["", "a"]
    header, body = relbase.response_links(RESPONSE, texts=True)
    assert (header.text, body.text) == ("", "a")


def test_nothing_is_looked_for_without_being_asked() -> None:
    with_texts = relbase.links(PAGE, texts=True)
    [link] = relbase.links(PAGE)
    assert (link.text, link.rel) == ("", "")
    assert [other._replace(text="", rel="") for other in with_texts] == [link]
    assert "text" not in link.as_dict()
    assert link._replace(text="t").as_dict(texts=True)["text"] == "t"


_WORDS: Final = (
    "<a href=x> </a> <b> </b> <p> </p> <div> <table> </table> <td> <li> a &amp; <svg> </svg> "
    "<script> </script> <noscript> </noscript> <!--[if IE]> -->"
)
TAGS: Final = re.findall("<[^>]*>|[^ ]+", _WORDS)
tags = st.sampled_from(
    [*TAGS, " ", "\n", "</div>", "<img alt=i src=z>", "<div style=background:url(y)>"]
)
documents = st.lists(tags, max_size=40).map("".join)


@given(documents)
def test_links_are_the_same_with_texts(document: str) -> None:
    with_texts = list(relbase.links(document, texts=True, url="http://h.example/"))
    without = list(relbase.links(document, url="http://h.example/"))
    assert [link._replace(text="", rel="") for link in with_texts] == without
    assert all(len(link.text) <= MAX_TEXT for link in with_texts)
    assert all(link.text == " ".join(link.text.split()) for link in with_texts)


def shown(element: bs4.Tag) -> str:
    """The text of an anchor in a tree of BeautifulSoup, which is not folded."""
    hidden = {id(text) for script in element.find_all("script") for text in script.descendants}
    texts = (text for text in element.descendants if type(text) is NavigableString)
    text = "".join(text for text in texts if id(text) not in hidden)
    return text if text.strip() else "i" if element.find("img") else ""


def test_the_texts_are_those_of_html5lib() -> None:
    compared = 0

    @given(
        st.lists(tags.filter(lambda tag: "noscript" not in tag and "--" not in tag), max_size=40)
    )
    def compare(units: list[str]) -> None:
        nonlocal compared
        numbered = (tag.replace("=x", f"=x{at}") for at, tag in enumerate(units))
        document = "<!doctype html>" + "".join(numbered)
        texts = {link.reference: link.text for link in relbase.links(document, texts=True)}
        anchors = bs4.BeautifulSoup(document, "html5lib").find_all("a", href=True)
        times = Counter(anchor["href"] for anchor in anchors)
        for anchor in anchors:  # one that is opened again is several elements of the tree
            if times[anchor["href"]] == 1:
                compared += 1
                assert texts[str(anchor["href"])] == " ".join(shown(anchor).split())

    compare()
    assert compared


def deep(unit: bytes, after: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: unit * (size // len(unit)) + after


@pytest.mark.parametrize(
    "make",
    [
        deep(b"<a href=x>"),
        deep(b"<a href=x>a"),
        deep(b"<div style=background:url(x)>a"),
        deep(b"<div style=background:url(x)>", b"a b" * 1000),
        deep(b"<table><td><a href=x>", b"<img alt='' src=y>" * 1000),
        deep(b"<table><td><a href=x><img alt='' src=y>"),
        deep(b"<a href=x><b><p>"),
        deep(b"<b><i></b><a href=x>"),
        deep(b"<!--[if IE]><a href=x>b<![endif]-->"),
        deep(b"<noscript><a href=x>b</noscript>"),
        lambda size: b"<img rel=r srcset='" + b"x," * (size // 2) + b"'>",
        lambda size: b"<a href=x>" + b"&nbsp;<i>" * (size // 9),
    ],
)
def test_time_is_linear(make: Callable[[int], bytes]) -> None:
    assert_linear_from_10_ms(lambda data: texts_of(data, kind="html"), make)


def test_time_is_linear_in_xml() -> None:
    def make(size: int) -> bytes:
        count = size // 40
        opened = b'<a href="x">' * (count % 5000) + b'<a href="x">t</a>' * count
        return b'<html xmlns="http://www.w3.org/1999/xhtml">%b%b</html>' % (
            opened,
            b"</a>" * (count % 5000),
        )

    assert_linear_from_10_ms(lambda data: texts_of(data, kind="xml"), make)
