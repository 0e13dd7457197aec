"""lxml's trees: of `lxml.html`, and of `lxml.etree` with or without namespaces.

To mind: an element of lxml is a proxy that lives as long as somebody holds it; where its place in
the tree is remembered, so is the proxy. `tail`, the text after an element, belongs to the element,
and must not go with it.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from relbase.references.foreign import HTML
from relbase.trees.markup import (
    NAMESPACES,
    SPECIAL,
    TEXTS,
    TOP,
    XHTML_URI,
    Around,
    inside,
    known,
    own_namespace,
)
from relbase.trees.walk import Spot
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


def lxml_tree(tree: Any) -> LxmlTree:  # noqa: ANN401 (lxml has no types)
    """Return an element, or an ElementTree, as the walk sees it."""
    element = tree.getroot() if hasattr(tree, "getroot") else tree
    if element is None:
        raise ValueError("the ElementTree has no root: parse a document into it first")
    if not isinstance(element, etree._Element) or not isinstance(element.tag, str):  # noqa: SLF001
        raise TypeError(f"{tree!r:.80} is no element with links in it: give an element")
    return LxmlTree(element)


class LxmlTree:
    """A tree of lxml, or the part of one that an element begins.

    Args:
        element: the root, or the element.
    """

    __slots__ = ("_element", "_root", "_tags", "encoding", "url")

    def __init__(self, element: Any) -> None:  # noqa: ANN401
        tree = element.getroottree()
        self._element = element
        self._root = tree.getroot()
        self._tags: dict[str, tuple[str | None, bytes]] = {}
        url = tree.docinfo.URL
        self.url: str | None = url if url and _is_absolute(url) else None
        self.encoding: str | None = lookup(tree.docinfo.encoding or "")

    def bases(self, *, whole: bool) -> Iterator[Any]:
        """The `<base>` elements with an href that a browser sees, in order."""
        element = self._root if whole else self._element
        for base in element.iter("base", f"{{{XHTML_URI}}}base"):
            if base.get("href") is not None:
                around = self._around(base)
                namespace, name = self._named(base.tag)
                is_html = (namespace or own_namespace(name, around)) == HTML
                if is_html and around.namespace == HTML and not (around.hidden or around.opaque):
                    yield base

    def has_sheets(self) -> bool:
        """Whether the document links or imports style sheets."""
        if any("@import" in (style.text or "").lower() for style in self._root.iter("{*}style")):
            return True
        links = self._root.iter("{*}link")
        return any("stylesheet" in (link.get("rel") or "").lower() for link in links)

    def spots(self, *, extended: bool) -> Iterator[Spot]:
        """What may hold references in this part, in the order of the document."""
        names = known(extended=extended)
        names_of = names.keys()
        arounds: dict[Any, Around] = {}
        around = self._around(self._element)
        if around != TOP:
            arounds[self._element] = around  # of the first: its own, not that of its children
        left = 0  # how many of the nodes that come are inside of a special element
        for node in self._nodes():
            tag = node.tag
            if tag.__class__ is not str:
                if tag is etree.Comment and _is_conditional(node.text):
                    yield Spot(node, "", b"", {})
                continue
            keys = node.keys()
            is_candidate = keys and not names_of.isdisjoint(keys)
            del left
            left = 0
            if is_candidate or arounds:
                pass
            yield from ()
