"""Visits XML, and checks that the document is sound before anything in it changes (rule 20).

What the visit finds counts only if the document is well-formed and declares nothing that would
change its meaning. Checking this takes a parse, so it is done at the first item that changes the
document. The visit itself handles values that contain a flaw.
"""

from collections.abc import Iterable, Iterator
from functools import cache, partial
from itertools import chain
from typing import Final

from relbase.bases.layers import Base
from relbase.edit import Edit
from relbase.notes import Note, Reason
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Context, Wanted
from relbase.rewriting.outcomes import Batch, Outcome, Reference, Status, batched, consume, single
from relbase.xml import structure
from relbase.xml.bases import Scopes, note_on, on_own_base, xml_base_counts
from relbase.xml.feeds import feed_site, on_site, with_site_noted
from relbase.xml.visit import DOUBTFUL, Visit
from relbase.xml.well_formed import examine


def visit_xml(text: bytes, around: Context) -> Iterator[Batch]:
    """What an XML document holds; nothing of it changes the document if that is not sound."""
    site = partial(feed_site, text, around)
    if around.task.policy.site_links:
        around = on_site(site, around)
    wanted, budget = around.wanted, around.budget
    before = None if budget is None else budget.state()
    soundness = cache(partial(examine, text))
    visit = Visit(text, around, soundness)
    if wanted.edits_only:
        batches = with_site_noted(text, visit.batches(), site, around)
    else:
        batches = batched(single(visit.batches()))
    waiting, is_asked = _begun(batches)
    is_reported = is_asked or wanted is Wanted.EXAMINED
    if wanted.edits_only and not is_reported:
        return consume(waiting)
    unsound, flaws, end = soundness()
    both: Iterator[Batch] = chain(consume(waiting), batches)
    reason, done = Reason.XML_FLAW, "ignored"
    if unsound is not None:
        reason, flaws, done = Reason.XML_UNSOUND, (unsound,), "left unchanged"
        both = batched(_unchanged(() if wanted.edits_only else single(both), budget, before))
    elif flaws:
        both = _before(both, end)
    if is_reported and flaws:
        noted = [(note_on(reason, text, around, flaw, done),) for flaw in flaws]
        return chain(noted, both)
    return both


# How many items may wait for the first one that changes something.
_MAY_WAIT: Final = 1 << 12


def _begun(batches: Iterator[Batch]) -> tuple[list[Batch], bool]:
    """Return the first items, and whether soundness has to be checked before the rest."""
    waiting, count = list[Batch](), 0
    for batch in batches:
        waiting.append(batch)
        count += len(batch)
        if any(map(_changes, batch)) or count >= _MAY_WAIT:
            return waiting, True
    return waiting, False


def _before(batches: Iterable[Batch], end: int) -> Iterator[Batch]:
    for batch in batches:
        kept: list[Outcome] = [item for item in single((batch,)) if _start(item) < end]
        yield kept if type(batch) is list else tuple(kept)


def _start(item: Outcome) -> int:
    if isinstance(item, Edit):
        return item.start
    return -1 if item.span is None else item.span.start


def _changes(item: Outcome) -> bool:
    if isinstance(item, Note):
        # Without the flaw, it would be a change; markup that is not escaped is rarely well-formed.
        return item.text is DOUBTFUL or item.reason is Reason.FEED_UNESCAPED
    return isinstance(item, Edit) or item.status is Status.REWRITTEN


def _unchanged(
    items: Iterable[Outcome], budget: Budget | None, before: tuple[int, int, int, int] | None
) -> Iterator[Outcome]:
    for item in items:
        if isinstance(item, Reference) and item.status is Status.REWRITTEN:
            yield item._replace(status=Status.KEPT, url=None)
        elif isinstance(item, Reference) or (isinstance(item, Note) and item.text is not DOUBTFUL):
            yield item
    if budget is not None and before is not None:
        budget.restore(before)  # none of the edits is made


def xml_base(text: bytes, around: Context) -> Base:
    """The base of an XML document: from its root, its `<base>`, or its container."""
    around = on_site(partial(feed_site, text, around), around)
    root = next(
        (each for each in structure.elements(text) if isinstance(each, structure.Element)), None
    )
    if root is None:
        return around.base
    scopes = Scopes(text, on_own_base(text, around)[0], counts=xml_base_counts(root, around))
    scopes.enter(root)
    inside = scopes.inside
    if inside is None or inside.base is around.base or examine(text).unsound is not None:
        return around.base
    return inside.base
