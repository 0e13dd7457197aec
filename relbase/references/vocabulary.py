"""Which attribute of which element holds a URL, in which syntax, and when it counts.

Sources: the WHATWG HTML Standard, HTML 4.01, SVG 2, MathML 3, and what browsers and mailers of the
past read. Never rewritten, and so in no row: usemap (always local), xml:base in HTML, itemtype,
itemprop, property, typeof, datatype and vocab, `script for`, applet's `code` and `object` (HTML
4.01 §13.4: relative to the codebase, and to stay so), event handlers, JSON-LD.

Element `*` stands for every element. Where an element has several rows for one attribute, the first
whose condition holds counts.
"""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.references.foreign import HTML, MATH, SVG
from relbase.references.values import Syntax
from relbase.view.charrefs import attribute_view, needs_view

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Nested(Enum):
    """An attribute value or raw text with references of its own."""

    CSS = "css"
    HTML = "html"
    IMPORT_MAP = "import map"
    SPECULATION_RULES = "speculation rules"


class Row(NamedTuple):
    """How an attribute holds URLs.

    Args:
        syntax: the grammar of the value.
        empty: an empty value is a reference (design rule 6).
        local: a fragment alone refers into the document wherever it is (design rule 8).
        on_codebase: relative to the element's `codebase` (HTML 4.01 §13.3, §13.4).
        own_url: an empty value means the document's own URL, whatever `<base>` says.
        extended: counts with the policy `extended` only.
        when: the condition, asked with all attributes of the element, values as written.
    """

    syntax: Syntax | Nested
    empty: bool = False
    local: bool = False
    on_codebase: bool = False
    own_url: bool = False
    extended: bool = False
    when: Callable[[Mapping[bytes, bytes]], bool] | None = None


def keyword(raw: bytes) -> bytes:
    """What a value as written says where a keyword is asked for: `Ref&#114;esh` is `refresh`.

    Args:
        raw: the value without its quotes, in an ASCII-compatible charset.
    """
    meant = attribute_view(raw, b'"', "utf-8").inner if needs_view(raw) else raw
    return meant.lower()


def _is(attribute: bytes, *values: bytes) -> Callable[[Mapping[bytes, bytes]], bool]:
    """A condition: the attribute has one of the values, in any case."""
    return lambda attributes: keyword(attributes.get(attribute, b"")) in values


# Names of <meta> whose content is a URL: Open Graph, Twitter cards, Windows tiles, microdata.
_meta_url: Final = re.compile(
    rb"""og:(?:url|image|audio|video|see_also)(?::(?:url|secure_url))?
    | twitter:(?:url|image(?::src)?|player(?::stream)?)
    | msapplication-(?:tileimage|starturl|config|\w*logo)
    | (?:image|url|logo|thumbnailurl|contenturl|embedurl|sameas)""",
    re.VERBOSE | re.IGNORECASE,
).fullmatch


def _is_url_meta(attributes: Mapping[bytes, bytes]) -> bool:
    names = (b"property", b"name", b"itemprop")
    return any(_meta_url(keyword(attributes.get(name, b""))) for name in names)


# <param> values that players took for URLs; HTML 4.01 §13.3.2 passes them "as is".
_PARAM_NAMES: Final = (b"movie", b"src", b"url", b"filename", b"data", b"base")


def _is_url_param(attributes: Mapping[bytes, bytes]) -> bool:
    return _is(b"valuetype", b"ref")(attributes) or _is(b"name", *_PARAM_NAMES)(attributes)


def _is_no_curie(attribute: bytes) -> Callable[[Mapping[bytes, bytes]], bool]:
    """RDFa Core §7.4: `[prefix:name]` is a safe CURIE, `_:name` a blank node; neither is a URL."""
    return lambda attributes: (
        not keyword(attributes.get(attribute, b"")).lstrip().startswith((b"[", b"_:"))
    )


_animates_href: Final = _is(b"attributename", b"href", b"xlink:href")

# SVG's presentation attributes that take a url() (SVG 2 §6.6); they are animated like any other.
_PRESENTATION: Final = (
    "fill stroke filter clip-path mask cursor marker marker-start marker-mid marker-end"
)
_animates_css: Final = _is(b"attributename", *_PRESENTATION.encode().split())

_URL: Final = Row(Syntax.URL)
_LINK: Final = Row(Syntax.URL, empty=True)
_ACTION: Final = Row(Syntax.URL, empty=True, own_url=True)
_LIST: Final = Row(Syntax.SPACE_LIST)
_SRCSET: Final = Row(Syntax.SRCSET)
_CSS: Final = Row(Nested.CSS)
_IN_SVG: Final = Row(Syntax.URL, local=True)
_ANIMATED: Final = Row(Syntax.URL, local=True, when=_animates_href)
_ANIMATED_CSS: Final = Row(Nested.CSS, when=_animates_css)
_EXTENDED: Final = Row(Syntax.URL, extended=True)
_EXTENDED_SRCSET: Final = Row(Syntax.SRCSET, extended=True)

# (elements, attributes, row), by namespace
_TABLE: Final[dict[str, tuple[tuple[str, str, Row], ...]]] = {
    HTML: (
        ("a area base", "href", _LINK),
        ("link embed xmp", "href", _URL),
        ("a area", "ping", _LIST),
        ("a area img image script", "attributionsrc", _LIST),
        ("img image script iframe embed audio video source track frame bgsound", "src", _URL),
        ("layer ilayer xml fencedframe portal model", "src", _URL),
        ("input", "src", Row(Syntax.URL, when=_is(b"type", b"image"))),
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
        ("param", "value", Row(Syntax.URL, extended=True, when=_is_url_param)),
        ("body table td th tr thead tbody tfoot colgroup col", "background", _URL),
        ("layer ilayer", "background", _URL),
        ("head", "profile", _URL),
        ("html", "manifest", _URL),
        ("menuitem command", "icon", _URL),
        ("script", "xlink:href", _URL),
        ("meta", "content", Row(Syntax.REFRESH, when=_is(b"http-equiv", b"refresh"))),
        ("meta", "content", Row(Syntax.LINK, when=_is(b"http-equiv", b"link"))),
        ("meta", "content", Row(Syntax.URL, extended=True, when=_is_url_meta)),
        ("iframe", "srcdoc", Row(Nested.HTML)),
        ("*", "style", _CSS),
        ("*", "itemid", _EXTENDED),
        ("*", "about", Row(Syntax.URL, extended=True, when=_is_no_curie(b"about"))),
        ("*", "resource", Row(Syntax.URL, extended=True, when=_is_no_curie(b"resource"))),
        ("*", "data-src data-lazy data-lazy-src data-original data-href data-url", _EXTENDED),
        ("*", "data-bg data-background data-poster data-image data-thumb data-full", _EXTENDED),
        ("*", "data-srcset data-lazy-srcset", _EXTENDED_SRCSET),
        ("amp-img amp-anim amp-video amp-audio amp-iframe", "src poster", _EXTENDED),
        ("amp-img amp-anim", "srcset", _EXTENDED_SRCSET),
        # VML, as Office writes it into mail and saved pages
        ("v:*", "src href", _URL),
    ),
    SVG: (
        ("a", "href xlink:href", _LINK),
        ("a", "ping", _LIST),
        ("*", "href xlink:href", _IN_SVG),
        ("script image feimage video audio source track iframe", "src", _URL),
        ("animate set", "to from by", _ANIMATED),
        ("animate set", "values", Row(Syntax.SEMICOLON_LIST, local=True, when=_animates_href)),
        ("animate set", "to from by values", _ANIMATED_CSS),
        ("*", "style", _CSS),
        ("*", _PRESENTATION, _CSS),
        ("*", "itemid", _EXTENDED),
    ),
    MATH: (
        ("*", "href xlink:href altimg definitionurl cdgroup", _URL),
        ("mglyph", "src", _URL),
        ("*", "style", _CSS),
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


_BY_PLACE: Final = _by_place()

# Attributes that are in some row: most others are passed over by one look-up.
ATTRIBUTES: Final = frozenset(attribute for _, _, attribute in _BY_PLACE)

# With those that the conditions of rows ask for.
ASKED: Final = ATTRIBUTES | frozenset(
    b"attributename codebase http-equiv itemprop name property type valuetype".split()
)

# Those that count in HTML by default.
DEFAULT_ATTRIBUTES: Final = frozenset(
    attribute
    for (namespace, _, attribute), found in _BY_PLACE.items()
    if namespace == HTML and not all(row.extended for row in found)
)


@lru_cache(maxsize=1024)
def rows(namespace: str, element: bytes, attribute: bytes) -> tuple[Row, ...]:
    """The rows of an attribute, in the order in which their conditions are asked.

    Args:
        namespace: `HTML`, `SVG` or `MATH`.
        element: the tag name in lower case.
        attribute: the attribute's name in lower case.

    >>> [row.syntax.value for row in rows("html", b"img", b"srcset")]
    ['srcset']
    """
    own = _BY_PLACE.get((namespace, element, attribute))
    if own is None and element.startswith(b"v:"):
        own = _BY_PLACE.get((namespace, b"v:*", attribute))
    return own if own is not None else _BY_PLACE.get((namespace, b"*", attribute), ())
