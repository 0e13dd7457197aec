"""Trees: `relbase.trees` beside lxml's own and beside a loop of `urljoin`, on the same trees.

lxml's own: `make_links_absolute` and `iterlinks` of lxml.html; a loop: `urljoin` for `href` and
`src` of what `find_all` finds, as programs do with a soup. Parsing is not timed: each page is
parsed anew for each way and round, directly before, and the rounds of the ways are interleaved. The
pages are real ones of `--data` of 20 to 400 KB, or one that is made up.
"""

from __future__ import annotations

import gc
import warnings
from collections import deque
from functools import partial
from time import process_time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

import bs4
import lxml.html

from benchmarks.corpora import corpora
from benchmarks.timing import Timing, table
from relbase.trees import iterlinks, make_links_absolute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import TypeAlias

    _Way: TypeAlias = Callable[[Any], object]

_URL: Final = "http://h.example/d/p.html"
_SIZES: Final = range(20_000, 400_000)
_PAGES: Final = 60


def run(data: Path | None, rounds: int) -> Iterator[str]:
    """Yield a table for each parser."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of bs4: XML that is parsed as HTML
        pages, source = _pages(data)
        links = b"".join(b'<a href="p%d/../q%d?x">t</a>\n' % (at, at) for at in range(3_000))
        title = "Links of trees of lxml.html made absolute: p1/../q1?x, each another"
        ways = {"relbase": _ours, "lxml's own": _by_lxml}
        yield _compared(title, lxml.html.document_fromstring, ways, [b"<p>" + links], rounds)
        for corpus in corpora(data):
            if corpus.name in {"tidied", "raw"}:
                for done, of in (("made absolute", ways), ("listed", _LISTING)):
                    title = f"Links of trees of lxml.html {done}: {corpus.name} pages"
                    yield _compared(title, lxml.html.document_fromstring, of, corpus.pages, rounds)
        for name, parse, peer, way in (
            ("lxml.html", lxml.html.document_fromstring, "lxml's own", _by_lxml),
            ("BeautifulSoup(lxml)", _soup("lxml"), "a loop of urljoin", _by_loop),
            ("BeautifulSoup(html.parser)", _soup("html.parser"), "a loop of urljoin", _by_loop),
        ):
            title = f"Links of trees of {name} made absolute"
            yield _compared(
                f"{title}: {source}", parse, {"relbase": _ours, peer: way}, pages, rounds
            )


def _compared(
    title: str,
    parse: Callable[[bytes], Any],
    ways: Mapping[str, _Way],
    pages: list[bytes],
    rounds: int,
) -> str:
    totals = dict.fromkeys(ways, 0.0)
    megabytes = 0.0
    for page in pages:
        try:
            seconds = _seconds(list(ways.values()), partial(parse, page), rounds)
        except ValueError:
            continue  # a peer gives up on `http://[bad`, or at a control character
        megabytes += len(page) / 1e6
        for name, used in zip(ways, seconds, strict=True):
            totals[name] += used
    timings = [Timing(name, seconds) for name, seconds in totals.items()]
    return table(title, timings, megabytes, "MB", list(ways)[-1])


def _seconds(ways: list[_Way], parse: Callable[[], Any], rounds: int) -> list[float]:
    """The least time that each way takes for a tree."""
    best = [float("inf")] * len(ways)
    for _ in range(rounds):
        for index, way in enumerate(ways):
            gc.collect()
            gc.disable()
            tree = parse()
            started = process_time()
            way(tree)
            best[index] = min(best[index], process_time() - started)
            del tree  # not while the next one is timed
            gc.enable()
    return best


def _pages(data: Path | None) -> tuple[list[bytes], str]:
    paths = sorted((data / "real-pages").rglob("*.htm*")) if data else []
    pages = [page for page in (path.read_bytes() for path in paths) if len(page) in _SIZES]
    if not pages:
        item = b'<p>Some words. <a href="/a/%d">one</a> <a href="http://h/%d">two</a></p>\n'
        page = b"".join(item % (number, number) for number in range(1_000))
        return [page], "a page that is made up (no --data)"
    return pages[:: max(1, len(pages) // _PAGES)], "real pages of 20 to 400 KB"


def _soup(parser: str) -> Callable[[bytes], Any]:
    return partial(bs4.BeautifulSoup, features=parser)


# ---- the contenders


def _ours(tree: Any) -> None:  # noqa: ANN401 (trees of two libraries)
    make_links_absolute(tree, _URL, handle_failures="ignore")


def _by_lxml(tree: Any) -> None:  # noqa: ANN401
    tree.make_links_absolute(_URL, handle_failures="ignore")


def _by_loop(tree: Any) -> None:  # noqa: ANN401
    for name in ("href", "src"):
        for tag in tree.find_all(**{name: True}):
            tag[name] = urljoin(_URL, tag[name])


_LISTING: Final[Mapping[str, _Way]] = {
    "relbase": lambda tree: deque(iterlinks(tree), maxlen=0),
    "lxml's own": lambda tree: deque(tree.iterlinks(), maxlen=0),
}
