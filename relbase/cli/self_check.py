"""Checks that a rewrite changed nothing but links, before it replaces a file (laws 2 and 8)."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, zip_longest
from operator import add
from typing import TYPE_CHECKING

from relbase.cli.files import SelfCheckError
from relbase.edit import Edit
from relbase.html.tags import attributes
from relbase.html.tokens import elements, unchanging
from relbase.results import Result
from relbase.session import run
from relbase.session.session import OpenedDocument

if TYPE_CHECKING:
    from relbase.scan.binding import Scan


def verify(given: OpenedDocument, result: Result) -> Counter[str]:
    """Verify laws 2 and 8 before a result replaces a file; return its links by status."""
    data, output, edits = given.document.data, result.data, result.edits
    if not edits and output != data:
        raise SelfCheckError("bytes changed where no link did")
    _same_outside(data, output, edits)
    # The URLs that were written are not replaced again: only the places of links are compared.
    after = given.call._replace(replace=None).opened(output)
    counts, old_parts, new_parts = Counter[str](), list[tuple[str, str]](), list[tuple[str, str]]()
    before, after = given.on(parts=old_parts), after.on(parts=new_parts)
    for number, (old, new) in enumerate(zip_longest(run.links(before), run.links(after)), 1):
        # The part, the element, the attribute and the syntax.
        if old is None or new is None or old[:4] != new[:4]:
            text = f"the references would not be the same, from number {number} on"
            raise SelfCheckError(text)
        counts[old.status.value] += 1
    if (given.type, old_parts) != (after.type, new_parts):
        raise SelfCheckError("the parts would not be the same")
    # In a transfer encoding a line may break anywhere, so tags cannot be compared.
    if given.type == "text/html":
        _same_tags(data, output, edits)
    return counts


def _same_tags(before: bytes, after: bytes, edits: Sequence[Edit]) -> None:
    """Law 8: the tags are the same, and where they were, but for what the edits insert."""
    starts = array("q", (start for start, _, _ in edits))
    growths = (len(new) - (end - start) for start, end, new in edits)
    grown = array("q", accumulate(growths, initial=0))
    moved_starts = array("q", map(add, starts, grown))
    old_tags = elements(before, 0, len(before), scan=_between(starts))
    new_tags = elements(after, 0, len(after), scan=_between(moved_starts))
    for old, new in zip_longest(old_tags, new_tags):
        if old is None or new is None:
            raise SelfCheckError("the number of tags would change")
        places = (old.start, old.attributes, old.end, old.raw_end)
        moved = [at + grown[bisect_left(starts, at)] for at in places]
        is_same = old.name == new.name and moved == [*new[2:6]]
        first, second = before[old.attributes : old.end], after[new.attributes : new.end]
        if not is_same or (first != second and _names(first) != _names(second)):
            raise SelfCheckError(f"the tags would not be the same, from byte {old.start} on")


def _between(starts: array[int]) -> Scan:
    """Return a scan over the tags between edits, as far as they do not change what others are."""

    def scan(text: bytes, pos: int, end: int, *_: bool) -> tuple[list[object], int]:
        at = bisect_left(starts, pos)
        passed = unchanging.match(text, pos, min((end, *starts[at : at + 1])))
        return [], passed.end() if passed else pos

    return scan


def _names(tag: bytes) -> list[bytes]:
    return [*attributes(tag, 0, len(tag))]


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
