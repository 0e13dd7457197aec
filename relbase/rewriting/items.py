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
    """A reference that was found in a text."""

    span: Span  # its bytes, in the text that was visited
    element: str  # "" for none
    attribute: str  # or the header field; "" for raw text
    syntax: str  # "url", "srcset", ...
    reference: str  # as the author wrote it, decoded
    url: str | None  # what it resolves to
    base: Base  # what it was resolved against
    status: Status
    part: str  # the number of the entity


Item: TypeAlias = Found | Note | Edit
