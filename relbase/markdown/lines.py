"""The numbers of a text's lines, as the rules of markdown-it-py look them up.

The rules ask of any line where it begins and ends and how far it is indented, mostly of lines near
the last ones. The parser keeps this in five lists, 100 bytes a line. Here it is worked out for some
hundred lines at a time, and anew if it is asked for again. Quotes and lists change the numbers of
their lines while these are read: what is changed is kept.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any, Final

from markdown_it.rules_block import StateBlock

from relbase.expressions import expression

_AT_ONCE: Final = 256  # lines
_MOST: Final = 16  # times as many are there at once


class Lines(StateBlock):
    """The state of the parser of blocks."""

    def __init__(self, text: str, parser: Any, env: dict[str, Any], tokens: list[Any]) -> None:  # noqa: ANN401
        super().__init__("", parser, env, tokens)
        self.src = text
        self._starts = array("Q", [0])  # of every `_AT_ONCE`th line
        while piece := _piece.match(text, self._starts[-1]):
            self._starts.append(piece.end())
        begun = text[self._starts[-1] :]
        # A last line of spaces and tabs alone counts only with its line end.
        rest = begun.count("\n") + (begun.rpartition("\n")[2].strip(" \t") != "")
        self.lineMax = (len(self._starts) - 1) * _AT_ONCE + rest
        self._starts.append(len(text))
        self._loaded: set[int] = set()
        self._changed: set[int] = set()
        self._kept: dict[int, list[array[int]]] = {}
        columns: Any = [_Column(self._load, self._changed) for _ in range(5)]
        self.bMarks, self.eMarks, self.tShift, self.sCount, self.bsCount = self._columns = columns

    def getLines(self, begin: int, end: int, indent: int, keepLastLF: bool) -> str:  # noqa: FBT001, N802, N803
        """Return the text of some lines; of code and HTML nobody needs it."""
        if keepLastLF or indent > self.blkIndent:
            return ""
        starts = range(begin, end, _AT_ONCE)
        get = super().getLines
        return "".join(
            get(start, min(start + _AT_ONCE, end), indent, start != starts[-1]) for start in starts
        )

    def _load(self, line: int) -> None:
        if not 0 <= line <= self.lineMax:
            raise IndexError(line)
        if len(self._loaded) == _MOST:
            self._forget()
        number = line // _AT_ONCE
        self._loaded.add(number)
        columns = self._kept.get(number) or self._read(number)
        for column, values in zip(self._columns, columns, strict=True):
            column.update(enumerate(values, number * _AT_ONCE))

    def _forget(self) -> None:
        """Forget all lines that are as they were read."""
        for number in self._changed & self._loaded:
            columns = self._read(number)
            lines = range(number * _AT_ONCE, number * _AT_ONCE + len(columns[0]))
            now = [array("q", (column[line] for line in lines)) for column in self._columns]
            if now == columns:
                self._changed.discard(number)
                self._kept.pop(number, None)
            else:
                self._kept[number] = now
        self._loaded.clear()
        for column in self._columns:
            column.clear()

    def _read(self, number: int) -> list[array[int]]:
        """Return the columns of some lines; behind the last line there is one more."""
        columns = [array("q") for _ in range(5)]
        first = number * _AT_ONCE
        count = min(_AT_ONCE, self.lineMax - first)
        for line in islice(_line.finditer(self.src, self._starts[number]), count):
            start, end = line.span(2)
            blank = line[1]
            width = len(blank.expandtabs(4)) if "\t" in blank else len(blank)
            _append(columns, (start - len(blank), end, len(blank), width, 0))
        if count < _AT_ONCE:
            size = len(self.src)
            _append(columns, (size, size, 0, 0, 0))
        return columns


def _append(columns: list[array[int]], row: Sequence[int]) -> None:
    for column, number in zip(columns, row, strict=True):
        column.append(number)


class _Column(dict[int, int]):
    """One of the numbers of each line."""

    def __init__(self, load: Callable[[int], None], changed: set[int]) -> None:
        super().__init__()
        self._load, self._changed = load, changed

    def __missing__(self, line: int) -> int:
        self._load(line)
        return self[line]

    def __setitem__(self, line: int, number: int) -> None:
        if line not in self:
            self._load(line)
        self._changed.add(line // _AT_ONCE)
        super().__setitem__(line, number)


_piece: Final = expression(rf"(?:[^\n]*+\n){{{_AT_ONCE}}}")
_line: Final = expression(r"([ \t]*+)([^\n]*+)\n?")
