"""The HTML of a feed's items: on the layers alone, or on the item's link (the policy `item_links`).

Some readers resolve what stands in an item against the item's link, which is what bloggers mean who
write `<img src="picture.png">` in a post: where that would give other URLs, one note says how many.
A feed may have ten thousand items, so that is asked once for all references of a directory.
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
from relbase.view.charset import Lines

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

    def compare(
        self,
        text: bytes,
        edits: Iterable[Edit],
        link: str,
        context: Context,
        span: Span | None = None,
    ) -> None:
        """Count the references that edits of a text make absolute, if a link would make others."""
        others = [edit for edit in edits if not _is_of_origin(text, edit, link)]
        try:
            url = context.resolve(link) if others and context.resolve else None
        except ValueError:
            url = None
        if url is None:
            return
        for edit in others:
            found = _reference(text, edit.start)
            reference = unescape(unescape(found[0].decode("utf-8", "replace"))) if found else ""
            if self._differs(reference, url, context):
                self._count += 1
                how = context.task.profile, context.encoding
                if self._span is None and (resolve := resolver(url, *how)) is not None:
                    self._span = span or Span(edit.start, edit.end)
                    shown = f"{reference[:200]!r}, to {resolve(reference)[:200]!r}"
                    self._first = f"the first, {shown}"

    def _differs(self, reference: str, link: str, context: Context) -> bool:
        """Whether a reference resolves to something else; asked by the directories of all three."""
        own = context.base.url
        path = _path(reference)
        if path is None or not path[0]:
            return link != own
        directory, slash, _ = path[0].rpartition("/")
        directory += slash
        if _names(directory):  # what is before names alone is the same
            directory = directory[: directory.startswith("/")]
        around = link[: link.rfind("/") + 1]
        key = directory, own, around
        if directory == "/":
            key = directory, _root(own)[0], _root(around)[0]  # type: ignore[index]
        known = self._differ.get(key)
        if known is None:
            if len(self._differ) >= _MOST:
                self._differ.clear()
            try:
                known = self._differs_in(directory, around, context)
            except ValueError:
                known = False
            self._differ[key] = known
        return known

    def _differs_in(self, directory: str, around: str, context: Context) -> bool:
        if context.resolve is None:
            return False
        url = context.resolve(f"{directory}x")
        if not directory and _is_directory(around):
            return url != f"{around}x"
        other = resolver(around, context.task.profile, context.encoding)
        return other is not None and other(f"{directory}x") != url

    def notes(self, part: str) -> Iterator[Note]:
        """The note on all of them, if there are any."""
        if self._count:
            links = f"{self._count} links in items" if self._count > 1 else "a link in an item"
            text = (
                f"some feed readers resolve {links} against the item's own link ({self._first}): "
                "policy=Policy(item_links=True) does the same"
            )
            yield Note(Reason.ITEM_LINK, part, self._span, text)


def _is_of_origin(text: bytes, edit: Edit, link: str) -> bool:
    """Whether a reference that begins with a slash plainly becomes the same on an item's link."""
    if edit.start != edit.end or not text.startswith(b"/", edit.start):
        return False
    return bool(_is_rooted(link)) or link.startswith(f"{edit.new.decode('ascii')}/")


_is_rooted: Final = re.compile(r"/(?![/\\])").match

# Directories of references in a feed are few; those of a hostile one are forgotten.
_MOST: Final = 1024

# A reference up to what ends it: the quote around it may be written as a character reference.
_reference: Final = re.compile(
    rb"(?:[^\"'<>\s&,()\\]|&(?!(?:quot|apos|lt|gt|#39|#x27);)){0,2000}+"
).match
_path: Final = re.compile(r"[^?#]*+").match
_names: Final = re.compile(r"/?+(?:[A-Za-z0-9_~-]++/)*+").fullmatch
_is_directory: Final = re.compile(r"https?://[A-Za-z0-9.:-]++/(?:[A-Za-z0-9_~-]++/)*+").fullmatch
_root: Final = re.compile(r"(?:[^/?#]*+//[^/?#]*+|.*+)", re.DOTALL).match


class Items:
    """The item that a visit of a feed is in, and what the items' links would make of their HTML."""

    def __init__(self, text: bytes, encoding: str) -> None:
        self.links = ItemLinks()
        self._text = text
        self._lines = Lines(text, encoding)
        self._item: xml.Item | None = None
        self._link: xml.Attribute | None = None
        self._end = -1
        self._linked: tuple[Context | None, Context | None] = None, None

    def enter(self, item: xml.Item) -> None:
        """Go into an item, which is over where the next one begins."""
        self._item = item
        self._end = -1
        self._linked = None, None

    def visit(
        self,
        slot: Slot,
        context: Context,
        visit: Callable[[Slot, Context], Iterable[Item]],
        stated_at: int,
    ) -> Iterable[Item]:
        """The items of HTML in a feed, as the policy has it."""
        item, task = self._item, context.task
        # An `xml:base` in the item, on the content itself or inside, is stronger than its link.
        if item is not None and stated_at <= item.end:
            if task.policy.item_links:
                return visit(slot, self._on_link(item, slot, context))
            if task.edits_only:
                return self._compared(slot, context, visit)
        return visit(slot, context)

    def _compared(
        self, slot: Slot, context: Context, visit: Callable[[Slot, Context], Iterable[Item]]
    ) -> Iterator[Item]:
        edits: list[Edit] = []
        for item in visit(slot, context):
            if isinstance(item, Edit):
                edits.append(item)
            yield item
        self.compare(slot.value.start, context, -1, edits)

    def compare(self, start: int, context: Context, stated_at: int, edits: list[Edit]) -> None:
        """Count what the link of an item would change of the edits in its HTML, from a place on."""
        if not edits or self._item is None or stated_at > self._item.end:
            return
        if (link := self._around(self._item, start)) is not None:
            self.links.compare(self._text, edits, url_of(self._text, link), context)

    def _around(self, item: xml.Item, start: int) -> xml.Attribute | None:
        if self._end < 0:
            self._end, self._link = xml.item_link(self._text, item)
        return self._link if start < self._end else None

    def _on_link(self, item: xml.Item, slot: Slot, context: Context) -> Context:
        """The context of HTML on the link of the item that it stands in, if it has one."""
        link = self._around(item, slot.value.start)
        if link is None:
            return context
        last, linked = self._linked
        if linked is None or last is not context:
            source = f"link of <{shown(item.name)}> at {self._lines.of(item.start)}"
            linked = state(self._text, link, source, context)[0]
            self._linked = context, linked
        return linked
