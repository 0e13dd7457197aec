"""Saved pages: the laws of a rewriting hold on every file, in every profile.

Each file runs in one profile, which is drawn by its name; RELBASE_EVERY_PROFILE=1 runs each file
in all three, which takes minutes.
"""

from __future__ import annotations

import os
import re
import zlib
from typing import TYPE_CHECKING, Final

import pytest
from tables import retrieval_urls

import relbase

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from counts import Counts

    from relbase import Link

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


def violations(data: bytes, url: str, profile: relbase.Profile) -> Iterator[str]:
    """Yield the laws that a page breaks, by their numbers."""
    result = relbase.rewrite(data, url=url, profile=profile)
    if not result.edits and result.data is not data:
        yield "1: nothing changed, but it is another object"
    if not _same_outside(data, result):
        yield "2: bytes outside of the edits differ"
    again = relbase.rewrite(result.data, url=url, profile=profile)
    if again.data is not result.data:
        yield f"3: a second rewriting changes {again.edits[:3]}"
    before = list(relbase.links(data, url=url, profile=profile))
    after = list(relbase.links(result.data, url=url, profile=profile))
    yield from _other_links(before, after)
    yield from _bad_spans(data, before)
    if result.changed != any(link.status is relbase.Status.REWRITTEN for link in before):
        yield "rewriting and listing disagree"


def _same_outside(data: bytes, result: relbase.Result) -> bool:
    at = moved = 0
    for edit in result.edits:
        if not at <= edit.start <= edit.end:
            return False
        if data[at : edit.start] != result.data[at + moved : edit.start + moved]:
            return False
        at = edit.end
        moved += len(edit.new) - (edit.end - edit.start)
    return data[at:] == result.data[at + moved :]


def _other_links(before: list[Link], after: list[Link]) -> Iterator[str]:
    if len(before) != len(after):
        yield f"4: {len(before)} links before, {len(after)} after"
        return
    for old, new in zip(before, after, strict=True):
        if (old.element, old.attribute, old.syntax) != (new.element, new.attribute, new.syntax):
            yield f"4: {old} became {new}"
        elif old.status is relbase.Status.REWRITTEN and new.status is not relbase.Status.ABSOLUTE:
            yield f"4: {old.reference!r} became {new.reference!r}, {new.status}"
        elif old.status is not relbase.Status.REWRITTEN and new.reference != old.reference:
            yield f"4: {old.reference!r} became {new.reference!r}"


def _bad_spans(data: bytes, links: list[Link]) -> Iterator[str]:
    at = 0
    for link in links:
        start, end = link.span
        if not at <= start <= end <= len(data):
            yield f"7: the span of {link} lies before {at} or outside"
        at = end
        raw = data[start:end]
        plain = raw.isascii() and not re.search(rb"[&\\\r\0\x1b]", raw)
        if plain and raw.decode() != link.reference:
            yield f"7: {raw!r} is not {link.reference!r}"


def test_laws_hold_on_every_page(data: Path, counts: Counts) -> None:
    broken, count, changed = {}, 0, 0
    for name, page, url in pages(data / "real-pages"):
        count += 1
        for profile in profiles(name):
            found = list(violations(page, url, profile))
            if found:
                broken[name, profile.value] = found[:3]
            changed += relbase.rewrite(page, url=url, profile=profile).changed
    assert broken == {}
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
