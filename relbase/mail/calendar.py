"""Invitations: the HTML that calendars carry in `X-ALT-DESC;FMTTYPE=text/html` (RFC 5545)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.notes import Note, Reason
from relbase.rewriting.html import nested
from relbase.rewriting.items import Item, lower
from relbase.view.charset import lookup
from relbase.view.folding import calendar_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.bases.layers import Base
    from relbase.rewriting.context import Context, Task

TYPE: Final = "text/calendar"

# contentline = name *(";" param ) ":" value CRLF   (RFC 5545 §3.1), folded anywhere
_described: Final = re.compile(
    rb"""^x-alt-desc ((?:; (?:[^":;\n]++ | \n[ \t] | "[^"\n]*+")*+)*+) :
    ([^\r\n]*+ (?:\r?\n[ \t][^\r\n]*+)*+)""",
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
_is_html: Final = re.compile(rb";fmttype=\"?text/html\"?(?:;|\Z)", re.IGNORECASE).search
_UNREAD: Final = "the calendar is not in UTF-8 (RFC 5545 §3.1.4): links in it stay as they are"


def visit_calendar(data: bytes, context: Context) -> Iterator[Item]:
    """The items of the descriptions in HTML, in offsets of the calendar."""
    reader = context.task.reader("text/html", "")
    if reader is None or reader.visit is None:
        return
    for found in _described.finditer(data):
        if _is_html(re.sub(rb"\r?\n[ \t]", b"", found[1])):
            view = calendar_view(found[2])
            yield from lower(reader.visit(view.inner, nested(context)), view, found.start(2))


class Calendar(NamedTuple):
    """A calendar that has been opened."""

    data: bytes
    context: Context
    notes: tuple[Note, ...] = ()

    def visit(self, task: Task | None = None) -> Iterator[Item]:
        """The items of the calendar, in offsets of its bytes."""
        if self.notes:
            return iter(())
        context = self.context if task is None else self.context.asking(task)
        return visit_calendar(self.data, context)

    def base(self) -> Base:
        """The base of the calendar: that of its container."""
        return self.context.base


class _Reader:
    """How calendars are read."""

    visit = staticmethod(visit_calendar)

    def read(self, data: bytes, label: str | None, context: Context) -> Calendar:
        """Read a calendar; what is not in UTF-8 is left alone, with a note."""
        is_read = data.isascii() or lookup(label or "utf-8") == "utf-8"
        note = Note(Reason.CHARSET_UNSUPPORTED, context.part, None, _UNREAD)
        return Calendar(data, context, () if is_read else (note,))


READER: Final = _Reader()
