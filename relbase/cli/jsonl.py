"""JSON Lines: an object a line, with the field names of the library's classes."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Final

from relbase.edit import Span
from relbase.results import Entity, Link

# Of the objects: a field may be added, but none changes its meaning without a new number.
VERSION: Final = 1


def line(file: str, value: Link | Entity, **more: object) -> str:
    """Return the line for an object that was found in a file: of a link one flat object."""
    own = value.as_dict() if isinstance(value, Link) else _fields(value)
    assert own is not None
    return object_line({"file": file, **own, **more})


def object_line(fields: dict[str, object]) -> str:
    import json  # noqa: PLC0415 (start-up time)

    return json.dumps({"version": VERSION, **{name: _plain(fields[name]) for name in fields}})


def parts(url: str) -> tuple[dict[str, object] | None, str]:
    """Return the parts of a URL that are there, by their names, or why it is not a URL."""
    from relbase.url.grammar import parse_url  # noqa: PLC0415 (start-up time)

    try:
        parsed = parse_url(url)
    except ValueError as error:
        return None, str(error).partition(";")[0]
    fields = _fields(parsed) or {}
    return {name: _plain(value) for name, value in fields.items() if value is not None}, ""


def _plain(value: object) -> object:
    """A value in the types of JSON: enum members as their values, spans as pairs."""
    if isinstance(value, Enum):
        return value.value
    fields = _fields(value)
    if fields is not None:
        return {name: _plain(field) for name, field in fields.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _fields(value: object) -> dict[str, object] | None:
    if isinstance(value, dict):
        return value
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_asdict") and not isinstance(value, Span):
        return dict(value._asdict())
    return None
