"""Opens the input of a call: decides its kind, reads it, and finds the base around it."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.bases.layers import UNKNOWN, Statement, establish, retrieval
from relbase.bases.marks import Marks, Placed, Unarchived
from relbase.containers import sniffing
from relbase.expressions import expression
from relbase.formats import FORMATS, Document, Format
from relbase.kind import Kind
from relbase.notes import Note, Reason
from relbase.rewriting.context import Context, Task
from relbase.rewriting.html_base import POLICY_FIELD, policies_of

if TYPE_CHECKING:
    from relbase.call import Call


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
        places=call.origin.places if call.origin else None,
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
    retrieved, remarks = retrieval(call.url, call.redirects)
    refused = origin.notes if origin else ()
    if origin is not None and not call.redirects:
        retrieved = [one._replace(source=origin.source) for one in retrieved]
    if marks is not None:
        if not isinstance(task.places, Unarchived):
            remarks += _disagreements([*retrieved, *marks.pages][:1], marks)
        if not retrieved:  # otherwise, the faults of weaker statements do not matter
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
    "the page's URL was found in the page itself: references that do not begin with a slash may "
    "lead to files saved beside it, and are left unchanged; give the URL to make them absolute"
)


def _beside(reference: str, element: str) -> Placed | None:
    """Keep each reference that may lead to a file beside the page; no file is looked at."""
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


# ---- What a document is: by its media type, by its name, by its bytes (rule 15)

_BY_TYPE: Final = {type_: row.kind for row in FORMATS.values() for type_ in row.types}
_BY_SUFFIX: Final = {
    suffix: row.kind for row in FORMATS.values() for suffix in row.suffixes.split()
}
# The media types and suffixes that several kinds share.
_AMONG: Final = {one: row for row in FORMATS.values() for one in row.among}


def kind_of_type(content_type: str) -> Kind | None:
    """Return the kind that a media type names, None if it says nothing of use."""
    type_ = content_type.partition(";")[0].strip().lower()
    major, slash, minor = type_.partition("/")
    if not slash or type_ == "application/octet-stream":  # means that the type is unknown
        return None
    _, plus, syntax = minor.rpartition("+")
    for known in (type_, f"{major}/*", f"*+{syntax}" if plus else ""):
        if known in _BY_TYPE:
            return _BY_TYPE[known]
    return Kind.OTHER


# Suffixes that only mean text: these files may be mail, but never pages.
_TEXT_SUFFIXES: Final = frozenset(("txt", "text", "log"))


def _suffix(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


def kind_of_name(name: str) -> Kind | None:
    """Return the kind that a file's name states, None if it states none."""
    return _BY_SUFFIX.get(_suffix(name))


def kind_of_bytes(data: bytes, *, named_text: bool = False) -> Kind:
    """Return the kind that the bytes look like; `Kind.OTHER` if none is recognised."""
    start = sniffing.beginning(data)
    if _binary.match(start):
        return Kind.OTHER
    for row in FORMATS.values():
        if row.looks is not None and (row.messages or not named_text) and row.looks(start):
            return row.kind
    return Kind.OTHER


def kind_of_file(name: str, data: bytes) -> Kind:
    """Return the kind of a file: its name decides, and otherwise its bytes do (rule 15)."""
    if (row := _among(_suffix(name), data)) is not None:
        return row.kind
    # `wget --save-headers` names files as if they contained no header.
    if not sniffing.is_http(data):
        kind = kind_of_name(name)
        if kind is not None:
            return kind
    return kind_of_bytes(data, named_text=_suffix(name) in _TEXT_SUFFIXES)


def _among(named: str, data: bytes) -> Format | None:
    """The row for a type or suffix that several kinds share, if the bytes look like it."""
    row = _AMONG.get(named)
    if row is None or row.looks is None:
        return None
    # If the members are sorted, the one that tells the kind (`version`) comes last.
    return row if row.looks(sniffing.beginning(data) + sniffing.ending(data)) else None


def _type_of_bytes(content_type: str, data: bytes) -> Kind | None:
    """The kind that a media type names; the bytes decide if several kinds share the type."""
    row = _among(content_type.partition(";")[0].strip().lower(), data)
    return kind_of_type(content_type) if row is None else row.kind


# The kind that a document is read as, and notes on that.
Recognized: TypeAlias = tuple[Kind, tuple[Note, ...]]


def recognized(kind: Kind | None, content_type: str, name: str, data: bytes) -> Recognized:
    """Return the kind of a document, as given or by its type, its name, or its bytes; and notes."""
    if kind is not None:
        return kind, ()
    typed = _type_of_bytes(content_type, data)
    found = typed or kind_of_file(name, data)
    if data and FORMATS[found].visit is None:
        return found, (_passed_note(content_type, name, data), *_doubts(typed, name, data))
    return found, _doubts(typed, name, data)


def _passed_note(type_: str, name: str, data: bytes) -> Note:
    by = "first bytes"
    if type_ and kind_of_type(type_) is not None:
        by = f"media type, {type_[:_SHOWN]}"
    elif name and (kind_of_name(name) or _suffix(name) in _TEXT_SUFFIXES):
        by = f"name, *.{_suffix(name)[:_SHOWN]}"
    kinds = "HTML, CSS, XML, a JSON Feed or mail"
    fix = "if it is HTML, pass kind='html' (--kind html)"
    if _compressed.match(data):
        fix = "it is compressed: decompress it first"
    text = f"by its {by}, this is not {kinds}: left unchanged; {fix}"
    return Note(Reason.KIND_UNSUPPORTED, "", None, text)


_SHOWN: Final = 40


def _doubts(typed: Kind | None, name: str, data: bytes) -> tuple[Note, ...]:
    """The note on a file whose name decides (rule 15), although its bytes suggest another kind."""
    kind = kind_of_name(name) if typed is None else None
    if kind is None or FORMATS[kind].is_judged:
        return ()
    row = FORMATS[kind]
    seems = "" if row.visit is None else _seems(row, data)
    if not seems:
        return ()
    by = f"by its name, *.{_suffix(name)[:_SHOWN]}, it is taken for {kind.value}"
    text = f"{by}, but it begins like {seems}: pass kind= (--kind) if it is another"
    return (Note(Reason.KIND_DOUBTFUL, "", None, text),)


def _seems(row: Format, data: bytes) -> str:
    """What a file begins like, for people, if it does not begin like its kind; otherwise ""."""
    start = sniffing.beginning(data)
    if row.looks is not None and row.looks(start):
        if not data.startswith(b"From "):
            return ""
        from relbase.containers import mbox  # noqa: PLC0415 (start-up time: few files begin so)

        # a file with a From_ line may also be a single message
        return Kind.MBOX.value if sum(1 for _ in islice(mbox.split([data]), 2)) > 1 else ""
    for marks, what in _BEGINNINGS:
        if marks.match(start):
            return what
    other = kind_of_bytes(data)
    return other.value if FORMATS[other].doubts else ""


# How files begin that are not text, and then JSON, which could be read as a page.
_COMPRESSED: Final = rb"\x1f\x8b|BZh[1-9]|\xfd7zXZ|\x28\xb5\x2f\xfd"  # gzip, bzip2, xz, zstd
_compressed: Final = expression(_COMPRESSED)
_binary: Final = expression(
    _COMPRESSED + rb"|PK\x03\x04|%PDF-|\x89PNG|GIF8|\xd8\xff|\{\\rtf|WARC/[01]\.|\xd0\xcf\x11\xe0"
)
_BEGINNINGS: Final = (
    (_binary, "a compressed or binary file"),
    (expression(rb'\[?[\t\n\r ]*+\{[\t\n\r ]*+"[^"\\]*+"[\t\n\r ]*+:'), "JSON"),
)


def may_hold_references(content_type: str, data: bytes | None = None) -> bool:
    kind = _type_of_bytes(content_type, data or b"")
    if kind is None:
        if data is None:
            return True
        kind = kind_of_bytes(data)
    return FORMATS[kind].visit is not None


def name_may_hold(name: str) -> bool:
    kind = kind_of_name(name)
    return kind is not None and FORMATS[kind].visit is not None


def reader(content_type: str, name: str) -> Format | None:
    """Return how a nested document is read; None if its kind has no text to read."""
    kind = kind_of_type(content_type) or kind_of_name(name) or Kind.OTHER
    row = FORMATS[kind]
    return None if row.charset is None else row
