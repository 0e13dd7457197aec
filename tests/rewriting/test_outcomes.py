"""Items of a decoded text, in offsets of the text around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from growth import assert_linear_from_10_ms

from relbase.bases.layers import UNKNOWN
from relbase.edit import Edit, Span
from relbase.rewriting.outcomes import (
    Outcome,
    Reference,
    Status,
    lower,
    lower_plain,
    plain_in_quotes,
)
from relbase.view.runs import Run, RunView, View
from relbase.view.transcode import document_view

if TYPE_CHECKING:
    from collections.abc import Iterable


def found(start: int, end: int) -> Reference:
    span = Span(start, end)
    return Reference(span, "a", "href", "url", "", None, UNKNOWN, Status.KEPT, "")


def spans(items: Iterable[Outcome]) -> list[tuple[int, ...]]:
    return [tuple(item.span) for item in items if isinstance(item, Reference)]


def edits(items: Iterable[Outcome]) -> list[Edit]:
    return [item for item in items if isinstance(item, Edit)]


def view() -> RunView:
    """`a%41b%42c` means `aAbBc`."""
    runs = [Run(1, 4, b"A"), Run(5, 8, b"B")]
    return RunView(b"a%41b%42c", lambda _raw: runs, lambda new: b"<" + new + b">")


def utf_16(text: str) -> View:
    found = document_view(text.encode("utf-16-le"), "utf-16le")
    assert found is not None
    return found


# (spans of `aAbBc`, their places in `a%41b%42c`)
LOWERED = [
    ([(0, 1), (2, 3)], [(0, 1), (4, 5)]),
    ([(1, 2)], [(1, 4)]),
    ([(0, 5)], [(0, 9)]),
    ([(0, 2), (2, 4)], [(0, 4), (4, 8)]),  # they touch
    ([(1, 4), (1, 4)], [(1, 8), (1, 8)]),  # a note on a reference
    ([(3, 5), (0, 1), (1, 2)], [(5, 9), (0, 1), (1, 4)]),  # a note that comes first
    ([(0, 5), (1, 2), (3, 4)], [(0, 9), (1, 4), (5, 8)]),
    ([], []),
]


@pytest.mark.parametrize(("inner", "raw"), LOWERED)
def test_what_was_found_is_lowered_in_its_order(
    inner: list[tuple[int, int]], raw: list[tuple[int, int]]
) -> None:
    placed = list(lower([found(start, end) for start, end in inner], view(), 100))
    assert spans(placed) == [(start + 100, end + 100) for start, end in raw]


def test_edits_are_lowered_together() -> None:
    items: list[Outcome] = [found(1, 2), Edit(1, 2, b"x"), found(2, 3), Edit(2, 2, b"y")]
    assert edits(lower(items, view(), 100)) == [Edit(101, 104, b"<xy>")]


@pytest.mark.parametrize("overlap", [False, True])
def test_time_is_linear(overlap: bool) -> None:  # noqa: FBT001
    """A note on each reference of a document in UTF-16, as of a late base element."""

    def make(size: int) -> tuple[View, list[Outcome]]:
        references: list[Outcome] = [found(at, at + 1) for at in range(0, size, 2)]
        return utf_16("xé" * size), [*references, *references] if overlap else references

    def run(case: tuple[View, list[Outcome]]) -> None:
        assert len(list(lower(case[1], case[0], 0))) == len(case[1])

    assert_linear_from_10_ms(run, make)


def test_a_view_is_made_only_where_something_needs_it() -> None:
    def no_view() -> View:
        raise AssertionError

    items: list[Outcome] = [found(0, 1), Edit(0, 0, b"http://h/")]
    assert edits(lower_plain(items, plain_in_quotes, no_view, 5)) == [Edit(5, 5, b"http://h/")]
    items = [Edit(0, 0, b"'")]
    assert edits(lower_plain(items, plain_in_quotes, view, 5)) == [Edit(5, 5, b"<'>")]


@pytest.mark.parametrize("step_back_at", [None, 0, 1500, 2999])
def test_findings_in_batches_are_where_they_are_in_one(step_back_at: int | None) -> None:
    raw = b"a%41bc" * 3000
    runs = [Run(at + 1, at + 4, b"A") for at in range(0, len(raw), 6)]
    whole = RunView(raw, lambda _raw: runs, bytes)
    items = [found(4 * at + at % 2, 4 * at + 3) for at in range(3000)]
    if step_back_at is not None:
        items.insert(step_back_at + 1, found(4 * step_back_at + 1, 4 * step_back_at + 2))
    inner = [(item.span.start, item.span.end) for item in items]
    assert spans(lower(items, whole, 7)) == [
        (start // 4 * 6 + (0, 1, 4)[start % 4] + 7, end // 4 * 6 + (0, 0, 4, 5)[end % 4] + 7)
        for start, end in inner
    ]
