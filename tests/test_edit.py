"""Splicing: the bytes outside of the edits stay, and edits that do not fit are refused."""

import pytest

from relbase.edit import Edit, splice

DATA = b"<a href=x>"

SPLICED = [
    ([], DATA),
    ([Edit(8, 8, b"http://a/")], b"<a href=http://a/x>"),  # an insertion
    ([Edit(8, 9, b"y")], b"<a href=y>"),
    ([Edit(8, 9, b"")], b"<a href=>"),
    ([Edit(0, 0, b"A"), Edit(10, 10, b"Z")], b"A<a href=x>Z"),  # both ends
    ([Edit(0, 10, b"")], b""),
    ([Edit(0, 4, b"1"), Edit(4, 8, b"2")], b"12x>"),  # touching
    ([Edit(8, 8, b"1"), Edit(8, 8, b"2")], b"<a href=12x>"),  # at one place, in their order
    ([Edit(8, 9, b""), Edit(9, 9, b"y")], b"<a href=y>"),
    ([Edit(8, 8, b"y"), Edit(8, 9, b"")], b"<a href=y>"),
]


@pytest.mark.parametrize(("edits", "expected"), SPLICED)
def test_splice(edits: list[Edit], expected: bytes) -> None:
    assert splice(DATA, edits) == expected
    assert splice(DATA, iter(edits)) == expected


@pytest.mark.parametrize("edits", [[], ()])
def test_no_edit_gives_the_same_object(edits: list[Edit]) -> None:
    assert splice(DATA, edits) is DATA


REFUSED = [
    [Edit(5, 4, b"")],  # ends before it starts
    [Edit(-1, 4, b"")],
    [Edit(0, 11, b"")],  # beyond the data
    [Edit(11, 11, b"")],
    [Edit(4, 6, b""), Edit(5, 7, b"")],  # overlapping
    [Edit(4, 6, b""), Edit(4, 6, b"")],
    [Edit(6, 8, b""), Edit(0, 2, b"")],  # not sorted
]


@pytest.mark.parametrize("edits", REFUSED)
def test_edits_that_do_not_fit_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps its neighbour or leaves the data"):
        splice(DATA, edits)


def test_many_edits_are_all_applied() -> None:
    count = 20_000
    edits = [Edit(at, at + 1, b"%d," % at) for at in range(0, 2 * count, 2)]
    assert splice(b"ab" * count, edits) == b"".join(b"%d,b" % at for at in range(0, 2 * count, 2))
