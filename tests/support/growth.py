"""How the time of a function grows with its input: ratios within one run, never absolute times.

In: a function and a maker of inputs by size. Out: the ratios t(size i+1) / t(size i). Rounds are
interleaved over the sizes, so that a slow spell of the machine falls on all of them, and the
minimum of the rounds counts. Inputs are made once, outside of what is timed.

What to mind: choose sizes at which one call takes 10 ms or more, each double the one before. The
clock counts processor time; a smaller input measures the caches.
"""

from __future__ import annotations

import gc
from itertools import pairwise
from time import process_time
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")

# The processor time from which on a comparison says something, in seconds.
_ENOUGH: Final = 0.01

_ATTEMPTS: Final = 4
_FIRST: Final = 2  # rounds

# Linear is 2 for a doubled size and quadratic is 4: this lies between.
LINEAR: Final = 3.0
# Of a size four times as large linear is 4 and quadratic is 16: further apart.
_LINEAR_OF_FOUR: Final = 8.0


def growth(
    function: Callable[[T], object],
    make: Callable[[int], T],
    sizes: Sequence[int],
    rounds: int = 5,
) -> list[float]:
    """Return how much longer `function(make(size))` takes for each size than for the one before.

    Args:
        function: what is timed.
        make: makes the input of a size.
        sizes: at least two, ascending, each usually double the one before.
        rounds: how often each size is timed; the minimum counts.
    """
    if len(sizes) < 2:
        raise ValueError("give at least two sizes: growth is a ratio")
    inputs = [make(size) for size in sizes]
    best = [float("inf")] * len(inputs)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(rounds):
            for index, value in enumerate(inputs):
                started = process_time()
                function(value)
                best[index] = min(best[index], process_time() - started)
    finally:
        if was_enabled:
            gc.enable()
    return [after / before for before, after in pairwise(best)]


def assert_linear(
    function: Callable[[T], object],
    make: Callable[[int], T],
    sizes: Sequence[int],
    rounds: int = 5,
) -> None:
    """Fail when the time more than triples from one size to the next, which is double it.

    A failure is measured again, with more rounds each time, and between a size and four times as
    much: quadratic time fails every time, a machine that was busy with something else does not. So
    the first time needs no more than two rounds, and nearly always it is the only one.
    """
    most = LINEAR
    for attempt in range(_ATTEMPTS):
        ratios = growth(function, make, sizes, attempt * rounds or _FIRST)
        if max(ratios) <= most:
            return
        first = sizes[0]
        if len(sizes) == 2 and sizes[1] == 2 * first and first > 1:
            sizes, most = (first // 2, first // 2 * 4), _LINEAR_OF_FOUR
    raise AssertionError(f"sizes {tuple(sizes)}: the time grows by {ratios}")


# What takes less than 10 ms for so much is not quadratic, and no clock says more about it.
_GREATEST: Final = 1 << 20


def assert_linear_from_10_ms(
    function: Callable[[T], object], make: Callable[[int], T], start: int = 1 << 12
) -> None:
    """Compare the first size that takes 10 ms with its double.

    Args:
        function: what is timed.
        make: makes the input of a size.
        start: the first size that is tried.
    """
    size = start
    while size <= _GREATEST:
        value = make(size)
        started = process_time()
        function(value)
        if process_time() - started >= _ENOUGH:
            assert_linear(function, make, (size, size * 2), rounds=3)
            return
        size *= 2
