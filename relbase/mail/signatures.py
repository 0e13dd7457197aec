"""Signatures over whole messages (DKIM, DomainKeys, ARC): which messages have one, and which break.

Nothing is verified, since that takes the network. What a signature covers stands in its tags (RFC
6376 §3.5): fields by name in `h=`, the last ones first, and the body, up to `l=` octets in its
canonical form (§3.4). The seal of ARC covers the fields of ARC alone; the chain holds only as long
as the newest ARC-Message-Signature does (RFC 8617 §5.2 step 4).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Final

from relbase.containers.fields import text_of
from relbase.mail.bodies import called
from relbase.notes import Note, Reason
from relbase.registry import ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.containers.fields import Field
    from relbase.containers.mail import Part
    from relbase.edit import Edit

_SIGNATURES: Final = frozenset(name for name, row in ROWS.items() if row.signs)
_SEAL: Final = "arc-seal"
_SEALED: Final = "arc-message-signature"


def signed(parts: Sequence[Part]) -> set[int]:
    """Return the indices of all parts that are in a signed message, or are one."""
    found: set[int] = set()
    for index, part in enumerate(parts):
        if part.parent in found or _signatures(part, parts):
            found.add(index)
    return found


def broken_signatures(data: bytes, parts: Sequence[Part], edits: Sequence[Edit]) -> Iterator[Note]:
    """Yield a note on each signed message whose signatures the edits break."""
    starts = [edit.start for edit in edits]
    for part in parts:
        fields = _signatures(part, parts)
        if not fields:
            continue
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
    """The fields by which a message is signed, as a whole, by somebody on the way."""
    if part.parent is not None and not parts[part.parent].message:
        return []
    return [field for field in part.header.fields if field.name in _SIGNATURES]


def _covering(data: bytes, part: Part, fields: Sequence[Field]) -> list[Field]:
    """The signatures in the place of seals, of which one stands for all: the newest."""
    covering = [field for field in fields if field.name != _SEAL]
    if len(covering) < len(fields):
        made = [field for field in part.header.fields if field.name == _SEALED]
        seals = [field for field in fields if field.name == _SEAL]
        covering.append(
            max(made or seals, key=lambda one: _number(_tags(text_of(data, one)).get("i")))
        )
    return covering


def _number(value: str | None) -> int:
    """A number of a tag, -1 for none; more digits than any body has octets are none."""
    return int(value) if value and re.fullmatch(r"[0-9]{1,18}", value) else -1


# tag-spec = [FWS] tag-name [FWS] "=" [FWS] tag-value [FWS]   (RFC 6376 §3.2)
def _tags(value: str) -> dict[str, str]:
    """The tags of a signature; white space means nothing in those that are looked at."""
    tags: dict[str, str] = {}
    for spec in value.split(";"):
        name, equals, text = spec.partition("=")
        if equals:
            tags.setdefault(name.strip(), "".join(text.split()))
    return tags


def _changed_fields(part: Part, edits: Sequence[Edit]) -> dict[str, int]:
    """The names of edited fields: which one is the first of its name, counted from the last."""
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
    if "h" not in tags:  # DomainKeys: then what follows the signature is covered (RFC 4870 §3.3)
        return "may no longer hold"
    # §5.4.2: "selected from the bottom of the header block to the top"
    covered = Counter(name.lower() for name in tags["h"].split(":"))
    is_covered = any(number <= covered[name] for name, number in changed.items())
    return "no longer holds" if is_covered else ""


_BLANKS: Final = re.compile(rb"[ \t]++(\r?\n)?")


class _Body:
    """A body that is edited, and how many octets of its canonical forms stay as they are."""

    def __init__(self, data: bytes, part: Part, edit: Edit) -> None:
        """Look at the first edit: only what is before it stays for certain."""
        start, _, new = edit
        same = start + _common(new, data[start : start + len(new)])
        self._same = data[part.body.start : same]

    def is_covered(self, tags: dict[str, str]) -> bool:
        """Whether a signature covers what is edited."""
        stated = _number(tags.get("l"))
        if stated < 0:
            return True
        is_relaxed = tags.get("c", "").partition("/")[2].lower() == "relaxed"
        return (self._relaxed if is_relaxed else self._simple) < stated

    # Each is counted once: there may be 1,000 signatures.
    @cached_property
    def _simple(self) -> int:
        return _octets(self._same)

    @cached_property
    def _relaxed(self) -> int:
        return _octets(_BLANKS.sub(_reduced, self._same))


def _octets(body: bytes) -> int:
    return len(body) + body.count(b"\n") - body.count(b"\r\n")


def _reduced(blanks: re.Match[bytes]) -> bytes:
    """RFC 6376 §3.4.4: none at the end of a line, else one space."""
    return blanks[1] or b" "


def _common(one: bytes, other: bytes) -> int:
    length = min(len(one), len(other))
    if one[:length] == other[:length]:
        return length
    return next(at for at in range(length) if one[at] != other[at])
