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

from relbase.trees.markup import (
    COMMENT,
    SHEET,
    TOP,
    Around,
    Known,
    Spot,
    is_conditional,
    is_sheet_link,
    names_html,
)
from relbase.view.charset import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from bs4.element import PageElement

    from relbase.trees.markup import Named, Scope


def soup_tree(tree: object) -> SoupTree:
    """Return a soup, or a tag in one, as the walk sees it."""
    if not isinstance(tree, bs4.Tag):
        fix = "give the soup, or a tag: of a list of tags one at a time"
        raise TypeError(f"a {type(tree).__name__} holds no links: {fix}")
    if vars(tree).get("_decomposed"):  # `tree.decomposed` looks for an element of that name
        raise ValueError("the tag was destroyed by decompose(): find it again, or parse again")
    return SoupTree(tree)


class SoupTree:
    """A soup, or the part of one that a tag begins."""

    __slots__ = ("_is_html", "_root", "_tag", "encoding", "url")

    def __init__(self, tag: bs4.Tag) -> None:
        root = tag
        while root.parent is not None:
            root = root.parent
        self._tag = tag
        self._root = root
        first = next((node for node in root.contents if isinstance(node, bs4.Tag)), root)
        if isinstance(root, bs4.BeautifulSoup):
            is_xml = root.is_xml
        else:
            is_xml, first = bool(root._is_xml), root  # noqa: SLF001 (a tag that was taken out)
        self._is_html = not is_xml or (not first.namespace and names_html(first.name))
        self.url: str | None = None
        label = vars(root).get("original_encoding")
        self.encoding = lookup(label) if isinstance(label, str) else None

    def bases(self, *, whole: bool) -> Iterator[Any]:
        """The `<base>` elements with an href that a browser sees, in order."""
        known = self.known(extended=False)
        for base in _tags(self._root if whole else self._tag):
            if base.name.endswith("base") and base.attrs.get("href") is not None:
                around = self._around(base, known)
                kind = known.kind(self._name(base), around)
                if kind.is_base and not (around.hidden or around.opaque):
                    yield base

    def has_sheets(self) -> bool:
        """Whether the document links or imports style sheets."""
        for tag in _tags(self._root):
            if tag.name.endswith("link") and is_sheet_link(_joined(tag.attrs.get("rel"))):
                return True
            if tag.name.endswith("style") and "@import" in (tag.string or "").lower():
                return True
        return False

    def spots(self, known: Known) -> Iterator[Spot]:
        """What may hold references in this part, in the order of the document."""
        # What is around the children of a tag, for those where it is not what it is at the top.
        arounds: dict[int, Around] = {}
        if self._tag.parent is not None:
            arounds[id(self._tag.parent)] = self._around(self._tag, known)
        for node in _nodes(self._tag):
            here = arounds.get(id(node.parent), TOP) if arounds else TOP
            if isinstance(node, bs4.Tag):
                kind = known.kind(self._name(node), here)
                scope = self._scope(node, here)
                if kind.is_special or here is not TOP or not self._is_html:
                    arounds[id(node)] = known.inside(kind, here, scope)
                keys: Any = node.attrs if self._is_html else self._spelled(node)
                if (kind.speaks or not kind.own.isdisjoint(keys)) and not here.opaque:
                    yield Spot(node, kind, list(keys) if self._is_html else keys, scope)
            elif isinstance(node, PreformattedString) and not here.opaque:
                yield from self._instruction(node)

    def _instruction(self, node: PreformattedString) -> Iterator[Spot]:
        """A conditional comment of HTML, or an `<?xml-stylesheet?>`."""
        if isinstance(node, Comment) and self._is_html and is_conditional(node):
            yield Spot(node, COMMENT)
        elif isinstance(node, XMLProcessingInstruction) and node.startswith("xml-stylesheet"):
            yield Spot(node, SHEET)

    def _scope(self, tag: bs4.Tag, here: Around) -> Scope | None:
        """The xml:base that is in force in a tag: its own one counts for itself too."""
        stated = None if self._is_html else tag.attrs.get("xml:base")
        return here.scope if stated is None else (_joined(stated), here.scope)

    def _around(self, tag: bs4.Tag, known: Known) -> Around:
        """What is around a tag: from the top of the soup down to it."""
        around = TOP
        for parent in reversed(list(tag.parents)):
            if not isinstance(parent, bs4.BeautifulSoup):
                kind = known.kind(self._name(parent), around)
                around = known.inside(kind, around, self._scope(parent, around))
        return around

    def _name(self, tag: bs4.Tag) -> str:
        """The name of a tag as lxml has it; in HTML without the namespace, which html5lib gives."""
        if self._is_html or not tag.namespace:
            return tag.name
        return f"{{{tag.namespace}}}{tag.name.rpartition(':')[2]}"

    @staticmethod
    def _spelled(tag: bs4.Tag) -> dict[str, str]:
        """The attributes of a tag of XML as lxml names them, and as they are."""
        return {_with_namespace(key): key for key in tag.attrs}

    def known(self, *, extended: bool, named: Named = ()) -> Known:
        """What is known of the names of the tree."""
        first = next(iter(_tags(self._root)), self._root)
        return Known(self._name(first), is_html=self._is_html, extended=extended, named=named)

    def get(self, element: Any, attribute: str) -> str:  # noqa: ANN401
        """The value of an attribute."""
        return _joined(element.attrs[attribute])

    def set(self, element: Any, attribute: str, value: str) -> None:  # noqa: ANN401
        """Give an attribute another value."""
        is_list = isinstance(element.attrs[attribute], list)
        element.attrs[attribute] = value.split() if is_list else value

    def texts(self, element: Any) -> Sequence[tuple[Any, str]]:  # noqa: ANN401
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

    def item_link(self, element: Any, known: Known) -> str | None:  # noqa: ANN401
        """The link of the item of RSS around an element, None where there is none."""
        for around in element.parents:
            if known.is_item(self._name(around)):
                name = around.name.removesuffix("item") + "link"
                links = (one for one in around.contents if isinstance(one, bs4.Tag))
                return next((one.get_text() for one in links if one.name == name), None)
        return None

    def delete(self, element: Any, attribute: str) -> None:  # noqa: ANN401
        """Take an attribute away."""
        del element.attrs[attribute]

    def set_text(self, element: Any, holder: Any, text: str) -> Any:  # noqa: ANN401
        """Write another text in place of what is held; return the element, or what replaces it."""
        first, *others = holder
        made = type(first)(text)
        first.replace_with(made)
        for piece in others:
            piece.extract()
        return made if first is element else element

    def remove(self, element: Any) -> None:  # noqa: ANN401
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


def _tags(tag: bs4.Tag) -> Iterator[bs4.Tag]:
    for node in _nodes(tag):
        if isinstance(node, bs4.Tag):
            yield node


def _with_namespace(attribute: str) -> str:
    namespace = getattr(attribute, "namespace", None)
    return f"{{{namespace}}}{attribute.rpartition(':')[2]}" if namespace else attribute


def _joined(value: object) -> str:
    """A value as text: BeautifulSoup has lists of words."""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value or "")
