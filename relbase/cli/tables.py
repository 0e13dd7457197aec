"""Tables of links on the disk: Parquet, written as the rows come, complete when it has its name.

The errors of the archives go to a table of their own beside it: `x.errors.parquet` for `x.parquet`.
This needs pyarrow, and is loaded for --parquet alone.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import click
import pyarrow as pa
from pyarrow import parquet

from relbase.cli import files
from relbase.cli.directories import NewFile, opened_directory, sweep
from relbase.cli.outputs import refuse, uploaded
from relbase.cli.streams import printable
from relbase.warc import rows, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from relbase.containers.warc import Fault
    from relbase.warc.rows import LinkRow, PackedRows

_SUFFIX: Final = ".parquet"
_MARK: Final = b"PAR1"

# A page of a column, in bytes: several are held for each of the 18. Larger ones save no space.
_PAGE: Final = 1 << 17


class Table:
    def __init__(
        self,
        links: parquet.ParquetWriter,
        errors: parquet.ParquetWriter,
        select: Callable[[LinkRow | PackedRows], tuple[Any, ...]],
    ) -> None:
        self._links, self._errors, self._select = links, errors, select
        self._rows = table.Columns(links.schema, table.BATCH)
        self._faults = table.Columns(table.ERRORS, table.BATCH)

    def add(self, found: Iterable[LinkRow | PackedRows]) -> None:
        for batch in self._rows.add(map(self._select, found)):
            self._links.write_batch(batch)

    def add_fault(self, fault: Fault, warc: str) -> None:
        for batch in self._faults.add([table.error_row(fault, warc)]):
            self._errors.write_batch(batch)

    def flush(self) -> None:
        for columns, writer in ((self._rows, self._links), (self._faults, self._errors)):
            if len(columns):
                writer.write_batch(columns.take())


@contextmanager
def written(
    path: str, inputs: Iterable[str], columns: Sequence[str] | None, *, data_urls: bool
) -> Iterator[Table]:
    """Write a table of links and one of errors, which get their names when both are complete."""
    try:
        select = rows.selector(columns, data_urls=data_urls)
    except ValueError as error:
        raise click.UsageError(f"--columns: {error}") from None
    schema = table.SCHEMA if columns is None else table.schema_of(columns)
    repeated = [field.name for field in schema if field.type == table.REPEATED]
    place, mark, query = path.partition("?") if files.is_object(path) else (path, "", "")
    errors = f"{place.removesuffix(_SUFFIX)}.errors{_SUFFIX}{mark}{query}"
    if place.endswith((".csv", ".json", ".jsonl", ".tsv", ".txt")):
        raise click.UsageError(f"--parquet writes Parquet, not {place!a}: give links.parquet")
    refuse(inputs, (path, errors), ("give another name",) * 2)
    for one in (path, errors):  # a table is replaced, nothing else
        with suppress(FileNotFoundError, NotADirectoryError), open(one, "rb") as file:  # noqa: PTH123
            if file.read(len(_MARK)) not in (b"", _MARK):
                text = f"'{printable(one)}' exists and is not a table: give another name"
                raise click.UsageError(text)
    with (
        files.failing(path),
        uploaded(path, errors) as outputs,
        _new(outputs[0]) as links_file,
        _new(outputs[1]) as errors_file,
        parquet.ParquetWriter(
            links_file,
            schema,
            compression="zstd",
            use_dictionary=repeated,
            data_page_size=_PAGE,
            write_statistics=True,
            write_page_index=True,
        ) as links_writer,
        parquet.ParquetWriter(errors_file, table.ERRORS, compression="zstd") as errors_writer,
    ):
        made = Table(links_writer, errors_writer, select)
        yield made
        made.flush()


@contextmanager
def _new(path: str) -> Iterator[pa.NativeFile]:
    directory, name = os.path.split(path)
    with opened_directory(directory) as parent:
        sweep(parent)
        with NewFile(parent, name, 0o666) as made:
            with open(made.descriptor, "wb", closefd=False) as file:
                yield pa.PythonFile(file, "w")
            made.finish(None)
            parent.replace(made.name, parent, name)
            parent.sync()
