"""The documents of an input: the input itself, or the messages of an mbox, one after the other.

No more than one message is held at a time. Joined, the `before`, `data` and `after` of all
documents are the input: it may have no message at all, or begin with text that belongs to none.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from relbase import pipeline
from relbase.call import Arguments, Call, check
from relbase.cli import compressed
from relbase.cli.origins.places import Neighbours
from relbase.cli.streams import Collected, printable
from relbase.edit import Edit, Span, splice
from relbase.expressions import expression
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.notes import Note
from relbase.opening.door import kind_of_type
from relbase.references.html import Element, elements
from relbase.references.tags import attributes
from relbase.results import Entity, Link
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.bases.layers import Base
    from relbase.cli.files import OpenInput
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Finder, Found
    from relbase.mail.mbox import Lengths, Numbered
    from relbase.results import Result


class InputDocument(NamedTuple):
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
    first = next(source.pieces, b"")
    arguments = settings.arguments(source.name)
    if FORMATS[settings.kind_of(source.name, first)].streams:
        yield from _messages(chain((first,), source.pieces), arguments)
    else:
        yield InputDocument(b"", b"".join((first, *source.pieces)), b"", "", 0, 0, arguments)


def calls(
    source: OpenInput, settings: Settings, finder: Finder, found: Found | None = None
) -> Iterator[tuple[InputDocument, Call]]:
    """Yield the documents of an input, which is decompressed unless it is known what is `found`."""
    if found is None:
        found = finder.find(source, settings.url)
        source, settings = compressed.opened(
            source, settings._replace(fields=found.fields or settings.fields)
        )
    for document in documents(source, settings):
        if document.number:
            # What was found beside a mailbox is the mailbox's URL, not that of its messages.
            call = check(document.data, **document.arguments)
            yield document, call._replace(url=found.url) if found.given else call
        else:
            yield document, finder.call(document.arguments, found, source, document.data)


def _messages(pieces: Iterable[bytes], arguments: Arguments) -> Iterator[InputDocument]:
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


def rewritten(document: InputDocument, call: Call) -> Result:
    """Return what the library makes of a document; of a message what it makes of its mbox.

    The messages of an mbox are given once each, in their order, here or to `links_of`.
    """
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


def links_of(document: InputDocument, call: Call) -> Iterator[Link]:
    one, lengths, is_kept = document.message, document.lengths, False
    if one is not None and lengths is not None:
        from relbase.mail import mbox  # noqa: PLC0415 (start-up time: most inputs are pages)

        # A message may stay as it is for what its mbox says of lengths.
        may_stay = mbox.may_drop(one.message) or lengths.concern(one)
        is_kept = may_stay and not rewritten(document, call).edits
    for link in pipeline.links_called(document.data, call):
        is_dropped = is_kept and link.status is Status.REWRITTEN
        yield in_input(document, link._replace(status=Status.KEPT) if is_dropped else link)


# ---- what the library says of a document, said of the input


def before_part(part: str, number: str = "") -> str:
    """Return what stands before what is said of a part of an input, "" for the input itself."""
    if not part:
        return ""
    return f"message {part}: " if part == number else f"part {part}: "


_Said = TypeVar("_Said", Note, Link, Entity)


def in_input(document: InputDocument, said: _Said) -> _Said:
    if not document.number:
        return said
    part = f"{document.number}/{said.part}" if said.part else document.number
    if isinstance(said, Note):
        return said._replace(part=part, span=said.span and _moved(said.span, document.start))
    base, span = _base_in(document, said.base), _moved(said.span, document.start)
    if isinstance(said, Entity):
        return replace(said, part=part, span=span, base=base)
    return said._replace(part=part, span=span, base=base, line=said.line + document.lines)


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def _base_in(document: InputDocument, base: Base) -> Base:
    if base.outer is None and not base.refused:
        return base
    refused = tuple(in_input(document, note) for note in base.refused)
    outer = None if base.outer is None else _base_in(document, base.outer)
    return replace(base, outer=outer, refused=refused)


# ---- notes, as warnings and as advice

# What programs write where people give an option.
_argument: Final = expression(r"\bpolicy=Policy\((\w+)=True\)|(?<=\(pass )url=")


def with_options(text: str, *, several: bool = False) -> str:
    """Return a sentence of the library with options in the place of arguments."""
    url = "--map, --root or --mirror" if several else "--url"  # rule 16: one URL, one document
    return _argument.sub(lambda found: f"--{found[1].replace('_', '-')}" if found[1] else url, text)


def advice(type_: str, *, several: bool = False) -> str:
    text = FORMATS[kind_of_type(type_) or Kind.OTHER].advice
    return with_options(text, several=several)


def collect(
    shown: str,
    document: InputDocument,
    notes: Sequence[Note],
    warned: Collected,
    *,
    several: bool = False,
) -> None:
    data, line, line_start, at = document.data, document.lines + 1, 0, 0
    for note in sorted(notes, key=lambda note: note.span.start if note.span else -1):
        place = ""
        if note.span:
            before, at = at, note.span.start
            line += data.count(b"\n", before, at)
            line_start = max(line_start, data.rfind(b"\n", before, at) + 1)
            place = f":{line}:{at - line_start + 1}"
        text = sentence(in_input(document, note), document.number, several=several)
        warned.add(note.reason.value, f"{shown}{place}: warning: {text}")


def sentence(note: Note, number: str = "", *, several: bool = False) -> str:
    part = before_part(note.part, number)
    return printable(f"{part}{with_options(note.text, several=several)} [{note.reason.value}]")


def place_of(element: str, attribute: str, syntax: str) -> str:
    """Return what a reference stands in; a field of a header is an attribute of no element."""
    where = element or attribute or syntax
    return printable(f"{where}/@{attribute}" if element and attribute else where)


# ---- what is verified before a rewriting replaces a file: laws 2 and 8


class SelfCheckError(Exception):
    """A rewriting is not what it should be, for the reason in the text: nothing was written."""


def verify(data: bytes, result: Result, call: Call) -> None:
    if not result.edits:
        if result.data != data:
            raise SelfCheckError("bytes changed where no link did")
        return
    _same_outside(data, result.data, result.edits)
    read = {"entities": _entities, "references": _references}
    # In a transfer encoding a line may break anywhere, and what looks like a tag is none.
    if next(_entities(data, call)) == ("", "text/html"):
        read["tags"] = _tags
    for what, parts in read.items():
        both = zip_longest(parts(data, call), parts(result.data, call))
        for number, (old, new) in enumerate(both, 1):
            if old != new:
                text = f"the {what} would not be the same, from number {number} on"
                raise SelfCheckError(text)


def _same_outside(data: bytes, output: bytes, edits: Sequence[Edit]) -> None:
    """Law 2: cut the edited spans out of both, and the rest is equal."""
    at = moved = 0
    old, new = memoryview(data), memoryview(output)
    for start, end, inserted in edits:
        if not at <= start <= end <= len(data):
            raise SelfCheckError("the edits are not in order")
        kept = old[at:start] == new[at + moved : start + moved]
        if not kept or new[start + moved : start + moved + len(inserted)] != inserted:
            raise SelfCheckError(f"bytes from {at} to {start} changed outside of links")
        moved += len(inserted) - (end - start)
        at = end
    if old[at:] != new[at + moved :]:
        raise SelfCheckError(f"bytes from {at} on changed outside of links")


# Law 8: the structure is the same.


def _entities(data: bytes, call: Call) -> Iterator[object]:
    return ((entity.part, entity.type) for entity in pipeline.entities_called(data, call))


def _references(data: bytes, call: Call) -> Iterator[object]:
    for link in pipeline.links_called(data, call):
        yield link.part, link.element, link.attribute, link.syntax


def _tags(data: bytes, call: Call) -> Iterator[object]:  # noqa: ARG001 (as the others)
    for element in elements(data, 0, len(data)):
        assert isinstance(element, Element)
        named = attributes(data, element.attributes, element.end)
        yield element.name, [attribute.name for attribute in named]
