"""What the tests of other tools expect, and where relbase differs on purpose.

The tables are facts taken from the tests of w3lib, lxml, HTML::ResolveLink, HTTP::Response,
HTML::LinkExtor, jsoup, pywb and of crawlers' CSS extraction. Every difference is in a table here
with its reason; a difference that is not there fails, and so does one that is there and none.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from counts import Counts
from tables import load_table

import relbase

Row = dict[str, Any]


def table(data: Path, name: str) -> list[Row]:
    rows = load_table(data / "html/peers" / f"{name}.json")
    assert rows, f"{name} is empty"
    return rows


def check(
    rows: list[Row], found: Callable[[Row], object], wanted: Callable[[Row], object], differ: Row
) -> tuple[int, int]:
    """Compare what is found with what is wanted, but for `differ`: index -> what is found.

    Return how many rows were compared, and how many of them differ; empty rows do not count.
    """
    results = {
        str(index): found(row) for index, row in enumerate(rows) if found(row) != wanted(row)
    }
    assert results == differ
    return sum(bool(row) for row in rows), len(differ)


# --- scrapy/w3lib: get_base_url, get_meta_refresh

W3LIB_BASE_DIFFERS: Final[Row] = {
    # w3lib percent-encodes every URL; profile rfc1808 keeps the author's characters
    "9": "http://example.org/sterling\u00a3"
}
W3LIB_REFRESH_DIFFERS: Final[Row] = {
    # the tag is not closed: no browser sees a tag
    "11": None,
    # absolute already: its bytes are never touched (rule 6)
    "15": "http://example.com/to\u00a3",
    "16": "http://example.com/to\u00a3?unit=\u00b5",
    # the meta is written by a script
    "21": None,
}


def w3lib_document(row: Row) -> bytes:
    encoding = "latin-1" if "html_is" in row else row["encoding"]
    html: str = row["html"]
    return html.encode(encoding)


def w3lib_call(row: Row) -> Row:
    # Python's name of the charset is none of the WHATWG labels
    charset = row["encoding"].replace("latin-1", "latin1")
    return {"url": row["url"] or None, "charset": charset, "kind": "html"}


def test_w3lib_base(data: Path, counts: Counts) -> None:
    rows = table(data, "w3lib-base-and-refresh")
    cases, known = check(
        [row if row["function"] == "get_base_url" else {} for row in rows],
        lambda row: relbase.base(w3lib_document(row), **w3lib_call(row)).url if row else None,
        lambda row: row.get("expected"),
        W3LIB_BASE_DIFFERS,
    )
    counts("peers: w3lib", cases, known)


def refresh_url(row: Row) -> str | None:
    if not row:
        return None
    found = relbase.links(w3lib_document(row), **w3lib_call(row))
    return next((link.url for link in found if link.syntax == "refresh"), None)


def test_w3lib_refresh(data: Path, counts: Counts) -> None:
    rows = table(data, "w3lib-base-and-refresh")
    cases, known = check(
        [row if row["function"] == "get_meta_refresh" else {} for row in rows],
        refresh_url,
        lambda row: row["expected"][1] if row else None,
        W3LIB_REFRESH_DIFFERS,
    )
    counts("peers: w3lib", cases, known)


# --- lxml: make_links_absolute and iterlinks

# lxml takes any content of a refresh for a URL; WHATWG HTML wants a time first.
LXML_ONLY: Final = ("meta", "content", "broken", "http://my.little.server/url/broken")


def test_lxml_make_links_absolute(data: Path, counts: Counts) -> None:
    (row,) = (r for r in table(data, "lxml-rewritelinks") if r["function"] == "make_links_absolute")
    result = relbase.rewrite(row["html"].encode(), url=row["url"])
    ours = [link.url for link in result.links]
    theirs = [link.reference for link in relbase.links(row["expected"].encode())]
    assert ours == theirs
    assert f"{LXML_ONLY[2]} " in row["html"]
    assert LXML_ONLY[3] in row["expected"]
    assert LXML_ONLY[3] not in ours
    # lxml writes its tree anew and strips the values; here what is outside of the links stays
    assert result.data.count(b"\n") == row["html"].count("\n")
    assert b'<a href=" http://my.little.server/test.html">' in result.data
    counts("peers: lxml", 1, 1)


def test_lxml_iterlinks(data: Path, counts: Counts) -> None:
    (row,) = (r for r in table(data, "lxml-rewritelinks") if r["function"] == "iterlinks")
    printed = re.findall(r'^(\w+) (\w+)="([^"]*)"', row["expected"], re.MULTILINE)
    theirs = sorted((tag, "" if name == "None" else name, url) for tag, name, url in printed)
    found = relbase.links(row["html"].encode(), url="http://my.little.server/url/")
    assert sorted((link.element, link.attribute, link.reference) for link in found) == theirs
    counts("peers: lxml", 1, 0)


def test_lxml_rewrite_links(data: Path, counts: Counts) -> None:
    """What is absolute stays: the four rows are absolute but for one."""
    rows = [
        row for row in table(data, "lxml-rewritelinks") if row["function"].startswith("rewrite")
    ]
    assert len(rows) == 4
    for row in rows:
        document = row["html"].encode()
        result = relbase.rewrite(document, url="http://old/base/path.html")
        assert result.changed == ("foo.css" in row["html"])
        assert b"http://old/base/foo.css" in result.data or result.data is document
    counts("peers: lxml", 4, 0)


# --- Perl: HTML::ResolveLink keeps every byte, HTTP::Response has the layers, HTML::LinkExtor lists


def test_perl_resolve_link(data: Path, counts: Counts) -> None:
    rows = table(data, "perl-HTML-ResolveLink")
    cases, known = check(
        rows,
        lambda row: relbase.rewrite(row["html"].encode(), url=row["url"]).data.decode(),
        lambda row: row["expected"],
        {},
    )
    counts("peers: Perl", cases, known)


def test_perl_response_base(data: Path, counts: Counts) -> None:
    cases, known = check(
        table(data, "perl-HTTP-Response-base"),
        lambda row: relbase.base(b"", url=row["request_uri"], headers=row["headers"]).url,
        lambda row: row["expected_base"],
        {},
    )
    counts("peers: Perl", cases, known)


def test_perl_link_extor(data: Path, counts: Counts) -> None:
    """LinkExtor leaves `<base>` to its caller; here it counts."""
    (row,) = table(data, "perl-HTML-LinkExtor")
    found = list(relbase.links(row["html"].encode(), url=row["url"]))
    assert len(found) == row["links"]
    assert found[-1].url == "http://www.sn.no/img.jpg" != row["img_src"]
    counts("peers: Perl", 1, 1)


# --- jsoup: absUrl

JSOUP_DIFFERS: Final[Row] = {
    # jsoup's table names the first of the two links only
    "2": [
        ["a", "href", "password", "file://localhost/etc/password"],
        ["a", "href", "/var/log/messages", "file://localhost/var/log/messages"],
    ]
}


def test_jsoup_abs_url(data: Path, counts: Counts) -> None:
    def found(row: Row) -> list[list[str]]:
        listed = relbase.links(row["html"].encode(), url=row["url"] or None)
        return [[link.element, link.attribute, link.reference, link.url or ""] for link in listed]

    cases, known = check(
        table(data, "jsoup-absurl"), found, lambda row: row["links"], JSOUP_DIFFERS
    )
    counts("peers: jsoup", cases, known)


# --- Crawlers: URLs in CSS

CSS_DIFFERS: Final[Row] = {
    # CSS Syntax §4.3.7: an escaped quote is a character of the url; crawlers unescape twice
    "2": ['"foo.gif"'],
    # §4.3.4: an empty string, and something after it
    "3": [],
    # §4.3.5: a string to the end of the text, and one of a quotation mark; the rows say only that
    # nothing must crash
    "8": ['")'],
    "9": ['"'],
}


def test_css_urls(data: Path, counts: Counts) -> None:
    def found(row: Row) -> list[str]:
        listed = relbase.links(row["css"].encode(), url=row.get("base"), kind="css")
        return [link.reference for link in listed]

    rows = table(data, "css-url-extraction")
    cases, known = check(
        rows, found, lambda row: row["urls"] if "urls" in row else row["absolute"], CSS_DIFFERS
    )
    counts("peers: crawlers' CSS", cases, known)


# --- pywb: what it makes absolute

_PAGE: Final = "pywb leaves references alone that are relative to the page"
_NETWORK: Final = "pywb leaves the scheme out as the author did"
_WRITES: Final = "pywb writes elements or scripts of its own"
PYWB_DIFFERS: Final[dict[str, str]] = {
    '<HTML><A Href="page.html">Text</a></hTmL>': _PAGE,
    '<base href="//example.com"/><img src="/foo.gif"/>': "pywb writes its own host",
    '<base href="./static/"/><a href="/static/"/>': _PAGE,
    '<base href="">': _PAGE,
    '<a href="&#x2f;&#x2f;www&#x2e;example&#x2e;com&#x2f;path&#x2f;file.html">': _NETWORK,
    '<img srcset="//example.com/1x,1x 2w, //example1.com/foo 2x, http://example.com/bar,bar 4x">': (
        _NETWORK
    ),
    """<div style="background: url('abc.html')" onblah """
    """on-click="location = 'redirect.html'"></div>""": _PAGE,
    "<style>@import url(styles.css)": _PAGE,
    '<html><script src="other.js"></script></html>': _WRITES,
    '<HTML><A Href="  ">Text</a></hTmL>': _PAGE,
    """<html><a href="javascript:location='foo.html'"></a></html>""": _WRITES,
}


def test_pywb(data: Path, counts: Counts) -> None:
    """pywb writes each tag anew: compared are the references in what it and relbase write."""

    def references(document: bytes) -> list[str]:
        return [link.reference for link in relbase.links(document, kind="html")]

    rows = table(data, "pywb-html-rewriter")
    differ = set()
    for row in rows:
        ours = relbase.rewrite(row["html"].encode(), url=row["url"], kind="html").data
        if references(ours) != references(row["expected_absolute"].encode()):
            differ.add(row["html"])
    assert differ == set(PYWB_DIFFERS)
    assert len(rows) > 50
    counts("peers: pywb", len(rows), len(differ))


def test_every_table_is_used(data: Path) -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    tables = [path.stem for path in (data / "html/peers").glob("*.json")]
    if not tables:
        pytest.skip("html/peers stands in no public repository")
    assert len(tables) >= 8
    assert [name for name in tables if f'table(data, "{name}")' not in source] == []
