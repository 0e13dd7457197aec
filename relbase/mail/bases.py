"""The bases down the MIME tree: each part's from its own header, within that of the part around.

To mind: a base may be as long as the message, and each of 10,000 parts may state one that is
relative to the one around it. `MAX_BASE` and `MAX_STATED_BASE` bound what that takes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.headers import mime_statements, snapshot_statements
from relbase.bases.layers import UNKNOWN, Base, Layer, establish
from relbase.bases.retrieval import statements as retrieval_statements
from relbase.containers.emlx import read_envelope
from relbase.containers.fields import eol_of, fields_of_paragraph, first, read_header, text_of
from relbase.notes import Note, Reason
from relbase.registry import States, bases
from relbase.url.resolver import is_absolute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.bases.layers import Statement
    from relbase.containers.fields import Header
    from relbase.containers.parts import Part
    from relbase.rewriting.context import Context

# A relative base is resolved only against a shorter one. With this limit the bases of 10,000 parts,
# each another one, are 80 MB at most; without it a long base makes them as many times as long.
MAX_BASE: Final = 8_000

# Longer ones nobody writes: servers refuse URLs of a few kilobytes. All parts of a message may
# inherit it, and to resolve one reference takes as long as the base is.
MAX_STATED_BASE: Final = 1 << 16

_SNAPSHOT: Final = "snapshot-content-location"
BASE_FIELDS: Final = frozenset(row.name.lower() for row in bases(States.MAIL))
# What states a base and nothing else; a Content-Location names its part as well.
STATES_BASE: Final = frozenset(row.name.lower() for row in bases(States.MAIL) if not row.names_part)


class PartBase(NamedTuple):
    """A part, its base, and the notes on it."""

    part: Part
    base: Base  # of what is in it
    states: bool  # whether its own header states that base
    attached: bool  # whether it is an attachment or in one
    notes: tuple[Note, ...]  # on its base


class PartNote(NamedTuple):
    """A part and a note on it, whose number and whose name at the front are still to come."""

    part: Part
    note: Note


def number_of(part: Part, context: Context) -> str:
    """Return the number of a part; `context` is that of what is around the message."""
    if not part.number:
        return context.part
    return f"{context.part}/{part.number}" if context.part else part.number


def name_of(part: Part) -> str:
    """Return what a part is called for people."""
    return f"part {part.number}" if part.number else "the message"


def within(part: Part) -> str:
    """Return what the lines of a part's document are counted in, for people."""
    return f" of part {part.number}" if part.number else " of the body"


def numbered(noted: PartNote, context: Context) -> Note:
    """The note of a part with its number; `context` is that of what is around the message."""
    return noted.note._replace(part=number_of(noted.part, context))


def part_bases(data: bytes, parts: Sequence[Part], context: Context) -> Iterator[PartBase]:
    """Yield the parts of a message with their bases (RFC 1808 §3.1, §3.2)."""
    path: dict[int, PartBase] = {}  # the parts around, and no others: bases may be long
    for index, part in enumerate(parts):
        if part.parent is None:
            around, notes = _around(data, part, context)
            attached = False
        else:
            while next(reversed(path)) != part.parent:
                path.popitem()
            around, notes = path[part.parent].base, ()
            if parts[part.parent].message:
                around, notes = _retrieved(data, part, around, context)
            attached = path[part.parent].attached or part.disposition == "attachment"
        base, states, more = _established(data, part, around, context)
        path[index] = PartBase(part, base, states, attached, (*notes, *more))
        yield path[index]


def _retrieved(
    data: bytes, part: Part, around: Base, context: Context
) -> tuple[Base, tuple[Note, ...]]:
    """The base around a message: the URL that the caller has for it, unless a header states one."""
    urls = context.task.message_urls
    if urls is None or around.layer in {Layer.EMBEDDED, Layer.ENTITY}:
        return around, ()
    found = urls.find(_fields(data, part.header, urls.names))
    if found is None:
        return around, ()
    statements, remarks = retrieval_statements(found.url, ())
    statements = [statement._replace(source=found.source) for statement in statements]
    number = number_of(part, context)
    base, notes = establish(statements, UNKNOWN, profile=context.task.profile, part=number)
    refused = (*base.refused, *around.refused)
    return replace(base, refused=refused) if around.refused else base, (
        *(remark._replace(part=number) for remark in remarks),
        *notes,
    )


def message_fields(data: bytes, names: frozenset[str]) -> list[tuple[str, str]]:
    """Return the fields of some names in the header of a message, unfolded."""
    envelope = read_envelope(data)
    start = 0 if envelope is None else envelope.message.start
    return _fields(data, read_header(data, start, len(data), eol_of(data, 0, len(data))), names)


def _fields(data: bytes, header: Header, names: frozenset[str] | None) -> list[tuple[str, str]]:
    """The fields of some names in a header, all for None, unfolded."""
    start, end = header.start, header.end
    eol = eol_of(data, start, end)
    if names is None or eol == b"\r":
        found = fields_of_paragraph(data, start, end, eol, of_any_name=True)
        fields = [(field.name, text_of(data, field)) for field in found]
    else:
        fields = [
            (found[1].decode("ascii").lower(), found[2].decode("utf-8", "surrogateescape"))
            for found in _named(names).finditer(data, start, end)
        ]
    return [(name, _unfold("", value).strip()) for name, value in fields]


_unfold: Final = re.compile(r"[\r\n]++(?=[ \t])").sub


@lru_cache(maxsize=16)
def _named(names: frozenset[str]) -> re.Pattern[bytes]:
    """What matches the fields of some names, in lines that end with LF."""
    any_name = "|".join(map(re.escape, sorted(names))).encode()
    return re.compile(
        rb"^(%b)[ \t]*+:([^\n]*+(?:\n[ \t][^\n]*+)*+)" % any_name, re.MULTILINE | re.IGNORECASE
    )


def _around(data: bytes, part: Part, context: Context) -> tuple[Base, tuple[Note, ...]]:
    """The base around the outermost message: what Chromium says that it saved counts where none."""
    around, notes = _retrieved(data, part, context.base, context)
    if not context.task.detect or around.layer is not Layer.NONE:
        return around, notes
    snapshot = first(data, part.header, _SNAPSHOT)
    if snapshot is None:
        return around, notes
    statements, refused = snapshot_statements(snapshot)
    around, more = establish(statements, around, profile=context.task.profile)
    remarks = (*notes, *refused, *more)
    notes = tuple(note._replace(part=number_of(part, context)) for note in remarks)
    if refused and not statements:
        around = replace(around, refused=(*notes, *around.refused))
    return around, notes


def _established(
    data: bytes, part: Part, around: Base, context: Context
) -> tuple[Base, bool, list[Note]]:
    """The base of a part, whether its header states it, and notes."""
    fields = [
        (field.name, text_of(data, field), field.value)
        for field in part.header.fields
        if field.name in BASE_FIELDS
    ]
    if not fields:
        return around, False, []
    stated, long = _resolvable(mime_statements(fields, name_of(part)), around, part, context)
    number = number_of(part, context)
    base, notes = establish(stated, around, profile=context.task.profile, part=number)
    if long:
        base = replace(base, refused=(*long, *base.refused))
    return base, bool(stated) and base.outer is around, [*long, *notes]


def _resolvable(
    stated: list[Statement], around: Base, part: Part, context: Context
) -> tuple[list[Statement], list[Note]]:
    """The statements without those that are too long, or relative to what is."""
    kept = [found for found in stated if len(found.value) <= MAX_STATED_BASE]
    if len(around.url) > MAX_BASE:
        profile = context.task.profile
        kept = [found for found in kept if is_absolute(found.value, profile, around.url)]
    if len(kept) == len(stated):
        return stated, []
    text = f"a base of {name_of(part)} is too long, or relative to one that is: it does not count"
    return kept, [Note(Reason.BASE_UNSUITABLE, number_of(part, context), None, text)]
