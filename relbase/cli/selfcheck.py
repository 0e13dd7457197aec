"""What is checked of a rewriting before it replaces a file: laws 2 and 8."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from relbase import pipeline
from relbase.references.html import Element, elements
from relbase.references.tags import attributes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.call import Call
    from relbase.edit import Edit
    from relbase.results import Result


class SelfCheckError(Exception):
    """A rewriting is not what it should be, for the reason in the text: nothing was written."""


def check(data: bytes, result: Result, call: Call) -> None:
    if not result.edits:
        if result.data != data:
            raise SelfCheckError("bytes changed where no link did")
        return
    _same_outside(data, result.data, result.edits)
    entities = list(_entities(data, call))
    _same("entities", entities, _entities(result.data, call))
    _same("references", _references(data, call), _references(result.data, call))
    # In a transfer encoding a line may break anywhere, and what looks like a tag is none.
    if entities[0][1] == "text/html":
        _same("tags", _tags(data), _tags(result.data))


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


def _same(what: str, before: Iterable[object], after: Iterable[object]) -> None:
    """Law 8: the structure is the same."""
    for number, (old, new) in enumerate(zip_longest(before, after), 1):
        if old != new:
            raise SelfCheckError(f"the {what} would not be the same, from number {number} on")


def _entities(data: bytes, call: Call) -> Iterator[tuple[str, str]]:
    return ((entity.part, entity.type) for entity in pipeline.entities_called(data, call))


def _references(data: bytes, call: Call) -> Iterator[tuple[str, str, str, str]]:
    for link in pipeline.links_called(data, call):
        yield link.part, link.element, link.attribute, link.syntax


def _tags(data: bytes) -> Iterator[tuple[bytes, list[bytes]]]:
    for element in elements(data, 0, len(data)):
        assert isinstance(element, Element)
        named = attributes(data, element.attributes, element.end)
        yield element.name, [attribute.name for attribute in named]
