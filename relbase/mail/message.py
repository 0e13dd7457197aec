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

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.headings import mime_statements, snapshot_statements
from relbase.bases.layers import Base, Layer, establish
from relbase.containers import mail
from relbase.containers.fields import first, text_of
from relbase.containers.parts import IDENTITY, Opaque
from relbase.edit import Edit, Span
from relbase.kind import Kind, kind_of_type
from relbase.mail.bodies import fitting, line_end, transfer_view
from relbase.mail.derived import following
from relbase.mail.signatures import broken, signed
from relbase.notes import Note, Reason
from relbase.references import headers
from relbase.references.vocabulary import Row
from relbase.registry import States, bases
from relbase.results import Entity
from relbase.rewriting.context import Hit, Place, Room, Status, allowed_growth, visit_url
from relbase.rewriting.document import VISITS, read_document, visit_document
from relbase.rewriting.html import html_base
from relbase.rewriting.outward import lowered, parted
from relbase.url.resolver import is_absolute
from relbase.view.folding import folded_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.bases.layers import Statement
    from relbase.containers.fields import Field
    from relbase.containers.parts import Part
    from relbase.rewriting.context import Item, Scope

# What a relative statement of a base may be resolved on. With a limit the bases of 10,000 parts,
# each another one, are 80 MB at most; without it a long base makes them as many times as long.
MAX_BASE: Final = 8_000

# Longer ones nobody writes: servers refuse URLs of a few kilobytes. All parts of a message may
# inherit it, and to resolve one reference takes as long as the base is.
MAX_STATED_BASE: Final = 1 << 16

_ENTITY: Final = "message/rfc822"


class _Established(NamedTuple):
    """A part, its base, and what was remarked on that.

    Args:
        part: the part.
        base: of what is in it.
        states: whether its own heading states that base.
        attached: whether it is an attachment or in one.
        notes: the remarks on its base.
    """

    part: Part
    base: Base
    states: bool
    attached: bool
    notes: list[Note]


def visit_message(data: bytes, scope: Scope, *, detect: bool = True) -> Iterator[Item]:
    """The items of a message, in offsets of its bytes.

    Args:
        data: the message.
        scope: of what is around it; its `part` precedes the numbers of the parts.
        detect: whether marks that programs leave may state the retrieval URL.
    """
    parts = mail.walk(data)
    eol = line_end(data)
    skipped = set() if scope.policy.dkim_signed else signed(parts)
    room = Room(allowed_growth(len(data)))
    scope = scope._replace(room=room)
    found: list[Edit] = []
    for index, established in enumerate(_established(data, parts, scope, detect=detect)):
        if index in skipped:
            continue
        number = _number(established.part, scope)
        for item in _visit_part(data, established, scope, eol):
            if isinstance(item, Edit):
                found.append(item)
            else:
                yield item if item.part == number else item._replace(part=number)
    if room.left < 0:
        yield _remark(parts[0], Span(0, len(data)), Reason.LIMIT_GROWTH, _TOO_LONG, scope)
        return
    edits, stale = following(data, parts, found, lambda part, raw: _decoded(part, raw, eol))
    for part, span, text in broken(data, parts, edits):
        yield _remark(part, span, Reason.SIGNATURE_BROKEN, f"{_name(part)} {text}", scope)
    for part, span, reason, text in stale:
        yield _remark(part, span, reason, text, scope)
    yield from edits


_TOO_LONG: Final = "the links would make the message too long: it is passed through"


def message_entities(data: bytes, scope: Scope, *, detect: bool = True) -> Iterator[Entity]:
    """The entities of a message, each with its base.

    Args:
        data: the message.
        scope: of what is around it.
        detect: whether marks that programs leave may state the retrieval URL.
    """
    parts = mail.walk(data)
    eol = line_end(data)
    for part, base, *_ in _established(data, parts, scope, detect=detect):
        span = Span(part.heading.start, part.body.end)
        type_ = _ENTITY if part.parent is None else part.type
        document = _document_base(data, part, scope._replace(base=base), eol)
        yield Entity(_number(part, scope), type_, span, document)


def _number(part: Part, scope: Scope) -> str:
    return scope.part + part.number if part.number else scope.part.rstrip("/")


def _name(part: Part) -> str:
    return f"part {part.number}" if part.number else "the message"


def _established(
    data: bytes, parts: Sequence[Part], scope: Scope, *, detect: bool
) -> Iterator[_Established]:
    """The parts of a message with their bases, each within that of the part around it."""
    path: dict[int, _Established] = {}  # the parts around, and no others: bases may be long
    for index, part in enumerate(parts):
        around = scope.base
        notes: list[Note] = []
        if part.parent is not None:
            while next(reversed(path)) != part.parent:
                path.popitem()
            around = path[part.parent].base
        elif (
            detect
            and scope.base.layer is Layer.NONE
            and (snapshot := first(data, part.heading, _SNAPSHOT)) is not None
        ):
            statements, refused = snapshot_statements(snapshot)
            around, more = establish(statements, around, profile=scope.profile)
            notes = [note._replace(part=_number(part, scope)) for note in (*refused, *more)]
            if refused and not statements:
                around = replace(around, refused=(*notes, *around.refused))
        attached = part.parent is not None and (
            path[part.parent].attached or part.disposition == "attachment"
        )
        path[index] = _established_part(data, part, around, scope, (attached, notes))
        yield path[index]


def _established_part(
    data: bytes, part: Part, around: Base, scope: Scope, known: tuple[bool, list[Note]]
) -> _Established:
    attached, notes = known
    fields = [
        (field.name, text_of(data, field), field.value)
        for field in part.heading.fields
        if field.name in _BASE_FIELDS
    ]
    stated, long = _resolvable(mime_statements(fields, _name(part)), around, part, scope)
    number = _number(part, scope)
    base, more = establish(stated, around, profile=scope.profile, part=number)
    if long:
        base = replace(base, refused=(*long, *base.refused))
    states = bool(stated) and base.outer is around
    return _Established(part, base, states, attached, [*notes, *long, *more])


_OUTSIDE: Final = frozenset(row.name.lower() for row in bases(States.MAIL) if not row.names_part)
_BASE_FIELDS: Final = frozenset(row.name.lower() for row in bases(States.MAIL))


def _resolvable(
    stated: list[Statement], around: Base, part: Part, scope: Scope
) -> tuple[list[Statement], list[Note]]:
    """The statements without those that are too long, or relative to what is."""
    kept = [found for found in stated if len(found.value) <= MAX_STATED_BASE]
    if len(around.url) > MAX_BASE:
        kept = [found for found in kept if is_absolute(found.value, scope.profile, around.url)]
    if len(kept) == len(stated):
        return stated, []
    text = f"a base of {_name(part)} is too long, or relative to one that is: it does not count"
    return kept, [Note(Reason.BASE_UNSUITABLE, _number(part, scope), None, text)]


_SNAPSHOT: Final = "snapshot-content-location"


def _remark(part: Part, span: Span, reason: Reason, text: str, scope: Scope) -> Hit:
    return Hit(*span, "", "", "", "", None, scope.base, None, (reason, text), _number(part, scope))


def _visit_part(data: bytes, established: _Established, scope: Scope, eol: bytes) -> Iterator[Item]:
    """The items of one part: of its heading, then of the document in it."""
    part, base, _, attached, notes = established
    inside = scope._replace(base=base, part=_number(part, scope))
    if _matters(part):
        for note in notes:
            span = note.span or Span(part.heading.start, part.heading.start)
            yield _remark(part, span, note.reason, note.text, scope)
    linking = [field for field in part.heading.fields if _row(field, part) is not None]
    if linking:
        heading = Span(part.heading.start, part.heading.end)
        items = _visit_heading(data, established, linking, inside)
        yield from _transported(data, (part, heading, eol), items, scope)
    if part.opaque is not None:
        reason, text = _OPAQUE[part.opaque]
        yield _remark(part, part.body, reason, f"{_name(part)} ({part.type}) {text}", scope)
    elif part.multipart is None and not part.message and (scope.policy.attachments or not attached):
        yield from _visit_body(data, part, inside, eol)


def _matters(part: Part) -> bool:
    """Whether anybody asks for the base of a part: of an image nobody does."""
    return part.multipart is not None or part.message or kind_of_type(part.type) in VISITS


def _row(field: Field, part: Part) -> headers.Field | None:
    """How a field holds references, None when it holds none."""
    if field.name == "content-type":
        return headers.EXTERNAL_BODY if part.opaque is Opaque.EXTERNAL else None
    return headers.FIELDS.get(field.name.encode())


def _visit_heading(
    data: bytes, established: _Established, linking: Sequence[Field], scope: Scope
) -> Iterator[Item]:
    """The items of the fields that hold references (RFC 1808 §3.1)."""
    part, base, states, *_ = established
    # A heading's own base is embedded for the references that stand in it.
    heading_base = replace(base, layer=Layer.EMBEDDED) if states else base
    around = base.outer if states and base.outer is not None else base
    stated_by = base.source.partition(" of ")[0].lower() if states else ""
    for field in linking:
        # What states a base is resolved on the base around: no field is a base of itself.
        is_outside = field.name == stated_by or field.name in _OUTSIDE
        row = _row(field, part)
        if row is not None:
            yield from _visit_field(
                data, field, row, scope.on(around if is_outside else heading_base)
            )


def _visit_field(data: bytes, field: Field, row: headers.Field, scope: Scope) -> Iterator[Item]:
    value = data[field.value.start : field.value.end]
    place = Place("", field.name, Row(row.syntax))
    for span in row.find(value):
        raw = value[span.start : span.end]
        # Between the quotes of a parameter a backslash is none.
        is_parameter = row is headers.EXTERNAL_BODY
        view = folded_view(raw, b"\\" if is_parameter else headers.quote_before(value, span))
        items = visit_url(view.inner, Span(0, len(view.inner)), scope, place)
        yield from lowered(items, view, field.value.start + span.start)


def _visit_body(data: bytes, part: Part, scope: Scope, eol: bytes) -> Iterator[Item]:
    """The items of the document that a part holds, if it holds one."""
    kind = kind_of_type(part.type) or Kind.OTHER
    if kind is Kind.XML:
        text = f"{_name(part)} ({part.type}): XML is not rewritten yet: passed through"
        yield _remark(part, part.body, Reason.KIND_UNSUPPORTED, text, scope)
    if kind not in VISITS:
        return
    view = transfer_view(part, data[part.body.start : part.body.end], eol)
    if view is None:
        text = f"{_name(part)} ({part.type}) does not decode as {part.encoding!r}: passed through"
        yield _remark(part, part.body, Reason.ENCODING_UNSUPPORTED, text, scope)
        return
    document, hindrance = read_document(view.inner, kind, part.charset, scope)
    if hindrance is not None:
        yield _remark(part, part.body, *hindrance, scope)
    found = _in_room(visit_document(document, edits_only=scope.edits_only), scope.room)
    items = lowered(found, view, part.body.start)
    if part.encoding in IDENTITY:
        items = _transported(data, (part, part.body, eol), items, scope)
    yield from items


def _in_room(items: Iterable[Item], room: Room | None) -> Iterator[Item]:
    """The items, without the edits if those are too much: nothing need be encoded for them."""
    hits, edits = parted(items)
    yield from hits
    if room is None or room.left >= 0:
        yield from edits


def _transported(
    data: bytes, place: tuple[Part, Span, bytes], items: Iterable[Item], scope: Scope
) -> Iterator[Item]:
    """The items of a heading or of a body that is not encoded, with the edits that mail allows."""
    part, within, eol = place
    hits, edits = parted(items)
    kept, remarks = fitting(data, within, edits, part.boundaries, eol)
    refused = [span for span, reason, _ in remarks if reason is Reason.MIME_BOUNDARY]
    yield from _left_alone(hits, refused) if refused else hits
    for span, reason, text in remarks:
        if reason is not Reason.LINE_LENGTH or part.encoding != "binary":
            yield _remark(part, span, reason, f"{_name(part)}: {text}", scope)
    yield from kept


def _left_alone(hits: Iterable[Hit], lines: Sequence[Span]) -> Iterator[Hit]:
    """The hits, those in some lines with the status of what is not written after all."""
    starts = [line.start for line in lines]
    for hit in hits:
        index = bisect_right(starts, hit.start) - 1
        is_inside = index >= 0 and hit.start < lines[index].end
        is_rewritten = hit.status is Status.REWRITTEN
        yield hit._replace(status=Status.KEPT) if is_inside and is_rewritten else hit


def _decoded(part: Part, raw: bytes, eol: bytes) -> bytes | None:
    view = transfer_view(part, raw, eol)
    return None if view is None else view.inner


def _document_base(data: bytes, part: Part, scope: Scope, eol: bytes) -> Base:
    """The base of the document in a part: its `<base>`, or that of the part."""
    kind = kind_of_type(part.type)
    if kind is not Kind.HTML or part.opaque is not None:
        return scope.base
    inner = _decoded(part, data[part.body.start : part.body.end], eol)
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
