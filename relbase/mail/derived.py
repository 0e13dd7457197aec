"""Fields that describe a body and follow it when it changes: Content-Length, Lines, Content-MD5.

The headers are gone through from the last to the first, since a header describes all that stands
after it in its body, the headers of parts included. A field that was wrong before the change
stays, with a note: nobody knows what it counted.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from bisect import bisect_left
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.edit import Edit, splice
from relbase.mail.bodies import line_end, transfer_view
from relbase.notes import Note, Reason
from relbase.registry import ROWS, Follows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relbase.containers.fields import Field
    from relbase.containers.mail import Part

# A number as written; more digits than any body has bytes are none.
_number: Final = re.compile(rb"[0-9]{1,18}(?![0-9])").match
_digest: Final = re.compile(rb"[A-Za-z0-9+/]{22}==").match


class _Change(NamedTuple):
    """A body and what changes in it."""

    data: bytes  # the message
    part: Part
    grown: int  # how many bytes longer it becomes
    lines: int  # how many line ends more it has then
    # what changes, sorted, in coordinates of the body; made when it is asked for
    edits: Callable[[], list[Edit]]

    def decoded(self, body: bytes) -> bytes | None:
        """Return a body without the part's transfer encoding, None where it cannot be read."""
        view = transfer_view(self.part, body, line_end(self.data))
        return None if view is None else view.inner


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
        start, end, new = edit
        self.edits.append(edit)
        self._starts.append(-start)
        self._sizes.append(self._sizes[-1] + len(new) - (end - start))
        lines = new.count(b"\n") - self._before.count(b"\n", start, end)
        self._lines.append(self._lines[-1] + lines)

    def change(self, part: Part) -> _Change | None:
        first = bisect_left(self._starts, -part.body.end)
        last = len(self.edits)
        if first == last:
            return None
        at = part.body.start
        return _Change(
            self._before,
            part,
            self._sizes[last] - self._sizes[first],
            self._lines[last] - self._lines[first],
            lambda: [Edit(e.start - at, e.end - at, e.new) for e in self.edits[first:last][::-1]],
        )


# Digests of composite bodies are outside of RFC 1864, and each is as long as all in it: together
# they may take as long as this many messages (threat N8).
MAX_DIGESTED: Final = 4


def follow_bodies(
    data: bytes, parts: Sequence[Part], edits: Sequence[Edit]
) -> tuple[list[Edit], list[Note]]:
    """Return the edits of a message and of the fields that follow its bodies, and the notes."""
    waiting = list(edits)  # those before what has been gone through
    later = _Later(data)
    stale: list[Note] = []
    left = MAX_DIGESTED * len(data)
    for part in reversed(parts):
        fields = [field for field in part.header.fields if field.name in _FOLLOWED]
        if not fields:
            continue
        while waiting and waiting[-1].start >= part.body.start:
            later.add(waiting.pop())
        change = later.change(part)
        if change is None:
            continue
        if (part.message or part.multipart) and any(field.name in _DIGESTS for field in fields):
            left -= part.body.end - part.body.start
        followed, more = _followed(fields, change, is_long=left < 0)
        stale += more
        while followed and waiting and waiting[-1].start >= part.header.start:
            followed.append(waiting.pop())
        for edit in sorted(followed, reverse=True):
            later.add(edit)
    return [*waiting, *reversed(later.edits)], stale


def _followed(
    fields: list[Field], change: _Change, *, is_long: bool
) -> tuple[list[Edit], list[Note]]:
    edits: list[Edit] = []
    stale: list[Note] = []
    seen: set[str] = set()
    for field in fields:
        start, end = field.value
        why, found = "was wrong before", None
        if field.name in seen:
            why = "stands there twice"
        elif is_long and field.name in _DIGESTS:
            why = "is of more than one part (RFC 1864)"
        else:
            found = _FOLLOWED[field.name](change.data[start:end], change)
        seen.add(field.name)
        if found is None:
            text = f"{field.name} {why}: left as it is, although the body changed"
            stale.append(Note(Reason.FIELD_STALE, change.part.number, field.value, text))
        elif found[0] != found[1]:
            edits.append(Edit(start, start + len(found[0]), found[1]))
    return edits, stale


def _length(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    found = _number(value)
    start, end = change.part.body
    if found is None or int(found[0]) != end - start:
        return None
    return found[0], b"%d" % (end - start + change.grown)


def _lines(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    """Lines counts line ends, or lines: the last one may have no end."""
    found = _number(value)
    stated = int(found[0]) if found else -1
    counted = change.data.count(b"\n", *change.part.body)
    if found is None or stated not in {counted, counted + 1}:
        return None
    return found[0], b"%d" % (stated + change.lines)


def _md5(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    """RFC 1864 §2: of the decoded body, the line ends of text as CRLF; many take it as it is."""
    found = _digest(value)
    before = change.data[slice(*change.part.body)]
    decoded = change.decoded(before) if found else None
    if found is None or decoded is None:
        return None
    for form in (bytes, _with_crlf):
        if _hashed(form(decoded)) == found[0]:
            after = change.decoded(splice(before, change.edits()))
            return None if after is None else (found[0], _hashed(form(after)))
    return None


def _with_crlf(body: bytes) -> bytes:
    return re.sub(rb"\r?\n", b"\r\n", body)


def _hashed(body: bytes) -> bytes:
    return b64encode(hashlib.md5(body, usedforsecurity=False).digest())


_MEASURES: Final = {Follows.LENGTH: _length, Follows.LINES: _lines, Follows.DIGEST: _md5}
_FOLLOWED: Final = {
    name: _MEASURES[row.follows] for name, row in ROWS.items() if row.follows is not None
}
_DIGESTS: Final = frozenset(name for name in _FOLLOWED if ROWS[name].follows is Follows.DIGEST)
