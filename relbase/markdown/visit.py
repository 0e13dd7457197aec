"""The visit of Markdown: its links, and the HTML between them.

The HTML is visited as one document: the text, with spaces in place of everything else. So raw text,
comments, SVG and `<base>` mean what they mean on the page, and no offset moves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import partial
from heapq import merge
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Base, retrieval
from relbase.edit import Edit, Span
from relbase.expressions import expression
from relbase.html.ahead import visit_html
from relbase.html.vocabulary import Row
from relbase.markdown import destinations
from relbase.markdown.content import ESCAPED, UNSURE, Places, pairs
from relbase.markdown.places import MAX_NESTED, places
from relbase.notes import Note, Reason
from relbase.rewriting.context import Codebase, Context, Wanted, resolver
from relbase.rewriting.outcomes import Outcome, Status, lower, shift, single
from relbase.rewriting.reference import Place, Verdict, noting, visit_url
from relbase.rewriting.trial import without
from relbase.url.resolver import is_absolute
from relbase.values.syntaxes import Syntax
from relbase.view.characters import decode_inner
from relbase.view.charset import after_mark

if TYPE_CHECKING:
    from array import array

# An empty destination stays, unlike an empty `href`: somebody has yet to fill it in.
_LINK: Final = Place("a", "href", Row(Syntax.URL))
_IMAGE: Final = Place("img", "src", Row(Syntax.URL))


def visit_markdown(text: bytes, context: Context) -> Iterator[Outcome]:
    start = after_mark(text)  # the mark, as a character, would hide a definition
    if url := context.task.images_url:
        [stated], notes = retrieval(url, (), context.task.profile, "images_url")
        resolve = resolver(stated.value, context.task.profile, context.encoding)
        base = Base(stated.value, stated.layer, stated.source, context.base)
        context = context._replace(images=Codebase(resolve, base))
        yield from notes
    visited = _visit(text[start:], context)
    yield from shift(visited, start) if start else visited


def _visit(text: bytes, context: Context) -> Iterator[Outcome]:
    # As `places` replaces line ends too, it makes no second string.
    lines = text.replace(b"\r\n", b" \n").replace(b"\r", b"\n")
    source = lines.decode("utf-8", "surrogateescape")
    del lines
    held = places(source)
    if len(text) > len(source):
        for offsets in (held.inline.spans, held.definitions.spans, held.blocks, held.tags):
            _to_bytes(source, offsets)
    del source
    if held.blocks or held.tags:
        yield from _visit_on_trial(text, held, context)
    else:
        yield from _visit_links(text, held, context)
    if held.is_deep:
        yield Note(Reason.LIMIT_MARKDOWN, context.part, None, _TOO_DEEP)


def _visit_on_trial(text: bytes, held: Places, context: Context) -> Iterator[Outcome]:
    """Visit all on trial, and charge it in document order: what stands first is paid first."""
    budget = context.budget
    trials = [budget and budget.on_trial(len(text)) for _ in range(2)]
    on_tags, on_links = (context._replace(wanted=Wanted.ALL, budget=trial) for trial in trials)
    links = _visit_links(text, held, on_links)
    outcomes = merge(_visit_tags(text, held, on_tags), links, key=_start)

    def holds(span: Span) -> bool:
        is_in_tag = bisect_right(held.tags, span.start) % 2
        return (_unsure_in_tag if is_in_tag else _line_end).search(text, *span) is not None

    yield from without(outcomes, holds, context, _AT_LINE_END, depth=context.depth)
    for trial in trials:
        if budget and trial:
            budget.settle(trial)


_line_end: Final = expression(rb"[\r\n]")
_unsure_in_tag: Final = expression(rb"[\r\n]|\\\|")  # in a table `\|` means `|`
_AT_LINE_END: Final = noting(
    Reason.MARKDOWN_UNSURE,
    "links with a line end or '\\|' in them left unchanged: it may mean something to Markdown",
)
_TOO_DEEP: Final = (
    f"quotes, lists or brackets nest deeper than {MAX_NESTED} levels: links in them, and behind "
    "such brackets in the same block, were left unchanged"
)


def _start(outcome: Outcome) -> int:
    if isinstance(outcome, Note):  # in no order
        return 0
    return outcome.start if isinstance(outcome, Edit) else outcome.span.start


def _visit_tags(text: bytes, held: Places, context: Context) -> Iterator[Outcome]:
    html = bytearray(text.translate(_BLANK))
    for offsets in (held.blocks, held.tags):
        for start, end in pairs(offsets):
            html[start:end] = text[start:end]
    blanked = bytes(html)
    del html
    for outcome in single(visit_html(blanked, context)):
        # After the start of a tag, and before its end, there is an odd number of offsets.
        if type(outcome) is Edit and bisect_right(held.tags, outcome.start) % 2:
            yield outcome._replace(new=destinations.in_tag(outcome.new))
        else:
            yield outcome


_BLANK: Final = bytes(byte if byte in b"\r\n" else 32 for byte in range(256))  # all but line ends


def _visit_links(text: bytes, held: Places, context: Context) -> Iterator[Outcome]:
    image = _IMAGE._replace(codebase=context.images)
    for link in held.links:
        if link.traits & UNSURE or not link.end:
            span = Span(link.start, link.end) if link.end else None
            yield Note(Reason.MARKDOWN_UNSURE, context.part, span, _UNSURE)
            continue
        in_brackets = text.startswith(b"<", link.start)
        span = Span(link.start + in_brackets, link.end - in_brackets)
        place = _LINK if link.is_link else image
        keeps = None
        if link.doubt:
            note = noting(Reason.MARKDOWN_UNSURE, f"{link.doubt}: left unchanged")
            keeps = partial(_kept, Verdict(Status.KEPT, None, note))
        raw = text[slice(*span)]
        view = None
        if link.traits & ESCAPED:
            view = destinations.destination_view(raw, in_brackets=in_brackets)
            raw = view.inner
        if link.is_link and link.is_image and context.images and not _is_same(raw, context):
            yield Note(Reason.MARKDOWN_UNSURE, context.part, span, _FOR_BOTH)
        inner, whole, around = (
            (raw, Span(0, len(raw)), context.inside(span.start)) if view else (text, span, context)
        )
        outcomes = visit_url(inner, whole, around, place, keeps)
        outcomes = outcomes if in_brackets else _paired(outcomes, inner, whole)
        if view:
            yield from lower(outcomes, view, span.start)
            continue
        for outcome in outcomes:
            if isinstance(outcome, Edit):
                new = destinations.spelled(outcome.new, in_brackets=in_brackets)
                yield outcome._replace(new=new)
            else:
                yield outcome


def _paired(outcomes: Iterator[Outcome], text: bytes, span: Span) -> Iterator[Outcome]:
    """Replace all of a destination if an edit replaces parentheses: new ones have a backslash.

    The other one of a pair would be alone, and end the destination or make it none.
    """
    for outcome in outcomes:
        if isinstance(outcome, Edit) and _parenthesis.search(text, *outcome[:2]):
            new = text[span.start : outcome.start] + outcome.new + text[outcome.end : span.end]
            yield Edit(*span, new)
        else:
            yield outcome


_parenthesis: Final = expression(rb"[()]")


def _kept(verdict: Verdict, _reference: str) -> Verdict:
    return verdict


def _is_same(reference: bytes, context: Context) -> bool:
    """Whether a link that both links and images use has the same URL for both."""
    if is_absolute(decode_inner(reference), context.task.profile):
        return True
    images = context.images and context.images.base
    return images is not None and images.url == context.base.url


_FOR_BOTH: Final = "links and images use this definition: it has the base of links"
_UNSURE: Final = "a link whose place in the source is not certain: left unchanged"


def _to_bytes(source: str, offsets: array[int]) -> None:
    """Make offsets, which are in order, offsets in bytes of the text."""
    at = count = 0
    for place, offset in enumerate(offsets):
        if offset:  # or it is of a place that is not known
            count += len(source[at:offset].encode("utf-8", "surrogateescape"))
            at, offsets[place] = offset, count
