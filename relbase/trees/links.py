"""What is found in a tree: values, the references in them, and what becomes of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.edit import Edit, splice
from relbase.rewriting.items import Found, Item, Status
from relbase.view.characters import text as decode_inner

if TYPE_CHECKING:
    from collections.abc import Iterable


# What `make_links_absolute` describes.
REPORTED: Final = (Status.REWRITTEN, Status.UNRESOLVED)


class TreeLink(NamedTuple):
    """One link in a tree. The first four fields are those of lxml's `iterlinks`.

    Args:
        element: Node of the tree; a comment for a link in a conditional comment.
        attribute: Name as the tree has it; None for text.
        reference: As the author wrote it.
        position: Where it begins in the value or text, in characters.
        url: What the reference resolves to; None if unresolved.
        status: Whether it was rewritten, is absolute, was kept or is unresolved.
    """

    element: Any
    attribute: str | None
    reference: str
    position: int
    url: str | None
    status: Status


class Settled(NamedTuple):
    """What a value becomes, and the references in it: each with its place, its URL and status.

    `stays` is a value that does not change, and holds nothing that cannot be resolved.
    """

    text: str | None
    found: tuple[tuple[str, int, str | None, Status], ...]
    stays: bool


class Value(NamedTuple):
    """One value or text of a tree that holds references."""

    element: Any  # whose it is
    holder: Any  # the element, or what holds the text
    attribute: str | None  # its name, None for text
    settled: Settled  # what it becomes

    def links(self) -> list[TreeLink]:
        """The references in it."""
        return [TreeLink(self.element, self.attribute, *found) for found in self.settled.found]

    def reported(self) -> list[TreeLink]:
        """Those that change, or cannot be resolved."""
        element, _, attribute, (_, every, _) = self
        # As `TreeLink(...)`, in half the time.
        return [
            tuple.__new__(TreeLink, (element, attribute, *found))
            for found in every
            if found[3] in REPORTED
        ]

    def failed(self) -> list[TreeLink]:
        """Those that cannot be resolved."""
        return [link for link in self.links() if link.status is Status.UNRESOLVED]


NOTHING: Final = Settled(None, (), stays=True)


def settled_by(text: bytes, items: Iterable[Item]) -> Settled:
    """Return what a text becomes by the items of a visit."""
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
    new = decode_inner(splice(text, edits)) if edits else None
    return Settled(new, tuple(found), not edits and all(one[3] not in REPORTED for one in found))
