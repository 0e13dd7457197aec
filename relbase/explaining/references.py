"""The references of a document: marked in its source by the layer that decides, and listed.

An edit strikes its bytes out (`<del>`) and puts the new ones after them (`<ins>`). A body in base64
or quoted-printable is shown decoded, in a frame of its own. The source is divided into chunks of
many lines, so that a browser lays out only those that are in sight.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from itertools import chain, count, groupby, repeat, starmap
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from relbase.bases.layers import Base
from relbase.edit import Edit, Span
from relbase.explaining.markup import attribute, badge, counted, text, url
from relbase.explaining.steps import Comparison, deciding, named, taken
from relbase.expressions import regex
from relbase.rewriting.outcomes import Status
from relbase.view.charset import DEFAULT, WIDE, Charset, is_utf_8, lookup, sniff
from relbase.view.transcode import decode

if TYPE_CHECKING:
    from relbase.formats.document import Document
    from relbase.mail.documents import DecodedBody
    from relbase.notes import Note
    from relbase.results import Link
    from relbase.session.session import Call

# A chunk ends at the first line end after `_CHUNK` bytes, or else after `_LONGEST` bytes, since a
# minified page may be one line.
_CHUNK: Final = 8 << 10
_LONGEST: Final = 64 << 10

# Browsers lay out only the visible part of a longer source. For a short one they would guess the
# height, and jump.
_FAR: Final = 16 * _CHUNK

# How much of a URL the title of a mark shows, in characters.
_TITLE: Final = 300

T = TypeVar("T")
_start, _end = attrgetter("start"), attrgetter("end")
_link_span, _link_start = attrgetter("span"), attrgetter("span.start")


class _Mark(NamedTuple):
    """A reference, numbered from 1, and where it is shown."""

    number: int
    link: Link
    start: int
    end: int


class _Marks(NamedTuple):
    """The references of a text, in order. There may be millions, so each is freed when shown."""

    first: int  # the number of the first
    links: deque[Link]
    spans: array[int]  # where each begins and ends

    def consume(self) -> Iterator[_Mark]:
        links = starmap(self.links.popleft, repeat((), len(self.links)))
        return map(_Mark, count(self.first), links, self.spans[::2], self.spans[1::2])


def source(
    document: Document, label: str | None, edits: deque[Edit], links: deque[Link]
) -> Iterator[str]:
    """Yield the marked source in pieces; `label` is the charset that the caller gave.

    Edits and links are taken from the left as they are shown.
    """
    data, decoded = document.data, document.format.decoded
    charset = _charset(data, document.charset, label)
    yield f'<div class="all{" far" if len(data) > _FAR else ""}">'
    at, number = 0, 1
    changes: deque[Edit] = deque()  # of what is outside all frames
    own: deque[Link] = deque()
    for body in decoded(data, document.context) if decoded else ():
        start, end = body.span
        changes += _before(edits, start, _start)
        own += _before(links, start, _link_start)
        edited, inside = _before(edits, end, _start), _before(links, end, _link_start)
        is_known = 2 * len(inside) == len(body.spans)
        if not inside or not is_known or any(link.part != body.part for link in inside):
            changes += edited
            own += inside
            continue
        marks = _Marks(number + len(own), inside, body.spans)
        number = marks.first + len(inside)
        yield from _marked(data, Span(at, start), changes, _marks(marks.first, own), charset)
        yield from _framed(body, body.edits if edited else deque(), marks)
        at = end
    # `+ 1`: edits and links at the very end belong to the last piece, too.
    changes += _before(edits, len(data) + 1, _start)
    own += _before(links, len(data) + 1, _link_start)
    marks = _marks(number + len(own), own)
    yield from _marked(data, Span(at, len(data)), changes, marks, charset)
    yield "</div>"


def _before(items: deque[T], end: int, start_of: Callable[[T], int]) -> deque[T]:
    """Take those of sorted items that begin before an offset."""
    taken = deque[T]()
    while items and start_of(items[0]) < end:
        taken.append(items.popleft())
    return taken


def lightened(links: Iterable[Link]) -> Iterator[Link]:
    """Yield links without what no page shows: a long base may be resolved anew for each of them."""
    for number, link in enumerate(links):
        is_listed = number < MAX_LISTED
        if is_listed and link.url is not None:
            yield link  # its steps begin with the base
        else:
            base = Base("", link.base.layer, link.base.source if is_listed else "")
            yield link._replace(base=base, url=link.url and link.url[: _TITLE + 1])


def _marks(after: int, links: deque[Link]) -> _Marks:
    spans = array("Q", chain.from_iterable(map(_link_span, links)))
    return _Marks(after - len(links), links, spans)


def _framed(body: DecodedBody, edits: deque[Edit], marks: _Marks) -> Iterator[str]:
    """A body, decoded, whose references are all known."""
    inner = body.inner
    charset = _charset(inner, sniff(inner, body.label), body.label)
    name = f"Part {text(body.part)}" if body.part else "The body"
    yield f'<div class="decoded"><p>{name}, decoded from {text(body.encoding)}</p>'
    yield from _marked(inner, Span(0, len(inner)), edits, marks, charset)
    yield "</div>"


def _marked(
    data: bytes, within: Span, edits: deque[Edit], marks: _Marks, charset: str
) -> Iterator[str]:
    breaks = set(_breaks(data, within, 2 if charset in WIDE else 1))
    bounds = [array("Q", map(bound, edits)) for bound in (_start, _end)]
    bounds += [array("Q", sorted(marks.spans[side::2])) for side in (0, 1)]
    cuts = groupby(merge(sorted(breaks), within, *bounds))
    writer = _Writer(edits, marks.consume(), charset)
    yield '<div class="chunk">'
    last = within.start
    for at, _ in cuts:
        writer.text(data[last:at], last)
        writer.stop(at, breaks=at in breaks)
        last = at
        if len(writer.pieces) > _JOINED_AT_ONCE:
            yield "".join(writer.pieces)
            writer.pieces.clear()
    yield "".join(writer.pieces)
    yield "</div>"


# A hostile document has millions of pieces, each of which takes more memory than its text.
_JOINED_AT_ONCE: Final = 1024


class _Writer:
    """Writes marks, edits and text; its caller names each place where one begins or ends."""

    def __init__(self, edits: deque[Edit], marks: Iterator[_Mark], charset: str) -> None:
        self.pieces: list[str] = []
        self._edits = edits  # those that have not ended
        self._marks = marks  # those after the next
        self._next = next(marks, None)
        self._open: _Mark | None = None
        self._breaks = False  # whether to end the chunk as soon as possible
        self._charset = charset

    def stop(self, at: int, *, breaks: bool) -> None:
        """Write what begins or ends at a place."""
        self._breaks |= breaks
        edits = self._edits
        if edits and edits[0].end == at and (self._open or edits[0].start < at):
            self._insert(at)
        self._close(at)
        if self._breaks and not self._open and not (edits and edits[0].start < at):
            self.pieces.append('</div><div class="chunk">')
            self._breaks = False
        while not self._open and self._next and self._next.start <= at:
            self._open, self._next = self._next, next(self._marks, None)
            self.pieces.append(_opening(self._open.number, self._open.link))
            if self._open.end <= at:
                self._insert(at)
                self._close(at)
        self._insert(at)

    def text(self, piece: bytes, at: int) -> None:
        """Write the text up to the next place."""
        if piece:
            is_struck = self._edits and self._edits[0].start <= at
            shown = text(_decoded(piece, self._charset))
            self.pieces.append(f"<del>{shown}</del>" if is_struck else shown)

    def _insert(self, at: int) -> None:
        while self._edits and self._edits[0].end <= at:
            new = self._edits.popleft().new
            if new:
                self.pieces.append(f"<ins>{text(_decoded(new, self._charset))}</ins>")

    def _close(self, at: int) -> None:
        if self._open and self._open.end <= at:
            self.pieces.append("</a>")
            self._open = None


def _opening(number: int, link: Link) -> str:
    kind = link.status.value
    layer = "" if link.status is Status.ABSOLUTE else f" {link.base.layer.value}"
    url = link.url or ""
    cut = url if len(url) <= _TITLE else f"{url[:_TITLE]}..."
    title = f"{kind}: {cut}" if url else kind
    target = f'href="#r{number}"' if number <= MAX_LISTED else 'tabindex="0"'
    return f'<a class="{kind}{layer}" id="s{number}" {target} title="{attribute(title)}">'


def _breaks(data: bytes, within: Span, unit: int) -> Iterator[int]:
    """Where chunks may end: after lines, or between characters of UTF-8 and units of UTF-16."""
    start, end = within
    while start + _CHUNK < end:
        cut = data.find(b"\n", start + _CHUNK, start + _LONGEST) + 1
        if not cut:
            cut = min(start + _LONGEST, end - 1)
            cut -= next((back for back in range(4) if data[cut - back] not in _CONTINUING), 0)
        start = cut + -cut % unit
        if start < end:
            yield start


_CONTINUING: Final = range(0x80, 0xC0)

# ---- bytes as text: each piece is decoded alone. In ISO-2022-JP it begins in ASCII, as lines do.

# Bytes that are not a character, which `decode` returns as surrogates.
_BYTES: Final = regex("[\udc80-\udcff]")


def _decoded(piece: bytes, charset: str) -> str:
    escape = r"\x{:02x}".format
    return _BYTES.sub(lambda match: escape(ord(match[0]) & 0xFF), decode(piece, charset))


def _charset(data: bytes, stated: Charset | None, label: str | None) -> str:
    name = (stated or sniff(data, label, meta=False)).name
    if lookup(name) is None:  # UTF-32 and the like, which browsers do not read
        name = DEFAULT.name
    # Text that is labelled as Latin-1, but is valid UTF-8, is almost always UTF-8.
    return "utf-8" if name == DEFAULT.name and is_utf_8(data) else name


# ---- the list of references: what each resolves to, by which step, and why some stay

# The source marks all references. The list, and the steps in it, are limited: pages that people
# read have fewer, and a browser takes long to open a page of a million elements.
MAX_LISTED: Final = 5_000
MAX_STEPS: Final = 500

# References in one list: a browser lays out only the lists that are in sight.
_GROUP: Final = 100


def listing(
    links: Sequence[Link],
    total: int,
    notes: Sequence[Note],
    call: Call,
    encoding: str,
    *,
    comparison: Comparison | None = None,
) -> Iterator[str]:
    """Yield the list of references in pieces; `links` are at most the first `MAX_LISTED`."""
    lister = _Lister(notes, call, encoding, comparison)
    if comparison:
        yield _parting([at for at, link in enumerate(links, 1) if comparison.part(link)])
    for at in range(0, len(links), _GROUP):
        items = map(lister.item, count(at + 1), links[at : at + _GROUP])
        yield f'<ol class="links" start="{at + 1}">{"".join(items)}</ol>'
    if not links:
        yield "<p>There are none.</p>"
    elif more := total - len(links):
        yield f"<p>{more:,} more are marked in the source and not listed.</p>"


def _parting(numbers: Sequence[int]) -> str:
    listed = ", ".join(f'<a href="#r{number}">{number:,}</a>' for number in numbers)
    where = f"The profiles part at {counted(len(numbers), 'reference')}: {listed}."
    return f'<p class="lead">{where if numbers else "The profiles agree on every reference."}</p>'


class _Lister:
    def __init__(
        self, notes: Sequence[Note], call: Call, encoding: str, comparison: Comparison | None
    ) -> None:
        self._comparison = comparison
        self._notes = {note.span: note for note in notes if note.span}
        self._call = call
        self._encoding = encoding
        self._explained = 0

    def item(self, number: int, link: Link) -> str:
        # The element or header field that contains it.
        place = "/@".join(filter(None, (link.element, link.attribute))) or "text"
        where = f"{f'part {link.part}, ' if link.part else ''}{place} ({link.syntax})"
        target = "" if link.url is None else f'<p class="to"><span>to</span> {url(link.url)}</p>'
        compared = self._comparison.table(link) if self._comparison else ""
        return (
            f'<li id="r{number}" class="{link.status.value}">'
            f'<a class="number" href="#s{number}">{number:,}</a>'
            f'<p class="from"><span class="status">{link.status.value}</span> '
            f"{url(link.reference)}</p>{target}"
            f'<div class="why">{self._why(link)}</div>{compared}'
            f'<p class="where">line {link.line:,}, column {link.column:,}: {text(where)}</p></li>'
        )

    def _why(self, link: Link) -> str:
        if link.status is Status.ABSOLUTE:
            return "<p>already absolute: left unchanged</p>"
        note = self._notes.get(link.span)
        reported = f"<p>{text(note.text)}</p>" if note else ""
        if link.status is Status.KEPT:
            reported = f"<p>{self._why_kept(link)}</p>{reported}"
        elif link.status is Status.REWRITTEN:
            reported = self._steps(link) + reported
        no_base = "<p>relative, and there is no base URL to resolve it against</p>"
        return f"<p>{badge(link.base)} {text(link.base.source)}</p>{reported or no_base}"

    def _why_kept(self, link: Link) -> str:
        reference, element = link.reference, link.element
        places = self._call.origin.local_files if self._call.origin else None
        if not self._call.options.policy.chooses(element, link.attribute):
            return "the policy chooses links in other places"
        if reference.startswith("#"):
            return "a fragment of this document: left unchanged"
        if reference == "":
            meaning = "it means this document, or nothing is fetched for it"
            return f"empty: {meaning}, so it is left unchanged"
        if self._call.options.policy.keeps(reference):
            return "the policy keeps references like this"
        if places is not None and places(reference, element) is not None:
            return "points to a file saved with the page"
        return "left unchanged"

    def _steps(self, link: Link) -> str:
        profile = self._call.options.profile
        steps = taken(link, profile, self._encoding)
        if not steps:
            return "<p>resolved</p>"  # too long, or the document's own URL
        decides = named(deciding(steps, profile), profile)
        if self._explained >= MAX_STEPS:
            return f"<p>{decides}</p>"
        self._explained += 1
        listed = "".join(
            f"<li><b>{text(step.number)}</b> {text(step.text)}"
            f"{'' if step.value is None else f' {url(step.value)}'}</li>"
            for step in steps
        )
        return f"<details><summary>{decides}</summary><ol>{listed}</ol></details>"
