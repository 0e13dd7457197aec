r"""The view of a value in a calendar: RFC 5545 §3.1 (folding) and §3.3.11 (TEXT).

What comes in is the value of a property as it stands in its lines. `inner` shows it without line
breaks and escapes: `\,` is `,` and `\n` a new line. What is written is escaped again, and not
folded: a line "SHOULD NOT" be longer than 75 octets.

To mind: a line may end between a backslash and what it escapes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.view.characters import unit_pattern, unit_run
from relbase.view.runs import Run, RunView

if TYPE_CHECKING:
    from collections.abc import Iterator

_FOLD: Final = rb"\r?\n[ \t]"
_NOT_ITSELF: Final = re.compile(
    rb"%b|\\(?:%b)*+([\\;,nN])?+|" % (_FOLD, _FOLD) + unit_pattern("utf-8")
)
_UNSAFE: Final = re.compile(rb"[\\;,\r\n]")
_ESCAPED: Final = {b"\r": b"", b"\n": b"\\n"}


def calendar_view(raw: bytes) -> RunView:
    r"""Return the view of a value of TEXT."""
    return RunView(raw, _runs, _spelled)


def _runs(raw: bytes) -> Iterator[Run]:
    for found in _NOT_ITSELF.finditer(raw):
        unit = found[0]
        if unit[0] == _BACKSLASH:
            meaning = _MEANINGS.get(found[1], found[1]) or b"\\"
            yield Run(found.start(), found.end(), meaning, unended=found[1] is None)
        elif unit.isascii():
            yield Run(found.start(), found.end(), b"")
        elif (run := unit_run(unit, found.start(), "utf-8")) is not None:
            yield run


_BACKSLASH: Final = 0x5C
_MEANINGS: Final = {b"n": b"\n", b"N": b"\n"}


def _spelled(new: bytes) -> bytes:
    return _UNSAFE.sub(lambda found: _ESCAPED.get(found[0], b"\\" + found[0]), new)
