"""XML by spans: the elements that can hold references, and their values, in one pass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.expressions import regex
from relbase.html.foreign import SHOWN
from relbase.html.tags import Attribute
from relbase.html.vocabulary import Nested, Row, Slot, counting
from relbase.xml.escapes import needs_xml_view, value_view
from relbase.xml.names import Bindings, Named, Names, attribute_of
from relbase.xml.vocabulary import XHTML, XML_BASE

if TYPE_CHECKING:
    from relbase.edit import Edit

# §2.3 [3] S, and names as far as it takes to find their ends.
_S: Final = rb"[ \t\r\n]"
_NAME: Final = rb"[^\x00-\x20/>=<&\"'!?][^\x00-\x20/>=<&\"']*+"
_ATTRIBUTES: Final = (
    rb"(?:" + _S + rb"++" + _NAME + _S + rb"*+=" + _S + rb"*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+"
)

# §2.8 [28]: the rest of a document type declaration, with its internal subset.
_DOCTYPE: Final = (
    rb"(?:[^\"'\[>]++|\"[^\"]*+\"|'[^']*+')*+"
    rb"(?:\[(?:[^\]\"'<]++|\"[^\"]*+\"|'[^']*+'|<!--(?:[^-]++|-(?!->))*+-->"
    rb"|<\?(?:[^?]++|\?(?!>))*+\?>|<(?!!--|\?))*+\][ \t\r\n]*+)?+>"
)
# §3.1, §2.5 to §2.8: text, and the markup after it.
START_TAG: Final = rb"(" + _NAME + rb")(" + _ATTRIBUTES + rb")"
next_token: Final = regex(
    rb"[^<]*+<(?:" + START_TAG + _S + rb"*+(/?)>|(/)[^>]*+>"
    rb"|\?(?:(xml-stylesheet)(?=" + _S + rb")|)(?:[^?]++|\?(?!>))*+\?>"
    rb"|!--(?:[^-]++|-(?!->))*+-->"
    rb"|!\[CDATA\[(?:[^\]]++|\](?!\]>))*+\]\]>|!DOCTYPE" + _DOCTYPE + rb")"
).match
TAG, END_TAG, _SHEET = 3, 4, 5

each_attribute: Final = regex(
    _S + rb"++(" + _NAME + rb")" + _S + rb"*+=" + _S + rb"*+(?:\"([^\"<]*+)\"|'([^'<]*+)')"
).finditer


class Element(NamedTuple):
    """A start tag of interest, as offsets."""

    named: Named
    name: bytes  # as written
    start: int  # of its `<`
    end: int  # after its `>`
    text_end: int  # of its text; `end` where it has none, or elements in it
    attributes: Mapping[bytes, Attribute]  # those that its rows ask for, by key
    repeated: frozenset[bytes]  # the keys of those that occur more than once
    unbound: tuple[bytes, ...]  # unbound prefixes, which are read as customary
    # Whether it is a scope: it has an `xml:base`, or is a template. A `ScopeEnd` marks its end,
    # unless it is the root.
    opens: bool
    text_row: Row | None  # the first of its text whose condition holds
    is_unescaped: bool  # whether it has markup that should be escaped, whose elements are HTML


class Sheet(NamedTuple):
    """The `href` of an `xml-stylesheet` before the root."""

    href: Attribute


class FeedItem(NamedTuple):
    """The start tag of an item of a feed."""

    name: bytes  # as written
    start: int
    end: int


class ScopeEnd(NamedTuple):
    """The end of an element that `opens` a scope."""

    end: int


class Broken(NamedTuple):
    """Where the walk stops before the end; usually the document is not well-formed."""

    start: int
    why: str = "it has markup that cannot be read"


class Scanned(NamedTuple):
    """What the compiled scanner read: edits, and what contains them.

    An item has the offsets of its start tag, the end of its name, and the end of the tag. HTML in a
    text has its item, its offset, its first edit, the one after its last, and its scope's number.
    """

    edits: list[Edit]
    item: tuple[int, int, int] | None
    markups: list[tuple[tuple[int, int, int] | None, int, int, int, int]]
    has_flaws: bool  # then some edits have None: a reference with a flaw stays


Reference: TypeAlias = Element | Sheet | ScopeEnd | Broken | Scanned

# Reads ahead from an offset, given how many elements are open and how many must stay open.
Ahead: TypeAlias = "Callable[[Names, int, int, int], tuple[Scanned | None, int, int]]"
# Is called with a start tag, what its names mean, its attributes, and the row of its text.
Learn: TypeAlias = "Callable[[re.Match[bytes], Named, Names, Attributes, Row | None], None]"
Attributes: TypeAlias = Mapping[bytes, Attribute]


class _Scope(NamedTuple):
    """What ends with an element that is `depth` elements deep."""

    depth: int
    bound: Bindings
    opens: bool


# One loop over the tokens: its branches are the kinds of markup.
def elements(  # noqa: C901, PLR0912, PLR0915
    text: bytes,
    ahead: Ahead | None = None,
    learn: Learn | None = None,
    rows: tuple[str, ...] = (),
) -> Iterator[Reference]:
    """Yield the elements of a document that can hold references, also by rows of a user."""
    names = Names(rows)
    scopes: list[_Scope] = []
    depth = 0
    is_prolog = True
    pos = 0
    while True:
        if ahead is not None and not is_prolog:
            floor = scopes[-1].depth if scopes else depth - len(text)
            scanned, pos, depth = ahead(names, pos, depth, floor)
            if scanned is not None:
                yield scanned
            if pos < 0:
                return
        token = next_token(text, pos)
        if token is None:
            at = text.find(b"<", pos)
            if at >= 0:
                yield Broken(at)
            return
        pos = token.end()
        if token.lastindex == END_TAG:
            depth -= 1
            if scopes and depth == scopes[-1].depth:
                scope = scopes.pop()
                names.change(scope.bound)
                if scope.opens:
                    yield ScopeEnd(pos)
        elif token.lastindex == TAG:
            name, start = token[1], token.start(1) - 1
            declared: Mapping[bytes, bytes] = {}
            attributes: dict[bytes, Attribute] = {}
            repeated: frozenset[bytes] = frozenset()
            if b"xmlns" in token[2]:
                declared = _declared(text, token)
                if len(declared) > MAX_DECLARED:
                    yield Broken(start, "an element declares too many namespaces")
                    return
            before = names.bind(declared) if declared else ()
            if is_prolog:
                names.plant(name)
            named = names.of_element(name)
            if token.start(2) < token.end(2):
                each = each_attribute(text, *token.span(2))
                attributes, repeated = names.asked(each, named)
            text_row = named.attributes_of.sure.get(b"")
            if named.attributes_of.text and text_row is None:
                value_of = partial(value_in, text, attributes)
                text_row = counting(named.attributes_of.text, value_of, extended=True)
            unbound: tuple[bytes, ...] = ()
            if b":" in token[0]:
                unbound = names.unbound((name, *map(_spelling, attributes.values())))
            if learn is not None and not (is_prolog or repeated):
                learn(token, named, names, attributes, text_row)
            opens = not is_prolog and (XML_BASE in attributes or named.is_template)
            is_open = not token[3]
            end, is_unescaped = pos, False
            if named.attributes_of.text and is_open:
                end = text_end(text, pos)
                is_unescaped = end == pos and _holds_bare(text, pos, text_row, names)
            if attributes or named.attributes_of.text or is_prolog or opens or named.is_item:
                inside = end, attributes, repeated, unbound, opens, text_row, is_unescaped
                yield Element(named, name, start, pos, *inside)
            if is_unescaped:
                before += names.bind({b"": XHTML})
            if opens or is_unescaped or (declared and not is_prolog):
                if is_open:
                    scopes.append(_Scope(depth, before[::-1], opens))
                    if len(scopes) > MAX_DEPTH:
                        yield Broken(start, f"its elements nest deeper than {MAX_DEPTH}")
                        return
                else:
                    names.change(before)
                    if opens:
                        yield ScopeEnd(pos)
            depth += is_open
            is_prolog = False
            pos = end
        elif (
            is_prolog
            and token.lastindex == _SHEET
            and (href := sheet_href(text, token.end(_SHEET), pos))
        ):
            yield Sheet(href)


_spelling: Final = itemgetter(Attribute._fields.index("name"))

# No real document comes near. `SCOPING` is what scopes begin with, for `well_formed` to count.
MAX_DEPTH: Final = 10_000
SCOPING: Final = (b"xmlns", b"xml:base", b"template")
# Documents declare a handful; each is kept as long as its element is open.
MAX_DECLARED: Final = 10_000


def _declared(text: bytes, tag: re.Match[bytes]) -> dict[bytes, bytes]:
    declared: dict[bytes, bytes] = {}
    for attribute in each_attribute(text, *tag.span(2)):
        name = attribute[1]
        if len(declared) > MAX_DECLARED:
            break
        if name == b"xmlns":
            declared[b""] = meant(attribute[attribute.lastindex or 0])
        elif name.startswith(b"xmlns:"):
            declared[name[len(b"xmlns:") :]] = meant(attribute[attribute.lastindex or 0])
    return declared


def meant(raw: bytes) -> bytes:
    if not needs_xml_view(raw.replace(b"&amp;", b"")):
        return raw.replace(b"&amp;", b"&")
    return value_view(raw, b'"').inner


def sheet_href(text: bytes, start: int, end: int) -> Attribute | None:
    """Return the `href` of an instruction, unless it refers into the document itself."""
    for attribute in each_attribute(text, start, end):
        if attribute[1] == b"href":
            href = attribute_of(attribute)
            return None if text.startswith(b"#", href.start) else href
    return None


def _holds_bare(text: bytes, pos: int, row: Row | None, names: Names) -> bool:
    """Whether what should be escaped HTML is elements, in no namespace of their own."""
    if names.bound.get(b"") == XHTML or text.startswith(b"</", pos):
        return False
    if row is None or row.syntax is not Nested.HTML:
        return False
    while (token := next_token(text, pos)) and token.lastindex != TAG:
        pos = token.end()
    return token is not None and b":" not in token[1] and b"xmlns=" not in token[2]


def slots(text: bytes, element: Element, *, extended: int = 0) -> list[Slot]:
    """Return the values of one element that hold references, its text last."""
    attributes_of, attributes = element.named.attributes_of, element.attributes
    value_of, slots_ = partial(value_in, text, attributes), list[Slot]()
    for key, value in attributes.items():
        row = attributes_of.sure.get(key)
        if row is None and key in attributes_of.rows:
            row = counting(attributes_of.rows[key], value_of, extended=extended)
        if row is not None:
            codebase = attributes.get(b"codebase") if row.on_codebase else None
            is_repeated = key in element.repeated
            slot = Slot(element.name, value.name, row, value, codebase, is_repeated=is_repeated)
            slots_.append(slot)
    start, end = element.end, element.text_end
    row = element.text_row
    begun = section(text, start, end) if row is not None and start < end else None
    if row is not None and begun is not None:
        at = begun.end()
        if row.only and not text.startswith(row.only, at, end):
            rows = [row for row in attributes_of.text if text.startswith(row.only or b"", at, end)]
            row = counting(tuple(rows), value_of, extended=True)
        if row is not None:
            slots_.append(Slot(element.name, b"", row, Attribute(b"", start, end, b"")))
    return slots_


section: Final = regex(rb"(?:[ \t\r\n]++|<!\[CDATA\[)*+").match


def value_in(text: bytes, attributes: Mapping[bytes, Attribute], key: bytes) -> bytes:
    """Return the value of an attribute in lower case, as conditions compare them."""
    value = attributes.get(key)
    return b"" if value is None else meant(text[value.start : value.end]).lower()


def text_end(text: bytes, pos: int) -> int:
    """Return where the text of an element that begins at `pos` ends; `pos` if it has elements."""
    # Text without markup may be an article, and searching for one character is fastest.
    markup = text.find(b"<", pos)
    if text.startswith(b"</", markup):
        return markup
    at = pos
    while (token := next_token(text, at)) and token.lastindex != TAG:
        if token.lastindex == END_TAG:
            return token.start(END_TAG) - 1
        at = token.end()
    return pos


def embedded_base(text: bytes) -> Attribute | None:
    """Return the href of the first `<base>` of XHTML, if browsers show the document (rule 4)."""
    is_root = True
    opened: list[bool] = []
    templates = 0
    for each in elements(text):
        if isinstance(each, ScopeEnd):
            templates -= opened.pop()
        elif isinstance(each, Element):
            if is_root and not is_shown(each):
                return None
            is_root = False
            if each.opens:
                opened.append(each.named.is_template)
                templates += opened[-1]
            if each.named.is_base and b"href" in each.attributes and not templates:
                return each.attributes[b"href"]
    return None


# With or without a prefix. Searching for letters first is much faster than for a tag.
base_tag: Final = regex(rb"base(?<=[<:]base)[ \t\r\n/>]").search


def is_shown(root: Element) -> bool:
    return root.named.vocabulary in SHOWN
