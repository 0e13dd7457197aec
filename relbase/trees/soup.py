"""BeautifulSoup's trees, by any of its parsers: html.parser, lxml, html5lib, xml.

To mind: `Tag` answers to every name (`tag.anything` is a search), so only names that it has are
asked for. Values may be lists, where BeautifulSoup takes an attribute for a list of words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bs4
from bs4.element import (
    CData,
    Comment,
    NavigableString,
    PreformattedString,
    XMLProcessingInstruction,
)

from relbase.trees.markup import COMMENT, SHEET, TOP, Around, Known, Spot, names_html
from relbase.trees.tree import Node, Tree, is_conditional

if TYPE_CHECKING:
    from collections.abc import Iterator, MutableMapping, Sequence

    from bs4.element import PageElement


def soup_tree(tree: object) -> SoupTree:
    """Return a soup, or a tag in one, as the walk sees it."""
    if not isinstance(tree, bs4.Tag):
        fix = "give the soup, or a tag: of a list of tags one at a time"
        raise TypeError(f"a {type(tree).__name__} holds no links: {fix}")
    if vars(tree).get("_decomposed"):  # `tree.decomposed` looks for an element of that name
        raise ValueError("the tag was destroyed by decompose(): find it again, or parse again")
    return SoupTree(tree)


class SoupTree(Tree):
    """A soup, or the part of one that a tag begins."""

    XML_BASE = "xml:base"

    def __init__(self, tag: bs4.Tag) -> None:
        root = tag
        while root.parent is not None:
            root = root.parent
        top = next((node for node in root.contents if isinstance(node, bs4.Tag)), root)
        if isinstance(root, bs4.BeautifulSoup):
            is_xml = root.is_xml
        else:
            is_xml, top = bool(root._is_xml), root  # noqa: SLF001 (a tag that was taken out)
        is_html = not is_xml or (not top.namespace and names_html(top.name))
        label = vars(root).get("original_encoding")
        super().__init__(tag, root, top, label, is_html=is_html)

    def spots(self, known: Known) -> Iterator[Spot]:
        """What may hold references in this part, in the order of the document."""
        # What is around the children of a tag, for those where it is not what it is at the top.
        arounds: dict[int, Around] = {}
        if self._part.parent is not None:
            arounds[id(self._part.parent)] = self._around(self._part, known)
        for node in _nodes(self._part):
            here = arounds.get(id(node.parent), TOP) if arounds else TOP
            if isinstance(node, bs4.Tag):
                kind = known.kind(self._name(node), here)
                scope = self._scope(node, here)
                if kind.is_special or here is not TOP or not self._is_html:
                    arounds[id(node)] = known.inside(kind, here, scope)
                # How lxml would name the attributes of XML, and how they are named.
                keys: Any = node.attrs
                if not self._is_html:
                    keys = {_with_namespace(key): key for key in node.attrs}
                if (kind.speaks or not kind.own.isdisjoint(keys)) and not here.opaque:
                    yield Spot(node, kind, list(keys) if self._is_html else keys, scope)
            elif isinstance(node, PreformattedString) and not here.opaque:
                is_sheet = isinstance(node, XMLProcessingInstruction)
                if isinstance(node, Comment) and self._is_html and is_conditional(node):
                    yield Spot(node, COMMENT)
                elif is_sheet and node.startswith("xml-stylesheet"):
                    yield Spot(node, SHEET)

    def _name(self, tag: bs4.Tag) -> str:
        """The name of a tag as lxml has it; in HTML without the namespace, which html5lib gives."""
        if self._is_html or not tag.namespace:
            return tag.name
        return f"{{{tag.namespace}}}{tag.name.rpartition(':')[2]}"

    def _named(self, name: str, inside: bs4.Tag) -> Iterator[bs4.Tag]:
        tags = (node for node in _nodes(inside) if isinstance(node, bs4.Tag))
        return (tag for tag in tags if tag.name.endswith(name))

    def _ancestors(self, element: bs4.Tag) -> Iterator[bs4.Tag]:
        return (one for one in element.parents if not isinstance(one, bs4.BeautifulSoup))

    def _children(self, element: bs4.Tag) -> Iterator[bs4.Tag]:
        return (node for node in element.contents if isinstance(node, bs4.Tag))

    def _attributes(self, element: bs4.Tag) -> MutableMapping[str, Any]:
        return element.attrs

    def get(self, element: Node, attribute: str) -> str:
        """The value of an attribute."""
        return _joined(element.attrs.get(attribute))

    def set(self, element: Node, attribute: str, value: str) -> None:
        """Give an attribute another value."""
        is_list = isinstance(element.attrs[attribute], list)
        element.attrs[attribute] = value.split() if is_list else value

    def texts(self, element: Node) -> Sequence[tuple[Any, str]]:
        """The text of an element, unless there are elements in it, or of a comment."""
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
        """Write another text in place of what is held; return the element, or what replaces it."""
        first, *others = holder
        made = type(first)(text)
        first.replace_with(made)
        for piece in others:
            piece.extract()
        return made if first is element else element

    def remove(self, element: Node) -> None:
        """Take an element away, and leave what stands in it and after it."""
        element.unwrap()


def _nodes(tag: bs4.Tag) -> Iterator[PageElement]:
    """A tag and all that is inside, in the order of the document."""
    last: PageElement | None = tag
    while last is not None and last.next_sibling is None:
        last = last.parent
    end = None if last is None else last.next_sibling
    node: PageElement | None = tag
    if isinstance(tag, bs4.BeautifulSoup):  # whose own `next_element` is not set
        node = tag.contents[0] if tag.contents else None
    while node is not None and node is not end:
        yield node
        node = node.next_element


def _with_namespace(attribute: str) -> str:
    namespace = getattr(attribute, "namespace", None)
    return f"{{{namespace}}}{attribute.rpartition(':')[2]}" if namespace else attribute


def _joined(value: object) -> str:
    """A value as text: BeautifulSoup has lists of words."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value or "")
