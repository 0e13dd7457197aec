"""The search for superlinear time: what it finds, and that every call reads what it makes."""

from collections.abc import Callable
from itertools import islice
from random import Random

import pytest
from units import CALLS, LEAST, Unit, factors, units


@pytest.mark.parametrize(
    ("seconds", "count"),
    [
        (lambda size: size / 1e6, 0),
        (lambda size: size * size / 1e10, 2),
        (lambda size: size**1.5 / 1e8, 2),
        (lambda size: size / 1e6 if size < 3 * LEAST else size / 1e5, 0),  # a step
        (lambda _size: 0.0, 0),
    ],
)
def test_factors(seconds: Callable[[int], float], count: int) -> None:
    unit = Unit("html", b"", b"x")
    assert len(factors(unit, lambda data, _kind: seconds(len(data)))) == count


def test_a_number_grows_in_each_unit() -> None:
    assert Unit("html", b"<p>", b"%d%").made(15) == b"<p>0%1%"


def test_every_call_reads_every_kind() -> None:
    made = list(islice(units(Random(1)), 60))
    assert {unit.kind for unit in made} == set(CALLS)
    for unit in made:
        for seconds in CALLS[unit.kind].values():
            seconds(unit.made(500), unit.kind)
