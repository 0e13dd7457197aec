"""The rows of header fields by name, and what is read in a header."""

from functools import cache
from typing import Final

from relbase.containers.header_fields import FIELDS, FieldRow, States

ROWS: Final = {row.name.lower(): row for row in FIELDS}
# The fields that are read in a header.
REMEMBERED: Final = frozenset(
    name
    for name, row in ROWS.items()
    if row.states or row.holds or row.follows or row.signs or row.is_read
)


@cache  # asked for each part of each message
def bases(where: States) -> tuple[FieldRow, ...]:
    """Return the rows of fields that state a base in mail or in HTTP, strongest first."""
    return tuple(row for row in FIELDS if where in row.states)
