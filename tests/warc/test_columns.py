"""Columns: what Arrow's own conversion makes of the same rows, whatever they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pyarrow as pa
from hypothesis import example, given
from hypothesis import strategies as st

from relbase.warc import columns as module
from relbase.warc.columns import Columns

if TYPE_CHECKING:
    import pytest

SCHEMA: Final = pa.schema(
    [
        ("text", pa.string()),
        ("repeated", pa.dictionary(pa.int32(), pa.string())),
        ("small", pa.int16()),
        ("large", pa.int64()),
    ]
)
Rows = list[tuple[str | None, str | None, int | None, int | None]]

texts = st.none() | st.sampled_from(["", "a", "é", "\U0001f600"]) | st.text(max_size=5)
numbers = st.none() | st.integers(-(1 << 15), (1 << 15) - 1)
all_rows = st.lists(st.tuples(texts, texts, numbers, numbers), max_size=40)


@given(rows=all_rows, most=st.integers(1, 50))
@example(rows=[(None, None, None, None)] * 9, most=8)
@example(rows=[("a", None, 1, 2)] * 8, most=8)
def test_batches_are_those_of_arrow(rows: Rows, most: int) -> None:
    columns = Columns(SCHEMA, most)
    batches = list(columns.add(rows))
    assert {len(batch) for batch in batches} <= {most}
    batches += [columns.take()] if len(columns) else []
    assert len(columns) == 0
    for batch in batches:
        batch.validate(full=True)
    table = pa.Table.from_batches(batches, SCHEMA)
    expected = [dict(zip(SCHEMA.names, row, strict=True)) for row in rows]
    assert table.to_pylist() == pa.Table.from_pylist(expected, SCHEMA).to_pylist()


def test_what_is_added_later_follows() -> None:
    columns = Columns(SCHEMA, 3)
    assert not list(columns.add([("a", "b", 1, 2)]))
    [batch] = columns.add([("c", "b", 3, 4), ("d", "e", 5, 6), ("f", "b", 7, 8)])
    assert batch.column(0).to_pylist() == ["a", "c", "d"]
    assert batch.column(1).dictionary.to_pylist() == ["b", "e"]
    assert columns.take().to_pylist() == [{"text": "f", "repeated": "b", "small": 7, "large": 8}]


def test_a_batch_is_full_of_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TEXT", 1000)
    columns = Columns(SCHEMA, 1 << 30)
    rows = [("x" * 10, None, None, None)] * 1000
    found = list(columns.add(rows))
    assert len(found) > 1
    assert sum(map(len, found)) + len(columns) == len(rows)


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    columns = Columns(SCHEMA, 9)
    assert not list(columns.add([("\udce9x", "\udcff", None, None), ("é", "é", 1, 1)]))
    made = columns.take().to_pylist()
    assert [(row["text"], row["repeated"]) for row in made] == [("\ufffdx", "\ufffd"), ("é", "é")]
