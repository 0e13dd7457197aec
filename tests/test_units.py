"""The search for superlinear time: what it finds, and that every call reads what it makes."""

from collections.abc import Callable
from itertools import islice
from random import Random

import pytest
from pairs import KINDS, lengths, limits, pairs
from test_growth import numbered
from units import CALLS, LEAST, Unit, factors, units

import relbase
from relbase.bases import layers
from relbase.session.options import as_kind


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


def test_a_new_limit_brings_its_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {1 << 12, 1 << 14, layers.MAX_BASE} <= set(limits())
    before = pairs("html", numbered)
    monkeypatch.setattr(layers, "MAX_NEW", 3000, raising=False)
    assert any(2900 < length < 3000 for length in lengths())
    assert 3001 in lengths()
    assert len(pairs("html", numbered)) == len(before) * len(lengths()) // (len(lengths()) - 2)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_long_is_long_and_what_is_often_has_links(kind: str) -> None:
    for name, make in pairs(kind, numbered).items():
        document = make(400)
        least = int(name.split()[2])
        assert least - 1 <= max(map(len, document.split(b"//")))
        assert [*relbase.links(document, kind=as_kind(kind), url="http://u.example/")], name
