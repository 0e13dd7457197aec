"""What is markup in a tree: vocabularies and namespaces, what is hidden, what is text.

Parsers differ from browsers: some have no namespaces, some make elements of what a browser takes
for text (the inside of textarea, of iframe). Such elements become text again when the tree is
written, so that they count as `rewrite` counts them: not at all.

Names are those of lxml: `{namespace}local`, or the name alone; other trees spell theirs so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from relbase.references import vocabulary, xml_vocabulary
from relbase.references.foreign import HTML, MATH, SVG, namespace_in_tree, namespace_inside
from relbase.references.tags import RAW_TEXT
from relbase.references.xml_vocabulary import CASED, KEYS, ROOTS, VOCABULARIES, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from relbase.references.vocabulary import Row

# xml:base of an element, and of those around it, outward (XML Base §4).
Scope: TypeAlias = "tuple[str, Scope | None]"


class Around(NamedTuple):
    """What is around an element.

    Args:
        namespace: whose rules are followed.
        hidden: a `<base>` here does not count.
        opaque: what looks like elements here is text.
        scope: the xml:base of what is around.
    """

    namespace: str = HTML
    hidden: bool = False
    opaque: bool = False
    scope: Scope | None = None


TOP: Final = Around()


class Held(NamedTuple):
    """What an element can hold: its attributes and its text, each with its rows in their order."""

    rows: Mapping[bytes, tuple[Row, ...]]
    text: tuple[Text, ...]


_NOTHING: Final = Held({}, ())


class Spot(NamedTuple):
    """An element, a comment or an instruction that may hold references.

    Args:
        element: of the tree.
        held: what it can hold.
        name: of the element, b"" for what is none.
        names: its attributes: how the vocabulary names them, and how the tree does.
        is_base: whether it is HTML's `<base>`, which stands on what is around the document.
        is_sheet: whether it is an `<?xml-stylesheet?>`.
        by_browsers: whether browsers, which know no xml:base, read it as their own.
        scope: the xml:base of what is around it.
    """

    element: Any
    held: Held = _NOTHING
    name: bytes = b""
    names: Mapping[bytes, str] = {}
    is_base: bool = False
    is_sheet: bool = False
    by_browsers: bool = True
    scope: Scope | None = None


# Elements inside of which something else holds than around them.
HIDING: Final = frozenset((b"template", b"noscript"))
_OPAQUE: Final = RAW_TEXT - HIDING - {b"style", b"script"}
SPECIAL: Final = frozenset((b"svg", b"math")) | _OPAQUE

_XML_ATTRIBUTES: Final = {
    f"{{{uri.decode()}}}{local.decode()}": key for (uri, local), key in KEYS.items()
}
_BROWSERS: Final = frozenset((HTML, SVG, MATH))


@dataclass(frozen=True, slots=True)
class Known:
    """The names of one tree that matter, looked up once each.

    Args:
        root: the name of the root, which says what a document in no namespace is.
        is_html: whether the tree is of HTML.
        extended: whether rows of the policy `extended` count.
    """

    root: str
    is_html: bool
    extended: bool
    _attributes: dict[str, bytes] = field(init=False, default_factory=dict)
    _helds: dict[tuple[str, str | None], tuple[bytes, Held]] = field(
        init=False, default_factory=dict
    )
    _plain: str | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._attributes.update(_attributes(is_html=self.is_html, extended=self.extended))
        object.__setattr__(self, "_plain", ROOTS.get(self.root.encode()))

    def may_hold(self, tag: str, keys: Iterable[str]) -> bool:
        """Whether an element may hold references, by its name and those of its attributes."""
        return (
            not self._attributes.keys().isdisjoint(keys)
            or tag.endswith(_TEXTS)
            or (not self.is_html)
        )

    def vocabulary(self, tag: str, around: Around) -> str | None:
        """The vocabulary, or the namespace of HTML, that an element is of; None for an unknown one.

        Args:
            tag: the name of the element.
            around: what is around it.
        """
        if tag[0] == "{":
            return VOCABULARIES.get(tag[1 : tag.index("}")].encode())
        if self.is_html:
            return namespace_in_tree(tag.lower().encode(), around.namespace)
        return self._plain

    def names(self, spelled: Iterable[str], keys: Iterable[str]) -> dict[bytes, str]:
        """The attributes that matter: how the vocabulary names them, and how the tree does.

        Args:
            spelled: the names of an element's attributes as lxml has them.
            keys: the same as the tree has them.
        """
        known = self._attributes
        return {known[name]: key for name, key in zip(spelled, keys, strict=True) if name in known}

    def spot(
        self,
        element: Any,  # noqa: ANN401
        tag: str,
        names: Mapping[bytes, str],
        around: Around,
    ) -> Spot:
        """An element as a spot.

        Args:
            element: of the tree.
            tag: its name.
            names: its attributes that matter.
            around: what is around it.
        """
        vocabulary_ = self.vocabulary(tag, around)
        place = (tag, vocabulary_)
        if place not in self._helds:
            self._helds[place] = self._held(tag, vocabulary_)
        name, held = self._helds[place]
        return Spot(
            element,
            held,
            name,
            names,
            is_base=name == b"base" and vocabulary_ == HTML,
            by_browsers=vocabulary_ in _BROWSERS,
            scope=around.scope,
        )

    def _held(self, tag: str, vocabulary_: str | None) -> tuple[bytes, Held]:
        local = tag.rpartition("}")[2].encode("utf-8", "surrogatepass")
        if self.is_html:
            local = local.lower()
            if vocabulary_ not in _BROWSERS:
                return local, _NOTHING
            html = vocabulary.held(vocabulary_, local)
            return local, Held(html.rows, tuple(map(Text, html.text)))
        xml = xml_vocabulary.held(vocabulary_, local)
        return CASED.get(local, local), Held(xml.rows, xml.text)


_TEXTS: Final = ("style", "script")


def _attributes(*, is_html: bool, extended: bool) -> dict[str, bytes]:
    """The attributes that may matter: how trees name them, and how the vocabulary does."""
    if not is_html:
        names = {name for name in xml_vocabulary.attribute_rows() if name != b"base"}
        asked = {*names, *_CONDITIONS, b"isPermaLink", b"mode"}
        return {**{name.decode(): CASED.get(name, name) for name in asked}, **_XML_ATTRIBUTES}
    places = (
        vocabulary.attributes(namespace, extended=extended) for namespace in (HTML, SVG, MATH)
    )
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


def inside(
    tag: str, vocabulary_: str | None, around: Around, scope: Scope | None, *, is_html: bool
) -> Around:
    """Return what is around the children of an element.

    Args:
        tag: its name.
        vocabulary_: its vocabulary.
        around: what is around the element.
        scope: the xml:base that is in force inside.
        is_html: whether the tree is of HTML.
    """
    name = tag.rpartition("}")[2].encode("utf-8", "surrogatepass").lower()
    hides = name == b"template" or (name == b"noscript" and vocabulary_ == HTML)
    return Around(
        namespace_inside(name, vocabulary_ or ""),
        around.hidden or hides,
        around.opaque or (is_html and vocabulary_ == HTML and name in _OPAQUE),
        scope,
    )


def names_html(root: object) -> bool:
    """Whether a root in no namespace is an element of HTML: so is then the whole tree.

    Args:
        root: its name.
    """
    return isinstance(root, str) and root.lower().encode("utf-8", "surrogatepass") in _HTML_ROOTS


# Those of HTML Living Standard §4, and older ones, that no vocabulary of XML has as its root.
_HTML_ROOTS: Final = frozenset(
    b"html head body div span p a img ul ol li dl dt dd table thead tbody tfoot tr td th section "
    b"nav main aside header footer figure form font center blockquote pre br hr h1 h2 h3 h4 h5 h6 "
    b"iframe video audio picture base meta style script input button select textarea details "
    b"article".split()
)


_conditional: Final = re.compile(r"\[if[^\]>]*+\]>", re.IGNORECASE).match


def is_conditional(comment: str | None) -> bool:
    """Whether a comment is a conditional one, in which markup is hidden."""
    return comment is not None and _conditional(comment) is not None


def is_sheet_link(rel: str | None) -> bool:
    """Whether a link with this `rel` is of a style sheet."""
    return rel is not None and "stylesheet" in rel.lower()


class Tree(Protocol):
    """A tree of one package, or a part of one: what the walk asks of it."""

    # What the document was retrieved from, where the tree knows it.
    url: str | None
    # The name of the document's charset, where the tree knows it.
    encoding: str | None

    def bases(self, *, whole: bool) -> Iterator[Any]:
        """The `<base>` elements with an href that a browser sees, in order.

        Args:
            whole: of the whole tree, also where this is a part of it.
        """

    def has_sheets(self) -> bool:
        """Whether the document links or imports style sheets."""

    def spots(self, *, extended: bool) -> Iterable[Spot]:
        """What may hold references in this part, in the order of the document."""

    def get(self, element: Any, attribute: str) -> str:  # noqa: ANN401
        """The value of an attribute."""

    def set(self, element: Any, attribute: str, value: str) -> None:  # noqa: ANN401
        """Give an attribute another value."""

    def texts(self, element: Any) -> Iterable[tuple[Any, str]]:  # noqa: ANN401
        """The pieces of an element's text, or the one of a comment, each with what holds it."""

    def set_text(self, holder: Any, text: str) -> None:  # noqa: ANN401
        """Write another text in place of a piece."""

    def remove(self, element: Any) -> None:  # noqa: ANN401
        """Take an element away, and leave what stands after it."""
