"""Rules that begin like a custom property at the top level of a sheet: they are dropped.

CSS Syntax 3 §5.5.3 drops such a rule up to the end of its block, whatever is in it. In a block it
may be a declaration.
"""

from __future__ import annotations

from typing import Final

from relbase.css.escapes import COMMENT, ESCAPE, NAME, STRING, WORD
from relbase.expressions import regex

_CLOSERS: Final = {b"(": b")", b"[": b"]", b"{": b"}"}
# What is passed over: names as a whole, a url without quotes, strings, comments.
_WORDS: Final = rb"""[^%b\\"'/()\[\]{}#@<]++|<(?:!--)?+|[#@](?:%b)?+""" % (WORD, NAME)
_URL: Final = rb"""(?i:url)\((?![ \t\n\r\f]*+["'])(?:[^)\\]++|%b|\\)*+\)?+|%b""" % (ESCAPE, NAME)
_bracket: Final = regex(
    rb"(?:%b|/|\\)*+([()\[\]{}])" % b"|".join((_WORDS, _URL, STRING, COMMENT))
).match


class TopLevel:
    """What brackets are open at a place in a sheet; asked for places in order."""

    __slots__ = ("_open", "_pos", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._pos = 0
        self._open = bytearray()

    def end_of_dropped(self, pos: int, end: int) -> int:
        """Return where the rule ends whose prelude goes on at `pos`; -1 where it is in a block."""
        while self._next(pos):
            continue
        if self._open:
            return -1
        self._pos = max(self._pos, pos)
        while bracket := self._next(end):
            if bracket == b"{" and len(self._open) == 1:
                break
        while self._open and self._next(end):
            continue
        return self._pos

    def _next(self, end: int) -> bytes:
        """Go past the next bracket before `end`; return it, or b"" and go there."""
        match = _bracket(self._text, self._pos, end) if self._pos < end else None
        if match is None:
            self._pos = max(self._pos, end)
            return b""
        self._pos = match.end()
        bracket = match[1]
        if bracket in _CLOSERS:
            self._open += _CLOSERS[bracket]
        elif self._open.endswith(bracket):
            self._open.pop()
        return bracket
