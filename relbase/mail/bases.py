"""The bases down the MIME tree: each part's from its own header, within that of the part around.

To mind: a base may be as long as the message, and each of 10,000 parts may state one that is
relative to the one around it. `MAX_BASE` and `MAX_STATED_BASE` bound what that takes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from relbase.bases.headers import mime_statements, snapshot_statements
from relbase.bases.layers import UNKNOWN, Base, Layer, establish, retrieval
from relbase.containers.fields import eol_of, fields_of_paragraph, first, text_of
from relbase.mail.bodies import MailPart, line_end, number_of
from relbase.notes import Note, Reason
from relbase.registry import States, bases
from relbase.url.resolver import is_absolute

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.containers.fields import Header
    from relbase.containers.mail import Part
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


def part_bases(data: bytes, parts: Sequence[Part], context: Context) -> Iterator[MailPart]:
    """Yield the parts of a message with their bases (RFC 1808 §3.1, §3.2)."""
    eol = line_end(data)
    path: dict[int, MailPart] = {}  # the parts around, and no others: bases may be long
    for index, part in enumerate(parts):
        attached = False
        if part.parent is None:
            around, notes = _around(data, part, context)
        else:
            while next(reversed(path)) != part.parent:
                path.popitem()
            outer = path[part.parent]
            around, notes = outer.context.base, ()
            if outer.part.message:
                around, notes = _retrieved(data, part, around, context)
            attached = outer.attached or part.disposition == "attachment"
        base, states, more = _established(data, part, around, context)
        within = f" of part {part.number}" if part.number else " of the body"
        inside = context.having(base=base, part=number_of(part, context), within=within)
        path[index] = MailPart(data, eol, part, inside, states, attached, (*notes, *more))
        yield path[index]


def _retrieved(
    data: bytes, part: Part, around: Base, context: Context
) -> tuple[Base, tuple[Note, ...]]:
    """The base around a message: the URL that the caller has for it, unless a header states one."""
    urls = context.task.message_urls
    if urls is None or around.layer in {Layer.EMBEDDED, Layer.ENTITY}:
        return around, ()
    found = urls.find(message_fields(data, part.header))
    if found is None:
        return around, ()
    statements, remarks = retrieval(found.url, ())
    statements = [statement._replace(source=found.source) for statement in statements]
    number = number_of(part, context)
    base, notes = establish(statements, UNKNOWN, profile=context.task.profile, part=number)
    refused = (*base.refused, *around.refused)
    return replace(base, refused=refused) if around.refused else base, (
        *(remark._replace(part=number) for remark in remarks),
        *notes,
    )


def message_fields(data: bytes, header: Header) -> list[tuple[str, str]]:
    """Return the fields of a header, unfolded."""
    start, end = header.start, header.end
    found = fields_of_paragraph(data, start, end, eol_of(data, start, end), of_any_name=True)
    return [(field.name, _unfold("", text_of(data, field)).strip()) for field in found]


_unfold: Final = re.compile(r"[\r\n]++(?=[ \t])").sub


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
    fields = [
        (field.name, text_of(data, field), field.value)
        for field in part.header.fields
        if field.name in BASE_FIELDS
    ]
    if not fields:
        return around, False, []
    name = f"part {part.number}" if part.number else "the message"
    number, profile = number_of(part, context), context.task.profile
    stated = mime_statements(fields, name)
    kept = [found for found in stated if len(found.value) <= MAX_STATED_BASE]
    if len(around.url) > MAX_BASE:
        kept = [found for found in kept if is_absolute(found.value, profile, around.url)]
    base, notes = establish(kept, around, profile=profile, part=number)
    if len(kept) < len(stated):
        text = f"a base of {name} is too long, or relative to one that is: it does not count"
        long = Note(Reason.BASE_UNSUITABLE, number, None, text)
        base = replace(base, refused=(long, *base.refused))
        notes = [long, *notes]
    return base, bool(kept) and base.outer is around, notes
