"""How many links of the original pages are those of the rewritten copies again.

A copy is known by the target that its text holds. A link of it equals one of the original, resolved
by profile whatwg, when element, attribute and URL are the same. Each original link counts once.
"""

import quopri
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from local_site import Answer

import relbase

_target = re.compile(rb'id=["\']?page["\']?[^>]*>([^<]+)<').search


class Judged(NamedTuple):
    """What was found of a set of copies."""

    pages: int  # that were known again
    links: int  # of their originals
    equal: int  # those that the copies have again
    # The links that lead on, and those of them that the copies have again: what a page shows is in
    # some copies itself.
    outward: tuple[int, int]
    relative: int  # references of the copies that are relative still
    wrong: list[str]  # URLs on the site that neither it has nor any original names
    missing: Counter[tuple[str, str, str]]  # what the copies lack, and how often


def judge(copies: Iterable[Path], site: Mapping[str, Answer], host: str) -> Judged:
    """Compare copies with the originals that they are of."""
    originals = {
        target: _originals(target, answer, host)
        for target, answer in site.items()
        if answer.type.startswith("text/html") and not answer.location
    }
    known = {f"http://{host}{target}" for target in site}
    for target, answer in site.items():
        if answer.type.startswith("text/html"):
            every = relbase.links(answer.body, url=f"http://{host}{target}", profile="whatwg")
            known |= {_normal(link.url) for link in every if link.url}
    known |= {url.partition("#")[0] for url in known}
    pages = links = equal = relative = outward = outward_equal = 0
    wrong: set[str] = set()
    missing: Counter[tuple[str, str, str]] = Counter()
    seen: set[str] = set()
    for path in copies:
        data = path.read_bytes()
        stated = _target(quopri.decodestring(data) if path.suffix == ".mhtml" else data)
        target = stated[1].decode().replace("&amp;", "&") if stated else ""
        if target not in originals or target in seen:
            continue
        seen.add(target)
        pages += 1
        there = _links(data)
        relative += sum(url is None for _, _, url in there)
        wrong |= {
            url
            for _, _, url in there
            if url and url.startswith(f"http://{host}/") and url.partition("#")[0] not in known
        }
        wanted = Counter(originals[target])
        got = Counter((element, name, url) for element, name, url in there if url is not None)
        same = wanted & got
        links += wanted.total()
        equal += same.total()
        outward += _outward(wanted)
        outward_equal += _outward(same)
        missing += wanted - got
    leading_on = (outward, outward_equal)
    return Judged(pages, links, equal, leading_on, relative, sorted(wrong), missing)


def _outward(links: Counter[tuple[str, str, str]]) -> int:
    return sum(count for (element, _, _), count in links.items() if element in _OUTWARD)


_OUTWARD = frozenset(("a", "area", "form"))


def _originals(target: str, answer: Answer, host: str) -> list[tuple[str, str, str]]:
    url = f"http://{host}{target}"
    links = relbase.links(answer.body, url=url, profile="whatwg", kind="html")
    return [
        (link.element, link.attribute, _normal(link.url))
        for link in links
        if link.url and link.status is not relbase.Status.KEPT and _counts(link)
    ]


def _links(data: bytes) -> list[tuple[str, str, str | None]]:
    kind = "html" if data.lstrip()[:1] == b"<" else "mail"
    links = relbase.links(data, kind=kind, profile="whatwg", detect=False)  # type: ignore[arg-type]
    return [
        (link.element, link.attribute, link.url and _normal(link.url))
        for link in links
        if _counts(link)
    ]


def _normal(url: str) -> str:
    """A URL as a browser shows it."""
    url = re.sub("%[0-9a-f]{2}", lambda found: found[0].upper(), url)
    try:
        return relbase.resolve("", url, "whatwg")
    except ValueError:
        return url


def _counts(link: relbase.Link) -> bool:
    """A `<base>` may be gone; what is in data: is not looked for."""
    return link.element != "base" and not (link.url or "").startswith("data:")
