"""What parts say under their transfer encoding: for who shows a message to people.

A reference in quoted-printable or base64 has its place in the decoded text; in the message there
are only the bytes that it is encoded in. `visit_message` gives places in the message. Here are
those in the text, of the same items in the same order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from relbase.containers import mail
from relbase.containers.emlx import read_envelope
from relbase.containers.parts import IDENTITY
from relbase.edit import Span
from relbase.mail.bodies import line_end, transfer_view
from relbase.mail.documents import reader_of
from relbase.mail.entity import mail_part
from relbase.mail.mbox import messages
from relbase.mail.message import stated_parts
from relbase.rewriting.budget import Budget
from relbase.rewriting.items import Found
from relbase.rewriting.outward import separate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.edit import Edit
    from relbase.mail.bases import PartBase
    from relbase.rewriting.context import Context


class DecodedBody(NamedTuple):
    """A document that a part holds in quoted-printable or base64."""

    part: str  # its number
    span: Span  # of its body, in the file
    encoding: str  # its Content-Transfer-Encoding, in lower case
    inner: bytes  # the decoded bytes
    label: str | None  # the charset of its header, None for none
    found: tuple[Found, ...]  # its references, in offsets of `inner`
    edits: tuple[Edit, ...]  # its edits, in offsets of `inner`


def decoded_in_mail(data: bytes, context: Context) -> Iterator[DecodedBody]:
    """The encoded documents of a message."""
    envelope = read_envelope(data)
    start, end = (0, len(data)) if envelope is None else envelope.message
    yield from _decoded(data[start:end], start, context)


def decoded_in_mbox(data: bytes, context: Context) -> Iterator[DecodedBody]:
    """The encoded documents of all messages of an mbox."""
    for one in messages([data]):
        if not isinstance(one, bytes):
            inside = context.having(part=str(one.number))
            yield from _decoded(one.message.content, one.start, inside)


def _decoded(data: bytes, offset: int, context: Context) -> Iterator[DecodedBody]:
    eol = line_end(data)
    task = context.task._replace(edits_only=False, found_only=False, budget=Budget(len(data)))
    for stated in stated_parts(data, eol, mail.walk(data), context):
        found = _document(data, eol, stated, context.asking(task))
        if found is not None:
            start, end = found.span
            yield found._replace(span=Span(start + offset, end + offset))


def _document(data: bytes, eol: bytes, stated: PartBase, context: Context) -> DecodedBody | None:
    part = stated.part
    entity = mail_part(data, eol, stated, context)
    inside = entity.context
    reader = None if part.encoding in IDENTITY else reader_of(part, inside)
    view = None if reader is None else transfer_view(part, entity.body, eol)
    if reader is None or view is None:
        return None
    items, edits = separate(reader.read(view.inner, part.charset, inside).visit())
    found = tuple(item for item in items if isinstance(item, Found))
    return DecodedBody(
        inside.part, part.body, part.encoding, view.inner, part.charset, found, tuple(edits)
    )
