"""Splicing: the bytes outside of the edits stay, and edits that do not fit are refused."""

from pathlib import Path

import pytest
from rows import cases, edits

from relbase.edit import Edit, splice

DATA = b"<a href=x>"
TABLES = Path(__file__).with_name("edit.txt")


@cases(TABLES, "spliced", expected=bytes, edits=edits)
def test_splice(expected: bytes, edits: list[Edit]) -> None:
    assert splice(DATA, edits) == expected
    assert splice(DATA, iter(edits)) == expected


@pytest.mark.parametrize("edits", [[], ()])
def test_no_edit_gives_the_same_object(edits: list[Edit]) -> None:
    assert splice(DATA, edits) is DATA


@cases(TABLES, "refused", edits=edits)
def test_edits_that_do_not_fit_are_refused(edits: list[Edit]) -> None:
    with pytest.raises(ValueError, match="overlaps its neighbour or leaves the data"):
        splice(DATA, edits)


def test_many_edits_are_all_applied() -> None:
    count = 20_000
    edits = [Edit(at, at + 1, b"%d," % at) for at in range(0, 2 * count, 2)]
    assert splice(b"ab" * count, edits) == b"".join(b"%d,b" % at for at in range(0, 2 * count, 2))
