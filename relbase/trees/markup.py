"""The rows of the vocabularies for the names in a tree, which are spelled as in lxml.

Some parsers make elements of what browsers read as text (inside textarea or iframe). They become
text again when the tree is written to a file, so they do not count.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from relbase.html import places, vocabulary
from relbase.html.foreign import (
    HTML,
    RAW_TEXT,
    SHOWN,
    namespace_in_tree,
    namespace_inside,
)
from relbase.html.places import element_rows
from relbase.html.tokens import AMP_NAMES
from relbase.html.vocabulary import AMP, EXTENDED, Row
from relbase.notes import Reason
from relbase.policy import Policy
from relbase.rewriting.context import Context
from relbase.xml.names import held_with
from relbase.xml.vocabulary import ATOM, ATOM_03, CASED, ITEMS, KEYS, ROOTS, RSS, VOCABULARIES


class Scope(NamedTuple):
    """The effect of an `xml:base` (XML Base §4)."""

    inside: Context  # the context of the references inside
    around: Context  # the context of the `xml:base` itself
    depth: int


class Around(NamedTuple):
    namespace: str = HTML  # the vocabulary whose rules apply
    hidden: bool = False  # a `<base>` here does not count
    opaque: bool = False  # what looks like elements here is text
    scope: Scope | None = None  # the xml:base that applies
    item: Any = None  # the item of a feed, if its link is the base (policy `item_links`)


TOP: Final = Around()

# The namespace inside HTML of a feed that is elements instead of escaped text (rule 20).
BARE: Final = "bare"
IN_BARE: Final = Around(BARE)
_FEEDS: Final = frozenset((RSS, ATOM, ATOM_03))
_READ: Final = (None, Reason.XML_BASE64)

# In trees of lxml, html5lib spells characters so that XML does not allow in names.
_AMP_NAMES: Final = AMP_NAMES | {
    name.replace("\u26a1", "U026A1").replace("\ufe0f", "U0FE0F") for name in AMP_NAMES
}


class ElementRow(NamedTuple):
    name: bytes  # in lower case, without a namespace; b"" for a comment or an instruction
    # The rows that count, by the key in `rows` and the values of what it asks for, as they are met.
    counted: dict[tuple[str | None, ...], tuple[Row, ...]]
    vocabulary: str | None = None  # None for an unknown element
    # The rows of each attribute, and of the text (""). `plain` has the row of an attribute that
    # counts whatever the other attributes are, or None if they decide whether one does.
    rows: Mapping[str, tuple[Row, ...]] = {}
    plain: Mapping[str, Row | None] = {}
    # By the same keys: the attributes that decide which rows count, and how.
    asks: Mapping[str, tuple[str, ...]] = {}
    inner: str = HTML  # the vocabulary whose rules apply inside it
    hides: bool = False  # whether a `<base>` inside it does not count
    is_opaque: bool = False  # whether what looks like elements inside it is text
    is_special: bool = False  # whether other rules apply inside it than around it
    is_item: bool = False  # of a feed
    is_base: bool = False  # whether it is HTML's `<base>`, which resolves against the outer base


COMMENT: Final = ElementRow(b"", {})
SHEET: Final = ElementRow(b"", {})  # <?xml-stylesheet?>

# What may hold references, as a plain tuple, since there are many: the node, its row, which of its
# attributes ("" for its text), all of them, the xml:base that applies (its own, if it has one), and
# its item as in `Around`.
Candidate: TypeAlias = tuple[Any, ElementRow, str, Iterable[str], Scope | None, Any]

# Elements inside which other rules apply than around them.
_OPAQUE: Final = RAW_TEXT - {b"template", b"noscript", b"style", b"script"}
_SPECIAL: Final = frozenset((b"svg", b"math")) | _OPAQUE

# The elements of HTML that have rows of their own, or other rules inside.
_NAMED: Final = frozenset(
    (*(place[1] for place in places.PLACES), *(name for _, name in vocabulary.TEXT_ROWS))
) | (_SPECIAL | {b"template", b"noscript"})


class Known:
    """Finds the rows for the names of one tree."""

    def __init__(
        self, root: str, policy: Policy, attributes: Iterable[str], *, is_html: bool
    ) -> None:
        self._is_html = is_html
        self._finds_items = policy.item_links
        plain = ROOTS.get(_encoded(root))
        is_amp = not _AMP_NAMES.isdisjoint(attributes)
        extended = (policy.extended and EXTENDED) | (is_amp and AMP)
        self._how = plain, is_html, extended, policy.attributes, policy.xml_rows
        # Whether browsers show the document, and so ignore xml:base in it.
        self.is_shown = self.kind(root, TOP).vocabulary in SHOWN

    def kind(self, tag: str, around: Around) -> ElementRow:
        make = _remembered if len(tag) <= _LONGEST_NAME else _kind
        return make(tag, around.namespace, *self._how)  # type: ignore[arg-type] # a tuple of pairs

    def inside(
        self,
        kind: ElementRow,
        around: Around,
        element: Any,  # noqa: ANN401 (of any package)
        scope: Scope | None,
        *,
        is_bare: bool,
    ) -> Around:
        namespace = BARE if is_bare else kind.inner
        is_same = scope is around.scope and namespace == around.namespace
        if is_same and not (kind.hides or kind.is_opaque or kind.is_item):
            return around
        # An xml:base inside an item counts before the item's link.
        item = around.item if scope is around.scope else None
        return Around(
            namespace,
            around.hidden or kind.hides,
            around.opaque or kind.is_opaque,
            scope,
            element if kind.is_item and self._finds_items else item,
        )

    def spelled(self, name: bytes) -> tuple[str, ...]:
        """The names that an attribute of the vocabulary may have in the tree."""
        return _spelled(name, is_html=self._is_html)


# lxml's names for attributes that the vocabulary spells differently.
_SPELLED: Final = {
    **{key: f"{{{uri.decode()}}}{local.decode()}" for (uri, local), key in KEYS.items()},
    **{lower: cased.decode() for cased, lower in CASED.items()},
}
XML_BASE: Final = _SPELLED[b"xml:base"]


@lru_cache(maxsize=512)
def _spelled(name: bytes, *, is_html: bool) -> tuple[str, ...]:
    other = _SPELLED.get(name)
    if is_html and other:  # html5lib spells them as XML does
        return name.decode(), other
    return (other or name.decode(),)


def _kind(  # noqa: PLR0917 (it is looked up for each element)
    tag: str,
    namespace: str,
    plain: str | None,
    is_html: bool,  # noqa: FBT001
    extended: int,
    named: tuple[tuple[str, str], ...],
    xml_rows: tuple[str, ...],
) -> ElementRow:
    uri, _, local = tag.rpartition("}")
    name = _encoded(local)
    vocabulary_ = VOCABULARIES.get(_encoded(uri[1:])) if uri else plain
    of_element = element_rows({})
    if namespace == BARE and (not uri or vocabulary_ in _FEEDS):
        vocabulary_ = HTML
    if not is_html:
        of_element = held_with(xml_rows, vocabulary_, _encoded(uri[1:]), name)
        name = CASED.get(name, name)
    else:
        name = name.lower()
        vocabulary_ = vocabulary_ if uri else namespace_in_tree(name, namespace)
        if vocabulary_ == namespace == HTML and name not in _NAMED and b":" not in name:
            # A hostile document has many names: they share one row in the cache.
            known = _remembered("*", HTML, plain, is_html, extended, named, xml_rows)
            return known._replace(name=name)
        if vocabulary_ in SHOWN:
            of_element = places.attributes_of(vocabulary_, name)
            of_element = of_element._replace(
                rows={**of_element.rows, **vocabulary.named_rows(named)}
            )
    rows = {
        key: tuple(row for row in of_key if row.is_known(extended))
        for attribute, of_key in of_element.rows.items()
        for key in _spelled(attribute, is_html=is_html)
    }
    rows = {key: of_key for key, of_key in rows.items() if of_key}
    plain_rows = {
        key: None if row.when or row.on_codebase or key == XML_BASE else row
        for key, (row, *_) in rows.items()
    }
    rows[""] = tuple(row for row in of_element.text if row.stays in _READ)
    asks = {
        key: tuple(dict.fromkeys(_asked(of_key, is_html=is_html))) for key, of_key in rows.items()
    }
    is_of_html = vocabulary_ == HTML
    hides = name == b"template" or (name == b"noscript" and is_html and is_of_html)
    return ElementRow(
        name,
        {},
        vocabulary_,
        rows,
        plain_rows,
        asks,
        BARE if namespace == BARE else namespace_inside(name, vocabulary_ or ""),
        hides=hides,
        is_opaque=is_html and is_of_html and name in _OPAQUE,
        is_special=hides or (not uri and name in _SPECIAL),
        is_item=(vocabulary_, name) in ITEMS,
        is_base=name == b"base" and is_of_html,
    )


def _asked(rows: tuple[Row, ...], *, is_html: bool) -> Iterator[str]:
    for row in rows:
        for condition in row.conditions:
            for name in condition.asks:
                yield from _spelled(name, is_html=is_html)


# Longer names are not cached: in a hostile document a name may be as long as the document.
_LONGEST_NAME: Final = 64
_remembered: Final = lru_cache(maxsize=1024)(_kind)


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def names_html(root: object) -> bool:
    """Whether a root without a namespace is an element of HTML, so that the whole tree is HTML."""
    return isinstance(root, str) and _encoded(root.lower()) in _HTML_ROOTS


# Elements of HTML Living Standard §4, and older ones, that are not the root of an XML vocabulary.
_HTML_ROOTS: Final = frozenset(
    b"html head body div span p a img ul ol li dl dt dd table thead tbody tfoot tr td th section "
    b"nav main aside header footer figure form font center blockquote pre br hr h1 h2 h3 h4 h5 h6 "
    b"iframe video audio picture base meta style script input button select textarea details "
    b"article".split()
)
