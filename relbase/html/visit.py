"""Visits of HTML and of the values in it, which find references and yield what each becomes.

Each visit yields items with offsets in the text that it was given. If a text is encoded (character
references, CSS or JSON escapes, a charset), a view decodes it, and lowers the items found inside.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import chain, product
from typing import TYPE_CHECKING, Any, Final, cast

from relbase.bases.layers import Layer
from relbase.css.escapes import css_escaped
from relbase.css.visit import visit_css
from relbase.edit import Edit, Span
from relbase.html import tokens
from relbase.html.foreign import HTML, base_tag
from relbase.html.json_ld import visit_json_ld
from relbase.html.late_base import Before, base_late
from relbase.html.own_base import Sheets, href_at, on_own_base, sought_base
from relbase.html.tags import Attribute, attribute_text, pieces, tag_end
from relbase.html.vocabulary import Nested, Slot
from relbase.notes import Note, Reason
from relbase.rewriting.outcomes import (
    Batch,
    Outcome,
    Packed,
    batched,
    consume,
    lower,
    lower_plain,
    plain_in_quotes,
    plain_unquoted,
    scanned,
    shift,
    single,
)
from relbase.rewriting.reference import Place, on_codebase, visit_url
from relbase.savers.marks import is_stand_in
from relbase.scan.batches import exact_scan_for, named_of, scan_for
from relbase.scan.tables import IN_BASE, PAST_BASE
from relbase.url.resolver import is_absolute
from relbase.values import json_text, syntaxes
from relbase.values.json_text import json_escaped, json_view
from relbase.values.syntaxes import SYNTAXES, Syntax, guessed, trimmed
from relbase.view.charrefs import TEXT, attribute_view, needs_view
from relbase.view.runs import CdataView, Piece, PiecesView, View
from relbase.view.transcode import UNICODE, escaped_view, text_view

if TYPE_CHECKING:
    from relbase.rewriting.context import Context
    from relbase.scan.binding import Scan

# Real pages nest less deeply. Each level decodes everything inside it once more, and keeps it until
# the level around it ends. The limit of bytes is for all levels from the second on.
MAX_SRCDOC_DEPTH: Final = 16
MAX_SRCDOC_BYTES: Final = 16 << 20


def visit_page(
    text: bytes, around: Context, ahead: tuple[Any, Scan, Any, int] | None
) -> Iterator[Batch]:
    """Visit a document; `ahead` is its budget before, and what `visit_html` has scanned, if any.

    What precedes a `<base>` is scanned once more, against that base.
    """
    if ahead is None:
        return _against(text, sought_base(text, around), around)
    before, scan, passed, pos = ahead
    if (attribute := href_at(text, pos)) is None:
        elements = chain([passed] if passed else [], tokens.elements_after(text, pos, scan))
        kept, attribute, rest = _up_to_base(text, elements, around)
        if attribute is None:
            return chain(consume(kept), rest)
    if around.budget is not None and before is not None:
        around.budget.restore(before)
    return _against(text, attribute, around)


# A `<base>` is sought when references have grown by this much and a quarter of the text, or when
# this many items wait that are not edits (threat A8).
_KEPT_GROWTH: Final = 1 << 20
_KEPT: Final = 1 << 14


def _up_to_base(
    text: bytes, elements: Iterator[Any], around: Context
) -> tuple[list[Batch], Attribute | None, Iterator[Batch]]:
    """Return what precedes the `<base>`, or the end; the `<base>`; what is left to be visited."""
    budget = around.budget
    enough = 0 if budget is None else budget.left - len(text) // 4 - _KEPT_GROWTH
    kept: list[Batch] = []
    waiting = 0
    inside = around._replace(sheets=Sheets(text))
    visit = partial(_visit_in_batches, text, inside=inside, around=around)
    for element in elements:
        if type(element) is tokens.Element and (href := tokens.base_href(text, element)):
            return kept, href, iter(())
        visited = iter(visit(element))
        for batch in visited:
            kept.append(batch)
            if not (type(batch) is list and inside.wanted.edits_only):  # edits are kept anyway
                waiting += batch.size if isinstance(batch, Packed) else len(batch)
            if waiting >= _KEPT or (budget is not None and budget.left < enough):
                rest = chain(visited, chain.from_iterable(map(visit, elements)))
                return kept, sought_base(text, inside), rest
    return kept, None, iter(())


def _against(text: bytes, attribute: Attribute | None, around: Context) -> Iterator[Batch]:
    """Visit a document whose base is known, including what precedes its `<base>`."""
    inside, notes = on_own_base(text, attribute, around)
    if notes:
        yield tuple(notes)
    base_at = -1 if attribute is None else attribute.start
    inside = inside._replace(sheets=Sheets(text))
    before = None
    scan = scan_for(inside, PAST_BASE)
    if base_at >= 0 and not (around.task.policy.ignore_base or around.may_be_marked):
        scan = partial(_scan_past, base_at, scan_for(around, IN_BASE), scan)
    if base_at >= 0 and inside.base.outer is around.base:
        before = Before(inside, around)
        if before.early:  # which the compiled scanner does not tell from the others
            exact = exact_scan_for(inside, absolute=False)
            scan = partial(_scan_from, base_at, exact, scan)
    counts = before
    for element in tokens.elements(text, 0, len(text), scan=scan):
        is_element = type(element) is tokens.Element
        if is_element and element.end > base_at:
            counts = None
        for batch in _visit_in_batches(text, element, inside=inside, around=around, before=counts):
            yield batch
            if counts and type(batch) is list and inside.wanted.edits_only:
                counts.late += bisect_left(batch, (base_at,))  # the scanner may pass a `<base>`
    if before and before.late and attribute is not None:
        yield (base_late(before.late, around, Span(attribute.start, attribute.end)),)


def _scan_past(base_at: int, own: Scan, scan: Scan, text: bytes, pos: int, *how: Any) -> Any:  # noqa: ANN401
    """Read the tag of the `<base>` against the base around it, where the scanner stops there."""
    batch, stop = scan(text, pos, *how)
    if not pos <= stop < base_at or (tag := base_tag.match(text, stop)) is None:
        return batch, stop
    end = tag_end(text, tag.end() - 1, len(text))
    if end <= base_at or not isinstance(batch, list):
        return batch, stop
    itself, odd = own(text, stop, end, *how[1:])
    if odd >= 0 or not isinstance(itself, list):
        return batch, stop
    rest, stop = scan(text, end, *how)
    if not isinstance(rest, list):  # which are listed one by one, once the limit is near
        return [*batch, *itself], end
    return [*batch, *itself, *rest], stop


def _scan_from(base_at: int, before: Scan, after: Scan, text: bytes, pos: int, *how: Any) -> Any:  # noqa: ANN401
    return (before if pos < base_at else after)(text, pos, *how)


def _visit_in_batches(
    text: bytes,
    element: Any,  # noqa: ANN401 (a start tag, or what the scanner made)
    *,
    inside: Context,
    around: Context,
    before: Before | None = None,
) -> Iterable[Batch]:
    if isinstance(element, tokens.Element):
        return batched(_visit_element(text, element, inside, around, before))
    return scanned(element)


def _visit_element(
    text: bytes,
    element: tokens.Element,
    inside: Context,
    around: Context,
    before: Before | None,
) -> Iterable[Outcome]:
    if element.namespace == tokens.UNSURE:
        text_ = f"what closes this <{element.name.decode()}> is unsure: the rest was left unchanged"
        span = Span(element.start, element.raw_end)
        return (Note(Reason.FOREIGN_UNSURE, around.part, span, text_),)
    is_base = element.name == b"base" and element.namespace == HTML
    # A program's own <base href="."> stands for the one in the comment before it.
    has_marks = around.task.detect and not around.depth
    is_stated = is_base and not (has_marks and is_stand_in(text, element.start))
    context = around if is_stated else inside
    named = named_of(context.task.policy)
    slots = tokens.slots(text, element, extended=context.extended, named=named)
    visit = partial(_visit_slot, text)
    if before and not is_base:
        hidden = element.hidden
        return chain.from_iterable(
            before.visit(slot, context, visit, hidden=hidden) for slot in slots
        )
    return chain.from_iterable(visit(slot, context) for slot in slots)


def visit_comment(text: bytes, inside: Context, around: Context) -> Iterator[Outcome]:
    """Visit a conditional comment, in which mail and old pages hide markup."""
    for element in tokens.elements(text, 0, len(text), hidden=True, scan=scan_for(inside)):
        yield from single(_visit_in_batches(text, element, inside=inside, around=around))


def _visit_slot(text: bytes, slot: Slot, context: Context) -> Iterable[Outcome]:
    attribute = slot.value
    raw = text[attribute.start : attribute.end]
    codebase = context.images if (slot.element, slot.attribute) in _OF_IMAGES else None
    if slot.codebase is not None and not _needs_no_base(text, slot, context):
        stated = attribute_text(text, slot.codebase, context.charset)
        codebase = on_codebase(trimmed(stated), context)
    place = Place(
        slot.element.decode("utf-8", "replace"),
        slot.attribute.decode("utf-8", "replace"),
        slot.row,
        codebase,
    )
    inside = context.inside(attribute.start)
    if attribute.quote == tokens.RAW:
        return _visit_raw(raw, inside, place, attribute.start)
    if attribute.quote == tokens.PIECES:
        pieced = PiecesView(raw, pieces, partial(_piece_view, context))
        return lower(visit_value(pieced.inner, inside, place), pieced, attribute.start)
    if attribute.quote is None:
        return _write_value(visit_value(b"", inside, place), attribute, context.charset)
    make_view = partial(attribute_view, raw, attribute.quote, context.charset)
    if needs_view(raw):
        if place.row.syntax is Nested.HTML:  # may be as long as the page: not copied
            raw = cast("bytes", memoryview(text)[attribute.start : attribute.end])
        view = attribute_view(raw, attribute.quote, context.charset)
        return lower(visit_value(view.inner, inside, place), view, attribute.start)
    plain = plain_in_quotes if attribute.quote else plain_unquoted
    return lower_plain(visit_value(raw, inside, place), plain, make_view, attribute.start)


def _needs_no_base(text: bytes, slot: Slot, context: Context) -> bool:
    """Whether a value is an absolute URL, for which no `codebase` is prepared."""
    value = trimmed(attribute_text(text, slot.value, context.charset))
    return slot.row.syntax is Syntax.URL and is_absolute(value, context.task.profile)


# What has the base of images in the HTML of Markdown.
_OF_IMAGES: Final = frozenset(product((b"img", b"source"), (b"src", b"srcset")))


def _visit_raw(raw: bytes, context: Context, place: Place, offset: int) -> Iterable[Outcome]:
    """Visit raw text, where character references cannot replace what the charset lacks."""
    if context.charset == "utf-8" and context.encoding in UNICODE:
        return shift(visit_value(raw, context, place), offset)
    escaped = css_escaped if place.row.syntax is Nested.CSS else json_escaped
    make_view = partial(_raw_view, raw, context, escaped)
    if raw.isascii():
        return lower_plain(visit_value(raw, context, place), bytes.isascii, make_view, offset)
    view = make_view()
    return lower(visit_value(view.inner, context, place), view, offset)


def _raw_view(raw: bytes, context: Context, escaped: Callable[[str], bytes]) -> View:
    view_of = escaped_view if context.charset == "utf-8" else text_view
    return view_of(raw, context.encoding, escaped)


def _piece_view(context: Context, raw: bytes, piece: Piece) -> View:
    part = raw[piece.start : piece.end]
    if not piece.is_cdata:
        return attribute_view(part, TEXT, context.charset)
    if context.charset == "utf-8" and context.encoding in UNICODE:
        return CdataView(part)
    return _raw_view(part, context, css_escaped)


def visit_value(text: bytes, context: Context, place: Place) -> Iterator[Outcome]:
    """Visit one decoded value, by the syntax of its row."""
    return VISITS[place.row.syntax](text, context, place)


def _visit_values(text: bytes, context: Context, place: Place) -> Iterator[Outcome]:
    syntax = place.row.syntax
    assert isinstance(syntax, Syntax)
    # Placeholders are found before the grammar of the value, which could split them.
    spans = SYNTAXES[syntax](context.task.policy.masked(text))
    return chain.from_iterable(map(partial(visit_url, text, context=context, place=place), spans))


def _visit_guessed(text: bytes, context: Context, place: Place) -> Iterator[Outcome]:
    syntax = guessed(text)
    if syntax is None:
        return iter(())
    row = place.row._replace(syntax=Nested.CSS if syntax == "css" else syntax)
    return visit_value(text, context, place._replace(row=row))


def _visit_markup(text: bytes, context: Context, _place: Place) -> Iterator[Outcome]:
    nested_bytes = context.nested_bytes + (len(text) if context.depth else 0)
    if text and (context.depth >= MAX_SRCDOC_DEPTH or nested_bytes > MAX_SRCDOC_BYTES):
        limit = f"deeper than {MAX_SRCDOC_DEPTH}"
        if nested_bytes > MAX_SRCDOC_BYTES:
            limit = f"with more than {MAX_SRCDOC_BYTES} bytes"
        text_ = f"srcdoc documents nest {limit}: left unchanged"
        return iter((Note(Reason.LIMIT_SRCDOC, context.part, Span(0, len(text)), text_),))
    reader = context.task.reader("text/html", "")
    if reader is None or reader.visit is None:
        return iter(())
    return single(reader.visit(text, context.nested()._replace(nested_bytes=nested_bytes)))


def _visit_json(
    find: Callable[[bytes], Iterator[Span]],
    text: bytes,
    context: Context,
    place: Place,
) -> Iterator[Outcome]:
    context = context.in_utf_8()
    for reference in find(text):
        view = json_view(text[reference.start : reference.end])
        inside = context.inside(reference.start)
        for span in syntaxes.url(view.inner):
            yield from lower(visit_url(view.inner, span, inside, place), view, reference.start)


def _visit_speculation_rules(text: bytes, context: Context, place: Place) -> Iterator[Outcome]:
    yield from _visit_json(json_text.speculation_rules, text, context, place)
    # If the page states its own base, the patterns match wherever the page is opened.
    patterns = json_text.relative_patterns(text) if context.base.layer is not Layer.EMBEDDED else []
    if patterns:
        count = f"{len(patterns)} patterns" if len(patterns) > 1 else "a pattern"
        text_ = f"{count} of speculation rules (href_matches) left unchanged: {_NO_MATCH}"
        yield Note(Reason.SPECULATION_PATTERN, context.part, Span(*patterns[0]), text_)


_NO_MATCH: Final = "a relative one matches no link where the page is opened from another URL"


# How to visit a value of each syntax; its text is decoded, in UTF-8.
VISITS: Final[Mapping[Syntax | Nested, Callable[[bytes, Context, Place], Iterator[Outcome]]]] = {
    **dict.fromkeys(Syntax, _visit_values),
    Nested.CSS: visit_css,
    Nested.HTML: _visit_markup,
    Nested.GUESSED: _visit_guessed,
    Nested.IMPORT_MAP: partial(_visit_json, json_text.import_map),
    Nested.SPECULATION_RULES: _visit_speculation_rules,
    Nested.JSON_LD: visit_json_ld,
}


def _write_value(items: Iterable[Outcome], attribute: Attribute, charset: str) -> Iterator[Outcome]:
    """The items of an attribute without a value; an edit writes one, with quotes."""
    equals = b"" if attribute.equals else b"="
    make_view = partial(attribute_view, b"", b'"', charset)
    for item in lower_plain(items, plain_in_quotes, make_view, attribute.start):
        if isinstance(item, Edit):
            quoted = _known_quoted if len(item.new) <= _REMEMBERED else _quoted
            yield item._replace(new=quoted(equals, item.new))
        else:
            yield item


def _quoted(equals: bytes, new: bytes) -> bytes:
    return b'%b"%b"' % (equals, new)


# Most are the same: of a million attributes each need not have its own.
_REMEMBERED: Final = 1024
_known_quoted: Final = lru_cache(maxsize=64)(_quoted)
