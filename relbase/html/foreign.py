"""Which elements change what is markup: SVG, MathML (WHATWG HTML "main-inforeign"), raw text."""

from __future__ import annotations

from typing import Final

from relbase.expressions import expression

HTML: Final = "html"
SVG: Final = "svg"
MATH: Final = "math"
SHOWN: Final = frozenset((HTML, SVG, MATH))  # the vocabularies that browsers show
FOREIGN_ROOTS: Final = {b"svg": SVG, b"math": MATH}

# Start tags that end foreign content; `font` does with an attribute of `FONT_BREAKOUT`.
BREAKOUT: Final = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img "
    b"li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul "
    b"var".split()
)
FONT_BREAKOUT: Final = frozenset((b"color", b"face", b"size"))

VOID: Final = frozenset(
    b"area base basefont bgsound br col embed frame hr image img input keygen link meta param "
    b"source track wbr".split()
)

# Integration points, inside which HTML continues.
SVG_HTML: Final = frozenset((b"foreignobject", b"desc", b"title"))
MATH_TEXT: Final = frozenset((b"mi", b"mo", b"mn", b"ms", b"mtext"))
POINTS: Final = {SVG: SVG_HTML, MATH: MATH_TEXT | {b"annotation-xml"}}

# Names that are written like `foreignObject` in SVG. Chromium compares them as they are written.
MIXED_CASE: Final = frozenset(
    b"altglyph altglyphdef altglyphitem animatecolor animatemotion animatetransform clippath "
    b"feblend fecolormatrix fecomponenttransfer fecomposite feconvolvematrix fediffuselighting "
    b"fedisplacementmap fedistantlight fedropshadow feflood fefunca fefuncb fefuncg fefuncr "
    b"fegaussianblur feimage femerge femergenode femorphology feoffset fepointlight "
    b"fespecularlighting fespotlight fetile feturbulence foreignobject glyphref lineargradient "
    b"radialgradient textpath".split()
)


# Elements of HTML whose text is not markup, up to the "appropriate end tag token".
RAW_TEXT: Final = frozenset(
    {
        *(b"title", b"textarea"),  # RCDATA
        *(b"style", b"xmp", b"iframe", b"noembed", b"noframes"),  # RAWTEXT
        *(b"script", b"plaintext"),
        b"noscript",  # rule 14
    }
)

# What a head contains. Any other element begins the body.
IN_HEAD: Final = frozenset(
    (b"html", b"head", b"meta", b"title", b"link", b"base", b"style", b"script", b"noscript")
)

base_tag: Final = expression(rb"<[bB][aA][sS][eE][\t\n\f\r />]")


def namespace_in_tree(name: bytes, inside: str) -> str:
    """Return the namespace of an element in the tree of a parser that knows no namespaces."""
    if inside == HTML or name in BREAKOUT:
        return FOREIGN_ROOTS.get(name, HTML)
    return SVG if name == b"svg" and inside == MATH else inside


def namespace_inside(name: bytes, namespace: str) -> str:
    """Return the namespace of what is inside an element: HTML at an integration point."""
    return HTML if name in POINTS.get(namespace, ()) else namespace
