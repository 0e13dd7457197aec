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
from relbase.html.construction import Construction
from relbase.html.foreign import BREAKOUT, FOREIGN_ROOTS, HTML, MATH, POINTS, RAW_TEXT, SVG
from relbase.html.in_body import Tag
from relbase.html.places import attributes_of
from relbase.html.stack import FOREIGN, Unsure
from relbase.html.tags import END_TAG, START_TAG, Token, read, text_end
from relbase.html.vocabulary import counting, value_in


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


# The namespace of foreign content in which it is not known what is open.
UNSURE: Final = ""
# Tags of HTML that change what others are, or that have a text which is no markup.
_DECIDING: Final = RAW_TEXT | FOREIGN_ROOTS.keys() | {b"template", b"frameset"}
# Elements in foreign content that need a closer look: HTML may be in them, or they may be of HTML.
_POINTS: Final = POINTS[SVG] | POINTS[MATH]
_LOOK: Final = _POINTS | BREAKOUT | {b"font"}
_SVG_STYLE: Final = attributes_of(SVG, b"style").text

# What may be moved in the middle of what is open: in each document, and for each token more.
_FREE_WORK, _WORK = 100_000, 16

# A document type after which a table does not stay in an open p.
_standards_mode: Final = expression(
    rb"(?:[\t\n\f\r ]++|<!--(?:-?>|(?s:.*?)--!?>))*+<!doctype[\t\n\f\r ]*+html"
    rb"(?![^>]*//DTD HTML (?:[23]|4\.0 (?:Tr|Fr)|4\.01 (?:Tr|Fr)[^>]*//EN[\"'][\t\n\f\r ]*+>))",
    re.IGNORECASE,
)


class Tree:
    """What is open at a place in a document, or in a part of it that is read by itself.

    Most foreign content is an element with only elements of its own kind inside, well nested: for
    it nothing else needs to be known. Otherwise all that precedes is read once more, to learn which
    elements are open around it.

    Attributes:
        is_plain: Whether no foreign content is open: the next tag is of HTML, in most documents.
        has_cdata: Whether a CDATA section is text.
    """

    __slots__ = (
        *("_begin", "_constructed", "_construction", "_end", "_hidden", "in_noscript"),
        *(
            "_in_sheet",
            "_is_frameset_page",
            "_is_unsure",
            "_local",
            "_raw",
            "_root",
            "_templates",
            "_text",
        ),
        *("has_cdata", "is_plain"),
    )

    def __init__(
        self, text: bytes, begin: int, end: int, *, hidden: bool, in_noscript: bool
    ) -> None:
        self._text, self._begin, self._end = text, begin, end
        self._hidden = hidden
        self.in_noscript = in_noscript
        self._is_frameset_page: bool | None = None  # not asked yet
        self._templates = 0
        self._local: list[bytes] = []  # the elements that are open in well nested foreign content
        self._root = Token(END_TAG, b"", begin, begin, begin)  # of the foreign content
        self._construction: Construction | None = None
        self._constructed = begin  # how far it got
        self._raw = b""  # the element of HTML whose raw text ends there
        self._in_sheet = False
        self._is_unsure = False
        self.is_plain = True
        self.has_cdata = False

    def feed(self, token: Token) -> Element | None:
        """Return the element that a start tag begins; None where the tree gets none."""
        kind, name, start, inside, end = token
        if self.is_plain and name not in _DECIDING:
            if kind != START_TAG:
                return None
            hidden = self._hidden or self._templates > 0
            return Element(HTML, name, start, inside, end, end, hidden)
        if self._is_frameset_page:
            return self._html_element(token) if name in _IN_FRAMESET and not kind else None
        if self.is_plain and (kind == END_TAG or name not in FOREIGN_ROOTS):
            return self._in_html(token)
        try:
            return self._in_foreign(token)
        except Unsure:
            return self._skipped(token)

    def rest_of_sheet(self, pos: int) -> Element | None:
        """Return the rest of a style element of SVG after an element nested in it, if there is one.

        It is read by itself, as if no comment or string of CSS could contain an element.
        """
        if not (self._in_sheet and self._is_in_style):
            return None
        raw_end = text_end(self._text, pos, self._end)
        if raw_end == pos:
            return None
        return Element(SVG, b"style", pos, pos, pos, raw_end, self._hidden)

    @property
    def _is_in_style(self) -> bool:
        if self._local:
            return self._local[0] == b"svg" and self._local[-1] == b"style"
        built = self._construction
        return built is not None and (built.current.namespace, built.current.name) == (
            SVG,
            b"style",
        )

    # ---- Elements of HTML, and those of foreign content

    def _in_html(self, token: Token) -> Element | None:
        name = token.name
        if token.kind == END_TAG:
            self._templates -= name == b"template" and self._templates > 0
            return None
        self._look_for_frameset(token)
        element = self._html_element(token)
        self._templates += name == b"template"
        return element

    def _look_for_frameset(self, token: Token) -> None:
        if token.name == b"frameset" and self._is_frameset_page is None:
            before = _frameset_page.fullmatch(self._text, self._begin, token.start)
            self._is_frameset_page = before is not None
        if self._is_frameset_page:
            self.is_plain = self.has_cdata = False

    def _html_element(self, token: Token) -> Element:
        _, name, start, inside, end = token
        hidden = self._hidden or self._templates > 0
        return Element(HTML, name, start, inside, end, self._raw_end(token), hidden)

    def _raw_end(self, token: Token) -> int:
        name = token.name
        if name not in RAW_TEXT or (self.in_noscript and name == b"noscript"):
            return token.end
        return tags.raw_text_end(name, self._text, token.end, self._end)

    def _foreign_element(self, token: Token, namespace: str) -> Element:
        _, name, start, inside, end = token
        raw_end = end
        # A self-closed element has no text, and MathML has no style sheets.
        if name == b"style" and self._is_in_style:
            raw_end = text_end(self._text, end, self._end)
            value_of = partial(value_in, self._text, tags.attributes(self._text, inside, end))
            self._in_sheet = counting(_SVG_STYLE, value_of, extended=0) is not None
        return Element(namespace, name, start, inside, end, raw_end, self._hidden)

    # ---- Foreign content

    def _in_foreign(self, token: Token) -> Element | None:
        if self.is_plain:
            self._root = token
        if self.is_plain or self._local:
            namespace = self._in_local(token)
            if namespace is not None:
                self.has_cdata = bool(self._local)
                self.is_plain = not self._local
                return self._foreign_element(token, namespace) if namespace else None
            self._local.clear()
        self._construct(token.start)
        assert self._construction is not None
        built = self._construction
        namespace = self._construct_one(token)
        self._templates = built.templates
        self.has_cdata = built.is_foreign
        self.is_plain = built.depth(FOREIGN) < 0
        if not namespace:
            return None
        if namespace != HTML:
            element = self._foreign_element(token, namespace)
        else:
            self._look_for_frameset(token)
            self._templates -= token.name == b"template"
            element = self._html_element(token)
            self._templates = built.templates
        self._past_raw(token.name if namespace == HTML else b"", element.raw_end)
        return element

    def _in_local(self, token: Token) -> str | None:
        """Return the namespace in well nested content, "" for an end tag; None where it is not."""
        local, name = self._local, token.name
        if token.kind != START_TAG:
            if token.kind == END_TAG:
                if name not in local:
                    return None
                while local.pop() != name:
                    continue
            return ""
        is_empty = tags.self_closing(self._text, token.inside, token.end)
        is_closed = name in _POINTS and (is_empty or self._has_text_only(token))
        if local and name in _LOOK and not is_closed:
            return None
        if not is_empty:
            local.append(name)
        return FOREIGN_ROOTS[(local or [name])[0]]

    def _has_text_only(self, token: Token) -> bool:
        """Whether an element with text alone is open; that opens no formatting element again.

        The start tag of the foreign content has reconstructed those that were to be.
        """
        after = read(self._text, token.end, self._end, cdata=True)
        return after is not None and (after.kind, after.name) == (END_TAG, token.name)

    def _construct(self, end: int) -> None:
        """Learn what is open at a place from all that precedes it."""
        if self._is_unsure:
            raise Unsure
        if self._construction is None:
            is_quirky = _standards_mode.match(self._text, self._begin, end) is None
            self._construction = Construction(is_quirky=is_quirky)
            self._construction.allow(_FREE_WORK)
        built = self._construction
        while token := read(self._text, self._constructed, end, cdata=built.is_foreign):
            namespace = self._construct_one(token)
            if namespace == HTML:
                self._past_raw(token.name, self._raw_end(token))
            elif namespace and token.name == b"style" and self._is_in_style:
                self._constructed = text_end(self._text, token.end, self._end)

    def _past_raw(self, name: bytes, raw_end: int) -> None:
        self._constructed = raw_end
        self._raw = name if name in RAW_TEXT else b""

    def _construct_one(self, token: Token) -> str:
        """Return the namespace of a start tag, "" for others."""
        built = self._construction
        assert built is not None
        text, self._constructed = self._text[self._constructed : token.start], token.end
        built.allow(_WORK)
        if text.strip(b"\0"):
            built.characters(are_space=not text.strip(b"\0\t\n\f\r "))
        if token.kind == START_TAG:
            tag = Tag(
                partial(_stated, self._text, token),
                is_self_closing=tags.self_closing(self._text, token.inside, token.end),
            )
            return built.start_tag(token.name, tag)
        if token.kind == END_TAG and token.name != self._raw:
            built.end_tag(token.name)
        self._raw = b""
        return ""

    def _skipped(self, token: Token) -> Element:
        """Return what is left of foreign content as an element of which nothing is known."""
        root = self._root
        pos, depth = token.start, 1
        text = self._text
        while depth and (inner := read(text, pos, self._end)):
            if inner.name == root.name and not tags.self_closing(text, inner.inside, inner.end):
                depth += 1 if inner.kind == START_TAG else -1
            pos = inner.end
        pos = self._end if depth else pos
        self._is_unsure = True
        self._construction = None
        self._local.clear()
        self.is_plain, self.has_cdata = True, False
        return Element(UNSURE, root.name, token.start, token.start, token.start, pos, self._hidden)


def _stated(text: bytes, token: Token) -> dict[bytes, bytes]:
    attributes = tags.attributes(text, token.inside, token.end)
    return {name: text[each.start : each.end] for name, each in attributes.items()}


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
