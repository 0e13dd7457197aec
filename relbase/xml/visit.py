"""A visit of one XML document: views decode its values, and the base in scope resolves them.

HTML in feeds is a nested document. The task's reader reads it with the base of the element around
it. `document` decides whether the document is sound, so that the findings count.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Final, cast

from relbase.bases.layers import Layer
from relbase.edit import Edit, Span
from relbase.expressions import regex
from relbase.html.ahead import amp_aware
from relbase.html.foreign import HTML
from relbase.html.late_base import Before, base_late
from relbase.html.visit import VISITS
from relbase.html.vocabulary import Nested, Row, Slot
from relbase.notes import Note, Reason
from relbase.rewriting.budget import MAX_TRIED
from relbase.rewriting.context import Context, Wanted
from relbase.rewriting.outcomes import (
    AT_ONCE,
    Batch,
    Outcome,
    Reference,
    Status,
    batched,
    lower,
    lower_plain,
    lowered,
    plain_in_quotes,
    single,
)
from relbase.rewriting.reference import ABSOLUTE, Place, noting, on_codebase
from relbase.rewriting.trial import without
from relbase.scan import binding
from relbase.url.resolver import is_absolute
from relbase.values.syntaxes import Syntax
from relbase.view.characters import decode_inner
from relbase.view.runs import pieces
from relbase.xml import structure
from relbase.xml.bases import Scopes, note_on, on_own_base, url_of, xml_base_counts
from relbase.xml.escapes import (
    doubts,
    has_entities,
    needs_xml_view,
    pieces_view,
    suspect,
    text_view,
    value_view,
)
from relbase.xml.feeds import Items
from relbase.xml.scanning import Ahead
from relbase.xml.vocabulary import CUSTOMARY, XML_BASE
from relbase.xml.well_formed import Flaw, Soundness

_SHEET: Final = Row(Syntax.URL)
_DOCTYPE: Final = b"<!DOCTYPE"


class Visit:
    """A visit of one document: its scopes, the current item of a feed, and what it counts."""

    def __init__(self, text: bytes, around: Context, soundness: Callable[[], Soundness]) -> None:
        self._soundness = soundness
        around = amp_aware(text, around)
        self._text = text
        self._around = around
        self._document, self._noted, self._base_at = on_own_base(text, around)
        self._scopes = Scopes(text, self._document)
        reader = around.task.reader("text/html", "")
        self._html = None if reader is None else reader.visit
        self._in_html = around.nested()
        self._around_html = around
        self._items = Items(text, around)
        self._is_outside, self._has_unescaped = True, False
        self._may_have_entities = False
        self._before = Before(self._document, around) if self._base_at else None
        self._stayed: dict[Reason, list[Span]] = {}
        self._unbound: set[bytes] = set()
        policy = around.task.policy
        self._keeps_fragments = policy.keep_fragments
        # Whether edits are compared with those that the links of items would make.
        self._compares = around.wanted.edits_only and not policy.item_links
        self._ahead: Ahead | None = None
        if binding.compiled and around.wanted.edits_only and not self._base_at:
            self._ahead = Ahead(text, self._scopes, around)

    def batches(self) -> Iterator[Batch]:
        """What the document holds, provided that it is sound."""
        around, ahead = self._around, self._ahead
        if self._noted:
            yield tuple(self._noted)
        if around.unstated is not None:
            flaw = Flaw(0, "its declaration says UTF-16, its bytes say UTF-8")
            yield (note_on(Reason.XML_FLAW, self._text, around, flaw, "ignored"),)
        scan, learn = (ahead.scan, ahead.learn) if ahead else (None, None)
        for each in structure.elements(self._text, scan, learn, around.task.policy.xml_rows):
            if isinstance(each, structure.Element):
                yield from self._element(each)
            elif isinstance(each, structure.Scanned):
                yield from self._from_scan(each, ahead)
            elif isinstance(each, structure.ScopeEnd):
                self._scopes.leave()
            elif isinstance(each, structure.Sheet):
                self._may_have_entities = True  # no DTD declares entities for an instruction
                slot = Slot(b"xml-stylesheet", b"href", _SHEET, each.href)
                yield from batched(self._slot(slot, around))
            else:
                flaw = self._soundness().unsound or Flaw(*each)
                yield (note_on(Reason.XML_UNSOUND, self._text, around, flaw, "left unchanged"),)
        yield from batched(self._counted())

    def _from_scan(self, scanned: structure.Scanned, ahead: Ahead | None) -> Iterator[Batch]:
        context = self._scopes.inside
        assert context is not None
        assert ahead is not None
        edits, at = scanned.edits, 0
        budget = context.budget
        written = [edit for edit in edits if _is_written(edit)] if scanned.has_flaws else edits
        is_charged = budget and not ahead.pay_for_all(budget, written)
        is_whole = not (scanned.has_flaws or is_charged)

        def taken(first: int, last: int | None, depth: int) -> tuple[tuple[Note, ...], list[Edit]]:
            taken_edits, flawed = edits[first:last], tuple[Note, ...]()
            if scanned.has_flaws:
                flawed = tuple(
                    Note(Reason.XML_FLAW, context.part, Span(*edit[:2]), DOUBTFUL)
                    for edit in taken_edits
                    if not _is_written(edit)
                )
                taken_edits = [edit for edit in taken_edits if _is_written(edit)]
            if budget and is_charged:
                taken_edits = ahead.affordable(budget, taken_edits, depth)
            return flawed, taken_edits

        around = context.resolve, self._scopes.stated_at
        for item, start, first, last, scope in scanned.markups:
            if item is not None:
                self._enter(*item)
            own = ahead.scanned[scope - 1][:2] if scope else around
            if is_whole:
                self._items.compare(start, *own, edits[first:last])
                continue
            yield from filter(None, taken(at, first, context.depth))
            flawed, inside = taken(first, last, context.depth + 1)
            self._items.compare(start, *own, inside)
            yield from filter(None, (flawed[:1], inside))
            at = last
        if is_whole and edits:
            yield edits
        elif not is_whole:
            yield from filter(None, taken(at, None, context.depth))
        ahead.pay_up_to(len(self._text))
        if scanned.item is not None:
            self._enter(*scanned.item)

    def _enter(self, start: int, name_end: int, end: int) -> None:
        self._items.item = structure.FeedItem(self._text[start + 1 : name_end], start, end)

    def _counted(self) -> Iterator[Note]:
        around, late = self._around, self._before.late if self._before else 0
        if self._items.links.count:
            yield self._items.links.note(around.part)
        for reason, spans in self._stayed.items():
            text = _STAYS[reason].format(len(spans), "s"[: len(spans) > 1])
            yield Note(reason, around.part, spans[0], text)
        if late and self._document.base.layer is Layer.EMBEDDED:
            yield base_late(late, around, Span(self._base_at, self._base_at))

    def _element(self, element: structure.Element) -> Iterator[Batch]:
        if self._is_outside:
            self._begin(element)
        if element.unbound or element.is_unescaped:
            yield from batched(self._remarks(element))
        stated = self._scopes.stated
        if notes := self._scopes.enter(element):
            yield tuple(notes)
        if element.named.is_item and not self._text.endswith(b"/>", 0, element.end):
            self._items.item = structure.FeedItem(element.name, element.start, element.end)
        inside = self._scopes.inside
        is_base = element.named.is_base
        for slot in structure.slots(self._text, element, extended=self._around.extended):
            states = is_base or slot.attribute == XML_BASE
            context = inside if not states else self._around if is_base else stated
            if context is None:
                continue
            items = iter(self._items_of(slot, element, context, states=states))
            while batch := tuple(islice(items, AT_ONCE)):
                if self._compares and not states and _is_html(slot, element):
                    edits = [item for item in batch if type(item) is Edit]
                    start, stated_at = slot.value.start, self._scopes.stated_at
                    self._items.compare(start, context.resolve, stated_at, edits)
                yield batch

    def _items_of(
        self, slot: Slot, element: structure.Element, context: Context, *, states: bool
    ) -> Iterable[Outcome]:
        """The items of a value; `states` says whether it states a base."""
        # With `keep_fragments`, the empty reference to its own document stays.
        may_stay = self._keeps_fragments and slot.row.empty and element.named.vocabulary != HTML
        is_kept = may_stay and not self._text[slot.value.start : slot.value.end].strip()
        if slot.is_repeated or is_kept:
            return self._kept(slot, context)
        if states:
            return self._slot(slot, context)
        if self._before and slot.value.start < self._base_at:
            return self._before.visit(slot, context, partial(self._inside, element))
        return self._inside(element, slot, context)

    def _begin(self, root: structure.Element) -> None:
        self._is_outside = False
        self._may_have_entities = self._text.find(_DOCTYPE, 0, root.start) >= 0
        self._scopes.counts = xml_base_counts(root, self._around)
        if self._ahead is not None:
            self._ahead.may_have_entities = self._may_have_entities
            self._ahead.is_html = root.named.vocabulary == HTML

    def _remarks(self, element: structure.Element) -> Iterator[Note]:
        if element.is_unescaped and not self._has_unescaped:
            self._has_unescaped = True
            name = element.name.decode("utf-8", "replace")
            flaw = Flaw(
                element.start, f"markup in <{name}> is neither escaped nor in XHTML's namespace"
            )
            how = Reason.FEED_UNESCAPED, self._text, self._around, flaw
            yield note_on(*how, "its elements are read as HTML")
        for prefix in element.unbound:
            if prefix not in self._unbound:
                self._unbound.add(prefix)
                name, namespace = prefix.decode("utf-8", "replace"), CUSTOMARY[prefix].decode()
                text = f'{name}: is not declared, read as xmlns:{name}="{namespace}"'
                span = Span(element.start, element.end)
                yield Note(Reason.XML_PREFIX, self._around.part, span, text)

    def _inside(
        self, element: structure.Element, slot: Slot, context: Context
    ) -> Iterable[Outcome]:
        if slot.row.stays is not None:
            decoded = self._items.in_base64(slot, context, self._scopes.stated_at)
            if decoded is None:
                self._stay(slot.row.stays, slot, context)
            return decoded or ()
        if self._around.task.policy.item_links and _is_html(slot, element):
            context = self._items.on_link(slot, context, self._scopes.stated_at)
        return self._slot(slot, context)

    def _stay(self, reason: Reason, slot: Slot, context: Context) -> None:
        """Remember a value that stays, unless it is absolute."""
        url = url_of(self._text, slot.value)
        if slot.row.syntax is not Syntax.URL or (
            url and not is_absolute(url, context.task.profile)
        ):
            spans = self._stayed.setdefault(reason, [])
            spans.append(Span(slot.value.start, slot.value.end))

    def _slot(self, slot: Slot, context: Context) -> Iterable[Outcome]:
        value = slot.value
        raw = self._text[value.start : value.end]
        if self._may_have_entities and has_entities(raw):
            return self._left(slot, context, Reason.XML_ENTITY, _ENTITY)
        if suspect(raw) and (doubtful := doubts(raw, value.start, is_text=not value.quote)):
            return self._in_doubt(slot, raw, context, doubtful)
        return self._read(slot, raw, context)

    def _in_doubt(
        self, slot: Slot, raw: bytes, context: Context, doubtful: Sequence[int]
    ) -> Iterable[Outcome]:
        both, budget = context._replace(wanted=Wanted.ALL), context.budget
        if budget and budget.tried > MAX_TRIED:
            return self._left(slot, context, Reason.XML_FLAW, DOUBTFUL)
        if not slot.value.quote and slot.row.syntax is Nested.HTML and len(raw) <= MAX_FLAWED:
            trial = budget and budget.on_trial(len(raw))
            items = self._read(slot, raw, both._replace(budget=trial))
            at = context.depth + 1
            return without(items, _holding(doubtful), context, _FLAWED, trial=trial, depth=at)
        if budget:
            budget.tried += len(context.base.url)
        tried = self._read(slot, raw, both._replace(budget=None))
        if any(isinstance(item, Edit) for item in tried):
            return self._left(slot, context, Reason.XML_FLAW, DOUBTFUL)
        return self._read(slot, raw, context)

    def _read(self, slot: Slot, raw: bytes, context: Context) -> Iterable[Outcome]:
        value = slot.value
        stays = raw.startswith(ABSOLUTE) and slot.row.syntax is Syntax.URL
        if stays and context.wanted.edits_only and not (slot.codebase or b"<" in raw):
            return ()
        codebase = slot.codebase and on_codebase(url_of(self._text, slot.codebase), context)
        element, attribute = slot.element, slot.attribute.decode("utf-8", "replace")
        place = Place(element.decode("utf-8", "replace"), attribute, slot.row, codebase)
        visit = VISITS[slot.row.syntax]
        inside = context.inside(value.start)
        if not value.quote and not _means_itself(raw):
            in_pieces = b"<" in raw
            if in_pieces and next(islice(pieces(raw), MAX_PIECES, None), None):
                text = f"a text in more than {MAX_PIECES} sections or comments: left unchanged"
                return (
                    Note(Reason.LIMIT_XML_PIECES, context.part, Span(value.start, value.end), text),
                )
            view = pieces_view(raw) if in_pieces else text_view(raw)
            if slot.row.syntax is not Nested.HTML or self._html is None:
                return lower(visit(view.inner, inside, place), view, value.start)
            context = inside
            if self._around_html is not context:  # most texts share it with the text before
                self._around_html, self._in_html = context, context.nested()
            bring = lower if context.wanted.references_only else lowered
            return bring(single(self._html(view.inner, self._in_html)), view, value.start)
        if value.quote and needs_xml_view(raw):
            view = value_view(raw, value.quote)
            return lower(visit(view.inner, inside, place), view, value.start)
        views = partial(value_view, raw, value.quote) if value.quote else partial(text_view, raw)
        return lower_plain(visit(raw, inside, place), plain_in_quotes, views, value.start)

    def _left(self, slot: Slot, context: Context, reason: Reason, text: str) -> Iterator[Outcome]:
        yield from self._kept(slot, context)
        yield Note(reason, context.part, Span(slot.value.start, slot.value.end), text)

    def _kept(self, slot: Slot, context: Context) -> Iterator[Reference]:
        span = Span(slot.value.start, slot.value.end)
        if not self._around.wanted.edits_only and isinstance(slot.row.syntax, Syntax):
            yield Reference(
                span,
                slot.element.decode("utf-8", "replace"),
                slot.attribute.decode("utf-8", "replace"),
                slot.row.syntax.value,
                decode_inner(self._text[span.start : span.end]),
                None,
                context.base,
                Status.KEPT,
                context.part,
            )


def _holding(places: Sequence[int]) -> Callable[[Span], bool]:
    """Return whether a span contains one of some places."""

    def holds(span: Span) -> bool:
        at = bisect_left(places, span.start)
        return at < len(places) and places[at] < span.end

    return holds


def _is_html(slot: Slot, element: structure.Element) -> bool:
    is_html = element.named.vocabulary == HTML or slot.row.syntax is Nested.HTML
    return is_html and slot.row.stays is None


def _is_written(edit: Edit) -> bool:
    return cast("bytes | None", edit.new) is not None


# The notes on values that stay; each gives their number, and an `s` if there are several.
_STAYS: Final = {
    Reason.FEED_GUID: "{} relative guid{} left unchanged: feed readers compare guids as strings",
    Reason.XML_BASE64: "{} text{} in base64 that does not decode left unchanged",
}
_ENTITY: Final = "an entity that only a DTD could declare, but relbase reads no DTD: left unchanged"

# All references of a text with a flaw are in memory at once; no article is longer.
MAX_FLAWED: Final = 1 << 18
DOUBTFUL: Final = "links with an undefined entity or an invalid character left unchanged"
_FLAWED: Final = noting(Reason.XML_FLAW, DOUBTFUL)

_means_itself: Final = regex(rb"[^<&]*+").fullmatch

# An article has a handful of pieces; each needs a view of its own.
MAX_PIECES: Final = 10_000
