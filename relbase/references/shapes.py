"""Plain references by their shapes, and what the compiled scanner makes of them."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class Shape(IntEnum):
    """A plain reference: what it resolves to ends in it as it is written, but for its dots.

    The values are those of _scanner.c.
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

# Of each of many plain references whether it is to stay as it is: a true value. Text is what one
# says as it is written, and bytes have to be decoded for that.
KeepsEach: TypeAlias = "Callable[[list[str | bytes]], Iterable[object]]"

# Called with a text, where to begin, where to end and whether that is the inside of a noscript, or
# of a conditional comment, it returns what it found on the way to the next place that has to be
# looked at, and that place, -1 when there is none.
Scan: TypeAlias = "Callable[[bytes, int, int, bool, bool], tuple[Any, int]]"
