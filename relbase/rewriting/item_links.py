"""The HTML of a feed's items: on the layers alone, or on the item's link (the policy `item_links`).

Some readers resolve what stands in an item against the item's link, which is what bloggers mean who
write `<img src="picture.png">` in a post: where that would give other URLs, one note says how many.
To mind: a feed may have ten thousand items. Most references begin with a slash and come out alike,
which is seen by what was written, and others are asked once for all of a directory.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.references import xml
from relbase.rewriting.context import resolver
from relbase.rewriting.xml_bases import shown, state, url_of
from relbase.view.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.references.xml import Slot
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


class ItemLinks:
    """How many references of items would come out otherwise on the items' links."""

    def __init__(self) -> None:
        self._count = 0
        self._first = ""
        self._span: Span | None = None
        self._differ: dict[tuple[str, str, str], bool] = {}

    def compare(self, text: bytes, edit: Edit, link: str, context: Context, span: Span) -> None:
        """Count the reference that an edit of a text makes absolute, if a link would make another.

        `span` is where the note on it stands.
        """
        found = _reference(text, edit.start)
        reference = unescape(unescape(found[0].decode("utf-8", "replace"))) if found else ""
        if not self._differs(reference, link, context):
            return
        self._count += 1
        resolve = resolver(link, context.task.profile, context.encoding)
        if self._span is None and resolve is not None:
            self._span = span
            url = resolve(reference)
            self._first = f"the first, {reference[:200]!r}, to {url[:200]!r}"

    def _differs(self, reference: str, link: str, context: Context) -> bool:
        """Whether a reference resolves to something else; asked by the directories of all three."""
        own = context.base.url
        path = _path(reference)
        if path is None or not path[0]:
            return link != own
        directory, slash, _ = path[0].rpartition("/")
        key = directory + slash, own, link[: link.rfind("/") + 1]
        known = self._differ.get(key)
        if known is None:
            if len(self._differ) >= _MOST:
                self._differ.clear()
            other = resolver(key[2], context.task.profile, context.encoding)
            known = self._differ[key] = _differ(f"{key[0]}x", context.resolve, other)
        return known

    def notes(self, part: str) -> Iterator[Note]:
        """The note on all of them, if there are any."""
        if self._count:
            links = f"{self._count} links in items" if self._count > 1 else "a link in an item"
            text = (
                f"some feed readers resolve {links} against the item's own link ({self._first}): "
                "policy=Policy(item_links=True) does the same"
            )
            yield Note(Reason.ITEM_LINK, part, self._span, text)


# Directories of references in a feed are few; those of a hostile one are forgotten.
_MOST: Final = 1024

# A reference up to what ends it: the quote around it may be written as a character reference.
_reference: Final = re.compile(
    rb"(?:[^\"'<>\s&,()\\]|&(?!(?:quot|apos|lt|gt|#39|#x27);)){0,2000}+"
).match
_path: Final = re.compile(r"[^?#]*+").match


def _differ(reference: str, *resolves: Callable[[str], str] | None) -> bool:
    """Whether two algorithms resolve a reference to different URLs."""
    try:
        urls = {resolve(reference) for resolve in resolves if resolve is not None}
    except ValueError:
        return False
    return len(urls) > 1


class Items:
    """The item that a visit of a feed is in, and what the items' links would make of their HTML."""

    def __init__(self, text: bytes, encoding: str) -> None:
        self._text = text
        self._lines = Lines(text, encoding)
        self._links = ItemLinks()
        self._item: xml.Item | None = None
        self._link: xml.Attribute | None = None
        self._end = -1
        self._linked: tuple[Context | None, Context | None] = None, None
        self._resolved: tuple[Context | None, str | None] = None, None
        self._quick: bytes | None = None

    def enter(self, item: xml.Item) -> None:
        """Go into an item, which is over where the next one begins."""
        self._item = item
        self._end = -1
        self._linked = self._resolved = None, None
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
        self.compare(slot, context, -1, edits)

    def compare(self, slot: Slot, context: Context, stated_at: int, edits: list[Edit]) -> None:
        """Count what the link of an item would change of the edits in its HTML."""
        if self._item is None or stated_at > self._item.end:
            return
        origin = _origin(context.base.url)
        for edit in edits:
            if self._is_of_origin(edit, origin) and self._quick_origin(slot) in {origin, _SAME}:
                continue
            link = self._url(slot, context)
            if link is None:
                return
            span = Span(edit.start, edit.end)
            self._links.compare(self._text, edit, link, context, span)

    def _is_of_origin(self, edit: Edit, origin: bytes) -> bool:
        """Whether a reference began with a slash: the directory of the base does not matter."""
        is_rooted = self._text.startswith(b"/", edit.start) and edit.start == edit.end
        return is_rooted and edit.new == origin

    def _quick_origin(self, slot: Slot) -> bytes:
        """The origin of an RSS item's link where that is written plainly, before the first HTML.

        That of one which begins with a slash is the base's.
        """
        item = self._item
        if self._quick is None and item is not None:
            found = None
            if item.name.endswith(b"item"):  # of RSS
                found = _plain_link(self._text, item.end, slot.value.start)
            self._quick = (found[1] or _SAME) if found else b""
        return self._quick or b""

    def _around(self, slot: Slot) -> xml.Attribute | None:
        """The link of the item that a value stands in, if it has one."""
        item = self._item
        if item is not None and self._end < 0:
            self._end, self._link = xml.item_link(self._text, item)
        return self._link if slot.value.start < self._end else None

    def _url(self, slot: Slot, context: Context) -> str | None:
        """What the link of an item resolves to."""
        link = self._around(slot)
        if link is None or context.resolve is None:
            return None
        if self._resolved[0] is not context:
            try:
                url = context.resolve(url_of(self._text, link))
            except ValueError:
                url = None
            self._resolved = context, url
        return self._resolved[1]

    def _on_link(self, slot: Slot, context: Context) -> Context | None:
        """The context of HTML on the link of the item that it stands in, if it has one."""
        item, link = self._item, self._around(slot)
        if item is None or link is None:
            return None
        if self._linked[0] is not context:
            source = f"link of <{shown(item.name)}> at {self._lines.of(item.start)}"
            self._linked = context, state(self._text, link, source, context)[0]
        return self._linked[1]


_origin_of: Final = re.compile(r"[a-z]++://[^/?#]++").match


def _origin(url: str) -> bytes:
    found = _origin_of(url)
    return found[0].encode() if found else b""


_SAME: Final = b"/"
_plain_link: Final = re.compile(
    rb"<link>[ \t\r\n]*+(?:([a-z]++://[^/?#<&\s]++)/|/(?=[^/\\<&\s]))"
).search
