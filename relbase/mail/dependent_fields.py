"""What an edit changes in the headers around it: fields that follow a body, signatures that break.

A field that was wrong before the edit stays, with a note, since nobody knows what it counted.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from base64 import b64encode
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.fields import Field, text_of
from relbase.containers.header_fields import Follows
from relbase.containers.known_fields import ROWS
from relbase.edit import Edit, splice
from relbase.expressions import regex
from relbase.mail.parts import called, line_end, transfer_view
from relbase.notes import Note, Reason

if TYPE_CHECKING:
    from relbase.containers.mail import Part

# A number of bytes or lines; no body needs more digits.
_number: Final = regex(rb"[0-9]{1,18}(?![0-9])").match
_digest: Final = regex(rb"[A-Za-z0-9+/]{22}==").match


class _Change(NamedTuple):
    data: bytes  # the message
    part: Part
    grown: int  # how many bytes its body gains
    lines: int  # how many line ends its body gains
    later: list[Edit]  # the edits from the body on, the last one first
    first: int  # where in `later` the edits of the body begin


# RFC 1864 defines no digests of composite bodies, and each of them covers everything inside. All of
# them together may hash the message this many times (threat N8).
MAX_DIGESTED: Final = 4


def follow_bodies(
    data: bytes, parts: Sequence[Part], edits: list[Edit]
) -> tuple[list[Edit], list[Note]]:
    """Return the edits of a message and of the fields that follow its bodies, and notes."""
    # From the last header to the first: each describes its body, which may contain other headers.
    waiting = edits  # before the current place: taken from the list, since there may be millions
    later: list[Edit] = []  # the edits after it, the last one first
    # At index n: how many bytes and line ends the first n of `later` add.
    grown, lines = array("q", (0,)), array("q", (0,))
    stale: list[Note] = []

    def add(edit: Edit) -> None:
        start, end, new = edit
        grown.append(grown[-1] + len(new) - (end - start))
        lines.append(lines[-1] + new.count(b"\n") - data.count(b"\n", start, end))
        later.append(edit)

    left = MAX_DIGESTED * len(data)
    for part in reversed(parts):
        fields = [field for field in part.header.fields if field.name in _FOLLOWED]
        if not fields:
            continue
        while waiting and waiting[-1].start >= part.body.start:
            add(waiting.pop())
        first = bisect_left(later, -part.body.end, key=lambda edit: -edit.start)
        if first == len(later):
            continue
        if (part.message or part.multipart) and any(field.name in _DIGESTS for field in fields):
            left -= part.body.end - part.body.start
        more_bytes, more_lines = grown[-1] - grown[first], lines[-1] - lines[first]
        change = _Change(data, part, more_bytes, more_lines, later, first)
        followed, more = _followed(fields, change, is_long=left < 0)
        stale += more
        while followed and waiting and waiting[-1].start >= part.header.start:
            followed.append(waiting.pop())
        for edit in sorted(followed, reverse=True):
            add(edit)
    later.reverse()
    waiting += later
    return waiting, stale


def _followed(
    fields: list[Field], change: _Change, *, is_long: bool
) -> tuple[list[Edit], list[Note]]:
    edits: list[Edit] = []
    stale: list[Note] = []
    seen: set[str] = set()
    for field in fields:
        start, end = field.value
        why, texts = "was wrong before", None
        if field.name in seen:
            why = "occurs twice"
        elif is_long and field.name in _DIGESTS:
            why = "is of more than one part (RFC 1864)"
        else:
            texts = _FOLLOWED[field.name](change.data[start:end], change)
        seen.add(field.name)
        if texts is None:
            text = f"{field.name} {why}: left as it is, although the body changed"
            stale.append(Note(Reason.FIELD_STALE, change.part.number, field.value, text))
        elif texts[0] != texts[1]:
            edits.append(Edit(start, start + len(texts[0]), texts[1]))
    return edits, stale


def _length(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    length = _number(value)
    start, end = change.part.body
    if length is None or int(length[0]) != end - start:
        return None
    return length[0], b"%d" % (end - start + change.grown)


def _lines(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    """`Lines` counts line ends, or lines, the last of which may have no line end."""
    lines = _number(value)
    stated = int(lines[0]) if lines else -1
    counted = change.data.count(b"\n", *change.part.body)
    if lines is None or stated not in {counted, counted + 1}:
        return None
    return lines[0], b"%d" % (stated + change.lines)


def _md5(value: bytes, change: _Change) -> tuple[bytes, bytes] | None:
    if (stated := _digest(value)) is None:
        return None
    part, (at, end), eol = change.part, change.part.body, line_end(change.data)
    before = change.data[at:end]
    view = transfer_view(part, before, eol)
    for in_crlf in (False, True) if view else ():
        if view and _hashed(view.inner, in_crlf=in_crlf) == stated[0]:
            after = splice(before, reversed(change.later[change.first :]), at)
            view = transfer_view(part, after, eol)
            return None if view is None else (stated[0], _hashed(view.inner, in_crlf=in_crlf))
    return None


def _hashed(body: bytes, *, in_crlf: bool) -> bytes:
    body = re.sub(rb"\r?\n", b"\r\n", body) if in_crlf else body
    return b64encode(hashlib.md5(body, usedforsecurity=False).digest())


_MEASURES: Final = {Follows.LENGTH: _length, Follows.LINES: _lines, Follows.DIGEST: _md5}
_FOLLOWED: Final = {
    name: _MEASURES[row.follows] for name, row in ROWS.items() if row.follows is not None
}
_DIGESTS: Final = frozenset(name for name in _FOLLOWED if ROWS[name].follows is Follows.DIGEST)


# ---- signatures over whole messages (DKIM, DomainKeys, ARC)
#
# Signatures are not verified, since that takes the network. Their tags say what they cover (RFC
# 6376 §3.5): fields by name in `h=`, the last ones first, and the body, up to `l=` octets in its
# canonical form (§3.4). An ARC seal covers only the fields of ARC; the chain holds only as long as
# the newest ARC-Message-Signature does (RFC 8617 §5.2 step 4).

_SIGNATURES: Final = frozenset(name for name, row in ROWS.items() if row.signs)
_SEAL: Final = "arc-seal"
_SEALED: Final = "arc-message-signature"


def signed(parts: Sequence[Part]) -> set[int]:
    covered: set[int] = set()
    for index, part in enumerate(parts):
        if part.parent in covered or _signatures(part, parts):
            covered.add(index)
    return covered


def broken_signatures(data: bytes, parts: Sequence[Part], edits: Sequence[Edit]) -> Iterator[Note]:
    starts: list[int] = []
    for part in parts:
        fields = _signatures(part, parts)
        if not fields:
            continue
        starts = starts or [edit.start for edit in edits]
        at = bisect_left(starts, part.body.start)
        changed = _changed_fields(part, edits[bisect_left(starts, part.header.start) : at])
        in_body = edits[at] if at < len(edits) and edits[at].start <= part.body.end else None
        body = _Body(data, part, in_body) if in_body else None
        for field in _covering(data, part, fields):
            verdict = _verdict(_tags(text_of(data, field)), changed, body)
            if verdict:
                text = f"{called(part)} is signed ({field.name}), and the signature {verdict}"
                yield Note(Reason.SIGNATURE_BROKEN, part.number, field.span, text)
                break


def _signatures(part: Part, parts: Sequence[Part]) -> list[Field]:
    """The signature fields of a message as a whole; none for a part of a multipart."""
    if part.parent is not None and not parts[part.parent].message:
        return []
    return [field for field in part.header.fields if field.name in _SIGNATURES]


def _covering(data: bytes, part: Part, fields: Sequence[Field]) -> list[Field]:
    """The signatures to check; the newest ARC-Message-Signature replaces all ARC seals."""
    covering = [field for field in fields if field.name != _SEAL]
    if len(covering) < len(fields):
        made = [field for field in part.header.fields if field.name == _SEALED]
        seals = [field for field in fields if field.name == _SEAL]
        covering.append(
            max(made or seals, key=lambda field: _tag_number(_tags(text_of(data, field)).get("i")))
        )
    return covering


def _tag_number(value: str | None) -> int:
    """The number in a tag, -1 for none, or for one with more digits than any body needs."""
    return int(value) if value and re.fullmatch(r"[0-9]{1,18}", value) else -1


# tag-spec = [FWS] tag-name [FWS] "=" [FWS] tag-value [FWS]   (RFC 6376 §3.2)
def _tags(value: str) -> dict[str, str]:
    tags: dict[str, str] = {}
    for spec in value.split(";"):
        name, equals, text = spec.partition("=")
        if equals:
            tags.setdefault(name.strip(), "".join(text.split()))
    return tags


def _changed_fields(part: Part, edits: Sequence[Edit]) -> dict[str, int]:
    """Map the names of edited fields to the lowest number of one, counted from the bottom."""
    starts = [edit.start for edit in edits]
    numbers: Counter[str] = Counter()
    changed: dict[str, int] = {}
    for field in reversed(part.header.fields):
        numbers[field.name] += 1
        at = bisect_left(starts, field.span.start)
        if at < len(starts) and starts[at] < field.span.end:
            changed.setdefault(field.name, numbers[field.name])
    return changed


def _verdict(tags: dict[str, str], changed: dict[str, int], body: _Body | None) -> str:
    if body is not None and body.is_covered(tags):
        return "no longer holds"
    if not changed:
        return ""
    if "h" not in tags:  # DomainKeys: then it covers all fields that follow it (RFC 4870 §3.3)
        return "may no longer be valid"
    # §5.4.2: "selected from the bottom of the header block to the top"
    covered = Counter(name.lower() for name in tags["h"].split(":"))
    is_covered = any(number <= covered[name] for name, number in changed.items())
    return "no longer holds" if is_covered else ""


_BLANKS: Final = regex(rb"[ \t]++(\r?\n)?")


class _Body:
    """An edited body, and how many octets at the start of its canonical forms stay unchanged."""

    def __init__(self, data: bytes, part: Part, edit: Edit) -> None:
        """Take the first edit of the body: only what precedes it is certain to stay."""
        start, _, new = edit
        pairs = zip(new, data[start : start + len(new)], strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        self._same = data[part.body.start : start + same]
        self._octets: dict[bool, int] = {}  # each is counted once: there may be 1,000 signatures

    def is_covered(self, tags: dict[str, str]) -> bool:
        stated = _tag_number(tags.get("l"))
        if stated < 0:
            return True
        is_relaxed = tags.get("c", "").partition("/")[2].lower() == "relaxed"
        if is_relaxed not in self._octets:
            body = self._same
            if is_relaxed:  # RFC 6376 §3.4.4: no blanks at the end of a line, else one space
                body = _BLANKS.sub(lambda blanks: blanks[1] or b" ", body)
            self._octets[is_relaxed] = len(body) + body.count(b"\n") - body.count(b"\r\n")
        return self._octets[is_relaxed] < stated
