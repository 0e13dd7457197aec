"""Regular expressions that match the same on every Python, compiled now or on first use.

Before CPython 3.11.5 a possessive group matches too much if its last iteration fails midway
(gh-106052: `(?:ab?c)*+` matches "abca" in "abcab"). There an atomic group around a greedy one
replaces it. It means the same, but takes memory for each repetition.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from typing import AnyStr, Final, cast

_IS_RIGHT: Final = sys.version_info[:3] >= (3, 11, 5)


def regex(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression as `re.compile` does."""
    if _IS_RIGHT:
        return re.compile(pattern, flags)
    if isinstance(pattern, bytes):
        return re.compile(atomic(pattern.decode("latin-1"), flags).encode("latin-1"), flags)
    return re.compile(atomic(pattern, flags), flags)


def atomic(pattern: str, flags: int = 0) -> str:
    """Return the pattern with each `(?:...)*+` replaced by `(?>(?:...)*)`."""
    pieces = _PIECES + (r"|#[^\n]*" if flags & re.VERBOSE else "") + r"|(?s:.)"
    written, opened = list[str](), list[int]()
    closed: int | None = None  # where the group begins that ends just before the piece
    for piece in re.findall(pieces, pattern):
        begin, new = closed, piece
        if begin is not None and len(piece) > 1 and piece[0] in "*+?{" and piece[-1] == "+":
            written[begin] = f"(?>{written[begin]}"
            new = f"{piece[:-1]})"
        if piece == "(":
            opened.append(len(written))
        closed = opened.pop() if piece == ")" else None
        written.append(new)
    return "".join(written)


# Escapes, character classes and repetitions: a parenthesis inside one does not open a group.
_PIECES: Final = r"\\(?s:.)|\[\^?\]?(?:\\(?s:.)|[^\]\\])*\]|(?:[*+?]|\{[0-9]*,?[0-9]*\})[+?]?"


def expression(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression as `re.compile` does, compiled on first use.

    Accessing a method compiles it, so access it in the call, as in `_digits.match(text)`.
    """
    return cast("re.Pattern[AnyStr]", _Expression(partial(regex, pattern, flags)))


class _Expression:
    def __init__(self, compiled: Callable[[], object]) -> None:
        self._compiled = compiled

    def __getattr__(self, name: str) -> object:
        # Keep the attribute, so that this runs once for each method.
        found: object = getattr(self._compiled(), name)
        setattr(self, name, found)
        return found
