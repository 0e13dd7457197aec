"""Base64 bodies: RFC 2045 §6.8.

`lowered` returns one edit, from the first changed quantum to the end. Only a body that decodes
strictly is rewritten, since readers disagree on what any other means.
"""

from __future__ import annotations

import sys
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from struct import unpack
from typing import Final

from relbase.edit import Edit, Span, splice
from relbase.expressions import regex
from relbase.view.runs import View

# "The encoded output stream must be represented in lines of no more than 76 characters each."
_WIDTH: Final = 76
_QUANTUM: Final = 3
_CODED_QUANTUM: Final = 4
_SPACE: Final = b" \t\r\n"

_EOL: Final = regex(rb"\r?\n|\r")
_character: Final = regex(rb"[^ \t\r\n]").search
_UNBROKEN: Final = sys.maxsize

# Lines broken per batch: keeps calls few without another copy of a large body.
_LINES: Final = 1 << 10


def base64_view(raw: bytes, eol: bytes = b"\r\n", footer: int = 0) -> Base64View | None:
    """Return the view of a base64 body, or None if it does not decode strictly."""
    try:
        return Base64View(raw, eol, footer)
    except ValueError:
        return None


class Base64View(View):
    """The view of a base64 body; raises ValueError if it does not decode strictly.

    `footer` is the offset of the plain-text footer that a mailing list added after it, or 0.
    """

    def __init__(self, raw: bytes, eol: bytes = b"\r\n", footer: int = 0) -> None:
        self.footer = footer
        self._raw = raw
        self._eol = eol
        coded = raw.replace(b"\n", b"").replace(b"\r", b"")
        if b" " in coded or b"\t" in coded:
            coded = coded.translate(None, _SPACE)
        self.inner = a2b_base64(coded, strict_mode=True)
        # binascii takes padding after whole quanta.
        if len(coded) != (len(self.inner) + _QUANTUM - 1) // _QUANTUM * _CODED_QUANTUM:
            raise ValueError("base64 with too much padding is ambiguous")

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        changing = (edit for edit in edits if edit.new or edit.start < edit.end)
        if first := next(changing, None):
            quanta = first.start // _QUANTUM
            edited = splice(self.inner, chain([first], changing))
            coded = b2a_base64(memoryview(edited)[quanta * _QUANTUM :], newline=False)
            yield self._placed(quanta * _CODED_QUANTUM, coded)

    def places(self) -> Callable[[Span], Span]:
        """Return a function that maps spans of `inner`, in order, to whole quanta of the body."""
        at = passed = 0

        def place(span: Span) -> Span:
            nonlocal at, passed
            first = span.start // _QUANTUM * _CODED_QUANTUM
            at, passed = _offset(self._raw, at, first - passed), first
            if span.start == span.end:
                return Span(at, at)
            after = -(-span.end // _QUANTUM) * _CODED_QUANTUM
            return Span(at, _offset(self._raw, at, after - 1 - first) + 1)

        return place

    def _placed(self, count: int, coded: bytes) -> Edit:
        raw = self._raw
        end = len(raw.rstrip(_SPACE))
        width, eol = _layout(raw, end, self._eol)
        start = min(_offset(raw, 0, count), end)
        if not coded:
            return Edit(len(raw[:start].rstrip(_SPACE)), end, b"")
        column = start - 1 - max(raw.rfind(b"\n", 0, start), raw.rfind(b"\r", 0, start))
        return Edit(start, end, _broken(coded, max(0, width - column), width, eol))


def _broken(coded: bytes, room: int, width: int, eol: bytes) -> bytes:
    """Break characters into lines; the first line has room for `room` of them."""
    pieces = [coded[:room]]
    for start in range(room, len(coded), width * _LINES):
        part = coded[start : start + width * _LINES]
        whole, rest = divmod(len(part), width)
        pieces.append(eol.join(unpack(f"{width}s" * whole + f"{rest}s" * (rest > 0), part)))
    return eol.join(pieces)


def _layout(raw: bytes, end: int, eol: bytes) -> tuple[int, bytes]:
    start = len(raw) - len(raw.lstrip(_SPACE))
    first = _EOL.search(raw, start, end)
    if first is not None:
        width = len(raw[start : first.start()].rstrip(_SPACE))
        return (width if width >= _CODED_QUANTUM else _WIDTH), first[0]
    last = _EOL.search(raw, end)
    return (_UNBROKEN if end - start > _WIDTH else _WIDTH), last[0] if last else eol


def _offset(raw: bytes, at: int, count: int) -> int:
    """Return the offset of the character that follows `count` others, starting at `at`."""
    left = count + 1
    while left and (character := _character(raw, at)):
        start = character.start()
        at = min(start + left, len(raw))
        left -= at - start - sum(raw.count(byte, start, at) for byte in _SPACE)
    return len(raw) if left else at - 1
