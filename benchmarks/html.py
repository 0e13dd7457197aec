"""The full job on HTML, from bytes to bytes: relbase against lxml and turbohtml.

lxml:      fromstring, make_links_absolute, tostring.
turbohtml: parse, resolve_links, encode.

Both build a tree and write all of it anew; relbase changes the links alone. turbohtml is in the
extra `bench`; without it the table has the others. Needs pages: `--data`.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import lxml.html

import relbase
from benchmarks.timing import Contender, measure, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_BASE: Final = "http://example.com/2015/03/a-page.html?id=1"

# Tidied pages and raw ones: raw ones have twice as many tags per byte, and CRLF.
_FOLDERS: Final = ("real-pages/mozilla-readability", "real-pages/htmlparser-benchmark")


class Job(NamedTuple):
    """One contender's way from the bytes of a page to the bytes with its links absolute."""

    name: str
    rewrite: Callable[[bytes], bytes]


def run(data: Path | None, rounds: int) -> Iterator[str]:
    """Yield one table per folder of pages; a line that says so when there are none."""
    jobs = list(_jobs())
    for folder in _FOLDERS:
        pages = _pages(data / folder, jobs) if data else []
        if not pages:
            yield f"HTML, {folder}: no pages. Give --data DIRECTORY, which has that folder."
            continue
        megabytes = sum(map(len, pages)) / 1e6
        contenders = [Contender(name, partial(_all, rewrite, pages)) for name, rewrite in jobs]
        timings = measure(contenders, rounds)
        title = f"HTML, bytes to bytes: {len(pages)} pages of {folder}, {megabytes:.1f} MB"
        yield table(title, timings, megabytes, "MB", "lxml")


def _jobs() -> Iterator[Job]:
    yield Job("relbase", lambda page: relbase.rewrite(page, url=_BASE, kind="html").data)
    yield Job("lxml", _by_lxml)
    try:
        turbohtml = importlib.import_module("turbohtml")
    except ImportError:
        return
    yield Job("turbohtml", partial(_by_turbohtml, turbohtml))


def _by_lxml(page: bytes) -> bytes:
    tree = lxml.html.fromstring(page)
    tree.make_links_absolute(_BASE, handle_failures="ignore")
    return bytes(lxml.html.tostring(tree))


def _by_turbohtml(turbohtml: Any, page: bytes) -> bytes:  # noqa: ANN401 (ships no types for mypy)
    document = turbohtml.parse(page)
    document.resolve_links(_BASE)
    return bytes(document.encode())


def _all(rewrite: Callable[[bytes], bytes], pages: list[bytes]) -> None:
    for page in pages:
        rewrite(page)


def _pages(folder: Path, jobs: Sequence[Job]) -> list[bytes]:
    """The pages of a folder that every contender can do at all."""
    pages = [path.read_bytes() for path in sorted(folder.rglob("*.html"))]
    return [page for page in pages if all(_succeeds(job, page) for job in jobs)]


def _succeeds(job: Job, page: bytes) -> bool:
    try:
        job.rewrite(page)
    except Exception:
        if job.name == "relbase":
            raise
        return False
    return True
