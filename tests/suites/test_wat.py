"""The URLs that WAT files of Common Crawl have and relbase lacks: each has a reason.

WAT files are made by ia-web-commons (`ExtractingParseObserver`), which takes these attributes of
these elements, `url(...)` and `@import` in style elements by two expressions, and URLs in onclick.
That shape of extraction stands here, over the parser of the standard library; it resolves nothing,
so that references are compared as they are written. What relbase has and WAT files lack (srcset,
style attributes, SVG, refresh) is counted only.
"""

import codecs
import re
from collections import Counter
from collections.abc import Callable, Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Final, NamedTuple

import pytest
from archives import others
from counts import Counts
from rows import rows

from relbase import Kind, Policy
from relbase.formats.recognition import kind_of_bytes, kind_of_type
from relbase.warc import Page, link_rows, pages

# The attributes that the extractor of an element takes, and those that it takes of any element.
TAKEN: Final[dict[str, list[str]]] = {
    element: attributes
    for elements, attributes in rows(
        Path(__file__).with_name("wat.txt"), "taken", list[str], list[str]
    )
    for element in elements
}
OF_ANY: Final = ("background", "data-href", "data-uri")
OF_SCRIPT: Final = ("div", "input")

CSS: Final = (
    re.compile(r"url\s*\(\s*([^)\s]{1,8000}?)\s*\)"),
    re.compile(
        r"""@import\s+((?:'[^']+')|(?:"[^"]+")|(?:\('[^']+'\))|(?:\("[^"]+"\))|(?:\([^)]+\))"""
        r"""|(?:[a-z0-9_.:/\\-]+))\s*;"""
    ),
)
QUOTES: Final = re.compile(r"""^(?:\\?["'])+|(?:\\?["'])+$""")
ONCLICK: Final = (
    re.compile(
        r"(?i)^(?:javascript:)?(?:(?:window|top|document|self|parent)\.)?location(?:\.href)?"
        r"""\s*=\s*('|&#39;)([^'"]{3,256})\1$"""
    ),
    re.compile(
        r"""(?i)^(?:javascript:)?(?:window|parent)\.open\((["']|&#39;)([^"']{3,256}?)\1[,)]"""
    ),
)


class Taken(NamedTuple):
    """A URL as a WAT file has it: where from (`IMG@/src`), and as it is written."""

    path: str
    value: str
    inside: str


class Extraction(HTMLParser):
    """What the extractors take of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.taken: list[Taken] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value for name, value in reversed(attrs) if value is not None}
        for name in (*OF_ANY, *TAKEN.get(tag, ())):
            if name in values:
                self._take(f"{tag}@/{name}", values[name])
        if tag in OF_SCRIPT:
            for pattern in ONCLICK:
                if found := pattern.search(values.get("onclick", "")):
                    self._take(f"{tag}@/onclick", found[2])
        if tag in RAW:
            self.texts.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self.texts:
            del self.texts[self.texts.index(tag) :]

    def handle_data(self, data: str) -> None:
        if self.cdata_elem == "style":
            for pattern in CSS:
                for found in pattern.finditer(data[:100_000]):
                    if value := QUOTES.sub("", found[1]):
                        self._take("style/#text", value)

    def _take(self, path: str, value: str) -> None:
        self.taken.append(Taken(path, value, self.texts[0] if self.texts else ""))


# Elements whose inside is text, which their parser takes for markup.
RAW: Final = ("textarea", "title", "xmp", "iframe", "noembed", "noframes", "plaintext")


def is_empty(taken: Taken) -> bool:
    return not plain(taken.value)


# Of which `background` is an attribute (HTML §16.3 and §15.3).
PAINTED: Final = ("body", "table", "thead", "tbody", "tfoot", "tr", "td", "th")

# Style sheets in which the expression finds what is no URL there (CSS Syntax §4.3.2, 4.3.5, 4.3.6).
NOT_CSS: Final = {
    "%23a": "url() in a string: of an SVG image in a data URL",
    "http://mat1.gtimg.com/digi/2012/shuma2013/linkai/icon_dot.gif": "a comment",
    "\x01a.png\x02": "a control character in the token: a bad url",
    "\x01sub/b.css\x02": "the same",
}

EMPTY: Final = "nothing is fetched for an empty value (rule 6)"
SCRIPT: Final = "the text of a script"
BY_SCRIPT: Final = "an attribute that only scripts read"
UNPAINTED: Final = "browsers paint no background of this element"
TEXT: Final = "no markup, but text"
CSS_TEXT: Final = "no URL of CSS"

# How often the first of these holds, in the archives and in the real pages.
REASONS: Final[dict[str, Callable[[Taken], object]]] = {
    EMPTY: is_empty,
    BY_SCRIPT: lambda taken: taken.path.endswith(("/data-href", "/data-uri", "/cdata", "/icon")),
    SCRIPT: lambda taken: taken.path.endswith("/onclick"),
    UNPAINTED: lambda taken: (
        taken.path.endswith("@/background") and taken.path.split("@")[0] not in PAINTED
    ),
    TEXT: lambda taken: taken.inside,
    CSS_TEXT: lambda taken: taken.path == "style/#text" and taken.value in NOT_CSS,
}
ARCHIVES: Final = {SCRIPT: 7, TEXT: 4, EMPTY: 4, UNPAINTED: 2}
# Those by scripts are base64, which is nothing that could be a reference.
REAL_PAGES: Final = {BY_SCRIPT: 89, EMPTY: 25, CSS_TEXT: 17, TEXT: 7, SCRIPT: 5, UNPAINTED: 1}


def plain(value: str) -> str:
    """What is compared: without white space at the ends and line ends (rule 6).

    The parser of the standard library reads `&reg` in `?a=1&region=2`; so that is done to both. The
    charset is not what is compared: characters outside ASCII are one.
    """
    shown = unescape(re.sub(r"[\t\r\n]", "", value.strip("".join(map(chr, range(0x21))))))
    return re.sub(r"[^\0-\x7f]+", "\N{REPLACEMENT CHARACTER}", shown)


def decoded(page: Page) -> str:
    """The text of a page, as a program reads it that looks at labels alone."""
    stated = re.search(r"charset=[\"']?([\w-]+)", page.content_type)
    labelled = re.search(rb"charset=[\"']?([\w-]+)", page.body[:2048])
    label = stated[1] if stated else labelled[1].decode() if labelled else "utf-8"
    try:
        codecs.lookup(label)
    except LookupError:
        label = "latin-1"
    return page.body.decode(label, "replace")


def html_pages(_data: Path) -> Iterator[Page]:
    for path in others():
        for page in pages([path.read_bytes()]):
            if isinstance(page, Page):
                kind = kind_of_type(page.content_type) or kind_of_bytes(page.body)
                if kind is Kind.HTML:
                    yield page


def real_pages(data: Path) -> Iterator[Page]:
    for path in sorted((data / "real-pages").rglob("*.htm*")):
        if path.is_file():
            yield Page(0, "", "http://h.example/", "", 200, (), path.read_bytes(), "", ())


def compared(page: Page) -> tuple[list[Taken], list[Taken], int]:
    """What WAT files have, what of it relbase lacks, and how much they lack."""
    parser = Extraction()
    parser.feed(decoded(page))
    ours = {plain(row.reference) for row in link_rows(page, policy=Policy(extended=True))}
    lacking = [taken for taken in parser.taken if plain(taken.value) not in ours]
    return parser.taken, lacking, len(ours - {plain(taken.value) for taken in parser.taken})


@pytest.mark.long
@pytest.mark.parametrize(("source", "known"), [(html_pages, ARCHIVES), (real_pages, REAL_PAGES)])
def test_what_wat_files_have_and_relbase_lacks_has_a_reason(
    data: Path, counts: Counts, source: Callable[[Path], Iterator[Page]], known: dict[str, int]
) -> None:
    reasons: Counter[str] = Counter()
    unexplained = []
    cases = more = 0
    for page in source(data):
        taken, lacking, lacked = compared(page)
        cases += len(taken)
        more += lacked
        for one in lacking:
            why = next((text for text, holds in REASONS.items() if holds(one)), "")
            reasons[why] += 1
            if not why:
                unexplained.append((page.url, one))
    assert unexplained == []
    assert reasons == known
    assert cases > 5000
    assert more > 0
    counts("URLs of WAT files", cases, reasons.total(), f"relbase has {more} more")
