"""Mail: bases down the MIME tree, references in headings and documents, and what follows a body.

Strategy: `containers.mail` lists the parts. The base of each is established from its own heading,
within that of the part around it (RFC 1808 §3.2). The references of its heading are visited, and
when it holds a document, that is read through the views of its transfer encoding and charset and
visited like any other. In the end the fields that tell of a body (Content-Length, Lines,
Content-MD5) follow it, innermost first.

To mind: nothing of what is signed or sealed is entered. The edits of a message are complete before
the first is handed on, since a heading tells of the body behind it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers import mail, mbox
from relbase.containers.fields import eol_of, first, text_of
from relbase.containers.parts import IDENTITY, Opaque
from relbase.derived import following
from relbase.documents import VISITS, read_document, visit_document
from relbase.edit import Edit, Span
from relbase.headings import mime_statements, snapshot_statements
from relbase.kind import Kind, kind_of_type
from relbase.layers import Base, Layer, establish
from relbase.lowering import lowered, shifted
from relbase.notes import Reason
from relbase.references import headers
from relbase.references.vocabulary import Row
from relbase.results import Entity
from relbase.scope import Hit, Place, visit_url
from relbase.view.base64 import base64_view
from relbase.view.quoted_printable import QuotedPrintableView
from relbase.walk import html_base

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.containers.fields import Field
    from relbase.containers.parts import Part
    from relbase.notes import Note
    from relbase.scope import Item, Scope
    from relbase.view.runs import View

# RFC 5322 §2.1.1: a line has at most 998 octets without its line end.
MAX_LINE: Final = 998

_SIGNATURES: Final = frozenset(("dkim-signature", "domainkey-signature", "arc-seal"))

_ENTITY: Final = "message/rfc822"


class _Established(NamedTuple):
    """A part, its base, the base for its Content-Location, and what was remarked on them."""

    part: Part
    base: Base
    location_base: Base
    notes: list[Note]


def visit_message(data: bytes, scope: Scope, *, detect: bool = True) -> Iterator[Item]:
    """The items of a message, in offsets of its bytes.

    Args:
        data: the message.
        scope: of what is around it; its `part` precedes the numbers of the parts.
        detect: whether marks that programs leave may state the retrieval URL.
    """
    hits: list[Hit] = []
    edits: list[Edit] = []
    parts = _established(data, scope, detect=detect)
    skipped = set() if scope.policy.dkim_signed else _signed(parts)
    for index, established in enumerate(parts):
        if index in skipped:
            continue
        for item in _visit_part(data, established, scope):
            if isinstance(item, Edit):
                edits.append(item)
            else:
                hits.append(item)
    edits.sort()
    for established in parts:
        hits += _broken_signature(established, edits, scope)
    for part in sorted((found.part for found in parts), key=lambda part: -part.heading.start):
        followed, remarks = following(data, part, edits, partial(_decoded, data, part))
        edits = sorted([*edits, *followed]) if followed else edits
        hits += [_remark(part, span, reason, text, scope) for span, reason, text in remarks]
    yield from hits
    yield from edits


def message_entities(data: bytes, scope: Scope, *, detect: bool = True) -> Iterator[Entity]:
    """The entities of a message, each with its base.

    Args:
        data: the message.
        scope: of what is around it.
        detect: whether marks that programs leave may state the retrieval URL.
    """
    for part, base, _, _ in _established(data, scope, detect=detect):
        span = Span(part.heading.start, part.body.end)
        type_ = _ENTITY if part.number == "" else part.type
        document = _document_base(data, part, replace(scope, base=base))
        yield Entity(_number(part, scope), type_, span, document)


def visit_mbox(data: bytes, scope: Scope, *, detect: bool = True) -> Iterator[Item]:
    """The items of all messages of an mbox; part "3/1.2" is of the third message."""
    for message, inside in _messages(data, scope):
        start = message.offset + len(message.separator or b"")
        yield from shifted(visit_message(message.content, inside, detect=detect), start)


def mbox_entities(data: bytes, scope: Scope, *, detect: bool = True) -> Iterator[Entity]:
    """The entities of all messages of an mbox."""
    for message, inside in _messages(data, scope):
        start = message.offset + len(message.separator or b"")
        for entity in message_entities(message.content, inside, detect=detect):
            span = Span(entity.span.start + start, entity.span.end + start)
            yield replace(entity, span=span)


def _messages(data: bytes, scope: Scope) -> Iterator[tuple[mbox.Message, Scope]]:
    number = 0
    for message in mbox.split([data]):
        if message.separator is not None:
            number += 1
            yield message, replace(scope, part=f"{number}/")


def _number(part: Part, scope: Scope) -> str:
    return scope.part + part.number if part.number else scope.part.rstrip("/")


def _name(part: Part) -> str:
    return f"part {part.number}" if part.number else "the message"


def _established(data: bytes, scope: Scope, *, detect: bool) -> list[_Established]:
    """The parts of a message with their bases, each within that of the part around it."""
    found: list[_Established] = []
    for part in mail.walk(data):
        around = scope.base
        notes: list[Note] = []
        if part.parent is not None:
            around = found[part.parent].base
        elif detect and scope.base.layer is Layer.NONE:
            statements = snapshot_statements(first(data, part.heading, _SNAPSHOT))
            around, notes = establish(statements, around, profile=scope.profile)
        fields = [(field.name, text_of(data, field), field.value) for field in part.heading.fields]
        stated = mime_statements(fields, _name(part))
        number = _number(part, scope)
        base, more = establish(stated, around, profile=scope.profile, part=number)
        location_base = base
        if base.source.startswith("Content-Location"):
            own = [statement for statement in stated if statement.source != base.source]
            location_base, _ = establish(own, around, profile=scope.profile, part=number)
        found.append(_Established(part, base, location_base, [*notes, *more]))
    return found


_SNAPSHOT: Final = "snapshot-content-location"


def _signed(parts: list[_Established]) -> set[int]:
    """The parts of messages that are signed, as a whole, by somebody on the way."""
    signed: set[int] = set()
    for index, (part, *_) in enumerate(parts):
        has_signature = any(field.name in _SIGNATURES for field in part.heading.fields)
        if has_signature or part.parent in signed:
            signed.add(index)
    return signed


def _broken_signature(established: _Established, edits: list[Edit], scope: Scope) -> Iterator[Hit]:
    part = established.part
    fields = [field for field in part.heading.fields if field.name in _SIGNATURES]
    inside = part.body.start, part.body.end
    if fields and any(inside[0] <= edit.start <= inside[1] for edit in edits):
        text = f"{_name(part)} is signed ({fields[0].name}), and the signature no longer holds"
        yield _remark(part, fields[0].span, Reason.SIGNATURE_BROKEN, text, scope)


def _remark(part: Part, span: Span, reason: Reason, text: str, scope: Scope) -> Hit:
    return Hit(*span, "", "", "", "", None, scope.base, None, (reason, text), _number(part, scope))


def _visit_part(data: bytes, established: _Established, scope: Scope) -> Iterator[Item]:
    """The items of one part: of its heading, then of the document in it."""
    part, base, location_base, notes = established
    inside = replace(scope, base=base, part=_number(part, scope))
    if _matters(part):
        for note in notes:
            span = note.span or part.heading.fields[0].span if part.heading.fields else Span(0, 0)
            yield _remark(part, span, note.reason, note.text, scope)
    for field in part.heading.fields:
        row = headers.FIELDS.get(field.name.encode())
        if row is not None:
            on = location_base if field.name == "content-location" else base
            yield from _visit_field(data, field, row, inside.on(_in_heading(on, part)))
    if part.opaque is not None:
        reason, text = _OPAQUE[part.opaque]
        yield _remark(part, part.body, reason, f"{_name(part)} ({part.type}) {text}", scope)
    elif part.multipart is None and not part.message:
        yield from _visit_body(data, part, inside)


def _matters(part: Part) -> bool:
    """Whether anybody asks for the base of a part: of an image nobody does."""
    return part.multipart is not None or part.message or kind_of_type(part.type) in VISITS


def _in_heading(base: Base, part: Part) -> Base:
    """A heading's own base is embedded for the references that stand in it (RFC 1808 §3.1)."""
    own = base.layer is Layer.ENTITY and base.source.endswith(f" of {_name(part)}")
    return replace(base, layer=Layer.EMBEDDED) if own else base


def _visit_field(data: bytes, field: Field, row: headers.Field, scope: Scope) -> Iterator[Item]:
    value = data[field.value.start : field.value.end]
    place = Place("", field.name, Row(row.syntax))
    for span in row.find(value):
        raw = value[span.start : span.end]
        view = headers.folded_view(raw, headers.quote_before(value, span))
        items = visit_url(view.inner, Span(0, len(view.inner)), scope, place)
        yield from lowered(items, view, field.value.start + span.start)


def _visit_body(data: bytes, part: Part, scope: Scope) -> Iterator[Item]:
    """The items of the document that a part holds, if it holds one."""
    kind = kind_of_type(part.type) or Kind.OTHER
    if part.disposition == "attachment" and not scope.policy.attachments:
        return
    if kind is Kind.XML:
        text = f"{_name(part)} ({part.type}): XML is not rewritten yet: passed through"
        yield _remark(part, part.body, Reason.KIND_UNSUPPORTED, text, scope)
    if kind not in VISITS:
        return
    raw = data[part.body.start : part.body.end]
    view = _transfer_view(data, part, raw)
    if view is None:
        text = f"{_name(part)} ({part.type}) does not decode as {part.encoding!r}: passed through"
        yield _remark(part, part.body, Reason.ENCODING_UNSUPPORTED, text, scope)
        return
    document, hindrance = read_document(view.inner, kind, part.charset, scope)
    if hindrance is not None:
        yield _remark(part, part.body, *hindrance, scope)
    items = visit_document(document, edits_only=scope.edits_only)
    for item in _of_part(lowered(items, view, part.body.start), scope):
        yield item
        if isinstance(item, Edit) and part.encoding in IDENTITY - {"binary"}:
            yield from _long_line(data, part, item, scope)


def _of_part(items: Iterator[Item], scope: Scope) -> Iterator[Item]:
    for item in items:
        yield item if isinstance(item, Edit) else item._replace(part=scope.part)


def _long_line(data: bytes, part: Part, edit: Edit, scope: Scope) -> Iterator[Hit]:
    """The remark on a line that an edit makes longer than mail transports."""
    start = data.rfind(b"\n", part.body.start, edit.start) + 1 or part.body.start
    end = data.find(b"\n", edit.end, part.body.end)
    end = part.body.end if end < 0 else end
    grown = len(edit.new) - (edit.end - edit.start)
    if end - start <= MAX_LINE < end - start + grown:
        text = f"a line of {_name(part)} grows beyond {MAX_LINE} octets (RFC 5322 §2.1.1)"
        yield _remark(part, Span(edit.start, edit.end), Reason.LINE_LENGTH, text, scope)


class _Same:
    """The view of a body that is not encoded."""

    __slots__ = ("inner",)

    def __init__(self, raw: bytes) -> None:
        self.inner: bytes = raw

    def lower(self, edits: Sequence[Edit]) -> list[Edit]:
        """Edits of the inner text are edits of the raw text."""
        return list(edits)


def _transfer_view(data: bytes, part: Part, raw: bytes) -> View | None:
    """The view of a body by its Content-Transfer-Encoding; None where it cannot be read."""
    if part.encoding in IDENTITY:
        return _Same(raw)
    eol = b"\r\n" if data.find(b"\r\n", 0, part.body.start) >= 0 else eol_of(data, 0, len(data))
    if part.encoding == "quoted-printable":
        return QuotedPrintableView(raw, part.boundaries, eol)
    if part.encoding == "base64":
        return base64_view(raw, eol)
    return None


def _decoded(data: bytes, part: Part, raw: bytes) -> bytes | None:
    view = _transfer_view(data, part, raw)
    return None if view is None else view.inner


def _document_base(data: bytes, part: Part, scope: Scope) -> Base:
    """The base of the document in a part: its `<base>`, or that of the part."""
    kind = kind_of_type(part.type)
    if kind is not Kind.HTML or part.opaque is not None:
        return scope.base
    inner = _decoded(data, part, data[part.body.start : part.body.end])
    if inner is None:
        return scope.base
    document, _ = read_document(inner, kind, part.charset, scope)
    return html_base(document.text, document.scope)


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
