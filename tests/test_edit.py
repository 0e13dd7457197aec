"""Splicing: the bytes outside of the edits stay, and edits that do not fit are refused."""

import pickle
from pathlib import Path

import pytest
from rows import cases, edits

import relbase
from relbase.edit import Edit, PackedEdits, are_dense, splice

DATA = b"<a href=x>"
TABLES = Path(__file__).with_name("edit.txt")


@cases(TABLES, "spliced", expected=bytes, edits=edits)
def test_splice(expected: bytes, edits: list[Edit]) -> None:
    assert splice(DATA, edits) == expected
    assert splice(DATA, iter(edits)) == expected
    assert splice(DATA, [Edit(start + 5, end + 5, new) for start, end, new in edits], 5) == expected


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


@cases(TABLES, "spliced", expected=bytes, edits=edits)
def test_packed_edits_are_a_sequence_like_a_tuple(expected: bytes, edits: list[Edit]) -> None:
    packed, made = PackedEdits(edits[:1]), tuple(edits)
    packed.extend(edits[1:])
    assert (len(packed), tuple(packed), bool(packed)) == (len(made), made, bool(made))
    assert [packed[at] for at in range(-len(made), len(made))] == [*made, *made]
    assert (packed[1:], packed[::-1], hash(packed)) == (made[1:], made[::-1], hash(made))
    assert packed == made == packed == pickle.loads(pickle.dumps(packed))
    assert packed != (*made, Edit(9, 9, b""))
    assert packed != PackedEdits([*edits, Edit(9, 9, b"")])
    assert splice(DATA, packed) == expected
    assert repr(packed) == f"PackedEdits({len(made)} edits)"
    for at in (len(made), -len(made) - 1):
        with pytest.raises(IndexError):
            packed[at]


def test_edits_that_take_more_than_their_text_are_packed() -> None:
    count = 270_000
    data = b"<a href=y ping='" + b"x ../x " * (count // 2) + b"'><img src=z>"
    result = relbase.rewrite(data, url="http://h/d/e/")
    assert type(result.edits) is PackedEdits
    assert (len(result.edits), result.edits[-1].new) == (count + 2, b"http://h/d/e/")
    inside = b"http://h/d/e/x http://h/d/x " * (count // 2)
    assert result.data == b"<a href=http://h/d/e/y ping='%s'><img src=http://h/d/e/z>" % inside
    assert splice(data, result.edits) == result.data


def test_only_very_many_edits_close_to_each_other_are_dense() -> None:
    many = [Edit(0, 0, b"x")] * (1 << 18)
    assert not are_dense(many)
    for start, expected in ((8 * len(many) + 7, True), (8 * len(many) + 8, False)):
        assert are_dense([*many, Edit(start, start, b"x")]) == expected
