"""The references of an HTML document: elements, attributes and raw text, as offsets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from relbase.css.functions import Form
from relbase.expressions import expression, regex
from relbase.html import tags
from relbase.html.foreign import HTML, RAW_TEXT
from relbase.html.places import PLACES, attributes_of
from relbase.html.tags import COMMENT, Attribute, conditional_content, read
from relbase.html.tree import UNSURE as UNSURE  # noqa: PLC0414
from relbase.html.tree import Element as Element  # noqa: PLC0414 (by which callers know it)
from relbase.html.tree import Tree
from relbase.html.vocabulary import (
    NONE_NAMED,
    TEXT_ROWS,
    Nested,
    Row,
    Slot,
    counting,
    value_in,
)
from relbase.url.plain import WEB_PATTERN
from relbase.values.syntaxes import Syntax
from relbase.view.charrefs import TEXT

if TYPE_CHECKING:
    from relbase.scan.binding import Scan

# Used as quotes of texts, to say how to read them; `charrefs.TEXT`: with character references.
RAW: Final = b">"  # as it stands
PIECES: Final = b"<"  # with comments and CDATA sections between


def elements(
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
    if pos >= 0:
        tree = Tree(text, begin, end, hidden=hidden, in_noscript=in_noscript)
        yield from _elements(text, pos, end, tree, in_comment=in_comment, scan=scan)


def elements_after(text: bytes, pos: int, scan: Scan | None = None) -> Iterator[Element | Any]:
    """Yield what `elements` yields of a document after the first scan, which ended at `pos`."""
    tree = Tree(text, 0, len(text), hidden=False, in_noscript=False)
    return _elements(text, pos, len(text), tree, in_comment=False, scan=scan)


def _elements(
    text: bytes, pos: int, end: int, tree: Tree, *, in_comment: bool, scan: Scan | None
) -> Iterator[Element | Any]:
    inside = partial(elements, text, hidden=True, scan=scan)
    while pos >= 0 and (token := read(text, pos, end, cdata=tree.has_cdata, skip=tree.is_plain)):
        pos = token.end
        if token.kind == COMMENT and not in_comment:
            content = conditional_content(text, token)
            if content is not None:
                yield from inside(*content, in_noscript=tree.in_noscript, in_comment=True)
        element = tree.feed(token)
        if element is not None:
            yield element
            pos = element.raw_end
            if pos > element.end and element.is_noscript:
                yield from inside(element.end, pos, in_noscript=True, in_comment=in_comment)
        if not tree.is_plain:
            if more := tree.rest_of_sheet(pos):
                yield more
                pos = more.raw_end
        elif scan is not None:
            passed, pos = scan(text, pos, end, tree.in_noscript, in_comment)
            if passed:
                yield passed


def slots(
    text: bytes,
    element: Element,
    *,
    extended: int = 0,
    named: Mapping[bytes, tuple[Row, ...]] = NONE_NAMED,
) -> Iterator[Slot]:
    """Yield the values of one element that hold references, its raw text last."""
    namespace, name, _, attributes_at, tag_end, raw_end, _ = element
    rows, text_rows, asked, sure = attributes_of(namespace, name)
    attributes = {}
    if tag_end - attributes_at > len(">"):
        asked = asked.union(named) if named else asked
        attributes = tags.attributes(text, attributes_at, tag_end, asked)
    if not attributes and raw_end == tag_end:
        return
    value_of = partial(value_in, text, attributes)
    for attribute, value in attributes.items():
        row = sure.get(attribute) if attribute not in named else None
        of_attribute = named.get(attribute) or rows.get(attribute)
        if row is None and of_attribute:
            row = counting(of_attribute, value_of, extended=extended)
        if row is not None:
            codebase = attributes.get(b"codebase") if row.on_codebase else None
            yield Slot(name, attribute, row, value, codebase)
    inside = counting(text_rows, value_of, extended=0) if raw_end > tag_end else None
    if inside is not None:
        quote = RAW if namespace == HTML else PIECES if tags.token(text, tag_end, raw_end) else TEXT
        value = tags.Attribute(b"", tag_end, raw_end, quote)
        yield Slot(name, b"", inside, value)


def base_href(text: bytes, element: Element) -> Attribute | None:
    if element.name != b"base" or element.namespace != HTML or element.hidden:
        return None
    return tags.attributes(text, element.attributes, element.end, {b"href"}).get(b"href")


def embedded_base(text: bytes, scan: Scan) -> Attribute | None:
    """Return the href of the first `<base>` that has one: the base within the content (§3.1)."""
    for element in elements(text, 0, len(text), scan=scan):
        if isinstance(element, Element) and (base := base_href(text, element)):
            return base
    return None


def has_sheets(text: bytes) -> bool:
    """Return whether a document (also in hidden parts) links style sheets, or imports any."""
    from relbase.css import statements  # its regexes: start-up time

    for element in elements(text, 0, len(text)):
        assert isinstance(element, Element)
        if element.name == b"link" and element.namespace == HTML:
            stated = tags.attributes(text, element.attributes, element.end, {b"rel"})
            if b"stylesheet" in value_in(text, stated, b"rel").split():
                return True
        elif element.name == b"style" and element.raw_end > element.end:
            for slot in slots(text, element):
                value = text[slot.value.start : slot.value.end]
                sheet = statements.references(value, is_sheet=True)
                if slot.attribute == b"" and any(each.form is Form.IMPORT for each in sheet):
                    return True
    return False


# ---- Documents of AMP

# "AMP HTML Specification" and "AMP for Email": the root says it, with or without U+FE0F. Not of
# advertisements (`amp4ads`), which stand in the pages of others.
AMP_NAMES: Final = frozenset(
    sign + form for sign in ("amp", "\u26a1", "\u26a1\ufe0f") for form in ("", "4email")
)
_AMP: Final = tags.any_of([name.encode() for name in sorted(AMP_NAMES)])
# The root element, after text, comments and declarations, up to the attribute that says it.
amp_root: Final = expression(
    rb"(?:[^<]++|<!--(?:-?>|(?:[^-]++|-(?!-!?>))*+--!?>)|<(?:!(?!--)|\?)[^>]*+>)*+<(?i:html)"
    rb"(?:[\t\n\f\r /]++(?:(?!" + _AMP + rb")" + tags.ATTRIBUTE + rb")?+)++" + _AMP
)


# ---- Skipping HTML that can hold no reference

# Elements that change what is markup, and those with text of their own.
_CHANGING: Final = (
    RAW_TEXT
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


def skipping(*, extended: int, absolute: bool, named: frozenset[bytes] = frozenset()) -> Scan:
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
    skipped = match(text, pos, end)
    assert skipped is not None  # it also matches the empty string
    return [], skipped.end()


@lru_cache(maxsize=16)
def _pattern(*, extended: int, absolute: bool, named: frozenset[bytes]) -> re.Pattern[bytes]:
    # The attributes of HTML with a row, whatever its condition.
    usual = {
        name
        for (namespace, _, name), rows in PLACES.items()
        if namespace == HTML and any(row.is_known(extended) for row in rows)
    } - named
    names = usual | named
    without = [_any_lower(_only(usual, Nested.CSS)) + _CSS_WITHOUT]
    if absolute:
        without.append(_any_lower(_only(usual, Syntax.URL)) + _ABSOLUTE)
    attribute = b"|".join([*without, rb"(?!" + tags.any_of(names) + rb")" + tags.ATTRIBUTE])
    return regex(_passed(attribute))


def _passed(attribute: bytes) -> bytes:
    start_tag = (
        rb"(?!" + tags.any_of(_CHANGING) + rb")" + _NAME
        + rb"(?:[\t\n\f\r /]++(?:" + attribute + rb")?+)*+>"
    )  # fmt: skip
    token = _END_TAG + rb"|" + start_tag + rb"|" + _COMMENT
    return rb"[^<]*+(?:<(?:" + token + rb")[^<]*+)*+"


# Whole tokens that change nothing about what follows, whatever references they hold.
unchanging: Final = expression(_passed(tags.ATTRIBUTE))


def _only(names: set[bytes], syntax: Syntax | Nested) -> list[bytes]:
    """Return the attributes that hold this syntax on every element where they hold references."""
    others = {
        place[2] for place, rows in PLACES.items() if any(row.syntax != syntax for row in rows)
    }
    return sorted(names - others)


def _any_lower(names: list[bytes]) -> bytes:
    return rb"(?:" + rb"|".join(names) + rb")" if names else rb"(?!)"
