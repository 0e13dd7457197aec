"""The visit of Markdown: its links, and the HTML between them.

The HTML is visited as one document: the text, with spaces in place of everything else. So raw text,
comments, SVG and `<base>` mean what they mean on the page, and no offset moves.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from relbase.bases.layers import Base, Layer
from relbase.edit import Edit, Span
from relbase.expressions import expression
from relbase.html.visit import visit_html
from relbase.html.vocabulary import Row
from relbase.markdown import destinations
from relbase.markdown.places import MAX_NESTED, Found, Places, places
from relbase.notes import Note, Reason
from relbase.rewriting.context import Codebase, Context, Wanted, resolver
from relbase.rewriting.outcomes import Outcome, Status, lower, shift, single
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
    return shift(_visit(text[start:], context), start)


def _visit(text: bytes, context: Context) -> Iterator[Outcome]:
    """Visit all on trial, and charge it in document order: what stands first is paid first."""
    source = text.decode("utf-8", "surrogateescape")
    held = _in_bytes(source, places(source))
    outcomes: list[Outcome] = []
    budget = context.budget
    for visit in (_visit_tags, _visit_links):
        trial = budget and budget.on_trial(len(text))
        outcomes += visit(text, held, context._replace(wanted=Wanted.ALL, budget=trial))
        if budget and trial:
            budget.settle(trial)
    outcomes.sort(key=_start)
    ends = array("q", (end.start() for end in _line_end.finditer(text)))
    yield from without(outcomes, ends, context, _AT_LINE_END, depth=context.depth)
    if held.is_deep:
        yield Note(Reason.LIMIT_MARKDOWN, context.part, None, _TOO_DEEP)


_line_end: Final = expression(rb"[\r\n]")
_AT_LINE_END: Final = noting(
    Reason.MARKDOWN_UNSURE,
    "links with a line end in them left unchanged, since it may mean something to Markdown",
)
_TOO_DEEP: Final = (
    f"quotes, lists or brackets nest deeper than {MAX_NESTED} levels: what is in them was left "
    "unchanged"
)


def _start(outcome: Outcome) -> int:
    if isinstance(outcome, Edit):
        return outcome.start
    return outcome.span.start if outcome.span else 0


def _visit_tags(text: bytes, held: Places, context: Context) -> Iterator[Outcome]:
    if not held.blocks and not held.tags:
        return
    html = _masked(text, sorted([*held.blocks, *held.tags]))
    starts = [tag.start for tag in held.tags]
    for outcome in single(visit_html(html, context)):
        if type(outcome) is Edit:
            at = bisect_right(starts, outcome.start) - 1
            if at >= 0 and outcome.start < held.tags[at].end:
                yield outcome._replace(new=destinations.in_tag(outcome.new))
                continue
        yield outcome


def _masked(text: bytes, kept: Iterable[Span]) -> bytes:
    """Return a text of the same length in which only these ranges and the line ends are left."""
    pieces, at = list[bytes](), 0
    for start, end in kept:
        pieces += (_inside_line.sub(b" ", text[at:start]), text[start:end])
        at = end
    return b"".join([*pieces, _inside_line.sub(b" ", text[at:])])


_inside_line: Final = expression(rb"[^\r\n]")


def _visit_links(text: bytes, held: Places, context: Context) -> Iterator[Outcome]:
    for link in held.links:
        in_brackets = text.startswith(b"<", link.start)
        span = Span(link.start + in_brackets, link.end - in_brackets)
        raw = text[slice(*span)]
        view = destinations.destination_view(raw, in_brackets=in_brackets)
        # (markdown-it-py takes a line end behind a backslash into a destination, cmark does not)
        if _line_end.search(raw) or view.inner.decode("utf-8", "surrogateescape") != link.meant:
            yield Note(Reason.MARKDOWN_UNSURE, context.part, span if link.end else None, _UNSURE)
            continue
        note = noting(Reason.MARKDOWN_UNSURE, f"{link.doubt}: left unchanged")
        keeps = partial(_kept, Verdict(Status.KEPT, None, note)) if link.doubt else None
        place = _LINK if link.is_link else _IMAGE._replace(codebase=context.images)
        if link.is_link and link.is_image and context.images and not _is_same(link, context):
            yield Note(Reason.MARKDOWN_UNSURE, context.part, span, _FOR_BOTH)
        inside, whole = context.inside(span.start), Span(0, len(view.inner))
        yield from lower(visit_url(view.inner, whole, inside, place, keeps), view, span.start)


def _kept(verdict: Verdict, _reference: str) -> Verdict:
    return verdict


def _is_same(link: Found, context: Context) -> bool:
    """Whether a link that both links and images use has the same URL for both."""
    if is_absolute(link.meant, context.task.profile):
        return True
    images = context.images and context.images.base
    return images is not None and images.url == context.base.url


_FOR_BOTH: Final = "links and images use this definition: it has the base of links"
_UNSURE: Final = "a link whose place in the source is not certain: left unchanged"


def _in_bytes(source: str, held: Places) -> Places:
    """Return the same places in bytes of the text."""
    if source.isascii():
        return held
    ranges = (held.links, held.blocks, held.tags)
    at, count, of = 0, 0, dict[int, int]()
    for wanted in sorted({end for spans in ranges for span in spans for end in span[:2]}):
        count += len(source[at:wanted].encode("utf-8", "surrogateescape"))
        at, of[wanted] = wanted, count
    links = [link._replace(start=of[link.start], end=of[link.end]) for link in held.links]
    blocks, tags = ([Span(of[start], of[end]) for start, end in spans] for spans in ranges[1:])
    return Places(links, blocks, tags, held.is_deep)
