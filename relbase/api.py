"""The public functions on bytes: rewrite a document, list its links, tell its base and entities."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, Unpack

from relbase.bases.layers import Base, Layer
from relbase.edit import Edit, PackedEdits, are_dense
from relbase.notes import Note, Reason
from relbase.results import Entity, Link, Notes, Result
from relbase.rewriting.budget import Budget
from relbase.rewriting.outcomes import Outcome, Packed, Reference, Status
from relbase.savers.marks import Unarchived
from relbase.scan.binding import spliced
from relbase.session.at_once import edits_at_once, links_at_once
from relbase.session.opening import Input, open_input
from relbase.session.options import (
    DEFAULT_POLICY,
    URL,
    Arguments,
    Call,
    Headers,
    KindName,
    MessageUrls,
    check,
)
from relbase.url.credentials import masked
from relbase.url.resolver import Profile, ProfileName

if TYPE_CHECKING:
    from relbase.kind import Kind
    from relbase.policy import Policy


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
    message_urls: MessageUrls | None = None,
) -> Result:
    """Make every relative reference of a document absolute, and change no other byte.

    Args:
        data: The document's bytes.
        url: The URL that was requested, absolute: a string, or an object whose `str()` is the URL.
        redirects: The `Location` values that followed, in order, absolute or relative.
        headers: The response's headers: a mapping, or pairs of names and values.
        kind: A `Kind` or its value. Without it the Content-Type, the name or the bytes decide.
        name: File name, used only to guess the kind. The file is not opened.
        charset: The charset label that the response states.
        profile: A `Profile` or its value: the algorithm that resolves references.
        policy: Which links to leave unchanged, and which to add.
        detect: Whether to read the URL from marks that programs leave in saved pages.
        message_urls: The URL of each message of a mailbox: a mapping from Message-ID
            (`<id@host>`), List-Id, address or domain (`@host`) to URLs, or a function that gets
            the header fields as pairs and returns a URL or None. It counts before `url`.

    Returns:
        The new bytes (the same object if nothing is relative), the edits, the base and the notes.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

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
        message_urls=message_urls,
    )
    return rewrite_called(data, call)


def rewrite_called(data: bytes, call: Call) -> Result:
    """Rewrite a document, as `rewrite` does, by a call that has been checked."""
    if (at_once := edits_at_once(data, call)) is not None:
        return _result(data, call, spliced(data, at_once), at_once, ())
    given = open_input(data, call)
    notes = Notes(given.notes)
    edits = _edits(given, notes)
    output = spliced(data, edits)
    if edits and given.document.moves_charset(output, given.label):
        notes.add(Note(Reason.CHARSET_MOVED, "", None, _MOVED))
    return _result(data, call, output, edits, notes.collected())


def _result(
    data: bytes, call: Call, output: bytes, edits: Sequence[Edit], notes: tuple[Note, ...]
) -> Result:
    return Result(
        output,
        edits,
        notes,
        base=partial(_base_of, data, call),  # module functions, so that a Result can be pickled
        links=partial(links_called, data, call),
    )


def links(data: bytes, **call: Unpack[Arguments]) -> Iterator[Link]:
    """Return an iterator over every link of a document, in order.

    Args:
        data: The document's bytes.
        **call: The arguments of `rewrite`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    >>> [link.url for link in links(b"<img src=a srcset='b 2x'>", url="http://h/d/")]
    ['http://h/d/a', 'http://h/d/b']
    """
    return links_called(data, check(data, **call))


def base(data: bytes, **call: Unpack[Arguments]) -> Base:
    """Return the base of a document, with the layers around it (RFC 1808 §3).

    Args:
        data: The document's bytes.
        **call: The arguments of `rewrite`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    >>> found = base(b"<base href=sub/>", url="http://h/d/")
    >>> found.url, found.layer.value, found.outer.url
    ('http://h/d/sub/', 'embedded', 'http://h/d/')
    """
    return _base_of(data, check(data, **call))


def entities(data: bytes, **call: Unpack[Arguments]) -> Iterator[Entity]:
    """Return an iterator over a document and the message parts in it, the outermost first.

    Args:
        data: The document's bytes.
        **call: The arguments of `rewrite`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If the URL is not absolute, or the kind, charset or profile is unknown.

    >>> [(entity.part, entity.type) for entity in entities(b"<p>", url="http://h/")]
    [('', 'text/html')]
    """
    return entities_called(data, check(data, **call))


def entities_called(data: bytes, call: Call) -> Iterator[Entity]:
    """Return an iterator over the tree of entities, by a call that has been checked."""
    given = open_input(data, call)
    return given.document.entities(given.type)


def _base_of(data: bytes, call: Call) -> Base:
    return open_input(data, call).document.base()


def _visit(
    given: Input, *, edits_only: bool, link: type[tuple[Any, ...]] | None = None
) -> Iterator[Outcome]:
    """The items of an input, with offsets in its bytes, and at last the note on growth."""
    document = given.document
    budget = Budget(len(document.data))
    # The visit can skip absolute references, unless a web archive may have written them.
    may_pass = not isinstance(document.context.task.local_files, Unarchived)
    task = document.context.task._replace(
        edits_only=edits_only and may_pass,
        found_only=not edits_only and may_pass,
        budget=budget,
        link=link,
    )
    yield from document.visit(task)
    if note := budget.note(document.context.part):
        yield note


def _edits(given: Input, notes: Notes) -> list[Edit] | PackedEdits:
    edits: list[Edit] | PackedEdits = []
    left, base = 0, None
    items = _visit(given, edits_only=True)
    while batch := list(islice(items, _AT_ONCE)):
        found = [item for item in batch if type(item) is Edit]
        edits.extend(found)
        if isinstance(edits, list) and are_dense(edits):
            edits = PackedEdits(edits)
        if len(found) < len(batch):
            for item in batch:
                if isinstance(item, Note):
                    notes.add(item)
                elif isinstance(item, Reference) and item.status is Status.UNRESOLVED:
                    left += 1
                    base = base or item.base
    if base is not None:
        text = f"{left} relative link{'' if left == 1 else 's'} left unchanged"
        why = given.document.format.advice
        if base.url:
            why = f"none can be resolved against {masked(base.url)[:200]!r}"
        elif base.layer is not Layer.NONE:
            why = f"a program has yet to fill in the placeholder in {base.source}"
        notes.add(Note(Reason.BASE_NONE, "", None, f"{text}: {why}"))
    return edits


# Items are taken in batches: taking them one by one takes as long as making them.
_AT_ONCE: Final = 1024


_MOVED: Final = (
    "the links before <meta charset> grew so that browsers no longer find it in the first 1024 "
    "bytes: give the charset in the Content-Type when you publish the document"
)


def found_called(data: bytes, call: Call) -> Iterator[Reference]:
    """Yield every reference, as `links` does, but without its line and column."""
    items = _visit(open_input(data, call), edits_only=False)
    return (item for item in items if isinstance(item, Reference))


def packed_called(data: bytes, call: Call) -> Iterator[Reference | Packed]:
    """Yield every reference, as `found_called` does, or many at once as columns."""
    given = open_input(data, call)
    is_plain = given.document.view is None and given.document.format.makes_links
    items = _visit(given, edits_only=False, link=Packed if is_plain else None)
    return (item for item in items if isinstance(item, (Reference, Packed)))


def links_called(data: bytes, call: Call) -> Iterator[Link]:
    """Return an iterator over every reference with its place, by a call that has been checked."""
    links = links_at_once(data, call)
    return chain.from_iterable(_links(data, call)) if links is None else iter(links)


def _links(data: bytes, call: Call) -> Iterator[Sequence[Link]]:
    line, line_start, at = 1, 0, 0
    given = open_input(data, call)
    document = given.document
    data = document.data
    makes_links = document.view is None and document.format.makes_links
    items: Iterator[Any] = _visit(given, edits_only=False, link=Link if makes_links else None)
    for item in items:
        if isinstance(item, list):
            yield item
            _, _, _, _, _, _, _, (at, _), line, column, _ = item[-1]
            line_start = at - column + 1
            continue
        if not isinstance(item, Reference):
            continue
        start = item.span.start
        if lines := data.count(b"\n", at, start):
            line += lines
            line_start = data.rfind(b"\n", at, start) + 1
        at = start
        span, *what, status, part = item
        values = (part, *what, span, line, start - line_start + 1, status)
        yield (tuple.__new__(Link, values),)  # `Link(...)` takes twice as long
