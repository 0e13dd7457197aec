"""Mail as it stands in files: a message, or one of Apple Mail with its length and property list."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from relbase.containers.emlx import read_envelope
from relbase.edit import Edit, Span, growth
from relbase.mail.message import message_entities, visit_message
from relbase.notes import Note, Reason
from relbase.rewriting.outward import separate, shift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.bases.layers import Base
    from relbase.containers.emlx import Envelope
    from relbase.results import Entity
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


def visit_mail(data: bytes, context: Context) -> Iterator[Item]:
    """The items of a message; of one of Apple Mail with the edit of the line that counts it."""
    envelope = read_envelope(data)
    if envelope is None:
        yield from visit_message(data, context)
        return
    start, end = envelope.message
    if start == end:
        yield Note(Reason.FIELD_STALE, context.part, envelope.number, _WRONG)
        return
    findings, edits = separate(visit_message(data[start:end], context))
    yield from shift(findings, start)
    if edits:
        yield _counted(data, envelope, edits)
        yield from shift(edits, start)


_WRONG: Final = (
    "the first line does not count the bytes of the message after it, as Apple Mail writes it: "
    "left unchanged; without that line and the property list it is a message like others"
)


def _counted(data: bytes, envelope: Envelope, edits: list[Edit]) -> Edit:
    """The edit of the count, which keeps its width where its padding allows that."""
    start, end = envelope.number
    count = int(data[start:end]) + growth(edits)
    return Edit(start, end, (b"%d" % count).ljust(end - start))


def mail_entities(data: bytes, context: Context) -> Iterator[Entity]:
    """The entities of a message, the outermost first; `data` and `context` as of `visit_mail`."""
    envelope = read_envelope(data)
    start, end = (0, len(data)) if envelope is None else envelope.message
    for entity in message_entities(data[start:end], context):
        yield replace(entity, span=Span(entity.span.start + start, entity.span.end + start))


def mail_base(data: bytes, context: Context) -> Base:
    """The base of a message."""
    return next(mail_entities(data, context)).base
