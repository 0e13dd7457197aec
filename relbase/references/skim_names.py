"""What skimming has to know of the vocabulary: names by what may be in their values.

Skimming reads names and first bytes, not rows. So what is told here of an attribute holds on every
element of a namespace, or it is not told: an element that the vocabulary treats in its own way, or
an attribute with rows of two kinds, is then looked at by the exact tokenizer.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final

from relbase.records import NamedTuple
from relbase.references.foreign import HTML
from relbase.references.values import Syntax
from relbase.references.vocabulary import ANY, PLACES, TEXT_ROWS, VML, Nested

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from relbase.references.vocabulary import Row


@cache
def _rows(namespace: str, *, extended: bool) -> Mapping[tuple[bytes, bytes], tuple[Row, ...]]:
    """The rows that count, by element and attribute."""
    counting = {
        (element, attribute): tuple(row for row in rows if extended or not row.extended)
        for (space, element, attribute), rows in PLACES.items()
        if space == namespace
    }
    return {place: rows for place, rows in counting.items() if rows}


def _by_attribute(namespace: str, *, extended: bool) -> dict[bytes, tuple[Row, ...]]:
    found: dict[bytes, tuple[Row, ...]] = {}
    for (_, attribute), rows in _rows(namespace, extended=extended).items():
        found[attribute] = (*found.get(attribute, ()), *rows)
    return found


def decider(rows: Iterable[Row]) -> bytes | None:
    """The attribute that must have one of some values for any row to count, or None."""
    conditions = [row.when for row in rows]
    deciders = {
        when.asks[0] if when and when.values and all(when.values) else None for when in conditions
    }
    return deciders.pop() if len(deciders) == 1 else None


class Watched(NamedTuple):
    """The attributes that have to be looked at, and what is known of the values of some.

    Args:
        names: those that may hold references, or that decide whether another one does.
        deciding: by name, what those that only decide have to say, in lower case.
        css: those that hold CSS wherever they hold references.
        srcset: likewise, a srcset.
        url: likewise, one URL.
        url_unless_empty: likewise, and nothing when they are empty.
    """

    names: frozenset[bytes]
    deciding: Mapping[bytes, frozenset[bytes]]
    css: frozenset[bytes]
    srcset: frozenset[bytes]
    url: frozenset[bytes]
    url_unless_empty: frozenset[bytes]


@cache
def watched(namespace: str, *, extended: bool) -> Watched:
    """What has to be looked at in a namespace."""
    holding = _by_attribute(namespace, extended=extended)
    deciding: dict[bytes, frozenset[bytes]] = {}
    for attribute, rows in [*holding.items()]:
        by = decider(rows)
        if by is not None and by not in holding:
            says = {value for row in rows if row.when for value in row.when.values}
            deciding[by] = deciding.get(by, frozenset()) | says
            del holding[attribute]
    kinds = {name: {row.syntax for row in rows} for name, rows in holding.items()}
    url = _only(kinds, Syntax.URL)
    return Watched(
        frozenset(holding) | frozenset(deciding),
        deciding,
        _only(kinds, Nested.CSS),
        _only(kinds, Syntax.SRCSET),
        url,
        frozenset(name for name in url if not any(row.empty for row in holding[name])),
    )


def _only(kinds: Mapping[bytes, set[Syntax | Nested]], kind: Syntax | Nested) -> frozenset[bytes]:
    return frozenset(name for name, found in kinds.items() if found == {kind})


class Plain(NamedTuple):
    """The elements on which an attribute is one URL on the document's base, whatever else they say.

    Args:
        empty: those on which an empty value is that base.
        others: those on which it is nothing, or something else.
        fenced: those of both on which a fragment alone may be local.
    """

    empty: frozenset[bytes]
    others: frozenset[bytes]
    fenced: frozenset[bytes]


@cache
def plain(attribute: bytes, *, extended: bool) -> Plain:
    """The elements of HTML on which an attribute is a plain URL."""
    found = {
        element: rows[0]
        for (element, name), rows in _rows(HTML, extended=extended).items()
        if name == attribute and element not in {ANY, VML} and _is_plain(rows[0])
    }
    empty = frozenset(name for name, row in found.items() if row.empty and not row.own_url)
    fenced = frozenset(name for name, row in found.items() if row.local_when)
    return Plain(empty, frozenset(found) - empty, fenced)


def _is_plain(row: Row) -> bool:
    is_conditional = row.when is not None or row.on_codebase or row.local
    return row.syntax is Syntax.URL and not is_conditional


def local(namespace: str, *, extended: bool) -> frozenset[bytes]:
    """The attributes that hold one URL on every element, a fragment alone being local."""
    return frozenset(
        attribute
        for (element, attribute), rows in _rows(namespace, extended=extended).items()
        if element == ANY and all(row.local and row.syntax is Syntax.URL for row in rows)
    )


def without_rows(namespace: str, elements: Iterable[bytes]) -> list[bytes]:
    """Those of some elements that have no rows of their own."""
    own = {element for space, element, _ in PLACES if space == namespace}
    own |= {element for space, element in TEXT_ROWS if space == namespace}
    return [element for element in elements if element.lower() not in own]


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
