"""jsoup's test pages: charsets, and what its fuzzer found: no exception, and the laws hold."""

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from counts import Counts
from test_real_pages import PROFILES, assert_laws_hold

from relbase.view.charset import sniff

URL: Final = "http://h.example/d/p.html"

# The charset of each page that jsoup has a test of the charset for.
CHARSETS: Final = {
    "bomtests/bom_utf16be.html": "utf-16be",
    "bomtests/bom_utf8.html": "utf-8",
    "htmltests/lowercase-charset-test.html": "utf-8",
    "htmltests/meta-charset-1.html": "gbk",
    "htmltests/meta-charset-3.html": "utf-8",
    "htmltests/xml-charset.xml": "windows-1252",
    "htmltests/yahoo-jp.html.gz": "utf-8",
    # The Encoding Standard has no UTF-32: what stands in front is not a mark and is kept.
    "bomtests/bom_utf32be.html": "windows-1252",
}


def pages(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the pages, unpacked where they are packed."""
    root = data / "html/jsoup-resources"
    for path in sorted(root.glob("*/*")):
        page = path.read_bytes()
        packed = page.startswith(b"\x1f\x8b")
        yield str(path.relative_to(root)), gzip.decompress(page) if packed else page


def test_charsets(data: Path, counts: Counts) -> None:
    found = {name: sniff(page).name for name, page in pages(data) if name in CHARSETS}
    assert found == CHARSETS
    counts("jsoup: charsets", len(found), 0)


_tag: Final = re.compile(rb"(?=<[a-zA-Z])")


def test_laws(data: Path, counts: Counts) -> None:
    """Hardly a page has a relative link: each has a twin with one in front of each tag."""
    run = changed = 0
    for name, page in pages(data):
        profile = PROFILES[zlib.crc32(name.encode()) % len(PROFILES)]
        for text in (page, _tag.sub(b"<a href=x/y>z</a>", page, 1000)):
            changed += assert_laws_hold(text, URL, profile)
        run += 1
    assert run > 35
    assert changed > run / 2
    counts("jsoup: pages and fuzzed pages", run, 0, "the laws hold")
