"""Web Platform Tests on URLs: the query in the document's encoding, and the laws on all documents.

What a script of these documents asserts is read from its text; the scripts do not run here.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final

from test_real_pages import PROFILES, violations

import relbase

if TYPE_CHECKING:
    from pathlib import Path

    from counts import Counts

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
    labels = _variant.findall(text)
    assert labels
    for label in labels:
        document = text.replace("{{GET[encoding]}}", label) + "<a href='?&#255;'>"
        assert query(document.encode("ascii")) == expected[ENCODINGS[label]], label
    counts("WPT: query encoding", len(labels), 0)


# The documents by their encodings. What is UTF-16 asks in UTF-8.
DOCUMENTS: Final = {"windows-1252": "%FF", "utf-8": "%C3%BF", "utf-16be": "%C3%BF"}


def test_documents_in_their_encodings(data: Path, counts: Counts) -> None:
    run = 0
    for path in sorted((data / QUERY_ENCODING).glob("*.html")):
        if path.stem in DOCUMENTS:
            document = path.read_bytes() + _LINK.encode(path.stem)
            assert query(document) == DOCUMENTS[path.stem], path.stem
            run += 1
    assert run == len(DOCUMENTS)
    counts("WPT: query encoding", run, 0)


def test_laws(data: Path, counts: Counts) -> None:
    run = changed = 0
    for path in sorted((data / "html/wpt").rglob("*.*ht*")):
        document = path.read_bytes()
        profile = PROFILES[zlib.crc32(path.name.encode()) % len(PROFILES)]
        assert list(violations(document, URL, profile)) == [], path
        changed += relbase.rewrite(document, url=URL, profile=profile).changed
        run += 1
    assert run > 200
    assert changed > 50
    counts("WPT: documents", run, 0, "the laws hold")
