"""XML by spans: the elements that can hold references, as offsets, in one pass.

Strategy: `elements` walks the tokens of XML 1.0 §2 and §3.1: start and end tags, sections, comments
and instructions, each by one expression that succeeds or ends the walk. What is in scope
(namespaces, xml:base) is kept for the elements that state it only, and undone at their ends.
Which values of an element hold references is asked in `xml_slots`.

In comes a document in UTF-8. There is no tree, and nothing is checked here that the walk does not
need: whether a document is well-formed is the business of `xml_sound`, which has to be asked before
anything that was found is believed. No entity is expanded and no DTD is read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from relbase.references.foreign import HTML, MATH, SVG
from relbase.references.xml_names import Names
from relbase.references.xml_vocabulary import ITEMS, XML_BASE, deciding_attributes
from relbase.view.xml_values import needs_xml_view, value_view

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from relbase.edit import Edit
    from relbase.references.xml_names import Bindings, Named

# §2.3 [3] S, and names as far as it takes to find their ends.
_S: Final = rb"[ \t\r\n]"
_NAME: Final = rb"[^\x00-\x20/>=<&\"'!?][^\x00-\x20/>=<&\"']*+"
_ATTRIBUTES: Final = (
    rb"(?:" + _S + rb"++" + _NAME + _S + rb"*+=" + _S + rb"*+(?:\"[^\"<]*+\"|'[^'<]*+'))*+"
)

# §3.1, §2.5 to §2.8: text, and the markup after it.
_token: Final = re.compile(
    rb"[^<]*+<(?:/[^>]*+>|(" + _NAME + rb")(" + _ATTRIBUTES + rb")" + _S + rb"*+(/?)>"
    rb"|(!--)|(!\[CDATA\[)|(\?)|(!DOCTYPE))"
).match
_TAG, _COMMENT, _SECTION, _INSTRUCTION, _DOCTYPE = 3, 4, 5, 6, 7

_attributes: Final = re.compile(
    _S + rb"++(" + _NAME + rb")" + _S + rb"*+=" + _S + rb"*+(?:\"([^\"<]*+)\"|'([^'<]*+)')"
).finditer

# §2.8 [28]: the rest of a document type declaration, with its internal subset.
_doctype: Final = re.compile(
    rb"""(?:[^"'\[>]++|"[^"]*+"|'[^']*+')*+
    (?:\[(?:[^\]"'<]++|"[^"]*+"|'[^']*+'|<!--(?:[^-]++|-(?!->))*+-->|<\?(?:[^?]++|\?(?!>))*+\?>
    |<(?!!--|\?))*+\][ \t\r\n]*+)?+>""",
    re.VERBOSE,
).match

# xml-stylesheet §3: the target of an instruction, and its pseudo-attributes.
_stylesheet: Final = re.compile(rb"xml-stylesheet(?=[ \t\r\n])").match

_CLOSING: Final = {_COMMENT: b"-->", _SECTION: b"]]>", _INSTRUCTION: b"?>"}


class Attribute(NamedTuple):
    """An attribute: its name as written, its value without quotes, and the quote's byte."""

    name: bytes
    start: int
    end: int
    quote: bytes


class Element(NamedTuple):
    """A start tag of interest, as offsets."""

    named: Named
    name: bytes  # as written
    start: int  # of its `<`
    end: int  # after its `>`
    text_end: int  # of its text; `end` where it has none, or elements in it
    attributes: Mapping[bytes, Attribute]  # those that its rows ask for, by key
    repeated: frozenset[bytes]  # the keys of those that stand there more than once
    unbound: tuple[bytes, ...]  # prefixes that are read as customary, since nothing binds them
    # Whether its inside is of its own: it has an `xml:base`, or is a template. Its end is `Left`,
    # but for the root.
    opens: bool


class Sheet(NamedTuple):
    """The `href` of an `xml-stylesheet` before the root."""

    href: Attribute


class Item(NamedTuple):
    """The start tag of an item of a feed: its name as written, and where it begins and ends."""

    name: bytes
    start: int
    end: int


class Left(NamedTuple):
    """The end of an element that `opens` a scope."""

    end: int


class Broken(NamedTuple):
    """Where the walk ends before the document does: as a rule it is not well-formed."""

    start: int
    why: str = "it has markup that cannot be read"


class Passed(NamedTuple):
    """What the compiled scanner read: edits, and what they stand in.

    The item of a feed that it is in, if one began, is where its start tag begins, its name ends and
    the tag ends. Of HTML in a text: the item if one began, where the name of its element begins and
    ends, where the text begins, its first edit and the one after its last.
    """

    edits: list[Edit]
    item: tuple[int, int, int] | None
    markups: list[tuple[tuple[int, int, int] | None, int, int, int, int, int]]


Found: TypeAlias = Element | Sheet | Left | Broken | Passed


class GoesAhead(Protocol):
    """Goes ahead from a place where something is known of what was met before."""

    def __call__(
        self, text: bytes, pos: int, depth: int, floor: int | None
    ) -> tuple[Passed | None, int, int]:
        """Go ahead with so many elements open, of which `floor` are not to be left."""

    def learn(
        self,
        tag: re.Match[bytes],
        named: Named,
        names: Names,
        attributes: Mapping[bytes, Attribute],
    ) -> None:
        """Learn what the names of a start tag mean."""


class _Scope(NamedTuple):
    """What ends with an element: it is `depth` elements deep, among those since the first scope."""

    depth: int
    bound: Bindings
    opens: bool


# One loop over the tokens: its branches are the kinds of markup.
def elements(  # noqa: C901, PLR0912, PLR0915
    text: bytes, ahead: GoesAhead | None = None, rows: tuple[str, ...] = ()
) -> Iterator[Found]:
    """The elements of a document that can hold references, in order; by rows of a user too."""
    names = Names(rows)
    scopes: list[_Scope] = []
    depth = 0
    is_prolog = True
    pos = 0
    while True:
        if ahead is not None and not is_prolog:
            passed, pos, depth = ahead(text, pos, depth, scopes[-1].depth if scopes else None)
            if passed is not None:
                yield passed
            if pos < 0:
                return
        found = _token(text, pos)
        if found is None:
            at = text.find(b"<", pos)
            if at >= 0:
                yield Broken(at)
            return
        group, start, pos = found.lastindex, pos, found.end()
        if group is None:
            depth -= 1
            if scopes and depth == scopes[-1].depth:
                scope = scopes.pop()
                names.restore(scope.bound)
                if scope.opens:
                    yield Left(pos)
        elif group == _TAG:
            name = found[1]
            declared: Mapping[bytes, bytes] = {}
            before: Bindings = ()
            attributes: dict[bytes, Attribute] = {}
            repeated: frozenset[bytes] = frozenset()
            named = names.of_element(name)
            if found.start(2) < found.end(2):
                declared = _declared(text, found)
                if len(declared) > MAX_DECLARED:
                    yield Broken(found.start(1) - 1, "an element declares too many namespaces")
                    return
                before = names.bind(declared)
            if is_prolog:
                names.plant(name)
            if is_prolog or declared:
                named = names.of_element(name)
            if found.start(2) < found.end(2):
                attributes, repeated = _asked(text, found, names, named)
            if ahead is not None and not is_prolog:
                ahead.learn(found, named, names, attributes)
            opens = not is_prolog and (XML_BASE in attributes or _is_template(named))
            end = pos
            is_open = not found[3]
            if named.held.text and is_open:
                end = text_end(text, pos)
            if attributes or named.held.text or is_prolog or opens or is_item(named):
                start = found.start(1) - 1
                spelled = (name, *(attribute.name for attribute in attributes.values()))
                unbound = tuple(names.unbound(spelled))
                yield Element(named, name, start, pos, end, attributes, repeated, unbound, opens)
            if opens or (declared and not is_prolog):
                if is_open:
                    scopes.append(_Scope(depth, before, opens))
                else:
                    names.restore(before)
                    if opens:
                        yield Left(pos)
            depth += is_open
            is_prolog = False
            pos = end
        elif group == _DOCTYPE:
            closed = _doctype(text, pos)
            if closed is None:
                yield Broken(text.find(b"<", start))
                return
            pos = closed.end()
        else:
            inside, pos = pos, text.find(_CLOSING[group], pos)
            if pos < 0:
                yield Broken(text.find(b"<", start))
                return
            if is_prolog and group == _INSTRUCTION and (target := _stylesheet(text, inside)):
                for attribute in _pseudo_attributes(text, target.end(), pos):
                    yield Sheet(attribute)
            pos += len(_CLOSING[group])


def is_item(named: Named) -> bool:
    """Whether an element is an item of a feed: its link may be the base of its HTML."""
    return (named.vocabulary, named.local) in ITEMS


def is_base(named: Named) -> bool:
    """Whether an element is `<base>` of XHTML."""
    return named.local == b"base" and named.vocabulary == HTML


def _is_template(named: Named) -> bool:
    """Whether an element's inside is not part of the document's tree (rule 4)."""
    return named.local == b"template" and named.vocabulary == HTML


def is_apart(named: Named) -> bool:
    """Whether an element changes what is said of others."""
    return is_base(named) or _is_template(named)


# Documents declare a handful; each is kept as long as its element is open.
MAX_DECLARED: Final = 10_000


def _declared(text: bytes, tag: re.Match[bytes]) -> dict[bytes, bytes]:
    """The namespaces that a start tag declares, by prefix."""
    start, end = tag.span(2)
    if text.find(b"xmlns", start, end) < 0:
        return {}
    declared: dict[bytes, bytes] = {}
    for found in _attributes(text, start, end):
        name = found[1]
        if len(declared) > MAX_DECLARED:
            break
        if name == b"xmlns":
            declared[b""] = meant(found[found.lastindex or 0])
        elif name.startswith(b"xmlns:"):
            declared[name[len(b"xmlns:") :]] = meant(found[found.lastindex or 0])
    return declared


def meant(raw: bytes) -> bytes:
    """What the value of an attribute says."""
    return value_view(raw, b'"').inner if needs_xml_view(raw) else raw


def _asked(
    text: bytes, tag: re.Match[bytes], names: Names, named: Named
) -> tuple[dict[bytes, Attribute], frozenset[bytes]]:
    """The attributes of a start tag that its rows ask for, and which of them are repeated."""
    asked = named.held.asked
    attributes: dict[bytes, Attribute] = {}
    repeated: frozenset[bytes] = frozenset()
    for found in _attributes(text, *tag.span(2)):
        key = names.key(found[1], named.vocabulary)
        if key in asked and key is not None:
            if key in attributes:
                repeated |= {key}
            attributes[key] = _attribute(found, text)
    return attributes, repeated


# Start tags, and what may hold `<` without being one, up to its end or that of the document.
_tags: Final = re.compile(
    rb"<(?:!--(?:[^-]++|-(?!->))*+|!\[CDATA\[(?:[^\]]++|\](?!\]>))*+|\?(?:[^?]++|\?(?!>))*+"
    rb"|" + _NAME + rb"(" + _ATTRIBUTES + rb"))"
).finditer


def without_repeated(text: bytes) -> bytes:
    """Blank out repeated attributes; b"" where one of them decides on others."""
    pieces: list[bytes] = []
    at = 0
    for tag in _tags(text):
        names: set[bytes] = set()
        for found in _attributes(text, *(tag.span(1) if tag[1] else (0, 0))):
            if found[1] in names:
                if not deciding_attributes().isdisjoint(found[1].split(b":")):
                    return b""
                pieces += text[at : found.start()], b" " * len(found[0])
                at = found.end()
            names.add(found[1])
    return b"".join([*pieces, text[at:]])


def attribute_names(tag: re.Match[bytes]) -> Iterator[bytes]:
    """The names of the attributes of a start tag."""
    return (found[1] for found in _attributes(tag.string, *tag.span(2)))


def _attribute(found: re.Match[bytes], text: bytes) -> Attribute:
    start, end = found.span(found.lastindex or 0)
    return Attribute(found[1], start, end, text[end : end + 1])


def _pseudo_attributes(text: bytes, start: int, end: int) -> Iterator[Attribute]:
    """The `href` of an instruction, unless it refers into the document itself."""
    for found in _attributes(text, start, end):
        if found[1] == b"href":
            attribute = _attribute(found, text)
            if not text.startswith(b"#", attribute.start):
                yield attribute
            return


# Text up to the next tag; `<` follows, or the end.
_text_token: Final = re.compile(rb"[^<]*+(?:<(?:(!--)|(!\[CDATA\[)|(\?)|/))?+").match
_END_TAG: Final = b"</"


def text_end(text: bytes, pos: int) -> int:
    """Where the text of an element ends that begins at `pos`; `pos` if there are elements in it."""
    begin = pos
    # Text without markup in it may be an article: to look for one character is the fastest way.
    markup = text.find(b"<", pos)
    if text.startswith(_END_TAG, markup):
        return markup
    while found := _text_token(text, pos):
        group = found.lastindex
        if group is None:
            end = found.end() - len(_END_TAG)
            return end if text.startswith(_END_TAG, end) else begin
        closing = _CLOSING[group + _COMMENT - 1]
        pos = text.find(closing, found.end())
        if pos < 0:
            return begin
        pos += len(closing)
    return begin


def item_link(text: bytes, item: Item) -> tuple[int, Attribute | None]:
    """Where an item ends, and its first own `link` that leads to what it is about.

    That of RSS is a text, as a value without quotes; that of Atom is the `href` of an alternate.
    """
    prefix, colon, local = item.name.rpartition(b":")
    name, is_rss = prefix + colon + b"link", local == _RSS_ITEM
    depth, pos = 0, item.end
    link: Attribute | None = None
    while found := _token(text, pos):
        start, pos = pos, found.end()
        group = found.lastindex
        if group is None:
            depth -= 1
            if depth < 0:
                return start, link
        elif group == _TAG:
            if found[1] == item.name:
                return start, link
            is_open = not found[3]
            if link is None and depth == 0 and found[1] == name:
                if not is_rss:
                    link = _alternate(text, found)
                elif is_open:
                    link = Attribute(b"", pos, text_end(text, pos), b"")
            depth += is_open
        elif group == _DOCTYPE or (pos := text.find(_CLOSING[group], pos)) < 0:
            break
    return len(text), link


def _alternate(text: bytes, tag: re.Match[bytes]) -> Attribute | None:
    """The `href` of a link of Atom, if its relation is "alternate" (RFC 4287 §4.2.7.2)."""
    own = {found[1]: _attribute(found, text) for found in _attributes(text, *tag.span(2))}
    relation = own.get(b"rel")
    if relation is None or meant(text[relation.start : relation.end]) in _ALTERNATES:
        return own.get(b"href")
    return None


_RSS_ITEM: Final = b"item"
_ALTERNATES: Final = (b"", b"alternate", b"http://www.iana.org/assignments/relation/alternate")


def embedded_base(text: bytes) -> Attribute | None:
    """The first `<base>` of XHTML that has an href, in a document that a browser shows (rule 4)."""
    if not _base_tag(text):
        return None
    is_root = True
    opened: list[bool] = []
    templates = 0
    for each in elements(text):
        if isinstance(each, Left):
            templates -= opened.pop()
        elif isinstance(each, Element):
            if is_root and not is_shown(each):
                return None
            is_root = False
            if each.opens:
                opened.append(_is_template(each.named))
                templates += opened[-1]
            if is_base(each.named) and b"href" in each.attributes and not templates:
                return each.attributes[b"href"]
    return None


# With or without a prefix. What begins with letters is looked for much faster than a tag.
_base_tag: Final = re.compile(rb"base(?<=[<:]base)[ \t\r\n/>]").search


def is_shown(root: Element) -> bool:
    """Whether a document is one that browsers show: XHTML, SVG, MathML."""
    return root.named.vocabulary in _SHOWN


_SHOWN: Final = frozenset((HTML, MATH, SVG))
