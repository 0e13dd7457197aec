"""Tables for people: CSV by RFC 4180, in which a spreadsheet takes each cell as a text.

The columns are the fields of the JSON objects, by the same names and in the same order.
"""

from __future__ import annotations

import codecs
import csv
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from relbase.cli import files, streams
from relbase.cli.streams import plain, printable
from relbase.cli.url_maps import guarded
from relbase.scan.batches import utf_8

if TYPE_CHECKING:
    from relbase.results import Entity

# From the names of fields to those of columns, and a function that picks their values.
Select: TypeAlias = Callable[
    [Sequence[str]], tuple[Sequence[str], Callable[[Sequence[Any]], Sequence[Any]]]
]


class CsvTable:
    """Writes rows as CSV. The first row decides the columns; without any, `names` does."""

    def __init__(
        self,
        write: Callable[[bytes], object],
        names: Sequence[str],
        select: Select = lambda names: (names, lambda values: values),
        *,
        mark: bool,
    ) -> None:
        self._put, self._default, self._select, self._mark = write, names, select, mark
        self._writer = csv.writer(self)
        self.names: tuple[str, ...] = ()  # of the fields, as soon as there is a row

    def write(self, line: str) -> None:
        """Take a line from the writer."""
        self._put(utf_8(line))

    def add(self, row: Mapping[str, object]) -> None:
        if (names := tuple(row)) != self.names:
            self._begin(names)
        self._writer.writerow(map(_cell, self._pick(list(row.values()))))

    def _begin(self, names: tuple[str, ...]) -> None:
        if self.names:
            raise files.InputError("its table has other columns: read it in a separate command")
        try:
            columns, self._pick = self._select(names)
        except ValueError as error:
            raise click.UsageError(f"--columns: {error}") from None
        self.names = names
        if self._mark:
            self._put(codecs.BOM_UTF8)
        self._writer.writerow(columns)

    def close(self) -> None:
        if not self.names and self._default:
            self._begin(tuple(self._default))


def _cell(value: object) -> object:
    value = plain(value)
    if isinstance(value, dict):
        return "; ".join(f"{name}: {count}" for name, count in value.items())
    if not isinstance(value, str):
        return value
    return guarded(printable(value) if streams.is_terminal(output=True) else value)


def base_columns(entity: Entity, **more: object) -> dict[str, object]:
    base = entity.base
    own = {"base": base.url, "layer": base.layer.value, "source": base.source}
    return {"part": entity.part, "type": entity.type, **more, **own}
