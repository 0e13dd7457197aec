"""What the trees of all packages have in common, and what a walk needs of them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from relbase.expressions import regex
from relbase.html.foreign import HTML
from relbase.html.vocabulary import Nested, Row, counting
from relbase.rewriting.outcomes import Status
from relbase.trees.markup import COMMENT, IN_BARE, TOP, Around, Candidate, ElementRow, Known, Scope
from relbase.view.characters import encode_inner
from relbase.xml.item_link import FEEDS, ITEM_NAMES, LINKING, OF_RSS, WORST, link_rank

if TYPE_CHECKING:
    from relbase.policy import Policy

# A node of any package; none has types that help here.
Node: TypeAlias = Any


class TreeLink(NamedTuple):
    """One link in a tree. The first four fields are those of lxml's `iterlinks`.

    Args:
        element: Node of the tree; a comment for a link in a conditional comment.
        attribute: Name as the tree has it; None for text.
        reference: Without the escapes of CSS or of a document in `srcdoc`.
        position: Where it begins in the value or text as it stands, in characters.
        url: What the reference resolves to; None if unresolved.
        status: Whether it was rewritten, is absolute, was kept or is unresolved.
        end: Where it ends, as `position`.
    """

    element: Any
    attribute: str | None
    reference: str
    position: int
    url: str | None
    status: Status
    end: int


# The links that `make_links_absolute` returns.
REPORTED: Final = (Status.REWRITTEN, Status.UNRESOLVED)


class Value(NamedTuple):
    """One value or text of a tree that holds references."""

    holder: Any  # the element, or what holds the text
    written: str  # as it stands
    text: str | None  # what it becomes; None if unchanged
    links: list[TreeLink]  # the references in it

    def failed(self) -> list[TreeLink]:
        return [link for link in self.links if link.status is Status.UNRESOLVED]


_conditional: Final = regex(r"\[if[^\]>]*+\]>", re.IGNORECASE).match


# Markup without any of these holds no reference: of attributes without a value, two do (rule 6).
_may_hold: Final = regex(r"[=(@]|href|action", re.IGNORECASE).search


def is_conditional(comment: str | None) -> bool:
    """Whether a comment is a conditional comment, which hides markup."""
    return bool(comment and _may_hold(comment) and _conditional(comment))


_MOST_COUNTED: Final = 32
_LONGEST_COUNTED: Final = 64  # in characters


class Tree:
    """A tree of one package, or a part of one."""

    # What each package implements in its own way.
    XML_BASE: str  # how the tree names the attribute
    _nodes: Callable[[Node], Iterable[Node]]  # yields an element and what is inside it, in order
    _tag: Callable[[Node], Any]  # the name of an element as lxml has it; else "" or not a str
    _aside: Callable[[Node], ElementRow | None]  # for other nodes: COMMENT, SHEET or None
    _keys: Callable[[Node], Iterable[str]]  # the names of its attributes as lxml has them
    _named: Callable[[str, Node], Iterable[Node]]  # the elements with a local name inside another
    _parent: Callable[[Node], Node]
    _children: Callable[[Node], Iterable[Node]]
    attributes: Callable[[Node], MutableMapping[str, Any]]
    spelled: Callable[[Node, str], str]  # how the element names an attribute
    get: Callable[[Node, str], str]  # the value of an attribute that is there
    set: Callable[[Node, str, str], None]
    # The text of an element, a comment or an instruction, with what holds it; nothing for an
    # element that contains others.
    texts: Callable[[Node], Sequence[tuple[Any, str]]]
    # Replaces the text in its holder, and returns the element, or the node that replaces it.
    set_text: Callable[[Node, Any, str], Node]
    remove: Callable[[Node], None]  # removes an element, but not the text after it

    # Returns the scope of an xml:base inside another scope. A walk sets it; before, there is none.
    enter: Callable[[str, Scope | None], Scope | None] = staticmethod(lambda _stated, _scope: None)
    is_hidden = False  # whether a `<base>` in the place of the last candidate does not count
    url: str | None = None  # the retrieval URL, if the tree knows it

    def __init__(
        self,
        part: Node,
        root: Node,
        top: Node,
        label: str | None,
        policy: Policy,
        *,
        is_html: bool,
    ) -> None:
        self._part = part
        self._root, self._top = root, top
        self._is_html = is_html
        self.label = label  # of the document's charset, if the tree knows it
        self.known = Known(
            self._name(top), policy, self._keys(top), is_html=is_html
        )  # top: the first element

    def bases(self, *, whole: bool) -> Iterator[Node]:
        """The `<base>` elements with an href that a browser sees, in order."""
        if not (self._is_html or self.known.is_shown):  # the document of a feed is none of HTML
            return
        for base in self._named("base", self._root if whole else self._part):
            if "href" in self.attributes(base):
                around = self._around(base)
                kind = self.known.kind(self._name(base), around)
                if kind.is_base and not (around.hidden or around.opaque):
                    yield base

    def write(self, value: Value) -> list[TreeLink]:
        """Write the new value, and return its links that change or cannot be resolved."""
        holder, _, text, every = value
        links = [link for link in every if link[5] in REPORTED]
        if text is None:
            return links
        element, attribute = every[0][:2]
        try:
            if attribute is not None:
                self.set(holder, attribute, text)
                return links
            made = self.set_text(element, holder, text)
        except ValueError:  # lxml: control characters, which HTML may hold and XML may not
            return [link._replace(url=None, status=Status.UNRESOLVED) for link in every]
        return links if made is element else [link._replace(element=made) for link in links]

    def discard(self, value: Value) -> list[TreeLink]:
        """Remove a value, and return its links that cannot be resolved."""
        element, attribute = value.links[0][:2]
        if attribute is None:
            self.set_text(element, value.holder, "")
        else:
            del self.attributes(element)[attribute]
        return value.failed()

    def drop_bases(self) -> None:
        """Remove every `<base href>` that counted, or could."""
        for element in list(self.bases(whole=False)):
            self.remove(element)

    def said(self, candidate: Candidate, name: bytes) -> str:
        """The value of an attribute of the vocabulary; "" if it is missing."""
        element, _, _, keys, *_ = candidate
        for key in self.known.spelled(name):
            if key in keys:
                return self.get(element, self.spelled(element, key))
        return ""

    def rows(self, candidate: Candidate) -> tuple[Row, ...]:
        """The rows of an attribute, or of the text, that count here, in the form that counts."""
        element, kind, key, *_ = candidate
        get = self.get
        asked = (key, *[get(element, name) for name in kind.asks[key]])
        rows = kind.counted.get(asked)
        if rows is None:

            def value_of(name: bytes) -> bytes:
                return encode_inner(self.said(candidate, name)).lower()

            alone = (counting((row,), value_of, extended=-1) for row in kind.rows[key])
            rows = tuple(filter(None, alone))
            if len(kind.counted) < _MOST_COUNTED and len(repr(asked)) < _LONGEST_COUNTED:
                kind.counted[asked] = rows
        return rows

    def has_sheets(self) -> bool:
        """Whether the document links or imports style sheets."""
        styles = (self.texts(style) for style in self._named("style", self._root))
        if any("@import" in text.lower() for texts in styles for _, text in texts):
            return True
        links = (self.get(link, "rel") for link in self._named("link", self._root))
        return any("stylesheet" in rel.lower() for rel in links if rel)

    def site(self) -> str:
        """The URL of the site of a feed, as it states it; "" if it states none."""
        for feed in (self._top, *self._children(self._top)):
            if self._name(feed).rpartition("}")[2].encode() in FEEDS:
                return self.item_link(feed)
        return ""

    def item_link(self, item: Node) -> str:
        """The link of a feed's item, or of a feed, as `item_link.link_rank` knows it."""
        own, _, local = self._name(item).rpartition("}")
        about = item, COMMENT, "", self._keys(item), None, None
        best, link = WORST, "" if local != "item" else self.said(about, b"rdf:about")
        for child in self._children(item):
            space, _, name = self._name(child).rpartition("}")
            if name.encode() in ITEM_NAMES:
                break
            if name.encode() not in LINKING:
                continue

            def value(key: bytes, child: Node = child) -> bytes:
                return encode_inner(self.get(child, key.decode()) or "").lower()

            text = "".join(text for _, text in self.texts(child)).strip()
            how = {"is_own": space == own, "is_atom": local.encode() not in OF_RSS}
            rank = link_rank(name.encode(), value, encode_inner(text), **how)
            if rank < best:
                best, link = rank, text or self.get(child, "href")
        return link

    def _name(self, node: Node) -> str:
        """The name of an element as lxml has it, "" for anything else."""
        name = self._tag(node)
        return name if isinstance(name, str) else ""

    def _scope(self, element: Node, here: Around) -> Scope | None:
        """The xml:base that applies in an element, and to the element itself."""
        stated = "" if self._is_html else self.get(element, self.XML_BASE)
        return self.enter(stated, here.scope) if stated else here.scope

    def _is_bare(self, kind: ElementRow, element: Node) -> bool:
        """Whether what should be escaped HTML is elements, in no namespace of their own."""
        if self._is_html or not kind.rows.get("") or kind.vocabulary == HTML:
            return False
        rows = self.rows((element, kind, "", self._keys(element), None, None))
        if not rows or rows[0].syntax is not Nested.HTML:
            return False
        names = filter(None, map(self._name, self._children(element)))
        return any(self.known.kind(name, IN_BARE).vocabulary == HTML for name in islice(names, 1))

    def _around(self, element: Node) -> Around:
        around = TOP
        ancestors = []
        while (element := self._parent(element)) is not None:
            ancestors.append(element)
        # A list frees its last item first, and lxml then climbs to an ancestor that is still alive.
        ancestors.reverse()
        for ancestor in ancestors:
            kind = self.known.kind(self._name(ancestor), around)
            scope, is_bare = self._scope(ancestor, around), self._is_bare(kind, ancestor)
            around = self.known.inside(kind, around, ancestor, scope, is_bare=is_bare)
        return around

    def candidates(self) -> Iterator[Candidate]:  # noqa: C901 (one loop over all nodes)
        """What may hold references, in order, each with the scope and item that apply there.

        Each node is looked at: asking lxml to search for names and attributes is not faster.
        """
        part, is_html, known = self._part, self._is_html, self.known
        tag_of, keys_of, parent = self._tag, self._keys, self._parent
        # By the namespace around, then by name: the row, and what each node needs of it.
        kinds_inside: dict[str, dict[str, tuple[ElementRow, Any, bool, bool]]] = defaultdict(dict)
        around, scope = self._around(part), None
        # The ancestors of a node that matter, with what is around their children; innermost last.
        arounds = [(None, TOP)] if around == TOP else [(None, TOP), (parent(part), around)]
        innermost, here = arounds[-1]
        kinds, is_followed = kinds_inside[here.namespace], here is not TOP or not is_html
        self.is_hidden = here.hidden
        for node in self._nodes(part):
            if innermost is not None and innermost is not (above := parent(node)):
                while innermost is not None and innermost is not above:
                    arounds.pop()
                    innermost, here = arounds[-1]
                kinds, is_followed = kinds_inside[here.namespace], here is not TOP or not is_html
                self.is_hidden = here.hidden
            tag = tag_of(node)
            row = kinds.get(tag)
            if row is None:
                if not tag or not isinstance(tag, str):
                    if not here.opaque and (aside := self._aside(node)):
                        yield node, aside, "", (), None, None
                    continue
                kind = known.kind(tag, here)
                row = kinds[tag] = kind, kind.plain, bool(kind.rows[""]), kind.is_special
            kind, plain, has_text, is_special = row
            if not is_html:
                scope = self._scope(node, here)
            if not here.opaque:
                keys = keys_of(node)
                for key in keys:
                    if key in plain:
                        item = here.item if scope is here.scope else None
                        yield node, kind, key, keys, scope, item
                if has_text:
                    yield node, kind, "", keys, scope, here.item if scope is here.scope else None
            if (is_followed or is_special) and len(node):
                is_bare = self._is_bare(kind, node)
                innermost, here = node, known.inside(kind, here, node, scope, is_bare=is_bare)
                arounds.append((innermost, here))
                kinds, is_followed = kinds_inside[here.namespace], True
                self.is_hidden = here.hidden
