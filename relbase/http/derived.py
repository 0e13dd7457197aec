"""Fields that describe a body and follow it when it changes: its length and its digests.

A field that was wrong before the change stays, with a note: nobody knows what it counted.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit, Span, splice
from relbase.notes import Note, Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relbase.containers.fields import Field
    from relbase.containers.http import Head

# A number that fills the value; more digits than any body has bytes are none.
_number: Final = re.compile(rb"[0-9]{1,18}").fullmatch
# Content-MD5 = base64 of 128 bit   (RFC 1864 §2)
_md5: Final = re.compile(rb"([A-Za-z0-9+/]{22}==)").fullmatch
# RFC 3230 §4.3.2: a list of an algorithm, `=`, and base64
# RFC 9530 §2 and §3 (Content-Digest, Repr-Digest): with `:` around the base64
_digests: Final = re.compile(
    rb"([!-+\--<>-~]++)=(:?)([A-Za-z0-9+/]++={0,2})(:?)(?=[ \t]*+(?:,|\Z))"
)
_ALGORITHMS: Final = {
    b"md5": "md5",
    b"sha": "sha1",
    b"sha-1": "sha1",
    b"sha-256": "sha256",
    b"sha-512": "sha512",
}


def follow_body(
    data: bytes, head: Head, body: Span, edits: Sequence[Edit]
) -> tuple[list[Edit], list[Note]]:
    """Return the edits of the fields that describe a body, and notes on those that were wrong."""
    before = data[body.start : body.end]
    inside = [Edit(edit.start - body.start, edit.end - body.start, edit.new) for edit in edits]
    after = splice(before, inside)
    made: list[Edit] = []
    stale: list[Note] = []
    for field in head.header.fields:
        follow = _FOLLOWED.get(field.name)
        if follow is None:
            continue
        found = follow(data[field.value.start : field.value.end], before, after)
        if found is None:
            text = f"{field.name} was wrong before: left as it is, although the body changed"
            stale.append(Note(Reason.FIELD_STALE, "", field.value, text))
        else:
            made += _placed(found, field)
    return made, stale


def _placed(found: list[Edit], field: Field) -> list[Edit]:
    at = field.value.start
    return [Edit(edit.start + at, edit.end + at, edit.new) for edit in found]


def _follow_length(value: bytes, before: bytes, after: bytes) -> list[Edit] | None:
    if _number(value) is None or int(value) != len(before):
        return None
    return [Edit(0, len(value), b"%d" % len(after))] if len(after) != len(before) else []


def _follow_md5(value: bytes, before: bytes, after: bytes) -> list[Edit] | None:
    if _md5(value) is None or value != _hashed("md5", before):
        return None
    return [Edit(0, len(value), _hashed("md5", after))]


def _follow_digests(value: bytes, before: bytes, after: bytes) -> list[Edit] | None:
    """All of a list of digests, or none of them."""
    edits: list[Edit] = []
    for found in _digests.finditer(value):
        algorithm = _ALGORITHMS.get(found[1].lower())
        if algorithm is None or found[2] != found[4] or found[3] != _hashed(algorithm, before):
            return None
        edits.append(Edit(*found.span(3), _hashed(algorithm, after)))
    return edits if len(edits) == value.count(b",") + 1 else None


def _hashed(algorithm: str, body: bytes) -> bytes:
    return b64encode(hashlib.new(algorithm, body, usedforsecurity=False).digest())


_FOLLOWED: Final[dict[str, Callable[[bytes, bytes, bytes], list[Edit] | None]]] = {
    "content-length": _follow_length,
    "content-md5": _follow_md5,
    "digest": _follow_digests,
    "content-digest": _follow_digests,
    "repr-digest": _follow_digests,
}
