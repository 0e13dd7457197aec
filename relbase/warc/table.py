"""The table of links as Arrow batches, for Parquet and for Spark; needs the extra `warc`.

Strategy: rows become columns as they come (`columns`). What repeats is dictionary-encoded, as
Parquet stores it: of a crawl that is all but the references and what they resolve to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import pyarrow as pa

from relbase.warc.rows import LinkRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from relbase.containers.warc import Fault

# Rows in a batch, which is a group of rows in Parquet: some 4 MB. Larger groups take more memory,
# and no less space.
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


def schema_of(columns: Sequence[str] = LinkRow._fields, texts: pa.DataType = REPEATED) -> pa.Schema:
    """Return the schema of columns, with a type for what repeats; other engines take `pa.string()`.

    >>> schema_of(["host", "start"], pa.string()).types
    [DataType(string), DataType(int32)]
    """
    return pa.schema([(name, _TYPES.get(name, texts)) for name in columns])


SCHEMA: Final = schema_of()


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
