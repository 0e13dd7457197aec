"""Which attribute of which element holds a URL, in which syntax, and when it counts.

Sources: the WHATWG HTML Standard, HTML 4.01, SVG 2, MathML 3, and what browsers and mailers of the
past read. Never rewritten, and so in no row: usemap (always local), xml:base in HTML, itemtype,
itemprop, property, typeof, datatype and vocab, `script for`, applet's `code` and `object` (HTML
4.01 §13.4: relative to the codebase, and to stay so), event handlers, JSON-LD.

Element `*` stands for every element. Where an element has several rows for one attribute, the first
whose condition holds counts.

`choose` says which attributes of one element count, `choose_text` whether its text does. They know
names and what attributes say, and no spans: whoever reads HTML, walks a tree that another parser
made, or prepares the tables of a faster scanner asks the same two.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.references.conditions import (
    PRESENTATION,
    Condition,
    animates_css,
    animates_href,
    has_token,
    is_author,
    is_url_meta,
    is_url_param,
    not_a_curie,
    of_type,
    one_of,
)
from relbase.references.foreign import HTML, MATH, SVG
from relbase.references.values import Syntax

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from relbase.references.conditions import Says


class Nested(Enum):
    """An attribute value or raw text with references of its own."""

    CSS = "css"
    HTML = "html"
    GUESSED = "guessed"  # a URL, a srcset, CSS or nothing: the value tells
    IMPORT_MAP = "import map"
    SPECULATION_RULES = "speculation rules"


class Row(NamedTuple):
    """How an attribute holds URLs.

    Args:
        syntax: the grammar of the value.
        empty: an empty value is a reference (rule 6).
        local: a fragment alone refers into the document wherever it is (rule 8).
        local_when: the condition on which that is so, if there is one; `choose` asks it.
        on_codebase: relative to the element's `codebase` (HTML 4.01 §13.3, §13.4).
        own_url: an empty value means the document's own URL, whatever `<base>` says.
        extended: counts with the policy `extended` only.
        when: the condition, if there is one.
    """

    syntax: Syntax | Nested
    empty: bool = False
    local: bool = False
    local_when: Condition | None = None
    on_codebase: bool = False
    own_url: bool = False
    extended: bool = False
    when: Condition | None = None


_URL: Final = Row(Syntax.URL)
_LINK: Final = Row(Syntax.URL, empty=True)
_ACTION: Final = Row(Syntax.URL, empty=True, own_url=True)
_LIST: Final = Row(Syntax.SPACE_LIST)
_SRCSET: Final = Row(Syntax.SRCSET)
_CSS: Final = Row(Nested.CSS)
_SHEET: Final = Row(Nested.CSS, when=one_of(b"type", b"", b"text/css"))
_IN_SVG: Final = Row(Syntax.URL, local=True)
_ANIMATED: Final = Row(Syntax.URL, local=True, when=animates_href)
_ANIMATED_CSS: Final = Row(Nested.CSS, when=animates_css)
_EXTENDED: Final = Row(Syntax.URL, extended=True)
_EXTENDED_SRCSET: Final = Row(Syntax.SRCSET, extended=True)
_GUESSED: Final = Row(Nested.GUESSED, extended=True)

# (elements, attributes, row), by namespace
_TABLE: Final[dict[str, tuple[tuple[str, str, Row], ...]]] = {
    HTML: (
        ("a area base", "href", _LINK),
        # HTML §4.6.7.8: rel=expect names an element of the document by its fragment
        ("link", "href", Row(Syntax.URL, local_when=has_token(b"rel", b"expect"))),
        ("embed xmp", "href", _URL),
        ("a area", "ping", _LIST),
        ("a area img image script", "attributionsrc", _LIST),
        ("img image script iframe embed audio video source track frame bgsound", "src", _URL),
        ("layer ilayer xml fencedframe portal model", "src", _URL),
        ("input", "src", Row(Syntax.URL, when=one_of(b"type", b"image"))),
        ("img image source", "srcset", _SRCSET),
        ("link", "imagesrcset", _SRCSET),
        ("img image iframe frame", "longdesc", _URL),
        ("img image input", "lowsrc dynsrc", _URL),
        ("video audio", "poster", _URL),
        ("form", "action", _ACTION),
        ("isindex", "action", _URL),
        ("button input", "formaction", _ACTION),
        ("blockquote q ins del", "cite", _URL),
        ("object", "data classid", Row(Syntax.URL, on_codebase=True)),
        ("object applet", "codebase", _URL),
        ("object", "archive", Row(Syntax.SPACE_LIST, on_codebase=True)),
        ("applet", "archive", Row(Syntax.COMMA_LIST, on_codebase=True)),
        ("embed", "pluginspage pluginurl", _URL),
        ("param", "value", Row(Nested.GUESSED, extended=True, when=is_url_param)),
        ("body table td th tr thead tbody tfoot colgroup col", "background", _URL),
        ("layer ilayer", "background", _URL),
        ("head", "profile", _URL),
        ("html", "manifest", _URL),
        ("menuitem command", "icon", _URL),
        ("script", "xlink:href", _URL),
        ("meta", "content", Row(Syntax.REFRESH, when=one_of(b"http-equiv", b"refresh"))),
        ("meta", "content", Row(Syntax.LINK, when=one_of(b"http-equiv", b"link"))),
        ("meta", "content", Row(Nested.GUESSED, extended=True, when=is_url_meta)),
        ("meta", "content", Row(Syntax.URL, extended=True, when=is_author)),
        ("iframe", "srcdoc", Row(Nested.HTML)),
        ("*", "style", _CSS),
        ("*", "itemid", _EXTENDED),
        ("*", "about", Row(Syntax.URL, extended=True, when=not_a_curie(b"about"))),
        ("*", "resource", Row(Syntax.URL, extended=True, when=not_a_curie(b"resource"))),
        ("*", "data-src data-lazy data-lazy-src data-original data-href data-url", _GUESSED),
        ("*", "data-bg data-background data-poster data-image data-thumb data-full", _GUESSED),
        ("*", "data-lazyload data-flickity-lazyload data-lazy-background data-hi-res", _GUESSED),
        ("*", "data-orig-file data-medium-file data-large-file", _GUESSED),  # WordPress, Jetpack
        ("*", "data-rocket-src data-media data-pin-media data-pin-url data-permalink", _GUESSED),
        ("*", "data-srcset data-lazy-srcset data-bgset data-flickity-lazyload-srcset", _GUESSED),
        ("amp-img amp-anim amp-video amp-audio amp-iframe", "src poster", _EXTENDED),
        ("amp-img amp-anim", "srcset", _EXTENDED_SRCSET),
        ("amp-list", "src", _EXTENDED),
        ("form", "action-xhr", _EXTENDED),
        ("model-viewer", "src poster ios-src", _EXTENDED),
        ("amp-story", "publisher-logo-src poster-portrait-src poster-square-src", _EXTENDED),
        ("amp-story", "poster-landscape-src", _EXTENDED),
        # VML, as Office writes it into mail and saved pages
        ("v:*", "src href", _URL),
    ),
    SVG: (
        ("a", "href xlink:href", _LINK),
        ("a", "ping", _LIST),
        ("*", "href xlink:href", _IN_SVG),
        ("script image feimage video audio source track iframe", "src", _URL),
        ("animate set", "to from by", _ANIMATED),
        ("animate set", "values", Row(Syntax.SEMICOLON_LIST, local=True, when=animates_href)),
        ("animate set", "to from by values", _ANIMATED_CSS),
        ("*", "style", _CSS),
        ("*", PRESENTATION, _CSS),
        ("*", "itemid", _EXTENDED),
    ),
    MATH: (
        ("*", "href xlink:href altimg definitionurl cdgroup", _URL),
        ("mglyph", "src", _URL),
        ("*", "style", _CSS),
    ),
}


# The text of elements whose text is not markup. No row: what is in them is none of the kinds that
# hold references.
TEXT_ROWS: Final[dict[tuple[str, bytes], tuple[Row, ...]]] = {
    (HTML, b"style"): (_SHEET,),
    (SVG, b"style"): (_SHEET,),
    (HTML, b"script"): (
        Row(Nested.IMPORT_MAP, empty=True, when=of_type(b"importmap")),  # scopes: the key "" counts
        Row(Nested.SPECULATION_RULES, when=of_type(b"speculationrules")),
    ),
}


def _by_place() -> dict[tuple[str, bytes, bytes], tuple[Row, ...]]:
    rows: dict[tuple[str, bytes, bytes], tuple[Row, ...]] = {}
    for namespace, table in _TABLE.items():
        for elements, attributes, row in table:
            for element in elements.encode().split():
                for attribute in attributes.encode().split():
                    place = (namespace, element, attribute)
                    rows[place] = (*rows.get(place, ()), row)
    return rows


# All rows by namespace, element and attribute, for what is prepared from them.
PLACES: Final[Mapping[tuple[str, bytes, bytes], tuple[Row, ...]]] = _by_place()

ANY: Final = b"*"
VML: Final = b"v:*"  # and all elements with this prefix


class Held(NamedTuple):
    """What an element can hold.

    Args:
        rows: its attributes that are in some row, each with its rows in their order.
        text: the rows of its text.
        asked: the attributes that have to be known of it: those in its rows, and those that decide.
    """

    rows: Mapping[bytes, tuple[Row, ...]]
    text: tuple[Row, ...]
    asked: frozenset[bytes]


def _by_element() -> dict[tuple[str, bytes], Held]:
    """What each element can hold, and under `*` what any other can."""
    elements: dict[tuple[str, bytes], dict[bytes, tuple[Row, ...]]] = {
        place: {} for place in TEXT_ROWS
    }
    for (namespace, element, attribute), found in PLACES.items():
        elements.setdefault((namespace, element), {})[attribute] = found
    return {
        place: _held({**elements[place[0], ANY], **own}, TEXT_ROWS.get(place, ()))
        for place, own in elements.items()
    }


def _held(attributes: Mapping[bytes, tuple[Row, ...]], text: tuple[Row, ...]) -> Held:
    found = [*text, *(row for rows in attributes.values() for row in rows)]
    conditions = [when for row in found for when in (row.when, row.local_when) if when]
    deciding = {name for when in conditions for name in when.asks}
    codebase = {b"codebase"} if any(row.on_codebase for row in found) else set()
    return Held(attributes, text, frozenset(attributes) | deciding | codebase)


_BY_ELEMENT: Final = _by_element()


def held(namespace: str, element: bytes) -> Held:
    """What an element can hold."""
    own = _BY_ELEMENT.get((namespace, element))
    if own is not None:
        return own
    name = VML if namespace == HTML and element.startswith(VML[:-1]) else ANY
    return _BY_ELEMENT[namespace, name]


def attributes(namespace: str, *, extended: bool) -> frozenset[bytes]:
    """The attributes of a namespace that are in some row, whatever its condition."""
    return frozenset(
        place[2]
        for place, rows in PLACES.items()
        if place[0] == namespace and (extended or not all(row.extended for row in rows))
    )


class Chosen(NamedTuple):
    """An attribute that holds references, and the row by which it does."""

    attribute: bytes
    row: Row


# What a caller named has the same row on every element.
NONE_NAMED: Final[Mapping[bytes, tuple[Row, ...]]] = MappingProxyType({})


@lru_cache(maxsize=16)
def named_rows(attributes: tuple[tuple[str, str], ...]) -> Mapping[bytes, tuple[Row, ...]]:
    """Return the rows of attributes that a caller names, with their syntaxes."""
    syntaxes = {"url": _URL, "srcset": _SRCSET, "css": _CSS}
    return {name.encode(): (syntaxes[syntax],) for name, syntax in attributes}


def choose(
    namespace: str,
    element: bytes,
    names: Iterable[bytes],
    says: Says,
    *,
    extended: bool = False,
    named: Mapping[bytes, tuple[Row, ...]] = NONE_NAMED,
) -> Iterator[Chosen]:
    """The attributes of one element that hold references, in the order in which they are named.

    Whoever has the row knows how the value is read (`row.syntax`: `values.SYNTAXES`, or a nested
    text), and whether its references stand on the element's `codebase` (`row.on_codebase`).
    """
    rows = held(namespace, element).rows
    for name in names:
        row = _counting(named.get(name) or rows.get(name, ()), says, extended=extended)
        if row is None:
            continue
        is_local = row.local_when is not None and row.local_when.holds(says)
        yield Chosen(name, row._replace(local=True) if is_local else row)


def choose_text(namespace: str, element: bytes, says: Says) -> Row | None:
    """By which row the text of an element holds references; None when it does not."""
    return _counting(held(namespace, element).text, says, extended=False)


def _counting(rows: tuple[Row, ...], says: Says, *, extended: bool) -> Row | None:
    for row in rows:
        if (extended or not row.extended) and (row.when is None or row.when.holds(says)):
            return row
    return None
