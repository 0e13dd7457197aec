"""Trees of BeautifulSoup, made by any of its parsers: html.parser, lxml, html5lib, xml.

Caution: `tag.anything` searches for an element of that name, so use only attributes that a `Tag`
has. The value of an HTML attribute may be a list, if BeautifulSoup splits it into words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import bs4
from bs4.element import (
    CData,
    Comment,
    NavigableString,
    PreformattedString,
    XMLProcessingInstruction,
)

from relbase.trees.markup import COMMENT, SHEET, ElementRow, names_html
from relbase.trees.tree import Node, Tree, is_conditional

if TYPE_CHECKING:
    from bs4.element import PageElement

    from relbase.policy import Policy


def soup_tree(tree: object, policy: Policy) -> SoupTree:
    if not isinstance(tree, bs4.Tag):
        fix = "give the soup, or a tag: of a list of tags one at a time"
        raise TypeError(f"a {type(tree).__name__} holds no links: {fix}")
    if vars(tree).get("_decomposed"):  # `tree.decomposed` would search for an element
        raise ValueError("the tag was destroyed by decompose(): find it again, or parse again")
    return SoupTree(tree, policy)


class SoupTree(Tree):
    """A soup, or the part of one from a tag down."""

    XML_BASE = "xml:base"

    def __init__(self, tag: bs4.Tag, policy: Policy) -> None:
        root = tag
        while root.parent is not None:
            root = root.parent
        top = next((node for node in root.contents if isinstance(node, bs4.Tag)), root)
        prolog = takewhile(lambda node: node is not top, root.contents)
        # As in `LxmlTree`; equal instructions are equal texts.
        self._prolog = frozenset(map(id, prolog if isinstance(root, bs4.BeautifulSoup) else ()))
        if isinstance(root, bs4.BeautifulSoup):
            is_xml = root.is_xml
        else:
            is_xml, top = bool(root._is_xml), root  # noqa: SLF001 (a tag that was taken out)
        is_html = not is_xml or (not top.namespace and names_html(top.name))
        label = vars(root).get("original_encoding")
        super().__init__(tag, root, top, label, policy, is_html=is_html)

    @staticmethod
    def _nodes(tag: bs4.Tag) -> Iterator[PageElement]:
        """A tag and all nodes inside it, in document order."""
        last: PageElement | None = tag
        while last is not None and last.next_sibling is None:
            last = last.parent
        end = None if last is None else last.next_sibling
        node: PageElement | None = tag
        if isinstance(tag, bs4.BeautifulSoup):  # its own `next_element` is not set
            node = tag.contents[0] if tag.contents else None
        while node is not None and node is not end:
            yield node
            node = node.next_element

    def _aside(self, node: PageElement) -> ElementRow | None:
        if not isinstance(node, PreformattedString):
            return None
        if isinstance(node, XMLProcessingInstruction):
            is_sheet = id(node) in self._prolog and node.startswith("xml-stylesheet")
            return SHEET if is_sheet else None
        is_comment = isinstance(node, Comment) and self._is_html and is_conditional(node)
        return COMMENT if is_comment else None

    def _tag(self, node: PageElement) -> str:
        """The name of a tag as in lxml; in HTML without the namespace, which html5lib sets."""
        if not isinstance(node, bs4.Tag):
            return ""
        if self._is_html or not node.namespace:
            return node.name
        return f"{{{node.namespace}}}{node.name.rpartition(':')[2]}"

    def _keys(self, tag: bs4.Tag) -> Iterable[str]:
        return tag.attrs if self._is_html else list(map(_with_namespace, tag.attrs))

    def spelled(self, tag: bs4.Tag, attribute: str) -> str:
        if attribute in tag.attrs:
            return attribute
        return next(name for name in tag.attrs if _with_namespace(name) == attribute)

    def _named(self, name: str, inside: bs4.Tag) -> Iterator[bs4.Tag]:
        tags = (node for node in self._nodes(inside) if isinstance(node, bs4.Tag))
        return (tag for tag in tags if tag.name.endswith(name))

    def _parent(self, node: PageElement) -> bs4.Tag | None:
        parent = node.parent
        return None if isinstance(parent, bs4.BeautifulSoup) else parent

    def _children(self, tag: bs4.Tag) -> Iterable[PageElement]:
        return tag.contents

    def attributes(self, tag: bs4.Tag) -> MutableMapping[str, Any]:
        return tag.attrs

    def get(self, tag: Node, attribute: str) -> str:
        """The value of an attribute, joined if BeautifulSoup has a list of words."""
        value = tag.attrs.get(attribute)
        return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value or "")

    def set(self, tag: Node, attribute: str, value: str) -> None:
        is_list = isinstance(tag.attrs[attribute], list)
        tag.attrs[attribute] = value.split() if is_list else value

    def texts(self, element: Node) -> Sequence[tuple[Any, str]]:
        """The text of a comment, or of an element without elements in it."""
        if isinstance(element, NavigableString):
            return (((element,), str(element)),)
        if any(isinstance(node, bs4.Tag) for node in element.contents):
            return ()
        # Comments and instructions within a text are not part of it.
        pieces = [
            node
            for node in element.contents
            if not isinstance(node, PreformattedString) or isinstance(node, CData)
        ]
        return ((pieces, "".join(pieces)),) if pieces else ()

    def set_text(self, element: Node, holder: Node, text: str) -> Node:
        first, *others = holder
        made = type(first)(text)
        first.replace_with(made)
        for piece in others:
            piece.extract()
        return made if first is element else element

    def remove(self, element: Node) -> None:
        element.unwrap()


def _with_namespace(attribute: str) -> str:
    namespace = getattr(attribute, "namespace", None)
    return f"{{{namespace}}}{attribute.rpartition(':')[2]}" if namespace else attribute
