"""What was visited on trial, since not all of it may count."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from relbase.edit import Edit, Span
from relbase.notes import Note
from relbase.rewriting.outcomes import Outcome, Status
from relbase.rewriting.reference import pay

if TYPE_CHECKING:
    from relbase.rewriting.budget import Budget
    from relbase.rewriting.context import Context


def without(
    items: Iterable[Outcome],
    is_doubtful: Callable[[Span], bool],
    context: Context,
    note: Note,
    *,
    trial: Budget | None = None,
    depth: int,
) -> Iterator[Outcome]:
    """The items of a listed text, without edits of references that are doubtful.

    Only the other references, nested `depth` documents deep, are charged to the budget. The first
    of those that stay gets the note.
    """
    edits: list[Edit] = []
    left: list[Span] = []
    is_noted = False
    budget = context.budget
    for item in items:
        if isinstance(item, Edit):
            edits.append(item)
        elif isinstance(item, Note):
            yield item
        else:
            doubts = item.status is Status.REWRITTEN and is_doubtful(item.span)
            if item.status is Status.REWRITTEN and (
                doubts or not pay(item.reference, item.url, budget, depth)
            ):
                left.append(item.span)
                if doubts and not is_noted:
                    is_noted = True
                    yield note._replace(part=item.part, span=item.span)
                item = item._replace(status=Status.KEPT, url=None)  # noqa: PLW2901
            if not context.wanted.edits_only or item.status is Status.UNRESOLVED:
                yield item
    if budget and trial:
        budget.settle(trial)
    starts = [span.start for span in left]
    for edit in edits:
        at = bisect_left(starts, edit.start + 1) - 1
        if at < 0 or edit.start > left[at].end:
            yield edit
