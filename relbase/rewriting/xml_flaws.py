"""Values of a flawed document: which of their references nobody can be sure of.

An undefined entity, a character that XML forbids or a byte that is not UTF-8 mean something else to
every reader. In most values of a flawed document there is none; a reference with one stays.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.rewriting.items import Status
from relbase.view.xml_flaws import doubts
from relbase.view.xml_pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.references.xml import Attribute
    from relbase.rewriting.items import Item

# All references of a text with a flaw are held at once; an article is shorter.
MAX_FLAWED: Final = 1 << 18
DOUBTFUL: Final = "links with an undefined entity or an invalid character left unchanged"


def doubtful(raw: bytes, value: Attribute) -> list[int]:
    """Where the meaning of a value or text is not certain, in offsets of the document."""
    if value.quote or b"<" not in raw:
        return [value.start + at for at in doubts(raw)]
    return [
        value.start + piece.start + at
        for piece in pieces(raw)
        for at in doubts(raw[piece.start : piece.end], is_cdata=piece.is_cdata)
    ]


def without_doubtful(
    items: Iterable[Item], places: Sequence[int], *, is_listed: bool
) -> Iterator[Item]:
    """The items of a text that has been listed, without edits of references that hold a place."""
    edits: list[Edit] = []
    left: list[Span] = []
    for item in items:
        if isinstance(item, Edit):
            edits.append(item)
        elif isinstance(item, Note):
            yield item
        else:
            if item.status is Status.REWRITTEN and _holds(item.span, places):
                left.append(item.span)
                if len(left) == 1:
                    yield Note(Reason.XML_FLAW, item.part, item.span, DOUBTFUL)
                item = item._replace(status=Status.KEPT, url=None)  # noqa: PLW2901
            if is_listed or item.status is Status.UNRESOLVED:
                yield item
    starts = [span.start for span in left]
    for edit in edits:
        at = bisect_left(starts, edit.start + 1) - 1
        if at < 0 or edit.start > left[at].end:
            yield edit


def _holds(span: Span, places: Sequence[int]) -> bool:
    at = bisect_left(places, span.start)
    return at < len(places) and places[at] < span.end
