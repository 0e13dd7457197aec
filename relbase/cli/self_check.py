"""Checks that a rewrite changed nothing but links, before it replaces a file (laws 2 and 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from operator import attrgetter
from typing import Any, Final

from relbase.edit import Edit
from relbase.html.tags import attributes
from relbase.html.tokens import elements_after
from relbase.results import Entity, Link, Result
from relbase.session import run
from relbase.session.session import OpenedDocument


class SelfCheckError(Exception):
    """The result of a rewrite is wrong, for the reason in the text: nothing was written."""


def verify(given: OpenedDocument, result: Result) -> Counter[str]:
    """Verify laws 2 and 8 before a result replaces a file; return its links by status."""
    data, counts = given.document.data, Counter[str]()
    if not result.edits and result.data != data:
        raise SelfCheckError("bytes changed where no link did")
    _same_outside(data, result.data, result.edits)
    # The URLs that were written are not replaced again: only the places of links are compared.
    after = given.call._replace(replace=None).opened(result.data)
    for what, read, fields in _SEEN:
        for number, (old, new) in enumerate(zip_longest(read(given), read(after)), 1):
            if old is None or new is None or fields(old) != fields(new):
                raise _differ(what, number)
            if isinstance(old, Link):
                counts[old.status.value] += 1
    # In a transfer encoding a line may break anywhere, so tags cannot be compared.
    if given.type == "text/html":
        _same_tags(data, result.data)
    return counts


_SEEN: Final[tuple[tuple[str, Callable[[OpenedDocument], Iterator[Entity | Link]], Any], ...]] = (
    ("entities", run.entities, attrgetter("part", "type")),
    ("references", run.links, attrgetter("part", "element", "attribute", "syntax")),
)


def _differ(what: str, number: int) -> SelfCheckError:
    return SelfCheckError(f"the {what} would not be the same, from number {number} on")


def _same_tags(before: bytes, after: bytes) -> None:
    pairs = zip_longest(elements_after(before, 0), elements_after(after, 0))
    for number, (old, new) in enumerate(pairs, 1):
        if old is None or new is None or old.name != new.name:
            raise _differ("tags", number)
        first, second = before[old.attributes : old.end], after[new.attributes : new.end]
        if first != second and _names(first) != _names(second):
            raise _differ("tags", number)


def _names(tag: bytes) -> list[bytes]:
    return [attribute.name for attribute in attributes(tag, 0, len(tag))]


def _same_outside(data: bytes, output: bytes, edits: Sequence[Edit]) -> None:
    """Law 2: cut the edited spans out of both, and the rest is equal."""
    at = moved = 0
    old, new = memoryview(data), memoryview(output)
    for start, end, inserted in edits:
        if not at <= start <= end <= len(data):
            raise SelfCheckError("the edits are not in order")
        kept = old[at:start] == new[at + moved : start + moved]
        if not kept or new[start + moved : start + moved + len(inserted)] != inserted:
            raise SelfCheckError(f"bytes from {at} to {start} changed outside of links")
        moved += len(inserted) - (end - start)
        at = end
    if old[at:] != new[at + moved :]:
        raise SelfCheckError(f"bytes from {at} on changed outside of links")
