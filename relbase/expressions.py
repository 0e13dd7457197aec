"""What is made on first use: regular expressions, and functions of modules not loaded before.

Regular expressions match the same on every Python: before CPython 3.11.5 a possessive group matches
too much if its last iteration fails midway (gh-106052: `(?:ab?c)*+` matches "abca" in "abcab").
There an atomic group around a greedy one replaces it. It means the same, but takes memory for each
repetition.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any, AnyStr, Final, cast

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
        value: object = getattr(self._compiled(), name)
        setattr(self, name, value)
        return value


def any_of(patterns: Sequence[re.Pattern[str]]) -> re.Pattern[str]:
    r"""Return a regular expression that matches where any of these does; re.error if none can.

    >>> any_of([re.compile("(?i)a"), re.compile(r"(.)\1")]).pattern
    '(?i:a)|(?:(.)(?:\\1))'
    """
    if len(patterns) == 1:
        return patterns[0]
    branches, groups = list[str](), 0
    for pattern in patterns:
        flags = "".join(letter for letter, flag in _LETTERS.items() if pattern.flags & flag)
        text = _reference.sub(partial(_renumbered, groups), _global_flags.sub("", pattern.pattern))
        end = "\n" if "x" in flags else ""  # where a comment ends
        branches.append(f"(?{flags}:{text}{end})")
        groups += pattern.groups
    return re.compile("|".join(branches))


_LETTERS: Final = {
    "a": re.ASCII,
    "i": re.IGNORECASE,
    "m": re.MULTILINE,
    "s": re.DOTALL,
    "x": re.VERBOSE,
}
_global_flags: Final = expression(r"\A(?:\(\?[aimsux]+\))+")
# References to groups by number; escapes and classes, which have none, are passed over.
_reference: Final = expression(
    r"\\[0-7]{3}|(\\)([1-9][0-9]?)|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(\(\?\()([0-9]+)(?=\))",
    re.DOTALL,
)


def _renumbered(before: int, match: re.Match[str]) -> str:
    if not (match[2] or match[4]):
        return match[0]
    number = int(match[2] or match[4]) + before
    if match[4]:
        return f"{match[3]}{number}"
    if number >= _MOST:
        raise re.error("too many groups")
    return rf"(?:\{number})"  # a digit may follow


_MOST: Final = 100  # three digits are an octal escape


def loaded_later(name: str) -> Callable[..., Any]:
    """Return a function by its module in relbase and its name; a first call loads the module.

    An import inside a function takes longer than many a function, each time.
    """
    module, _, function = name.rpartition(".")
    loaded: Callable[..., Any] | None = None

    def call(*args: object) -> Any:  # noqa: ANN401 (of the function)
        nonlocal loaded
        if loaded is None:
            loaded = cast(
                "Callable[..., Any]", getattr(import_module(f"relbase.{module}"), function)
            )
        return loaded(*args)

    return call
