"""Saved pages: the laws of a rewriting hold on every file, in every profile.

Each file runs in one profile, which is drawn by its name; RELBASE_EVERY_PROFILE=1 runs each file
in all three, which takes minutes.
"""

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

UNKNOWN_URL: Final = "http://h.example/d/p.html"
PROFILES: Final = tuple(relbase.Profile)


def pages(root: Path) -> Iterator[tuple[str, bytes, str]]:
    """Yield the name, the bytes and the URL of each page."""
    urls = retrieval_urls(root)
    for path in sorted(root.rglob("*")):
        if path.is_file() and path.suffix not in {".md", ".json"}:
            name = str(path.relative_to(root))
            yield name, path.read_bytes(), urls.get(name, UNKNOWN_URL)


def profiles(name: str) -> tuple[relbase.Profile, ...]:
    """Return the profiles that a page is run in."""
    if os.environ.get("RELBASE_EVERY_PROFILE"):
        return PROFILES
    return (PROFILES[zlib.crc32(name.encode()) % len(PROFILES)],)


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
    for name, page, url in pages(data / "real-pages"):
        count += 1
        changed += sum(assert_laws_hold(page, url, profile) for profile in profiles(name))
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
