"""Fields that describe a body and follow it when it changes: Content-Length, Lines, Content-MD5.

Strategy: the headers are gone through from the last to the first, since a header describes all
that stands after it in its body, the headers of parts included. A field that was wrong before the
change stays, with a note: nobody knows what it counted.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from bisect import bisect_left
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
    """A body and what changes in it."""

    data: bytes  # the message
    body: Span
    grown: int  # how many bytes longer it becomes
    lines: int  # how many line ends more it has then
    # what changes, sorted, in coordinates of the message; made when it is asked for
    edits: Callable[[], Sequence[Edit]]
    decode: Callable[[bytes], bytes | None]  # undoes its transfer encoding


class _Later:
    """The edits that have been gone through, the last one first, and what they sum up to."""

    __slots__ = ("_before", "_lines", "_sizes", "_starts", "edits")

    def __init__(self, data: bytes) -> None:
        self._before = data
        self.edits: list[Edit] = []
        self._starts: list[int] = []  # negative, so that they ascend
        self._sizes: list[int] = [0]  # of the first edits, by how many bytes they make it longer
        self._lines: list[int] = [0]

    def add(self, edit: Edit) -> None:
        """Add an edit that stands before the others."""
        start, end, new = edit
        self.edits.append(edit)
        self._starts.append(-start)
        self._sizes.append(self._sizes[-1] + len(new) - (end - start))
        lines = new.count(b"\n") - self._before.count(b"\n", start, end)
        self._lines.append(self._lines[-1] + lines)

    def change(self, part: Part, decode: Decode) -> _Change | None:
        """Return what changes in the body of a part, None for nothing."""
        first = bisect_left(self._starts, -part.body.end)
        last = len(self.edits)
        if first == last:
            return None
        return _Change(
            self._before,
            part.body,
            self._sizes[last] - self._sizes[first],
            self._lines[last] - self._lines[first],
            lambda: self.edits[first:last][::-1],
            lambda body: decode(part, body),
        )


# Digests of composite bodies are outside of RFC 1864, and each is as long as all in it: together
# they may take as long as this many messages (threat N8).
MAX_DIGESTED: Final = 4


def follow_bodies(
    data: bytes, parts: Sequence[Part], edits: Sequence[Edit], decode: Decode
) -> tuple[list[Edit], list[PartNote]]:
    """Return the edits of a message and of the fields that follow its bodies, and the notes."""
    waiting = list(edits)  # those before what has been gone through
    later = _Later(data)
    stale: list[PartNote] = []
    left = MAX_DIGESTED * len(data)
    for part in reversed(parts):
        fields = [field for field in part.header.fields if field.name in _FOLLOWED]
        if not fields:
            continue
        while waiting and waiting[-1].start >= part.body.start:
            later.add(waiting.pop())
        change = later.change(part, decode)
        if change is None:
            continue
        if (part.message or part.multipart) and any(field.name in _DIGESTS for field in fields):
            left -= part.body.end - part.body.start
        followed, more = _followed(part, fields, change, is_long=left < 0)
        stale += more
        while followed and waiting and waiting[-1].start >= part.header.start:
            followed.append(waiting.pop())
        for edit in sorted(followed, reverse=True):
            later.add(edit)
    return [*waiting, *reversed(later.edits)], stale


def _followed(
    part: Part, fields: list[Field], change: _Change, *, is_long: bool
) -> tuple[list[Edit], list[PartNote]]:
    """The edits of the fields of one header, and those that are left."""
    edits: list[Edit] = []
    stale: list[PartNote] = []
    seen: set[str] = set()
    for field in fields:
        value = change.data[field.value.start : field.value.end]
        is_left = field.name in seen or (is_long and field.name in _DIGESTS)
        found = None if is_left else _FOLLOWED[field.name](value, change)
        if found is None:
            why = _why_left(field, seen, is_left=is_left)
            text = f"{field.name} {why}: left as it is, although the body changed"
            stale.append(PartNote(part, Note(Reason.FIELD_STALE, "", field.value, text)))
        elif (edit := Edit(field.value.start, field.value.start + len(found[0]), found[1])).new != (
            found[0]
        ):
            edits.append(edit)
        seen.add(field.name)
    return edits, stale


def _why_left(field: Field, seen: set[str], *, is_left: bool) -> str:
    if field.name in seen:
        return "stands there twice"
    return "is of more than one part (RFC 1864)" if is_left else "was wrong before"


def _length(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    found = _number(value)
    size = change.body.end - change.body.start
    if found is None or int(found[0]) != size:
        return None
    return found[0], b"%d" % (size + change.grown)


def _lines(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    """Lines counts line ends, or lines: the last one may have no end."""
    found = _number(value)
    stated = int(found[0]) if found else -1
    counted = change.data.count(b"\n", *change.body)
    if found is None or stated not in {counted, counted + 1}:
        return None
    return found[0], b"%d" % (stated + change.lines)


def _md5(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    """RFC 1864 §2: of the decoded body, the line ends of text as CRLF."""
    found = _digest(value)
    start, end = change.body
    before = change.data[start:end]
    decoded = change.decode(before) if found else None
    if found is None or decoded is None:
        return None
    for form in (_as_it_is, _with_crlf):
        if _hashed(form(decoded)) == found[0]:
            edits = [
                Edit(edit.start - start, edit.end - start, edit.new) for edit in change.edits()
            ]
            redecoded = change.decode(splice(before, edits))
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
_DIGESTS: Final = frozenset(name for name in _FOLLOWED if ROWS[name].follows is Follows.DIGEST)
