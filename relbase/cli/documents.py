"""The documents of an input: the input itself, or the messages of an mbox, in order.

The `before`, `data` and `after` of all documents, joined, are the input. Mail may be compressed by
gzip, bzip2 or xz; what precedes its first change is decompressed twice.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

from relbase.cli.files import PIECE, InputError, OpenInput, again, peeked
from relbase.cli.origins.finder import own_url, site_url
from relbase.cli.origins.places import Neighbours
from relbase.cli.streams import PACKED, Collected, excerpt, printable
from relbase.edit import Span, splice
from relbase.expressions import expression
from relbase.formats.recognition import kind_of_type
from relbase.formats.rows import FORMATS
from relbase.kind import Kind
from relbase.notes import Note
from relbase.results import Entity, Link, Result
from relbase.rewriting.outcomes import Status
from relbase.session import run
from relbase.session.session import Call, OpenedDocument

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Finder
    from relbase.cli.origins.paths import FoundUrl
    from relbase.mail.mbox import Lengths, MboxMessage
    from relbase.rewriting.budget import Budget


class InputDocument(NamedTuple):
    before: bytes  # what precedes it in the input: a From_ line
    given: OpenedDocument
    after: bytes  # what follows it in the input: an empty line
    number: str  # of the message in an mbox; "" if the document is the input itself
    start: int  # where its bytes begin in the input
    lines: int  # how many lines of the input are before it
    mbox: tuple[MboxMessage, Lengths] | None = None  # the message, and what those before it need

    @property
    def data(self) -> bytes:
        return self.given.document.data


def documents(
    source: OpenInput, call: Call, *, streams: bool | None = None
) -> Iterator[InputDocument]:
    """Yield the documents of an input; `streams` says if they are messages, if that is known."""
    first = next(source.pieces, b"")
    if streams is None:
        streams = FORMATS[call.kind_of(first)].streams
    if streams:
        yield from _messages(chain((first,), source.pieces), call)
    else:
        given = call.opened(b"".join((first, *source.pieces)))
        yield InputDocument(b"", given, b"", "", 0, 0)


def placed(
    document: InputDocument, known: FoundUrl, finder: Finder, source: OpenInput
) -> InputDocument:
    """Return a document of an input with the URL that is known for the input."""
    given = document.given
    if not document.number:
        return document._replace(given=finder.place(given, known, source))
    # What was found beside a mailbox is the mailbox's URL, not that of its messages.
    if not known.given or given.call.url == known.url:
        return document
    return document._replace(given=given.of(given.call._replace(url=known.url)))


def _messages(pieces: Iterable[bytes], call: Call) -> Iterator[InputDocument]:
    from relbase.mail import mbox  # start-up time: most inputs are pages

    call = call.with_options(kind=Kind.MAIL)
    lengths = mbox.Lengths()
    for member in mbox.messages(pieces):
        if isinstance(member, bytes):
            given = call.with_options(kind=Kind.MBOX).opened(member)
            yield InputDocument(b"", given, b"", "", 0, 0)
            continue
        number, before, message, start, lines = member
        given, within = call.opened(message.content), (message.ending, str(number), start, lines)
        yield InputDocument(before, given, *within, (member, lengths))


def rewritten(document: InputDocument, budget: Budget | None = None) -> Result:
    """Rewrite a document as the library does. Messages of an mbox must come in order, once each.

    A budget counts the references that are rewritten.
    """
    result, origin = run.rewrite(document.given.on(budget=budget)), document.given.call.origin
    places = origin.local_files if origin else None
    if isinstance(places, Neighbours):
        result = result._replace(notes=(*result.notes, *places.notes()))
    if document.mbox is None:
        return result
    from relbase.mail.mbox import is_updated  # start-up time: most inputs are pages

    member, lengths = document.mbox
    before, kept = result.edits, result.notes
    edits, notes = lengths.with_lengths(member, before)
    if member.message.length is not None:
        kept = tuple(note for note in kept if not is_updated(member.message, note))
    if edits != list(before):
        data = splice(document.given.document.data, edits)
        result = result._replace(data=data, edits=tuple(edits))
    return result._replace(notes=(*kept, *notes)) if notes or kept != result.notes else result


def statuses(document: InputDocument) -> Counter[str]:
    """Count the references of a document by their status."""
    return Counter(reference.status.value for reference in run.references(document.given))


def links_of(document: InputDocument, *, texts: bool = False) -> Iterator[Link]:
    is_kept = False
    if document.mbox is not None and document.mbox[1].concern(document.mbox[0]):
        is_kept = not rewritten(document).edits
    for link in run.links(document.given, texts=texts):
        is_dropped = is_kept and link.status is Status.REWRITTEN
        yield in_input(document, link._replace(status=Status.KEPT) if is_dropped else link)


def before_part(part: str, number: str = "") -> str:
    if not part:
        return ""
    return f"message {part}: " if part == number else f"part {part}: "


_Reported = TypeVar("_Reported", Note, Link, Entity)


def in_input(document: InputDocument, reported: _Reported) -> _Reported:
    if not document.number:
        return reported
    part = f"{document.number}/{reported.part}" if reported.part else document.number
    if isinstance(reported, Note):
        return reported._replace(
            part=part, span=reported.span and _moved(reported.span, document.start)
        )
    base, span = _base_in(document, reported.base), _moved(reported.span, document.start)
    if isinstance(reported, Entity):
        return replace(reported, part=part, span=span, base=base)
    return reported._replace(part=part, span=span, base=base, line=reported.line + document.lines)


def _moved(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)


def _base_in(document: InputDocument, base: Base) -> Base:
    if base.outer is None and not base.refused:
        return base
    refused = tuple(in_input(document, note) for note in base.refused)
    outer = None if base.outer is None else _base_in(document, base.outer)
    return replace(base, outer=outer, refused=refused)


# Arguments of the library, which are options here.
_argument: Final = expression(r"\bpolicy=Policy\((\w+)=True\)|(?<=\(pass )url=( or message_urls=)?")
# Names of messages that are saved pages.
_SAVED_PAGES: Final = (".mht", ".mhtml", ".mhtm")


def with_options(text: str, *, several: bool = False, name: str = "") -> str:
    context = click.get_current_context(silent=True)
    is_refused = context is not None and context.params.get("url")  # it, or its redirect
    is_page = name.lower().endswith(_SAVED_PAGES)

    def option(match: re.Match[str]) -> str:
        if match[1]:
            return f"--{match[1].replace('_', '-')}"
        if is_refused:
            return "another --url or --redirect"
        if not several:
            return "--url"
        # Rule 16: one URL, one document.
        is_mail = match[2] and not is_page
        return "--message-map or --message-base" if is_mail else "--map, --root or --mirror"

    return _argument.sub(option, text.replace("kind='html' (--kind html)", "--kind html"))


def advice(
    type_: str, document: InputDocument | None, *, several: bool = False, name: str = ""
) -> str:
    text = FORMATS[kind_of_type(type_) or Kind.OTHER].advice
    return _with_stated(with_options(text, several=several, name=name), document)


def _with_stated(text: str, document: InputDocument | None) -> str:
    """Name the option that takes a URL which a document states: its own, or that of its site."""
    context, start = click.get_current_context(silent=True), "(pass --"
    if document is None or context is None or start not in text:
        return text
    for option, url_of in (("canonical", own_url), ("site_links", site_url)):
        is_offered = context.params.get(option) is False
        if is_offered and (url := url_of(document.data, document.given.document.format.kind).url):
            named = option.replace("_", "-")
            return text.replace(start, f"(pass --{named} for {excerpt(url)}, or --")
    return text


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
        reported = in_input(document, note)
        text = sentence(reported, document.number, several=several, name=shown)
        text = _with_stated(text, document)
        place = ""
        if note.span:
            before, at = at, note.span.start
            line += data.count(b"\n", before, at)
            line_start = max(line_start, data.rfind(b"\n", before, at) + 1)
            place = f":{line}:{at - line_start + 1}"
            for end in (":", " "):  # the line already begins with it
                text = text.replace(f" at {place[1:]}{end}", end, 1)
        warned.add(note.reason.value, f"{shown}{place}: warning: {text}")


def sentence(note: Note, number: str = "", *, several: bool = False, name: str = "") -> str:
    text = with_options(note.text, several=several, name=name)
    return printable(f"{before_part(note.part, number)}{text} [{note.reason.value}]")


# The numbers of the growth limit (rule 12). Ordinary mail reaches a tenth of this ratio.
_RATIO: Final = 100
_LEAST: Final = 64 << 20


class Coding(NamedTuple):
    suffix: str
    mark: bytes  # what a member begins with
    module: str
    reader: str
    writer: str
    arguments: dict[str, int]

    def made(self, name: str) -> Any:
        return getattr(import_module(self.module), name)(**self.arguments)


_CODINGS: Final = (
    Coding(".gz", b"\x1f\x8b\x08", "zlib", "decompressobj", "compressobj", {"wbits": 31}),
    Coding(".bz2", b"BZh", "bz2", "BZ2Decompressor", "BZ2Compressor", {}),
    Coding(".xz", b"\xfd7zXZ\0", "lzma", "LZMADecompressor", "LZMACompressor", {}),
)


def _broken() -> tuple[type[Exception], ...]:
    return import_module("zlib").error, OSError, EOFError, import_module("lzma").LZMAError


def recognised(source: OpenInput, first: bytes, settings: Settings) -> tuple[Coding, Kind] | None:
    coding = next((row for row in _CODINGS if first.startswith(row.mark)), None)
    if coding is None or (settings.kind and not FORMATS[Kind(settings.kind)].messages):
        return None
    try:
        start = coding.made(coding.reader).decompress(first, PIECE)
    except _broken():
        start = b""  # reported when it is read, if its name says mail
    kind = settings.call(source.name.removesuffix(coding.suffix)).kind_of(start)
    return (coding, kind) if FORMATS[kind].messages else None


# A message or mailbox in a ZIP archive (APPNOTE.TXT 4.3.7), as web mail exports them.
ZIPPED: Final = expression(rb"(?is)PK\x03\x04.{26}[^\0]{1,200}?\.(?:eml|mbox)")


def opened(source: OpenInput, settings: Settings) -> tuple[OpenInput, Settings]:
    first, source = peeked(source)
    packed = recognised(source, first, settings)
    if packed is None:
        return source, settings
    coding, kind = packed
    pieces = unfolded(source.pieces, coding)
    return source._replace(pieces=pieces), settings._replace(kind=kind.value)


def unfolded(pieces: Iterable[bytes], coding: Coding) -> Iterator[bytes]:
    read = made = 0
    member: Any = None
    rest = b""
    name = coding.suffix[1:]
    for piece in pieces:
        read += len(piece)
        rest += piece
        # zlib returns what it has not read yet; the others keep it.
        while rest or not getattr(member, "needs_input", True):
            if member is None:
                rest = rest.lstrip(b"\0")  # padding, as tapes have it
                if len(rest) < len(coding.mark):
                    break
                if not rest.startswith(coding.mark):
                    raise InputError(f"there is something else after the end of its {name} data")
                member = coding.made(coding.reader)
            try:
                data = member.decompress(rest, PIECE)
            except _broken() as error:
                raise InputError(f"its {name} data is broken: {error}") from None
            rest = getattr(member, "unconsumed_tail", b"")
            made += len(data)
            if made > max(_LEAST, _RATIO * read):
                limit = f"more than {_RATIO} times its size and {_LEAST >> 20} MiB"
                raise InputError(f"its {name} data expands to {limit}: decompress it first")
            yield data
            if member.eof:
                rest, member = member.unused_data, None
    if member is not None or rest:
        raise InputError(f"its {name} data is cut off")


def kept(source: OpenInput) -> tuple[OpenInput, Callable[[], Iterator[bytes]]]:
    """Return an input, and a function that reads its own bytes again."""
    if source.status is not None:
        return source, lambda: again(source)
    from tempfile import TemporaryFile

    file = TemporaryFile()  # noqa: SIM115 (closed with the last reader)
    file.writelines(source.pieces)

    def read() -> Iterator[bytes]:
        at = 0
        while file.seek(at) == at and (piece := file.read(PIECE)):  # two may read it at once
            at += len(piece)
            yield piece

    return source._replace(pieces=read()), read


def packed_as(
    path: str, coding: Coding | None, source: OpenInput, pieces: Iterable[bytes]
) -> Iterable[bytes]:
    """Return an output, if it is compressed as its suffix says."""
    end, suffix = os.path.splitext(path)[1], coding and coding.suffix
    mark = PACKED.get(end.lower())
    if suffix and end not in {"", suffix}:
        fix = f"give -o FILE{suffix}, or decompress the input first"
        raise InputError(f"the output is compressed like the input: {fix}")
    if mark is None or source.name.endswith(end):  # as the input, whatever it is
        return pieces
    start = next(filter(None, pieces := iter(pieces)), b"")
    if not start.startswith(mark):
        raise InputError(f"the output is not compressed: leave '{end}' out of its name")
    return chain((start,), pieces)


def folded(
    pieces: Iterable[bytes],
    coding: Coding,
    original: Callable[[], Iterator[bytes]],
    has_changed: Callable[[], bool],
) -> Iterator[bytes]:
    """Yield the output compressed, or the input's own bytes if nothing in it changes."""
    same = 0
    pieces = iter(pieces)
    for piece in pieces:
        if has_changed():
            break
        same += len(piece)
    else:
        yield from original()
        return
    writer = coding.made(coding.writer)
    for before in unfolded(original(), coding):
        yield writer.compress(before[:same])
        same -= len(before)
        if same <= 0:
            break
    yield from map(writer.compress, chain((piece,), pieces))
    yield writer.flush()
