"""The documents of an input: the input itself, or the messages of an mbox, one after the other.

No more than one message is held at a time. Joined, the `before`, `data` and `after` of all
documents are the input: it may have no message at all, or begin with text that belongs to none.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from relbase import pipeline
from relbase.call import check
from relbase.cli import compressed
from relbase.cli.origins.places import Neighbours
from relbase.edit import Span, splice
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relbase.bases.layers import Base
    from relbase.call import Arguments, Call
    from relbase.cli.files import OpenInput
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Finder, Found
    from relbase.mail.mbox import Lengths, Numbered
    from relbase.notes import Note
    from relbase.results import Entity, Link, Result


class InputDocument(NamedTuple):
    """A document of an input."""

    before: bytes  # what stands in front of it and is not part of it: a From_ line
    data: bytes
    after: bytes  # what stands after it and is not part of it: an empty line
    number: str  # of the message in an mbox, "" for a document that is the input itself
    start: int  # where its bytes begin in the input
    lines: int  # how many lines of the input are before it
    arguments: Arguments
    message: Numbered | None = None  # of an mbox
    lengths: Lengths | None = None  # of the messages before it


def documents(source: OpenInput, settings: Settings) -> Iterator[InputDocument]:
    """Yield the documents of an input, in order; one at least."""
    first = next(source.pieces, b"")
    arguments = settings.arguments(source.name)
    if FORMATS[settings.kind_of(source.name, first)].streams:
        yield from _messages(chain((first,), source.pieces), arguments)
    else:
        yield InputDocument(b"", b"".join((first, *source.pieces)), b"", "", 0, 0, arguments)


def calls(
    source: OpenInput, settings: Settings, finder: Finder
) -> Iterator[tuple[InputDocument, Call]]:
    """Yield the documents of an input, and the call of the library for each."""
    found = finder.find(source, settings.url)
    source, settings = compressed.opened(source, settings.on_fields(found.fields))
    yield from found_calls(source, settings, finder, found)


def found_calls(
    source: OpenInput, settings: Settings, finder: Finder, found: Found
) -> Iterator[tuple[InputDocument, Call]]:
    """Yield the same where it is known what is found outside of the input."""
    for document in documents(source, settings):
        if document.number:
            # What was found beside a mailbox is the mailbox's URL, not that of its messages.
            call = check(document.data, **document.arguments)
            yield document, call._replace(url=found.url) if found.given else call
        else:
            yield document, finder.call(document.arguments, found, source, document.data)


def _messages(pieces: Iterable[bytes], arguments: Arguments) -> Iterator[InputDocument]:
    """The messages of an mbox; what stands before the first comes with it."""
    from relbase.mail import mbox  # noqa: PLC0415 (start-up time: most inputs are pages)

    arguments = {**arguments, "kind": Kind.MAIL}
    lengths = mbox.Lengths()
    for one in mbox.messages(pieces):
        if isinstance(one, bytes):
            yield InputDocument(b"", one, b"", "", 0, 0, {**arguments, "kind": Kind.MBOX})
            continue
        number, before, message, start, lines = one
        content, ending = message.content, message.ending
        place = before, content, ending, str(number), start, lines
        yield InputDocument(*place, arguments, one, lengths)


def rewritten(document: InputDocument, call: Call | None = None) -> Result:
    """Return what the library makes of a document; of a message what it makes of its mbox.

    The messages of an mbox are given once each, in their order, here or to `links_of`.
    """
    call = call or check(document.data, **document.arguments)
    result = pipeline.rewrite_called(document.data, call)
    places = call.origin.places if call.origin else None
    if isinstance(places, Neighbours):
        result = result._replace(notes=(*result.notes, *places.notes()))
    if document.message is None or document.lengths is None:
        return result
    from relbase.mail import mbox  # noqa: PLC0415 (start-up time: most inputs are pages)

    message = document.message.message
    edits, notes = mbox.settle(message, result.edits)
    edits, more = document.lengths.keep(document.message, edits)
    notes += more
    kept = (note for note in result.notes if not mbox.is_settled(message, note))
    result = result._replace(notes=(*kept, *notes))
    if tuple(edits) == result.edits:
        return result
    return result._replace(data=splice(document.data, edits), edits=tuple(edits))


def links_of(document: InputDocument, call: Call | None = None) -> Iterator[Link]:
    """Return the references of a document, as they are in its input."""
    call = call or check(document.data, **document.arguments)
    one, lengths, is_kept = document.message, document.lengths, False
    if one is not None and lengths is not None:
        from relbase.mail import mbox  # noqa: PLC0415 (start-up time: most inputs are pages)

        # A message may stay as it is for what its mbox says of lengths.
        may_stay = mbox.may_drop(one.message) or lengths.concern(one)
        is_kept = may_stay and not rewritten(document, call).edits
    for link in pipeline.links_called(document.data, call):
        is_dropped = is_kept and link.status is Status.REWRITTEN
        yield link_in(document, link._replace(status=Status.KEPT) if is_dropped else link)


# ---- what the library says of a document, said of the input


def part_name(part: str, number: str) -> str:
    """Return what a part of an input is called for people, "" for the input itself."""
    if not part:
        return ""
    return f"message {part}" if part == number else f"part {part}"


def note_in(document: InputDocument, note: Note) -> Note:
    if not document.number:
        return note
    span = _span(document, note.span) if note.span else None
    return note._replace(part=_part(document, note.part), span=span)


def base_in(document: InputDocument, base: Base) -> Base:
    if not document.number or (base.outer is None and not base.refused):
        return base
    refused = tuple(note_in(document, note) for note in base.refused)
    outer = None if base.outer is None else base_in(document, base.outer)
    return replace(base, outer=outer, refused=refused)


def link_in(document: InputDocument, link: Link) -> Link:
    if not document.number:
        return link
    return link._replace(
        part=_part(document, link.part),
        base=base_in(document, link.base),
        span=_span(document, link.span),
        line=link.line + document.lines,
    )


def entity_in(document: InputDocument, entity: Entity) -> Entity:
    if not document.number:
        return entity
    return replace(
        entity,
        part=_part(document, entity.part),
        span=_span(document, entity.span),
        base=base_in(document, entity.base),
    )


def _part(document: InputDocument, part: str) -> str:
    return f"{document.number}/{part}" if part else document.number


def _span(document: InputDocument, span: Span) -> Span:
    return Span(span.start + document.start, span.end + document.start)
