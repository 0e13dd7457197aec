"""The references of an HTML document: elements, attributes and raw text, as offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.css.functions import Form
from relbase.expressions import expression, regex
from relbase.html import tags
from relbase.html.foreign import FONT_BREAKOUT, HTML, SVG, ForeignContent, closed_as
from relbase.html.places import PLACES, attributes_of
from relbase.html.tags import CDATA, Attribute, no_tag_end, text_end, token
from relbase.html.vocabulary import NONE_NAMED, TEXT_ROWS, Nested, Row, Slot, counting, keyword
from relbase.url.plain import WEB_PATTERN
from relbase.values.syntaxes import Syntax
from relbase.view.charrefs import TEXT

if TYPE_CHECKING:
    from relbase.scan.binding import Scan

# <!--[if gte mso 9]> ... <![endif]-->
_conditional: Final = expression(rb"\[if[^\]>]*+\]>", re.IGNORECASE)
_comment_close: Final = expression(rb"--!?>\Z")


class Element(NamedTuple):
    """A start tag of interest, as offsets; the raw text after it reaches to `raw_end`."""

    namespace: str
    name: bytes
    start: int  # of the `<`
    attributes: int  # after the name
    end: int  # after the `>`
    raw_end: int  # `end` where there is no raw text
    hidden: bool  # not in the document's tree: a `<base>` does not count


# Used as quotes of texts, to say how to read them; `charrefs.TEXT`: with character references.
RAW: Final = b">"  # as it stands
PIECES: Final = b"<"  # with comments and CDATA sections between

_FOREIGN: Final = frozenset((b"svg", b"math"))
_SVG_STYLE: Final = attributes_of(SVG, b"style").text


# One loop over the tokens: its branches are the rules that decide what is markup.
def elements(  # noqa: C901, PLR0912, PLR0915
    text: bytes,
    pos: int,
    end: int,
    *,
    hidden: bool = False,
    in_noscript: bool = False,
    in_comment: bool = False,
    scan: Scan | None = None,
) -> Iterator[Element | Any]:
    """Yield the start tags in a part of a document, and what `scan` finds between them."""
    begin = pos
    if scan is not None:
        # Most documents end with the first scan, before anything else is needed.
        passed, pos = scan(text, pos, end, in_noscript, in_comment)
        if passed:
            yield passed
        if pos < 0:
            return
    is_scanned = scan is not None
    inside = partial(elements, text, hidden=True)
    foreign = ForeignContent()
    is_foreign = foreign.opened  # a list: true if any element is open
    around = _Around(text, begin)
    frames: bool | None = None  # not yet asked
    in_sheet = False
    while True:
        if is_scanned:
            is_scanned = False
        elif scan is not None and not is_foreign:
            passed, pos = scan(text, pos, end, in_noscript, in_comment)
            if passed:
                yield passed
            if pos < 0:
                return
        found = token(text, pos, end)
        start = found.start() if found else end
        # In a style element of SVG, the text after a nested element is read separately, as if no
        # comment or string of CSS could contain an element.
        if is_foreign and foreign.in_svg_style and in_sheet and pos < text_end(text, pos, end):
            raw_end = text_end(text, pos, end)
            yield Element(SVG, b"style", pos, pos, pos, raw_end, hidden)
            pos = raw_end
            continue
        if not found:
            return
        name = found[3]
        if name is None:
            cdata = bool(is_foreign) and is_foreign[-1].namespace != HTML
            pos = no_tag_end(text, found, end, cdata=cdata)
            if cdata and text.startswith(CDATA, start):
                continue
            is_comment = found[1] is not None and not in_comment
            if is_comment and (condition := _conditional.match(text, found.end(), pos)):
                close = _comment_close.search(text, pos - len("--!>"), pos)
                start, stop = condition.end(), close.start() if close else pos
                yield from inside(start, stop, in_noscript=in_noscript, in_comment=True, scan=scan)
            continue
        name = name.lower()
        pos = tags.tag_end(text, found.end(), end)
        if pos < 0:
            return
        if found[2]:
            if is_foreign:
                foreign.end(name, around.would_close)
            if name == b"template" and around.templates and not is_foreign:
                around.templates -= 1
            continue
        if frames and name not in _IN_FRAMESET:
            continue
        if is_foreign or name in _FOREIGN:
            around.end = around.end if is_foreign else start
            namespace = _start_foreign(foreign, text, name, found.end(), pos)
        else:
            namespace = HTML
        if namespace != HTML:
            # A self-closed element has no text, and MathML has no style sheets.
            is_style = bool(is_foreign) and foreign.in_svg_style and name == b"style"
            raw_end = text_end(text, pos, end) if is_style else pos
            yield Element(namespace, name, start, found.end(), pos, raw_end, hidden)
            if is_style:
                stated = {each.name: each for each in tags.attributes(text, found.end(), pos)}
                sheet = counting(_SVG_STYLE, partial(_value, text, stated), extended=False)
                pos, in_sheet = raw_end, sheet is not None
            continue
        if name == b"frameset" and frames is None:
            frames = _frameset_page.fullmatch(text, begin, start) is not None
            scan = None if frames else scan
        raw_end = pos
        if name in tags.RAW_TEXT and not (in_noscript and name == b"noscript"):
            raw_end = tags.raw_text_end(name, text, pos, end)
        in_template = around.templates > 0 or foreign.in_template
        yield Element(HTML, name, start, found.end(), pos, raw_end, hidden or in_template)
        if name == b"noscript" and raw_end > pos:
            yield from inside(pos, raw_end, in_noscript=True, in_comment=in_comment, scan=scan)
        elif name == b"template" and not is_foreign:
            around.templates += 1
        pos = raw_end


def slots(
    text: bytes,
    element: Element,
    *,
    extended: bool = False,
    named: Mapping[bytes, tuple[Row, ...]] = NONE_NAMED,
) -> Iterator[Slot]:
    """Yield the values of one element that hold references, its raw text last."""
    namespace, name, _, attributes_at, tag_end, raw_end, _ = element
    rows, text_rows, asked = attributes_of(namespace, name)
    attributes = {}
    if tag_end - attributes_at > len(">"):
        asked = asked.union(named) if named else asked
        attributes = {
            each.name: each for each in tags.attributes(text, attributes_at, tag_end, asked)
        }
    if not attributes and raw_end == tag_end:
        return
    value_of = partial(_value, text, attributes)
    for attribute, found in attributes.items():
        row = counting(named.get(attribute) or rows.get(attribute, ()), value_of, extended=extended)
        if row is not None:
            codebase = attributes.get(b"codebase") if row.on_codebase else None
            yield Slot(name, attribute, row, found, codebase)
    inside = counting(text_rows, value_of, extended=False) if raw_end > tag_end else None
    if inside is not None:
        quote = RAW if namespace == HTML else PIECES if token(text, tag_end, raw_end) else TEXT
        value = tags.Attribute(b"", tag_end, raw_end, quote)
        yield Slot(name, b"", inside, value)


def _value(text: bytes, attributes: Mapping[bytes, Attribute], name: bytes) -> bytes:
    found = attributes.get(name)
    return b"" if found is None else keyword(text[found.start : found.end])


def base_href(text: bytes, element: Element) -> Attribute | None:
    if element.name != b"base" or element.namespace != HTML or element.hidden:
        return None
    return next(tags.attributes(text, element.attributes, element.end, {b"href"}), None)


def embedded_base(text: bytes, scan: Scan | None = None) -> Attribute | None:
    """Return the href of the first `<base>` that has one: the base within the content (§3.1)."""
    if not base_tag.search(text):
        return None
    for element in elements(text, 0, len(text), scan=scan):
        if isinstance(element, Element) and (found := base_href(text, element)):
            return found
    return None


base_tag: Final = expression(rb"<[bB][aA][sS][eE][\t\n\f\r />]")


def has_sheets(text: bytes) -> bool:
    """Return whether a document (also in hidden parts) links style sheets, or imports any."""
    from relbase.css import statements  # its regexes: start-up time

    for element in elements(text, 0, len(text)):
        assert isinstance(element, Element)
        if element.name == b"link" and element.namespace == HTML:
            for rel in tags.attributes(text, element.attributes, element.end, {b"rel"}):
                if b"stylesheet" in keyword(text[rel.start : rel.end]).split():
                    return True
        elif element.name == b"style" and element.raw_end > element.end:
            for slot in slots(text, element):
                sheet = statements.references(text, slot.value.start, slot.value.end)
                if slot.attribute == b"" and any(each.form is Form.IMPORT for each in sheet):
                    return True
    return False


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
        while found := token(text, pos, self.end):
            name = found[3]
            if name is None:
                pos = no_tag_end(text, found, self.end, cdata=False)
                continue
            pos = tags.tag_end(text, found.end(), self.end)
            if pos < 0:
                break
            name = name.lower()
            if name in _CLOSES_SELECT and not found[2] and self._open.get(b"select"):
                self._open[b"select"] = 0
            elif one := closed_as(name):
                self._open[one] = max(0, self._open.get(one, 0) + (-1 if found[2] else 1))
            elif name in tags.RAW_TEXT and not found[2]:
                pos = tags.raw_text_end(name, text, pos, self.end)
        self._counted = max(self._counted, self.end)


# Start tags that close an open select element; a second <select> opens none.
_CLOSES_SELECT: Final = frozenset((b"select", b"input"))


def _start_foreign(
    foreign: ForeignContent, text: bytes, name: bytes, pos: int, tag_end: int
) -> str:
    font = encoding = False
    if name in {b"font", b"annotation-xml"}:
        for attribute in tags.attributes(text, pos, tag_end, FONT_BREAKOUT | {b"encoding"}):
            font = font or attribute.name in FONT_BREAKOUT
            if attribute.name == b"encoding":
                value = keyword(text[attribute.start : attribute.end])
                encoding = value in {b"text/html", b"application/xhtml+xml"}
    namespace = foreign.start(
        name,
        self_closing=tags.self_closing(text, pos, tag_end),
        html_annotation=encoding,
        font_breakout=font,
    )
    return HTML if namespace is None else namespace


# ---- Skipping HTML that can hold no reference

# Elements that change what is markup, and those with text of their own.
_CHANGING: Final = (
    tags.RAW_TEXT
    | {b"svg", b"math", b"template", b"frameset", b"base"}
    | {element for namespace, element in TEXT_ROWS if namespace == HTML}
)

_NAME: Final = rb"[a-zA-Z][^\t\n\f\r />]*+"
# Not `</template>`: it ends what hides a `<base>`.
_END_TAG: Final = rb"/(?!" + tags.any_of([b"template"]) + rb")" + _NAME + tags.WS + rb"*+>"
# A comment that is not conditional.
_COMMENT: Final = rb"!--(?!-?>|\[)[^-]*+(?:-(?!-!?>)[^-]*+)*+-->"

# CSS without one of these holds no reference, however it is encoded.
_CSS_WITHOUT: Final = rb"=\"[^\"(&\\@]*+\""
_ABSOLUTE: Final = rb"=\"%b[^\"]*+\"" % WEB_PATTERN.encode()


def skipping(*, extended: bool, absolute: bool, named: frozenset[bytes] = frozenset()) -> Scan:
    """Return a scan that skips tokens without references; if `absolute`, with absolute ones too."""
    return partial(_skip, _pattern(extended=extended, absolute=absolute, named=named).match)


def _skip(
    match: Callable[[bytes, int, int], re.Match[bytes] | None],
    text: bytes,
    pos: int,
    end: int,
    _in_noscript: bool,  # noqa: FBT001 (no noscript element is passed over
    _in_comment: bool,  # noqa: FBT001  nor a conditional comment)
) -> tuple[list[object], int]:
    found = match(text, pos, end)
    assert found is not None  # it also matches the empty string
    return [], found.end()


@lru_cache(maxsize=16)
def _pattern(*, extended: bool, absolute: bool, named: frozenset[bytes]) -> re.Pattern[bytes]:
    # The attributes of HTML with a row, whatever its condition.
    usual = {
        name
        for (namespace, _, name), rows in PLACES.items()
        if namespace == HTML and (extended or not all(row.extended for row in rows))
    } - named
    names = usual | named
    without = [_any_lower(_only(usual, Nested.CSS)) + _CSS_WITHOUT]
    if absolute:
        without.append(_any_lower(_only(usual, Syntax.URL)) + _ABSOLUTE)
    attribute = b"|".join([*without, rb"(?!" + tags.any_of(names) + rb")" + tags.ATTRIBUTE])
    start_tag = (
        rb"(?!" + tags.any_of(_CHANGING) + rb")" + _NAME
        + rb"(?:[\t\n\f\r /]++(?:" + attribute + rb")?+)*+>"
    )  # fmt: skip
    token = _END_TAG + rb"|" + start_tag + rb"|" + _COMMENT
    return regex(rb"[^<]*+(?:<(?:" + token + rb")[^<]*+)*+")


def _only(names: set[bytes], syntax: Syntax | Nested) -> list[bytes]:
    """Return the attributes that hold this syntax on every element where they hold references."""
    others = {
        place[2] for place, rows in PLACES.items() if any(row.syntax != syntax for row in rows)
    }
    return sorted(names - others)


def _any_lower(names: list[bytes]) -> bytes:
    return rb"(?:" + rb"|".join(names) + rb")" if names else rb"(?!)"
