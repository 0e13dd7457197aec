"""The pipeline: bytes -> kind -> containers -> layers -> references -> url -> view.lower -> splice.

`rewrite`, `links`, `base` and `entities` are the library. Each reads the document's kind and
charset, establishes the base around it, and visits its references (`walk`). Bad documents never
raise: what cannot be read passes through with a note.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.call import DEFAULT_POLICY, Arguments, Call, Headers, check
from relbase.edit import Edit, Span, splice
from relbase.headings import http_statements
from relbase.kind import Kind, kind_of_bytes, kind_of_type
from relbase.layers import UNKNOWN, Base, establish
from relbase.lowering import lowered
from relbase.notes import Note, Reason
from relbase.references.css_escapes import css_escaped
from relbase.results import Entity, Link, Notes, Result
from relbase.retrieval import statements as retrieval_statements
from relbase.scope import Scope
from relbase.url.resolver import Profile
from relbase.view.charset import Charset, Source, sniff, sniff_css
from relbase.view.transcode import UNREADABLE, document_view, text_view
from relbase.walk import html_base, visit_css, visit_html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Unpack

    from relbase.policy import Policy
    from relbase.scope import Item
    from relbase.view.runs import View

# An output may be so many times its input, or so much longer where the input is short: a long base
# in many references is the only way there (threat A8), and no real document comes near.
MAX_GROWTH: Final = 100
MAX_GROWTH_BYTES: Final = 64 << 20


def rewrite(
    data: bytes,
    *,
    url: str | None = None,
    redirects: Iterable[str] = (),
    headers: Headers | None = None,
    kind: Kind | str | None = None,
    charset: str | None = None,
    profile: Profile | str = Profile.RFC1808,
    policy: Policy = DEFAULT_POLICY,
    detect: bool = True,
) -> Result:
    """Make every relative reference of a document absolute, and change no other byte.

    Args:
        data: the document's bytes.
        url: the URL first requested, absolute.
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
        ValueError: if the kind, the charset or the profile is not known.

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
    document = _read(data, call)
    notes = Notes(document.notes)
    edits = _edits(document, notes)
    output = splice(data, edits)
    if edits and _charset_moved(output, document, call):
        notes.add(_note(document, Reason.CHARSET_MOVED, _MOVED))
    return Result(
        output,
        tuple(edits),
        notes.collected(),
        base=lambda: _base(document),
        links=lambda: _links(document),
    )


def links(data: bytes, **call: Unpack[Arguments]) -> Iterator[Link]:
    """Return an iterator over every reference of a document, in order.

    Args:
        data: the document's bytes.
        **call: as of `rewrite`.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if the kind, the charset or the profile is not known.

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
        ValueError: if the kind, the charset or the profile is not known.

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
        ValueError: if the kind, the charset or the profile is not known.

    >>> [(entity.part, entity.type) for entity in entities(b"<p>", url="http://h/")]
    [('', 'text/html')]
    """
    document = _read(data, check(data, **call))
    return iter((Entity("", document.type, Span(0, len(data)), _base(document)),))


class _Document(NamedTuple):
    """A document, and what is known of it before it is looked into.

    `text` is what is scanned: the data themselves, or what `view` shows of them.
    """

    data: bytes
    kind: Kind
    type: str
    charset: Charset
    view: View | None
    text: bytes
    scope: Scope
    notes: tuple[Note, ...]


def _read(data: bytes, call: Call) -> _Document:
    """What the bytes are, and the base of what is around them (RFC 1808 §3.2 to §3.4)."""
    content_type = _field(call, "content-type")
    kind = call.kind or kind_of_type(content_type) or kind_of_bytes(data)
    around, notes = _around(call)
    label = call.charset or _charset_parameter(content_type)
    charset = (sniff_css if kind is Kind.CSS else sniff)(data, label)
    if charset.source is Source.GUESS and data.isascii():
        # What is read is the same. What is written, and queries, are as browsers take it [C].
        charset = Charset("windows-1252", Source.DEFAULT)
    view = None
    if charset.name in UNREADABLE:
        kind = Kind.OTHER
        text = (
            f"the charset label stands for {charset.name!r}, which nobody can read: passed through"
        )
        notes.append(Note(Reason.CHARSET_UNSUPPORTED, "", None, text))
    elif kind in _VISITS:
        view = document_view(data, charset.name)
        if view is None and kind is Kind.CSS and charset.name != "utf-8" and not data.isascii():
            view = text_view(data, charset.name, css_escaped)
    elif kind is not Kind.OTHER:
        text = f"documents of kind {kind.value} are not rewritten yet: passed through"
        notes.append(Note(Reason.KIND_UNSUPPORTED, "", None, text))
    return _Document(
        data,
        kind,
        content_type.partition(";")[0].strip().lower() or _TYPES.get(kind, ""),
        charset,
        view,
        data if view is None else view.inner,
        Scope(
            around,
            call.profile,
            call.policy,
            charset=charset.name if view is None else "utf-8",
            encoding=charset.name,
        ),
        tuple(notes),
    )


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


# How the references of a kind are visited.
_VISITS: Final[dict[Kind, Callable[[bytes, Scope], Iterator[Item]]]] = {
    Kind.HTML: visit_html,
    Kind.CSS: lambda text, scope: visit_css(text, scope.on(scope.base)),
}


def _base(document: _Document) -> Base:
    if document.kind is not Kind.HTML:
        return document.scope.base
    return html_base(document.text, document.scope)


def _visit(document: _Document, *, edits_only: bool) -> Iterator[Item]:
    """The items of a document, in offsets of its bytes."""
    if document.kind not in _VISITS:
        return iter(())
    scope = replace(document.scope, edits_only=edits_only)
    items = _VISITS[document.kind](document.text, scope)
    return items if document.view is None else lowered(items, document.view, 0)


def _edits(document: _Document, notes: Notes) -> list[Edit]:
    """The edits of a document; what is to be remarked goes into `notes`."""
    edits: list[Edit] = []
    left = growth = 0
    allowed = max((MAX_GROWTH - 1) * len(document.data), MAX_GROWTH_BYTES)
    for item in _visit(document, edits_only=True):
        if isinstance(item, Edit):
            edits.append(item)
            growth += len(item.new) - (item.end - item.start)
            if growth > allowed:
                text = f"the output would be longer by more than {allowed} bytes: passed through"
                notes.add(_note(document, Reason.LIMIT_GROWTH, text))
                return []
        elif item.remark is not None:
            reason, text = item.remark
            notes.add(Note(reason, document.scope.part, Span(item.start, item.end), text))
        else:
            left += 1
    if left:
        notes.add(_note(document, Reason.BASE_NONE, _left(left, _base(document))))
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


def _charset_moved(output: bytes, document: _Document, call: Call) -> bool:
    """Whether the output would be taken for another charset (threat E6)."""
    if document.charset.source is not Source.META:
        return False
    return sniff(output, call.charset).name != document.charset.name


def _note(document: _Document, reason: Reason, text: str) -> Note:
    return Note(reason, document.scope.part, None, text)


def _links(document: _Document) -> Iterator[Link]:
    """The references of a document with their places in it."""
    line, line_start, at = 1, 0, 0
    data = document.data
    for hit in _visit(document, edits_only=False):
        if isinstance(hit, Edit) or hit.status is None:
            continue
        line += data.count(b"\n", at, hit.start)
        line_start = max(line_start, data.rfind(b"\n", at, hit.start) + 1)
        at = hit.start
        yield Link(
            document.scope.part,
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
