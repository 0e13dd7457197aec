"""What the links of items would make of the references in their HTML, for one note on a feed.

Some readers resolve what stands in an item against the item's link, which is what bloggers mean who
write `<img src="picture.png">` in a post. To mind: a feed may have ten thousand items, so that what
comes out alike is asked once for all references of a directory.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, Final

from relbase.notes import Note, Reason
from relbase.rewriting.context import resolver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.edit import Edit, Span
    from relbase.rewriting.context import Context


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
