"""The table of links: what Arrow's own conversion makes of the rows, and the table of errors."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from archives import http, pages_of, response
from hypothesis import example, given
from hypothesis import strategies as st

pytest.importorskip("pyarrow", reason="pyarrow: extra `ci`")
import pyarrow as pa
from pyarrow import parquet

import relbase
from relbase import Policy, Profile
from relbase.scan.batches import utf_8
from relbase.warc import Fault, LinkRow, Page, Trouble, link_rows, table
from relbase.warc.rows import USUAL, PackedRows, have_texts, packed_rows, selector
from relbase.warc.table import ERRORS, SCHEMA, Columns, error_row, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN: Final = schema_of(texts=pa.string())
PAGE: Final = http(b"<base href=/b/><a href=x>\xc3\xa9</a><img src='//[' srcset='y 2x'><a href=#f>")


def rows() -> Iterator[LinkRow]:
    return link_rows(pages_of(response(1, "http://h/d/", PAGE))[0], "a.warc")


def test_a_row_tells_what_which_why_and_where() -> None:
    first, second, *_ = rows()
    assert (first.element, first.reference, first.base) == ("base", "/b/", "http://h/d/")
    assert second == LinkRow(
        "a.warc", 0, second.record_id, "http://h/d/", "2026-01-02T03:04:05Z", 200, "", "a", "href",
        "url", "x", "http://h/b/x", "embedded", "http://h/b/", "<base href> at 1:12", "rewritten",
        23, 24, "",
    )  # fmt: skip


def test_the_columns_are_the_fields_of_a_row() -> None:
    assert SCHEMA.names == PLAIN.names == list(USUAL) == list(LinkRow._fields[:-2])
    assert len(SCHEMA) == 19
    assert not any(pa.types.is_dictionary(field.type) for field in PLAIN)


def test_a_table_survives_parquet() -> None:
    file = io.BytesIO()
    columns = Columns(SCHEMA, 100)
    assert not list(columns.add(map(selector(), rows())))
    made = pa.Table.from_batches([columns.take()])
    parquet.write_table(made, file, compression="zstd")
    assert parquet.read_table(file).to_pylist() == made.to_pylist()


def test_errors_are_a_table() -> None:
    fault = Fault(7, "<urn:x>", "http://h/", Trouble.CUT, "it breaks off")
    columns = Columns(ERRORS, 1)
    [batch] = columns.add([error_row(fault, "a.warc")])
    assert batch.to_pylist() == [
        {
            "warc": "a.warc",
            "offset": 7,
            "record_id": "<urn:x>",
            "page": "http://h/",
            "trouble": "cut",
            "text": "it breaks off",
        }
    ]


# ---- columns

ALL_TYPES: Final = pa.schema(
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
    columns = Columns(ALL_TYPES, most)
    batches = list(columns.add(rows))
    assert {len(batch) for batch in batches} <= {most}
    batches += [columns.take()] if len(columns) else []
    assert len(columns) == 0
    for batch in batches:
        batch.validate(full=True)
    made = pa.Table.from_batches(batches, ALL_TYPES)
    expected = [dict(zip(ALL_TYPES.names, row, strict=True)) for row in rows]
    assert made.to_pylist() == pa.Table.from_pylist(expected, ALL_TYPES).to_pylist()


def test_what_is_added_later_follows() -> None:
    columns = Columns(ALL_TYPES, 3)
    assert not list(columns.add([("a", "b", 1, 2)]))
    [batch] = columns.add([("c", "b", 3, 4), ("d", "e", 5, 6), ("f", "b", 7, 8)])
    assert batch.column(0).to_pylist() == ["a", "c", "d"]
    assert batch.column(1).dictionary.to_pylist() == ["b", "e"]
    assert columns.take().to_pylist() == [{"text": "f", "repeated": "b", "small": 7, "large": 8}]


def test_a_batch_is_full_of_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MAX_TEXT", 1000)
    columns = Columns(ALL_TYPES, 1 << 30)
    rows = [("x" * 10, None, None, None)] * 1000
    found = list(columns.add(rows))
    assert len(found) > 1
    assert sum(map(len, found)) + len(columns) == len(rows)


# ---- rows in columns

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
PAGES: Final = [
    *(path.read_bytes() for path in sorted(FIXTURES.glob("h[to]*/*.html"))),
    b"".join(b"<x-%d href='a%d'><X\xc3\x89-%d href=&#97;>" % ((n,) * 3) for n in range(20_000)),
    b"<a href='/?a=1&copy=2&amp;b&amp=3&copy_=4&copyx=5&1=2'><a href='/?&#x=6'><a href='/?a&'>",
    b"<base href='http://h/" + b"d" * (1 << 15) + b"/'>" + b"<a href=x><a href=#k>" * 700,
    b"<a href='\xff/'><a href='/\xe9&amp;\xe9'><a href=#><a href='#\xe9'><base href=/d/>",
]


@pytest.mark.parametrize("most", [3, 1000])
def test_rows_in_columns_are_those_of_links(most: int) -> None:
    columns = Columns(SCHEMA, most)
    policies = [Policy(), Policy(extended=True, keep_fragments=True)]
    expected: list[tuple[Any, ...]] = []
    select = selector()
    batches: list[pa.RecordBatch] = []
    for number, body in enumerate(PAGES):
        how: Any = {"profile": tuple(Profile)[number % 3], "policy": policies[number // 2 % 2]}
        fields = (("content-type", "text/html; charset=windows-1252"),) * (number % 5 == 0)
        page = Page(number, "<urn:x>", "http://h/d/?q", "", None, fields, body, "", ())
        expected += map(select, link_rows(page, "a.warc", **how))
        batches += columns.add(map(select, packed_rows(page, "a.warc", **how)))
    batches.append(columns.take())
    for batch in batches:
        batch.validate(full=True)
        assert sum(map(len, batch.column("element").dictionary.to_pylist())) < 1 << 18
    found = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert found == [
        tuple(utf_8(one).decode() if isinstance(one, str) else one for one in row)
        for row in expected
    ]


CHOSEN: Final = ["host", "url", "start", "host", "reference", "element", "base", "outcome"]


@pytest.mark.parametrize("data_urls", [True, False])
@pytest.mark.parametrize("names", [CHOSEN, ["base"], ["url"], [*LinkRow._fields]])
def test_columns_are_chosen_of_rows_in_columns(names: list[str], data_urls: bool) -> None:  # noqa: FBT001
    data = (
        "<a href='{0}'><img src='data:image/png;base64,x'><a href=http://\xc9.H:8/\xe9><a href=x>"
    )
    odd = "<img src=' DATA:,x'><a href='http://u@h//'><a href=http://[::1]/>"
    odd += "<a href=data:x/y><a href=>"
    select = selector(names, data_urls=data_urls)
    many: list[LinkRow | PackedRows] = []
    expected: list[tuple[object, ...]] = []
    for body in (data + odd, data.replace("data:", "http:"), odd.replace("ta:", "te:")):
        page = Page(1, "<urn:x>", "http://h/d/?q", "", None, (), body.encode(), "", ())
        many += packed_rows(page, "a.warc", profile=Profile.RFC1808, policy=Policy())
        expected += map(select, link_rows(page, "a.warc"))
    assert relbase.scanner == "exact" or any(isinstance(one, PackedRows) for one in many)
    columns = Columns(schema_of(names), 1000)
    assert not list(columns.add(map(select, many)))
    batch = columns.take()
    batch.validate(full=True)
    assert list(zip(*(one.to_pylist() for one in batch.columns), strict=True)) == expected


def test_texts_are_columns_if_they_are_named() -> None:
    body = b"<a href=x rel='a  b'>One <b>t\xe9xt</b></a><img src=y>"
    page = Page(1, "<urn:x>", "http://h/", "", None, (), body, "", ())
    names = ["url", "text", "rel", "host"]
    assert have_texts(names)
    assert not have_texts(USUAL)
    columns = Columns(schema_of(names), 1000)
    how: Any = {"profile": Profile.RFC1808, "policy": Policy(), "texts": True}
    assert not list(columns.add(map(selector(names), packed_rows(page, "a.warc", **how))))
    assert [tuple(row.values()) for row in columns.take().to_pylist()] == [
        ("http://h/x", "One t\xe9xt", "a b", "h"),
        ("http://h/y", "", "", "h"),
    ]


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    columns = Columns(ALL_TYPES, 9)
    assert not list(columns.add([("\udce9x", "\udcff", None, None), ("é", "é", 1, 1)]))
    made = columns.take().to_pylist()
    assert [(row["text"], row["repeated"]) for row in made] == [("\ufffdx", "\ufffd"), ("é", "é")]
