"""Which attribute of which element holds a URL, in which syntax, and when it counts.

These are never rewritten, so they have no row: usemap (always local), xml:base in HTML, itemtype,
itemprop, property, typeof, datatype and vocab, `script for`, applet's `code` and `object` (relative
to the codebase), event handlers. Of several rows, the first whose condition holds counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.expressions import expression
from relbase.html.foreign import HTML, MATH, SVG
from relbase.values.syntaxes import Syntax

if TYPE_CHECKING:
    from relbase.html.tags import Attribute
    from relbase.notes import Reason

# The value of an attribute of an element, decoded and in lower case; b"" if absent.
ValueOf: TypeAlias = "Callable[[bytes], bytes]"


class Condition(NamedTuple):
    asks: tuple[bytes, ...]  # the attributes that it depends on
    holds: Callable[[ValueOf], bool]
    values: tuple[bytes, ...] = ()  # the values of the one attribute asked; empty for others


def keyword(raw: bytes) -> bytes:
    """Return a raw value as a keyword, decoded and in lower case: `Ref&#114;esh` is `refresh`."""
    from relbase.view.charrefs import attribute_view, needs_view

    meant = attribute_view(raw, b'"', "utf-8").inner if needs_view(raw) else raw
    return meant.lower()


def value_in(text: bytes, attributes: Mapping[bytes, Attribute], name: bytes) -> bytes:
    attribute = attributes.get(name)
    return b"" if attribute is None else keyword(text[attribute.start : attribute.end])


def one_of(attribute: bytes, *values: bytes) -> Condition:
    return Condition((attribute,), lambda value: value(attribute) in values, values)


def _of_type(name: bytes) -> Condition:
    """Holds if the type of a script, without white space around it, is `name`."""
    return Condition((b"type",), lambda value: value(b"type").strip(b"\t\n\f\r ") == name, (name,))


def _not_a_curie(attribute: bytes) -> Condition:
    """RDFa Core §7.4: `[prefix:name]` is a safe CURIE, `_:name` a blank node; neither is a URL."""
    return Condition(
        (attribute,), lambda value: not value(attribute).lstrip().startswith((b"[", b"_:"))
    )


# HTML §4.6.7.8: rel=expect names an element of the document by its fragment.
LOCAL_WORD: Final = (b"rel", b"expect")
_IS_EXPECT: Final = Condition((b"rel",), lambda value: LOCAL_WORD[1] in value(b"rel").split())

# What browsers fetch as soon as they parse it (rule 4).
_FETCHED: Final = frozenset((b"stylesheet", b"preload", b"modulepreload"))
_IS_FETCHED: Final = Condition(
    (b"rel",), lambda value: not _FETCHED.isdisjoint(value(b"rel").split())
)
_IS_EAGER: Final = Condition((b"loading",), lambda value: value(b"loading") != b"lazy")

# Names of <meta> whose content is a URL: Open Graph, Twitter cards, Windows tiles, microdata.
_meta_url: Final = expression(
    rb"""og:(?:url|image|audio|video|see_also)(?::(?:url|secure_url))?
    | twitter:(?:url|image(?::src)?|player(?::stream)?)
    | msapplication-(?:tileimage|starturl|config|\w*logo)
    | (?:image|url|logo|thumbnail|thumbnailurl|contenturl|embedurl|sameas)""",
    re.VERBOSE | re.IGNORECASE,
)
_META_NAMES: Final = (b"property", b"name", b"itemprop")
_IS_URL_META: Final = Condition(
    _META_NAMES, lambda value: any(_meta_url.fullmatch(value(name)) for name in _META_NAMES)
)

# Open Graph's `article:author` is the URL of a profile, unless it is a person's name.
_path: Final = expression(rb"[^\s/]*+/\S*+")
_IS_AUTHOR: Final = Condition(
    (*_META_NAMES, b"content"),
    lambda value: (
        any(value(name) == b"article:author" for name in _META_NAMES)
        and _path.fullmatch(value(b"content").strip()) is not None
    ),
)

# <param> values that players took for URLs; HTML 4.01 §13.3.2 passes them "as is".
_PARAM_NAMES: Final = (b"movie", b"src", b"url", b"filename", b"data", b"base")
_IS_URL_PARAM: Final = Condition(
    (b"valuetype", b"name"),
    lambda value: value(b"valuetype") == b"ref" or value(b"name") in _PARAM_NAMES,
)

# SVG's presentation attributes that take a url() (SVG 2 §6.6); they can be animated like any other.
_PRESENTATION: Final = (
    "fill stroke filter clip-path mask cursor marker marker-start marker-mid marker-end"
)


# What rows count with beside the usual ones, as bits: the policy `extended`, a document of AMP.
EXTENDED: Final = 1
AMP: Final = 2
AMP_TYPE: Final = "text/x-amp-html"


class Nested(Enum):
    """An attribute value or raw text with references of its own."""

    CSS = "css"
    HTML = "html"
    GUESSED = "guessed"  # a URL, a srcset, CSS or nothing: the value tells
    IMPORT_MAP = "import map"
    SPECULATION_RULES = "speculation rules"
    JSON_LD = "JSON-LD"


class Row(NamedTuple):
    """How an attribute, or the text of an element, holds URLs."""

    syntax: Syntax | Nested  # the grammar of the value
    empty: bool = False  # an empty value is a reference (rule 6)
    local: bool = False  # a fragment alone always refers into the document (rule 8)
    local_when: Condition | None = None  # when `local` is true; `counting` checks it
    early: bool = False  # browsers fetch it before they see what follows (rule 4)
    early_when: Condition | None = None  # when `early` is true; `counting` checks it
    on_codebase: bool = False  # relative to the element's `codebase` (HTML 4.01 §13.3, §13.4)
    own_url: bool = False  # empty means the document's own URL, whatever `<base>` says
    extended: int = 0  # counts with one of these bits only
    when: Condition | None = None
    only: tuple[bytes, ...] = ()  # what a text of XML must begin with; empty: anything
    stays: Reason | None = None  # why a text of XML is noted and never rewritten

    @property
    def conditions(self) -> list[Condition]:
        return [
            condition for condition in (self.when, self.local_when, self.early_when) if condition
        ]

    def is_known(self, extended: int) -> bool:
        """Whether the row counts, on its condition, with these bits."""
        return not self.extended or bool(self.extended & extended)


class Slot(NamedTuple):
    """A value of an element that holds references; `attribute` is b"" for a text."""

    element: bytes
    attribute: bytes
    row: Row
    value: Attribute  # if a text, its quote says how to read it (in XML b"")
    codebase: Attribute | None = None  # if the row needs it
    is_repeated: bool = False


_URL: Final = Row(Syntax.URL)
_LINK: Final = Row(Syntax.URL, empty=True)
_ACTION: Final = Row(Syntax.URL, empty=True, own_url=True)
_LIST: Final = Row(Syntax.SPACE_LIST)
_SRCSET: Final = Row(Syntax.SRCSET)
_CSS: Final = Row(Nested.CSS)
_STYLE: Final = Row(Nested.CSS, early=True)
_SHEET: Final = Row(Nested.CSS, early=True, when=one_of(b"type", b"", b"text/css"))
_IN_SVG: Final = Row(Syntax.URL, local=True)
_ANIMATES_HREF: Final = one_of(b"attributename", b"href", b"xlink:href")
_ANIMATED: Final = Row(Syntax.URL, local=True, when=_ANIMATES_HREF)
_ANIMATED_LIST: Final = Row(Syntax.SEMICOLON_LIST, local=True, when=_ANIMATES_HREF)
_ANIMATES_CSS: Final = one_of(b"attributename", *_PRESENTATION.encode().split())
_ANIMATED_CSS: Final = Row(Nested.CSS, when=_ANIMATES_CSS)
_EXTENDED: Final = Row(Syntax.URL, extended=EXTENDED)
_GUESSED: Final = Row(Nested.GUESSED, extended=EXTENDED)
_AMP: Final = Row(Syntax.URL, extended=EXTENDED | AMP)

# (elements, attributes, row), by namespace
Table: TypeAlias = "Mapping[str, tuple[tuple[str, str, Row], ...]]"
TABLE: Final[Table] = {
    HTML: (
        ("a area base", "href", _LINK),
        ("link", "href", Row(Syntax.URL, local_when=_IS_EXPECT, early_when=_IS_FETCHED)),
        ("embed xmp", "href", _URL),
        ("a area", "ping", _LIST),
        ("a area img image script", "attributionsrc", _LIST),
        ("img image", "src", Row(Syntax.URL, early_when=_IS_EAGER)),
        ("script iframe", "src", Row(Syntax.URL, early=True)),
        ("embed audio video source track frame bgsound", "src", _URL),
        ("layer ilayer xml fencedframe portal model", "src", _URL),
        ("input", "src", Row(Syntax.URL, when=one_of(b"type", b"image"))),
        ("img image", "srcset", Row(Syntax.SRCSET, early_when=_IS_EAGER)),
        ("source", "srcset", Row(Syntax.SRCSET, early=True)),
        ("link", "imagesrcset", Row(Syntax.SRCSET, early_when=_IS_FETCHED)),
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
        ("param", "value", Row(Nested.GUESSED, extended=EXTENDED, when=_IS_URL_PARAM)),
        ("body table td th tr thead tbody tfoot colgroup col", "background", _URL),
        ("layer ilayer", "background", _URL),
        ("head", "profile", _URL),
        ("html", "manifest", _URL),
        ("menuitem command", "icon", _URL),
        ("script", "xlink:href", _URL),
        ("meta", "content", Row(Syntax.REFRESH, when=one_of(b"http-equiv", b"refresh"))),
        ("meta", "content", Row(Syntax.LINK, when=one_of(b"http-equiv", b"link"))),
        ("meta", "content", Row(Nested.GUESSED, extended=EXTENDED, when=_IS_URL_META)),
        ("meta", "content", Row(Syntax.URL, extended=EXTENDED, when=_IS_AUTHOR)),
        ("iframe", "srcdoc", Row(Nested.HTML, early=True)),
        ("*", "style", _STYLE),
        ("*", "itemid", _EXTENDED),
        ("*", "about", Row(Syntax.URL, extended=EXTENDED, when=_not_a_curie(b"about"))),
        ("*", "resource", Row(Syntax.URL, extended=EXTENDED, when=_not_a_curie(b"resource"))),
        ("*", "data-src data-lazy data-lazy-src data-original data-href data-url", _GUESSED),
        ("*", "data-bg data-background data-poster data-image data-thumb data-full", _GUESSED),
        ("*", "data-lazyload data-flickity-lazyload data-lazy-background data-hi-res", _GUESSED),
        ("*", "data-orig-file data-medium-file data-large-file", _GUESSED),  # WordPress, Jetpack
        ("*", "data-rocket-src data-media data-pin-media data-pin-url data-permalink", _GUESSED),
        ("*", "data-srcset data-lazy-srcset data-bgset data-flickity-lazyload-srcset", _GUESSED),
        ("model-viewer", "src poster ios-src", _EXTENDED),
        # AMP: the attributes of its validator that hold URLs
        ("amp-img amp-anim amp-video amp-audio amp-iframe amp-video-iframe", "src poster", _AMP),
        ("amp-img amp-anim", "srcset", _AMP._replace(syntax=Syntax.SRCSET)),
        ("amp-iframe", "srcdoc", _AMP._replace(syntax=Nested.HTML)),
        ("amp-list amp-state amp-autocomplete amp-script amp-render amp-3d-gltf", "src", _AMP),
        ("amp-install-serviceworker", "src data-iframe-src", _AMP),
        ("form", "action-xhr verify-xhr", _AMP),
        ("amp-story amp-story-page", "background-audio", _AMP),
        ("amp-story", "publisher-logo-src poster-portrait-src poster-square-src", _AMP),
        ("amp-story", "poster-landscape-src", _AMP),
        # VML, as Office writes it into mail and saved pages
        ("v:*", "src href", _URL),
    ),
    SVG: (
        ("a", "href xlink:href", _LINK),
        ("a", "ping", _LIST),
        ("*", "href xlink:href", _IN_SVG),
        ("image", "href xlink:href", _IN_SVG._replace(early=True)),
        ("script image feimage video audio source track iframe", "src", _URL),
        ("animate set", "to from by", _ANIMATED),
        ("animate set", "values", _ANIMATED_LIST),
        ("animate set", "to from by values", _ANIMATED_CSS),
        ("*", "style", _STYLE),
        ("*", _PRESENTATION, _CSS),
        ("*", "itemid", _EXTENDED),
    ),
    MATH: (
        ("*", "href xlink:href altimg definitionurl cdgroup", _URL),
        ("mglyph", "src", _URL),
        ("*", "style", _STYLE),
    ),
}

# The text of elements whose text is not markup. If no row counts, it is of a kind that holds no
# references.
TEXT_ROWS: Final[dict[tuple[str, bytes], tuple[Row, ...]]] = {
    (HTML, b"style"): (_SHEET,),
    (SVG, b"style"): (_SHEET,),
    (HTML, b"script"): (
        Row(Nested.IMPORT_MAP, empty=True, when=_of_type(b"importmap")),  # scopes: "" counts
        Row(Nested.SPECULATION_RULES, when=_of_type(b"speculationrules")),
        Row(Nested.JSON_LD, when=_of_type(b"application/ld+json")),  # its visit asks the policy
    ),
}


# Attributes that a caller names have the same row on every element.
NONE_NAMED: Final[Mapping[bytes, tuple[Row, ...]]] = MappingProxyType({})


@lru_cache(maxsize=16)
def named_rows(attributes: tuple[tuple[str, str], ...]) -> Mapping[bytes, tuple[Row, ...]]:
    """Return the rows of attributes that a caller names, with their syntaxes."""
    syntaxes = {"url": _URL, "srcset": _SRCSET, "css": _CSS}
    return {name.encode(): (syntaxes[syntax],) for name, syntax in attributes}


def counting(rows: tuple[Row, ...], value_of: ValueOf, *, extended: int) -> Row | None:
    """Return the first row whose condition holds, with `local`, `early` as on the element."""
    for row in rows:
        is_known = not row.extended or row.extended & extended
        if is_known and (row.when is None or row.when.holds(value_of)):
            if row.local_when is not None and row.local_when.holds(value_of):
                row = row._replace(local=True)  # noqa: PLW2901
            if row.early_when is not None and row.early_when.holds(value_of):
                row = row._replace(early=True)  # noqa: PLW2901
            return row
    return None


# The terms of type @id in schemaorgcontext.jsonld of schema.org 30.0: those whose range is URL and
# not Text. `id` is its alias of @id. The last line: what Google's structured data reads as a URL
# (BreadcrumbList, SearchAction).
PROPERTIES: Final = frozenset(
    b"""
    id acquireLicensePage actionableFeedbackPolicy afterMedia archivedAt associatedDisease
    beforeMedia benefitsSummaryUrl codeRepository colleague colorSwatch constraintProperty
    contentUrl correctionsPolicy discussionUrl diseasePreventionInfo diseaseSpreadStatistics
    diversityPolicy diversityStaffingReport documentation downloadUrl duringMedia embedUrl
    ethicsPolicy gameLocation gettingTestedInfo hasGS1DigitalLink hasMap hasMolecularFunction
    healthPlanMarketingUrl image inCodeSet inDefinedTermSet installUrl isBasedOn isBasedOnUrl
    isInvolvedInBiologicalProcess isLocatedInSubcellularLocation isPartOf labelDetails layoutImage
    license logo mainEntityOfPage map maps masthead merchantReturnLink
    missionCoveragePrioritiesPolicy newsUpdatesAndGuidelines noBylinesPolicy originalMediaLink
    paymentUrl prescribingInfo productReturnLink publicTransportClosuresInfo publishingPrinciples
    quarantineGuidelines relatedLink replyToUrl sameAs schoolClosuresInfo screenshot sdLicense
    season serviceUrl shippingSettingsLink significantLink significantLinks speakable target
    targetUrl thumbnailUrl tourBookingPage trackingUrl travelBans unnamedSourcesPolicy url usageInfo
    verificationFactCheckingPolicy webFeed
    item urlTemplate
    """.split()
)
JSON_LD_LISTS: Final = (b"@list", b"@set")
JSON_LD_NAMES: Final = PROPERTIES | {b"@id", b"@base", *JSON_LD_LISTS}
