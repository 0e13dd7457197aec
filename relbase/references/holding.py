"""What the attributes of an element hold, as numbers: the vocabulary as quick scanners ask it.

What a scanner cannot settle by a number holds `ANYTHING`, and is looked at.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from relbase.references.foreign import HTML
from relbase.references.values import Syntax
from relbase.references.vocabulary import PLACES, TEXT_ROWS, Nested, Row, held

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# What an attribute holds; the numbers are those of _walk.c.
NOTHING, URL, CSS, SRCSET, LIST, DECIDES, MAYBE, ANYTHING, MARKUP = range(9)
EMPTY_IS_BASE, EMPTY_LOOK, LOCAL, FRAGMENT_LOOK = 16, 32, 64, 128

_HELD: Final[Mapping[Syntax | Nested, int]] = {
    Syntax.URL: URL,
    Nested.CSS: CSS,
    Syntax.SRCSET: SRCSET,
    Syntax.SPACE_LIST: LIST,
}
_SYNTAXES: Final = {number: syntax for syntax, number in _HELD.items()}
KIND: Final = 15


@cache
def attribute_names(*, extended: bool) -> tuple[str, ...]:
    """The attributes by their numbers; the last one, of number -1, is none."""
    return (*(name.decode() for name in held_attributes(extended=extended)), "")


def held_syntax(holds: int) -> Syntax | Nested:
    """The syntax of a value by what the scanner says that it holds."""
    return _SYNTAXES[holds & KIND]


def is_local(holds: int) -> bool:
    """Whether a fragment alone is local there."""
    return bool(holds & LOCAL) or holds & KIND == CSS


def _counting(rows: tuple[Row, ...], *, extended: bool) -> tuple[Row, ...]:
    return rows if extended else tuple([row for row in rows if not row.extended])


def held_attributes(*, extended: bool) -> list[bytes]:
    """The attributes that have a number: what holds references, and what decides on it."""
    named = {place[2] for place, rows in PLACES.items() if _counting(rows, extended=extended)}
    return sorted(named | {name for name, _ in deciding_values(extended=extended)} | {b"type"})


def deciding_values(*, extended: bool) -> list[tuple[bytes, tuple[bytes, ...]]]:
    """The attributes that decide whether another one holds references, and what they say then."""
    found = []
    for rows in PLACES.values():
        counting = _counting(rows, extended=extended)
        name = _decider(counting)
        if name is not None:
            found += [(name, row.when.values) for row in counting if row.when]
    return found


def _decider(rows: Iterable[Row]) -> bytes | None:
    """The attribute that must have one of some values for any row to count, or None."""
    conditions = [row.when for row in rows]
    deciders = {
        when.asks[0] if when and when.values and all(when.values) else None for when in conditions
    }
    return deciders.pop() if len(deciders) == 1 else None


def row_of(
    namespace: str, element: bytes, numbers: Mapping[bytes, int], *, extended: bool
) -> list[int]:
    """What each attribute holds on an element."""
    row = [NOTHING] * len(numbers)
    rows_of = held(namespace, element).rows
    counting = {name: _counting(rows, extended=extended) for name, rows in rows_of.items()}
    for attribute, rows in counting.items():
        if not rows:
            continue
        by = _decider(rows)
        if by is None or counting.get(by):
            row[numbers[attribute]] = _holds(rows)
        else:
            row[numbers[by]] = DECIDES
    return row


def _holds(rows: tuple[Row, ...]) -> int:
    """What an attribute holds by its rows; what is not known holds anything."""
    first = rows[0]
    if first.syntax is Nested.GUESSED and first.when is None:
        return MAYBE
    if first.when is not None or first.on_codebase:
        if any(row.syntax is not Syntax.URL for row in rows):
            return ANYTHING | EMPTY_LOOK
        return MAYBE | (EMPTY_LOOK if any(row.empty for row in rows) else 0)
    kind = _HELD.get(first.syntax, ANYTHING)
    if kind == ANYTHING:
        return kind if all(row.syntax is Nested.HTML for row in rows) else kind | EMPTY_LOOK
    return holds_url(first, EMPTY_IS_BASE) if kind == URL else kind


def holds_url(row: Row, empty_is: int = EMPTY_LOOK) -> int:
    """What an attribute or a text holds that is one URL."""
    empty = EMPTY_LOOK if row.own_url else empty_is
    local = FRAGMENT_LOOK if row.local_when else LOCAL if row.local else 0
    return URL | (empty if row.empty else 0) | local


def plain_kind(rows: Sequence[Row]) -> int | None:
    """What an attribute holds by rows that count; None where that depends on anything else."""
    if not rows:
        return NOTHING
    if any(row.when is not None or row.on_codebase for row in rows):
        return None
    holds = _HELD.get(rows[0].syntax)
    return holds_url(rows[0]) if holds == URL else holds


def _types(element: bytes) -> frozenset[bytes]:
    rows = TEXT_ROWS[HTML, element]
    return frozenset(value for row in rows if row.when for value in row.when.values)


# What the `type` of a script says, but for white space, and of a style element, when their text
# holds references.
SCRIPT_TYPES: Final = _types(b"script")
STYLE_TYPES: Final = _types(b"style")

# Elements of SVG and MathML that hold nothing but each other and text: neither their start tags nor
# their end tags change what is markup. Whether they hold references is another matter.
SVG_NAMES: Final = (
    b"path g circle rect line polygon polyline ellipse symbol defs use text tspan stop mask "
    b"pattern marker filter clipPath linearGradient radialGradient feBlend feColorMatrix "
    b"feComponentTransfer feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap "
    b"feDistantLight feDropShadow feFlood feFuncA feFuncB feFuncG feFuncR feGaussianBlur feMerge "
    b"feMergeNode feMorphology feOffset fePointLight feSpecularLighting feSpotLight feTile "
    b"feTurbulence image feImage animate set animateTransform animateMotion mpath textPath "
    b"switch view"
).split()
MATH_NAMES: Final = (
    b"mi mo mn ms mrow mstyle msup msub msubsup mover munder munderover mfrac msqrt mroot mtable "
    b"mtr mtd mspace mpadded mfenced merror mphantom mtext semantics annotation"
).split()
