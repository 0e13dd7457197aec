"""Mail: bases down the MIME tree, references in headers and documents, and what follows a body.

Strategy: `containers.mail` lists the parts. The base of each is established from its own header,
within that of the part around it (RFC 1808 §3.2). The references of its header are visited, and
when it holds a document, that is read through the views of its transfer encoding and charset and
visited like any other. In the end the fields that describe a body (Content-Length, Lines,
Content-MD5) follow it, innermost first.

To mind: nothing of what is signed or sealed is entered. The edits of a message are complete before
the first is handed on, since a header describes the body after it.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer
from relbase.containers import mail
from relbase.containers.parts import MESSAGES, Opaque
from relbase.edit import Edit, Span
from relbase.mail.bases import PartNote, numbered, part_bases
from relbase.mail.bodies import line_end, transfer_view
from relbase.mail.derived import follow_bodies
from relbase.mail.documents import bases_by_links, open_document, reader_of, visit_body
from relbase.mail.entity import MailPart, called, fit_header, mail_part
from relbase.mail.header import linking_fields, visit_header
from relbase.mail.signatures import broken_signatures, signed
from relbase.notes import Note, Reason
from relbase.results import Entity
from relbase.rewriting.outward import lower
from relbase.view.charset import WIDE_BOMS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.bases.layers import Base
    from relbase.containers.parts import Part
    from relbase.mail.bases import PartBase
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item
    from relbase.view.runs import View

_ENTITY: Final = "message/rfc822"

# Messages in base64 are forbidden (RFC 2046 §5.2.1), and people get them; each level is as long as
# the one around it.
MAX_ENCODED: Final = 3


def visit_message(data: bytes, context: Context, encoded: int = 0) -> Iterator[Item]:
    """The items of a message, in offsets of its bytes."""
    parts = mail.walk(data)
    eol = line_end(data)
    yield from _unread(data, parts, context)
    skipped = set() if context.task.policy.dkim_signed else signed(parts)
    edits: list[Edit] = []
    silent: set[str] = set()
    for index, stated in enumerate(stated_parts(data, eol, parts, context)):
        if index in skipped:
            continue
        for item in _visit_part(data, eol, stated, context, encoded):
            if isinstance(item, Edit):
                edits.append(item)
            elif not (isinstance(item, Note) and _is_repeated(item, stated.part, silent)):
                yield item
    edits, stale = follow_bodies(data, parts, edits, lambda part, raw: _decoded(part, raw, eol))
    for noted in chain(broken_signatures(data, parts, edits), stale):
        yield numbered(noted, context)
    yield from edits


def _unread(data: bytes, parts: Sequence[Part], context: Context) -> Iterator[Note]:
    """The notes on messages and multiparts that are not what they state, so nothing is read."""
    if data.startswith(_WIDE_BOMS):
        yield Note(Reason.KIND_UNSUPPORTED, context.part, Span(0, 2), _WIDE)
    for part in parts:
        header, (start, end) = part.header, part.body
        is_message = part.parent is None or parts[part.parent].message
        if part.multipart is not None and part.multipart.preamble.end == end:
            why = Reason.MIME_BOUNDARY, _NO_DELIMITER
        elif is_message and header.start == header.end:
            why = Reason.KIND_UNSUPPORTED, _NO_HEADER
        else:
            continue
        if not part.opaque and data[start : min(end, start + _BLANK)].strip():
            note = Note(why[0], "", part.body, f"{called(part)} {why[1]}")
            yield numbered(PartNote(part, note), context)


_NO_DELIMITER: Final = (
    "names a boundary that no line of it begins with: it has no parts, and no links are looked for"
)
_NO_HEADER: Final = (
    "begins with its body, without a header: that is plain text, in which no links are looked for "
    "(RFC 822 §4.1, RFC 2045 §5.2)"
)
_WIDE_BOMS: Final = tuple(WIDE_BOMS.values())
_WIDE: Final = "the message is in UTF-16, which mail never is: it has no header that can be read"
# How far into a body its first word is looked for.
_BLANK: Final = 1024


def message_entities(data: bytes, context: Context, encoded: int = 0) -> Iterator[Entity]:
    """The entities of a message, each with its base."""
    parts = mail.walk(data)
    eol = line_end(data)
    for stated in stated_parts(data, eol, parts, context):
        part = stated.part
        span = Span(part.header.start, part.body.end)
        type_ = _ENTITY if part.parent is None else part.type
        entity = mail_part(data, eol, stated, context)
        document = open_document(entity)
        base = _own_base(stated) if document is None else document.base()
        yield Entity(entity.context.part, type_, span, base)
        view = _message_view(entity, encoded)
        if view is not None:
            for inner in message_entities(view.inner, entity.context, encoded + 1):
                yield replace(inner, span=part.body)


def _own_base(stated: PartBase) -> Base:
    """The base of a part: what its header states is its content's own (RFC 1808 §3.1)."""
    is_composite = stated.part.multipart is not None or stated.part.message
    if stated.states and is_composite:
        return replace(stated.base, layer=Layer.EMBEDDED)
    return stated.base


def stated_parts(
    data: bytes, eol: bytes, parts: Sequence[Part], context: Context
) -> Iterator[PartBase]:
    """The parts with their bases; what only a document names has that document's."""
    linked = bases_by_links(data, eol, parts, context)
    for index, stated in enumerate(part_bases(data, parts, context)):
        yield stated._replace(base=linked[index]) if index in linked else stated


def _visit_part(
    data: bytes, eol: bytes, stated: PartBase, around: Context, encoded: int
) -> Iterator[Item]:
    """The items of one part: of its header, then of the document in it."""
    part, _, _, attached, notes = stated
    linking = linking_fields(part)
    reader = reader_of(part, around)
    is_leaf = part.multipart is None and not part.message
    if not (linking or notes or is_leaf):
        return
    entity = mail_part(data, eol, stated, around)
    # Of an image nobody asks for the base.
    if not is_leaf or (reader is not None and reader.visit is not None):
        for note in notes:
            yield note._replace(span=note.span or Span(part.header.start, part.header.start))
    if linking:
        yield from visit_header(entity, stated, linking)
    is_passed_over = attached and not around.task.policy.attachments
    view = None if is_passed_over else _message_view(entity, encoded)
    if view is not None:
        inner = visit_message(view.inner, entity.context, encoded + 1)
        yield from fit_header(entity, lower(inner, view, part.body.start))
    elif part.opaque is not None:
        yield entity.note(*_OPAQUE[part.opaque])
    elif reader is not None:
        yield from () if is_passed_over else visit_body(entity, reader)
    elif is_leaf and (_is_noted(part) or (not is_passed_over and _is_named(part, around))):
        yield entity.note(Reason.KIND_UNSUPPORTED, f"{_known_as(part)}{_SILENT}")


def _message_view(entity: MailPart, encoded: int) -> View | None:
    """What shows a message that is encoded as a whole, None where there is none to enter."""
    part = entity.part
    if part.opaque is not Opaque.ENCODED or part.type not in MESSAGES or part.disputed:
        return None
    if encoded >= MAX_ENCODED:
        return None
    return transfer_view(part, entity.body, entity.eol)


# Text that may hold links, and in which none are looked for: it is said once for each type.
_SILENT: Final = "is not looked into: relative links in it stay as they are"
_NOTED: Final = ("text/", "message/", "application/mbox", "application/http")
# Formats that hold links, and that people know by another name than their type.
_RTF: Final = "is Rich Text and "
_TNEF: Final = "is winmail.dat of Outlook (TNEF) and "
_KNOWN_AS: Final = {
    "text/rtf": _RTF,
    "application/rtf": _RTF,
    "application/ms-tnef": _TNEF,
    "application/vnd.ms-tnef": _TNEF,
}
_NOT_NOTED: Final = frozenset(
    [
        "text/plain",
        "text/rfc822-headers",
        "text/csv",
        "message/delivery-status",
        "message/disposition-notification",
        "message/feedback-report",
        "message/global-delivery-status",
        "message/global-disposition-notification",
        "message/global-headers",
        "message/tracking-status",
    ]
)


def _is_noted(part: Part) -> bool:
    is_noted = part.type.startswith(_NOTED) or bool(_known_as(part))
    return is_noted and part.type not in _NOT_NOTED


def _known_as(part: Part) -> str:
    is_tnef = part.name.lower() == "winmail.dat"
    return _TNEF if is_tnef else _KNOWN_AS.get(part.type, "")


def _is_named(part: Part, around: Context) -> bool:
    """Whether a part is saved as a file that is opened as another type than it is said to be."""
    holds = around.task.holds
    return holds is not None and holds(part.name)


def _is_repeated(note: Note, part: Part, silent: set[str]) -> bool:
    """Whether it has been said of a type that it is not looked into."""
    if note.reason is not Reason.KIND_UNSUPPORTED or not note.text.endswith(_SILENT):
        return False
    is_known = part.type in silent
    silent.add(part.type)
    return is_known


def _decoded(part: Part, raw: bytes, eol: bytes) -> bytes | None:
    view = transfer_view(part, raw, eol)
    return None if view is None else view.inner


_OPAQUE: Final = {
    Opaque.SIGNED: (Reason.MIME_SIGNED, "is signed: left unchanged (RFC 1847 §2.1)"),
    Opaque.SEALED: (Reason.MIME_SEALED, "is sealed: left unchanged"),
    Opaque.PARTIAL: (Reason.MIME_PARTIAL, "is a piece of a message: left unchanged"),
    Opaque.EXTERNAL: (
        Reason.MIME_EXTERNAL,
        "has its body elsewhere: if it says where by a URL, that alone becomes absolute",
    ),
    Opaque.ENCODED: (Reason.MIME_ENCODED, "is encoded as a whole: left unchanged"),
    Opaque.BOUNDARY: (Reason.MIME_BOUNDARY, "names no boundary: left unchanged"),
    Opaque.DEPTH: (Reason.LIMIT_MIME_DEPTH, "nests too deep: left unchanged"),
    Opaque.PARTS: (Reason.LIMIT_MIME_PARTS, "is one part too many: left unchanged, with the rest"),
    Opaque.HEADER: (Reason.LIMIT_HEADER, "has too long a header: left unchanged"),
}
