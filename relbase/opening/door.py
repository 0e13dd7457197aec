"""The door: what a call is about is opened, on the base of what is around it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import UNKNOWN, establish, retrieval
from relbase.bases.marks import Placed, Unarchived
from relbase.expressions import expression
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.notes import Note, Reason
from relbase.opening.recognition import Recognized, name_may_hold, reader, recognized
from relbase.rewriting.context import Context, Task
from relbase.rewriting.html_base import POLICY_FIELD, policies_of

if TYPE_CHECKING:
    from relbase.bases.layers import Statement
    from relbase.bases.marks import Marks
    from relbase.call import Call
    from relbase.formats import Document


class Input(NamedTuple):
    """What a call is about."""

    document: Document  # the input, opened
    type: str  # its media type
    label: str | None  # the charset label that it came with
    notes: tuple[Note, ...]  # what is to be noted of what is around it, and of how it was opened


def kind_of_call(call: Call, data: bytes) -> Kind:
    """Return what a document is taken for."""
    return recognized(call.kind, _content_type(call), call.name, data).kind


def open_input(data: bytes, call: Call) -> Input:
    """Open a document on the base of what is around it (RFC 1808 §3.2 to §3.4)."""
    type_ = _content_type(call)
    found = _partial(call) or recognized(call.kind, type_, call.name, data)
    row = FORMATS[found.kind]
    stated = _charset_value.search(type_) if type_ else None
    label = call.charset or (stated and stated[1])
    document = row.read(data, label, Context(UNKNOWN, _task(call)))
    marks = document.marks() if call.detect else None
    based, around = _based(document, marks, call)
    type_ = type_.partition(";")[0].strip().lower() or row.types[0]
    return Input(based, type_, label, (*around, *document.notes, *found.notes))


def _task(call: Call) -> Task:
    return Task(
        call.profile,
        call.policy,
        reader,
        policies=tuple(policies_of(_values(call, POLICY_FIELD))),
        detect=call.detect,
        places=call.origin.places if call.origin else None,
        holds=name_may_hold,
        message_urls=call.message_urls,
        examines=call.examines,
    )


def _based(document: Document, marks: Marks | None, call: Call) -> tuple[Document, list[Note]]:
    """The document on the base around it: its header, its retrieval URL, its marks, or none."""
    task, profile, origin = document.context.task, call.profile, call.origin
    retrieved, remarks = retrieval(call.url, call.redirects)
    refused = origin.notes if origin else ()
    if origin is not None and not call.redirects:
        retrieved = [one._replace(source=origin.source) for one in retrieved]
    if marks is not None:
        if not isinstance(task.places, Unarchived):
            remarks += _disagreements([*retrieved, *marks.pages][:1], marks)
        if not retrieved:  # else nobody asks what is wrong with a weaker statement
            refused = tuple(dict.fromkeys((*refused, *marks.notes)))
        if not retrieved and marks.pages:
            retrieved = list(marks.pages)
            task = task._replace(places=_beside)
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
    "the URL of the page was found in it: references without a slash at their start, which may "
    "lead to files saved beside the page, stay as they are; give the URL to make them absolute"
)


def _beside(reference: str, element: str) -> Placed | None:
    """Whether a reference may lead to a file beside the page: nobody looks at files here."""
    leads_away = reference.startswith(("/", "\\")) and element != "base"
    return None if leads_away else Placed()


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
    """A URL without what does not matter here: scheme, escapes, and a slash at its end."""
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
    """What a part of a document is taken for: what precedes it may decide its base."""
    ranges = _values(call, "content-range")
    if not ranges:
        return None
    from relbase.containers.http import is_partial  # noqa: PLC0415 (start-up time)

    if not is_partial(None, ranges):
        return None
    text = f"it is a part of a document (Content-Range: {ranges[0][:40]}): left unchanged"
    note = Note(Reason.BODY_PARTIAL, "", None, text)
    return Recognized(kind=Kind.OTHER, notes=(note,))
