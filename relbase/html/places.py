"""The rows of the vocabulary of HTML by the places where they apply."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from relbase.html.foreign import HTML
from relbase.html.vocabulary import TABLE, TEXT_ROWS, Row, Table


def by_place(tables: Table) -> dict[tuple[str, bytes, bytes], tuple[Row, ...]]:
    """Return the rows of tables by namespace, element and attribute (b"" for a text)."""
    rows: dict[tuple[str, bytes, bytes], tuple[Row, ...]] = {}
    for namespace, table in tables.items():
        for elements, attributes, row in table:
            for element in elements.encode().split():
                for attribute in attributes.encode().split() or [b""]:
                    place = (namespace, element, attribute)
                    rows[place] = (*rows.get(place, ()), row)
    return rows


PLACES: Final[Mapping[tuple[str, bytes, bytes], tuple[Row, ...]]] = by_place(TABLE)
ANY: Final = b"*"
VML: Final = b"v:*"  # and all elements with this prefix


class ElementRows(NamedTuple):
    rows: Mapping[bytes, tuple[Row, ...]]  # the rows of each attribute, in order
    text: tuple[Row, ...]  # the rows of its text
    asked: frozenset[bytes]  # the attributes to read: those in rows, those that decide
    # The row of each attribute, and of the text (b""), that has only one, if it always counts.
    sure: Mapping[bytes, Row]


def element_rows(rows: Mapping[bytes, tuple[Row, ...]], text: tuple[Row, ...] = ()) -> ElementRows:
    asked, sure = set(rows), dict[bytes, Row]()
    for attribute, of_attribute in (*rows.items(), (b"", text)):
        for row in of_attribute:
            if row.when or row.local_when or row.early_when:
                asked.update(*(condition.asks for condition in row.conditions))
            elif not row.extended and len(of_attribute) == 1:
                sure[attribute] = row
            if row.on_codebase:
                asked.add(b"codebase")
    return ElementRows(rows, text, frozenset(asked), sure)


def _by_element() -> dict[tuple[str, bytes], ElementRows]:
    elements: dict[tuple[str, bytes], dict[bytes, tuple[Row, ...]]] = {
        place: {} for place in TEXT_ROWS
    }
    for (namespace, element, attribute), row in PLACES.items():
        elements.setdefault((namespace, element), {})[attribute] = row
    return {
        place: element_rows({**elements[place[0], ANY], **own}, TEXT_ROWS.get(place, ()))
        for place, own in elements.items()
    }


_BY_ELEMENT: Final = _by_element()


def attributes_of(namespace: str, element: bytes) -> ElementRows:
    own = _BY_ELEMENT.get((namespace, element))
    if own is not None:
        return own
    name = VML if namespace == HTML and element.startswith(VML[:-1]) else ANY
    return _BY_ELEMENT[namespace, name]
