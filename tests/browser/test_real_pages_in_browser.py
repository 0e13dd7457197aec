"""The browser as referee over saved pages.

A few by default; all several hundred, which takes minutes, by

    RELBASE_REAL_PAGES=all python -m pytest tests/browser

https cannot be served, and browsers insist on it for some hosts: each page is served by http, at
the URL that it was retrieved from, with `.test` after its host.
"""

import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from cases import Case
from counts import Counts
from referee import judge
from served import Site
from tables import retrieval_urls

UNKNOWN_URL: Final = "http://h.example/d/p.html"
ALL: Final = os.environ.get("RELBASE_REAL_PAGES") == "all"

# Of this many pages one runs by default, drawn by its name.
SAMPLE: Final = 20


def pages(root: Path) -> Iterator[Case]:
    """Yield the pages that are to run."""
    urls = retrieval_urls(root)
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_file() and path.suffix not in {".md", ".json"} and (ALL or _is_drawn(name)):
            yield Case(name, path.read_bytes(), served_at(urls.get(name, UNKNOWN_URL)))


def _is_drawn(name: str) -> bool:
    return zlib.crc32(name.encode()) % SAMPLE == 0


def served_at(url: str) -> str:
    """Return the URL that a page is served at."""
    parts = urlsplit(url)
    if not parts.scheme.startswith("http") or parts.hostname is None:
        return UNKNOWN_URL
    query = f"?{parts.query}" if parts.query else ""
    return f"http://{parts.hostname}.test{parts.path or '/'}{query}"


def test_real_pages(data: Path, site: Site, browser: Any, counts: Counts) -> None:
    totals = judge(browser, site, list(pages(data / "real-pages")))
    assert totals.differences == {}
    assert totals.documents >= (400 if ALL else 15)
    assert totals.changed > totals.documents / 2
    assert totals.rewritten > 25 * totals.documents
    totals.count(counts, "browser: real pages")
