"""The table of links: 19 columns, dictionaries where values repeat, and the table of errors."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from archives import http, response
from pyarrow import parquet

from relbase.warc import Fault, LinkRow, Page, Trouble, link_rows, pages
from relbase.warc.columns import Columns
from relbase.warc.table import ERRORS, SCHEMA, error_row, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PLAIN: Final = schema_of(texts=pa.string())
PAGE: Final = http(b"<base href=/b/><a href=x>\xc3\xa9</a><img src='//[' srcset='y 2x'><a href=#f>")


def rows() -> Iterator[LinkRow]:
    [page] = pages([response(1, "http://h/d/", PAGE)])
    assert isinstance(page, Page)
    return link_rows(page, "a.warc")


def test_a_row_tells_what_which_why_and_where() -> None:
    first, second, *_ = rows()
    assert (first.element, first.reference, first.base) == ("base", "/b/", "http://h/d/")
    assert second == LinkRow(
        "a.warc", 0, second.record_id, "http://h/d/", "2026-01-02T03:04:05Z", 200, "", "a", "href",
        "url", "x", "http://h/b/x", "embedded", "http://h/b/", "<base href> at 1:12", "rewritten",
        23, 24, "",
    )  # fmt: skip


def test_the_columns_are_the_fields_of_a_row() -> None:
    assert SCHEMA.names == PLAIN.names == list(LinkRow._fields)
    assert len(SCHEMA) == 19
    assert not any(pa.types.is_dictionary(field.type) for field in PLAIN)


def test_a_table_survives_parquet() -> None:
    file = io.BytesIO()
    columns = Columns(SCHEMA, 100)
    assert not list(columns.add(rows()))
    table = pa.Table.from_batches([columns.take()])
    parquet.write_table(table, file, compression="zstd")
    assert parquet.read_table(file).to_pylist() == table.to_pylist()


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
