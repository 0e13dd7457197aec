"""Which rows moved by more than their noise since the tables of another run were printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator


class Row(NamedTuple):
    """What is compared of a row."""

    ratio: float
    noise: float


_row: Final = re.compile(r"  (\S.*?) {2,}[0-9,.]+ +([0-9.]+)(?: +([0-9.]+)%)?")

# What nobody would call a difference, however quiet the machine was.
_LEAST: Final = 0.03


def rows_of(text: str) -> dict[tuple[str, str], Row]:
    """Return the rows of printed tables, by the beginning of the table's title and their names."""
    rows: dict[tuple[str, str], Row] = {}
    title = ""
    for line in text.splitlines():
        if row := _row.fullmatch(line):
            rows[title, row[1]] = Row(float(row[2]), float(row[3] or 0) / 100)
        elif line and not line.startswith(" "):
            title = line.partition(":")[0]
    return rows


def moved(before: str, after: str) -> Iterator[str]:
    """Yield a line for each row whose ratio moved by more than the noise of both runs."""
    known = rows_of(before)
    for key, row in rows_of(after).items():
        old = known.get(key)
        if old is None or not old.ratio:
            continue
        change, noise = row.ratio / old.ratio - 1, max(_LEAST, row.noise + old.noise)
        if abs(change) > noise:
            shown = f"{old.ratio:.2f} -> {row.ratio:.2f} ({change:+.0%}, noise {noise:.0%})"
            yield f"{': '.join(key)}: {shown}"
