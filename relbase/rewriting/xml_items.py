"""The HTML of a feed's items: on the layers alone, or on the item's link (the policy `item_links`).

Some readers resolve what stands in an item on the item's link, which is what bloggers mean who
write `<img src="picture.png">` in a post. Where that would give other URLs, one note says how many.
To mind: most references of most feeds begin with a slash and come out alike, which is seen by what
was written; only the others are resolved a second time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.references import xml
from relbase.references.values import clean
from relbase.rewriting.items import Found, Status
from relbase.rewriting.xml_bases import shown, state
from relbase.view.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.references.xml_slots import Slot
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


class ItemLinks:
    """What links of items would make of references in their HTML."""

    __slots__ = ("_count", "_first", "_span")

    def __init__(self) -> None:
        self._count = 0
        self._first = ""
        self._span: Span | None = None

    def compare(self, found: Iterable[Item], linked: Context) -> None:
        """Count the references that come out otherwise on the link of their item."""
        for item in found:
            if isinstance(item, Found) and item.status is Status.REWRITTEN:
                url = _resolved(item.reference, linked)
                if url not in (None, item.url):
                    self._count += 1
                    if self._span is None:
                        self._span = item.span
                        self._first = f"{item.reference[:200]!r} to {str(url)[:200]!r}"

    def notes(self, part: str) -> Iterator[Note]:
        """The note on all of them, if there are any."""
        if self._count:
            links = f"{self._count} links in items" if self._count > 1 else "a link in an item"
            text = (
                f"some feed readers resolve {links} against the item's own link ({self._first}): "
                "--item-links (Policy.item_links) does the same"
            )
            yield Note(Reason.ITEM_LINK, part, self._span, text)


def _resolved(reference: str, context: Context) -> str | None:
    try:
        return None if context.resolve is None else context.resolve(clean(reference))
    except ValueError:
        return None


class Items:
    """The item that a visit of a feed is in, and what the items' links would make of their HTML."""

    __slots__ = ("_end", "_item", "_lines", "_link", "_linked", "_links", "_quick", "_text")

    def __init__(self, text: bytes, encoding: str) -> None:
        self._text = text
        self._lines = Lines(text, encoding)
        self._links = ItemLinks()
        self._item: xml.Item | None = None
        self._link: xml.Attribute | None = None
        self._end = -1
        self._linked: tuple[Context | None, Context | None] = None, None
        self._quick: bytes | None = None

    def enter(self, item: xml.Item) -> None:
        """Go into an item, which is over where the next one begins."""
        self._item = item
        self._end = -1
        self._linked = None, None
        self._quick = None

    def notes(self, around: Context) -> Iterator[Note]:
        """What is said of all items."""
        return self._links.notes(around.part)

    def visit(
        self,
        slot: Slot,
        context: Context,
        visit: Callable[[Slot, Context], Iterable[Item]],
        stated_at: int,
    ) -> Iterable[Item]:
        """The items of HTML in a feed, as the policy has it.

        An `xml:base` in the item, on the content itself or inside, is stronger than its link.
        """
        item, task = self._item, context.task
        if item is None or stated_at > item.end:
            return visit(slot, context)
        if task.policy.item_links:
            return visit(slot, self._on_link(slot, context) or context)
        if not task.edits_only:
            return visit(slot, context)
        return self._compared(slot, context, visit)

    def _compared(
        self, slot: Slot, context: Context, visit: Callable[[Slot, Context], Iterable[Item]]
    ) -> Iterator[Item]:
        """What is found in HTML, having counted what the link of its item would change."""
        edits: list[Edit] = []
        for item in visit(slot, context):
            if isinstance(item, Edit):
                edits.append(item)
            yield item
        self._compare(slot, context, visit, edits)

    def compare(
        self,
        slot: Slot,
        context: Context,
        visit: Callable[[Slot, Context], Iterable[Item]],
        stated_at: int,
        edits: list[Edit],
    ) -> None:
        """Count what the link of an item would change of the edits in its HTML."""
        if self._item is not None and stated_at <= self._item.end:
            self._compare(slot, context, visit, edits)

    def _compare(
        self,
        slot: Slot,
        context: Context,
        visit: Callable[[Slot, Context], Iterable[Item]],
        edits: list[Edit],
    ) -> None:
        origin = _origin(context.base.url)
        if all(
            self._is_of_origin(edit, origin) and self._quick_origin(slot) == origin
            for edit in edits
        ):
            return
        linked = self._on_link(slot, context)
        if linked is not None and linked.base.url != context.base.url:
            task = context.task._replace(edits_only=False, found_only=True, budget=None)
            self._links.compare(visit(slot, context.asking(task)), linked)

    def _is_of_origin(self, edit: Edit, origin: bytes) -> bool:
        """Whether a reference began with a slash: the directory of the base does not matter."""
        is_rooted = self._text.startswith(b"/", edit.start) and edit.start == edit.end
        return is_rooted and edit.new == origin

    def _quick_origin(self, slot: Slot) -> bytes:
        """The origin of an RSS item's link where that is written plainly, before the first HTML."""
        item = self._item
        if self._quick is None and item is not None:
            found = None
            if item.name.endswith(b"item"):  # of RSS
                found = _plain_link(self._text, item.end, slot.value.start)
            self._quick = found[1] if found else b""
        return self._quick or b""

    def _on_link(self, slot: Slot, context: Context) -> Context | None:
        """The context of HTML on the link of the item that it stands in, if it has one."""
        item = self._item
        if item is None:
            return None
        if self._end < 0:
            self._end, self._link = xml.item_link(self._text, item)
        if self._link is None or slot.value.start > self._end:
            return None
        if self._linked[0] is not context:
            source = f"link of <{shown(item.name)}> at {self._lines.of(item.start)}"
            self._linked = context, state(self._text, self._link, source, context)[0]
        return self._linked[1]


_origin_of: Final = re.compile(r"[a-z]++://[^/?#]++").match


def _origin(url: str) -> bytes:
    found = _origin_of(url)
    return found[0].encode() if found else b""


_plain_link: Final = re.compile(rb"<link>[ \t\r\n]*+([a-z]++://[^/?#<&\s]++)/").search
