"""A simulation of the tree of an HTML document, which says what a tag is.

WHATWG HTML "tree construction", as far as it decides what is markup, and what is not in the tree of
the document: SVG and MathML, raw text, templates, framesets.
"""

from __future__ import annotations

import re
from functools import partial
from typing import Final, NamedTuple

from relbase.expressions import expression
from relbase.html import tags
from relbase.html.foreign import FONT_BREAKOUT, HTML, SVG, ForeignContent, closed_as
from relbase.html.tags import END_TAG, Token, read, text_end
from relbase.html.vocabulary import attributes_of, counting, keyword, value_in


class Element(NamedTuple):
    """A start tag of interest, as offsets; the raw text after it reaches to `raw_end`."""

    namespace: str
    name: bytes
    start: int  # of the `<`
    attributes: int  # after the name
    end: int  # after the `>`
    raw_end: int  # `end` where there is no raw text
    hidden: bool  # not in the document's tree: a `<base>` does not count

    @property
    def is_noscript(self) -> bool:
        return self.name == b"noscript" and self.namespace == HTML


_FOREIGN: Final = frozenset((b"svg", b"math"))
# Tags of HTML that change what others are, or that have a text which is no markup.
_DECIDING: Final = tags.RAW_TEXT | _FOREIGN | {b"template", b"frameset"}
_SVG_STYLE: Final = attributes_of(SVG, b"style").text


class Tree:
    """What is open at a place in a document, or in a part of it that is read by itself.

    Attributes:
        is_plain: Whether each tag is of HTML, as in most of a document: the next one can be read
            without knowing what is open.
        has_cdata: Whether a CDATA section is text.
    """

    __slots__ = (
        *("_around", "_begin", "_end", "_foreign", "_hidden", "_in_noscript", "_in_sheet"),
        *("_is_frameset_page", "_text", "has_cdata", "is_plain"),
    )

    def __init__(
        self, text: bytes, begin: int, end: int, *, hidden: bool, in_noscript: bool
    ) -> None:
        self._text, self._begin, self._end = text, begin, end
        self._hidden = hidden
        self._in_noscript = in_noscript
        self._foreign = ForeignContent()
        self._around = _Around(text, begin)
        self._is_frameset_page: bool | None = None  # not asked yet
        self._in_sheet = False
        self.is_plain = True
        self.has_cdata = False

    def feed(self, token: Token) -> Element | None:
        """Return the element that a start tag begins; None where the tree gets none."""
        kind, name, start, inside, end = token
        if self.is_plain and name not in _DECIDING:
            if kind == END_TAG:
                return None
            hidden = self._hidden or self._around.templates > 0
            return Element(HTML, name, start, inside, end, end, hidden)
        element = None
        if kind == END_TAG:
            self._end_tag(name)
        elif not self._is_frameset_page or name in _IN_FRAMESET:
            element = self._start_tag(token)
        opened = self._foreign.opened
        self.is_plain = not opened and not self._is_frameset_page
        self.has_cdata = bool(opened) and opened[-1].namespace != HTML
        return element

    def rest_of_sheet(self, pos: int) -> Element | None:
        """Return the rest of a style element of SVG after an element nested in it, if there is one.

        It is read by itself, as if no comment or string of CSS could contain an element.
        """
        if not (self._in_sheet and self._foreign.opened and self._foreign.in_svg_style):
            return None
        raw_end = text_end(self._text, pos, self._end)
        if raw_end == pos:
            return None
        return Element(SVG, b"style", pos, pos, pos, raw_end, self._hidden)

    def _end_tag(self, name: bytes) -> None:
        was_foreign = bool(self._foreign.opened)
        if was_foreign:
            self._foreign.end(name, self._around.would_close)
        if name == b"template" and not self._foreign.opened and self._around.templates:
            self._around.templates -= 1

    def _start_tag(self, token: Token) -> Element:
        name = token.name
        if self._foreign.opened or name in _FOREIGN:
            self._around.end = self._around.end if self._foreign.opened else token.start
            namespace = _start_foreign(self._foreign, self._text, token)
            if namespace != HTML:
                return self._foreign_element(token, namespace)
        elif name == b"frameset" and self._is_frameset_page is None:
            found = _frameset_page.fullmatch(self._text, self._begin, token.start)
            self._is_frameset_page = found is not None
        raw_end = token.end
        if name in tags.RAW_TEXT and not (self._in_noscript and name == b"noscript"):
            raw_end = tags.raw_text_end(name, self._text, token.end, self._end)
        hidden = self._hidden or self._around.templates > 0 or self._foreign.in_template
        if name == b"template" and not self._foreign.opened:
            self._around.templates += 1
        return Element(HTML, name, token.start, token.inside, token.end, raw_end, hidden)

    def _foreign_element(self, token: Token, namespace: str) -> Element:
        _, name, start, inside, end = token
        raw_end = end
        # A self-closed element has no text, and MathML has no style sheets.
        if name == b"style" and self._foreign.opened and self._foreign.in_svg_style:
            raw_end = text_end(self._text, end, self._end)
            stated = {each.name: each for each in tags.attributes(self._text, inside, end)}
            value_of = partial(value_in, self._text, stated)
            self._in_sheet = counting(_SVG_STYLE, value_of, extended=False) is not None
        return Element(namespace, name, start, inside, end, raw_end, self._hidden)


def _start_foreign(foreign: ForeignContent, text: bytes, token: Token) -> str:
    name, pos, end = token.name, token.inside, token.end
    font = encoding = False
    if name in {b"font", b"annotation-xml"}:
        for attribute in tags.attributes(text, pos, end, FONT_BREAKOUT | {b"encoding"}):
            font = font or attribute.name in FONT_BREAKOUT
            if attribute.name == b"encoding":
                value = keyword(text[attribute.start : attribute.end])
                encoding = value in {b"text/html", b"application/xhtml+xml"}
    namespace = foreign.start(
        name,
        self_closing=tags.self_closing(text, pos, end),
        html_annotation=encoding,
        font_breakout=font,
    )
    return HTML if namespace is None else namespace


# Start tags that a frameset page does not ignore ("in frameset").
_IN_FRAMESET: Final = frozenset((b"html", b"frameset", b"frame", b"noframes"))

# What may precede a frameset: no text, and none of the elements that set the flag "frameset-ok" to
# "not ok".
_frameset_page: Final = expression(
    rb"""(?: [\0\t\n\f\r ]++
    | <!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))
    | <[!?][^>]*+>
    | <(?:(?:script|style|title|noscript|noframes|noembed)(?=[\t\n\f\r />])[^>]*+>
        (?:[^<]++|<(?!/(?:script|style|title|noscript|noframes|noembed)[\t\n\f\r />]))*+)
    | <(?!(?:body|pre|listing|li|dd|dt|button|applet|marquee|object|table|area|br|embed|img|image
        |keygen|wbr|input|hr|textarea|xmp|iframe|select|plaintext|template)[\t\n\f\r />])
        /?[a-z][^>]*+>
    )*+""",
    re.VERBOSE | re.IGNORECASE,
)


class _Around:
    """The HTML elements around foreign content, which begins at `end`."""

    __slots__ = ("_counted", "_open", "_text", "end", "templates")

    def __init__(self, text: bytes, pos: int) -> None:
        self._text = text
        self._counted = pos
        self._open: dict[bytes, int] = {}
        self.end = pos
        self.templates = 0

    def would_close(self, name: bytes) -> bool:
        """Return whether an end tag closes an element around the foreign content."""
        if name == b"template":
            return self.templates > 0
        if not (name := closed_as(name)):
            return False
        self._count()
        return self._open.get(name, 0) > 0

    def _count(self) -> None:
        text, pos = self._text, self._counted
        while found := read(text, pos, self.end, cdata=False):
            pos, name = found.end, found.name
            if found.kind > END_TAG:
                continue
            is_end = found.kind == END_TAG
            if name in _CLOSES_SELECT and not is_end and self._open.get(b"select"):
                self._open[b"select"] = 0
            elif closed := closed_as(name):
                self._open[closed] = max(0, self._open.get(closed, 0) + (-1 if is_end else 1))
            elif name in tags.RAW_TEXT and not is_end:
                pos = tags.raw_text_end(name, text, pos, self.end)
        self._counted = max(self._counted, self.end)


# Start tags that close an open select element; a second <select> opens none.
_CLOSES_SELECT: Final = frozenset((b"select", b"input"))
