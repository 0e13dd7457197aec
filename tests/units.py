"""`python -m tests.units [--seconds N] [--seed N]`: look for calls that take superlinear time.

Each document begins at random, one in four with something long (tests/pairs.txt), and repeats one
to four random pieces (tests/units.txt). Every call
reads it at a size that takes 20 ms, then at 4 times that size, then at 16 times. What takes more
than `MOST` times as long at both is printed; one such factor alone is a step to a slower scanner.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random
from time import monotonic, process_time
from typing import Any, Final, NamedTuple

for _name in ("support", "."):
    sys.path.insert(0, str(Path(__file__).parent / _name))

import lxml.etree
import lxml.html
from pairs import lengths, long, longs
from rows import rows
from test_growth import URL, numbered, repeated

import relbase
from relbase.trees import make_links_absolute

MOST: Final = 6.5  # four times the size takes four times as long, or a little more
ENOUGH: Final = 0.02  # seconds
LEAST, LARGEST = 1 << 14, 1 << 21
_LONG_ONES: Final = 0.25

_Time = Callable[[bytes, str], float | None]


def _seconds(call: str, options: dict[str, Any], data: bytes, kind: str) -> float:
    started = process_time()
    found: Any = getattr(relbase, call)(data, url=URL, kind=kind, **options)
    if isinstance(found, Iterator):
        for _ in found:
            pass
    return process_time() - started


def _seconds_of_tree(data: bytes, kind: str) -> float | None:
    tree: Any = None
    with suppress(lxml.etree.LxmlError, ValueError):
        if kind == "html":
            parser = lxml.html.HTMLParser(huge_tree=True)
            tree = lxml.html.document_fromstring(b"<p>" + data, parser)
        else:
            tree = lxml.etree.fromstring(data, lxml.etree.XMLParser(huge_tree=True, recover=True))
    if tree is None:
        return None
    started = process_time()
    make_links_absolute(tree, URL, handle_failures="ignore")
    return process_time() - started


def _of(call: str, **options: Any) -> _Time:
    return partial(_seconds, call, options)


_CALLS: Final = {call: _of(call) for call in ("rewrite", "links", "explain", "base")}
_Policy: Final = relbase.Policy
_MARKUP: Final = {
    **_CALLS,
    "make_links_absolute": _seconds_of_tree,
    "links, extended": _of("links", policy=_Policy(extended=True)),
}
CALLS: Final[dict[str, dict[str, _Time]]] = {
    "html": {**_MARKUP, "rewrite, whatwg": _of("rewrite", profile="whatwg")},
    "xml": {
        **_MARKUP,
        "rewrite, item_links": _of("rewrite", policy=_Policy(item_links=True)),
    },
    "mail": {**_CALLS, "entities": _of("entities")},
}


class Unit(NamedTuple):
    kind: str
    before: bytes
    unit: bytes

    def made(self, size: int) -> bytes:
        make = numbered if b"%d" in self.unit else repeated
        return make(self.unit, self.before)(size)


def units(random: Random) -> Iterator[Unit]:
    path = Path(__file__).with_suffix(".txt")

    def table(title: str) -> list[bytes]:
        return [cell for (cell,) in rows(path, title, bytes)]

    tables = {kind: ([b"", *table(f"{kind} openings")], table(kind)) for kind in CALLS}
    far = lengths()
    while True:
        kind = random.choice(tuple(tables))
        openings, pieces = tables[kind]
        before = random.choices(openings, k=random.choice((1, 1, 2)))
        if random.random() < _LONG_ONES:
            before = [long(random.choice(longs(kind))[0], random.choice(far))]
        repeated = random.choices(pieces, k=random.choice((1, 1, 2, 2, 3, 4)))
        yield Unit(kind, b"".join(before), b"".join(repeated))


def factors(unit: Unit, seconds: _Time) -> list[float]:
    """How many times as long each factor of four takes, until one is within the bar."""
    size, taken = LEAST, seconds(unit.made(LEAST), unit.kind)
    while taken is not None and taken < ENOUGH and size < LARGEST:
        size *= 2 if taken > ENOUGH / 3 else 4
        taken = seconds(unit.made(size), unit.kind)
    found: list[float] = []
    while taken is not None and taken >= ENOUGH and len(found) < 2:
        size *= 4
        more = seconds(unit.made(size), unit.kind)
        if more is None or more <= MOST * taken:
            return []
        found.append(more / taken)
        taken = more
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.units", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    end, tried, bad = monotonic() + arguments.seconds, 0, 0
    for unit in units(Random(arguments.seed)):
        if monotonic() > end:
            break
        tried += 1
        for call, seconds in CALLS[unit.kind].items():
            if any(found := factors(unit, seconds)):
                bad += 1
                print(call, *unit, *(f"{factor:.1f}" for factor in found), flush=True)
    print(f"{tried} units, {bad} findings")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
