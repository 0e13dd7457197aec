"""What a visit of a text yields, and how its offsets become offsets of the text around it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, islice, repeat, starmap
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias, TypeVar

from relbase.edit import Edit, Span
from relbase.expressions import regex
from relbase.notes import Note

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.view.runs import View

T = TypeVar("T")


class Status(StrEnum):
    """What became of a reference."""

    REWRITTEN = "rewritten"
    ABSOLUTE = "absolute"  # its bytes are never touched
    KEPT = "kept"  # relative, and to stay so
    UNRESOLVED = "unresolved"  # no base, or the algorithm fails


class Anchor(NamedTuple):
    """What is known of the element that a reference is on; white space is folded."""

    text: str = ""
    rel: str = ""


class Reference(NamedTuple):
    """A reference that was found in a text."""

    span: Span  # its bytes in the visited text
    element: str  # "" for none
    attribute: str  # or the header field; "" for raw text
    syntax: str  # "url", "srcset", ...
    reference: str  # as the author wrote it, decoded
    url: str | None  # what it resolves to
    base: Base  # what it was resolved against
    status: Status
    part: str  # the number of the entity
    place: tuple[object, ...] | None = None  # its key in `Context.replaced`, if that is asked for
    anchor: Anchor | None = None  # if texts are asked for


class Packed(NamedTuple):
    """Links that the compiled scanner made all at once, as the columns of a table."""

    names: dict[str, int]  # the number of each element name
    # Four-byte numbers and UTF-8 texts: element, attribute (an index of `ATTRIBUTES`), syntax and
    # status (indexes of `SYNTAX_NAMES` and `STATUSES`), sizes of references, references, sizes of
    # URLs, URLs, where each link begins, and where it ends.
    columns: tuple[bytes, ...]
    size: int
    base: Base
    part: str


Outcome: TypeAlias = Reference | Note | Edit

# What a visit yields at once, with offsets in its text. What the scanner made is a list of edits, a
# list of finished links, or columns; what was visited one by one is a tuple.
Batch: TypeAlias = "list[Any] | Packed | tuple[Outcome, ...]"


def batched(items: Iterable[Outcome]) -> Iterator[Batch]:
    """Yield items in batches, since taking them one by one takes as long as making them."""
    rest = iter(items)
    while batch := tuple(islice(rest, AT_ONCE)):
        yield batch


def scanned(passed: Any) -> Iterable[Batch]:  # noqa: ANN401 (what the scanner made)
    return (passed,) if type(passed) is list or type(passed) is Packed else batched(passed)


# More would take too much memory while their texts are visited.
AT_ONCE: Final = 256


def single(batches: Iterable[Batch]) -> Iterator[Any]:
    """Yield the items of batches, none of which are columns."""
    return chain.from_iterable(batches)


def shift(items: Iterable[Outcome], offset: int) -> Iterator[Outcome]:
    """Move the items of a text that is not encoded and begins at `offset` of the text around it."""
    for item in items:
        if isinstance(item, Edit):
            start = item.start + offset
            # Most edits are insertions, and there may be millions: both ends share one object.
            end = start if item.end == item.start else item.end + offset
            yield Edit(start, end, item.new)
        elif item.span is None:
            yield item
        else:
            yield item._replace(span=Span(item.span.start + offset, item.span.end + offset))


def split_edits(items: Iterable[Outcome], edits: list[Edit]) -> Iterator[Reference | Note]:
    """Yield the findings and notes among items; append the edits to a list."""
    for item in items:
        if isinstance(item, Edit):
            edits.append(item)
        else:
            yield item


def split_edits_and_rest(
    items: Iterable[Outcome], offset: int = 0, *, at_once: bool
) -> Generator[Outcome, None, tuple[Iterable[Reference | Note], list[Edit]]]:
    """Return findings and edits separately; with `at_once`, yield the findings instead."""
    edits: list[Edit] = []
    findings = split_edits(items, edits)
    if at_once:
        yield from shift(findings, offset) if offset else findings
    return list(findings), edits


def lower(items: Iterable[Outcome], view: View, offset: int) -> Iterator[Outcome]:
    """The items of a view's inner text, in offsets of the text around it."""
    edits: list[Edit] = []  # lowered together, since neighbours may touch the same escape
    findings = split_edits(items, edits)
    left = [*(yield from _placed(findings, view, offset)), *findings]
    places: dict[Span, Span] = {}
    spans = sorted({item.span for item in left if item.span is not None}) if left else []
    while spans:  # spans that touch take another round: a note may be inside a reference
        place, last, touching = view.places(), -1, list[Span]()
        for span in spans:
            if span.start <= last:
                touching.append(span)
            else:
                places[span], last = place(span), span.end
        spans = touching
    if left:
        yield from _moved(left, places, offset)
    if edits:  # each is released when its lowered form is made: there may be millions
        yield from shift(view.lowered(consume(edits)), offset)


def _placed(
    findings: Iterator[Reference | Note], view: View, offset: int
) -> Generator[Outcome, None, list[Reference | Note]]:
    """Yield findings in batches; return the first batch that overlaps or is not in order."""
    last, place = -1, None
    while batch := list(islice(findings, _BATCH)):
        place = place or view.places()
        places = {}
        for span in sorted({item.span for item in batch if item.span is not None}):
            if span.start <= last:
                return batch
            places[span] = place(span)
            last = span.end
        yield from _moved(batch, places, offset)
    return []


def _moved(
    findings: Iterable[Reference | Note], places: Mapping[Span, Span], offset: int
) -> Iterator[Outcome]:
    for item in findings:
        if item.span is None:
            yield item
        else:
            start, end = places[item.span]
            yield item._replace(span=Span(start + offset, end + offset))


# Text that needs no escape: between quotes of either kind, in an unquoted value, in CSS.
plain_in_quotes: Final = regex(rb"[!#-%(-;=?-~]*+").fullmatch
plain_unquoted: Final = regex(rb"[!#-%(-;?-_a-~]*+").fullmatch
plain_in_css: Final = regex(rb"[!#-%*-;=?-\[\]-_a-z|~]*+").fullmatch

# Items are passed on in batches: a value may contain a million references.
_BATCH: Final = 1024


def lower_plain(
    items: Iterable[Outcome],
    plain: Callable[[bytes], object],
    view: Callable[[], View],
    offset: int,
) -> Iterator[Outcome]:
    """The items of a text without escapes, although an edit may still need one."""
    rest = iter(items)
    while batch := list(islice(rest, _BATCH)):
        if all(map(plain, [item.new for item in batch if type(item) is Edit])):
            yield from shift(consume(batch), offset)
        else:
            yield from lower(chain(batch, rest), view(), offset)
            return


def consume(items: list[T]) -> Iterator[T]:
    """Yield the items in order, and release each: one value may contain a million."""
    items.reverse()
    return starmap(items.pop, repeat((), len(items)))


def lowered(items: Iterable[Outcome], view: View, offset: int) -> Iterator[Outcome]:
    """Like `lower`, but edits come first, one by one, so that a caller may stop at the first."""
    findings: list[Outcome] = []

    def edits() -> Iterator[Edit]:
        for item in items:
            if isinstance(item, Edit):
                yield item
            else:
                findings.append(item)

    yield from shift(view.lowered(edits()), offset)
    yield from lower(findings, view, offset)
