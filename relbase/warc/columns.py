"""Columns of Arrow as rows come in; needs the extra `warc`.

Strategy: no value outlives its row as an object. A text is put after the others, as Arrow keeps
them; what repeats is a number, and the texts that the numbers stand for are kept once. The buffers
are Arrow's own, so that a batch is made without a copy, and without what `pyarrow.array` looks at
(it imports pandas where that is installed).

To mind: text of an archive may hold bytes that are not UTF-8, carried as surrogates. A table holds
UTF-8, so they become U+FFFD there.
"""

from __future__ import annotations

from array import array
from itertools import accumulate, islice
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    _Values = Sequence[Any]

# A batch is full with so many bytes of text, too: a reference may be as long as its page.
MAX_TEXT: Final = 1 << 26

# So many rows are objects at a time.
_PIECE: Final = 256

# The codes of `array` for the numbers of Arrow.
_CODES: Final = {pa.int16(): "h", pa.int32(): "i", pa.int64(): "q"}


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

    __slots__ = ("_columns", "_count", "_most", "_schema")

    def __init__(self, schema: pa.Schema, most: int) -> None:
        self._schema = schema
        self._most = most
        self._begin()

    def _begin(self) -> None:
        self._count = 0
        self._columns = [_column(field.type) for field in self._schema]

    def add(self, rows: Iterable[_Values]) -> Iterator[pa.RecordBatch]:
        """Add rows, and yield the batches that are full."""
        gathered = iter(rows)
        while piece := list(islice(gathered, min(_PIECE, self._most - self._count))):
            for column, values in zip(self._columns, zip(*piece, strict=True), strict=True):
                column.add(values)
            self._count += len(piece)
            if self._count >= self._most or sum(one.size for one in self._columns) > MAX_TEXT:
                yield self.take()

    def __len__(self) -> int:
        return self._count

    def take(self) -> pa.RecordBatch:
        """Return what has been added as a batch, and begin another."""
        arrays = [column.made() for column in self._columns]
        self._begin()
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def _column(type_: pa.DataType) -> _Numbers | _Texts | _Repeated:
    if pa.types.is_dictionary(type_):
        return _Repeated()
    return _Texts() if type_ == pa.string() else _Numbers(type_)


class _Nulls:
    """Which values of a column are there."""

    __slots__ = ("_any", "_there")

    def __init__(self) -> None:
        self._there = bytearray()
        self._any = False

    def filled(self, values: _Values, filler: object) -> _Values:
        """The values, with a filler for those that are not there."""
        if None not in values:
            self._there += b"1" * len(values)
            return values
        self._any = True
        self._there += b"".join([b"0" if value is None else b"1" for value in values])
        return [filler if value is None else value for value in values]

    def buffer(self) -> pa.Buffer | None:
        """A bit for each value, the first the lowest; None when all are there."""
        if not self._any:
            return None
        bits = int(self._there[::-1], 2)
        return pa.py_buffer(bits.to_bytes(len(self._there) // 8 + 1, "little"))


class _Numbers:
    __slots__ = ("_nulls", "_numbers", "_type")

    size: Final = 0

    def __init__(self, type_: pa.DataType) -> None:
        self._type = type_
        self._nulls = _Nulls()
        self._numbers = array(_CODES[type_])

    def add(self, values: _Values) -> None:
        self._numbers.extend(self._nulls.filled(values, 0))

    def made(self) -> pa.Array:
        buffers = [self._nulls.buffer(), pa.py_buffer(self._numbers)]
        return pa.Array.from_buffers(self._type, len(self._numbers), buffers)


class _Texts:
    __slots__ = ("_data", "_ends", "_nulls")

    def __init__(self) -> None:
        self._nulls = _Nulls()
        self._data = bytearray()
        self._ends = array("i", [0])

    @property
    def size(self) -> int:
        return len(self._data)

    def add(self, values: _Values) -> None:
        texts: Sequence[str] = self._nulls.filled(values, "")
        joined = "".join(texts)
        at = len(self._data)
        if joined.isascii():
            self._data += joined.encode("ascii")
            lengths = map(len, texts)
        else:
            pieces = [_utf8(text) for text in texts]
            self._data += b"".join(pieces)
            lengths = map(len, pieces)
        self._ends.extend(islice(accumulate(lengths, initial=at), 1, None))

    def made(self) -> pa.Array:
        buffers = [self._nulls.buffer(), pa.py_buffer(self._ends), pa.py_buffer(self._data)]
        return pa.Array.from_buffers(pa.string(), len(self._ends) - 1, buffers)


class _Repeated:
    """Texts by number; of a text that is not there the number is any."""

    __slots__ = ("_known", "_nulls", "_numbers")

    def __init__(self) -> None:
        self._nulls = _Nulls()
        self._numbers = array("i")
        self._known = _Known()

    @property
    def size(self) -> int:
        return self._known.size

    def add(self, values: _Values) -> None:
        texts = self._nulls.filled(values, "")
        self._numbers.extend(map(self._known.__getitem__, texts))

    def made(self) -> pa.Array:
        texts = _Texts()
        texts.add(list(self._known))
        buffers = [self._nulls.buffer(), pa.py_buffer(self._numbers)]
        numbers = pa.Array.from_buffers(pa.int32(), len(self._numbers), buffers)
        return pa.DictionaryArray.from_arrays(numbers, texts.made())


class _Known(dict[str, int]):
    """Numbers of texts, in the order in which they were first asked for."""

    __slots__ = ("size",)

    def __init__(self) -> None:
        super().__init__()
        self.size = 0

    def __missing__(self, text: str) -> int:
        self.size += len(text)
        number = self[text] = len(self)
        return number


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        plain = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        return plain.encode("utf-8")
