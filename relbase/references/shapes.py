"""Plain references by their shapes, and what those who pass over HTML make of them."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from relbase.edit import Edit


class Shape(IntEnum):
    """A plain reference: what it resolves to ends in it as it is written, but for its dots.

    The values are the groups of the regex, empty ones where the reference begins.
    """

    ROOT = 6  # /path
    FRAGMENT = 7  # #fragment
    QUERY = 8  # ?query
    NETWORK = 9  # //host/path
    PATH = 10  # path
    EMPTY = 11  # nothing: the base itself
    HERE = 12  # ./path; the shapes after it are ../path, ../../path, ...


# One of each shape, in which any other of that shape could stand.
SAMPLES: Final = {
    Shape.ROOT: "/x",
    Shape.FRAGMENT: "#x",
    Shape.QUERY: "?x",
    Shape.NETWORK: "//x/",
    Shape.PATH: "x",
    Shape.EMPTY: "",
}

# So many levels up are shapes of their own, HERE + 1, HERE + 2, ...: documentation goes up by five.
MAX_UP: Final = 8
# What references of these shapes begin with; `x` or nothing follows.
DOTS: Final = {
    int(Shape.HERE): "./",
    **{Shape.HERE + levels: "../" * levels for levels in range(1, MAX_UP + 1)},
}


# What becomes of a reference of each shape: the edit, in offsets of the reference; nothing when it
# stays; None when it has to be looked at. By the number of the shape.
Becomes: TypeAlias = "tuple[tuple[int, int, bytes] | tuple[()] | None, ...]"

# Whether a reference of plain shape is to stay as it is, asked with its bytes as they are written.
Keeps: TypeAlias = "Callable[[bytes], bool]"
# Likewise of each of many, where text is what a reference says as it is written; a true value means
# that it is to stay.
KeepsEach: TypeAlias = "Callable[[list[str | bytes]], Iterable[object]]"

# Called with a text, where to begin, where to end and whether that is the inside of a noscript, or
# of a conditional comment, it returns the edits on the way to the next place that has to be looked
# at, and that place, -1 when there is none.
Skim: TypeAlias = "Callable[[bytes, int, int, bool, bool], tuple[list[Edit], int]]"
