"""The HTML of RSS items: on the layers alone, or on the item's link (the policy `item_links`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.references import xml
from relbase.rewriting.xml_bases import Lines, shown, state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


class Items:
    """The items of a feed, and what their links would make of their HTML."""

    __slots__ = ("_differs", "_end", "_item", "_lines", "_link", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._lines = Lines(text)
        self._item: xml.Element | None = None
        self._link: xml.Attribute | None = None
        self._end = -1
        self._differs = False

    def enter(self, item: xml.Element) -> None:
        """Go into an item, which is over where the next one begins."""
        self._item = item
        self._link = None
        self._end = -1

    def visit(
        self,
        slot: xml.Slot,
        context: Context,
        visit: Callable[[xml.Slot, Context], Iterable[Item]],
    ) -> Iterator[Item]:
        """The items of HTML in a feed, as the policy has it.

        Args:
            slot: of its text.
            context: of its element.
            visit: makes the items.
        """
        task = context.task
        if task.policy.item_links:
            yield from visit(slot, self._on_link(slot, context))
            return
        found = list(visit(slot, context))
        yield from found
        if not task.edits_only or self._differs:
            return
        edits = [item for item in found if isinstance(item, Edit)]
        if not edits:
            return
        other = self._on_link(slot, context)
        if other is context or _agree(edits, other):
            return
        alone = replace(other, task=replace(task, room=None))
        if edits != [item for item in visit(slot, alone) if isinstance(item, Edit)]:
            self._differs = True
            text = (
                "some readers resolve the HTML of an item on its link, here "
                f"{other.base.url[:200]!r}, with other results: the policy item_links does so"
            )
            span = Span(slot.value.start, slot.value.end)
            yield Note(Reason.ITEM_LINK, context.part, span, text)

    def _on_link(self, slot: xml.Slot, context: Context) -> Context:
        """The context on the link of the item that a text stands in, if there is one."""
        item = self._item
        if item is None:
            return context
        if self._end < 0:
            self._end, self._link = xml.item_link(self._text, item)
        if self._link is None or slot.value.start > self._end:
            return context
        source = f"link of <{shown(item.name)}> at {self._lines.of(item.start)}"
        return state(self._text, self._link, source, context)[0]


def _agree(edits: list[Edit], other: Context) -> bool:
    """Whether all that was written is the site alone, and that is the link's site too."""
    written = {edit.new for edit in edits}
    if len(written) > 1 or other.resolve is None or any(edit.start < edit.end for edit in edits):
        return False
    return other.resolve("/x").encode("utf-8", "surrogatepass") == min(written) + b"/x"
