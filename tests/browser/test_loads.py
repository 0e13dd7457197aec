"""What loads: the output opened elsewhere requests what the original requests at home, no more.

The original of each triple of fixtures/loads is opened at home, and at the same time its output at
another origin, each in a browser with a network and caches of its own. All requests are compared,
and how often each was made, with the list of the triple. So the two are compared with each other,
and neither can pass by requesting nothing.

A URL in a list is written `/path` at the origin of the original, `//host/path` elsewhere, `./name`
beside the page that is opened. `elsewhere` is what the output requests where that differs by design
or by a quirk of the browser; `known` names the rule. `refused` is what browsers do not request from
another origin, whatever a page says; an output with such references is opened in another directory
of its home too, where they are requested:

| what | why it is not requested from another origin |
|---|---|
| `use` of another file | mode "same-origin" (SVG 2 §5.5) |
| `filter: url()` of another file | the same, in Chromium; masks and clip paths go by CORS |
| `track` of a video without `crossorigin` | mode "same-origin" (WHATWG HTML §4.8.11.11) |
| prerendering | pages of the same origin only; by http no other speculation is carried out |
| `'self'` in the page's own policy | it is another origin then |

All else is compared across origins. Fonts, module scripts, masks and manifests are requested by
CORS, which the server here allows.

To mind: a favicon that no link names is not a link of the document, and is not counted.
"""

import re
import time
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

import pytest
from browsing import start
from counts import Counts
from served import Answer, Site

import relbase

FIXTURES: Final = Path(__file__).parents[2] / "fixtures" / "loads"
STEMS: Final = sorted(path.stem for path in FIXTURES.glob("*.toml"))

# Loading has settled when all that is listed was requested and then for so long nothing more; what
# is listed but not requested is waited for no longer than the limit. In seconds.
QUIET: Final = 0.1
LIMIT: Final = 8.0
STEP: Final = 0.005


class Document(NamedTuple):
    """A triple, read, with its URLs written out but for those beside the page."""

    stem: str
    data: bytes
    call: dict[str, Any]
    pages: list[str]  # the URL that was asked for, and where it redirected to
    requests: list[str]
    elsewhere: list[str]
    refused: list[str]
    known: str
    answers: dict[str, str]

    @property
    def directory(self) -> str:
        """Another directory at home."""
        return f"{origin(self.pages[-1])}/another/directory/copy.html"

    @property
    def origin(self) -> str:
        """Another origin."""
        return f"http://elsewhere.test/{self.stem}/copy.html"

    def expected(self, page: str) -> Counter[str]:
        """What is to be requested beside the page itself when it is opened there."""
        if page == self.pages[0]:
            return Counter(self.requests)
        refused = self.refused if page == self.origin else []
        return Counter(beside(page, url) for url in self.elsewhere) - Counter(refused)


def document(stem: str) -> Document:
    why = tomllib.loads((FIXTURES / f"{stem}.toml").read_text(encoding="utf-8"))
    call, loads = why["call"], why["loads"]
    pages = [call["url"]]
    for location in call.get("redirects", ()):
        pages.append(urljoin(pages[-1], location))

    def listed(urls: Iterable[str]) -> list[str]:
        return [written_out(url, pages[0]) for url in urls]

    return Document(
        stem,
        (FIXTURES / f"{stem}.html").read_bytes(),
        call,
        pages,
        listed(loads["requests"]),
        listed(loads.get("elsewhere", loads["requests"])),
        listed(loads.get("refused", ())),
        loads.get("known", ""),
        {written_out(url, pages[0]): text for url, text in loads.get("answers", {}).items()},
    )


# By concatenation: the lists are not resolved as references are.
def written_out(listed: str, page: str) -> str:
    if listed.startswith("//"):
        return f"http:{listed}"
    return origin(page) + listed if listed.startswith("/") else listed


def beside(page: str, listed: str) -> str:
    return page.rpartition("/")[0] + listed.removeprefix(".") if listed.startswith(".") else listed


def origin(url: str) -> str:
    return "http://" + urlsplit(url).netloc


# --- The network: what stands at a URL follows from the end of its path ---

_HEADERS: Final = {"Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"}
_PNG: Final = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010804000000b51c0c02"
    "0000000b4944415478da63fcff1f0003030200efa2a75b0000000049454e44ae426082"
)
_SVG: Final = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
_FILES: Final[Mapping[str, tuple[str, bytes]]] = {
    ".css": ("text/css", b""),
    ".html": ("text/html", b""),
    ".js": ("text/javascript", b""),
    ".json": ("application/json", b"{}"),
    ".png": ("image/png", _PNG),
    ".svg": ("image/svg+xml", _SVG),
    ".vtt": ("text/vtt", b"WEBVTT"),
    ".webmanifest": ("application/manifest+json", b"{}"),
}


def served(url: str, text: str | None = None) -> Answer:
    """What is at a URL that a document names; films, fonts and icons are missing."""
    found = _FILES.get(Path(urlsplit(url).path).suffix)
    if found is None:
        return Answer(b"", _HEADERS, 404)
    return Answer(
        found[1] if text is None else text.encode(), {**_HEADERS, "Content-Type": found[0]}
    )


def network(document: Document, page: str, data: bytes) -> dict[str, Answer]:
    """Every URL of a document: its files, itself at home, and a page with some data."""
    urls = {beside(page, url) for url in (*document.requests, *document.elsewhere)}
    html = {**_HEADERS, "Content-Type": "text/html"}
    answers = {url: served(url, document.answers.get(url)) for url in urls | {*document.answers}}
    for url, location in zip(document.pages, document.pages[1:], strict=False):
        answers[url] = Answer(b"", {**_HEADERS, "Location": location}, 302)
    answers[document.pages[-1]] = Answer(document.data, html)
    if page not in document.pages:
        answers[page] = Answer(data, html)
    return answers


# --- The browsers ---


class Place(NamedTuple):
    """A browser with a network and caches of its own."""

    site: Site
    browser: Any


@pytest.fixture(scope="module")
def places() -> Iterator[list[Place]]:
    """Two browsers, started at once: for what is at home, and for what is elsewhere."""
    with ExitStack() as stack, ThreadPoolExecutor() as pool:
        sites = [stack.enter_context(Site()) for _ in range(2)]
        browsers = list(pool.map(start, sites))
        for browser in browsers:
            stack.callback(browser.quit)
        yield [Place(*each) for each in zip(sites, browsers, strict=True)]


def opened(place: Place, document: Document, page: str, data: bytes) -> Counter[str]:
    """Open a page and return what it requested beside itself, once loading has settled."""
    site, browser = place
    site.answers = network(document, page, data)
    site.requests.clear()
    browser.get(page)
    own = Counter(document.pages if page in document.pages else [page])
    seen = settled(site, document.expected(page) + own)
    assert not own - seen
    # Wanted as an image by several elements, the page is asked for once more, or several times:
    # that depends on whether the first answer is there before the last element asks.
    wanted = seen - own
    return wanted - Counter({url: wanted[url] - 1 for url in own & wanted})


def settled(site: Site, expected: Counter[str]) -> Counter[str]:
    """Wait until nothing more is requested, and return what was."""
    end = time.monotonic() + LIMIT
    count, since = 0, time.monotonic()
    while True:
        seen = list(site.requests)
        now = time.monotonic()
        if len(seen) != count:
            count, since = len(seen), now
        requests = Counter(url for url in seen if is_of_a_document(url))
        if now - since > QUIET and (now > end or not expected - requests):
            return requests
        time.sleep(STEP)


# The browser's own requests, for updates and the like, go to other hosts.
_HOST: Final = re.compile(r"http://[a-z0-9.-]+\.test(?::\d+)?/(?!favicon\.ico\Z)")


def is_of_a_document(url: str) -> bool:
    return _HOST.match(url) is not None


def differences(place: Place, document: Document, pages: Sequence[str], data: bytes) -> list[str]:
    """Open data at some URLs, and return what is missing and what is too much."""
    found = []
    for page in pages:
        seen, expected = opened(place, document, page, data), document.expected(page)
        found += [f"{page}: {url} is missing" for url in (expected - seen).elements()]
        found += [f"{page}: {url} is too much" for url in (seen - expected).elements()]
    return found


# --- The tests ---


@pytest.mark.parametrize("stem", STEMS)
def test_the_output_elsewhere_requests_what_the_original_requests_at_home(
    stem: str, places: list[Place], counts: Counts
) -> None:
    text = document(stem)
    output = relbase.rewrite(text.data, **text.call).data
    elsewhere = [text.directory, text.origin] if text.refused else [text.origin]
    with ThreadPoolExecutor() as pool:
        home = pool.submit(differences, places[0], text, text.pages[:1], text.data)
        away = pool.submit(differences, places[1], text, elsewhere, output)
    assert home.result() + away.result() == []
    pages = len(elsewhere)
    note = "requests of an output elsewhere, with those of the original at home"
    counts("browser: what loads", pages, pages * bool(text.known), note)


def test_the_original_elsewhere_requests_other_files(places: list[Place]) -> None:
    """What relbase is for, and that the comparison sees it."""
    text = document("base-unusable")._replace(elsewhere=["./img.png", "./bg.png"])
    assert not differences(places[1], text, [text.directory, text.origin], text.data)


def test_the_lists_are_no_empty_ones() -> None:
    documents = [document(stem) for stem in STEMS]
    assert len(documents) > 30
    assert sum(len(each.requests) for each in documents) > 200
    assert all(each.requests for each in documents)


def test_what_differs_has_a_reason_and_what_has_a_reason_differs() -> None:
    for each in map(document, STEMS):
        assert (each.elsewhere != each.requests) == bool(each.known), each.stem
        assert not Counter(each.refused) - Counter(each.requests), each.stem
