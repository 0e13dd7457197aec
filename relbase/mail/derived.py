"""Fields that tell of a body and follow it when it changes: Content-Length, Lines, Content-MD5.

Strategy: the headings are gone through from the last to the first, since a heading tells of all
that stands behind it in its body, the headings of parts included. A field that was wrong before the
change is left alone, with a remark: nobody knows what it counted.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.edit import Edit, Span, splice
from relbase.mail.bases import PartNote
from relbase.notes import Note, Reason
from relbase.registry import ROWS, Follows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relbase.containers.fields import Field
    from relbase.containers.parts import Part

    Decode = Callable[[Part, bytes], bytes | None]

# A number as written; more digits than any body has bytes are none.
_number: Final = re.compile(rb"[0-9]{1,18}(?![0-9])").match
_digest: Final = re.compile(rb"[A-Za-z0-9+/]{22}==").match


class _Change(NamedTuple):
    """A body before and after, and how its transfer encoding is undone."""

    before: bytes
    after: bytes
    decode: Callable[[bytes], bytes | None]


def follow_bodies(
    data: bytes, parts: Sequence[Part], edits: Sequence[Edit], decode: Decode
) -> tuple[list[Edit], list[PartNote]]:
    """Return the edits of a message with those of the fields that follow them, and what does not.

    Args:
        data: the message.
        parts: all its parts, in the order of the bytes.
        edits: all its edits, sorted.
        decode: undoes the transfer encoding of a body of a part, None where it cannot.
    """
    waiting = list(edits)  # those in front of what has been gone through
    behind: list[Edit] = []  # the others, the last one first
    stale: list[PartNote] = []
    for part in reversed(parts):
        fields = [field for field in part.heading.fields if field.name in _FOLLOWED]
        if not fields:
            continue
        while waiting and waiting[-1].start >= part.body.start:
            behind.append(waiting.pop())
        inside = _inside(behind, part.body)
        if not inside:
            continue
        followed, more = _followed(data, part, fields, inside, decode)
        stale += more
        while followed and waiting and waiting[-1].start >= part.heading.start:
            followed.append(waiting.pop())
        behind += sorted(followed, reverse=True)
    return [*waiting, *reversed(behind)], stale


def _inside(behind: list[Edit], body: Span) -> list[Edit]:
    """The edits of a body, in coordinates of it, of edits that begin in it, the last one first."""
    start, end = body
    inside: list[Edit] = []
    for edit in reversed(behind):
        if edit.start > end:
            break
        inside.append(Edit(edit.start - start, edit.end - start, edit.new))
    return inside


def _followed(
    data: bytes, part: Part, fields: list[Field], inside: list[Edit], decode: Decode
) -> tuple[list[Edit], list[PartNote]]:
    """The edits of the fields of one heading, and those that are left."""
    before = data[part.body.start : part.body.end]
    change = _Change(before, splice(before, inside), lambda body: decode(part, body))
    edits: list[Edit] = []
    stale: list[PartNote] = []
    seen: set[str] = set()
    for field in fields:
        value = data[field.value.start : field.value.end]
        found = None if field.name in seen else _FOLLOWED[field.name](value, change)
        if found is None:
            why = "stands there twice" if field.name in seen else "was wrong before"
            text = f"{field.name} {why}: left as it is, although the body changed"
            stale.append(PartNote(part, Note(Reason.FIELD_STALE, "", field.value, text)))
        elif (edit := Edit(field.value.start, field.value.start + len(found[0]), found[1])).new != (
            found[0]
        ):
            edits.append(edit)
        seen.add(field.name)
    return edits, stale


def _length(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    found = _number(value)
    if found is None or int(found[0]) != len(change.before):
        return None
    return found[0], b"%d" % len(change.after)


def _lines(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    """Lines counts line ends, or lines: the last one may have no end."""
    found = _number(value)
    stated = int(found[0]) if found else -1
    counted = change.before.count(b"\n")
    if found is None or stated not in {counted, counted + 1}:
        return None
    return found[0], b"%d" % (stated + change.after.count(b"\n") - counted)


def _md5(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    """RFC 1864 §2: of the decoded body, the line ends of text as CRLF."""
    found = _digest(value)
    decoded = change.decode(change.before) if found else None
    if found is None or decoded is None:
        return None
    for form in (_as_it_is, _with_crlf):
        if _hashed(form(decoded)) == found[0]:
            redecoded = change.decode(change.after)
            return None if redecoded is None else (found[0], _hashed(form(redecoded)))
    return None


def _as_it_is(body: bytes) -> bytes:
    return body


def _with_crlf(body: bytes) -> bytes:
    return re.sub(rb"\r?\n", b"\r\n", body)


def _hashed(body: bytes) -> bytes:
    return b64encode(hashlib.md5(body, usedforsecurity=False).digest())


_MEASURES: Final = {Follows.LENGTH: _length, Follows.LINES: _lines, Follows.DIGEST: _md5}
_FOLLOWED: Final = {
    name: _MEASURES[row.follows] for name, row in ROWS.items() if row.follows is not None
}
