"""A walk over a tree: which values hold references, what these are, and what they become.

Strategy: a `Tree` finds the elements that may hold references. The vocabulary chooses among their
attributes, and the visit of each syntax, which rewrites bytes, reads the value: encoded as UTF-8
going in, decoded coming out. What a URL becomes is remembered, since pages repeat their links.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from relbase.bases.layers import UNKNOWN, Base, Layer, Statement, establish
from relbase.bases.retrieval import statements
from relbase.edit import Edit, splice
from relbase.formats import reader
from relbase.references.foreign import HTML
from relbase.references.values import Syntax, clean
from relbase.references.vocabulary import choose, choose_text
from relbase.rewriting.context import MAX_GROWTH_BYTES, Context, Room, Task
from relbase.rewriting.html import VISITS, visit_comment
from relbase.rewriting.items import Found
from relbase.rewriting.reference import Place, on_codebase
from relbase.view.characters import inner as encode_inner
from relbase.view.characters import text as decode_inner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from relbase.policy import Policy
    from relbase.references.vocabulary import Row
    from relbase.rewriting.items import Item, Status
    from relbase.rewriting.reference import Codebase
    from relbase.url.resolver import Profile


class TreeLink(NamedTuple):
    """One reference in a tree, the first four fields as of lxml's `iterlinks`.

    Args:
        element: of the tree; a comment for what stands in a conditional one.
        attribute: its name as the tree has it, None for text.
        reference: as the author wrote it.
        position: where it begins in the value or the text, in characters.
        url: what it resolves to, None when unresolved.
        status: what became of it.
    """

    element: Any
    attribute: str | None
    reference: str
    position: int
    url: str | None
    status: Status


class Spot(NamedTuple):
    """An element or a comment that may hold references.

    Args:
        element: of the tree.
        namespace: `HTML`, `SVG` or `MATH`; "" for a comment.
        name: of the element in lower case, without a prefix of a namespace.
        names: its attributes by the names that the vocabulary has for them.
    """

    element: Any
    namespace: str
    name: bytes
    names: Mapping[bytes, str]


class Tree(Protocol):
    """A tree of one package, or a part of one: what the walk asks of it."""

    # What the document was retrieved from, where the tree knows it.
    url: str | None
    # The label of the document's charset, where the tree knows it.
    encoding: str | None

    def bases(self, *, whole: bool) -> Iterator[Any]:
        """The `<base>` elements with an href that a browser sees, in order.

        Args:
            whole: of the whole tree, also where this is a part of it.
        """

    def has_sheets(self) -> bool:
        """Whether the document links or imports style sheets."""

    def spots(self, *, extended: bool) -> Iterator[Spot]:
        """What may hold references in this part, in the order of the document."""

    def get(self, element: Any, attribute: str) -> str:  # noqa: ANN401
        """The value of an attribute."""

    def set(self, element: Any, attribute: str, value: str) -> None:  # noqa: ANN401
        """Give an attribute another value."""

    def texts(self, element: Any) -> Iterable[tuple[Any, str]]:  # noqa: ANN401
        """The pieces of an element's text, or the one of a comment, each with what holds it."""

    def set_text(self, holder: Any, text: str) -> None:  # noqa: ANN401
        """Write another text in place of a piece."""

    def remove(self, element: Any) -> None:  # noqa: ANN401
        """Take an element away, and leave what stands after it."""


class Value(NamedTuple):
    """One value or text of a tree that holds references.

    Args:
        holder: the element, or what holds the piece of text.
        attribute: its name, None for text.
        text: what is to be written, None to leave it.
        links: the references in it.
    """

    holder: Any
    attribute: str | None
    text: str | None
    links: list[TreeLink]


class _Settled(NamedTuple):
    """What a value becomes, and the references in it: each with its place, its URL and status."""

    text: str | None
    found: tuple[tuple[str, int, str | None, Status], ...]


class Walk:
    """A tree that is looked into for one call.

    Args:
        tree: the tree.
        url: the retrieval URL, None when it is not given.
        profile: the algorithm that resolves.
        policy: what is left alone.
        resolve_base_href: whether `<base>` counts.
    """

    __slots__ = ("_around", "_inside", "_policy", "_remembered", "_tree")

    def __init__(
        self,
        tree: Tree,
        url: str | None,
        profile: Profile,
        policy: Policy,
        *,
        resolve_base_href: bool,
    ) -> None:
        task = Task(profile, policy, reader, room=Room(MAX_GROWTH_BYTES))
        retrieved, _ = statements(url or tree.url, ())
        base, _ = establish(retrieved, UNKNOWN, profile=profile)
        self._tree = tree
        self._policy = policy
        self._around = Context(base, task, encoding=tree.encoding or "utf-8")
        embedded = self._embedded() if resolve_base_href else self._around.base
        self._inside = replace(self._around, base=embedded, sheets=tree.has_sheets)
        self._remembered: dict[tuple[str, int, bool], _Settled] = {}

    def _embedded(self) -> Base:
        """The base that the document states itself (RFC 1808 §3.1), or that around it."""
        around, element = self._around, next(self._tree.bases(whole=True), None)
        if element is None:
            return around.base
        value = clean(self._tree.get(element, "href").strip(_C0_AND_SPACE))
        stated = (Statement(Layer.EMBEDDED, value, "<base href>"),)
        profile, charset = around.task.profile, around.encoding
        return establish(stated, around.base, profile=profile, charset=charset)[0]

    def values(self) -> Iterator[Value]:
        """The values that hold references, in the order of the document."""
        extended = self._policy.extended
        for spot in self._tree.spots(extended=extended):
            if not spot.namespace:
                yield from self._comment(spot)
                continue
            says = partial(self._says, spot)
            for name, row in choose(spot.namespace, spot.name, spot.names, says, extended=extended):
                attribute = spot.names[name]
                value = self._tree.get(spot.element, attribute)
                yield _value(spot, spot.element, attribute, self._settle(spot, name, row, value))
            row_of_text = choose_text(spot.namespace, spot.name, says)
            if row_of_text is not None:
                for holder, text in self._tree.texts(spot.element):
                    yield _value(spot, holder, None, self._settle(spot, b"", row_of_text, text))

    def write(self, value: Value) -> bool:
        """Write what a value becomes; False where the tree does not take it."""
        assert value.text is not None
        try:
            if value.attribute is None:
                self._tree.set_text(value.holder, value.text)
            else:
                self._tree.set(value.holder, value.attribute, value.text)
        except ValueError:  # lxml: control characters, which HTML may hold and XML may not
            return False
        return True

    def drop_base(self) -> None:
        """Take every `<base>` with an href away that decided or could."""
        for element in list(self._tree.bases(whole=False)):
            self._tree.remove(element)

    def _says(self, spot: Spot, name: bytes) -> bytes:
        attribute = spot.names.get(name)
        if attribute is None:
            return b""
        return encode_inner(self._tree.get(spot.element, attribute)).lower()

    def _settle(self, spot: Spot, name: bytes, row: Row, value: str) -> _Settled:
        is_base = spot.name == b"base" and spot.namespace == HTML
        codebase = self._codebase(spot) if row.on_codebase else None
        is_remembered = row.syntax is Syntax.URL and codebase is None
        # Rows stay as long as the process: the table of the vocabulary holds them.
        key = (value, id(row), is_base)
        if is_remembered and key in self._remembered:
            return self._remembered[key]
        place = Place(decode_inner(spot.name), decode_inner(name), row, codebase)
        context = self._around if is_base else self._inside
        text = encode_inner(value)
        settled = _settled(text, VISITS[row.syntax](text, context, place))
        if is_remembered:
            self._remembered[key] = settled
        return settled

    def _codebase(self, spot: Spot) -> Codebase | None:
        attribute = spot.names.get(b"codebase")
        if attribute is None:
            return None
        url = clean(self._tree.get(spot.element, attribute).strip(_C0_AND_SPACE))
        return on_codebase(url, self._inside) if url else None

    def _comment(self, spot: Spot) -> Iterator[Value]:
        """The one value of a conditional comment, in which markup is hidden."""
        for holder, written in self._tree.texts(spot.element):
            text = b"<!--%b-->" % encode_inner(written)
            settled = _settled(text, visit_comment(text, self._inside, self._around))
            found = [
                (reference, position - len("<!--"), url, status)
                for reference, position, url, status in settled.found
            ]
            new = None if settled.text is None else settled.text[len("<!--") : -len("-->")]
            yield _value(spot, holder, None, _Settled(new, tuple(found)))


_C0_AND_SPACE: Final = "".join(map(chr, range(0x21)))


def _settled(text: bytes, items: Iterable[Item]) -> _Settled:
    edits: list[Edit] = []
    found: list[tuple[str, int, str | None, Status]] = []
    is_ascii = text.isascii()
    for item in items:
        if isinstance(item, Edit):
            edits.append(item)
        elif isinstance(item, Found):
            start = item.span.start
            position = start if is_ascii else len(decode_inner(text[:start]))
            found.append((item.reference, position, item.url, item.status))
    return _Settled(decode_inner(splice(text, edits)) if edits else None, tuple(found))


def _value(spot: Spot, holder: Any, attribute: str | None, settled: _Settled) -> Value:  # noqa: ANN401
    links = [TreeLink(spot.element, attribute, *found) for found in settled.found]
    return Value(holder, attribute, settled.text, links)
