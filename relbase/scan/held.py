"""What the attributes of an element hold, as numbers of `tables`.

What no number describes is `ANYTHING`, and gets a closer look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Final, TypeAlias

from relbase.html.places import PLACES, attributes_of
from relbase.html.vocabulary import LOCAL_WORD, Condition, Nested, Row
from relbase.scan import tables
from relbase.scan.tables import HOLDS_MASK
from relbase.values.syntaxes import Syntax

HELD: Final[Mapping[Syntax | Nested, int]] = {
    Syntax.URL: tables.URL,
    Nested.CSS: tables.CSS,
    Syntax.SRCSET: tables.SRCSET,
    Syntax.SPACE_LIST: tables.LIST,
    Syntax.REFRESH: tables.REFRESH,
}


@cache
def attribute_names(*, extended: int) -> tuple[str, ...]:
    """Return the attributes by number; the last, for number -1, stands for no attribute."""
    return (*(name.decode() for name in held_attributes(extended=extended)), "")


def is_local(holds: int) -> bool:
    """Return whether a fragment alone is local there."""
    return bool(holds & tables.LOCAL) or holds & HOLDS_MASK == tables.CSS


def counting_rows(rows: tuple[Row, ...], *, extended: int) -> tuple[Row, ...]:
    return tuple([row for row in rows if row.is_known(extended)])


def held_attributes(*, extended: int) -> list[bytes]:
    """Return the numbered attributes: those that hold references, or decide whether others do."""
    named = {place[2] for place, rows in PLACES.items() if counting_rows(rows, extended=extended)}
    asked = {by for _, by, _ in deciders(extended=extended)}
    return sorted(named | asked | {b"type", LOCAL_WORD[0]})


def deciders(*, extended: int) -> Iterator[tuple[tuple[str, bytes], bytes, set[bytes]]]:
    """Yield each element, its attribute that decides whether others count, and by which values."""
    for (space, element, _), rows in PLACES.items():
        conditions = [row.when for row in rows if row.is_known(extended)]
        by = _decider(conditions)
        if by is not None:
            yield (
                (space, element),
                by,
                {value for when in conditions if when for value in when.values},
            )


def _decider(conditions: Iterable[Condition | None]) -> bytes | None:
    """Return the one attribute whose value decides whether any of these holds, or None."""
    deciders = {
        when.asks[0] if when and when.values and all(when.values) else None for when in conditions
    }
    return deciders.pop() if len(deciders) == 1 else None


# What is known of the rows of an attribute: which count, the attribute that decides whether they
# do, and what they hold. By their identity: most elements have most of them in common.
Summaries: TypeAlias = "dict[int, tuple[tuple[Row, ...], bytes | None, int]]"


def row_of(
    namespace: str,
    element: bytes,
    numbers: Mapping[bytes, int],
    known: Summaries,
    *,
    extended: int,
    decided: tuple[bytes, bytes] | None = None,
) -> list[int]:
    """Return what each attribute holds on an element, perhaps if one has a deciding value."""
    row = [tables.NOTHING] * len(numbers)
    rows_of = attributes_of(namespace, element).rows
    for attribute, all_rows in rows_of.items():
        if id(all_rows) not in known:
            rows = counting_rows(all_rows, extended=extended)
            by = _decider(row.when for row in rows) if rows else None
            known[id(all_rows)] = rows, by, _holds(rows) if rows else tables.NOTHING
        rows, by, holds = known[id(all_rows)]
        if not rows:
            continue
        if by is None:
            row[numbers[attribute]] = holds
        elif decided and by == decided[0]:
            then = [
                each._replace(when=None)
                for each in rows
                if each.when and decided[1] in each.when.values
            ]
            row[numbers[attribute]] = _holds(tuple(then)) if then else tables.NOTHING
        elif counting_rows(rows_of.get(by, ()), extended=extended):
            row[numbers[attribute]] = holds
        else:
            row[numbers[by]] = tables.DECIDES
    return row


def _holds(rows: tuple[Row, ...]) -> int:
    """Return what an attribute holds by its rows; unknown syntaxes are `ANYTHING`."""
    first = rows[0]
    if first.syntax is Nested.GUESSED and first.when is None:
        return tables.MAYBE
    if first.on_codebase and first.when is None and first.syntax is Syntax.URL:
        return tables.ON_CODEBASE
    if first.when is not None or first.on_codebase:
        if any(row.syntax is not Syntax.URL for row in rows):
            return tables.ANYTHING | tables.EMPTY_LOOK
        return tables.MAYBE | (tables.EMPTY_LOOK if any(row.empty for row in rows) else 0)
    kind = HELD.get(first.syntax, tables.ANYTHING)
    if kind == tables.ANYTHING:
        return kind if all(row.syntax is Nested.HTML for row in rows) else kind | tables.EMPTY_LOOK
    return holds_url(first, tables.EMPTY_IS_BASE) if kind == tables.URL else kind


def holds_url(row: Row, empty_is: int = tables.EMPTY_LOOK) -> int:
    """Return what an attribute or a text holds if its value is one URL."""
    empty = tables.EMPTY_LOOK if row.own_url else empty_is
    local = tables.FRAGMENT_LOOK if row.local_when else tables.LOCAL if row.local else 0
    return tables.URL | (empty if row.empty else 0) | local
