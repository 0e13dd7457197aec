"""What the attributes of elements hold, by their names, and what finds them in a tag."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from relbase.records import NamedTuple
from relbase.references import holding, tags
from relbase.references.foreign import HTML
from relbase.references.tags import WS, any_of
from relbase.references.vocabulary import ANY, PLACES, VML

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

# Elements with longer text that are read here all the same: it is passed over.
WITH_TEXT: Final = frozenset((b"script", b"iframe"))
SPECIAL: Final = tags.RAW_TEXT | {b"svg", b"math", b"template", b"frameset", b"base"}


class Names(NamedTuple):
    """How tags are read, whatever becomes of their references.

    Args:
        match_attribute: matches up to the next attribute of interest, or to the end of the tag.
        rows: what the attributes hold of elements that hold nothing but tags.
        extended: whether rows of the policy `extended` count.
    """

    match_attribute: Callable[..., re.Match[bytes] | None]
    rows: Mapping[bytes, Mapping[bytes, int]]
    extended: bool


@cache
def names_of(*, extended: bool) -> Names:
    """How tags are read."""
    names = any_of(holding.held_attributes(extended=extended))
    match_attribute = re.compile(
        rb"(?:[\t\n\f\r /]++|(?!%b)%b)*+(?:(>)|(%b)(?:%b*+=%b*+"
        rb"(?:\"([^\"]*+)\"|'([^']*+)'|([^\t\n\f\r >\"'][^\t\n\f\r >]*+)|(?=>))|(?!%b*+=)))"
        % (names, tags.ATTRIBUTE, names, WS, WS, WS)
    ).match
    rows = _rows(extended=extended)
    usual = {name: row for name, row in rows.items() if name not in SPECIAL}
    return Names(match_attribute, usual, extended)


# The groups of `match_attribute`: `>`, a name, and the values after it.
CLOSE, NAME, UNQUOTED = 1, 2, 5


@cache
def _rows(*, extended: bool) -> Mapping[bytes, Mapping[bytes, int]]:
    """What each attribute holds, by element; that of `ANY` is of all that have no row."""
    attributes = holding.held_attributes(extended=extended)
    numbers = {name: number for number, name in enumerate(attributes)}
    elements = {element for space, element, _ in PLACES if space == HTML} | {ANY, VML}
    return {
        element: {
            name: holds
            for name, holds in zip(
                attributes,
                holding.row_of(
                    HTML, VML[:-1] if element == VML else element, numbers, extended=extended
                ),
                strict=True,
            )
            if holds != holding.NOTHING
        }
        for element in elements
    }


def row_of_element(element: bytes, names: Names) -> Mapping[bytes, int]:
    """What the attributes of an element hold, by their names."""
    row = names.rows.get(element)
    if row is not None:
        return row
    rows, name = _rows(extended=names.extended), element.lower()
    return rows.get(name, rows[VML if name.startswith(VML[:-1]) else ANY])
