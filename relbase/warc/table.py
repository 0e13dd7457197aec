"""The table of links as Arrow batches, for Parquet and for Spark; needs the extra `warc`.

Values that repeat are dictionary-encoded, as Parquet stores them. Arrays are made from buffers,
since `pyarrow.array` imports pandas if it is installed.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, count, groupby, islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from relbase.scan.batches import utf_8
from relbase.warc.rows import NUMBERED, USUAL, PackedRows

if TYPE_CHECKING:
    from relbase.containers.warc import Fault

_Values = Sequence[Any]
_Bytes = bytes | bytearray | array  # type: ignore[type-arg]

# Rows in a batch, which becomes a row group in Parquet, about 4 MB. Larger groups take more memory
# and save no space.
BATCH: Final = 20_000
# This much text also fills a batch, since a reference may be as long as its page.
MAX_TEXT: Final = 1 << 24
# This many rows are added at a time.
_PIECE: Final = 256

REPEATED: Final = pa.dictionary(pa.int32(), pa.string())
_TYPES: Final = {
    "offset": pa.int64(),
    "status": pa.int16(),
    "start": pa.int32(),
    "end": pa.int32(),
    **dict.fromkeys(("reference", "url", "text"), pa.string()),
}


def schema_of(columns: Sequence[str] = USUAL, texts: pa.DataType = REPEATED) -> pa.Schema:
    """Return the schema of columns; `texts` is the type of those whose values repeat."""
    return pa.schema([(name, _TYPES.get(name, texts)) for name in columns])


SCHEMA: Final = schema_of()

_FAULT: Final = ("warc", "offset", "record_id", "page", "trouble", "text")
ERRORS: Final = pa.schema(
    [(name, pa.int64() if name == "offset" else pa.string()) for name in _FAULT]
)


def error_row(fault: Fault, warc: str) -> tuple[str | int, ...]:
    return (warc, fault.offset, fault.record_id, fault.url, fault.trouble.value, fault.text)


class Columns:
    """Builds batches from rows; packed rows are never divided between batches."""

    def __init__(self, schema: pa.Schema, most: int) -> None:
        self._schema = schema
        self._most = most
        self._made = [(_KINDS.get(field.type, _Numbers), field) for field in schema]
        self._columns: list[_Numbers] = []  # made with the first row

    def add(self, rows: Iterable[_Values | PackedRows]) -> Iterator[pa.RecordBatch]:
        """Add rows, and yield each batch that is full."""
        for are_packed, group in groupby(rows, lambda row: type(row) is PackedRows):
            most = 1 if are_packed else _PIECE
            while piece := list(islice(group, min(most, self._most - len(self)))):
                self._columns = self._columns or [made(field) for made, field in self._made]
                if are_packed:
                    self._add_packed(*piece[0])
                else:
                    for column, values in zip(self._columns, zip(*piece, strict=True), strict=True):
                        column.extend(values)
                if len(self) >= self._most or sum(map(_size, self._columns)) > MAX_TEXT:
                    yield self.take()

    def _add_packed(self, size: int, values: _Values) -> None:
        for column, value in zip(self._columns, values, strict=True):
            if isinstance(value, tuple):
                column.pack(*value)
            elif isinstance(value, list):
                column.extend(value)
            else:
                column.repeat(value, size)

    def __len__(self) -> int:
        return len(self._columns[0].values) if self._columns else 0

    def take(self) -> pa.RecordBatch:
        """Return the rows so far as a batch, and begin another."""
        arrays = [column.made() for column in self._columns]
        self._columns = []
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


# The type codes of `array` for Arrow's types.
_CODES: Final = {pa.int16(): "h", pa.int32(): "i", pa.int64(): "q"}


_size: Final = attrgetter("size")


class _Numbers:
    def __init__(self, field: pa.Field) -> None:
        self.type = field.type if field.type in _CODES else pa.int32()
        self.values = array(_CODES[self.type])
        self.missing: list[int] = []
        self.size = 0  # of the texts
        self.data = bytearray()  # the texts, joined
        self.packed: Sequence[str] = NUMBERED.get(field.name, ())  # that `known` begins with
        self.known = dict(zip(self.packed, count(), strict=False))  # of texts that repeat

    def extend(self, values: _Values) -> None:
        self.values.extend(self.filled(values, 0))

    def filled(self, values: _Values, empty: object) -> _Values:
        if None not in values:
            return values
        self.missing += [len(self.values) + at for at, value in enumerate(values) if value is None]
        return [empty if value is None else value for value in values]

    def repeat(self, value: Any, times: int) -> None:  # noqa: ANN401 (of the column's type)
        if value is None:
            self.missing += range(len(self.values), len(self.values) + times)
        self.values.extend(array(self.values.typecode, [value or 0]) * times)

    def pack(self, numbers: bytes, _what: Any = None) -> None:  # noqa: ANN401
        self.values.frombytes(numbers)

    def made(self) -> pa.Array:
        return _array(self.type, len(self.values), self.missing, self.values)


class _Texts(_Numbers):
    """A column of texts: their sizes, and all of them in UTF-8, joined."""

    def extend(self, values: _Values) -> None:
        sizes, data = _joined(self.filled(values, ""))
        self.pack(sizes.tobytes(), data)

    def pack(self, numbers: bytes, what: Any = None) -> None:  # noqa: ANN401
        self.values.frombytes(numbers)
        self.data += what
        self.size += len(what)

    def made(self) -> pa.Array:
        return _strings(self.values, self.data, self.missing)


class _Repeated(_Numbers):
    """A column of texts that repeat: the index of each in a dictionary."""

    def extend(self, values: _Values) -> None:
        known, texts = self.known, self.filled(values, "")
        self.values.extend([known.setdefault(text, len(known)) for text in texts])
        self.size += sum(map(len, {*texts}))

    def repeat(self, value: Any, times: int) -> None:  # noqa: ANN401
        self.size += len(value)
        self.values.extend(array("i", (self.known.setdefault(value, len(self.known)),)) * times)

    def pack(self, numbers: bytes, what: Any = None) -> None:  # noqa: ANN401
        if what is self.packed:
            self.values.frombytes(numbers)
        else:
            known = [self.known.setdefault(text, len(self.known)) for text in what]
            self.values.extend(map(known.__getitem__, array("i", numbers)))

    def made(self) -> pa.Array:
        numbers = _array(self.type, len(self.values), self.missing, self.values)
        return pa.DictionaryArray.from_arrays(numbers, _strings(*_joined([*self.known])))


def _joined(texts: Sequence[str]) -> tuple[array[int], bytes]:
    """Return the sizes of texts in UTF-8, and all of them, joined."""
    joined = "".join(texts)
    if joined.isascii():
        return array("i", map(len, texts)), joined.encode()
    encoded = [*map(utf_8, texts)]
    return array("i", map(len, encoded)), b"".join(encoded)


def _strings(sizes: array[int], data: _Bytes, missing: Sequence[int] = ()) -> pa.Array:
    ends = array("i", accumulate(sizes, initial=0))
    return _array(pa.string(), len(sizes), missing, ends, data)


def _array(type_: pa.DataType, size: int, missing: Sequence[int], *buffers: _Bytes) -> pa.Array:
    nulls = None
    if missing:
        bits = bytearray(b"\xff" * (size // 8 + 1))  # one for each value, lowest first
        for at in missing:
            bits[at >> 3] &= ~(1 << (at & 7))
        nulls = pa.py_buffer(bits)
    return pa.Array.from_buffers(type_, size, [nulls, *map(pa.py_buffer, buffers)])


_KINDS: Final = {REPEATED: _Repeated, pa.string(): _Texts}
