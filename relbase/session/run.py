"""What each function of the library does with a document that has been opened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from relbase.bases.layers import Base, Layer
from relbase.edit import Edit, PackedEdits, are_dense
from relbase.notes import Note, Reason
from relbase.results import Entity, Link, Notes, Result
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Replaced, Wanted
from relbase.rewriting.outcomes import (
    Batch,
    Packed,
    Reference,
    Status,
    batched,
    lower,
    single,
)
from relbase.savers.rows import Unarchived
from relbase.scan.binding import spliced
from relbase.url.credentials import masked

if TYPE_CHECKING:
    from relbase.formats.document import Document
    from relbase.session.options import Replace
    from relbase.session.session import Call, OpenedDocument


def rewrite(given: OpenedDocument) -> Result:
    """Rewrite a document, as `relbase.rewrite` does."""
    output, edits, notes = rewritten(given)
    data, call = given.document.data, given.call
    if call.replace is not None:
        call = call._replace(replace=None)  # the links and the base are those of the input
    return Result(
        output,
        edits,
        notes,
        base=partial(call.base, data),  # not closures, so that a Result can be pickled
        links=partial(_later, links, data, call),
    )


def rewritten(given: OpenedDocument) -> tuple[bytes, list[Edit] | PackedEdits, tuple[Note, ...]]:
    """Return a document with absolute links, the edits, and the notes."""
    given = given if given.call.replace is None else _asked(given)
    document = given.document
    notes = Notes((*given.remarks, *given.notes))
    budget = document.context.budget or Budget(len(document.data))
    examines = given.call.session.options.examines
    edits: list[Edit] | PackedEdits = []
    left, against = 0, None
    for batch in _visit(document, Wanted.EXAMINED if examines else Wanted.EDITS, budget):
        if type(batch) is list:  # the scanner made them
            edits.extend(batch)
        else:
            edits.extend([item for item in batch if type(item) is Edit])
            for item in batch:
                if isinstance(item, Note):
                    notes.add(item)
                elif isinstance(item, Reference) and item.status is Status.UNRESOLVED:
                    left += 1
                    against = against or item.base
        if isinstance(edits, list) and are_dense(edits):
            edits = PackedEdits(edits)
    if budget.refused:
        notes.add(budget.note(document.context.part))
    if against is not None:
        notes.add(_unresolved(left, against, document.format.advice))
    output = spliced(document.data, edits)
    if edits and document.moves_charset(output, given.label):
        notes.add(Note(Reason.CHARSET_MOVED, "", None, _MOVED))
    return output, edits, notes.collected()


def _later(what: Callable[[OpenedDocument], Any], data: bytes, call: Call) -> Any:  # noqa: ANN401
    return what(call.opened(data))


def entities(given: OpenedDocument) -> Iterator[Entity]:
    """Return an iterator over the tree of entities."""
    return given.document.entities(given.type)


def base(given: OpenedDocument) -> Base:
    """Return the base of a document; of HTML without what does not count after its `<base>`."""
    return given.document.base(Wanted.BASE)


def references(given: OpenedDocument, *, texts: bool = False) -> Iterator[Reference]:
    """Yield every reference, as `links` does, but without its line and column."""
    given = _asked(given.on(texts=True) if texts else given)
    for batch in _visit(given.document, Wanted.REFERENCES):
        yield from (item for item in batch if isinstance(item, Reference))


def columns(given: OpenedDocument, *, texts: bool = False) -> Iterator[list[Reference] | Packed]:
    """Yield the references of `references` many at once, as columns if possible."""
    given = _asked(given.on(texts=True) if texts else given)
    are_packed = _are_scanned(given.document) and not texts
    for batch in _visit(given.document, Wanted.COLUMNS if are_packed else Wanted.REFERENCES):
        if isinstance(batch, Packed):
            yield batch
        else:
            yield [item for item in batch if isinstance(item, Reference)]


def _are_scanned(document: Document) -> bool:
    """Whether the scanner may make links of the bytes themselves."""
    return document.view is None and document.format.makes_links


def links(given: OpenedDocument, *, texts: bool = False) -> Iterator[Link]:
    """Return an iterator over every reference with its place, and the URL that replaces it."""
    return chain.from_iterable(_links(given.on(texts=True) if texts else given))


def _links(given: OpenedDocument) -> Iterator[Sequence[Link]]:
    given = _asked(given)
    is_scanned = _are_scanned(given.document) and not given.document.context.texts
    wanted = Wanted.LINKS if is_scanned else Wanted.REFERENCES
    lines = Lines(given.document.data)
    for batch in _visit(given.document, wanted):
        if type(batch) is list:  # the scanner made them
            yield batch
            lines.follow(batch[-1])
        else:
            yield [lines.link(item) for item in batch if isinstance(item, Reference)]


class Lines:
    """Makes links of references in document order: each has its line and column."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._line, self._start, self._at = 1, 0, 0

    def follow(self, link: Link) -> None:
        """Go on after a link that was made elsewhere."""
        self._line, self._at = link.line, link.span.start
        self._start = self._at - link.column + 1

    def link(self, reference: Reference) -> Link:
        span, element, attribute, syntax, written, url, against, status, part, _, anchor = reference
        if lines := self._data.count(b"\n", self._at, span.start):
            self._line += lines
            self._start = self._data.rfind(b"\n", self._at, span.start) + 1
        self._at = span.start
        place = span, self._line, span.start - self._start + 1
        about = part, element, attribute, syntax, written, url, against
        return Link(*about, *place, status, *(anchor or ()))


def _asked(given: OpenedDocument) -> OpenedDocument:
    """Ask for the URL of each link that may change, in document order, if the call does."""
    replace = given.call.replace
    if replace is None:
        return given
    outcomes = chain.from_iterable(_visit(given.on(replaced={}).document, Wanted.ALL))
    # Without an answer, the scanner can do the rest.
    return given.on(replaced=answers(outcomes, Lines(given.document.data), replace) or None)


def answers(
    outcomes: Iterable[object], lines: Lines, replace: Replace, *, may_be_empty: bool = False
) -> Replaced:
    """Return the URLs that a function gives for references, by their places."""
    replaced: Replaced = {}
    for outcome in outcomes:
        if not isinstance(outcome, Reference) or outcome.place is None:
            continue
        if outcome.status is Status.KEPT or (new := replace(lines.link(outcome))) is None:
            continue
        if not isinstance(new, str):
            fix = "return a URL, None for that of relbase, or link.reference for no edit"
            raise TypeError(f"replace must return a str, not {type(new).__name__}: {fix}")
        if not (new or may_be_empty) and outcome.reference:
            raise ValueError("replace returned an empty URL: return link.reference for no edit")
        replaced[outcome.place] = new
    return replaced


def _visit(document: Document, wanted: Wanted, budget: Budget | None = None) -> Iterator[Batch]:
    """Return what an input holds, with offsets in its bytes."""
    form, text, context = document.format, document.text, document.context
    if form.visit is None or document.notes:
        return iter(())
    # Absolute references can be passed over, unless a web archive may have written them, or the
    # caller replaces them.
    if context.replaced is not None or isinstance(context.local_files, Unarchived):
        wanted = Wanted.ALL
    batches = form.visit(text, context.visited(wanted, budget or Budget(len(document.data))))
    if document.view is None:
        return batches
    return batched(lower(single(batches), document.view, 0))


def _unresolved(left: int, against: Base, why: str) -> Note:
    text = f"{left} relative link{'' if left == 1 else 's'} left unchanged"
    if against.url:
        why = f"none can be resolved against {masked(against.url)[:200]!r}"
    elif against.layer is not Layer.NONE:
        why = f"a program has yet to fill in the placeholder in {against.source}"
    return Note(Reason.BASE_NONE, "", None, f"{text}: {why}")


_MOVED: Final = (
    "the links before <meta charset> grew so that browsers no longer find it in the first 1024 "
    "bytes: give the charset in the Content-Type when you publish the document"
)
