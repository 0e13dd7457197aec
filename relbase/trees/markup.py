"""What is markup in a tree: vocabularies and namespaces, what is hidden, what is text.

Some parsers make elements of what a browser takes for text (the inside of textarea, of iframe).
These become text again when the tree is written, so that they do not count.

Names are those of lxml: `{namespace}local`, or the name alone; other trees spell theirs so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from relbase.references import vocabulary, xml_vocabulary
from relbase.references.foreign import HTML, MATH, SVG, namespace_in_tree, namespace_inside
from relbase.references.tags import RAW_TEXT
from relbase.references.xml_vocabulary import (
    CASED,
    ITEMS,
    KEYS,
    ROOTS,
    VOCABULARIES,
    XML_BASE,
)

if TYPE_CHECKING:
    from relbase.references.vocabulary import Row

# xml:base of an element, and of those around it, outward (XML Base §4).
Scope: TypeAlias = "tuple[str, Scope | None]"


class Around(NamedTuple):
    """What is around an element."""

    namespace: str = HTML  # whose rules are followed
    hidden: bool = False  # a `<base>` here does not count
    opaque: bool = False  # what looks like elements here is text
    scope: Scope | None = None  # the xml:base of what is around


TOP: Final = Around()


class ElementRow(NamedTuple):
    """What is known of all elements of a name in one vocabulary."""

    name: bytes  # in lower case, without a namespace; b"" for a comment or an instruction
    # its attributes, as the vocabulary names them, each with its rows in their order
    rows: Mapping[bytes, tuple[Row, ...]] = {}
    text: tuple[Row, ...] = ()  # how its text holds references
    vocabulary: str | None = None  # whose element it is, None for an unknown one
    # its attributes that may hold references, as the tree names them, each with its row where that
    # is so whatever else the element says
    keys: Mapping[str, Row | None] = {}
    # the names of those attributes alone, and of those that its text depends on
    own: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()  # the latter
    speaks: bool = False  # whether its text holds references where it has no attributes
    is_special: bool = False  # whether something else holds inside of it than around it
    # whether it is HTML's `<base>`, which stands on what is around the document
    is_base: bool = False
    # whether browsers read it as their own: they know no xml:base in documents with such a root
    by_browsers: bool = True


COMMENT: Final = ElementRow(b"")
SHEET: Final = ElementRow(b"")  # <?xml-stylesheet?>


class Spot(NamedTuple):
    """An element, a comment or an instruction that may hold references."""

    element: Any  # of the tree
    kind: ElementRow  # what is known of it
    # its attributes, how the tree names them by how lxml would; the same where they agree
    keys: Mapping[str, str] | Sequence[str] = ()
    scope: Scope | None = None  # the xml:base that is in force in it, its own one first


# Elements inside of which something else holds than around them.
HIDING: Final = frozenset((b"template", b"noscript"))
_OPAQUE: Final = RAW_TEXT - HIDING - {b"style", b"script"}
_SPECIAL: Final = frozenset((b"svg", b"math")) | _OPAQUE
SPECIAL_TAGS: Final = frozenset(name.decode() for name in _SPECIAL)

_XML_ATTRIBUTES: Final = {
    f"{{{uri.decode()}}}{local.decode()}": key for (uri, local), key in KEYS.items()
}
_BROWSERS: Final = frozenset((HTML, SVG, MATH))
# The attributes that a caller names, and how they hold references.
Named: TypeAlias = "tuple[tuple[str, str], ...]"


class Known:
    """What is known of the names of one tree, looked up once each."""

    def __init__(self, root: str, *, is_html: bool, extended: bool, named: Named = ()) -> None:
        self._is_html = is_html
        self._extended = extended
        self._root = root
        self._plain = ROOTS.get(root.encode("utf-8", "surrogatepass"))
        self._kinds: dict[tuple[str, str], ElementRow] = {}
        # How trees name attributes, and how the vocabulary does.
        self.attributes = _attributes(is_html=is_html)
        # What the caller named counts in HTML.
        self._named = vocabulary.named_rows(named) if is_html else {}
        if self._named:
            named_ = {name.decode(): name for name in self._named}
            self.attributes = {**self.attributes, **named_}

    def kind(self, tag: str, around: Around) -> ElementRow:
        """What is known of an element."""
        namespace = around.namespace
        found = self._kinds.get((tag, namespace))
        if found is None:
            make = _remembered_kind if len(tag) <= _LONGEST_NAME else _kind
            found = make(tag, namespace, self._plain, self._is_html, self._extended)
            if self._named and found.vocabulary in _BROWSERS:
                keys = {**found.keys, **{n.decode(): row for n, (row,) in self._named.items()}}
                found = found._replace(keys=keys, own=found.own.union(keys))
            self._kinds[tag, namespace] = found
        return found

    def inside(self, kind: ElementRow, around: Around, scope: Scope | None = None) -> Around:
        """What is around the children of an element."""
        is_html = self._is_html and kind.vocabulary == HTML
        is_hidden = kind.name == b"template" or (kind.name == b"noscript" and is_html)
        return Around(
            namespace_inside(kind.name, kind.vocabulary or ""),
            around.hidden or is_hidden,
            around.opaque or (is_html and kind.name in _OPAQUE),
            scope,
        )

    def is_shown(self) -> bool:
        """Whether a browser shows the document as its own, and so ignores xml:base (rule 7)."""
        return self.kind(self._root, TOP).by_browsers

    def is_item(self, tag: str) -> bool:
        """Whether an element of this name is an item of a feed."""
        kind = self.kind(tag, TOP)
        return (kind.vocabulary, kind.name) in ITEMS

    def spelled(self, name: bytes, keys: Mapping[str, str] | Sequence[str]) -> str | None:
        """How the tree names an attribute of an element, None where it has none."""
        for key in _spellings(is_html=self._is_html).get(name, ()):
            if key in keys:
                return keys[key] if isinstance(keys, Mapping) else key
        return None


@lru_cache(maxsize=2)
def _spellings(*, is_html: bool) -> dict[bytes, list[str]]:
    """The names of attributes in the vocabulary, and how trees name them."""
    found: dict[bytes, list[str]] = {}
    for key, name in _attributes(is_html=is_html).items():
        found.setdefault(name, []).append(key)
    return found


def _vocabulary(tag: str, namespace: str, plain: str | None, *, is_html: bool) -> str | None:
    if tag[0] == "{":
        return VOCABULARIES.get(tag[1 : tag.index("}")].encode("utf-8", "surrogatepass"))
    if is_html:
        return namespace_in_tree(tag.lower().encode("utf-8", "surrogatepass"), namespace)
    return plain


def _kind(
    tag: str,
    namespace: str,
    plain: str | None,
    is_html: bool,  # noqa: FBT001 (by position: it is looked up for each name of each tree)
    extended: bool,  # noqa: FBT001
) -> ElementRow:
    vocabulary_ = _vocabulary(tag, namespace, plain, is_html=is_html)
    name = tag.rpartition("}")[2].encode("utf-8", "surrogatepass")
    rows: Mapping[bytes, tuple[Row, ...]] = {}
    text: tuple[Row, ...] = ()
    if not is_html:
        held = xml_vocabulary.held(vocabulary_, name)
        rows, text = held.rows, tuple(one for one in held.text if not one.stays)
        name = CASED.get(name, name)
    elif vocabulary_ in _BROWSERS:
        name = name.lower()
        html = vocabulary.held(vocabulary_, name)
        rows, text = html.rows, html.text
    counting = {
        attribute: tuple(row for row in found if extended or not row.extended)
        for attribute, found in rows.items()
    }
    keys = {
        key: row if attribute != XML_BASE and row.when is None and not row.on_codebase else None
        for key, attribute in _attributes(is_html=is_html).items()
        for row in counting.get(attribute, ())[:1]
    }
    spellings = _spellings(is_html=is_html)
    whens = [row.when for row in text]
    asks = {attribute for when in whens if when for attribute in when.asks}
    asked = frozenset(key for name_ in asks for key in spellings.get(name_, ()))
    return ElementRow(
        name,
        counting,
        text,
        vocabulary_,
        keys,
        asked.union(keys),
        asked,
        speaks=any(when is None or when.holds(lambda _name: b"") for when in whens),
        is_special=tag.lower() in SPECIAL_TAGS,
        is_base=name == b"base" and vocabulary_ == HTML,
        by_browsers=vocabulary_ in _BROWSERS,
    )


# Names that documents share; a hostile one may be as long as its document.
_LONGEST_NAME: Final = 64
_remembered_kind: Final = lru_cache(maxsize=512)(_kind)


@lru_cache(maxsize=2)
def _attributes(*, is_html: bool) -> dict[str, bytes]:
    """The attributes that may matter: how trees name them, and how the vocabulary does."""
    if not is_html:
        names = {name for name in xml_vocabulary.attribute_rows() if name != b"base"}
        asked = {*names, *_CONDITIONS, b"isPermaLink", b"mode"}
        return {**{name.decode(): CASED.get(name, name) for name in asked}, **_XML_ATTRIBUTES}
    places = (vocabulary.attributes(namespace, extended=True) for namespace in (HTML, SVG, MATH))
    found = {name.decode(): name for name in _CONDITIONS.union(*places)}
    # html5lib spells SVG's and MathML's as these do.
    cased = {name.decode(): lower for name, lower in CASED.items()}
    return {**found, **cased, **_XML_ATTRIBUTES_OF_HTML}


_XML_ATTRIBUTES_OF_HTML: Final = {
    name: key for name, key in _XML_ATTRIBUTES.items() if key == b"xlink:href"
}

# What rows ask for beside the attributes that are in them.
_CONDITIONS: Final = frozenset(
    b"attributename codebase http-equiv itemprop name property type valuetype".split()
)


def names_html(root: object) -> bool:
    """Whether a root in no namespace is an element of HTML: so is then the whole tree."""
    return isinstance(root, str) and root.lower().encode("utf-8", "surrogatepass") in _HTML_ROOTS


# Those of HTML Living Standard §4, and older ones, that no vocabulary of XML has as its root.
_HTML_ROOTS: Final = frozenset(
    b"html head body div span p a img ul ol li dl dt dd table thead tbody tfoot tr td th section "
    b"nav main aside header footer figure form font center blockquote pre br hr h1 h2 h3 h4 h5 h6 "
    b"iframe video audio picture base meta style script input button select textarea details "
    b"article".split()
)
