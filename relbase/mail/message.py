"""Mail: bases down the MIME tree, references in headings and documents, and what follows a body.

Strategy: `containers.mail` lists the parts. The base of each is established from its own heading,
within that of the part around it (RFC 1808 §3.2). The references of its heading are visited, and
when it holds a document, that is read through the views of its transfer encoding and charset and
visited like any other. In the end the fields that tell of a body (Content-Length, Lines,
Content-MD5) follow it, innermost first.

To mind: nothing of what is signed or sealed is entered. The edits of a message are complete before
the first is handed on, since a heading tells of the body after it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import Layer
from relbase.containers import mail
from relbase.containers.parts import IDENTITY, Opaque
from relbase.edit import Edit, Span
from relbase.mail.bases import STATES_BASE, name_of, number_of, numbered, part_bases
from relbase.mail.bodies import fit_lines, line_end, transfer_view
from relbase.mail.derived import follow_bodies
from relbase.mail.signatures import broken_signatures, signed
from relbase.notes import Note, Reason
from relbase.references import headers
from relbase.references.vocabulary import Row
from relbase.results import Entity
from relbase.rewriting.context import Room, allowed_growth
from relbase.rewriting.items import Found, Status
from relbase.rewriting.outward import lower, separate
from relbase.rewriting.reference import Place, visit_url
from relbase.view.folding import folded_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.bases.layers import Base
    from relbase.containers.fields import Field
    from relbase.containers.parts import Part
    from relbase.mail.bases import PartBase
    from relbase.rewriting.context import Context, Reader
    from relbase.rewriting.items import Item

_ENTITY: Final = "message/rfc822"


class _Entity(NamedTuple):
    """A part of a message while it is visited.

    Args:
        data: the message.
        eol: what ends its lines.
        part: the part.
        context: of the part, on its base.
    """

    data: bytes
    eol: bytes
    part: Part
    context: Context

    @property
    def body(self) -> bytes:
        return self.data[self.part.body.start : self.part.body.end]

    def note(self, span: Span, reason: Reason, text: str) -> Note:
        """A note on the part, which its text begins with."""
        return Note(reason, self.context.part, span, f"{name_of(self.part)} {text}")


def visit_message(data: bytes, context: Context) -> Iterator[Item]:
    """The items of a message, in offsets of its bytes.

    Args:
        data: the message.
        context: of what is around it; its `part` precedes the numbers of the parts.
    """
    parts = mail.walk(data)
    eol = line_end(data)
    skipped = set() if context.task.policy.dkim_signed else signed(parts)
    room = Room(allowed_growth(len(data)))
    context = context.asking(replace(context.task, room=room))
    edits: list[Edit] = []
    for index, stated in enumerate(part_bases(data, parts, context)):
        if index in skipped:
            continue
        for item in _visit_part(data, eol, stated, context):
            if isinstance(item, Edit):
                edits.append(item)
            else:
                yield item
    if room.left < 0:
        text = "the links would make the message too long: it is passed through"
        yield Note(Reason.LIMIT_GROWTH, context.part, Span(0, len(data)), text)
        return
    edits, stale = follow_bodies(data, parts, edits, lambda part, raw: _decoded(part, raw, eol))
    for noted in chain(broken_signatures(data, parts, edits), stale):
        yield numbered(noted, context)
    yield from edits


def message_entities(data: bytes, context: Context) -> Iterator[Entity]:
    """The entities of a message, each with its base.

    Args:
        data: the message.
        context: of what is around it; its `part` precedes the numbers of the parts.
    """
    parts = mail.walk(data)
    eol = line_end(data)
    for part, base, *_ in part_bases(data, parts, context):
        number = number_of(part, context)
        span = Span(part.heading.start, part.body.end)
        type_ = _ENTITY if part.parent is None else part.type
        inside = replace(context, base=base, part=number)
        yield Entity(number, type_, span, _document_base(_Entity(data, eol, part, inside)))


def _visit_part(data: bytes, eol: bytes, stated: PartBase, around: Context) -> Iterator[Item]:
    """The items of one part: of its heading, then of the document in it."""
    part, base, _, attached, notes = stated
    linking = [field for field in part.heading.fields if _row(field, part) is not None]
    is_leaf = part.opaque is None and part.multipart is None and not part.message
    reader = around.task.reader(part.type, "") if is_leaf else None
    if not (linking or notes or part.opaque or reader):
        return
    entity = _Entity(data, eol, part, replace(around, base=base, part=number_of(part, around)))
    # Of an image nobody asks for the base.
    if part.multipart is not None or part.message or _is_text(part, around):
        for note in notes:
            yield note._replace(span=note.span or Span(part.heading.start, part.heading.start))
    if linking:
        heading = Span(part.heading.start, part.heading.end)
        yield from _fit(entity, heading, _visit_heading(entity, stated, linking))
    if part.opaque is not None:
        reason, text = _OPAQUE[part.opaque]
        yield entity.note(part.body, reason, f"({part.type}) {text}")
    elif reader is not None and (around.task.policy.attachments or not attached):
        yield from _visit_body(entity, reader)


def _is_text(part: Part, context: Context) -> bool:
    """Whether links are looked for in bodies of a part's type."""
    reader = context.task.reader(part.type, "")
    return reader is not None and reader.visit is not None


def _row(field: Field, part: Part) -> headers.Field | None:
    """How a field holds references, None when it holds none."""
    if field.name == "content-type":
        return headers.EXTERNAL_BODY if part.opaque is Opaque.EXTERNAL else None
    return headers.FIELDS.get(field.name.encode())


def _visit_heading(entity: _Entity, stated: PartBase, linking: Sequence[Field]) -> Iterator[Item]:
    """The items of the fields that hold references (RFC 1808 §3.1)."""
    part, base, states, *_ = stated
    # A heading's own base is embedded for the references that stand in it.
    heading_base = replace(base, layer=Layer.EMBEDDED) if states else base
    around = base.outer if states and base.outer is not None else base
    stated_by = base.source.partition(" of ")[0].lower() if states else ""
    for field in linking:
        # What states a base is resolved on the base around: no field is a base of itself.
        is_outside = field.name == stated_by or field.name in STATES_BASE
        row = _row(field, part)
        if row is not None:
            on = around if is_outside else heading_base
            yield from _visit_field(entity.data, field, row, entity.context.on(on))


def _visit_field(data: bytes, field: Field, row: headers.Field, context: Context) -> Iterator[Item]:
    value = data[field.value.start : field.value.end]
    place = Place("", field.name, Row(row.syntax))
    for span in row.find(value):
        raw = value[span.start : span.end]
        # Between the quotes of a parameter a backslash is none.
        is_parameter = row is headers.EXTERNAL_BODY
        view = folded_view(raw, b"\\" if is_parameter else headers.quote_before(value, span))
        items = visit_url(view.inner, Span(0, len(view.inner)), context, place)
        yield from lower(items, view, field.value.start + span.start)


def _visit_body(entity: _Entity, reader: Reader) -> Iterator[Item]:
    """The items of the document that a part holds."""
    part, context = entity.part, entity.context
    view = transfer_view(part, entity.body, entity.eol)
    if view is None:
        text = f"({part.type}) does not decode as {part.encoding!r}: passed through"
        yield entity.note(part.body, Reason.ENCODING_UNSUPPORTED, text)
        return
    document = reader.read(view.inner, part.charset, context)
    for note in document.notes:
        yield note._replace(span=part.body)
    findings, edits = separate(document.visit())
    # Nothing need be encoded for edits that are too much.
    room = context.task.room
    kept = edits if room is None or room.left >= 0 else []
    items = lower([*findings, *kept], view, part.body.start)
    yield from _fit(entity, part.body, items) if part.encoding in IDENTITY else items


def _fit(entity: _Entity, within: Span, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a heading or of a body that is not encoded, with the edits that mail allows."""
    part = entity.part
    findings, edits = separate(items)
    kept, notes = fit_lines(entity.data, within, edits, part.boundaries, entity.eol)
    refused = [note.span for note in notes if note.span and note.reason is Reason.MIME_BOUNDARY]
    yield from _keep_in_lines(findings, refused) if refused else findings
    for note in notes:
        if note.reason is not Reason.LINE_LENGTH or part.encoding != "binary":
            text = f"{name_of(part)}: {note.text}"
            yield note._replace(part=entity.context.part, text=text)
    yield from kept


def _keep_in_lines(
    findings: Iterable[Found | Note], lines: Sequence[Span]
) -> Iterator[Found | Note]:
    """The findings, those in some lines with the status of what is not written after all."""
    starts = [line.start for line in lines]
    for item in findings:
        if isinstance(item, Found) and item.status is Status.REWRITTEN:
            index = bisect_right(starts, item.span.start) - 1
            if index >= 0 and item.span.start < lines[index].end:
                yield item._replace(status=Status.KEPT)
                continue
        yield item


def _decoded(part: Part, raw: bytes, eol: bytes) -> bytes | None:
    view = transfer_view(part, raw, eol)
    return None if view is None else view.inner


def _document_base(entity: _Entity) -> Base:
    """The base of the document in a part, or that of the part."""
    part, context = entity.part, entity.context
    reader = context.task.reader(part.type, "") if part.opaque is None else None
    inner = None if reader is None else _decoded(part, entity.body, entity.eol)
    if reader is None or inner is None:
        return context.base
    return reader.read(inner, part.charset, context).base()


_OPAQUE: Final = {
    Opaque.SIGNED: (Reason.MIME_SIGNED, "is signed: left alone (RFC 1847 §2.1)"),
    Opaque.SEALED: (Reason.MIME_SEALED, "is sealed: left alone"),
    Opaque.PARTIAL: (Reason.MIME_PARTIAL, "is a piece of a message: left alone"),
    Opaque.EXTERNAL: (Reason.MIME_EXTERNAL, "has its body elsewhere: left alone"),
    Opaque.ENCODED: (Reason.MIME_ENCODED, "is encoded as a whole: left alone"),
    Opaque.BOUNDARY: (Reason.MIME_BOUNDARY, "names no boundary: left alone"),
    Opaque.DEPTH: (Reason.LIMIT_MIME_DEPTH, "nests too deep: left alone"),
    Opaque.PARTS: (Reason.LIMIT_MIME_PARTS, "is one part too many: left alone, with the rest"),
    Opaque.HEADING: (Reason.LIMIT_HEADING, "has too long a heading: left alone"),
}
