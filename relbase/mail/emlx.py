"""Mail as it stands in files: a message, or one of Apple Mail with its length and property list.

Apple Mail writes a line `1234      ` with the number of bytes of the message that follows it. What
stands after these is a property list in XML (flags, dates), or nothing, and no part of the message.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.fields import eol_of, read_header
from relbase.edit import Edit, Span, growth
from relbase.mail.bases import message_fields
from relbase.mail.documents import decoded_bodies
from relbase.mail.message import message_entities, visit_message
from relbase.notes import Note, Reason
from relbase.rewriting.items import Item, separate, shift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.bases.layers import Base
    from relbase.mail.documents import DecodedBody
    from relbase.results import Entity
    from relbase.rewriting.context import Context


class Envelope(NamedTuple):
    """What is around a message of Apple Mail."""

    number: Span  # the digits of its length, and the spaces that they are padded with
    # the message; empty when the length is not that of any
    message: Span


_first_line: Final = re.compile(rb"([0-9]{1,18} {0,20})\r?\n(?=[!-9;-~]{1,99}[ \t]{0,9}:)").match
_property_list: Final = re.compile(rb"[\t\n\r ]*+(?:<\?xml|<!DOCTYPE plist|<plist|\Z)").match


def read_envelope(data: bytes) -> Envelope | None:
    """Return what is around a message of Apple Mail, None for any other text."""
    first = _first_line(data)
    if first is None:
        return None
    start = first.end()
    end = start + int(first[1])
    is_true = end <= len(data) and _property_list(data, end) is not None
    return Envelope(Span(*first.span(1)), Span(start, end if is_true else start))


def _message_in(data: bytes) -> Span:
    envelope = read_envelope(data)
    return Span(0, len(data)) if envelope is None else envelope.message


def fields_of_mail(data: bytes) -> list[tuple[str, str]]:
    """Return the fields of the header of a message, names in lower case, values unfolded."""
    start = _message_in(data).start
    return message_fields(data, read_header(data, start, len(data), eol_of(data, 0, len(data))))


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
    start, end = _message_in(data)
    return message_entities(data[start:end], context, start)


def decoded_in_mail(data: bytes, context: Context) -> Iterator[DecodedBody]:
    """The encoded documents of a message."""
    start, end = _message_in(data)
    return decoded_bodies(data[start:end], start, context)


def mail_base(data: bytes, context: Context) -> Base:
    """The base of a message."""
    return next(mail_entities(data, context)).base
