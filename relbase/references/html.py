"""Where the references of an HTML document are: its elements, their attributes, and its raw text.

Strategy: `elements` walks the tokens and applies the rules of tree construction that decide what is
markup: raw text elements, foreign content, frameset pages, templates, noscript by design rule 14,
and the downlevel conditional comments in which mail hides markup. `slots` asks the vocabulary which
of an element's attributes hold references. What is inside a value is the business of `values`,
`css` and the pipeline.

To mind: a part of the document that is scanned as a fragment (noscript, a conditional comment) is
scanned in place, between its own bounds, and nests no deeper than the two kinds there are.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.references import tags
from relbase.references.foreign import FONT_BREAKOUT, HTML, SVG, ForeignContent
from relbase.references.vocabulary import ATTRIBUTES, Nested, Row, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.references.tags import Attribute

# A comment, a tag with its name, or what else begins with `<` and is no text.
_token: Final = re.compile(rb"<(?:(!--)|(/?)([a-zA-Z][^\t\n\f\r />]*+)|[!?/])").search

# <!--[if gte mso 9]> ... <![endif]-->
_conditional: Final = re.compile(rb"\[if[^\]>]*+\]>", re.IGNORECASE).match


class Element(NamedTuple):
    """A start tag of interest, as offsets, and the raw text after it.

    `start` is the `<`, `attributes` after the tag name, `end` after the `>`; the raw text reaches
    to `raw_end` (`end` when there is none). `hidden` elements are no part of the document's tree:
    a `<base>` among them does not count.
    """

    namespace: str
    name: bytes
    start: int
    attributes: int
    end: int
    raw_end: int
    hidden: bool


class Slot(NamedTuple):
    """A value that holds references.

    `attribute` is b"" for raw text. `value` is its span with its quotes; raw text has the quote
    b">", which stands for text without character references. `codebase` is the element's attribute
    of that name, where the row asks for it.
    """

    namespace: str
    element: bytes
    attribute: bytes
    row: Row
    value: Attribute
    codebase: Attribute | None = None


RAW: Final = b">"

_CDATA: Final = b"<![CDATA["


def elements(
    text: bytes, pos: int, end: int, *, hidden: bool = False, in_noscript: bool = False
) -> Iterator[Element]:
    """The start tags of a part of a document, in order.

    Args:
        text: the document, in an ASCII-compatible charset.
        pos: where the part begins.
        end: where it ends.
        hidden: the part is no part of the document's tree.
        in_noscript: the part is the raw text of a noscript element.
    """
    foreign = ForeignContent()
    templates = 0
    frames: bool | None = None  # not yet asked
    while found := _token(text, pos, end):
        start = found.start()
        name = found[3]
        if name is None:
            if foreign and foreign.allows_cdata and text.startswith(_CDATA, start, end):
                content = start + len(_CDATA)
                content_end = tags.cdata_end(text, content, end)
                if foreign.current.name == b"style":
                    yield Element(SVG, b"style", start, content, content, content_end, hidden)
                pos = min(content_end + 3, end)
                continue
            pos = (tags.comment_end if found[1] else tags.bogus_comment_end)(text, found.end(), end)
            if found[1] and (condition := _conditional(text, found.end(), pos)):
                yield from elements(
                    text, condition.end(), pos, hidden=True, in_noscript=in_noscript
                )
            continue
        name = name.lower()
        pos = tags.tag_end(text, found.end(), end)
        if pos < 0:
            return
        if found[2]:
            if foreign:
                foreign.end(name)
            elif name == b"template" and templates:
                templates -= 1
            continue
        if foreign or name in {b"svg", b"math"}:
            namespace = _start_foreign(foreign, text, name, found.end(), pos)
        else:
            namespace = HTML
        if namespace != HTML:
            raw_end = _text_end(text, pos, end) if name == b"style" else pos
            yield Element(namespace, name, start, found.end(), pos, raw_end, hidden)
            continue
        if name == b"frameset" and frames is None:
            frames = _frameset_page(text, 0, start) is not None
        if frames and name not in _IN_FRAMESET:
            continue
        raw_end = pos
        if name in tags.RAW_TEXT and not (in_noscript and name == b"noscript"):
            raw_end = tags.raw_text_end(name, text, pos, end)
        yield Element(HTML, name, start, found.end(), pos, raw_end, hidden or templates > 0)
        if name == b"noscript" and raw_end > pos:
            yield from elements(text, pos, raw_end, hidden=True, in_noscript=True)
        elif name == b"template" and not foreign:
            templates += 1
        pos = raw_end


def slots(
    text: bytes, pos: int = 0, end: int | None = None, *, extended: bool = False
) -> Iterator[Slot]:
    """The values that hold references, in the order of the document.

    Args:
        text: the document, in an ASCII-compatible charset.
        pos: where to begin.
        end: where to end, the end of the text when None.
        extended: whether rows for `extended` count.
    """
    for element in elements(text, pos, len(text) if end is None else end):
        yield from element_slots(text, element, extended=extended)


def element_slots(text: bytes, element: Element, *, extended: bool) -> Iterator[Slot]:
    """The values of one element that hold references, its raw text last."""
    namespace, name, _, attributes_at, tag_end, raw_end, _ = element
    attributes = {found.name: found for found in tags.attributes(text, attributes_at, tag_end)}
    values: dict[bytes, bytes] | None = None
    for attribute in attributes.values():
        if attribute.name not in ATTRIBUTES:
            continue
        for row in rows(namespace, name, attribute.name):
            if row.extended and not extended:
                continue
            if row.when is not None:
                values = values or {a.name: text[a.start : a.end] for a in attributes.values()}
                if not row.when(values):
                    continue
            codebase = attributes.get(b"codebase") if row.on_codebase else None
            yield Slot(namespace, name, attribute.name, row, attribute, codebase)
            break
    if raw_end > tag_end and name in _RAW_ROWS:
        row = _RAW_ROWS[name](attributes.get(b"type"), text)
        if row is not None:
            yield Slot(
                namespace, name, b"", row, tags.Attribute(b"", tag_end, raw_end, RAW, equals=True)
            )


def embedded_base(text: bytes) -> Attribute | None:
    """The href of the first `<base>` that has one: the base URL within the content (§3.1).

    Args:
        text: the document, in an ASCII-compatible charset.
    """
    if not _base_tag(text):
        return None
    for element in elements(text, 0, len(text)):
        if element.name == b"base" and element.namespace == HTML and not element.hidden:
            for attribute in tags.attributes(text, element.attributes, element.end):
                if attribute.name == b"href":
                    return attribute
    return None


_base_tag: Final = re.compile(rb"<[bB][aA][sS][eE][\t\n\f\r />]").search

# Start tags that a frameset page does not ignore ("in frameset").
_IN_FRAMESET: Final = frozenset((b"frameset", b"frame", b"noframes"))

# What may stand before a frameset: no text, and none of the elements that set the flag
# "frameset-ok" to "not ok".
_frameset_page: Final = re.compile(
    rb"""(?: [\0\t\n\f\r ]++
    | <!--(?:-?>|(?:[^-]++|-(?!-!?>))*+(?:--!?>|\Z))
    | <[!?][^>]*+>
    | <(?:(?:script|style|title|noscript|noframes|noembed)(?=[\t\n\f\r />])[^>]*+>
        (?:[^<]++|<(?!/(?:script|style|title|noscript|noframes|noembed)[\t\n\f\r />]))*+)
    | <(?!(?:body|pre|listing|li|dd|dt|button|applet|marquee|object|table|area|br|embed|img|image
        |keygen|wbr|input|hr|textarea|xmp|iframe|select|plaintext|svg|math|template)[\t\n\f\r />])
        /?[a-z][^>]*+>
    )*+""",
    re.VERBOSE | re.IGNORECASE,
).fullmatch


def _start_foreign(
    foreign: ForeignContent, text: bytes, name: bytes, pos: int, tag_end: int
) -> str:
    """Open an element in or into foreign content, and tell its namespace."""
    font = encoding = False
    if name in {b"font", b"annotation-xml"}:
        for attribute in tags.attributes(text, pos, tag_end):
            font = font or attribute.name in FONT_BREAKOUT
            if attribute.name == b"encoding":
                value = text[attribute.start : attribute.end].lower()
                encoding = value in {b"text/html", b"application/xhtml+xml"}
    namespace = foreign.start(
        name,
        self_closing=_self_closing(text, pos, tag_end),
        html_annotation=encoding,
        font_breakout=font,
    )
    return HTML if namespace is None else namespace


def _self_closing(text: bytes, pos: int, tag_end: int) -> bool:
    """Whether a tag ends in `/>`, the slash not being the end of an unquoted value."""
    if not text.endswith(b"/>", pos, tag_end):
        return False
    last = None
    for last in tags.attributes(text, pos, tag_end):
        pass
    return last is None or last.quote != b"" or last.end < tag_end - 1


def _text_end(text: bytes, pos: int, end: int) -> int:
    found = text.find(b"<", pos, end)
    return end if found < 0 else found


def _style_row(type_: Attribute | None, text: bytes) -> Row | None:
    kind = b"" if type_ is None else text[type_.start : type_.end].strip().lower()
    return Row(Nested.CSS) if kind in {b"", b"text/css"} else None


def _script_row(type_: Attribute | None, text: bytes) -> Row | None:
    kind = b"" if type_ is None else text[type_.start : type_.end].strip().lower()
    return _DATA_BLOCKS.get(kind)


_DATA_BLOCKS: Final = {
    b"importmap": Row(Nested.IMPORT_MAP),
    b"speculationrules": Row(Nested.SPECULATION_RULES),
}
_RAW_ROWS: Final = {b"style": _style_row, b"script": _script_row}
