"""Opens the input of a call: decides its kind, reads it, and finds the base around it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import UNKNOWN, Statement, establish, retrieval
from relbase.expressions import expression
from relbase.formats.recognition import Recognized, name_may_hold, reader, recognized
from relbase.formats.rows import FORMATS
from relbase.html.own_base import POLICY_FIELD, policies_of
from relbase.kind import Kind
from relbase.notes import Note, Reason
from relbase.rewriting.context import Context, Task
from relbase.savers.marks import LocalFile, Marks, Unarchived

if TYPE_CHECKING:
    from relbase.formats.document import Document
    from relbase.session.options import Call


class Input(NamedTuple):
    document: Document  # the input, opened
    type: str  # its media type
    label: str | None  # the charset label that it came with
    notes: tuple[Note, ...]  # on the base around it, and on how it was opened


def kind_of_call(call: Call, data: bytes) -> Kind:
    return recognized(call.kind, _content_type(call), call.name, data)[0]


def open_input(data: bytes, call: Call) -> Input:
    """Open a document with the base around it (RFC 1808 §3.2 to §3.4)."""
    type_ = _content_type(call)
    kind, notes = _partial(call) or recognized(call.kind, type_, call.name, data)
    row = FORMATS[kind]
    stated = _charset_value.search(type_) if type_ else None
    label = call.charset or (stated and stated[1])
    task = Task(
        call.profile,
        call.policy,
        reader,
        policies=tuple(policies_of(_values(call, POLICY_FIELD))),
        detect=call.detect,
        local_files=call.origin.local_files if call.origin else None,
        holds=name_may_hold,
        message_urls=call.message_urls,
        examines=call.examines,
    )
    document = row.read(data, label, Context(UNKNOWN, task))
    marks = document.marks() if call.detect else None
    based, around = _based(document, marks, call)
    type_ = type_.partition(";")[0].strip().lower() or row.types[0]
    return Input(based, type_, label, (*around, *document.notes, *notes))


def _based(document: Document, marks: Marks | None, call: Call) -> tuple[Document, list[Note]]:
    """The document with the base around it, from its header, its retrieval URL, or its marks."""
    task, profile, origin = document.context.task, call.profile, call.origin
    retrieved, remarks = retrieval(call.url, call.redirects, profile)
    refused = origin.notes if origin else ()
    if origin is not None and not call.redirects:
        retrieved = [one._replace(source=origin.source) for one in retrieved]
    if marks is not None:
        if not isinstance(task.local_files, Unarchived):
            remarks += _disagreements([*retrieved, *marks.pages][:1], marks)
        if not retrieved:  # otherwise, the faults of weaker statements do not matter
            refused = tuple(dict.fromkeys((*refused, *marks.notes)))
        if not retrieved and marks.pages:
            retrieved = list(marks.pages)
            task = task._replace(local_files=_beside)
            remarks.append(Note(Reason.LOCAL_KEPT, "", marks.pages[0].span, _KEPT))
    base, notes = establish(retrieved, UNKNOWN, profile=profile)
    more: list[Note] = []
    if call.fields:
        from relbase.bases.headers import http_statements  # noqa: PLC0415 (start-up time)

        stated, not_stated = http_statements(call.fields)
        base, more = establish(stated, base, profile=profile)
        refused = (*not_stated, *refused)
    if refused:
        base = replace(base, refused=(*refused, *base.refused))
    return document.within(base, task, marks), [*remarks, *notes, *refused, *more]


_KEPT: Final = (
    "the page's URL was found in the page itself: references that do not begin with a slash may "
    "lead to files saved beside it, and are left unchanged; give the URL to make them absolute"
)


def _beside(reference: str, element: str) -> LocalFile | None:
    """Keep each reference that may lead to a file beside the page; no file is looked at."""
    leads_away = reference.startswith(("/", "\\")) and element != "base"
    return None if leads_away else LocalFile()


def _disagreements(counted: list[Statement], marks: Marks) -> list[Note]:
    return [
        Note(
            Reason.MARK_DISAGREES,
            "",
            mark.span,
            f"{mark.source} says {mark.value[:200]!a}: {url.value[:200]!a} counts ({url.source})",
        )
        for url in counted
        for mark in marks.pages
        if _bare(mark.value) != _bare(url.value)
    ]


def _bare(url: str) -> str:
    """A URL without what does not matter here: its scheme, escapes, and slashes at its end."""
    from urllib.parse import unquote  # noqa: PLC0415 (start-up time)

    return unquote(url.partition("://")[2].rstrip("/"), errors="surrogateescape")


# Content-Type: text/html; charset="utf-8"
_charset_value: Final = expression(r""";[ \t]*charset[ \t]*=[ \t]*"?([^\s;"]+)""", re.IGNORECASE)


def _values(call: Call, name: str) -> list[str]:
    return [value for field, value in call.fields or () if field.strip().lower() == name]


def _content_type(call: Call) -> str:
    if not call.fields:
        return ""
    from relbase.containers.content_type import effective_type  # noqa: PLC0415 (start-up time)

    return effective_type(_values(call, "content-type"))


def _partial(call: Call) -> Recognized | None:
    """Recognise a part of a document, which is not read: what precedes it may decide its base."""
    ranges = _values(call, "content-range")
    if not ranges:
        return None
    from relbase.containers.http import is_partial  # noqa: PLC0415 (start-up time)

    if not is_partial(None, ranges):
        return None
    text = f"it is a part of a document (Content-Range: {ranges[0][:40]}): left unchanged"
    note = Note(Reason.BODY_PARTIAL, "", None, text)
    return Kind.OTHER, (note,)
