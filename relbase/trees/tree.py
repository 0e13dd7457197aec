"""What trees of both packages have in common, and what a walk asks of one."""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from relbase.bases.layers import UNKNOWN, Layer, Statement
from relbase.references.values import trimmed
from relbase.references.xml import ALTERNATES
from relbase.rewriting.xml_bases import MAX_XML_BASE_DEPTH
from relbase.trees.markup import TOP, Around, Known
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence

    from relbase.rewriting.context import Context
    from relbase.trees.markup import Named, Scope, Spot

# An element, of a package without types that serve.
Node: TypeAlias = Any

_conditional: Final = re.compile(r"\[if[^\]>]*+\]>", re.IGNORECASE).match


def is_conditional(comment: str | None) -> bool:
    """Whether a comment is a conditional one, in which markup is hidden."""
    return comment is not None and _conditional(comment) is not None


class Tree:
    """A tree of one package, or a part of one. Neither package has types that serve."""

    # What each package does in its own way.
    XML_BASE: str  # how the tree names the attribute
    spots: Callable[[Known], Iterable[Spot]]  # what may hold references, in order
    _name: Callable[[Node], str]  # the name of an element as lxml has it
    _named: Callable[[str, Node], Iterable[Node]]  # elements of a local name, inside of one
    _ancestors: Callable[[Node], Iterable[Node]]  # the elements around one, outward
    _children: Callable[[Node], Iterable[Node]]
    _attributes: Callable[[Node], MutableMapping[str, Any]]
    get: Callable[[Node, str], str]  # the value of an attribute that is there
    set: Callable[[Node, str, str], None]
    # The text of an element, a comment or an instruction, with what holds it; none for an element
    # with others in it.
    texts: Callable[[Node], Sequence[tuple[Any, str]]]
    # Writes another text in place of what is held, and returns the element, or what replaces it.
    set_text: Callable[[Node, Any, str], Node]
    remove: Callable[[Node], None]  # takes an element away, and leaves what stands after it

    def __init__(
        self, part: Node, root: Node, top: Node, label: str | None, *, is_html: bool
    ) -> None:
        self._part = part
        self._root = root
        self._top = top  # the element that the document begins with
        self._is_html = is_html
        self.url: str | None = None  # what the document was retrieved from, where the tree knows it
        self.encoding = lookup(label or "")  # of the document, where the tree knows it

    def known(self, *, extended: bool, named: Named = ()) -> Known:
        """What is known of the names of the tree."""
        return Known(self._name(self._top), is_html=self._is_html, extended=extended, named=named)

    def bases(self, *, whole: bool) -> Iterator[Node]:
        """The `<base>` elements with an href that a browser sees, in order."""
        known = self.known(extended=False)
        for base in self._named("base", self._root if whole else self._part):
            if "href" in self._attributes(base):
                around = self._around(base, known)
                kind = known.kind(self._name(base), around)
                if kind.is_base and not (around.hidden or around.opaque):
                    yield base

    def has_sheets(self) -> bool:
        """Whether the document links or imports style sheets."""
        styles = (self.texts(style) for style in self._named("style", self._root))
        if any("@import" in text.lower() for texts in styles for _, text in texts):
            return True
        links = (self.get(link, "rel") for link in self._named("link", self._root))
        return any("stylesheet" in rel.lower() for rel in links if rel)

    def item_link(self, element: Node, known: Known) -> str | None:
        """The link of the feed's item around an element, unless an xml:base in it is stronger."""
        for around in chain((element,), self._ancestors(element)):
            name = self._name(around)
            if known.is_item(name):
                wanted = f"{name[: name.rfind('}') + 1]}link"
                links = (one for one in self._children(around) if self._name(one) == wanted)
                return next((found for link in links for found in self._leads(link)), None)
            if self.get(around, self.XML_BASE):
                return None
        return None

    def _leads(self, link: Node) -> Iterator[str]:
        """Where a link of an item leads, if to what the item is about: a text of RSS, or Atom's."""
        yield from (text for _, text in self.texts(link))
        href = self.get(link, "href")
        if href and (self.get(link, "rel") or "").encode() in ALTERNATES:
            yield href

    def _scope(self, element: Node, here: Around) -> Scope | None:
        """The xml:base that is in force in an element: its own one counts for itself too."""
        stated = "" if self._is_html else self.get(element, self.XML_BASE)
        return (stated, here.scope) if stated else here.scope

    def delete(self, element: Node, attribute: str) -> None:
        """Take an attribute away."""
        del self._attributes(element)[attribute]

    def _around(self, element: Node, known: Known) -> Around:
        around = TOP
        ancestors = list(self._ancestors(element))
        # Lists let go of their last first, and lxml looks for what is around whatever goes.
        ancestors.reverse()
        for ancestor in ancestors:
            kind = known.kind(self._name(ancestor), around)
            around = known.inside(kind, around, self._scope(ancestor, around))
        return around


class Scopes:
    """The contexts inside of a document, on each xml:base and each link of an item; made once."""

    def __init__(self, inside: Context) -> None:
        self._inside = inside
        # The contexts of each xml:base that is in force somewhere, and how deep it is nested; and
        # those of what is stated, by the contexts around it.
        self._scoped: dict[int, tuple[Scope, Context, int]] = {}
        self._stated: dict[tuple[int, str, str], Context] = {}

    def on(self, innermost: Scope | None) -> Context:
        """Return the context where an xml:base is in force, within those around it."""
        left: list[Scope] = []
        scope = innermost
        while scope is not None and id(scope) not in self._scoped:
            left.append(scope)
            scope = scope[1]
        context, depth = self._inside, 0
        if scope is not None:
            _, context, depth = self._scoped[id(scope)]
        while left:
            scope, depth = left.pop(), depth + 1
            is_too_deep = depth > MAX_XML_BASE_DEPTH  # nothing is resolved there
            stated = trimmed(scope[0])
            context = self._based(stated, "xml:base", context, is_too_deep=is_too_deep)
            self._scoped[id(scope)] = (scope, context, depth)
        return context

    def on_link(self, link: str, around: Context) -> Context:
        """Return the context of HTML in an item of RSS: on its link (the policy `item_links`)."""
        return self._based(link, "link of <item>", around)

    def _based(
        self, stated: str, source: str, around: Context, *, is_too_deep: bool = False
    ) -> Context:
        if not stated:
            return around
        key = (id(around), stated, source)
        if key not in self._stated:
            base, _ = around.established(Statement(Layer.EMBEDDED, stated, source))
            self._stated[key] = around.on(UNKNOWN if is_too_deep else base)
        return self._stated[key]
