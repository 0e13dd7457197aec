"""Web Platform Tests: bases, values, queries in the document's encoding, the laws on all documents.

The scripts do not run here: what each asserts is read by hand, or from its text. A script that sets
`href` itself tests the DOM: the document as it stands has no base then. Documents are taken to be
where WPT serves them from.
"""

import re
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

import ada_url
import pytest
from counts import Counts
from rows import rows
from tables import WPT as HOST
from tables import by_wpt, load_table
from test_real_pages import assert_laws_hold, drawn

import relbase
from relbase.bases.layers import Layer
from relbase.values.syntaxes import clean, refresh, srcset

ROWS: Final = [
    (name, stated and urljoin(f"{HOST}/{name}", stated.strip('"')))
    for name, stated in rows(Path(__file__).with_name("wpt.txt"), "bases", str, str)
]


def read(data: Path, name: str) -> bytes:
    return by_wpt((data / "html/wpt" / name).read_bytes())


@pytest.mark.parametrize("profile", relbase.Profile)
@pytest.mark.parametrize(("name", "expected"), ROWS)
def test_base(
    data: Path, counts: Counts, name: str, expected: str, profile: relbase.Profile
) -> None:
    url = f"{HOST}/{name}"
    # HTML for the XHTML document too: both parsers find the same base.
    base = relbase.base(read(data, name), url=url, profile=profile, kind="html")
    assert base.url == (expected or url)
    assert base.layer is (Layer.EMBEDDED if expected else Layer.RETRIEVAL)
    counts("WPT: base", 1, 0)


def test_every_document_with_a_base_has_a_row(data: Path) -> None:
    root = data / "html/wpt"
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.*ht*")
        if b"<base" in path.read_bytes().lower() and "conformance-checkers" not in path.parts
    }
    assert found == {name for name, _ in ROWS}


def test_form_actions(data: Path) -> None:
    """form-action-reflection-with-base-url: an empty action is the URL of the document."""
    name = "html/semantics/forms/the-form-element/form-action-reflection-with-base-url.html"
    links = relbase.links(read(data, name), url=f"{HOST}/{name}")
    assert [link.url for link in links if link.element == "form"] == [
        f"{HOST}/common/a.html",
        f"{HOST}/{name}",
    ]


def test_the_first_base_decides_for_the_links(data: Path) -> None:
    name = "html/semantics/document-metadata/the-base-element/example.html"
    links = relbase.links(read(data, name), url=f"{HOST}/{name}")
    [link] = [link for link in links if link.element == "a"]
    assert link.url == f"{HOST}/{name.replace('example', 'example2')}"


# A `file:` base counts in a browser, whatever page states it.
LETTER = relbase.Policy(private_bases=True)


def test_one_base_with_every_kind_of_url(data: Path, counts: Counts) -> None:
    """conformance-checkers: one <base href> a file; valid or not, browsers resolve it or fail.

    The referee is the URL parser alone: its result is the base, but where it fails, or where the
    result is `data:` or `javascript:`, the next layer out counts (frozen base URL).
    """
    url = "http://h.example/d/p.html"
    directory = data / "html/wpt/conformance-checkers/html/elements/base/href"
    rows = []
    for path in sorted(directory.glob("*.html")):
        text = path.read_bytes()
        href = text.decode().partition('<base href="')[2].partition('"')[0].replace("&amp;", "&")
        try:
            expected = ada_url.join_url(url, href)
        except ValueError:
            expected = url
        if expected.startswith(("data:", "javascript:")):
            expected = url
        found = relbase.base(text, url=url, profile="whatwg", policy=LETTER).url
        rows.append((path.name, found, expected))
    counts.compare("WPT: conformance-checkers, base href", rows, least=71)


# ---- Tables on values: srcset, meta refresh, attributes that browsers reflect as URLs

Row = dict[str, Any]


def rows_of(data: Path, name: str) -> list[Row]:
    return load_table(data / f"html/extracted/{name}.json")


def test_meta_refresh(data: Path, counts: Counts) -> None:
    def urls(value: bytes) -> list[str]:
        return [clean(value[start:end].decode()) for start, end in refresh(value)]

    # "" is the document's own URL, and stays (rule 6)
    rows = (
        (row["content"], urls(row["content"].encode()), [row["url"]] if row["url"] else [])
        for row in rows_of(data, "meta-refresh")
    )
    counts.compare("WPT: meta refresh", rows, least=37)


# Steps 9 to 15 of "parse a srcset attribute", for candidates with one descriptor of each kind.
_descriptors: Final = re.compile(
    rb"""(?: 0*[1-9]\d*w (?:[ ] 0*[1-9]\d*h)? | 0*[1-9]\d*h [ ] 0*[1-9]\d*w
           | (?: \d+ | -?0*\.?0+ | \d*\.\d+ ) (?: [eE][+-]?\d+ )? x )?""",
    re.VERBOSE,
).fullmatch
# What rule 6 took off the end of the URL.
_untrimmed: Final = re.compile(rb"^[^\t\n\f\r ,]*")


def first_valid_candidate(value: bytes) -> bytes:
    """Return the URL that a browser shows at 1x when, as in WPT, each is as dense as the others."""
    spans = list(srcset(value))
    starts = [span.start for span in spans[1:]]
    for (start, end), following in zip(spans, [*starts, len(value)], strict=False):
        if _descriptors(_untrimmed.sub(b"", value[end:following]).strip(b"\t\n\f\r ,")):
            return value[start:end]
    return b""


@pytest.mark.parametrize(("name", "least"), [("srcset-parse", 118), ("srcset-select", 7)])
def test_srcset(data: Path, counts: Counts, name: str, least: int) -> None:
    rows = (
        (
            row["srcset"],
            first_valid_candidate(row["srcset"].encode()),
            row["selected"].encode().strip(bytes(range(0x21))),
        )
        for row in rows_of(data, name)
    )
    counts.compare("WPT: srcset", rows, least=least)


# Attributes that hold a URL on some elements of a name only, with what makes them so.
CONDITIONS: Final = {("input", "src"): b"type=image"}


def test_every_attribute_that_reflects_a_url_is_known(data: Path, counts: Counts) -> None:
    rows = []
    for row in rows_of(data, "html-reflected-url-attributes"):
        pair = row["element"], row["attribute"]
        condition = CONDITIONS.get(pair, b"")
        document = f"<{row['element']} {row['attribute']}=x ".encode() + condition + b">"
        links = relbase.links(document, url="http://h/d/", kind="html")
        found = [(link.element, link.attribute, link.url) for link in links]
        rows.append((str(pair), found, [(*pair, "http://h/d/x")]))
    counts.compare("WPT: attributes that reflect URLs", rows, least=14)


# ---- Documents

URL: Final = "http://web-platform.test/html/p.html"
QUERY_ENCODING: Final = "html/wpt/html/infrastructure/urls/resolving-urls/query-encoding"

# function expected(encoding) { return "?" + {"UTF-8": "%C3%BF", ...}[encoding]; }
_expected: Final = re.compile(r'^    "([\w-]+)": "(\S+)",?$', re.MULTILINE)
# <meta name=variant content="?encoding=x-cp1251">
_variant: Final = re.compile(r'content="\?encoding=([\w-]+)"')
# The encodings by the labels of the variants.
ENCODINGS: Final = {"windows-1252": "windows-1252", "x-cp1251": "windows-1251", "utf8": "UTF-8"}
_LINK: Final = '<a href="?\xff">'


def query(document: bytes) -> str:
    """Return the query of the last link of a document, resolved as browsers do."""
    *_, link = relbase.links(document, url=URL, kind="html", profile="whatwg")
    assert link.url is not None
    return link.url.removeprefix(f"{URL}?")


def test_query_encoding(data: Path, counts: Counts) -> None:
    text = (data / QUERY_ENCODING / "location.sub.html").read_text("utf-8")
    expected = dict(_expected.findall(text))
    assert set(expected) == {"UTF-8", "windows-1251", "windows-1252"}
    rows = []
    for label in _variant.findall(text):
        document = text.replace("{{GET[encoding]}}", label) + "<a href='?&#255;'>"
        rows.append((label, query(document.encode("ascii")), expected[ENCODINGS[label]]))
    counts.compare("WPT: query encoding", rows, least=1)


# The documents by their encodings. What is UTF-16 asks in UTF-8.
DOCUMENTS: Final = {"windows-1252": "%FF", "utf-8": "%C3%BF", "utf-16be": "%C3%BF"}


def test_documents_in_their_encodings(data: Path, counts: Counts) -> None:
    rows = [
        (path.stem, query(path.read_bytes() + _LINK.encode(path.stem)), DOCUMENTS[path.stem])
        for path in (data / QUERY_ENCODING).glob("*.html")
        if path.stem in DOCUMENTS
    ]
    counts.compare("WPT: query encoding", rows, least=len(DOCUMENTS))


def test_laws(data: Path, counts: Counts) -> None:
    run = changed = 0
    for path in sorted((data / "html/wpt").rglob("*.*ht*")):
        changed += assert_laws_hold(path.read_bytes(), URL, drawn(path.name))
        run += 1
    assert run > 200
    assert changed > 50
    counts("WPT: documents", run, 0, "the laws hold")
