"""How the time of a function grows with its input: ratios within one run, never absolute times.

What to mind: choose sizes of which the greater takes 20 ms or more, so that what is linear in it
does not hide the rest. The clock counts processor time; a small input measures the caches. Inputs
are made once, outside of what is timed.
"""

import gc
from collections.abc import Callable
from time import process_time, sleep
from typing import Final, TypeVar

T = TypeVar("T")

# The processor time from which on a comparison says something, in seconds.
_ENOUGH: Final = 0.005

_ATTEMPTS: Final = 5
# Between attempts, in seconds: what else the machine does comes in spells, and takes its caches.
_PAUSE: Final = 0.2

# Linear is 2 for a doubled size and quadratic is 4: this lies between.
LINEAR: Final = 3.0
# Of a size four times as large linear is 4 and quadratic is 16, and less where it begins to show.
_LINEAR_OF_FOUR: Final = 7.0


def _timed(function: Callable[[T], object], value: T) -> float:
    """The processor time of one call, without looking for garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        started = process_time()
        function(value)
        return process_time() - started
    finally:
        if was_enabled:
            gc.enable()


def assert_linear(
    function: Callable[[T], object],
    make: Callable[[int], T],
    sizes: tuple[int, int],
    rounds: int = 5,
) -> None:
    """Fail when the time more than triples from a size to another, which is double it.

    The greater one is timed once at first, the smaller one twice: a machine that is busy with
    something else makes the ratio greater, and only once in a while smaller. A failure is measured
    again, after a pause and with more rounds: quadratic time fails every time.
    """
    small, large = map(make, sizes)
    times = [_timed(function, small), _timed(function, large), _timed(function, small)]
    if times[1] > LINEAR * min(times[0], times[2]):
        _insist(function, (small, large), LINEAR, rounds)


def _insist(function: Callable[[T], object], pair: tuple[T, T], most: float, rounds: int) -> None:
    """Fail when each of some attempts says that the second takes more than `most` times the first.

    Rounds are interleaved, so that a slow spell of the machine falls on both.
    """
    small, large = pair
    for attempt in range(1, _ATTEMPTS):
        times = [(_timed(function, small), _timed(function, large))
                 for _ in range(min(attempt, 3) * rounds)]  # fmt: skip
        before, after = map(min, zip(*times, strict=True))
        if after <= most * before:
            return
        sleep(attempt * _PAUSE)
    raise AssertionError(f"the time grows by {after / before:.1f}, and may by {most}")


# What takes less than 5 ms for so much is not quadratic, and no clock says more about it.
_GREATEST: Final = 1 << 19


def assert_linear_from_10_ms(
    function: Callable[[T], object], make: Callable[[int], T], start: int = 1 << 8
) -> None:
    """Compare the first size that takes 5 ms with one four times as large: from 10 ms upward."""
    size = start
    while size <= _GREATEST:
        value = make(size)
        before = _timed(function, value)
        if before >= _ENOUGH:  # the first call of all may load and compile things
            before = min(before, _timed(function, value))
        if before >= _ENOUGH:
            large = make(size * 4)
            if _timed(function, large) > _LINEAR_OF_FOUR * before:
                _insist_on_some(function, make, size)
            return
        size *= 2


def _insist_on_some(function: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    """Fail when the time grows too much from each of three sizes to its fourfold.

    One may lie in a cache that its fourfold leaves; what is quadratic grows the more.
    """
    for size_ in (size, size * 2, size * 4):
        try:
            _insist(function, (make(size_), make(size_ * 4)), _LINEAR_OF_FOUR, rounds=3)
        except AssertionError:
            if size_ > size * 2:
                raise
        else:
            return
