"""Fields that tell of a body and follow it when it changes: Content-Length, Lines, Content-MD5.

A field that was wrong before the change is left alone, with a remark: nobody knows what it counted.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit, Span, splice
from relbase.notes import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relbase.containers.parts import Part

    Decode = Callable[[bytes], bytes | None]
    Remark = tuple[Span, Reason, str]

# A number as written; more digits than any body has bytes are none.
_number: Final = re.compile(rb"[0-9]{1,18}(?![0-9])").match
_digest: Final = re.compile(rb"[A-Za-z0-9+/]{22}==").match


def following(
    data: bytes, part: Part, edits: Sequence[Edit], decode: Decode
) -> tuple[list[Edit], list[Remark]]:
    """Return the edits of the fields of a part that follow its body, and what to remark.

    Args:
        data: the message.
        part: the part, whose heading holds the fields.
        edits: all edits of the message; those in the body count.
        decode: undoes the transfer encoding of a body, None where it cannot.
    """
    fields = [field for field in part.heading.fields if field.name in _FOLLOWED]
    start, end = part.body
    inside = [Edit(e.start - start, e.end - start, e.new) for e in edits if start <= e.start <= end]
    if not fields or not inside:
        return [], []
    before = data[start:end]
    after = splice(before, inside)
    followed: list[Edit] = []
    remarks: list[Remark] = []
    for field in fields:
        value = data[field.value.start : field.value.end]
        found = _FOLLOWED[field.name](value, before, after, decode)
        if found is None:
            text = f"{field.name} was wrong before the body changed: left as it is"
            remarks.append((field.value, Reason.FIELD_STALE, text))
        else:
            length, new = found
            followed.append(Edit(field.value.start, field.value.start + length, new))
    return [edit for edit in followed if data[edit.start : edit.end] != edit.new], remarks


def _length(
    value: bytes, before: bytes, after: bytes, _decode: Decode
) -> tuple[int, bytes] | None:
    found = _number(value)
    if found is None or int(found[0]) != len(before):
        return None
    return found.end(), b"%d" % len(after)


def _lines(value: bytes, before: bytes, after: bytes, _decode: Decode) -> tuple[int, bytes] | None:
    """Lines counts line ends, or lines: the last one may have no end."""
    found = _number(value)
    stated = int(found[0]) if found else -1
    counted = before.count(b"\n")
    if found is None or stated not in {counted, counted + 1}:
        return None
    return found.end(), b"%d" % (stated + after.count(b"\n") - counted)


def _md5(value: bytes, before: bytes, after: bytes, decode: Decode) -> tuple[int, bytes] | None:
    """RFC 1864 §2: of the decoded body, the line ends of text as CRLF."""
    found = _digest(value)
    for form in (_as_it_is, _with_crlf):
        decoded, redecoded = decode(before), decode(after)
        if found is None or decoded is None or redecoded is None:
            return None
        if _hashed(form(decoded)) == found[0]:
            return found.end(), _hashed(form(redecoded))
    return None


def _as_it_is(body: bytes) -> bytes:
    return body


def _with_crlf(body: bytes) -> bytes:
    return re.sub(rb"\r?\n", b"\r\n", body)


def _hashed(body: bytes) -> bytes:
    return b64encode(hashlib.md5(body, usedforsecurity=False).digest())


_FOLLOWED: Final = {"content-length": _length, "lines": _lines, "content-md5": _md5}
