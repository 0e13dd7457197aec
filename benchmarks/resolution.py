"""Resolution: `Resolver.resolve` in the three profiles against `urllib.parse.urljoin`.

On the references of real pages, in the order in which they stand there, each page with one base.
They are found here with a regular expression, so that no code of relbase chooses them. Without
pages: references of the same shapes, as often as in real pages.

Then on what mirrors of sites and archives are full of: references that begin with `../`, and a new
base for each reference.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urljoin

from benchmarks.timing import Contender, measure, table
from relbase.url.profiles import Profile
from relbase.url.resolver import Resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_REFERENCE: Final = re.compile(
    rb"\s(?:href|src|action)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')", re.IGNORECASE
)
_BASE: Final = "http://example.com/2015/03/a-page.html?id=1"

# How many of 1,000 references of real pages have a shape (measured on 436 saved pages).
_SHAPES: Final = {
    "https://example.org/news/2015/03/{0}.html?ref={0}": 590,
    "/news/2015/03/{0}.html": 280,
    "#section-{0}": 60,
    "#": 20,
    "//cdn.example.org/static/{0}.js": 25,
    "images/{0}.png": 21,
    "?page={0}": 1,
    "../archive/{0}.html": 3,
}


class Page(NamedTuple):
    """What one page asks for: its base and its references, in order."""

    base: str
    references: list[str]


def run(data: Path | None, rounds: int) -> Iterator[str]:
    """Yield the table of the references in `data`, or of shapes when there is none."""
    pages = list(_real_pages(data)) if data else []
    source = f"the references of {len(pages)} real pages"
    if not pages:
        pages, source = _shaped_pages(), "references of the shapes of real pages (no --data)"
    yield _compared(
        [page for page in map(_without_failures, pages) if page.references], source, rounds
    )
    yield _compared([_climbing()], "each begins with ../", rounds)
    yield _compared(list(_bases()), "each on a new base", rounds)


def _compared(pages: list[Page], source: str, rounds: int) -> str:
    """The table of the contenders on some pages."""
    count = sum(len(page.references) for page in pages)
    contenders = [Contender("urljoin", lambda: _join(pages))]
    contenders += [Contender(profile.value, _resolving(pages, profile)) for profile in Profile]
    timings = measure(contenders, rounds)
    title = f"Resolving {count:,} references: {source}"
    return table(title, timings, count / 1000, "thousand", "urljoin")


def _climbing() -> Page:
    """One page of a mirrored site, of whose references every third goes up two levels."""
    forms = ("../{0}/page-{0}.html", "../../images/{0}.png", "../{0}.css?v={0}")
    references = [forms[number % len(forms)].format(number) for number in range(20_000)]
    return Page(_BASE, references)


def _bases() -> Iterator[Page]:
    """As many pages as references, as in a list of links from many pages."""
    shapes = ["../x/{}.html", "y{}.html", "/z/{}", "https://e.example.org/{}", "#s{}"]
    for number in range(20_000):
        base = f"http://h{number}.example.com/a/b/c{number}.html?q={number}"
        yield Page(base, [shapes[number % len(shapes)].format(number)])


def _join(pages: list[Page]) -> None:
    for base, references in pages:
        for reference in references:
            urljoin(base, reference)


def _resolving(pages: list[Page], profile: Profile) -> Callable[[], None]:
    def resolve() -> None:
        for base, references in pages:
            resolve_one = Resolver(base, profile).resolve
            for reference in references:
                resolve_one(reference)

    return resolve


def _real_pages(data: Path) -> Iterator[Page]:
    directory = data / "real-pages"
    manifest = directory / "MANIFEST.json"
    if not manifest.is_file():
        return
    for entry in json.loads(manifest.read_text(encoding="utf-8")):
        path = directory / entry["file"]
        if path.suffix in {".html", ".htm"} and path.is_file():
            found = _REFERENCE.finditer(path.read_bytes())
            references = [_decoded(match[1] or match[2] or b"") for match in found]
            yield Page(entry.get("retrieval_url") or _BASE, references)


def _decoded(value: bytes) -> str:
    return html.unescape(value.decode("utf-8", "replace")).strip()


def _shaped_pages() -> list[Page]:
    shapes = [shape for shape, count in _SHAPES.items() for _ in range(count)]
    # Every 337th of 1,000: the shapes mixed, and the same in every run.
    mixed = [shapes[index * 337 % len(shapes)] for index in range(len(shapes))]
    return [
        Page(_BASE, [shape.format(100 * page + index) for index, shape in enumerate(mixed)])
        for page in range(50)
    ]


def _without_failures(page: Page) -> Page:
    """Drop what urljoin or a browser refuses: an exception would be timed with its text."""
    whatwg = Resolver(page.base, Profile.WHATWG)

    def is_resolved(reference: str) -> bool:
        try:
            urljoin(page.base, reference)
            whatwg.resolve(reference)
        except ValueError:
            return False
        return True

    return page._replace(references=[ref for ref in page.references if is_resolved(ref)])
