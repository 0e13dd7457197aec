"""Names to offsets: as a dictionary would have them, in a fraction of its memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from relbase.warc.places import Places


@given(st.lists(st.tuples(st.text(max_size=3), st.integers(0, 2**63))))
def test_the_first_offset_of_a_name_is_found(pairs: list[tuple[str, int]]) -> None:
    places = Places()
    known: dict[str, int] = {}
    for name, offset in pairs:
        places.add(name, offset)
        known.setdefault(name, offset)
    assert all(places.find(name) == offset for name, offset in known.items())
    assert places.find("not there") is None


def test_many_names_take_little_memory() -> None:
    count = 50_000
    tracemalloc.start()
    places = Places()
    for number in range(count):
        places.add(str(number), number)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert [places.find(str(number)) for number in range(0, count, 997)] == list(
        range(0, count, 997)
    )
    assert kept < 50 * count
