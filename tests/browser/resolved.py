"""What a browser resolves in a document: the table of what it is asked for, and the reading.

`resolved.js` walks the tree. Documents are opened one by one, each at its URL, or many at once in
frames of one page, which is several times as fast; those must have URLs of their own at one host.
No script of a document runs and nothing is fetched for it. Where scripting is off altogether
(`Scripting.OFF`) noscript is markup, and a refresh does not leave the document.
"""

import html
import re
from collections.abc import Sequence
from enum import Enum
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from rows import rows
from served import Answer, Site

SCRIPT: Final = (Path(__file__).parent / "resolved.js").read_text("utf-8")

Table = dict[str, dict[str, dict[str, tuple[str, str]]]]


def _table() -> Table:
    table: Table = {}
    path = Path(__file__).with_name("resolved.txt")
    for namespace in ("html", "svg", "math"):
        elements: dict[str, dict[str, tuple[str, str]]] = table.setdefault(namespace, {})
        for names, attributes, syntax, property_ in rows(
            path, namespace, list[str], list[str], str, str
        ):
            for name, attribute in product(names, attributes):
                idl = attribute if property_ == "=" else property_
                elements.setdefault(name, {})[attribute] = (syntax, idl)
    return table


TABLE: Final = _table()


class Reference(NamedTuple):
    """A reference as the browser sees it."""

    element: str  # the local name in lower case; `<image>` of HTML is img
    attribute: str  # in lower case; "" in a style or script element
    reference: str  # without white space around it; "" where it is computed
    url: str  # what it resolves to, the reference itself where the browser fails
    computed: bool  # from a computed style
    namespace: str  # html, svg or math


class Opened(NamedTuple):
    """A document that was opened: what it is, whether a frameset is its body, its references."""

    url: str
    base: str
    charset: str
    is_framed: bool
    references: tuple[Reference, ...]


class Scripting(Enum):
    """Whether noscript is text (ON: yet no script is allowed) or markup."""

    ON = "on"
    OFF = "off"


# Nothing is fetched. A sandbox without allow-scripts turns scripting off, and refreshes with it
# ("sandboxed automatic features browsing context flag").
_POLICIES: Final = {
    Scripting.ON: "default-src 'none'; style-src 'unsafe-inline'; script-src 'none'",
    Scripting.OFF: "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-same-origin",
}


def answer(data: bytes, content_type: str, scripting: Scripting) -> Answer:
    """Return what is served for a document."""
    headers = {
        "Content-Type": content_type,
        "Content-Security-Policy": _POLICIES[scripting],
        "Cache-Control": "no-store",
    }
    return Answer(data, headers)


_refresh: Final = re.compile(rb"http-equiv[\s=\"']*(?:refresh|[^\s>]*&)", re.IGNORECASE).search


def ways(data: bytes) -> tuple[Scripting, ...]:
    """Return how a document is to be opened; one with a refresh would leave itself."""
    text = data.replace(b"\0", b"").lower()
    on = () if _refresh(text) else (Scripting.ON,)
    return (*on, Scripting.OFF) if not on or b"<noscript" in text else on


def read(browser: Any, url: str) -> Opened:
    """Return what the browser resolves in the document at a URL."""
    browser.get(url)
    return _read(browser, in_frames=False)[0]


def read_frames(browser: Any, site: Site, urls: Sequence[str]) -> list[Opened]:
    """Return what the browser resolves in the documents at some URLs of one host."""
    if not urls:
        return []
    page = _FRAME_STYLE + "".join(f'<iframe src="{html.escape(url)}"></iframe>' for url in urls)
    url = "/".join((*urls[0].split("/")[:3], "frames"))
    site.answers[url] = Answer(page.encode(), _FRAMES_HEADERS)
    browser.get(url)
    return _read(browser, in_frames=True)


# As large as a window, since style sheets ask for its size; nothing is painted.
_FRAME_STYLE: Final = """<style>
iframe { position: fixed; border: 0; width: 100vw; height: 100vh; visibility: hidden }
</style>"""
_FRAMES_HEADERS: Final = {"Content-Type": "text/html;charset=utf-8", "Cache-Control": "no-store"}


def _read(browser: Any, *, in_frames: bool) -> list[Opened]:
    return [
        Opened(
            page["url"],
            page["base"],
            page["charset"].lower(),
            page["isFramed"],
            tuple(Reference(*row) for row in page["references"]),
        )
        for page in browser.execute_script(SCRIPT, TABLE, in_frames)
    ]
