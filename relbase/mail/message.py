"""Mail: bases down the MIME tree, links in headers and documents, and fields that follow a body."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Final

from relbase.bases.layers import Base, Layer
from relbase.containers import mail
from relbase.containers.fields import Field, eol_of, read_header
from relbase.containers.mail import MESSAGES, Part
from relbase.edit import Edit, Span, growth
from relbase.expressions import regex
from relbase.formats import sniffing
from relbase.html.vocabulary import Row
from relbase.mail.allowed_edits import in_header, in_lines, only_allowed
from relbase.mail.dependent_fields import broken_signatures, follow_bodies, signed
from relbase.mail.documents import (
    DecodedBody,
    decoded_bodies,
    open_document,
    parts_of,
    reader_of,
    visit_body,
)
from relbase.mail.neighbours import HTML, Neighbours
from relbase.mail.parts import (
    STATES_BASE,
    MailPart,
    called,
    message_fields,
    number_of,
    transfer_view,
)
from relbase.notes import Note, Reason
from relbase.results import Entity
from relbase.rewriting.context import Context
from relbase.rewriting.outcomes import (
    Outcome,
    consume,
    lower,
    lower_plain,
    shift,
    split_edits_and_rest,
)
from relbase.rewriting.reference import ABSOLUTE, Place, visit_url
from relbase.values import headers
from relbase.view.charset import WIDE_BOMS
from relbase.view.folding import folded_view, needs_folded_view, plain_in_field
from relbase.view.runs import View

_ENTITY: Final = "message/rfc822"

# Messages in base64 are forbidden (RFC 2046 §5.2.1), but occur; each level may be as long as the
# one around it.
MAX_ENCODED: Final = 3


def visit_message(data: bytes, context: Context, encoded: int = 0) -> Iterator[Outcome]:
    parts = mail.walk(data)
    yield from _unread(data, parts, context)
    skipped = set() if context.task.policy.dkim_signed else signed(parts)
    edits: list[Edit] = []
    silent: set[str] = set()
    neighbours = Neighbours(data, parts) if len(parts) > 1 else None
    for index, entity in enumerate(parts_of(data, parts, context)):
        if context.parts is not None:
            context.parts.append((entity.context.part, entity.part.type))
        for item in () if index in skipped else _visit_part(entity, encoded):
            if isinstance(item, Edit):
                # If references are listed, it only decided which of them stay.
                edits += () if context.wanted.references_only else (item,)
                continue
            if isinstance(item, Note) and item.text.endswith(_SILENT):
                if entity.part.type in silent:
                    continue
                silent.add(entity.part.type)
            yield item
        is_changed = bool(edits) and edits[-1].start >= entity.part.body.start
        if neighbours and is_changed and entity.part.type == HTML and context.wanted.edits_only:
            yield from neighbours.notes(entity)
    if not edits:
        return
    edits, stale = follow_bodies(data, parts, edits)
    for note in chain(broken_signatures(data, parts, edits), stale):
        yield note._replace(part="/".join(filter(None, (context.part, note.part))))
    yield from consume(edits)


def _unread(data: bytes, parts: Sequence[Part], context: Context) -> Iterator[Note]:
    """Notes on messages and multiparts that are not what they claim, so that nothing is read."""
    if data.startswith(tuple(WIDE_BOMS.values())):
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
            yield Note(why[0], number_of(part, context), part.body, f"{called(part)} {why[1]}")


_NO_DELIMITER: Final = (
    "names a boundary that no line begins with: it has no parts, and its links are not looked for"
)
_NO_HEADER: Final = (
    "begins with its body, without a header, and so it is plain text, whose links are "
    "not looked for (RFC 822 §4.1, RFC 2045 §5.2)"
)
_WIDE: Final = "the message is in UTF-16, which mail never is: it has no header that can be read"
# How far into a body to look for its first word.
_BLANK: Final = 1024


def message_entities(
    data: bytes, context: Context, at: int = 0, encoded: int = 0
) -> Iterator[Entity]:
    """The entities of a message that begins at `at` in the file, each with its base."""
    for entity in parts_of(data, mail.walk(data), context):
        part = entity.part
        span = Span(part.header.start + at, part.body.end + at)
        type_ = _ENTITY if part.parent is None else part.type
        base = entity.context.base
        if (opened := open_document(entity)) is not None:
            base = opened[1].base()
        elif entity.states_base and (part.multipart is not None or part.message):
            # The base in the header of a message or multipart is embedded (RFC 1808 §3.1).
            base = replace(base, layer=Layer.EMBEDDED)
        yield Entity(entity.context.part, type_, span, base)
        view = _message_view(entity, encoded)
        if view is not None:
            body = Span(part.body.start + at, part.body.end + at)
            for inner in message_entities(view.inner, entity.context, encoded=encoded + 1):
                yield replace(inner, span=body)


def _visit_part(entity: MailPart, encoded: int) -> Iterator[Outcome]:
    part, task = entity.part, entity.context.task
    reader = reader_of(part, entity.context)
    is_leaf = part.multipart is None and not part.message
    # Nobody needs the base of an image.
    if not is_leaf or (reader is not None and reader.visit is not None):
        for note in entity.notes:
            yield note._replace(span=note.span or Span(part.header.start, part.header.start))
    yield from _visit_header(entity)
    is_passed_over = entity.attached and not task.policy.attachments
    # People may save a part as a file, which is then opened by its name, not by its type.
    holds = None if is_passed_over else task.holds
    view = None
    if part.opaque is Reason.MIME_ENCODED and not is_passed_over:
        view = _message_view(entity, encoded)
    if view is not None:
        # Edits are needed if no empty line ends this header, since they could extend it.
        inside = entity.context if entity.apart else entity.context.with_edits()
        inner = lower(visit_message(view.inner, inside, encoded + 1), view, part.body.start)
        yield from inner if entity.apart else only_allowed(entity, inner, [in_header])
    elif part.opaque is not None:
        yield entity.note(part.opaque, _OPAQUE[part.opaque])
    elif reader is not None:
        yield from () if is_passed_over else visit_body(entity, reader)
    elif is_leaf:
        is_tnef = part.name.lower() == "winmail.dat"
        known = _TNEF if is_tnef else _KNOWN_AS.get(part.type, "")
        is_noted = part.type not in _NOT_NOTED and (known or part.type.startswith(_NOTED))
        start, end = part.body
        begun = entity.data[start : min(end, start + sniffing.LOOKED_AT)]
        if is_noted or (holds is not None and holds(part.name)):
            yield entity.note(Reason.KIND_UNSUPPORTED, f"{known}{_SILENT}")
        elif part.header.fields and (text := sniffing.not_read(begun)):
            yield entity.note(Reason.KIND_DOUBTFUL, text)


def _message_view(entity: MailPart, encoded: int) -> View | None:
    """The view of a message that is encoded as a whole, None if there is none to enter."""
    part = entity.part
    is_message = part.opaque is Reason.MIME_ENCODED and part.type in MESSAGES
    if not is_message or part.disputed or encoded >= MAX_ENCODED:
        return None
    return transfer_view(part, entity.body, entity.eol)


def _visit_header(entity: MailPart) -> Iterator[Outcome]:
    # RFC 1808 §3.1, RFC 2557 §4.2
    part, context = entity.part, entity.context
    forms = _IN_EXTERNAL if part.opaque is Reason.MIME_EXTERNAL else headers.FIELDS
    linking = [field for field in part.header.fields if field.name in forms]
    if not linking or (context.wanted.references_only and not part.boundaries):
        return _visit_fields(entity, linking, forms)  # no edit is refused
    header = Span(part.header.start, part.header.end)
    inside = entity
    if context.wanted.references_only:
        inside = entity._replace(context=context.with_edits())
    return only_allowed(entity, _visit_fields(inside, linking, forms), [partial(in_lines, header)])


_IN_EXTERNAL: Final = {**headers.FIELDS, "content-type": headers.EXTERNAL_BODY}


def _visit_fields(
    entity: MailPart, linking: Sequence[Field], forms: Mapping[str, headers.LinkingField]
) -> Iterator[Outcome]:
    own = around = entity.context.base
    stated_by = ""
    if entity.states_base:
        # For references in a header, the base that the header states is embedded.
        own, around = replace(own, layer=Layer.EMBEDDED), own.outer or own
        stated_by = own.source.partition(" of ")[0].lower()
    for field in linking:
        # A field that states a base is resolved against the base around it, not its own.
        is_outside = field.name == stated_by or field.name in STATES_BASE
        context = entity.context.with_base(around if is_outside else own)
        yield from visit_field(entity.data, field, forms[field.name], context)


def visit_field(
    data: bytes, field: Field, form: headers.LinkingField, context: Context, *, words: bool = True
) -> Iterator[Outcome]:
    value = data[field.value.start : field.value.end]
    place = Place("", field.name, Row(form.syntax))
    for span in form.find(value):
        if context.wanted.edits_only and value.startswith(ABSOLUTE, span.start):
            continue  # needs no view: most are
        raw = value[span.start : span.end]
        # In the quotes of a parameter, a backslash would begin an escape.
        is_parameter = form is headers.EXTERNAL_BODY
        quote = b"\\" if is_parameter else headers.quote_before(value, span)
        offset = field.value.start + span.start
        # The body has the same part, and offsets of its own.
        inside = context.inside(~offset)
        view_of = partial(folded_view, raw, quote, words=words)
        view = view_of() if needs_folded_view(raw) else None
        inner = view.inner if view else raw
        items = visit_url(inner, Span(0, len(inner)), inside, place)
        plain = plain_in_field, view_of, offset
        yield from lower(items, view, offset) if view else lower_plain(items, *plain)


# ---- what is not read

# For text that may contain links but is not searched; one note for each media type.
_SILENT: Final = "is not read: relative links in it are left unchanged"
_NOTED: Final = ("text/", "message/", "application/mbox", "application/http")
# Formats that contain links, and that people know by another name than their type.
_TNEF: Final = "is winmail.dat of Outlook (TNEF) and "
_KNOWN_AS: Final = {
    **dict.fromkeys(("text/rtf", "application/rtf"), "is Rich Text and "),
    **dict.fromkeys(("application/ms-tnef", "application/vnd.ms-tnef"), _TNEF),
}
_REPORTS: Final = (
    *("delivery-status", "disposition-notification", "feedback-report", "tracking-status"),
    *("global-delivery-status", "global-disposition-notification", "global-headers"),
)
_NOT_NOTED: Final = frozenset(
    ("text/plain", "text/rfc822-headers", "text/csv", *(f"message/{name}" for name in _REPORTS))
)


_OPAQUE: Final = {
    Reason.MIME_SIGNED: "is signed: left unchanged (RFC 1847 §2.1)",
    Reason.MIME_SEALED: "is sealed: left unchanged",
    Reason.MIME_PARTIAL: "is a piece of a message: left unchanged",
    Reason.MIME_EXTERNAL: (
        "has its body elsewhere: only the URL of that place, if there is one, becomes absolute"
    ),
    Reason.MIME_ENCODED: "is encoded as a whole: left unchanged",
    Reason.MIME_BOUNDARY: "names no boundary: left unchanged",
    Reason.LIMIT_MIME_DEPTH: "is nested too deeply: left unchanged",
    Reason.LIMIT_MIME_PARTS: "is beyond the limit of parts: left unchanged, like the rest",
    Reason.LIMIT_HEADER: "has too long a header: left unchanged",
}


# ---- messages in files. Apple Mail writes a first line `1234      ` with the size of the message
# in bytes. A property list in XML (flags, dates) or nothing follows these bytes, and is not part of
# the message.


_first_line: Final = regex(rb"([0-9]{1,18} {0,20})\r?\n(?=[!-9;-~]{1,99}[ \t]{0,9}:)").match
_property_list: Final = regex(rb"[\t\n\r ]*+(?:<\?xml|<!DOCTYPE plist|<plist|\Z)").match


def read_envelope(data: bytes) -> tuple[Span | None, Span]:
    """Return the spans of the size before a message and of the message, empty if that is wrong."""
    first = _first_line(data)
    if first is None:
        return None, Span(0, len(data))
    start = first.end()
    end = start + int(first[1])
    is_true = end <= len(data) and _property_list(data, end) is not None
    return Span(*first.span(1)), Span(start, end if is_true else start)


def fields_of_mail(data: bytes) -> list[tuple[str, str]]:
    _, (start, _) = read_envelope(data)
    return message_fields(data, read_header(data, start, len(data), eol_of(data, 0, len(data))))


def visit_mail(data: bytes, context: Context) -> Iterator[Outcome]:
    """The items of a message; for Apple Mail, with an edit of the line that states its size."""
    number, inside = read_envelope(data)
    if number is None:
        return visit_message(data, context)
    return _visit_enveloped(data, context, number, inside)


def _visit_enveloped(
    data: bytes, context: Context, number: Span, inside: Span
) -> Iterator[Outcome]:
    start, end = inside
    if start == end:
        yield Note(Reason.FIELD_STALE, context.part, number, _WRONG)
        return
    items = visit_message(data[start:end], context)
    findings, edits = yield from split_edits_and_rest(
        items, start, at_once=context.wanted.edits_only
    )
    yield from shift(findings, start)
    if edits:
        at, after = number
        count = b"%d" % (end - start + growth(edits))
        yield Edit(at, after, count.ljust(after - at))  # as wide as its padding allows
        made: Iterator[Edit] = consume(edits)
        yield from shift(made, start)


_WRONG: Final = (
    "the first line is not the size of the message after it, as it is in files of Apple Mail: "
    "left unchanged; without that line and the property list at the end it is an ordinary message"
)


def mail_entities(data: bytes, context: Context) -> Iterator[Entity]:
    _, (start, end) = read_envelope(data)
    return message_entities(data[start:end], context, start)


def decoded_in_mail(data: bytes, context: Context) -> Iterator[DecodedBody]:
    _, (start, end) = read_envelope(data)
    return decoded_bodies(data[start:end], start, context)


def mail_base(data: bytes, context: Context) -> Base:
    return next(mail_entities(data, context)).base
