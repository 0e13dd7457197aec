"""The visit of Markdown: its links, and the HTML between them.

The HTML is visited as one document: the text, with spaces in place of everything else. So raw text,
comments, SVG and `<base>` mean what they mean on the page, and no offset moves.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from heapq import merge
from typing import Final, TypeVar

from relbase.bases.layers import Base, Layer
from relbase.edit import Edit, Span
from relbase.expressions import expression
from relbase.html.ahead import visit_html
from relbase.html.vocabulary import Row
from relbase.markdown import destinations
from relbase.markdown.content import Found, Places
from relbase.markdown.places import MAX_NESTED, places
from relbase.notes import Note, Reason
from relbase.rewriting.context import Codebase, Context, Wanted, resolver
from relbase.rewriting.outcomes import Outcome, Status, consume, lower, shift, single
from relbase.rewriting.reference import Place, Verdict, noting, visit_url
from relbase.rewriting.trial import without
from relbase.url.resolver import is_absolute
from relbase.values.syntaxes import Syntax
from relbase.view.charset import after_mark

# An empty destination stays, unlike an empty `href`: somebody has yet to fill it in.
_LINK: Final = Place("a", "href", Row(Syntax.URL))
_IMAGE: Final = Place("img", "src", Row(Syntax.URL))


def visit_markdown(text: bytes, context: Context) -> Iterator[Outcome]:
    start = after_mark(text)  # the mark, as a character, would hide a definition
    if url := context.task.images_url:
        resolve = resolver(url, context.task.profile, context.encoding)
        base = Base(url, Layer.RETRIEVAL, "images_url", context.base)
        context = context._replace(images=Codebase(resolve, base))
    visited = _visit(text[start:], context)
    return shift(visited, start) if start else visited


def _visit(text: bytes, context: Context) -> Iterator[Outcome]:
    source = text.decode("utf-8", "surrogateescape")
    held = places(source)
    if held.blocks or held.tags:
        yield from _visit_on_trial(text, source, held, context)
    else:
        yield from _visit_links(text, _in_bytes(source, consume(held.links)), context)
    if held.is_deep:
        yield Note(Reason.LIMIT_MARKDOWN, context.part, None, _TOO_DEEP)


def _visit_on_trial(text: bytes, source: str, held: Places, context: Context) -> Iterator[Outcome]:
    """Visit all on trial, and charge it in document order: what stands first is paid first."""
    budget = context.budget
    trials = [budget and budget.on_trial(len(text)) for _ in range(2)]
    on_tags, on_links = (context._replace(wanted=Wanted.ALL, budget=trial) for trial in trials)
    blocks, tags = (list(_in_bytes(source, spans)) for spans in (held.blocks, held.tags))
    links = _visit_links(text, _in_bytes(source, consume(held.links)), on_links)
    ends = array("q", (end.start() for end in _line_end.finditer(text)))
    outcomes = merge(_visit_tags(text, blocks, tags, on_tags), links, key=_start)
    yield from without(outcomes, ends, context, _AT_LINE_END, depth=context.depth)
    for trial in trials:
        if budget and trial:
            budget.settle(trial)


_line_end: Final = expression(rb"[\r\n]")
_AT_LINE_END: Final = noting(
    Reason.MARKDOWN_UNSURE,
    "links with a line end in them left unchanged, since it may mean something to Markdown",
)
_TOO_DEEP: Final = (
    f"quotes, lists or brackets nest deeper than {MAX_NESTED} levels: links in them, and behind "
    "such brackets in the same block, were left unchanged"
)


def _start(outcome: Outcome) -> int:
    if isinstance(outcome, Note):  # in no order
        return 0
    return outcome.start if isinstance(outcome, Edit) else outcome.span.start


def _visit_tags(
    text: bytes, blocks: list[Span], tags: list[Span], context: Context
) -> Iterator[Outcome]:
    html = bytearray(text.translate(_BLANK))
    for start, end in (*blocks, *tags):
        html[start:end] = text[start:end]
    starts = array("q", (tag.start for tag in tags))
    for outcome in single(visit_html(bytes(html), context)):
        if type(outcome) is Edit:
            at = bisect_right(starts, outcome.start) - 1
            if at >= 0 and outcome.start < tags[at].end:
                yield outcome._replace(new=destinations.in_tag(outcome.new))
                continue
        yield outcome


_BLANK: Final = bytes(byte if byte in b"\r\n" else 32 for byte in range(256))  # all but line ends


def _visit_links(text: bytes, links: Iterable[Found], context: Context) -> Iterator[Outcome]:
    image = _IMAGE._replace(codebase=context.images)
    for link in links:
        in_brackets = text.startswith(b"<", link.start)
        span = Span(link.start + in_brackets, link.end - in_brackets)
        place = _LINK if link.is_link else image
        keeps = None
        if link.doubt:
            note = noting(Reason.MARKDOWN_UNSURE, f"{link.doubt}: left unchanged")
            keeps = partial(_kept, Verdict(Status.KEPT, None, note))
        if link.meant is None and link.end:  # no escapes, and its place is known
            for outcome in visit_url(text, span, context, place, keeps):
                if isinstance(outcome, Edit):
                    new = destinations.spelled(outcome.new, in_brackets=in_brackets)
                    yield outcome._replace(new=new)
                else:
                    yield outcome
            continue
        raw = text[slice(*span)]
        view = destinations.destination_view(raw, in_brackets=in_brackets)
        # (markdown-it-py takes a line end behind a backslash into a destination, cmark does not)
        if _line_end.search(raw) or view.inner.decode("utf-8", "surrogateescape") != link.meant:
            yield Note(Reason.MARKDOWN_UNSURE, context.part, span if link.end else None, _UNSURE)
            continue
        if link.is_link and link.is_image and context.images and not _is_same(link.meant, context):
            yield Note(Reason.MARKDOWN_UNSURE, context.part, span, _FOR_BOTH)
        inside, whole = context.inside(span.start), Span(0, len(view.inner))
        yield from lower(visit_url(view.inner, whole, inside, place, keeps), view, span.start)


def _kept(verdict: Verdict, _reference: str) -> Verdict:
    return verdict


def _is_same(reference: str, context: Context) -> bool:
    """Whether a link that both links and images use has the same URL for both."""
    if is_absolute(reference, context.task.profile):
        return True
    images = context.images and context.images.base
    return images is not None and images.url == context.base.url


_FOR_BOTH: Final = "links and images use this definition: it has the base of links"
_UNSURE: Final = "a link whose place in the source is not certain: left unchanged"


def _in_bytes(source: str, places: Iterable[T]) -> Iterator[T]:
    """Yield the same places, which are in order, in bytes of the text."""
    is_same = source.isascii()
    at = count = 0
    for place in places:
        if is_same or not place.end:  # or its place is not known
            yield place
            continue
        ends = []
        for end in place[:2]:
            count += len(source[at:end].encode("utf-8", "surrogateescape"))
            at = end
            ends.append(count)
        yield place._replace(start=ends[0], end=ends[1])


T = TypeVar("T", Found, Span)
