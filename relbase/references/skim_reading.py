"""How plain references are read where HTML is skimmed, and how their edits are collected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.edit import Edit
from relbase.records import NamedTuple

if TYPE_CHECKING:
    from relbase.references.shapes import Becomes, Keeps
    from relbase.references.skim_rows import Names

# A tag in which there is more is left to the exact tokenizer, which hands over one by one: what is
# kept must not grow with a hostile document.
MOST: Final = 1 << 18


class Reading(NamedTuple):
    """How plain references are read, and what becomes of them.

    Args:
        becomes: what becomes of references of each shape.
        keeps: which references stay as they are.
        whatwg: whether they resolve by the WHATWG parser.
        unquoted: whether what is inserted may be inserted without quotes around it, too.
        in_css: whether it may be inserted into CSS.
        ascii_stands: whether no byte of ASCII is the rest of another character.
        names: how tags are read.
    """

    becomes: Becomes
    keeps: Keeps | None
    whatwg: bool
    unquoted: bool
    in_css: bool
    ascii_stands: bool
    names: Names


def put(at: int, shape: int, raw: bytes, reading: Reading, edits: list[Edit]) -> bool:
    """Append the edit of a plain reference; return whether it may be edited unseen."""
    edit = reading.becomes[shape]
    if edit is None:
        return False
    if edit and not (reading.keeps and reading.keeps(raw)):
        start = at + edit[0]
        stop = start if edit[0] == edit[1] else at + edit[1]
        # As `Edit(...)`, in half the time.
        edits.append(tuple.__new__(Edit, (start, stop, edit[2])))
    return True
