"""The pipeline: bytes -> kind -> containers -> layers -> references -> url -> view.lower -> splice.

`rewrite`, `links`, `base` and `entities` are the library. Each reads the document's kind and
charset, establishes the base around it, and visits its references (`walk`). Bad documents never
raise: what cannot be read passes through with a note.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

from relbase.bases.headings import http_statements
from relbase.bases.layers import UNKNOWN, Base, establish
from relbase.bases.marks import Placed
from relbase.bases.retrieval import statements as retrieval_statements
from relbase.call import (
    DEFAULT_POLICY,
    URL,
    Arguments,
    Call,
    Headers,
    KindName,
    ProfileName,
    check,
)
from relbase.edit import Edit, splice
from relbase.formats import FORMATS, kind_of_file, kind_of_type, passed_note, reader
from relbase.notes import Note, Reason
from relbase.results import Entity, Link, Notes, Result
from relbase.rewriting.context import Context, Room, Task, allowed_growth
from relbase.rewriting.items import Found
from relbase.url.resolver import Profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Unpack

    from relbase.bases.layers import Statement
    from relbase.bases.marks import Marks
    from relbase.formats import Document
    from relbase.kind import Kind
    from relbase.policy import Policy
    from relbase.rewriting.items import Item

# Up to this growth, or the input's length, edits are kept as they come. Beyond it they are only
# counted, and visited once more when the output is to be that long.
_KEPT_GROWTH: Final = 8 << 20


def rewrite(
    data: bytes,
    *,
    url: URL | None = None,
    redirects: Iterable[URL] = (),
    headers: Headers | None = None,
    kind: Kind | KindName | None = None,
    name: str | None = None,
    charset: str | None = None,
    profile: Profile | ProfileName = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    detect: bool = True,
) -> Result:
    """Make every relative reference of a document absolute, and change no other byte.

    Args:
        data: the document's bytes.
        url: the URL first requested, absolute: a string, or an object whose `str()` is the URL.
        redirects: the Location values that followed, in order, absolute or relative.
        headers: the transport's heading: a mapping or pairs of names and values.
        kind: a `Kind` or its value; otherwise the Content-Type decides, the name, or the bytes.
        name: of the document's file, for its suffix; None for none. No file is opened.
        charset: the transport's charset label.
        profile: a `Profile` or its value: the algorithm that resolves.
        policy: what is left alone.
        detect: whether marks that programs leave in saved pages may state the URL.

    Returns:
        the new bytes (the same object when nothing is relative), the edits, the base, the notes.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if the URL is not absolute, or the kind, the charset or the profile not known.

    Implements RFC 1808 §3 and §4, RFC 3986 §5, and the WHATWG URL and HTML Standards.

    >>> rewrite(b'<a href="../x?a=1&amp;b=2">', url="http://h.example/d/p.html").data
    b'<a href="http://h.example/x?a=1&amp;b=2">'
    """
    call = check(
        data,
        url=url,
        redirects=redirects,
        headers=headers,
        kind=kind,
        name=name,
        charset=charset,
        profile=profile,
        policy=policy,
        detect=detect,
    )
    return rewrite_called(data, call)


def rewrite_called(data: bytes, call: Call) -> Result:
    """Make the references of a document absolute, by a call that has been checked.

    Args:
        data: the document's bytes.
        call: what is asked for.
    """
    given = _read(data, call)
    notes = Notes(given.notes)
    edits = _edits(given, notes)
    output = splice(data, edits)
    if edits and given.document.moves_charset(output, given.label):
        notes.add(Note(Reason.CHARSET_MOVED, "", None, _MOVED))
    return Result(
        output,
        tuple(edits),
        notes.collected(),
        base=partial(_base_of, data, call),
        links=partial(_links_of, data, call),
    )


def links(data: bytes, **call: Unpack[Arguments]) -> Iterator[Link]:
    """Return an iterator over every reference of a document, in order.

    Args:
        data: the document's bytes.
        **call: as of `rewrite`.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if the URL is not absolute, or the kind, the charset or the profile not known.

    >>> [link.url for link in links(b"<img src=a srcset='b 2x'>", url="http://h/d/")]
    ['http://h/d/a', 'http://h/d/b']
    """
    return links_called(data, check(data, **call))


def links_called(data: bytes, call: Call) -> Iterator[Link]:
    """Return an iterator over every reference, by a call that has been checked.

    Args:
        data: the document's bytes.
        call: what is asked for.
    """
    return _links(_read(data, call))


def base(data: bytes, **call: Unpack[Arguments]) -> Base:
    """Return the base of the outermost entity, and behind it the whole chain (RFC 1808 §3).

    Args:
        data: the document's bytes.
        **call: as of `rewrite`.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if the URL is not absolute, or the kind, the charset or the profile not known.

    >>> found = base(b"<base href=sub/>", url="http://h/d/")
    >>> found.url, found.layer.value, found.outer.url
    ('http://h/d/sub/', 'embedded', 'http://h/d/')
    """
    return _base(_read(data, check(data, **call)))


def entities(data: bytes, **call: Unpack[Arguments]) -> Iterator[Entity]:
    """Return an iterator over the tree of entities, the outermost first.

    Args:
        data: the document's bytes.
        **call: as of `rewrite`.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if the URL is not absolute, or the kind, the charset or the profile not known.

    >>> [(entity.part, entity.type) for entity in entities(b"<p>", url="http://h/")]
    [('', 'text/html')]
    """
    return entities_called(data, check(data, **call))


def entities_called(data: bytes, call: Call) -> Iterator[Entity]:
    """Return an iterator over the tree of entities, by a call that has been checked.

    Args:
        data: the document's bytes.
        call: what is asked for.
    """
    return _entities(_read(data, call))


# What a Result calls when it is asked; functions of the module, so that it can be pickled.
def _base_of(data: bytes, call: Call) -> Base:
    return _base(_read(data, call))


def _links_of(data: bytes, call: Call) -> Iterator[Link]:
    return _links(_read(data, call))


class _Input(NamedTuple):
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


def _read(data: bytes, call: Call) -> _Input:
    """What the bytes are, and the base of what is around them (RFC 1808 §3.2 to §3.4)."""
    content_type = _field(call, "content-type")
    kind = call.kind or kind_of_type(content_type) or kind_of_file(call.name, data)
    row = FORMATS[kind]
    label = call.charset or _charset_parameter(content_type)
    places = call.origin.places if call.origin else None
    task = Task(call.profile, call.policy, reader, detect=call.detect, places=places)
    document = row.read(data, label, Context(UNKNOWN, task))
    retrieved, remarks = _retrieved(call)
    refused = list(call.origin.notes) if call.origin else []
    if call.detect:
        marks = document.marks()
        refused += marks.notes
        remarks += _disagreement(retrieved, marks)
        if not retrieved and marks.pages:
            retrieved = list(marks.pages)
            document = document.asked(replace(task, places=_beside))
            remarks.append(Note(Reason.LOCAL_KEPT, "", marks.pages[0].span, _KEPT))
    around, notes = _around(call, retrieved, refused)
    type_ = content_type.partition(";")[0].strip().lower() or row.types[0]
    notes = [*remarks, *notes, *document.notes]
    if data and not row.visit and not document.notes and call.kind is None:
        notes.append(passed_note(content_type, call.name))
    return _Input(document.on(around), type_, label, tuple(notes))


# ---- saved pages (rule 17)

_KEPT: Final = (
    "the URL of the page was found in it: references without a slash at their start, which may "
    "lead to files saved beside the page, stay as they are; give the URL to make them absolute"
)


def _beside(reference: str) -> Placed | None:
    """Whether a reference may lead to a file beside the page: nobody looks at files here."""
    return None if reference.startswith(("/", "\\")) else Placed()


def _disagreement(retrieved: list[Statement], marks: Marks) -> list[Note]:
    """What is to be noted where a page says that it has another URL than the given one."""
    stated = [mark.value for mark in marks.pages]
    if not retrieved or not stated or _bare(retrieved[0].value) in map(_bare, stated):
        return []
    mark = marks.pages[0]
    text = f"{mark.source} says {mark.value[:200]!a}: the URL that was given counts"
    return [Note(Reason.MARK_DISAGREES, "", mark.span, text)]


def _bare(url: str) -> str:
    """A URL without what does not matter here: scheme, escapes, and a slash at its end."""
    return unquote(url.partition("://")[2].rstrip("/"), errors="surrogateescape")


# Content-Type: text/html; charset="utf-8"
_charset_value: Final = re.compile(
    r""";[ \t]*charset[ \t]*=[ \t]*"?([^\s;"]+)""", re.IGNORECASE
).search


def _field(call: Call, name: str) -> str:
    return next((value for field, value in call.fields if field.strip().lower() == name), "")


def _charset_parameter(content_type: str) -> str | None:
    found = _charset_value(content_type)
    return found[1] if found else None


def _retrieved(call: Call) -> tuple[list[Statement], list[Note]]:
    """The retrieval URL that was given, or that the caller has found, and what to remark."""
    retrieved, remarks = retrieval_statements(call.url, call.redirects)
    if call.origin is not None and not call.redirects:
        retrieved = [one._replace(source=call.origin.source) for one in retrieved]
    return retrieved, remarks


def _around(call: Call, retrieved: list[Statement], before: list[Note]) -> tuple[Base, list[Note]]:
    """The base of what is around the document: its heading, its retrieval URL, or none.

    Args:
        call: what is asked for.
        retrieved: the retrieval URL.
        before: what was refused as one.
    """
    outer, notes = establish(retrieved, UNKNOWN, profile=call.profile)
    stated, refused = http_statements(call.fields)
    around, more = establish(stated, outer, profile=call.profile)
    refused = [*refused, *before]
    if refused:
        around = replace(around, refused=(*refused, *around.refused))
    return around, [*notes, *refused, *more]


def _entities(given: _Input) -> Iterator[Entity]:
    return given.document.entities(given.type)


def _base(given: _Input) -> Base:
    return given.document.base()


def _visit(given: _Input, *, edits_only: bool) -> Iterator[Item]:
    """The items of what a call is about, in offsets of its bytes."""
    document = given.document
    # Where a view is between, edits take away up to the whole text around the inner one.
    room = Room(allowed_growth(len(document.data)) + len(document.data))
    task = replace(document.context.task, edits_only=edits_only, room=room)
    return document.asked(task).visit()


def _edits(given: _Input, notes: Notes) -> list[Edit]:
    """The edits of what a call is about; what is to be remarked goes into `notes`."""
    edits: list[Edit] = []
    left = growth = 0
    size = len(given.document.data)
    allowed = allowed_growth(size)
    kept = max(size, _KEPT_GROWTH)
    for item in _visit(given, edits_only=True):
        if isinstance(item, Edit):
            growth += len(item.new) - (item.end - item.start)
            if growth > allowed:
                text = f"the output would be longer by more than {allowed} bytes: passed through"
                notes.add(Note(Reason.LIMIT_GROWTH, "", None, text))
                return []
            if growth <= kept:
                edits.append(item)
        elif isinstance(item, Note):
            notes.add(item)
        else:
            left += 1
    if left:
        notes.add(Note(Reason.BASE_NONE, "", None, _left(left, _base(given))))
    if growth > kept:
        return [item for item in _visit(given, edits_only=True) if isinstance(item, Edit)]
    return edits


def _left(count: int, base: Base) -> str:
    references = f"{count} relative references left as they are"
    if count == 1:
        references = "1 relative reference left as it is"
    if base.url:
        return f"{references}: none can be resolved against {base.url[:200]!r}"
    return f"{references}: no base URL is known; give the URL that the document was retrieved from"


_MOVED: Final = (
    "the links before <meta charset> grew so that browsers no longer find it in the first 1024 "
    "bytes: give the charset in the Content-Type when you publish the document"
)


def _links(given: _Input) -> Iterator[Link]:
    """The references of what a call is about, with their places in it."""
    line, line_start, at = 1, 0, 0
    data = given.document.data
    for item in _visit(given, edits_only=False):
        if not isinstance(item, Found):
            continue
        start = item.span.start
        line += data.count(b"\n", at, start)
        line_start = max(line_start, data.rfind(b"\n", at, start) + 1)
        at = start
        yield Link(
            item.part,
            item.element,
            item.attribute,
            item.syntax,
            item.reference,
            item.url,
            item.base,
            item.span,
            line,
            start - line_start + 1,
            item.status,
        )
