"""The table of links as Arrow batches, for Parquet and for Spark; needs the extra `warc`.

What repeats is dictionary-encoded, as Parquet stores it. Arrays are made of buffers, without
`pyarrow.array`, which imports pandas where that is installed.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pyarrow as pa

from relbase.warc.rows import LinkRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.containers.warc import Fault

    _Values = Sequence[Any]

# Rows in a batch, which is a group of rows in Parquet: some 4 MB. Larger groups take more memory,
# and no less space.
BATCH: Final = 20_000
# A batch is full with this many characters of text, too: a reference may be as long as its page.
MAX_TEXT: Final = 1 << 24
# This many rows are added at a time.
_PIECE: Final = 256

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


class Columns:
    """A batch that is being built.

    Args:
        schema: of numbers, texts, and texts with a dictionary of int32.
        most: how many rows make a batch.

    >>> columns = Columns(pa.schema([("a", pa.string()), ("b", pa.int16())]), 2)
    >>> [batch.to_pylist() for batch in columns.add([("x", 1), (None, None), ("z", 3)])]
    [[{'a': 'x', 'b': 1}, {'a': None, 'b': None}]]
    >>> columns.take().to_pylist()
    [{'a': 'z', 'b': 3}]
    """

    __slots__ = ("_columns", "_most", "_schema", "_size")

    def __init__(self, schema: pa.Schema, most: int) -> None:
        self._schema = schema
        self._most = most
        self._begin()

    def _begin(self) -> None:
        self._size = 0
        self._columns: list[list[Any]] = [[] for _ in self._schema]

    def add(self, rows: Iterable[_Values]) -> Iterator[pa.RecordBatch]:
        """Add rows, and yield the batches that are full."""
        gathered = iter(rows)
        while piece := list(islice(gathered, min(_PIECE, self._most - len(self)))):
            added = list(zip(*piece, strict=True))
            for column, type_, values in zip(self._columns, self._schema.types, added, strict=True):
                column.extend(values)
                if type_ not in _CODES:
                    kept = values if type_ == pa.string() else {*values}
                    self._size += sum(map(len, filter(None, kept)))
            if len(self) >= self._most or self._size > MAX_TEXT:
                yield self.take()

    def __len__(self) -> int:
        return len(self._columns[0])

    def take(self) -> pa.RecordBatch:
        """Return what has been added as a batch, and begin another."""
        arrays = list(map(_made, self._schema.types, self._columns))
        self._begin()
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


# The codes of `array` for the numbers of Arrow.
_CODES: Final = {pa.int16(): "h", pa.int32(): "i", pa.int64(): "q"}


def _made(type_: pa.DataType, values: _Values) -> pa.Array:
    nulls = None
    if None in values:  # a bit for each value, the first the lowest
        bits = "".join(["0" if value is None else "1" for value in reversed(values)])
        nulls = pa.py_buffer(int(bits, 2).to_bytes(len(values) // 8 + 1, "little"))
    if type_ in _CODES:
        return _numbers(type_, values if nulls is None else [one or 0 for one in values], nulls)
    texts = values if nulls is None else [one or "" for one in values]
    if type_ == pa.string():
        return _texts(texts, nulls)
    known = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    numbers = _numbers(pa.int32(), map(known.__getitem__, texts), nulls)
    return pa.DictionaryArray.from_arrays(numbers, _texts([*known], None))


def _numbers(type_: pa.DataType, values: Iterable[int], nulls: pa.Buffer | None) -> pa.Array:
    numbers = array(_CODES[type_], values)
    return pa.Array.from_buffers(type_, len(numbers), [nulls, pa.py_buffer(numbers)])


def _texts(values: Sequence[str], nulls: pa.Buffer | None) -> pa.Array:
    joined = "".join(values)
    is_ascii = joined.isascii()
    pieces = values if is_ascii else [*map(_utf8, values)]
    data = joined.encode() if is_ascii else b"".join(pieces)  # type: ignore[arg-type]
    ends = array("i", accumulate(map(len, pieces), initial=0))
    buffers = [nulls, pa.py_buffer(ends), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.string(), len(values), buffers)


def _utf8(text: str) -> bytes:
    """A text as a table holds it: bytes that are not UTF-8, carried as surrogates, are U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode()
