"""lxml's trees: of `lxml.html`, and of `lxml.etree` with or without namespaces.

To mind: an element of lxml is a proxy that lives as long as somebody holds it; where its place in
the tree is remembered, so is the proxy. `tail`, the text after an element, belongs to the element,
and must not go with it.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from relbase.trees.markup import (
    COMMENT,
    SHEET,
    TOP,
    Around,
    ElementRow,
    Known,
    Spot,
    is_conditional,
    is_sheet_link,
    names_html,
)
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from relbase.trees.markup import Named, Scope


def lxml_tree(tree: Any) -> LxmlTree:  # noqa: ANN401 (lxml has no types)
    """Return an element, or an ElementTree, as the walk sees it."""
    element = tree.getroot() if hasattr(tree, "getroot") else tree
    if element is None:
        raise ValueError("the ElementTree has no root: parse a document into it first")
    if not isinstance(element, etree._Element) or not isinstance(element.tag, str):  # noqa: SLF001
        raise TypeError(f"{str(tree)[:80]} is not an element that holds links: give an element")
    return LxmlTree(element)


def _never(_keys: list[str]) -> bool:
    return False


_WITHIN_TEXT: Final = (etree.Comment, etree.PI)
_XML_BASE: Final = "{http://www.w3.org/XML/1998/namespace}base"


class LxmlTree:
    """A tree of lxml, or the part of one that an element begins."""

    __slots__ = ("_element", "_has_conditional", "_is_html", "_root", "encoding", "url")

    def __init__(self, element: Any) -> None:  # noqa: ANN401
        tree = element.getroottree()
        self._element = element
        # Of a part that was taken out `tree` is the whole that it was in.
        self._root = next(iter([*element.iterancestors()][-1:]), element)
        self._is_html = isinstance(tree.parser, etree.HTMLParser) or names_html(self._root.tag)
        # html5lib makes XHTML of what it reads as HTML; lxml chooses the prefix.
        self._has_conditional = self._is_html or self._root.prefix == "html"
        url: str | None = tree.docinfo.URL if self._root is tree.getroot() else None
        self.url = url if url and "://" in url else None
        self.encoding = lookup(tree.docinfo.encoding or "")

    def bases(self, *, whole: bool) -> Iterator[Any]:
        """The `<base>` elements with an href that a browser sees, in order."""
        known = self.known(extended=False)
        element = self._root if whole else self._element
        for base in element.iter("{*}base"):
            if base.get("href") is not None:
                around = self._around(base, known)
                if known.kind(base.tag, around).is_base and not (around.hidden or around.opaque):
                    yield base

    def has_sheets(self) -> bool:
        """Whether the document links or imports style sheets."""
        if any("@import" in (style.text or "").lower() for style in self._root.iter("{*}style")):
            return True
        return any(is_sheet_link(link.get("rel")) for link in self._root.iter("{*}link"))

    def spots(self, known: Known) -> Iterator[Spot]:
        """What may hold references in this part, in the order of the document."""
        around = self._around(self._element, known)
        if not self._is_html or around != TOP:
            yield from self._within(self._nodes(), self._element, around, known)
            return
        nodes = self._nodes()
        # Of most elements no more is asked, and there are many: what is known of a name is at hand.
        kinds: dict[Any, ElementRow] = {}
        holds_none: dict[Any, Callable[[list[str]], bool]] = {}
        for node in nodes:
            tag = node.tag
            if tag in holds_none:
                keys = node.keys()
                if not holds_none[tag](keys):
                    # As `Spot(...)`, in half the time.
                    yield tuple.__new__(Spot, (node, kinds[tag], keys, None))
                continue
            if tag.__class__ is not str:
                if tag is etree.Comment and is_conditional(node.text):
                    yield Spot(node, COMMENT)
                continue
            kind = known.kind(tag, TOP)
            if kind.is_special and len(node):
                inner = list(node.iter())
                yield from self._within(inner, node, TOP, known)
                next(islice(nodes, len(inner) - 1, len(inner) - 1), None)
                continue
            is_boring = _never if kind.speaks else kind.own.isdisjoint
            if not kind.is_special:
                kinds[tag], holds_none[tag] = kind, is_boring
            keys = node.keys()
            if not is_boring(keys):
                yield Spot(node, kind, keys)

    def _within(
        self,
        nodes: Iterable[Any],
        first: Any,  # noqa: ANN401
        around: Around,
        known: Known,
    ) -> Iterator[Spot]:
        """The spots where the surroundings of an element matter; kept for those with children."""
        arounds: dict[Any, Around] = {first.getparent(): around}
        for node in nodes:
            here = arounds.get(node.getparent(), TOP)
            tag = node.tag
            if tag.__class__ is not str:
                if tag is etree.Comment and self._has_conditional and not here.opaque:
                    if is_conditional(node.text):
                        yield Spot(node, COMMENT)
                elif tag is etree.PI and node.target == "xml-stylesheet" and not self._is_html:
                    yield Spot(node, SHEET)
                continue
            keys = node.keys()
            kind = known.kind(tag, here)
            scope = self._scope(node, here)
            if len(node):
                arounds[node] = known.inside(kind, here, scope)
            if not here.opaque and (kind.speaks or not kind.own.isdisjoint(keys)):
                yield Spot(node, kind, keys, scope)

    def _scope(self, node: Any, here: Around) -> Scope | None:  # noqa: ANN401
        """The xml:base that is in force in an element: its own one counts for itself too."""
        stated = None if self._is_html else node.get(_XML_BASE)
        return here.scope if stated is None else (stated, here.scope)

    def _nodes(self) -> Iterator[Any]:
        """The nodes of this part; of a whole tree those beside its root, too."""
        if self._element is not self._root:
            return iter(self._element.iter())
        before = reversed(list(self._root.itersiblings(preceding=True)))
        return chain(before, self._root.iter(), self._root.itersiblings())

    def _around(self, element: Any, known: Known) -> Around:  # noqa: ANN401
        """What is around an element: from the root down to it."""
        around = TOP
        for ancestor in reversed(list(element.iterancestors())):
            kind = known.kind(ancestor.tag, around)
            around = known.inside(kind, around, self._scope(ancestor, around))
        return around

    def known(self, *, extended: bool, named: Named = ()) -> Known:
        """What is known of the names of the tree."""
        return Known(self._root.tag, is_html=self._is_html, extended=extended, named=named)

    # The value of an attribute, and another one for it. lxml.html's own `set` is another, for
    # attributes without a value.
    get: Final = staticmethod(etree._Element.get)  # noqa: SLF001
    set: Final = staticmethod(etree._Element.set)  # noqa: SLF001

    def texts(self, element: Any) -> Sequence[tuple[Any, str]]:  # noqa: ANN401
        """The text of an element or of a comment, unless there are elements in it."""
        if not len(element):
            return ((element, element.text),) if element.text else ()
        # Comments and instructions within a text are not part of it.
        if any(node.tag not in _WITHIN_TEXT for node in element):
            return ()
        pieces = [element.text, *(node.tail for node in element)]
        return ((element, "".join(piece for piece in pieces if piece)),)

    def item_link(self, element: Any, known: Known) -> str | None:  # noqa: ANN401
        """The link of the item of RSS around an element, None where there is none."""
        for around in element.iterancestors():
            if known.is_item(around.tag):
                link = around.find(around.tag.removesuffix("item") + "link")
                pieces = () if link is None else self.texts(link)
                return pieces[0][1] if pieces else None
        return None

    def delete(self, element: Any, attribute: str) -> None:  # noqa: ANN401
        """Take an attribute away."""
        del element.attrib[attribute]

    def set_text(self, element: Any, holder: Any, text: str) -> Any:  # noqa: ANN401
        """Write another text in place of what is held; return the element."""
        pieces = [node for node in holder if node.tail]
        if holder.text or not pieces:
            holder.text = text
        else:
            pieces.pop(0).tail = text
        for node in pieces:
            node.tail = None
        return element

    def remove(self, element: Any) -> None:  # noqa: ANN401
        """Take an element away, and leave what stands after it."""
        parent, before = element.getparent(), element.getprevious()
        if parent is None or len(element):
            del element.attrib["href"]
            return
        if element.tail and before is not None:
            before.tail = (before.tail or "") + element.tail
        elif element.tail:
            parent.text = (parent.text or "") + element.tail
        parent.remove(element)
