"""The documents in message parts: decoded from their transfer encoding, then visited as usual."""

from __future__ import annotations

import re
from array import array
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers import mail
from relbase.containers.mail import IDENTITY, Part
from relbase.edit import Edit, Span
from relbase.expressions import regex
from relbase.mail.allowed_edits import (
    Rule,
    in_both_readings,
    in_header,
    in_lines,
    only_allowed,
    refuses_any,
)
from relbase.mail.parts import MailPart, part_bases, transfer_view
from relbase.notes import Note, Reason
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Context, Opened, Reader, Wanted
from relbase.rewriting.outcomes import Outcome, Reference, batched, lower, shift, single
from relbase.view.base64 import Base64View
from relbase.view.charset import lookup
from relbase.view.folding import calendar_view

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.view.runs import View


def reader_of(part: Part, context: Context) -> Reader | None:
    if part.opaque is not None or part.multipart is not None or part.message:
        return None
    if part.type == _CALENDAR:
        return _CALENDARS
    return context.task.reader(part.type, part.name)


def open_document(entity: MailPart, reader: Reader | None = None) -> tuple[View, Opened] | None:
    """Return the view of a body and the document in it, None if there is none to be read."""
    reader = reader or reader_of(entity.part, entity.context)
    if reader is None:
        return None
    start, end = entity.part.body
    view = transfer_view(entity.part, entity.data[start:end], entity.eol)
    if view is None:
        return None
    return view, reader.read(view.inner, entity.part.charset, entity.context)


def visit_body(entity: MailPart, reader: Reader) -> Iterator[Outcome]:
    part, wanted = entity.part, entity.context.wanted
    if (opened := open_document(entity, reader)) is None:
        text = f"does not decode as {part.encoding!r}: left unchanged"
        return iter((entity.note(Reason.ENCODING_UNSUPPORTED, text),))
    view, document = opened
    notes = [*map(partial(Note._replace, span=part.body), document.notes)]
    if isinstance(view, Base64View) and view.footer:
        span = Span(part.body.start + view.footer, part.body.end)
        notes.insert(0, entity.note(Reason.ENCODING_UNSUPPORTED, _FOOTER, span))
    if wanted.references_only and not _may_be_refused(entity, document, view):
        items = lower(document.visit(), view, part.body.start)
    else:
        visited = document.visit(Wanted.ALL if wanted.references_only else wanted)
        items = _fitted(entity, visited, view)
    return chain(notes, items) if notes else items


def _fitted(entity: MailPart, items: Iterable[Outcome], view: View) -> Iterator[Outcome]:
    part = entity.part
    if (at := view.inner.find(_CLEAR_SIGNED)) >= 0:
        items = _signed(entity, items, at)
    items = lower(items, view, part.body.start)
    rules: list[Rule] = []
    if part.disputed:
        rules.append(in_both_readings)
    elif part.encoding in IDENTITY:
        rules.append(partial(in_lines, part.body))
    rules += () if entity.apart else (in_header,)
    return only_allowed(entity, items, rules) if rules else items


def _signed(entity: MailPart, items: Iterable[Outcome], at: int) -> Iterator[Outcome]:
    """The items of a document, with a note if an edit breaks a signature in it."""
    is_edited = False
    for item in items:
        is_edited = is_edited or isinstance(item, Edit)
        yield item
    if is_edited:
        yield entity.note(Reason.SIGNATURE_BROKEN, _NO_LONGER_HOLDS, Span(at, at + 1))


def _may_be_refused(entity: MailPart, document: Opened, view: View) -> bool:
    """Whether mail may refuse an edit of a body, so that its reference stays.

    A visit for edits and then one for links take a tenth of the time of one visit for both.
    """
    part, budget = entity.part, entity.context.budget
    is_alone = entity.apart and not part.disputed
    is_in_lines = part.encoding in IDENTITY and part.boundaries
    if is_alone and not (is_in_lines and _dashes(entity.data, *part.body)):
        return False
    if budget is None or entity.context.local_files is not None:
        return True
    before = budget.state()
    outcomes = document.visit(Wanted.EDITS)
    if is_alone:
        placed = shift(outcomes, part.body.start)
        is_refused = refuses_any(
            entity, (outcome for outcome in placed if isinstance(outcome, Edit))
        )
    else:
        edits = (outcome for outcome in outcomes if isinstance(outcome, Edit))
        notes = [outcome for outcome in _fitted(entity, edits, view) if isinstance(outcome, Note)]
        is_refused = any(note.reason not in _OF_ALL_EDITS for note in notes)
    budget.restore(before)  # the visit for links is charged instead
    return is_refused


# The start of a line that an edit may turn into a delimiter. No inserted URL begins like this.
_dashes: Final = regex(rb"(?<![^\r\n])--").search
# Notes with these reasons refuse no edit.
_OF_ALL_EDITS: Final = frozenset((Reason.SIGNATURE_BROKEN, Reason.LINE_LENGTH))


_FOOTER: Final = "has text after its base64, which readers drop or show as it is: left unchanged"
# RFC 9580 §7
_CLEAR_SIGNED: Final = b"-----BEGIN PGP SIGNED MESSAGE-----"
_NO_LONGER_HOLDS: Final = "contains OpenPGP-signed text, whose signature may no longer be valid"


# ---- MHTML by Chromium

_SHEET: Final = "text/css"
_CID: Final = "cid:"
_BLINK: Final = "@mhtml.blink"


def parts_of(data: bytes, parts: Sequence[Part], context: Context) -> Iterator[MailPart]:
    """Return an iterator over the parts of a message with their bases.

    Chromium moves `<style>` and `srcdoc` into parts that the document links as `cid:`. These have
    the base of the document (rule 18), not that of the message.
    """
    entities = part_bases(data, parts, context)
    # Of a single part, no other one can link it.
    linked = _linked(data, parts, context) if len(parts) > 1 else {}
    if not linked:
        return entities
    return (
        entity._replace(context=entity.context.with_base(linked.get(index, entity.context.base)))
        for index, entity in enumerate(entities)
    )


def _linked(data: bytes, parts: Sequence[Part], context: Context) -> dict[int, Base]:
    bases: dict[int, Base] = {}
    named = {name: index for index, part in enumerate(parts) if (name := _name_alone(data, part))}
    if not named:
        return bases
    context = context._replace(wanted=Wanted.REFERENCES, budget=Budget(len(data)))
    for start, entity in enumerate(part_bases(data, parts, context)):
        waiting = [] if start in named.values() else [entity]
        while waiting:
            linking = waiting.pop()
            opened = open_document(linking)
            for outcome in opened[1].visit() if opened else ():
                index = named.get(outcome.reference) if isinstance(outcome, Reference) else None
                if isinstance(outcome, Reference) and index is not None and index not in bases:
                    # A link before a late `<base>` is resolved against the base around it.
                    is_early = opened is not None and outcome.base is linking.context.base
                    bases[index] = opened[1].base() if opened and is_early else outcome.base
                    # It may itself link other parts.
                    inside = entity.context.with_base(bases[index])
                    waiting.append(entity._replace(part=parts[index], context=inside))
    return bases


def _name_alone(data: bytes, part: Part) -> str | None:
    """The `cid:` URL of a style sheet or frame written by Chromium that has no other URL."""
    values = {
        field.name: data[field.value.start : field.value.end].decode("utf-8", "surrogateescape")
        for field in part.header.fields
        if field.name in {"content-location", "content-id"}
    }
    location = values.get("content-location")
    if location is not None:
        is_name = part.type == _SHEET and location[:4].lower() == _CID
        return location if is_name else None
    name = values.get("content-id", "").strip("<>")
    return _CID + name if name.endswith(_BLINK) else None


class DecodedBody(NamedTuple):
    """A part's document in quoted-printable or base64, decoded to be shown to people."""

    part: str  # the number of the part
    span: Span  # of its body, in the file
    encoding: str  # its Content-Transfer-Encoding, in lower case
    inner: bytes  # the decoded bytes
    label: str | None  # the charset label in its header, None for none
    spans: array[int]  # where each of its references begins and ends in `inner`
    edits: deque[Edit]  # its edits, with offsets in `inner`


def decoded_bodies(data: bytes, at: int, context: Context) -> Iterator[DecodedBody]:
    context = context._replace(wanted=Wanted.ALL, budget=Budget(len(data)))
    for entity in parts_of(data, mail.walk(data), context):
        part = entity.part
        if part.encoding in IDENTITY or (opened := open_document(entity)) is None:
            continue
        inner = opened[0].inner
        spans, edits = array("Q"), deque[Edit]()
        for item in opened[1].visit():
            if isinstance(item, Edit):
                edits.append(item)
            elif isinstance(item, Reference):
                spans.extend(item.span)
        span = Span(part.body.start + at, part.body.end + at)
        where = entity.context.part, span, part.encoding
        yield DecodedBody(*where, inner, part.charset, spans, edits)


# ---- invitations: the HTML that calendars carry in `X-ALT-DESC;FMTTYPE=text/html` (RFC 5545)

_CALENDAR: Final = "text/calendar"

# contentline = name *(";" param ) ":" value CRLF   (RFC 5545 §3.1), folded anywhere
_described: Final = regex(
    rb"""^x-alt-desc ((?:; (?:[^":;\n]++ | \n[ \t] | "[^"\n]*+")*+)*+) :
    ([^\r\n]*+ (?:\r?\n[ \t][^\r\n]*+)*+)""",
    re.MULTILINE | re.IGNORECASE | re.VERBOSE,
)
_is_html: Final = regex(rb";fmttype=\"?text/html\"?(?:;|\Z)", re.IGNORECASE).search
_UNREAD: Final = "the calendar is not in UTF-8 (RFC 5545 §3.1.4): links in it are left unchanged"


class Calendar(NamedTuple):
    data: bytes
    context: Context
    notes: tuple[Note, ...] = ()

    def visit(self, wanted: Wanted | None = None) -> Iterator[Outcome]:
        """The items of the HTML descriptions, with offsets in the calendar."""
        context = self.context if wanted is None else self.context._replace(wanted=wanted)
        reader = context.task.reader("text/html", "")
        if self.notes or reader is None or reader.visit is None:
            return
        for description in _described.finditer(self.data):
            if _is_html(re.sub(rb"\r?\n[ \t]", b"", description[1])):
                view, start = calendar_view(description[2]), description.start(2)
                inside = context.inside(start).nested()
                yield from lower(single(reader.visit(view.inner, inside)), view, start)

    def base(self) -> Base:
        return self.context.base


class _Calendars:
    visit = staticmethod(lambda data, context: batched(Calendar(data, context).visit()))

    def read(self, data: bytes, label: str | None, context: Context) -> Calendar:
        """Read a calendar; one that is not in UTF-8 is left unchanged, with a note."""
        is_read = data.isascii() or lookup(label or "utf-8") == "utf-8"
        note = Note(Reason.CHARSET_UNSUPPORTED, context.part, None, _UNREAD)
        return Calendar(data, context, () if is_read else (note,))


_CALENDARS: Final = _Calendars()
