"""lxml's trees: of `lxml.html`, and of `lxml.etree` with or without namespaces.

To mind: an element of lxml is a proxy that lives as long as somebody holds it; where its place in
the tree is remembered, so is the proxy. `tail`, the text after an element, belongs to the element,
and must not go with it.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from relbase.trees.markup import COMMENT, SHEET, TOP, Around, ElementRow, Known, Spot, names_html
from relbase.trees.tree import Node, Tree, is_conditional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence


def lxml_tree(tree: Node) -> LxmlTree:
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


class LxmlTree(Tree):
    """A tree of lxml, or the part of one that an element begins."""

    XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"

    def __init__(self, element: Node) -> None:
        tree = element.getroottree()
        # Of a part that was taken out `tree` is the whole that it was in.
        root = element
        for around in element.iterancestors():
            root = around
        is_html = isinstance(tree.parser, etree.HTMLParser) or names_html(root.tag)
        # html5lib makes XHTML of what it reads as HTML; lxml chooses the prefix.
        self._has_conditional = is_html or root.prefix == "html"
        super().__init__(element, root, root, tree.docinfo.encoding, is_html=is_html)
        url = tree.docinfo.URL
        if root is tree.getroot() and url and "://" in url:
            self.url = url

    def spots(self, known: Known) -> Iterator[Spot]:
        """What may hold references in this part, in the order of the document."""
        around = self._around(self._part, known)
        if not self._is_html or around != TOP:
            yield from self._within(self._nodes(), self._part, around, known)
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
        self, nodes: Iterable[Node], first: Node, around: Around, known: Known
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

    def _nodes(self) -> Iterator[Node]:
        if self._part is not self._root:
            return iter(self._part.iter())
        before = reversed(list(self._root.itersiblings(preceding=True)))
        return chain(before, self._root.iter(), self._root.itersiblings())

    # lxml.html's own `set` is another, for attributes without a value.
    get = staticmethod(etree._Element.get)  # noqa: SLF001
    set = staticmethod(etree._Element.set)  # noqa: SLF001

    def _name(self, element: Node) -> str:
        name: str = element.tag
        return name

    def _named(self, name: str, inside: Node) -> Iterator[Node]:
        return iter(inside.iter(f"{{*}}{name}"))

    def _attributes(self, element: Node) -> MutableMapping[str, Any]:
        attributes: MutableMapping[str, Any] = element.attrib
        return attributes

    def _ancestors(self, element: Node) -> Iterator[Node]:
        return iter(element.iterancestors())

    def _children(self, element: Node) -> Iterator[Node]:
        return iter(element)

    def texts(self, element: Node) -> Sequence[tuple[Any, str]]:
        """The text of an element or of a comment, unless there are elements in it."""
        if not len(element):
            return ((element, element.text),) if element.text else ()
        # Comments and instructions within a text are not part of it.
        if any(node.tag not in _WITHIN_TEXT for node in element):
            return ()
        pieces = [element.text, *(node.tail for node in element)]
        return ((element, "".join(piece for piece in pieces if piece)),)

    def set_text(self, element: Node, holder: Node, text: str) -> Node:
        """Write another text in place of what is held; return the element."""
        pieces = [node for node in holder if node.tail]
        if holder.text or not pieces:
            holder.text = text
        else:
            pieces.pop(0).tail = text
        for node in pieces:
            node.tail = None
        return element

    def remove(self, element: Node) -> None:
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
