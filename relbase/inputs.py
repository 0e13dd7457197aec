"""What a call is about: the document that the bytes are, and the base of what is around it.

The kind and the charset are decided here, the header of the transport and the retrieval URL are
read, and where no URL is given, the marks that programs leave in saved pages (rule 17).
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from relbase.bases.archived import Unarchived
from relbase.bases.layers import UNKNOWN, Base, establish
from relbase.bases.marks import Placed
from relbase.bases.policies import POLICY_FIELD, policies_of
from relbase.bases.retrieval import statements as retrieval_statements
from relbase.expressions import expression
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.notes import Note, Reason
from relbase.recognition import (
    doubt_note,
    kind_of_file,
    kind_of_type,
    name_may_hold,
    passed_note,
    reader,
)
from relbase.records import NamedTuple
from relbase.rewriting.context import Context, Task

if TYPE_CHECKING:
    from relbase.bases.layers import Statement
    from relbase.bases.marks import Marks
    from relbase.call import Call
    from relbase.formats import Document


class Input(NamedTuple):
    """What a call is about.

    Args:
        document: the input, opened.
        type: its media type.
        label: the charset label that it came with.
        notes: what is to be noted of what is around it, and of how it was opened.
    """

    document: Document
    type: str
    label: str | None
    notes: tuple[Note, ...]


def kind_of_call(call: Call, data: bytes) -> Kind:
    """Return what a document is taken for: as the call says, its type, its name, its bytes."""
    return call.kind or kind_of_type(_content_type(call)) or kind_of_file(call.name, data)


def read_input(data: bytes, call: Call) -> Input:
    """Return what the bytes are, on the base of what is around them (RFC 1808 §3.2 to §3.4)."""
    content_type = _content_type(call)
    partial = _partial(call)
    row = FORMATS[Kind.OTHER if partial else kind_of_call(call, data)]
    label = call.charset or _charset_parameter(content_type)
    places = call.origin.places if call.origin else None
    task = Task(
        call.profile,
        call.policy,
        reader,
        policies=_policies(call),
        detect=call.detect,
        places=places,
        holds=name_may_hold,
    )
    document = row.read(data, label, Context(UNKNOWN, task))
    retrieved, remarks = _retrieved(call)
    refused = list(call.origin.notes) if call.origin else []
    marks = document.marks() if call.detect else None
    if marks is not None:
        if not retrieved:  # else nobody asks what is wrong with a weaker statement
            refused = list(dict.fromkeys((*refused, *marks.notes)))
        if not isinstance(places, Unarchived):
            remarks += _disagreements([*retrieved, *marks.pages][:1], marks)
        if not retrieved and marks.pages:
            retrieved = list(marks.pages)
            task = task._replace(places=_beside)
            remarks.append(Note(Reason.LOCAL_KEPT, "", marks.pages[0].span, _KEPT))
    around, notes = _around(call, retrieved, refused)
    type_ = content_type.partition(";")[0].strip().lower() or row.types[0]
    notes = [*remarks, *notes, *document.notes]
    if partial:
        notes.append(partial)
    elif data and not row.visit and not document.notes and call.kind is None:
        notes.append(passed_note(content_type, call.name))
    if call.kind is None and call.name and kind_of_type(content_type) is None:
        doubt = doubt_note(call.name, data)
        notes += () if doubt is None else (doubt,)
    return Input(document.within(around, task, marks), type_, label, tuple(notes))


# ---- saved pages (rule 17)

_KEPT: Final = (
    "the URL of the page was found in it: references without a slash at their start, which may "
    "lead to files saved beside the page, stay as they are; give the URL to make them absolute"
)


def _beside(reference: str) -> Placed | None:
    """Whether a reference may lead to a file beside the page: nobody looks at files here."""
    return None if reference.startswith(("/", "\\")) else Placed()


def _disagreements(counted: list[Statement], marks: Marks) -> list[Note]:
    """The notes on marks that give the page another URL than the one that counts."""
    return [
        Note(Reason.MARK_DISAGREES, "", mark.span, _disagreement(mark, url))
        for url in counted
        for mark in marks.pages
        if _bare(mark.value) != _bare(url.value)
    ]


def _disagreement(mark: Statement, counted: Statement) -> str:
    other, url = mark.value[:200], counted.value[:200]
    return f"{mark.source} says {other!a}: {url!a} counts ({counted.source})"


def _bare(url: str) -> str:
    """A URL without what does not matter here: scheme, escapes, and a slash at its end."""
    from urllib.parse import unquote  # noqa: PLC0415 (start-up time)

    return unquote(url.partition("://")[2].rstrip("/"), errors="surrogateescape")


# Content-Type: text/html; charset="utf-8"
_charset_value: Final = expression(r""";[ \t]*charset[ \t]*=[ \t]*"?([^\s;"]+)""", re.IGNORECASE)


_SHOWN: Final = 40


def _values(call: Call, name: str) -> list[str]:
    """The values of a field of the header that the document came with."""
    return [value for field, value in call.fields or () if field.strip().lower() == name]


def _content_type(call: Call) -> str:
    if not call.fields:
        return ""
    from relbase.containers.content_type import effective_type  # noqa: PLC0415 (start-up time)

    return effective_type(_values(call, "content-type"))


def _partial(call: Call) -> Note | None:
    """The note on a part of a document: what precedes it may decide its base."""
    ranges = _values(call, "content-range")
    if not ranges:
        return None
    from relbase.containers.http import is_partial  # noqa: PLC0415 (start-up time)

    if not is_partial(None, ranges):
        return None
    text = f"it is a part of a document (Content-Range: {ranges[0][:_SHOWN]}): left unchanged"
    return Note(Reason.ENCODING_UNSUPPORTED, "", None, text)


def _policies(call: Call) -> tuple[str, ...]:
    """The policies of the header that the document came with."""
    return tuple(policies_of(_values(call, POLICY_FIELD)))


def _charset_parameter(content_type: str) -> str | None:
    found = _charset_value.search(content_type) if content_type else None
    return found[1] if found else None


def _retrieved(call: Call) -> tuple[list[Statement], list[Note]]:
    """The retrieval URL that was given, or that the caller has found, and what to remark."""
    retrieved, remarks = retrieval_statements(call.url, call.redirects)
    if call.origin is not None and not call.redirects:
        retrieved = [one._replace(source=call.origin.source) for one in retrieved]
    return retrieved, remarks


def _stated(call: Call) -> tuple[list[Statement], list[Note]]:
    """What the header of the transport states as the base, strongest first, and what to note."""
    if not call.fields:
        return [], []
    from relbase.bases.headers import http_statements  # noqa: PLC0415 (start-up time)

    return http_statements(call.fields)


def _around(call: Call, retrieved: list[Statement], before: list[Note]) -> tuple[Base, list[Note]]:
    """The base of what is around the document: its header, its retrieval URL, or none."""
    outer, notes = establish(retrieved, UNKNOWN, profile=call.profile)
    stated, refused = _stated(call)
    around, more = establish(stated, outer, profile=call.profile) if stated else (outer, [])
    refused = [*refused, *before]
    if refused:
        around = replace(around, refused=(*refused, *around.refused))
    return around, [*notes, *refused, *more]
