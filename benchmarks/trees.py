"""Trees: `relbase.trees` beside lxml's own and beside a loop of `urljoin`, on the same trees.

`python -m benchmarks.trees DIRECTORY` reads the pages of a directory. Ratios of one run count; each
page is parsed anew for each round, and the rounds of the ways are interleaved.
"""

from __future__ import annotations

import gc
import sys
import warnings
from functools import partial
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

import bs4
import lxml.html

from relbase.trees import make_links_absolute

if TYPE_CHECKING:
    from collections.abc import Callable

URL: Final = "http://h.example/d/p.html"
SIZES: Final = range(20_000, 400_000)
PAGES: Final = 60


def of_lxml(tree: Any) -> None:  # noqa: ANN401
    """What lxml does."""
    tree.make_links_absolute(URL, handle_failures="ignore")


def of_loop(tree: Any) -> None:  # noqa: ANN401
    """What programs do with a soup: the attributes that they think of."""
    for name in ("href", "src"):
        for tag in tree.find_all(**{name: True}):
            tag[name] = urljoin(URL, tag[name])


def of_relbase(tree: Any) -> None:  # noqa: ANN401
    """What relbase does."""
    make_links_absolute(tree, URL)


def seconds(ways: list[Callable[[Any], None]], parse: Callable[[], Any]) -> list[float]:
    """The least time that each way takes for a tree."""
    best = [float("inf")] * len(ways)
    for _ in range(3):
        for index, way in enumerate(ways):
            tree = parse()
            gc.collect()
            gc.disable()
            started = process_time()
            way(tree)
            best[index] = min(best[index], process_time() - started)
            gc.enable()
    return best


def main() -> None:
    """Print, for each kind of tree, how many times as fast relbase is."""
    warnings.simplefilter("ignore")
    files = [path for path in sorted(Path(sys.argv[1]).rglob("*.htm*")) if path.is_file()]
    pages = [page for page in (path.read_bytes() for path in files) if len(page) in SIZES]
    rows: dict[str, list[tuple[float, float]]] = {"lxml's own": [], "urljoin over find_all": []}
    for page in pages[:: max(1, len(pages) // PAGES)]:
        try:
            theirs, ours = seconds(
                [of_lxml, of_relbase], partial(lxml.html.document_fromstring, page)
            )
            rows["lxml's own"].append((theirs, ours))
            theirs, ours = seconds([of_loop, of_relbase], partial(bs4.BeautifulSoup, page, "lxml"))
            rows["urljoin over find_all"].append((theirs, ours))
        except ValueError:
            continue  # a peer gives up on `http://[bad`, or at a control character
    for name, times in rows.items():
        ratios = sorted(theirs / ours for theirs, ours in times)
        total = sum(theirs for theirs, _ in times) / sum(ours for _, ours in times)
        middle = ratios[len(ratios) // 2]
        print(f"{name:24}{len(ratios):4} pages  median {middle:5.2f} x  sum {total:5.2f} x")


if __name__ == "__main__":
    main()
