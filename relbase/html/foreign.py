"""SVG and MathML inside HTML: the open elements that decide what is markup there.

WHATWG HTML "main-inforeign". The stack does not know the HTML elements around it. If an end tag
matches nothing in the stack, it asks the caller.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable
from typing import Final, NamedTuple

HTML: Final = "html"
SVG: Final = "svg"
MATH: Final = "math"
SHOWN: Final = frozenset((HTML, SVG, MATH))  # the vocabularies that browsers show
_FOREIGN: Final = {b"svg": SVG, b"math": MATH}

_BREAKOUT: Final = frozenset(
    b"b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img "
    b"li listing menu meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul "
    b"var".split()
)
FONT_BREAKOUT: Final = frozenset((b"color", b"face", b"size"))

_VOID: Final = frozenset(
    b"area base basefont bgsound br col embed frame hr image img input keygen link meta param "
    b"source track wbr".split()
)

# These close an open p ("close a p element"), so that a lone <p> does not stay open.
_CLOSES_P: Final = frozenset(
    b"address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption "
    b"figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p pre "
    b"search section summary table ul".split()
)
_CLOSES_ITSELF: Final = frozenset((b"li", b"option", b"td", b"tr", b"th"))
# A table in one of these is nested; elsewhere it closes the open table.
_CELLS: Final = (b"caption", b"td", b"th", b"template")

# The end tags of these close an element up to the next table ("has an element in table scope"); all
# others, up to the next special element of SVG or MathML.
_TABLE_SCOPED: Final = frozenset(b"caption table tbody td tfoot th thead tr".split())

# Elements that an end tag of the same name closes, together with what is open inside them.
CLOSED_BY_END_TAG: Final = (
    _BREAKOUT - _VOID - {b"body", b"head"}
    | _TABLE_SCOPED
    | frozenset(
        b"a address article aside button details dialog fieldset figcaption figure font footer "
        b"header label legend main nav object optgroup option search section select summary "
        b"abbr audio bdi bdo canvas cite data del dfn ins kbd map mark output picture q samp slot "
        b"time video".split()
    )
)


def closed_as(name: bytes) -> bytes:
    """Return the element that an end tag closes, or b""; that of a heading closes any heading."""
    if len(name) == len(b"h1") and name[:1] == b"h" and name != b"hr":
        return b"h1"
    return name if name in CLOSED_BY_END_TAG or b"-" in name else b""  # custom elements


_SVG_INTEGRATION: Final = frozenset((b"foreignobject", b"desc", b"title"))
_MATH_INTEGRATION: Final = frozenset((b"mi", b"mo", b"mn", b"ms", b"mtext"))
_SPECIAL: Final = _SVG_INTEGRATION | _MATH_INTEGRATION | {b"annotation-xml"}

# No real page nests so deep. Deeper elements are only counted, so that a hostile document cannot
# make the stack grow further.
MAX_DEPTH: Final = 50_000


class Open(NamedTuple):
    """An open element: its lower-case name, its namespace, and whether HTML continues inside it."""

    name: bytes
    namespace: str
    integration: bool


class ForeignContent:
    """The stack of open elements that begins with an `<svg>` or `<math>` in HTML."""

    __slots__ = ("_depths", "_overflow", "opened")

    def __init__(self) -> None:
        self.opened: list[Open] = []
        # The depths at which each name is open, apart for HTML elements and others; b"" stands for
        # any element of HTML, and for any special one of the others.
        self._depths: defaultdict[tuple[bytes, bool], array[int]] = defaultdict(lambda: array("L"))
        self._overflow = 0

    @property
    def in_svg_style(self) -> bool:
        return self.opened[-1][:2] == (b"style", SVG)

    def start(
        self, name: bytes, *, self_closing: bool, html_annotation: bool, font_breakout: bool
    ) -> str | None:
        """Open an element and return its namespace, or None if that ends the foreign content."""
        is_html = not self.opened or self._html_rules(name)
        if not is_html and (name in _BREAKOUT or (name == b"font" and font_breakout)):
            self._pop_to_html()
            if not self.opened:
                return None
            is_html = True
        if is_html and name not in _FOREIGN:
            self._open_html(name)
            return HTML
        namespace = _FOREIGN[name] if is_html else self.opened[-1].namespace
        if not self_closing:
            integration = (namespace == SVG and name in _SVG_INTEGRATION) or (
                namespace == MATH and name == b"annotation-xml" and html_annotation
            )
            self._push(Open(name, namespace, integration))
        return namespace

    @property
    def in_template(self) -> bool:
        return self._depth_of(b"template", is_html=True) >= 0

    def end(self, name: bytes, is_open_outside: Callable[[bytes], bool]) -> None:
        """Close an element; if that ends the foreign content, the stack is empty."""
        if self._overflow:
            self._overflow -= 1
            return
        if self.opened[-1].namespace != HTML:
            if name in {b"br", b"p"}:
                self._pop_to_html()
                return
            depth = self._depth_of(name, is_html=False)
            if depth > self._depth_of(b"", is_html=True):
                self._cut(depth)
                return
        self._end_html(name, is_open_outside)

    def _html_rules(self, name: bytes) -> bool:
        """Return whether the rules of HTML apply to a start tag here ("tree construction")."""
        top = self.opened[-1]
        if top.namespace == HTML:
            return True
        if top.namespace == MATH and top.name in _MATH_INTEGRATION:
            return name not in {b"mglyph", b"malignmark"}
        return top.integration or (top.name == b"annotation-xml" and name == b"svg")

    def _open_html(self, name: bytes) -> None:
        top = self.opened[-1]
        if top.namespace == HTML and (
            (top.name == b"p" and name in _CLOSES_P)
            or (top.name == name and name in _CLOSES_ITSELF)
        ):
            self._cut(len(self.opened) - 1)
        if name == b"table":
            table, *cells = (self._depth_of(one, is_html=True) for one in (name, *_CELLS))
            if table > max(self._depth_of(b"", is_html=False), *cells):
                self._cut(table)
        if name not in _VOID:
            self._push(Open(name, HTML, integration=False))

    def _end_html(self, name: bytes, is_open_outside: Callable[[bytes], bool]) -> None:
        """Close an HTML element, if it is in scope."""
        scope = self._depth_of(b"", is_html=False)
        if name in _TABLE_SCOPED:
            scope = self._depth_of(b"table", is_html=True)
        elif name == b"template":
            scope = -1
        depth = self._depth_of(name, is_html=True)
        if depth >= 0:
            if depth >= scope:
                self._cut(depth)
        elif scope < 0 and is_open_outside(name):
            self._cut(0)

    def _pop_to_html(self) -> None:
        depth = len(self.opened)
        while depth:
            top = self.opened[depth - 1]
            is_text = top.namespace == MATH and top.name in _MATH_INTEGRATION
            if top.namespace == HTML or top.integration or is_text:
                break
            depth -= 1
        self._cut(depth)

    def _depth_of(self, name: bytes, *, is_html: bool) -> int:
        depths = self._depths.get((name, is_html))
        return depths[-1] if depths else -1

    def _push(self, opened: Open) -> None:
        depth = len(self.opened)
        if depth >= MAX_DEPTH:
            self._overflow += 1
            return
        self.opened.append(opened)
        for key in _keys(opened):
            self._depths[key].append(depth)

    def _cut(self, depth: int) -> None:
        for opened in self.opened[depth:]:
            for key in _keys(opened):
                self._depths[key].pop()
        del self.opened[depth:]


def _keys(opened: Open) -> list[tuple[bytes, bool]]:
    is_html = opened.namespace == HTML
    is_counted = is_html or opened.name in _SPECIAL
    return [(opened.name, is_html), (b"", is_html)][: 1 + is_counted]


def namespace_in_tree(name: bytes, inside: str) -> str:
    """Return the namespace of an element in the tree of a parser that knows no namespaces."""
    if inside == HTML or name in _BREAKOUT:
        return _FOREIGN.get(name, HTML)
    return SVG if name == b"svg" and inside == MATH else inside


def namespace_inside(name: bytes, namespace: str) -> str:
    """Return the namespace of what is inside an element: HTML at an integration point."""
    points = {SVG: _SVG_INTEGRATION, MATH: _MATH_INTEGRATION | {b"annotation-xml"}}
    return HTML if name in points.get(namespace, ()) else namespace
