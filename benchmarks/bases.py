"""The base of a page alone: relbase against w3lib's `get_base_url`, which Scrapy calls.

Both get a page whose `<base>` is near its beginning, or that has none, as bytes: 4 KB of it, and
the whole. w3lib is left out if it is not installed; Scrapy brings it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import relbase
from benchmarks.timing import Contender, measure, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_URL: Final = "https://site.example/d/p.html"
_ITEM: Final = (
    b'<div><p>Some text, <a href="../x%d?a=1&amp;b=2">a link</a> <img src="%d.png"></div>\n'
)
_PAGE: Final = b"<!doctype html><html><head>%%b<title>t</title></head><body>%b" % b"".join(
    _ITEM % (number, number) for number in range(600)
)
_STATED: Final = {
    "no <base>": b"",
    "a relative <base>": b'<base href="/sub/">',
    "<meta charset>, an absolute <base>": b'<meta charset="utf-8"><base href="https://b.example/">',
}
_CALLS: Final = 300


def run(data: Path | None, rounds: int) -> Iterator[str]:  # noqa: ARG001 (it makes its own)
    """Yield a table for each page."""
    for what, stated in _STATED.items():
        page = _PAGE.replace(b"%b", stated)
        for size in (4096, len(page)):
            calls = list(_calls(page[:size]))
            contenders = [Contender(name, partial(_often, call)) for name, call in calls]
            title = f"base, {what}: {size:,} bytes"
            yield table(title, measure(contenders, rounds), _CALLS, "calls", contenders[-1].name)


def _calls(page: bytes) -> Iterator[tuple[str, Callable[[], object]]]:
    yield "relbase", lambda: relbase.base(page, url=_URL)
    yield "relbase, whatwg", lambda: relbase.base(page, url=_URL, profile="whatwg")
    headers = {"Content-Type": "text/html; charset=utf-8"}
    yield "relbase, headers", lambda: relbase.base(page, url=_URL, headers=headers)
    rewriter = relbase.Rewriter()
    yield "relbase, Rewriter", lambda: rewriter.base(page, url=_URL)
    try:
        from w3lib.html import get_base_url
    except ImportError:
        return
    yield "w3lib", lambda: get_base_url(page, _URL)


def _often(call: Callable[[], object]) -> None:
    for _ in range(_CALLS):
        call()
