"""The table of links as Arrow batches, for Parquet and for Spark; needs the extra `warc`.

Strategy: rows are gathered and turned into columns together. What repeats is dictionary-encoded, as
Parquet stores it: of a crawl that is all but the references and what they resolve to.

To mind: text of an archive may hold bytes that are not UTF-8, carried as surrogates. A table holds
UTF-8, so they become U+FFFD there.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from relbase.warc.rows import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.containers.warc import Fault

# Rows in a batch. As tuples they take twenty times the memory that they take as columns.
BATCH: Final = 20_000

REPEATED: Final = pa.dictionary(pa.int32(), pa.string())
_TYPES: Final = {
    "offset": pa.int64(),
    "status": pa.int16(),
    "reference": pa.string(),
    "url": pa.string(),
    "start": pa.int32(),
    "end": pa.int32(),
}
SCHEMA: Final = pa.schema([(name, _TYPES.get(name, REPEATED)) for name in Row._fields])
# As other engines take it: without dictionaries.
PLAIN: Final = pa.schema([(name, _TYPES.get(name, pa.string())) for name in Row._fields])


class ErrorRow(NamedTuple):
    """A row of the table of errors: what of an archive was not read.

    Args:
        warc: the archive, as its reader calls it.
        offset: of the record in the archive; of a compressed archive, its member.
        record_id: of the record, "" when it is not known.
        page: the URL of the record, "" when it is not known.
        trouble: why, in one word.
        text: why, a sentence.
    """

    warc: str
    offset: int
    record_id: str
    page: str
    trouble: str
    text: str


ERRORS: Final = pa.schema(
    [(name, pa.int64() if name == "offset" else pa.string()) for name in ErrorRow._fields]
)


def error_row(fault: Fault, warc: str) -> ErrorRow:
    """Return the row of the table of errors for a fault of an archive."""
    return ErrorRow(warc, fault.offset, fault.record_id, fault.url, fault.trouble.value, fault.text)


def batches(
    rows: Iterable[Row] | Iterable[ErrorRow], schema: pa.Schema = SCHEMA, size: int = BATCH
) -> Iterator[pa.RecordBatch]:
    """Yield rows as Arrow batches.

    Args:
        rows: of links or of errors.
        schema: `SCHEMA` or `PLAIN` for links, `ERRORS` for errors.
        size: how many rows make a batch.

    >>> [batch.num_columns for batch in batches([Row(*"abcdefghijklmnop", 1, 2)._replace(
    ...     offset=0, status=200)])]
    [18]
    """
    gathered: Iterator[Sequence[Any]] = iter(rows)
    while (batch := _batch(list(islice(gathered, size)), schema)) is not None:
        yield batch


def _batch(rows: list[Sequence[Any]], schema: pa.Schema) -> pa.RecordBatch | None:
    """The batch of some rows, None of none; no row outlives it."""
    if not rows:
        return None
    columns = zip(*rows, strict=True)
    arrays = [_array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(column: Sequence[Any], type_: pa.DataType) -> pa.Array:
    is_repeated = pa.types.is_dictionary(type_)
    try:
        array = pa.array(column, pa.string() if is_repeated else type_)
    except UnicodeEncodeError:
        array = pa.array([_text(value) for value in column], pa.string())
    return array.dictionary_encode() if is_repeated else array


def _text(value: str | None) -> str | None:
    return (
        None
        if value is None
        else value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    )
