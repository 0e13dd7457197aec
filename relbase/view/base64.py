"""Base64 bodies: RFC 2045 §6.8.

`lower` gives one edit, from the first quantum that changes to the end. Only a body that decodes
strictly is rewritten: another one means different things to different readers.
"""

from __future__ import annotations

import sys
from binascii import a2b_base64, b2a_base64
from itertools import chain
from struct import unpack
from typing import TYPE_CHECKING, Final

from relbase.edit import Edit, Span, splice
from relbase.expressions import regex
from relbase.view.runs import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# "The encoded output stream must be represented in lines of no more than 76 characters each."
_WIDTH: Final = 76
_QUANTUM: Final = 3
_CODED_QUANTUM: Final = 4
_SPACE: Final = b" \t\r\n"

_EOL: Final = regex(rb"\r?\n|\r")
_WORD: Final = regex(rb"[^ \t\r\n]++")
_UNBROKEN: Final = sys.maxsize

# Lines broken at a time: few calls, and no more copies of a large body.
_LINES: Final = 1 << 10


def base64_view(raw: bytes, eol: bytes = b"\r\n") -> Base64View | None:
    """Return the view of a base64 body, None where it does not decode strictly."""
    try:
        return Base64View(raw, eol)
    except ValueError:
        return None


class Base64View(View):
    """The view of a base64 body; ValueError for one that does not decode strictly."""

    __slots__ = ("_eol", "_raw")

    def __init__(self, raw: bytes, eol: bytes = b"\r\n") -> None:
        self._raw = raw
        self._eol = eol
        self.inner = _decode(raw)

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Turn sorted, disjoint edits of `inner` into one edit of the body."""
        changing = (edit for edit in edits if edit.new or edit.start < edit.end)
        if first := next(changing, None):
            quanta = first.start // _QUANTUM
            edited = splice(self.inner, chain([first], changing))
            coded = b2a_base64(memoryview(edited)[quanta * _QUANTUM :], newline=False)
            yield self._placed(quanta * _CODED_QUANTUM, coded)

    def locate(self, spans: Sequence[Span]) -> list[Span]:
        """Return where sorted spans of `inner` are in the body: whole quanta."""
        bounds: list[tuple[int, int]] = []
        for start, end in spans:
            first = start // _QUANTUM * _CODED_QUANTUM
            after = -(-end // _QUANTUM) * _CODED_QUANTUM
            bounds.append((first, after - 1 if start < end else first))
        places = _offsets(self._raw, sorted({count for pair in bounds for count in pair}))
        return [
            Span(places[first], places[last] + (start < end))
            for (first, last), (start, end) in zip(bounds, spans, strict=True)
        ]

    def _placed(self, count: int, coded: bytes) -> Edit:
        raw = self._raw
        end = len(raw.rstrip(_SPACE))
        width, eol = _layout(raw, end, self._eol)
        start = min(_offset(raw, count, width, eol), end)
        if not coded:
            return Edit(len(raw[:start].rstrip(_SPACE)), end, b"")
        column = start - 1 - max(raw.rfind(b"\n", 0, start), raw.rfind(b"\r", 0, start))
        return Edit(start, end, _broken(coded, max(0, width - column), width, eol))


def _broken(coded: bytes, room: int, width: int, eol: bytes) -> bytes:
    """Break characters into lines; the first one has only so much room."""
    pieces = [coded[:room]]
    for start in range(room, len(coded), width * _LINES):
        part = coded[start : start + width * _LINES]
        whole, rest = divmod(len(part), width)
        pieces.append(eol.join(unpack(f"{width}s" * whole + f"{rest}s" * (rest > 0), part)))
    return eol.join(pieces)


def _decode(raw: bytes) -> bytes:
    coded = raw.replace(b"\n", b"").replace(b"\r", b"")
    if b" " in coded or b"\t" in coded:
        coded = coded.translate(None, _SPACE)
    inner = a2b_base64(coded, strict_mode=True)
    # binascii takes padding after whole quanta.
    if len(coded) != (len(inner) + _QUANTUM - 1) // _QUANTUM * _CODED_QUANTUM:
        raise ValueError("base64 with too much padding means nothing certain: pass it through")
    return inner


def _layout(raw: bytes, end: int, eol: bytes) -> tuple[int, bytes]:
    """Return the width and the line end of the lines to write: those of the first."""
    start = len(raw) - len(raw.lstrip(_SPACE))
    first = _EOL.search(raw, start, end)
    if first is not None:
        width = len(raw[start : first.start()].rstrip(_SPACE))
        return (width if width >= _CODED_QUANTUM else _WIDTH), first[0]
    last = _EOL.search(raw, end)
    return (_UNBROKEN if end - start > _WIDTH else _WIDTH), last[0] if last else eol


def _offsets(raw: bytes, counts: Sequence[int]) -> dict[int, int]:
    """Return where the characters with these numbers, sorted, stand; the end after the last."""
    places: dict[int, int] = {}
    passed = 0
    words = _WORD.finditer(raw)
    word = next(words, None)
    for count in counts:
        while word is not None and count >= passed + word.end() - word.start():
            passed += word.end() - word.start()
            word = next(words, None)
        places[count] = len(raw) if word is None else word.start() + count - passed
    return places


def _offset(raw: bytes, count: int, width: int, eol: bytes) -> int:
    """Return where the character with that number stands, the end where there is none."""
    regular = count + count // width * len(eol)
    if len(raw[:regular].translate(None, _SPACE)) == count:
        found = _WORD.search(raw, regular)
        return len(raw) if found is None else found.start()
    return _offsets(raw, [count])[count]
