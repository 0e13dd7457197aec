"""Saved pages, and jsoup's: the laws of a rewriting hold on every file, in every profile.

Each file runs in one profile, which is drawn by its name; RELBASE_EVERY_PROFILE=1 runs each file
in all three, which takes minutes.
"""

import gzip
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from counts import Counts
from laws import assert_laws
from tables import retrieval_urls

import relbase
from relbase.view.charset import sniff

UNKNOWN_URL: Final = "http://h.example/d/p.html"
PROFILES: Final = tuple(relbase.Profile)


def pages(root: Path) -> Iterator[tuple[str, bytes, str]]:
    """Yield the name, the bytes and the URL of each page."""
    urls = retrieval_urls(root)
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix not in {".md", ".json"}:
            name = str(path.relative_to(root))
            yield name, path.read_bytes(), urls.get(name, UNKNOWN_URL)


def drawn(name: str) -> relbase.Profile:
    """Return the profile that a page is run in."""
    return PROFILES[zlib.crc32(name.encode()) % len(PROFILES)]


def assert_laws_hold(data: bytes, url: str, profile: relbase.Profile) -> bool:
    """Assert the laws of a page; return whether it changed."""
    result = relbase.rewrite(data, url=url, profile=profile)
    assert_laws(data, result, url=url, profile=profile)
    for link in result.links:
        raw = data[slice(*link.span)]
        if raw.isascii() and not re.search(rb"[&\\\r\0\x1b]", raw):
            assert raw.decode() == link.reference
    return result.changed


def test_laws_hold_on_every_page(data: Path, counts: Counts) -> None:
    count = changed = 0
    every = os.environ.get("RELBASE_EVERY_PROFILE")
    for name, page, url in pages(data / "real-pages"):
        count += 1
        for profile in PROFILES if every else (drawn(name),):
            changed += assert_laws_hold(page, url, profile)
    assert count > 300
    assert changed > count / 2
    counts("saved pages", count, 0, "the laws hold")


@pytest.mark.parametrize("profile", PROFILES)
def test_broken_pages_raise_nothing(data: Path, profile: relbase.Profile) -> None:
    """Every page cut off in the middle."""
    for _, page, url in pages(data / "real-pages"):
        if len(page) < 20_000:
            cut = page[: len(page) // 2]
            assert relbase.rewrite(cut, url=url, profile=profile).data is not None


# ---- jsoup's test pages: charsets, and what its fuzzer found

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


def jsoup(data: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the pages, unpacked where they are packed."""
    root = data / "html/jsoup-resources"
    for path in sorted(root.glob("*/*")):
        page = path.read_bytes()
        packed = page.startswith(b"\x1f\x8b")
        yield str(path.relative_to(root)), gzip.decompress(page) if packed else page


def test_charsets_of_jsoup(data: Path, counts: Counts) -> None:
    found = {name: sniff(page).name for name, page in jsoup(data) if name in CHARSETS}
    assert found == CHARSETS
    counts("jsoup: charsets", len(found), 0)


_tag: Final = re.compile(rb"(?=<[a-zA-Z])")


def test_laws_hold_on_jsoups_pages(data: Path, counts: Counts) -> None:
    """Hardly a page has a relative link: each has a twin with one in front of each tag."""
    run = changed = 0
    for name, page in jsoup(data):
        for text in (page, _tag.sub(b"<a href=x/y>z</a>", page, 1000)):
            changed += assert_laws_hold(text, UNKNOWN_URL, drawn(name))
        run += 1
    assert run > 35
    assert changed > run / 2
    counts("jsoup: pages and fuzzed pages", run, 0, "the laws hold")
