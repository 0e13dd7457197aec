"""From XML inward to its references, and back outward (rule 20).

What the walk finds is believed only when the document is well-formed and declares nothing that
would change its meaning. Changes wait for a while until that is asked, since the articles of a feed
are parsed already for what they mean: then only what is left is. A document whose flaws have no
consequence is visited once more, with an eye on the values that they stand in.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit
from relbase.notes import Reason
from relbase.references import xml
from relbase.references.xml_sound import examine
from relbase.rewriting.items import Found, Item, Status, drained
from relbase.rewriting.xml_bases import Scopes, on_own_base, xml_base_counts
from relbase.rewriting.xml_visit import Visit, note_on
from relbase.view.xml_values import spots

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relbase.bases.layers import Base
    from relbase.rewriting.context import Context


def visit_xml(text: bytes, around: Context) -> Iterator[Item]:
    """The items of an XML document; none that changes it when it is not sound."""
    task = around.task
    before = None if task.budget is None else task.budget.state()
    visit = Visit(text, around)
    items = visit.items()
    waiting, is_asked, is_over = _begun(items, is_long=task.edits_only)
    if not (is_asked or (task.examines and task.edits_only)):
        yield from drained(waiting)
        return
    unsound, flaws, end, copy = examine(text, visit.read)
    if unsound is None and not flaws:
        yield from drained(waiting)
        yield from items
        return
    if unsound is None:
        yield from (note_on(Reason.XML_FLAW, text, around, flaw, "passed over") for flaw in flaws)
    else:
        yield note_on(Reason.XML_UNSOUND, text, around, unsound, "left unchanged")
        if not task.edits_only:
            yield from _unchanged(chain(waiting, items))
    if unsound is None and is_over and _are_apart(waiting, spots(text, copy), text):
        yield from (item for item in waiting if _start(item) < end)
        return
    if task.budget is not None and before is not None:
        task.budget.restore(before)  # nothing of that is written
    if unsound is None:
        yield from Visit(text[:end], around, is_flawed=True).items()


# Items wait, in bytes of what they take and what is written.
_MAY_WAIT: Final = 1 << 22
_EDIT: Final = 150
_FOUND: Final = 1 << 10


def _begun(items: Iterator[Item], *, is_long: bool) -> tuple[list[Item], bool, bool]:
    """The first items, whether one of them changes the document, and whether they are all."""
    waiting: list[Item] = []
    is_asked = False
    left = _MAY_WAIT
    for item in items:
        waiting.append(item)
        left -= _EDIT + len(item.new) if isinstance(item, Edit) else _FOUND
        is_asked = is_asked or _changes(item) or left < 0
        if left < 0 or (is_asked and not is_long):
            return waiting, is_asked, False
    return waiting, is_asked, True


def _are_apart(items: Iterable[Item], flaws: Iterable[int], text: bytes) -> bool:
    """Whether no reference that is edited can hold a flaw: a tag begins between them."""
    edits = [item for item in items if isinstance(item, Edit)]
    starts = [edit.start for edit in edits]
    apart = -1  # what has been looked at
    for at in flaws:
        index = bisect_right(starts, at) - 1
        if index > apart:
            if text.find(b"<", edits[index].end, at) < 0:
                return False
            apart = index
    return True


def _start(item: Item) -> int:
    if isinstance(item, Edit):
        return item.start
    return -1 if item.span is None else item.span.start


def _changes(item: Item) -> bool:
    return isinstance(item, Edit) or (isinstance(item, Found) and item.status is Status.REWRITTEN)


def _unchanged(items: Iterable[Item]) -> Iterator[Item]:
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
    scopes = Scopes(text, on_own_base(text, around)[0], counts=xml_base_counts(root, around))
    scopes.enter(root)
    inside = scopes.inside
    if inside is None or inside.base is around.base or examine(text).unsound is not None:
        return around.base
    return inside.base
