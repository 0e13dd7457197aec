"""Goes ahead in XML, by the compiled scanner: it reads the elements whose names it has learned.

Strategy: what a name means depends on the namespaces in scope, which the exact walk knows. It is
learned when the exact walk has met an element: what each of its attributes holds, and its text;
where attributes decide on that, the start tag as it is written tells it. So the compiled scanner
needs no namespaces, and stops at whatever is new to it.

To mind: what was learned is forgotten when a prefix is bound anew, and never grows large.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from relbase.references import xml
from relbase.references.holding import MARKUP, MAYBE, holds_url, plain_kind
from relbase.references.values import Syntax
from relbase.references.vocabulary import Nested
from relbase.references.xml_slots import says_of
from relbase.references.xml_vocabulary import XML_BASE

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping

    from relbase.references.vocabulary import Row
    from relbase.references.xml import Attribute
    from relbase.references.xml_names import Named, Names
    from relbase.references.xml_vocabulary import TextRow

    # From an offset on, with how many elements are open, how many stay so, and what was learned:
    # edits, the offset to go on at, how many are open there, the item of a feed, texts with HTML.
    Scan: TypeAlias = Callable[..., tuple[list[Any], int, int, Any, list[Any]]]

# What the text of an element holds where its start tag decides; the number is that of _walk.c.
_BY_TAG: Final = 11

# Documents have a handful of each; hostile ones are looked at.
_MOST: Final = 512
_MOST_ATTRIBUTES: Final = 64
_LONGEST: Final = 255


class Ahead:
    """Goes ahead in one document."""

    __slots__ = ("_changes", "_elements", "_extended", "_may_learn", "_names", "_scan", "_tags")

    def __init__(
        self,
        scan: Callable[[], Scan | None],
        may_learn: Callable[[Named], bool],
        *,
        extended: bool,
    ) -> None:
        self._scan = scan  # what scans where the walk is
        self._may_learn = may_learn
        self._extended = extended
        self._elements: dict[bytes, tuple[int, bool, dict[bytes, int]]] = {}
        self._tags: dict[bytes, int] = {}
        self._names: Names | None = None
        self._changes = -1

    def __call__(
        self, text: bytes, pos: int, depth: int, floor: int | None
    ) -> tuple[xml.Passed | None, int, int]:
        """Go ahead to what has to be looked at; an offset of -1 is the end."""
        scan = self._scan()
        if scan is None:
            return None, pos, depth
        self._forget()
        floor = depth - len(text) if floor is None else floor
        edits, pos, depth, item, markups = scan(
            text, pos, len(text), depth, floor, self._elements, self._tags
        )
        passed = xml.Passed(edits, item, markups) if edits or item else None
        return passed, pos, depth

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
            if len(self._elements) >= _MOST or len(name) > _LONGEST or xml.is_apart(named):
                return
            holds = _text_holds(named)
            if holds is None or not self._may_learn(named):
                return
            known = self._elements[name] = holds, xml.is_item(named), {}
        for attribute in xml.attribute_names(tag):
            self._learn_attribute(attribute, known[2], named, names)
        written = tag.string[tag.start(1) - 1 : tag.end()]
        if known[0] == _BY_TAG and len(self._tags) < _MOST and len(written) <= _LONGEST:
            self._tags[written] = _decided(tag.string, named, attributes)

    def _forget(self) -> None:
        """Forget what was learned where names meant something else: a scope may have ended."""
        if self._names is not None and self._changes != self._names.changes:
            self._elements.clear()
            self._tags.clear()
            self._changes = self._names.changes

    def _learn_attribute(
        self, name: bytes, known: dict[bytes, int], named: Named, names: Names
    ) -> None:
        is_room = len(known) < _MOST_ATTRIBUTES and len(name) <= _LONGEST
        if name in known or not is_room or name.startswith(b"xmlns"):
            return
        key = names.key(name, named.vocabulary)
        rows = named.held.rows.get(key, ()) if key is not None else ()
        holds = 0 if key not in _SCOPES else None
        if rows and holds == 0:
            holds = plain_kind([row for row in rows if self._extended or not row.extended])
        if holds is not None:
            known[name] = holds


# What decides on the references of others.
_SCOPES: Final = frozenset((XML_BASE, b"codebase"))


def _text_holds(named: Named) -> int | None:
    """What the text of an element holds; None where that is not read ahead."""
    rows = named.held.text
    if any(text.row.syntax not in {Syntax.URL, Nested.HTML} for text in rows):
        return None
    if not rows:
        return 0
    is_decided = any(text.row.when is not None for text in rows)
    return _BY_TAG if is_decided else _holds(rows[0].row, is_certain=_is_certain(rows[0]))


def _decided(text: bytes, named: Named, attributes: Mapping[bytes, Attribute]) -> int:
    """What the text of an element holds after its start tag."""
    says = says_of(text, attributes)
    for row in named.held.text:
        if row.row.when is None or row.row.when.holds(says):
            return _holds(row.row, is_certain=_is_certain(row))
    return 0


def _is_certain(text: TextRow) -> bool:
    return not text.only and not text.stays


def _holds(row: Row, *, is_certain: bool) -> int:
    if not is_certain:
        return MAYBE
    return MARKUP if row.syntax is Nested.HTML else holds_url(row)
