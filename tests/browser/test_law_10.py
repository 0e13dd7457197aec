"""The browser as referee (law 10): links mean the same wherever the output is opened.

It judges the fixtures, the WPT documents with `<base>`, documents with `<base>` in every position
and of every value, those that a grammar makes, and saved pages. Of constructions and saved pages a
part runs by default; all, which takes minutes, by

    RELBASE_REAL_PAGES=all python -m pytest tests/browser

https cannot be served, and browsers insist on it for some hosts: each saved page is served by http,
at the URL that it was retrieved from, with `.test` after its host.
"""

import os
import re
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from cases import HTML, Case, numbered
from constructions import POSITIONS, documents
from counts import Counts
from exceptions import Rule
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from referee import judge_all
from served import Site
from strategies import pages
from tables import WPT, by_wpt, retrieval_urls

import relbase

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
ALL: Final = os.environ.get("RELBASE_REAL_PAGES") == "all"

# --- Fixtures


def _fixture(path: Path) -> Case | None:
    """Return an HTML fixture, None where it cannot be served.

    Headers that state a base mean nothing to a browser: the document is served at the URL that
    they make the base around it. Where that is not a URL of HTTP, nothing can be served.
    """
    why = tomllib.loads(path.read_text("utf-8"))
    data = path.with_suffix(".html").read_bytes()
    base = relbase.base(data, **why["call"] | {"profile": "whatwg"})
    if base.layer is relbase.Layer.EMBEDDED:
        assert base.outer is not None
        base = base.outer
    # Browsers know no UTF-7, so they read it as another charset, and resolve what is in the clear.
    if not base.url.startswith(("http:", "https:")) or path.stem == "charset-utf-7":
        return None
    policy = dict(why.get("policy", {}))
    if "keep" in policy:
        policy["keep"] = re.compile(policy["keep"])
    url = base.url.replace("https:", "http:", 1)
    return Case(path.stem, data, url, _content_type(why["call"]), relbase.Policy(**policy))


def _content_type(call: dict[str, Any]) -> str:
    if "charset" in call:
        return f"{HTML}; charset={call['charset']}"
    return next((value for name, value in call.get("headers", ()) if name == "Content-Type"), HTML)


# No base is known around these, or none of HTTP; and UTF-7.
NOT_SERVED: Final = 6


def test_fixtures(site: Site, browser: Any, counts: Counts) -> None:
    paths = [*sorted(FIXTURES.glob("html/*.toml")), *sorted(FIXTURES.glob("hostile/*.toml"))]
    cases = [case for case in map(_fixture, paths) if case is not None]
    assert len(paths) - len(cases) == NOT_SERVED
    totals = judge_all(browser, site, cases)
    assert totals.documents >= 95
    assert totals.changed >= 85
    assert totals.rewritten >= 300
    totals.count(counts, "browser: fixtures")


# --- WPT


def test_wpt_base(data: Path, site: Site, browser: Any, counts: Counts) -> None:
    root = data / "html/wpt"
    cases = [
        Case(name := str(path.relative_to(root)), by_wpt(text), f"{WPT}/{name}")
        for path in sorted(root.rglob("*.*ht*"))
        if b"<base" in (text := path.read_bytes()).lower()
    ]
    totals = judge_all(browser, site, cases, in_frames=True)
    assert totals.documents > 85
    # Most of them hold nothing but their <base>.
    assert totals.rewritten > 5
    totals.count(counts, "browser: WPT <base>")


# --- Constructions

# A position has 14 documents in a row: no step that shares a factor with that passes any over.
STEP: Final = 1 if ALL else 9


def test_base_constructions(site: Site, browser: Any, counts: Counts) -> None:
    cases = numbered((name, text.encode()) for name, text in [*documents()][::STEP])
    totals = judge_all(browser, site, cases, in_frames=True)
    assert totals.documents >= 1.5 * len(POSITIONS)
    assert totals.changed >= 0.9 * totals.documents
    assert totals.rewritten >= 10 * totals.documents / 2
    # What law 10 names is in them.
    assert {Rule.LATE, Rule.FOSTERED, Rule.UNPARSABLE, Rule.UNSUITABLE} <= set(totals.known)
    totals.count(counts, "browser: <base> constructions")


# --- A grammar's

EXAMPLES: Final = int(os.environ.get("RELBASE_EXAMPLES", "110"))

# What is of other tests, or of none: framesets (constructions.txt), `|` in a `<base>`, which
# Chromium escapes, and a custom property at the top level of a sheet, where it is no declaration
# and ends with its block; to relbase with a semicolon.
_left_out: Final = re.compile(rb"<frameset|<base[^>]*\||--x ?:\{", re.IGNORECASE).search


def drawn() -> list[bytes]:
    """Return some documents: they are judged many at once, which hypothesis could not."""
    found: dict[bytes, None] = {}

    @settings(
        max_examples=EXAMPLES,
        suppress_health_check=[HealthCheck.too_slow],
        phases=(Phase.generate,),
    )
    @given(st.sampled_from((b"", b"<base href=sub/>", b"<base href=http://b.example/?q>")), pages)
    def draw(base: bytes, page: bytes) -> None:
        found[base + page] = None

    draw()
    return [text for text in found if not _left_out(text)]


def test_generated_documents(site: Site, browser: Any) -> None:
    """What is drawn depends on the constants of all loaded modules: the table cannot count it."""
    cases = numbered((repr(text), text) for text in drawn())
    totals = judge_all(browser, site, cases, in_frames=True)
    assert totals.documents >= EXAMPLES / 2
    assert totals.changed >= 0.3 * totals.documents


# --- Saved pages

UNKNOWN_URL: Final = "http://h.example/d/p.html"
# Of this many pages one runs by default, drawn by its name.
SAMPLE: Final = 20


def real_pages(root: Path) -> Iterator[Case]:
    """Yield the pages that are to run."""
    urls = retrieval_urls(root)
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        is_drawn = ALL or zlib.crc32(name.encode()) % SAMPLE == 0
        if is_drawn and path.is_file() and path.suffix not in {".md", ".json"}:
            yield Case(name, path.read_bytes(), served_at(urls.get(name, UNKNOWN_URL)))


def served_at(url: str) -> str:
    """Return the URL that a page is served at."""
    parts = urlsplit(url)
    if not parts.scheme.startswith("http") or parts.hostname is None:
        return UNKNOWN_URL
    query = f"?{parts.query}" if parts.query else ""
    return f"http://{parts.hostname}.test{parts.path or '/'}{query}"


def test_real_pages(data: Path, site: Site, browser: Any, counts: Counts) -> None:
    totals = judge_all(browser, site, [*real_pages(data / "real-pages")])
    assert totals.documents >= (400 if ALL else 15)
    assert totals.changed > totals.documents / 2
    assert totals.rewritten > 25 * totals.documents
    totals.count(counts, "browser: real pages")
