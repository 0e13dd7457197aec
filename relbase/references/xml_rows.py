"""Rows of XML that a user adds to the vocabularies: `{namespace}element@attribute=syntax`.

Without a namespace a row is for elements in none; without an attribute, for the text of the
element. The element may be `*`, each of its namespace.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from relbase.policy import XML_ROW
from relbase.references.values import Syntax
from relbase.references.vocabulary import Nested, Row
from relbase.references.xml_vocabulary import Held, TextRow

if TYPE_CHECKING:
    from collections.abc import Mapping

_SYNTAXES: Final[Mapping[str, Syntax | Nested]] = {
    "url": Syntax.URL,
    "list": Syntax.SPACE_LIST,
    "srcset": Syntax.SRCSET,
    "css": Nested.CSS,
    "html": Nested.HTML,
}


@lru_cache(maxsize=16)
def rows_of(written: tuple[str, ...]) -> Mapping[tuple[bytes, bytes], Held]:
    """What elements hold by the rows of a user, by namespace and name."""
    found: dict[tuple[bytes, bytes], Held] = {}
    for row in written:
        parts = XML_ROW.fullmatch(row)
        assert parts is not None  # the policy has looked
        namespace, element, attribute, syntax = (part or "" for part in parts.groups())
        key = namespace.encode(), element.encode()
        known = found.get(key, Held({}, (), frozenset()))
        found[key] = with_rows(known, _held(attribute.encode(), Row(_SYNTAXES[syntax])))
    return found


def _held(attribute: bytes, row: Row) -> Held:
    if attribute:
        return Held({attribute: (row,)}, (), frozenset((attribute,)))
    return Held({}, (TextRow(row),), frozenset())


def with_rows(held: Held, own: Held | None) -> Held:
    """What an element holds, and by rows of a user, which come first."""
    if own is None:
        return held
    return Held({**held.rows, **own.rows}, own.text + held.text, held.asked | own.asked)
