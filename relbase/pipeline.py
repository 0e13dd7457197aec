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

from relbase.bases.headings import http_statements
from relbase.bases.layers import UNKNOWN, Base, establish
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
from relbase.edit import Edit, Span, splice
from relbase.kind import Kind, kind_of_bytes, kind_of_type
from relbase.notes import Note, Reason
from relbase.results import Entity, Link, Notes, Result
from relbase.rewriting.context import Scope, allowed_growth
from relbase.rewriting.document import read_document, visit_document
from relbase.rewriting.html import html_base
from relbase.url.resolver import Profile
from relbase.view.charset import Source, sniff

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    from relbase.policy import Policy
    from relbase.rewriting.context import Item
    from relbase.rewriting.document import Document

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
        kind: a `Kind` or its value; otherwise the Content-Type decides, or the bytes.
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
        charset=charset,
        profile=profile,
        policy=policy,
        detect=detect,
    )
    source = _read(data, call)
    notes = Notes(source.notes)
    edits = _edits(source, notes)
    output = splice(data, edits)
    if edits and _charset_moved(output, source):
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
    return _links(_read(data, check(data, **call)))


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
    return _entities(_read(data, check(data, **call)))


# What a Result calls when it is asked; functions of the module, so that it can be pickled.
def _base_of(data: bytes, call: Call) -> Base:
    return _base(_read(data, call))


def _links_of(data: bytes, call: Call) -> Iterator[Link]:
    return _links(_read(data, call))


class _Source(NamedTuple):
    """What a call is about: a document, or a message or an mbox with documents in it."""

    data: bytes
    kind: Kind
    type: str
    label: str | None
    scope: Scope
    notes: tuple[Note, ...]
    document: Document | None
    detect: bool


def _read(data: bytes, call: Call) -> _Source:
    """What the bytes are, and the base of what is around them (RFC 1808 §3.2 to §3.4)."""
    content_type = _field(call, "content-type")
    kind = call.kind or kind_of_type(content_type) or kind_of_bytes(data)
    around, notes = _around(call)
    label = call.charset or _charset_parameter(content_type)
    scope = Scope(around, call.profile, call.policy)
    document = None
    if kind not in _CONTAINERS:
        document, hindrance = read_document(data, kind, label, scope)
        if hindrance is not None:
            notes.append(Note(hindrance[0], "", None, hindrance[1]))
    type_ = content_type.partition(";")[0].strip().lower() or _TYPES[kind]
    return _Source(data, kind, type_, label, scope, tuple(notes), document, call.detect)


_TYPES: Final = {
    Kind.HTML: "text/html",
    Kind.CSS: "text/css",
    Kind.XML: "application/xml",
    Kind.MAIL: "message/rfc822",
    Kind.MBOX: "application/mbox",
    Kind.HTTP: "message/http",
    Kind.OTHER: "application/octet-stream",
}

# Content-Type: text/html; charset="utf-8"
_charset_value: Final = re.compile(
    r""";[ \t]*charset[ \t]*=[ \t]*"?([^\s;"]+)""", re.IGNORECASE
).search


def _field(call: Call, name: str) -> str:
    return next((value for field, value in call.fields if field.strip().lower() == name), "")


def _charset_parameter(content_type: str) -> str | None:
    found = _charset_value(content_type)
    return found[1] if found else None


def _around(call: Call) -> tuple[Base, list[Note]]:
    """The base of what is around the document: its heading, its retrieval URL, or none."""
    retrieved, remarks = retrieval_statements(call.url, call.redirects)
    outer, notes = establish(retrieved, UNKNOWN, profile=call.profile)
    stated, refused = http_statements(call.fields)
    around, more = establish(stated, outer, profile=call.profile)
    if refused:
        around = replace(around, refused=(*refused, *around.refused))
    return around, [*remarks, *notes, *refused, *more]


class _Container(NamedTuple):
    """How what is inside of a kind is visited, and its entities are listed."""

    visit: Callable[..., Iterator[Item]]
    entities: Callable[..., Iterator[Entity]]


_CONTAINERS: Final = frozenset((Kind.MAIL, Kind.MBOX))


def _container(kind: Kind) -> _Container | None:
    if kind not in _CONTAINERS:
        return None
    from relbase.mail import mbox as mailboxes  # noqa: PLC0415 (pages need neither: start-up time)
    from relbase.mail import message as messages  # noqa: PLC0415 (likewise)

    if kind is Kind.MAIL:
        return _Container(messages.visit_message, messages.message_entities)
    return _Container(mailboxes.visit_mbox, mailboxes.mbox_entities)


def _entities(source: _Source) -> Iterator[Entity]:
    container = _container(source.kind)
    if container is not None:
        yield from container.entities(source.data, source.scope, detect=source.detect)
    elif source.document is not None:
        base_ = source.scope.base
        if source.document.kind is Kind.HTML:
            base_ = html_base(source.document.text, source.document.scope)
        yield Entity("", source.type, Span(0, len(source.data)), base_)


def _base(source: _Source) -> Base:
    """The base of the outermost entity; an mbox has none of its own."""
    if source.kind is Kind.MBOX:
        return source.scope.base
    return next(_entities(source)).base


def _visit(source: _Source, *, edits_only: bool) -> Iterator[Item]:
    """The items of what a call is about, in offsets of its bytes."""
    container = _container(source.kind)
    if container is not None:
        scope = source.scope._replace(edits_only=edits_only)
        return container.visit(source.data, scope, detect=source.detect)
    assert source.document is not None
    return visit_document(source.document, edits_only=edits_only)


def _edits(source: _Source, notes: Notes) -> list[Edit]:
    """The edits of what a call is about; what is to be remarked goes into `notes`."""
    edits: list[Edit] = []
    left = growth = 0
    allowed = allowed_growth(len(source.data))
    kept = max(len(source.data), _KEPT_GROWTH)
    for item in _visit(source, edits_only=True):
        if isinstance(item, Edit):
            growth += len(item.new) - (item.end - item.start)
            if growth > allowed:
                text = f"the output would be longer by more than {allowed} bytes: passed through"
                notes.add(Note(Reason.LIMIT_GROWTH, "", None, text))
                return []
            if growth <= kept:
                edits.append(item)
        elif item.remark is not None:
            reason, text = item.remark
            notes.add(Note(reason, item.part, Span(item.start, item.end), text))
        else:
            left += 1
    if left:
        notes.add(Note(Reason.BASE_NONE, "", None, _left(left, _base(source))))
    if growth > kept:
        return [item for item in _visit(source, edits_only=True) if isinstance(item, Edit)]
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


def _charset_moved(output: bytes, source: _Source) -> bool:
    """Whether the output would be taken for another charset (threat E6)."""
    document = source.document
    if document is None or document.charset.source is not Source.META:
        return False
    return sniff(output, source.label).name != document.charset.name


def _links(source: _Source) -> Iterator[Link]:
    """The references of what a call is about, with their places in it."""
    line, line_start, at = 1, 0, 0
    data = source.data
    for hit in _visit(source, edits_only=False):
        if isinstance(hit, Edit) or hit.status is None:
            continue
        line += data.count(b"\n", at, hit.start)
        line_start = max(line_start, data.rfind(b"\n", at, hit.start) + 1)
        at = hit.start
        yield Link(
            hit.part,
            hit.element,
            hit.attribute,
            hit.syntax,
            hit.reference,
            hit.url,
            hit.base,
            Span(hit.start, hit.end),
            line,
            hit.start - line_start + 1,
            hit.status,
        )
