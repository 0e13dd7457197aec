"""Where something stands in a text, for people."""

from __future__ import annotations

from relbase.view.charset import WIDE


class Lines:
    """The lines and columns of places in a text; asked for in order they take linear time."""

    __slots__ = ("_at", "_encoding", "_is_ascii", "_line", "_line_start", "_text")

    def __init__(self, text: bytes, encoding: str) -> None:
        self._text = text
        self._at = self._line_start = 0
        self._line = 1
        self._encoding = encoding  # of the document, whose own bytes a column counts
        self._is_ascii = True  # the line, up to here

    def of(self, at: int) -> str:
        """A place for people: "12:5", or "line 12" where its column is another in the document."""
        if at < self._at:
            self._at, self._line, self._line_start, self._is_ascii = 0, 1, 0, True
        lines = self._text.count(b"\n", self._at, at)
        if lines:
            self._line += lines
            self._line_start = self._text.rfind(b"\n", self._at, at) + 1
            self._is_ascii = True
        if self._encoding != "utf-8":
            begin = max(self._at, self._line_start)
            self._is_ascii = self._is_ascii and self._text[begin:at].isascii()
        self._at = at
        if self._encoding in WIDE or not self._is_ascii:
            return f"line {self._line}"
        return f"{self._line}:{at - self._line_start + 1}"
