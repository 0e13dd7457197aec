"""Trees of `xml.etree`, which html5lib makes by default, and what they share with lxml's.

An element does not know its parent, so the whole tree is searched for all of them first. `tail`,
the text after an element, belongs to the element, but must stay when the element is removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from relbase.trees.markup import COMMENT, XML_BASE, ElementRow, names_html
from relbase.trees.tree import Node, Tree, is_conditional

if TYPE_CHECKING:
    from relbase.policy import Policy


def element_tree(tree: Node, policy: Policy) -> Elements:
    element = tree.getroot() if isinstance(tree, ET.ElementTree) else tree
    if element is None:
        raise ValueError("the ElementTree has no root: parse a document into it first")
    if not isinstance(element, ET.Element) or not isinstance(element.tag, str):
        fix = "give an element of xml.etree.ElementTree"
        raise TypeError(f"{str(tree)[:80]} is not an element that holds links: {fix}")
    return Elements(element, policy)


class Elements(Tree):
    """A tree of `xml.etree` from an element down."""

    XML_BASE = XML_BASE
    WITHIN_TEXT: Sequence[object] = (ET.Comment, ET.ProcessingInstruction)

    def __init__(self, root: Node, policy: Policy) -> None:
        self._parents = {child: parent for parent in root.iter() for child in parent}
        is_html = names_html(root.tag)
        # html5lib makes XHTML from HTML, and XML parsers drop comments.
        self._has_conditional = is_html or root.tag == "{http://www.w3.org/1999/xhtml}html"
        super().__init__(root, root, root, None, policy, is_html=is_html)

    def _aside(self, node: Node) -> ElementRow | None:
        is_comment = node.tag is ET.Comment and self._has_conditional
        return COMMENT if is_comment and is_conditional(node.text) else None

    get: Callable[[Node, str], Any] = staticmethod(ET.Element.get)
    set: Callable[[Node, str, str], None] = staticmethod(ET.Element.set)
    _nodes: Callable[[Node], Iterable[Node]] = staticmethod(ET.Element.iter)
    _tag = staticmethod(attrgetter("tag"))
    _keys: Callable[[Node], Iterable[str]] = staticmethod(ET.Element.keys)
    _children = staticmethod(iter)

    def _parent(self, node: Node) -> Node:
        return self._parents.get(node)

    def _previous(self, node: Node) -> Node:
        before = None
        for sibling in self._parent(node):
            if sibling is node:
                break
            before = sibling
        return before

    def spelled(self, _element: Node, attribute: str) -> str:
        return attribute

    def _named(self, name: str, inside: Node) -> Iterator[Node]:
        return (node for node in inside.iter() if self._name(node).rpartition("}")[2] == name)

    def attributes(self, element: Node) -> MutableMapping[str, Any]:
        attributes: MutableMapping[str, Any] = element.attrib
        return attributes

    def texts(self, element: Node) -> Sequence[tuple[Any, str]]:
        if not len(element):
            return ((element, element.text),) if element.text else ()
        # Comments and instructions within a text are not part of it.
        if any(node.tag not in self.WITHIN_TEXT for node in element):
            return ()
        pieces = [element.text, *(node.tail for node in element)]
        return ((element, "".join(piece for piece in pieces if piece)),)

    def set_text(self, element: Node, holder: Node, text: str) -> Node:
        pieces = [node for node in holder if node.tail]
        if holder.text or not pieces:
            holder.text = text
        else:
            pieces.pop(0).tail = text
        for node in pieces:
            node.tail = None
        return element

    def remove(self, element: Node) -> None:
        parent = self._parent(element)
        if parent is None or len(element):
            del element.attrib["href"]
            return
        before = self._previous(element) if element.tail else None
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        elif element.tail:
            parent.text = (parent.text or "") + element.tail
        parent.remove(element)
