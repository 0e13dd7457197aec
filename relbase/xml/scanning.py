"""Read XML ahead of the exact walk, with the compiled scanner.

The scanner knows no namespaces. When the exact walk meets an element, the scanner learns what its
attributes and text hold; it forgets that when a prefix is bound again.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from relbase.html.tags import Attribute
from relbase.html.vocabulary import Nested, Row, counting
from relbase.scan.held import counting_rows, holds_url, plain_kind
from relbase.scan.tables import BY_TAG, MARKUP, MAX_TAG, MAYBE, SCOPE
from relbase.values.syntaxes import Syntax
from relbase.xml import structure
from relbase.xml.names import Named, Names
from relbase.xml.vocabulary import XML_BASE

# Takes an offset, how many elements are open, how many must stay open, and what was learned.
# Returns edits, the offset to go on at, how many are open there, the item of a feed, texts with
# HTML, and whether references with flaws are among the edits.
Scan: TypeAlias = Callable[..., tuple[list[Any], int, int, Any, list[Any], int]]

# How many of each are learned. Documents have a handful; the exact walk reads hostile ones.
_MOST: Final = 512
_MOST_ATTRIBUTES: Final = 64


class Ahead:
    """Reads ahead in one document."""

    def __init__(
        self, scan: Callable[[], Scan | None], may_learn: Callable[[Named], bool], *, extended: int
    ) -> None:
        self._scan = scan  # returns the scan for where the walk is
        self._may_learn = may_learn
        self._extended = extended
        self._elements: dict[bytes, tuple[int, bool, dict[bytes, int]]] = {}
        self._tags: dict[bytes, int] = {}
        self._names: Names | None = None
        self._changes = -1

    def __call__(
        self, text: bytes, pos: int, depth: int, floor: int | None
    ) -> tuple[structure.Scanned | None, int, int]:
        """Read ahead to what needs a closer look; an offset of -1 means the end."""
        scan = self._scan()
        if scan is None:
            return None, pos, depth
        self._forget()
        floor = depth - len(text) if floor is None else floor
        edits, pos, depth, item, markups, has_flaws = scan(
            text, pos, len(text), depth, floor, self._elements, self._tags
        )
        scanned = (
            structure.Scanned(edits, item, markups, bool(has_flaws)) if edits or item else None
        )
        return scanned, pos, depth

    def learn(
        self,
        tag: re.Match[bytes],
        named: Named,
        names: Names,
        attributes: Mapping[bytes, Attribute],
    ) -> None:
        """Learn what the names of a start tag mean."""
        self._names = names
        self._forget()
        name = tag[1]
        known = self._elements.get(name)
        if known is None:
            if (
                len(self._elements) >= _MOST
                or len(name) > MAX_TAG
                or named.is_base
                or named.is_template
            ):
                return
            holds = _text_holds(named)
            if holds is None or not self._may_learn(named):
                return
            known = self._elements[name] = holds, named.is_item, {}
        for attribute in structure.each_attribute(tag.string, *tag.span(2)):
            self._learn_attribute(attribute[1], known[2], named, names)
        start, end = tag.start(1) - 1, tag.end()
        # Without the base that it states, which may differ in each.
        base = attributes.get(XML_BASE)
        cut, on = (base.start, base.end) if base else (end, end)
        written = tag.string[start:cut] + tag.string[on:end]
        if known[0] == BY_TAG and len(self._tags) < _MOST and len(written) <= MAX_TAG:
            value_of = structure.values_of(tag.string, attributes)
            row = counting(named.attributes_of.text, value_of, extended=True)
            self._tags[written] = 0 if row is None else _holds(row)

    def _forget(self) -> None:
        """Forget what was learned if names may mean something else now: a scope may have ended."""
        if self._names is not None and self._changes != self._names.changes:
            self._elements.clear()
            self._tags.clear()
            self._changes = self._names.changes

    def _learn_attribute(
        self, name: bytes, known: dict[bytes, int], named: Named, names: Names
    ) -> None:
        is_room = len(known) < _MOST_ATTRIBUTES and len(name) <= MAX_TAG
        if name in known or not is_room or name.startswith(b"xmlns"):
            return
        key = names.key(name, named.vocabulary)
        rows = named.attributes_of.rows.get(key, ()) if key is not None else ()
        holds = _SCOPES.get(key, 0)
        if rows and holds == 0:
            holds = plain_kind(counting_rows(rows, extended=self._extended))
        if holds is not None:
            known[name] = holds


# Attributes that decide on the references of others; None if they need a closer look.
_SCOPES: Final[Mapping[bytes | None, int | None]] = {XML_BASE: SCOPE, b"codebase": None}


def _text_holds(named: Named) -> int | None:
    """Return what the text of an element holds, or None if it is not read ahead."""
    rows, holds = named.attributes_of.text, 0
    for row in reversed(rows):
        if row.syntax not in {Syntax.URL, Nested.HTML}:
            return None
        holds = BY_TAG if holds == BY_TAG or row.when is not None else _holds(row)
    return holds


def _holds(row: Row) -> int:
    if row.only or row.stays:
        return MAYBE
    return MARKUP if row.syntax is Nested.HTML else holds_url(row)
