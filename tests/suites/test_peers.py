"""What the tests of other tools expect, and where relbase differs on purpose.

The tables are facts taken from the tests of w3lib, lxml, HTML::ResolveLink, HTTP::Response,
HTML::LinkExtor, jsoup, pywb and of crawlers' CSS extraction. Every difference is in a table here
with its reason; a difference that is not there fails, and so does one that is there and none.
"""

import doctest
import re
from collections.abc import Callable
from functools import partialmethod
from pathlib import Path
from typing import Any, Final

import lxml.html
import pytest
from counts import Counts, known
from lxml.doctestcompare import LHTMLOutputChecker
from tables import load_table

import relbase
import relbase.trees
from relbase.url.profiles import Profile
from relbase.url.resolver import Resolver

Row = dict[str, Any]


def table(data: Path, name: str, function: str = "") -> list[Row]:
    rows = load_table(data / "html/peers" / f"{name}.json")
    assert rows, f"{name} is empty"
    return [row for row in rows if row.get("function", "").startswith(function)]


def check(
    counts: Counts,
    suite: str,
    rows: list[Row],
    compared: Callable[[Row], tuple[object, object]],
    differ: dict[int, object],
) -> None:
    """Compare what is found with what is wanted, but for `differ`: index -> what is found."""
    pairs = map(compared, rows)
    assert {at: found for at, (found, wanted) in enumerate(pairs) if found != wanted} == differ
    counts(suite, len(rows), len(differ))


# --- scrapy/w3lib: get_base_url, get_meta_refresh

W3LIB_BASE_DIFFERS: Final[dict[int, object]] = {
    # w3lib percent-encodes every URL; profile rfc1808 keeps the author's characters
    9: "http://example.org/sterling\u00a3"
}
W3LIB_REFRESH_DIFFERS: Final[dict[int, object]] = {
    # the tag is not closed: no browser sees a tag
    1: None,
    # absolute already: its bytes are never touched (rule 6)
    5: "http://example.com/to\u00a3",
    6: "http://example.com/to\u00a3?unit=\u00b5",
    # the meta is written by a script
    11: None,
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
    check(
        counts,
        "peers: w3lib",
        table(data, "w3lib-base-and-refresh", "get_base_url"),
        lambda row: (
            relbase.base(w3lib_document(row), **w3lib_call(row)).url,
            row["expected"],
        ),
        W3LIB_BASE_DIFFERS,
    )


def refresh_url(row: Row) -> str | None:
    found = relbase.links(w3lib_document(row), **w3lib_call(row))
    return next((link.url for link in found if link.syntax == "refresh"), None)


def test_w3lib_refresh(data: Path, counts: Counts) -> None:
    rows = table(data, "w3lib-base-and-refresh", "get_meta_refresh")
    check(
        counts,
        "peers: w3lib",
        rows,
        lambda row: (refresh_url(row), row["expected"][1]),
        W3LIB_REFRESH_DIFFERS,
    )


# --- lxml: make_links_absolute and iterlinks

# lxml takes any content of a refresh for a URL; WHATWG HTML wants a time first.
LXML_ONLY: Final = ("meta", "content", "broken", "http://my.little.server/url/broken")


def test_lxml_make_links_absolute(data: Path, counts: Counts) -> None:
    (row,) = table(data, "lxml-rewritelinks", "make_links_absolute")
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
    (row,) = table(data, "lxml-rewritelinks", "iterlinks")
    printed = re.findall(r'^(\w+) (\w+)="([^"]*)"', row["expected"], re.MULTILINE)
    theirs = sorted((tag, "" if name == "None" else name, url) for tag, name, url in printed)
    found = relbase.links(row["html"].encode(), url="http://my.little.server/url/")
    assert sorted((link.element, link.attribute, link.reference) for link in found) == theirs
    counts("peers: lxml", 1, 0)


def test_lxml_rewrite_links(data: Path, counts: Counts) -> None:
    """What is absolute stays: the four rows are absolute but for one."""
    rows = table(data, "lxml-rewritelinks", "rewrite")
    assert len(rows) == 4
    for row in rows:
        document = row["html"].encode()
        result = relbase.rewrite(document, url="http://old/base/path.html")
        assert result.changed == ("foo.css" in row["html"])
        assert b"http://old/base/foo.css" in result.data or result.data is document
    counts("peers: lxml", 4, 0)


# --- Perl: HTML::ResolveLink keeps every byte, HTTP::Response has the layers, HTML::LinkExtor lists


def test_perl_resolve_link(data: Path, counts: Counts) -> None:
    check(
        counts,
        "peers: Perl",
        table(data, "perl-HTML-ResolveLink"),
        lambda row: (
            relbase.rewrite(row["html"].encode(), url=row["url"]).data.decode(),
            row["expected"],
        ),
        {},
    )


def test_perl_response_base(data: Path, counts: Counts) -> None:
    check(
        counts,
        "peers: Perl",
        table(data, "perl-HTTP-Response-base"),
        lambda row: (
            relbase.base(b"", url=row["request_uri"], headers=row["headers"]).url,
            row["expected_base"],
        ),
        {},
    )


def test_perl_link_extor(data: Path, counts: Counts) -> None:
    """LinkExtor leaves `<base>` to its caller; here it counts."""
    (row,) = table(data, "perl-HTML-LinkExtor")
    found = list(relbase.links(row["html"].encode(), url=row["url"]))
    assert len(found) == row["links"]
    assert found[-1].url == "http://www.sn.no/img.jpg" != row["img_src"]
    counts("peers: Perl", 1, 1)


# --- jsoup: absUrl

JSOUP_DIFFERS: Final[dict[int, object]] = {
    # jsoup's table names the first of the two links only
    2: [
        ["a", "href", "password", "file://localhost/etc/password"],
        ["a", "href", "/var/log/messages", "file://localhost/var/log/messages"],
    ]
}


def test_jsoup_abs_url(data: Path, counts: Counts) -> None:
    def compared(row: Row) -> tuple[object, object]:
        listed = relbase.links(row["html"].encode(), url=row["url"] or None)
        found = [[one.element, one.attribute, one.reference, one.url or ""] for one in listed]
        return found, row["links"]

    rows = table(data, "jsoup-absurl")
    check(counts, "peers: jsoup", rows, compared, JSOUP_DIFFERS)


# --- Crawlers: URLs in CSS

CSS_DIFFERS: Final[dict[int, object]] = {
    # CSS Syntax §4.3.7: an escaped quote is a character of the url; crawlers unescape twice
    2: ['"foo.gif"'],
    # §4.3.4: an empty string, and something after it
    3: [],
    # §4.3.5: a string to the end of the text, and one of a quotation mark; the rows say only that
    # nothing must crash
    8: ['")'],
    9: ['"'],
}


def test_css_urls(data: Path, counts: Counts) -> None:
    def compared(row: Row) -> tuple[object, object]:
        listed = relbase.links(row["css"].encode(), url=row.get("base"), kind="css")
        wanted = row["urls"] if "urls" in row else row["absolute"]
        return [link.reference for link in listed], wanted

    rows = table(data, "css-url-extraction")
    check(counts, "peers: crawlers' CSS", rows, compared, CSS_DIFFERS)


# --- pywb: what it makes absolute


def test_pywb(data: Path, counts: Counts) -> None:
    """pywb writes each tag anew: compared are the references in what it and relbase write."""

    def references(document: bytes) -> list[str]:
        return [link.reference for link in relbase.links(document, kind="html")]

    def rewritten(row: Row) -> bytes:
        return relbase.rewrite(row["html"].encode(), url=row["url"], kind="html").data

    rows = (
        (row["html"], references(rewritten(row)), references(row["expected_absolute"].encode()))
        for row in table(data, "pywb-html-rewriter")
    )
    counts.compare("peers: pywb", rows, least=51)


def test_every_table_is_used(data: Path) -> None:
    source = Path(__file__).read_text(encoding="utf-8")
    tables = [path.stem for path in (data / "html/peers").glob("*.json")]
    if not tables:
        pytest.skip("html/peers stands in no public repository")
    assert len(tables) >= 8
    assert [name for name in tables if f'table(data, "{name}"' not in source] == []


# --- lxml's own tests of links in HTML, with `relbase.trees` in the place of its methods

LINKS_OF_HTML: Final = "html/lxml-html/test_rewritelinks.txt"


class Runner(doctest.DocTestRunner):
    """Collects the examples that fail, by the first line that they expect."""

    def __init__(self) -> None:
        super().__init__(checker=LHTMLOutputChecker(), verbose=False)
        self.differ: dict[str, str] = {}

    def report_failure(self, _out: Any, _test: Any, example: doctest.Example, got: str) -> None:
        """Remember an example of which something else came out."""
        self.differ[example.want.split("\n", 1)[0].strip()] = got

    def report_unexpected_exception(
        self, _out: Any, _test: Any, example: doctest.Example, exc_info: Any
    ) -> None:
        """Remember an example that raised."""
        self.differ[example.source] = repr(exc_info[1])


def bound(tree: Any, name: str, *arguments: Any, **options: Any) -> Any:
    """What a method of lxml returns: the links of `iterlinks`, or nothing."""
    returned = getattr(relbase.trees, name)(tree, *arguments, **options)
    return returned if name == "iterlinks" else None


def test_of_rewriting_links(data: Path, counts: Counts, monkeypatch: pytest.MonkeyPatch) -> None:
    names = "iterlinks", "make_links_absolute", "resolve_base_href", "rewrite_links"
    for name in names:
        replaced = partialmethod(bound, name)
        monkeypatch.setattr(lxml.html.HtmlMixin, name, replaced)
    if not (data / LINKS_OF_HTML).exists():
        pytest.skip(f"{LINKS_OF_HTML} is not fetched: python -m tools.fetch_data")
    # `usedoctest` sets the checker of the runner that it finds, which is there already.
    text = (data / LINKS_OF_HTML).read_text("utf-8").replace("import usedoctest, ", "import ")
    runner = Runner()
    run = runner.run(doctest.DocTestParser().get_doctest(text, {}, "lxml", LINKS_OF_HTML, 0))
    assert run.attempted > 15
    counts("lxml: links of HTML", run.attempted, len(runner.differ))
    assert runner.differ.keys() == known("lxml: links of HTML"), runner.differ


# --- URLs: RFC 1808 §5, RFC 3986 §5.4, WPT urltestdata and many implementations


def outcome(base: str | None, reference: str, profile: Profile) -> str | None:
    try:
        return Resolver(base or "", profile).resolve(reference)
    except ValueError:
        return None


# How many rows were in each file at least when this was written: one that lost most of its rows
# would show nothing.
@pytest.mark.parametrize(
    ("profile", "least"),
    [(Profile.RFC1808, 400), (Profile.RFC3986, 500), (Profile.WHATWG, 1000)],
    ids=lambda value: value.value if isinstance(value, Profile) else str(value),
)
def test_every_vector(data: Path, counts: Counts, profile: Profile, least: int) -> None:
    rows = load_table(data / "url-vectors" / f"{profile.value}.json")
    compared = (
        (f"{row['base']} {row['ref']}", outcome(row["base"], row["ref"], profile), row["expected"])
        for row in rows
    )
    counts.compare("URL vectors", compared, least=least, note=profile.value)
