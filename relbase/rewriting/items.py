"""What a visit of a text yields, in the order of the text: references, notes, and their edits."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from relbase.edit import Edit
from relbase.notes import Note

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.edit import Span


class Status(Enum):
    """What became of a reference."""

    REWRITTEN = "rewritten"
    ABSOLUTE = "absolute"  # its bytes are never touched
    KEPT = "kept"  # relative, and to stay so
    UNRESOLVED = "unresolved"  # no base, or the algorithm fails


class Found(NamedTuple):
    """A reference that was found in a text.

    Args:
        span: its bytes, in the text that was visited.
        element: the element it stands in, "" for none.
        attribute: the attribute or the header field, "" for raw text.
        syntax: how it stands there: "url", "srcset", ...
        reference: as the author wrote it, decoded.
        url: what it resolves to, None when unresolved.
        base: what it was resolved against.
        status: what became of it.
        part: the number of the entity.
    """

    span: Span
    element: str
    attribute: str
    syntax: str
    reference: str
    url: str | None
    base: Base
    status: Status
    part: str


Item: TypeAlias = Found | Note | Edit
