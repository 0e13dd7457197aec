"""An mbox: the messages in it, each with the bases of its own.

To mind: the Content-Length of a message tells where the next one begins, so it follows the body
wherever other readers see the heading end.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from relbase.containers import mbox
from relbase.edit import Edit, Span
from relbase.mail.message import message_entities, visit_message
from relbase.notes import Note, Reason
from relbase.rewriting.outward import shift

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relbase.results import Entity
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


def visit_mbox(data: bytes, context: Context) -> Iterator[Item]:
    """The items of all messages of an mbox; part "3/1.2" is of the third message."""
    for message, inside in _messages(data, context):
        start = message.offset + len(message.separator or b"")
        items = visit_message(message.content, inside)
        if message.length is not None:
            items = _measured(message, message.length, items)
        yield from shift(items, start)


def _measured(message: mbox.Message, length: Span, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a message, and its Content-Length wherever its heading ends to other readers."""
    edits: list[Edit] = []
    for item in items:
        if isinstance(item, Edit):
            edits.append(item)
        elif not isinstance(item, Note) or (item.reason, item.span) != (_STALE, length):
            yield item
    written = message.content[length.start : length.end]
    body = len(message.content) - int(written)
    grown = sum(len(edit.new) - (edit.end - edit.start) for edit in edits if edit.start >= body)
    if grown and all(edit.start != length.start for edit in edits):
        edits.append(Edit(*length, b"%d" % (int(written) + grown)))
    yield from sorted(edits)


_STALE: Final = Reason.FIELD_STALE


def mbox_entities(data: bytes, context: Context) -> Iterator[Entity]:
    """The entities of all messages of an mbox."""
    for message, inside in _messages(data, context):
        start = message.offset + len(message.separator or b"")
        for entity in message_entities(message.content, inside):
            span = Span(entity.span.start + start, entity.span.end + start)
            yield replace(entity, span=span)


def _messages(data: bytes, context: Context) -> Iterator[tuple[mbox.Message, Context]]:
    number = 0
    for message in mbox.split([data]):
        if message.separator is not None:
            number += 1
            yield message, replace(context, part=str(number))
