"""HTML: relbase with each scanner, and with policies, against lxml, turbohtml and BeautifulSoup.

Rewriting is the full job from bytes to bytes. The peers build a tree, make its links absolute and
write all of it anew; relbase changes the links alone.

lxml:          fromstring, make_links_absolute, tostring; iterlinks
turbohtml:     parse, resolve_links, encode; links; given bytes, and text that was decoded before
count('<'):    finds each `<` and does nothing else, which no scanner can be faster than
BeautifulSoup: with lxml, urljoin for href and src, encode; on the smallest sets only, as it is slow

Packages that are not installed are left out; turbohtml is in the extra `bench`. Real pages need
`--data`; the other sets are generated.
"""

from __future__ import annotations

import importlib
import re
from functools import cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import urljoin

import lxml.html

import relbase
from benchmarks.corpora import SMALL, Corpus, corpora
from benchmarks.scanners import SCANNERS, scanning
from benchmarks.timing import Contender, measure, table
from relbase.scan import binding
from relbase.scan.plain_forms import edits_on

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_BASE: Final = "http://example.com/2015/03/04/05/a-page.html?id=1"
_PEER: Final = "turbohtml"
_SLOW_FROM: Final = 3_000_000  # bytes: BeautifulSoup is not asked for more


class Job(NamedTuple):
    """One contender's way to do the work on one page."""

    name: str
    do: Callable[[bytes], object]


def run(data: Path | None, rounds: int) -> Iterator[str]:
    """Yield a table of rewriting and one of listing for each set of pages."""
    for corpus in corpora(data):
        yield _compared(f"rewrite, {corpus.name}", corpus, list(_rewriting(corpus)), rounds)
    for corpus in corpora(data):
        if corpus.name in {"tidied", "raw", "1 KB", SMALL}:
            yield _compared(f"links, {corpus.name}", corpus, list(_listing()), rounds)


def _compared(what: str, corpus: Corpus, jobs: Sequence[Job], rounds: int) -> str:
    pages = [page for page in corpus.pages if all(_succeeds(job, page) for job in jobs)]
    corpus = corpus._replace(pages=pages)
    if not pages:
        return f"{what}: no pages"
    contenders = [Contender(job.name, partial(_all, job.do, pages)) for job in jobs]
    title = f"{what}: {len(pages)} pages, {corpus.megabytes:.2f} MB"
    timings = measure(contenders, rounds)
    peers = [timing for timing in timings if timing.name.startswith(_PEER)]
    peer = min(peers, key=lambda timing: timing.seconds).name if peers else "lxml"
    return table(title, timings, corpus.megabytes, "MB", peer)


def _rewriting(corpus: Corpus) -> Iterator[Job]:
    for name in SCANNERS:
        yield Job(f"relbase, {name}", partial(_by_relbase, name, {}))
    fastest = SCANNERS[0]
    for label, call in _CALLS.items():
        yield Job(f"relbase, {label}", partial(_by_relbase, fastest, call))
    rewriter, numbers = relbase.Rewriter(_BASE, kind="html"), count()
    yield Job("relbase, Rewriter", lambda page: rewriter.rewrite(page).data)
    yield Job("relbase, Rewriter, text", lambda page: rewriter.rewrite_text(_text(page)))
    yield Job(
        "relbase, Rewriter, a new URL for each",
        lambda page: rewriter.rewrite(page, url=_new_url(next(numbers))).data,
    )
    yield Job(
        "relbase, Rewriter, text, a new URL for each",
        lambda page: rewriter.rewrite_text(_text(page), url=_new_url(next(numbers))),
    )
    if binding.compiled is not None:
        yield Job("the compiled scanner alone, with the splice", partial(_by_scanner, _scan()))
    yield Job("count('<')", lambda page: page.count(b"<"))
    yield Job("lxml", _by_lxml)
    if turbohtml := _found("turbohtml"):
        yield Job(_PEER, lambda page: _by_turbohtml(turbohtml, page))
        yield Job(f"{_PEER}, text", lambda page: _by_turbohtml(turbohtml, _text(page)))
        yield Job(
            f"{_PEER}, text, a new URL for each",
            lambda page: _by_turbohtml(turbohtml, _text(page), _new_url(next(numbers))),
        )
    if corpus.megabytes < _SLOW_FROM / 1e6 and (bs4 := _found("bs4")):
        yield Job("BeautifulSoup", partial(_by_soup, bs4))


_CALLS: Final[dict[str, dict[str, Any]]] = {
    "rfc3986": {"profile": "rfc3986"},
    "whatwg": {"profile": "whatwg"},
    "keep": {"policy": relbase.Policy(keep=re.compile("^/private/"))},
    "extended": {"policy": relbase.Policy(extended=True)},
}


def _listing() -> Iterator[Job]:
    for name in SCANNERS:
        yield Job(f"relbase, {name}", partial(_listed_by_relbase, name))
    rewriter = relbase.Rewriter(_BASE, kind="html")
    yield Job("relbase, Rewriter", lambda page: sum(1 for _ in rewriter.links(page)))
    numbers = count()
    yield Job(
        "relbase, Rewriter, a new URL for each",
        lambda page: sum(1 for _ in rewriter.links(page, url=_new_url(next(numbers)))),
    )
    yield Job("count('<')", lambda page: page.count(b"<"))
    yield Job("lxml", lambda page: sum(1 for _ in lxml.html.fromstring(page).iterlinks()))
    if turbohtml := _found("turbohtml"):
        yield Job(_PEER, lambda page: sum(1 for _ in turbohtml.parse(page).links()))
        yield Job(
            f"{_PEER}, text", lambda page: sum(1 for _ in turbohtml.parse(_text(page)).links())
        )


def _by_relbase(name: str, call: dict[str, Any], page: bytes) -> object:
    with scanning(name):
        return relbase.rewrite(page, url=_BASE, kind="html", **call).data


def _listed_by_relbase(name: str, page: bytes) -> object:
    with scanning(name):
        return sum(1 for _ in relbase.links(page, url=_BASE, kind="html"))


def _scan() -> Callable[..., Any]:
    """The compiled scanner for pages with the base."""
    prefixes = edits_on(_BASE, relbase.Profile.RFC1808)
    return partial(binding.scanning(), prefixes)


def _by_scanner(scan: Callable[..., Any], page: bytes) -> object:
    """Scan and splice: what it leaves to the exact tokenizer is passed over."""
    edits, at = [], 0
    while at >= 0:
        found, at, _ = scan(page, at, len(page), False, False)
        edits += found
        at = page.find(b">", at) + 1 or -1 if at >= 0 else at
    return binding.spliced(page, edits)


def _by_lxml(page: bytes) -> object:
    tree = lxml.html.fromstring(page)
    tree.make_links_absolute(_BASE, handle_failures="ignore")
    return lxml.html.tostring(tree)


@cache
def _text(page: bytes) -> str:
    """A page as text: who gives text has it already."""
    return page.decode("utf-8", "replace")


def _new_url(number: int) -> str:
    """Another URL, as deep as the base: on a higher one, more references climb above the root."""
    return f"http://host-{number}.example/2015/03/04/{number}/a-page.html?id=1"


def _by_turbohtml(turbohtml: Any, page: bytes | str, base: str = _BASE) -> object:  # noqa: ANN401 (ships no types)
    document = turbohtml.parse(page)
    document.resolve_links(base)
    return document.encode()


def _by_soup(bs4: Any, page: bytes) -> object:  # noqa: ANN401
    tree = bs4.BeautifulSoup(page, "lxml")
    for name in ("href", "src"):
        for element in tree.find_all(attrs={name: True}):
            element[name] = urljoin(_BASE, element[name])
    return tree.encode()


def _found(package: str) -> Any:  # noqa: ANN401
    try:
        return importlib.import_module(package)
    except ImportError:
        return None


def _all(do: Callable[[bytes], object], pages: list[bytes]) -> None:
    for page in pages:
        do(page)


def _succeeds(job: Job, page: bytes) -> bool:
    try:
        job.do(page)
    except Exception:
        if job.name.startswith("relbase"):
            raise
        return False
    return True
