"""Trees of `lxml.html`, and of `lxml.etree` with or without namespaces.

Caution: an element of lxml is a proxy that lives only as long as something refers to it. Code that
compares elements with `is` must keep the proxies.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING

from lxml import etree

from relbase.trees.elements import Elements
from relbase.trees.markup import COMMENT, SHEET, ElementRow, names_html
from relbase.trees.tree import Node, is_conditional

if TYPE_CHECKING:
    from relbase.policy import Policy


def lxml_tree(tree: Node, policy: Policy) -> LxmlTree:
    element = tree.getroot() if hasattr(tree, "getroot") else tree
    if element is None:
        raise ValueError("the ElementTree has no root: parse a document into it first")
    if not isinstance(element, etree._Element) or not isinstance(element.tag, str):  # noqa: SLF001
        raise TypeError(f"{str(tree)[:80]} is not an element that holds links: give an element")
    return LxmlTree(element, policy)


class LxmlTree(Elements):
    """A tree of lxml, or the part of one from an element down."""

    WITHIN_TEXT = (etree.Comment, etree.PI)

    def __init__(self, element: Node, policy: Policy) -> None:
        tree = element.getroottree()
        # If a part was removed from a tree, `tree` is still that whole tree.
        root = element
        for around in element.iterancestors():
            root = around
        self._is_parsed = isinstance(tree.parser, etree.HTMLParser)
        is_html = self._is_parsed or names_html(root.tag)
        # html5lib makes XHTML from HTML, and lxml chooses the prefix.
        self._has_conditional = is_html or root.prefix == "html"
        # The instructions before the root: a style sheet that is named later does not count.
        self._prolog = frozenset(() if is_html else root.itersiblings(etree.PI, preceding=True))
        label = tree.docinfo.encoding
        super(Elements, self).__init__(element, root, root, label, policy, is_html=is_html)
        url = tree.docinfo.URL
        if root is tree.getroot() and url and "://" in url:
            self.url = url

    def _nodes(self, element: Node) -> Iterator[Node]:
        """An element and what is inside it; with the root also the comments around it."""
        nodes = element.iter()
        if element is not self._root:
            return iter(nodes)
        before = reversed(list(self._root.itersiblings(preceding=True)))
        return chain(before, nodes, self._root.itersiblings())

    def _aside(self, node: Node) -> ElementRow | None:
        if node.tag is etree.Comment:
            return COMMENT if self._has_conditional and is_conditional(node.text) else None
        is_sheet = node in self._prolog and node.target == "xml-stylesheet"
        return SHEET if is_sheet else None

    # Not the `set` of lxml.html, which treats attributes without a value differently.
    get = staticmethod(etree._Element.get)  # noqa: SLF001
    set = staticmethod(etree._Element.set)  # noqa: SLF001
    _keys = staticmethod(etree._Element.keys)  # noqa: SLF001
    _parent = staticmethod(etree._Element.getparent)  # noqa: SLF001
    _previous = staticmethod(etree._Element.getprevious)  # noqa: SLF001

    def _named(self, name: str, inside: Node) -> Iterator[Node]:
        # An HTML parser uses no namespace, and searching in all of them takes twice as long.
        return iter(inside.iter(f"{{{'' if self._is_parsed else '*'}}}{name}"))
