"""The HTML of RSS items: on the layers alone, or on the item's link (the policy `item_links`).

Some readers resolve what stands in an item on the item's link, which is what bloggers mean who
write `<img src="picture.png">` in a post. Where that would give other URLs, one note for the feed
says so. To mind: that is asked of what was changed only, once for all that was changed alike, and
by the directories of both bases, so that a feed of ten thousand items is not resolved twice.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.references import xml
from relbase.rewriting.context import resolver
from relbase.rewriting.xml_bases import shown, state, url_of
from relbase.view.lines import Lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from relbase.references.xml_slots import Slot
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


class Items:
    """The items of a feed, and what their links would make of their HTML."""

    __slots__ = (
        "_agreed",
        "_end",
        "_item",
        "_lines",
        "_link",
        "_looked",
        "_quick",
        "_text",
        "_told",
    )

    def __init__(self, text: bytes, encoding: str) -> None:
        self._text = text
        self._lines = Lines(text, encoding)
        self._item: xml.Element | None = None
        self._link: xml.Attribute | None = None
        self._end = -1
        self._quick: re.Match[bytes] | None = None
        self._looked = 0
        self._told = _Told()
        self._agreed: set[object] = set()

    def enter(self, item: xml.Element) -> None:
        """Go into an item, which is over where the next one begins."""
        self._item = item
        self._link = None
        self._end = -1
        # A plain link of the item, and how far one was looked for: an item may hold any number of
        # texts.
        self._quick = None
        self._looked = item.end

    def visit(
        self,
        slot: Slot,
        context: Context,
        visit: Callable[[Slot, Context], Iterable[Item]],
    ) -> Iterable[Item]:
        """The items of HTML in a feed, as the policy has it."""
        task = context.task
        if task.policy.item_links:
            link = self._link_around(slot)
            if link is not None and self._item is not None:
                source = f"link of <{shown(self._item.name)}> at {self._lines.of(self._item.start)}"
                context = state(self._text, link, source, context)[0]
            return visit(slot, context)
        if self._item is None or not task.edits_only or self._told.is_told:
            return visit(slot, context)
        return self._with_note(slot, context, list(visit(slot, context)))

    def _with_note(self, slot: Slot, context: Context, found: list[Item]) -> Iterable[Item]:
        """What was found in HTML, and a note when its item's link makes another base of it."""
        alike = {
            (item.new, item.end - item.start): item for item in found if isinstance(item, Edit)
        }
        if not alike:
            return found
        # The links of a feed are most often in a few directories, and what is written is the same.
        quick = self._quick = self._quick or _plain_link(
            self._text, self._looked, max(self._looked, slot.value.start)
        )
        self._looked = slot.value.start
        key = (frozenset(alike), quick[1].rpartition(b"/")[0], context.base.url) if quick else None
        if key in self._agreed:
            return found
        link = self._link_around(slot)
        if link is None or not self._told(
            self._text, alike.values(), url_of(self._text, link), context
        ):
            if key is not None and len(self._agreed) < _MOST:
                self._agreed.add(key)
        else:
            span = Span(slot.value.start, slot.value.end)
            found.append(Note(Reason.ITEM_LINK, context.part, span, _NOTE))
        return found

    def _link_around(self, slot: Slot) -> xml.Attribute | None:
        """The link of the item that a text stands in, if there is one."""
        item = self._item
        if item is None:
            return None
        if self._end < 0:
            self._end, self._link = xml.item_link(self._text, item)
        return self._link if slot.value.start < self._end else None


_NOTE: Final = (
    "some readers resolve the HTML of an item on its link, with other results: the policy "
    "item_links does as they do"
)

_plain_link: Final = re.compile(rb"<link>[ \t\r\n]*+([^<&? \t\r\n#]++)</link>").search

# What a reference begins with, as far as that decides on its directory: without what ends it in any
# text, or may be written otherwise.
_directory: Final = re.compile(rb"[^\"'<>&\s?#()\\]*/").match
_ENDS: Final = b"\"'<>&?# \t\r\n"

# Directories of references in a feed are few; hostile ones are forgotten.
_MOST: Final = 1024


class _Told:
    """Whether a reference would have become something else on an item's link."""

    __slots__ = ("_differs", "is_told")

    def __init__(self) -> None:
        self.is_told = False
        self._differs: dict[tuple[str, str, bytes], bool] = {}

    def __call__(self, text: bytes, edits: Iterable[Edit], link: str, context: Context) -> bool:
        """Say so of the references that edits make absolute."""
        resolve, own = context.resolve, context.base.url
        try:
            url = own if resolve is None else resolve(link)
        except ValueError:
            return False
        folders = (_folder(url), _folder(own))
        for edit in edits:
            if url == own:
                break
            if text[edit.start : edit.start + 1] in _ENDS:
                self.is_told = True
            elif not self.is_told:
                found = _directory(text, edit.start)
                self.is_told = self._differ((*folders, found[0] if found else b""), context)
        return self.is_told

    def _differ(self, key: tuple[str, str, bytes], context: Context) -> bool:
        differs = self._differs.get(key)
        if differs is None:
            if len(self._differs) >= _MOST:
                self._differs.clear()
            differs = self._differs[key] = _resolve_apart(key, context)
        return differs


def _folder(url: str) -> str:
    """The directory of a URL, which decides what becomes of all references but those within it."""
    bare = _bare(url)
    return (bare[0] if bare else url).rpartition("/")[0] + "/"


_bare: Final = re.compile(r"[^?#]*+").match


def _resolve_apart(key: tuple[str, str, bytes], context: Context) -> bool:
    sample = f"{key[2].decode('utf-8', 'replace')}x"
    urls = []
    for folder in key[:2]:
        resolve = resolver(folder, context.task.profile, context.encoding)
        try:
            urls.append("" if resolve is None else resolve(sample))
        except ValueError:
            return False
    return urls[0] != urls[1]
