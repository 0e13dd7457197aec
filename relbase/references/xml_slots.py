"""Which values of an element of XML hold references, by the rows of the vocabulary.

In come the elements that `xml` found, with the attributes that rows ask for. Out come the values,
each with the row that says what is in it; a value is of one row, the first whose conditions hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.references.xml import Attribute, meant

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from relbase.notes import Reason
    from relbase.references.conditions import Says
    from relbase.references.vocabulary import Row
    from relbase.references.xml import Element


class Slot(NamedTuple):
    """A value that holds references.

    `attribute` is its name as written, b"" for the text of an element, which has the quote b"".
    """

    element: bytes
    attribute: bytes
    row: Row
    value: Attribute
    codebase: Attribute | None = None
    stays: Reason | None = None
    is_repeated: bool = False


def slots(text: bytes, element: Element, *, extended: bool = False) -> Iterator[Slot]:
    """The values of one element that hold references, its text last."""
    held = element.named.held
    attributes = element.attributes

    says = says_of(text, attributes)
    for key, value in attributes.items():
        for row in held.rows.get(key, ()):
            if (extended or not row.extended) and (row.when is None or row.when.holds(says)):
                codebase = attributes.get(b"codebase") if row.on_codebase else None
                is_repeated = key in element.repeated
                yield Slot(element.name, value.name, row, value, codebase, is_repeated=is_repeated)
                break
    if element.text_end == element.end:
        return
    for row, only, stays in held.text:
        if row.when is not None and not row.when.holds(says):
            continue
        if not only or _begins(text, element, only):
            value = Attribute(b"", element.end, element.text_end, b"")
            yield Slot(element.name, b"", row, value, stays=stays)
            break


def says_of(text: bytes, attributes: Mapping[bytes, Attribute]) -> Says:
    """Return what says what an attribute says; `xlink:href` is compared with what SVG animates."""

    def says(key: bytes) -> bytes:
        value = attributes.get(key)
        return b"" if value is None else meant(text[value.start : value.end]).lower()

    return says


_section: Final = re.compile(rb"(?:[ \t\r\n]++|<!\[CDATA\[)*+").match


def _begins(text: bytes, element: Element, only: tuple[bytes, ...]) -> bool:
    """Whether the text of an element begins with one of some paths."""
    found = _section(text, element.end, element.text_end)
    return text.startswith(only, found.end() if found else element.end, element.text_end)
