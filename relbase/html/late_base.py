"""What precedes a late `<base>`, which browsers fetch in part before they read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.url.profiles import PROFILES

if TYPE_CHECKING:
    from relbase.html.vocabulary import Slot
    from relbase.rewriting.context import Context
    from relbase.rewriting.outcomes import Outcome


class Before:
    """What precedes a `<base>`: what browsers fetch at once is resolved against the base around."""

    def __init__(self, inside: Context, around: Context) -> None:
        is_early = PROFILES[around.task.profile].fetches_early
        self.early = inside.with_base(around.base) if is_early else None
        self.late = 0  # how many references the `<base>` decides for

    def visit(
        self,
        slot: Slot,
        inside: Context,
        visit: Callable[[Slot, Context], Iterable[Outcome]],
        *,
        hidden: bool = False,
    ) -> Iterable[Outcome]:
        """Visit a value; nothing is fetched of what is hidden."""
        if slot.row.early and self.early and not hidden:
            return visit(slot, self.early)
        return self._counted(visit(slot, inside))

    def _counted(self, items: Iterable[Outcome]) -> Iterator[Outcome]:
        for item in items:
            self.late += type(item) is Edit
            yield item


def base_late(count: int, around: Context, span: Span) -> Note:
    text = (
        f"<base> decides for {count} reference{'s'[: count > 1]} before it too: browsers fetch "
        "some of them from the outer base"
    )
    return Note(Reason.BASE_LATE, around.part, span, text)
