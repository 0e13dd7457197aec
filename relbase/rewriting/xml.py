"""From XML inward to its references, and back outward (rule 20).

Strategy: the walk yields elements with values; each value is decoded by its view, visited as one of
HTML is, and its items are lowered. HTML in feeds is a nested document, read by the task's reader on
the base of the element around it. The bases are in `xml_bases`.

To mind: what the walk finds is believed only when the document is well-formed and declares nothing
that would change its meaning. That costs a parse, so it is asked after the first reference that
would change: up to there nothing of the document has been changed, and after a no nothing will be.
Of a feed that parse is most of the work, but that its articles are parsed already for what they
mean: so changes wait for a while, and then only what is left is parsed.
"""

from __future__ import annotations

import re
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer
from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.references import xml
from relbase.references.foreign import HTML
from relbase.references.values import Syntax
from relbase.references.vocabulary import Nested, Row
from relbase.references.xml_skim import skipping
from relbase.references.xml_slots import Slot, slots
from relbase.references.xml_sound import unsound
from relbase.references.xml_vocabulary import XML_BASE
from relbase.rewriting.html import nested, visit_value
from relbase.rewriting.items import Found, Status
from relbase.rewriting.outward import drained, lower, lower_plain, plain_in_quotes, shift
from relbase.rewriting.reference import Place, on_codebase
from relbase.rewriting.xml_bases import Scopes, shown, state, url_of
from relbase.rewriting.xml_items import Items
from relbase.url.resolver import Profile, is_absolute
from relbase.view.characters import text as decode_inner
from relbase.view.lines import Lines
from relbase.view.xml_pieces import PiecesView, pieces
from relbase.view.xml_values import (
    EscapedView,
    has_entities,
    needs_xml_view,
    text_view,
    value_view,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.bases.layers import Base
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item
    from relbase.rewriting.reference import Codebase
    from relbase.view.xml_values import TextView


def visit_xml(text: bytes, around: Context) -> Iterator[Item]:
    """The items of an XML document; none that changes it when it is not sound."""
    read: list[Span] = []
    items = _visit_found(text, around, read)
    task = around.task
    left = None if task.room is None else task.room.left
    for item in items:
        if not _changes(item):
            yield item
            continue
        waiting = [item, *(_some(items) if task.edits_only else ())]
        note = _unsound_note(text, around, read=read)
        if note is None:
            yield from drained(waiting)
            yield from items
            return
        yield note
        if not task.edits_only:
            yield from _unchanged(chain(waiting, items))
        elif task.room is not None and left is not None:
            task.room.left = left  # nothing of it is written
        return


# So much of what would change waits, in bytes: what is written, and what an item takes.
_MAY_WAIT: Final = 1 << 22
_ITEM: Final = 150


def _some(items: Iterator[Item]) -> Iterator[Item]:
    """As many items as may wait."""
    left = _MAY_WAIT
    while left > 0 and (item := next(items, None)) is not None:
        left -= _ITEM + (len(item.new) if isinstance(item, Edit) else 0)
        yield item


def _changes(item: Item) -> bool:
    return isinstance(item, Edit) or (isinstance(item, Found) and item.status is Status.REWRITTEN)


def _unchanged(items: Iterable[Item]) -> Iterator[Item]:
    """What is listed of a document that is passed through."""
    for item in items:
        if isinstance(item, Found) and item.status is Status.REWRITTEN:
            yield item._replace(status=Status.KEPT, url=None)
        elif not isinstance(item, Edit):
            yield item


def xml_base(text: bytes, around: Context) -> Base:
    """The base of an XML document: of its root, its `<base>`, or that of its container."""
    root = next((each for each in xml.elements(text) if isinstance(each, xml.Element)), None)
    if root is None:
        return around.base
    scopes = Scopes(text, _document(text, around)[0], counts=_counts(root, around))
    scopes.enter(root)
    inside = scopes.inside
    if inside is None or inside.base is around.base or unsound(text) is not None:
        return around.base
    return inside.base


def _document(text: bytes, around: Context) -> tuple[Context, list[Note], int]:
    """The context of a document on its `<base>`, what is noted on that, and where it stands."""
    stated = xml.embedded_base(text)
    if stated is None:
        return around, [], 0
    at = Lines(text, around.encoding).of(stated.start)
    inside, notes = state(text, stated, f"<base href> at {at}{around.within}", around)
    return inside, notes, stated.start


def _counts(root: xml.Element, around: Context) -> bool:
    """Whether xml:base counts: browsers ignore it in the documents that they show (rule 7)."""
    return around.task.profile is not Profile.WHATWG or not xml.is_shown(root)


def _unsound_note(
    text: bytes, around: Context, broken: xml.Broken | None = None, read: Sequence[Span] = ()
) -> Note | None:
    """Why nothing in a document is changed, if it is not sound."""
    why = unsound(text, read)
    if why is None:
        if broken is None:
            return None
        start, reason = broken
    else:
        start, reason = why
    at = Lines(text, around.encoding).of(start)
    text_ = f"{reason} at {at}{around.within}: passed through"
    return Note(Reason.XML_UNSOUND, around.part, Span(start, start), text_)


def _visit_found(text: bytes, around: Context, read: list[Span]) -> Iterator[Item]:
    """The items of a document that is taken for sound; what expat reads of it goes into `read`."""
    task = around.task
    skips = task.edits_only
    document, notes, base_at = _document(text, around)
    yield from notes
    visit = _Visit(text, around, document, base_at, read)
    for each in xml.elements(text, skipping() if skips else None):
        if isinstance(each, xml.Element):
            yield from visit.element(each)
        elif isinstance(each, xml.Left):
            visit.scopes.leave()
        elif isinstance(each, xml.Sheet):
            yield from visit.sheet(each)
        else:
            note = _unsound_note(text, around, each, read)
            assert note is not None
            yield note
    if visit.guids:
        yield Note(Reason.FEED_GUID, around.part, visit.first_guid, _guids(visit.guids))
    late = visit.late
    if late and document.base.layer is Layer.EMBEDDED:
        text_ = (
            f"<base> decides for {late} reference{'s'[: late > 1]} before it too: browsers fetch "
            "some of them from the base outside"
        )
        yield Note(Reason.BASE_LATE, around.part, Span(base_at, base_at), text_)


def _guids(count: int) -> str:
    relative = f"{count} relative guids" if count > 1 else "a relative guid"
    return f"{relative} left unchanged: feed readers compare guids as strings"


_SHEET: Final = Row(Syntax.URL)
_DOCTYPE: Final = b"<!DOCTYPE"


class _Visit:
    """A visit of one document: its scopes, and the item of RSS that it is in."""

    __slots__ = (
        "_around",
        "_around_html",
        "_base_at",
        "_document",
        "_html",
        "_in_html",
        "_is_outside",
        "_items",
        "_may_have_entities",
        "_read",
        "_text",
        "first_guid",
        "guids",
        "late",
        "scopes",
    )

    def __init__(
        self, text: bytes, around: Context, document: Context, base_at: int, read: list[Span]
    ) -> None:
        self._text = text
        self._read = read
        self._around = around
        self._document = document
        self._may_have_entities = False
        self._items = Items(text, around.encoding)
        self._is_outside = True
        self._base_at = base_at
        self.guids = 0
        self.first_guid: Span | None = None
        self.late = 0
        reader = around.task.reader("text/html", "")
        self._html = None if reader is None else reader.visit
        self._around_html = self._in_html = around
        self.scopes = Scopes(text, document, counts=True)

    def sheet(self, sheet: xml.Sheet) -> Iterable[Item]:
        """The items of a style sheet that the document is to be shown with."""
        self._may_have_entities = True  # no DTD tells what an instruction means
        return self.slot(Slot(b"xml-stylesheet", b"href", _SHEET, sheet.href), self._around)

    def element(self, element: xml.Element) -> Iterator[Item]:
        """The items of one element."""
        if self._is_outside:
            self._is_outside = False
            self._may_have_entities = self._text.find(_DOCTYPE, 0, element.start) >= 0
            counts = _counts(element, self._around)
            self.scopes = Scopes(self._text, self._document, counts=counts)
        stated = self.scopes.stated
        yield from self.scopes.enter(element)
        if xml.is_item(element.named):
            self._items.enter(element)
        inside = self.scopes.inside
        is_base = xml.is_base(element.named)
        policy = self._around.task.policy
        for slot in slots(self._text, element, extended=policy.extended):
            states = is_base or slot.attribute == XML_BASE
            context = inside
            if states:
                context = self._around if is_base else stated
            if context is None:
                continue
            if policy.keep_fragments and element.named.vocabulary != HTML and self._is_empty(slot):
                yield from self._kept(slot, context)
            elif slot.value.start < self._base_at and not states:
                yield from self._counted(self._inside(slot, context))
            else:
                yield from self._inside(slot, context)

    def _inside(self, slot: Slot, context: Context) -> Iterable[Item]:
        """The items of one value of an element."""
        if slot.stays:
            self._guid(slot, context)
            return ()
        if slot.row.syntax is Nested.HTML and not slot.attribute:
            return self._items.visit(slot, context, self.slot)
        return self.slot(slot, context)

    def _guid(self, slot: Slot, context: Context) -> None:
        """Count a guid that is relative."""
        url = url_of(self._text, slot.value)
        if url and not is_absolute(url, context.task.profile):
            self.guids += 1
            self.first_guid = self.first_guid or Span(slot.value.start, slot.value.end)

    def _is_empty(self, slot: Slot) -> bool:
        """Whether a value is the empty reference, into its own document."""
        return slot.row.empty and not self._text[slot.value.start : slot.value.end].strip()

    def _counted(self, items: Iterable[Item]) -> Iterator[Item]:
        """Items before the `<base>` that decides for them."""
        for item in items:
            self.late += isinstance(item, Edit)
            yield item

    def slot(self, slot: Slot, context: Context) -> Iterable[Item]:
        """The items of one value, in offsets of the document."""
        value = slot.value
        raw = self._text[value.start : value.end]
        if self._may_have_entities and has_entities(raw):
            return self._left(slot, context)
        place = Place(
            shown(slot.element),
            shown(slot.attribute),
            slot.row,
            None if slot.codebase is None else self._codebase(slot.codebase, context),
        )
        if not value.quote:
            if _means_itself(raw):
                items = visit_value(raw, context, place)
                return lower_plain(items, plain_in_quotes, partial(text_view, raw), value.start)
            view = _text_view(raw)
            if view is None:
                return (self._too_many(slot, context),)
            if isinstance(view, EscapedView) and len(raw) >= _LEFT_OUT_FROM:
                self._read.append(Span(value.start, value.end))
            if slot.row.syntax is Nested.HTML and self._html is not None:
                items = self._html(view.inner, self._nested(context))
                if isinstance(view, PiecesView):
                    return lower(items, view, value.start)
                return _lowered(items, view, value.start)
            return lower(visit_value(view.inner, context, place), view, value.start)
        make_view = partial(value_view, raw, value.quote)
        if needs_xml_view(raw):
            view = make_view()
            return lower(visit_value(view.inner, context, place), view, value.start)
        return lower_plain(
            visit_value(raw, context, place), plain_in_quotes, make_view, value.start
        )

    def _nested(self, context: Context) -> Context:
        """The context of HTML in a text: most often that of the text before."""
        if self._around_html is not context:
            self._around_html, self._in_html = context, nested(context)
        return self._in_html

    def _left(self, slot: Slot, context: Context) -> Iterator[Item]:
        """What is said of a value that refers to an entity of an external DTD."""
        yield from self._kept(slot, context)
        span = Span(slot.value.start, slot.value.end)
        text = "it holds an entity that only a DTD could declare, which nobody reads: left as it is"
        yield Note(Reason.XML_ENTITY, context.part, span, text)

    def _kept(self, slot: Slot, context: Context) -> Iterator[Item]:
        """What is listed of a value that stays."""
        span = Span(slot.value.start, slot.value.end)
        if not self._around.task.edits_only and isinstance(slot.row.syntax, Syntax):
            yield Found(
                span,
                shown(slot.element),
                shown(slot.attribute),
                slot.row.syntax.value,
                decode_inner(self._text[span.start : span.end]),
                None,
                context.base,
                Status.KEPT,
                context.part,
            )

    def _too_many(self, slot: Slot, context: Context) -> Note:
        """What is said of a text in too many pieces."""
        span = Span(slot.value.start, slot.value.end)
        text = f"a text in more than {MAX_PIECES} sections or comments: left as it is"
        return Note(Reason.LIMIT_XML_PIECES, context.part, span, text)

    def _codebase(self, attribute: xml.Attribute, context: Context) -> Codebase | None:
        url = url_of(self._text, attribute)
        return on_codebase(url, context) if url else None


# A shorter text is read again sooner than left out.
_LEFT_OUT_FROM: Final = 1 << 10

_means_itself: Final = re.compile(rb"[^<&]*+").fullmatch


# An article has a handful; each piece costs a view of its own.
MAX_PIECES: Final = 10_000


def _lowered(items: Iterable[Item], view: TextView, offset: int) -> Iterator[Item]:
    """What `lower` yields, without all edits of an article at once: there may be millions."""
    findings: list[Item] = []

    def edits() -> Iterator[Edit]:
        for item in items:
            if isinstance(item, Edit):
                yield item
            else:
                findings.append(item)

    yield from shift(view.lowered(edits()), offset)
    yield from lower(findings, view, offset)


def _text_view(raw: bytes) -> TextView | PiecesView | None:
    """The view of a text, None where it is in too many pieces."""
    if b"<" not in raw:
        return text_view(raw)
    found = pieces(raw)
    return PiecesView(raw, found) if len(found) <= MAX_PIECES else None
