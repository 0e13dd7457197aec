"""Quoted-printable bodies: RFC 2045 §6.7.

`lowered` finds the line of an edit by arithmetic: a line decodes to its length, less 2 for each `=`
and 1 more for each `=` CRLF. Padding before a line end means nothing. An `=` that begins
neither an escape nor a soft break means itself, and is encoded if an edit follows directly. No
written line reads as a delimiter, as the `From ` line of an mbox or as the end of an SMTP message.
"""

from __future__ import annotations

import re
from binascii import a2b_qp
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from relbase.edit import Edit, Span
from relbase.expressions import regex
from relbase.view.runs import View, merge

# Rule (5): "lines longer than 76 characters" are not allowed, not counting the line end.
_WIDTH: Final = 76
_BLANKS: Final = b" \t"

# Rules (1) and (2): bytes that new text writes as escapes.
_UNSAFE: Final = regex(rb"[^!-<>-~ \t]")
_ESCAPE: Final = regex(rb"=[0-9A-Fa-f]{2}")
# An escape, a soft break, and padding, which means nothing (rule (3)).
_CODED: Final = regex(rb"=([0-9A-Fa-f]{2})|=[ \t]*+\r?\n|(?<![ \t])[ \t]++(?=\r?\n|\Z)")
# `=` that begins neither an escape nor a soft line break; the literal first makes the search fast.
_LITERAL: Final = regex(rb"=(?![0-9A-Fa-f]{2}|[ \t]*+\r?\n)")
# A line end after transport padding.
_PADDED: Final = regex(rb"\n(?:(?<=[ \t]\n)|(?<=[ \t]\r\n))")
# An end that the next bytes could complete to an escape, a soft break or CRLF.
_OPEN: Final = regex(rb"=(?=[0-9A-Fa-f\r]?+\Z)|\r\Z")
# A line from which no reader of mboxrd removes a `>`.
_HARMLESS: Final = regex(rb">++(?!From )")


class QuotedPrintableView(View):
    """The view of a body without the line end before its delimiter; `boundaries` lack the `--`."""

    def __init__(self, raw: bytes, boundaries: Sequence[bytes] = (), eol: bytes = b"\r\n") -> None:
        self._raw = raw
        self._eol = eol
        self._unsafe_starts = (b".", b"From ", b">", *map(b"--".__add__, boundaries))
        is_padded = raw.endswith((b" ", b"\t")) or _PADDED.search(raw) is not None
        self._is_odd = is_padded or _LITERAL.search(raw) is not None
        plain = a2b_qp if b"=" in raw else bytes
        self.inner = (_decoded if self._is_odd else plain)(raw)

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        for change in self._changes(edits):
            yield self._rewritten(change)

    def places(self) -> Callable[[Span], Span]:
        lines = _Lines(self._raw, len(self.inner), is_odd=self._is_odd)

        def place(span: Span) -> Span:
            lowered = lines.lowered(Edit(*span, b"x"))
            return Span(lowered.start, lowered.end)

        return place

    def _changes(self, edits: Iterable[Edit]) -> Iterator[_Change]:
        """Lower the edits, and group those whose lines become one line."""
        lines = _Lines(self._raw, len(self.inner), is_odd=self._is_odd)
        changed: list[Edit] = []
        for (first, last, *_), new in merge(self.inner, edits):
            start, end = lines.start, lines.line.end
            lowered = lines.lowered(Edit(first, last, new))
            if changed and start < lines.start:
                yield _Change(start, end, changed)
                changed = []
            changed.append(lowered)
        if changed:
            yield _Change(lines.start, lines.line.end, changed)

    def _rewritten(self, change: _Change) -> Edit:
        raw, (start, end, edits) = self._raw, change
        first, behind = edits[0].start, edits[-1].end
        text_end, eol, is_soft = _ending(raw, behind, end)
        mark = raw[text_end:eol]
        text = _text(raw, change, text_end)
        lines = self._wrapped(text if is_soft else _closed(text, mark), mark)
        del text  # it may be as long as the body
        head = min(first - start, len(lines[0]) - (len(lines) > 1))
        head = head if lines[0].startswith(raw[start : start + head]) else 0
        lines[0] = lines[0][head:]
        tail = min(eol - behind, len(lines[-1]))
        tail = tail if lines[-1].endswith(raw[eol - tail : eol]) else 0
        lines[-1] = lines[-1][: len(lines[-1]) - tail]
        # Soft breaks in a line use its own line end, or that of the line before.
        before = b"\r\n" if raw.endswith(b"\r\n", 0, start) else b"\n" if start else self._eol
        return Edit(start + head, eol - tail, (raw[eol:end] or before).join(lines))

    def _wrapped(self, text: bytes, mark: bytes) -> list[bytes]:
        """Break a line's text softly; `mark` is what stands between the text and the line end."""
        lines: list[bytes] = []
        at = 0
        while True:
            line, end = _first_line(text, at, mark, _WIDTH)
            if line.startswith(self._unsafe_starts) and not _HARMLESS.match(line):
                first = b"=%02X" % text[at]
                line, end = _first_line(text, at + 1, mark, _WIDTH - len(first))
                line = first + line
            lines.append(line)
            if end == len(text):
                return lines
            at = end


class _Line(NamedTuple):
    """A line with its line end; `inner_after` is the first inner offset of the next one."""

    start: int
    end: int
    inner_start: int
    inner_after: int


class _Lines:
    """Lowers edits in order; `start` is where the lines begin that the latest edits join."""

    def __init__(self, raw: bytes, inner_size: int, *, is_odd: bool) -> None:
        self._raw, self._inner_size, self._is_odd = raw, inner_size, is_odd
        self.line = _Line(0, 0, 0, 0)
        self.start = self._at = self._inner_at = 0

    def lowered(self, edit: Edit) -> Edit:
        line, (inner_start, inner_end, new) = self.line, edit
        at, inner_at = self._at, self._inner_at
        if inner_start >= line.inner_after:
            line = self._line_at(line.end, line.inner_after, inner_start)
            at, _, inner_at, _ = line
            self.start = at
        if inner_start == line.inner_after - 1 and self._ends_in_crlf(line):
            inner_start, new = inner_start - 1, b"\r" + new
        at = start = self._advance(at, inner_at, inner_start)
        inner_at = inner_start
        is_end = inner_end == line.inner_after
        is_soft = is_end and _ending(self._raw, line.start, line.end)[2]
        if inner_end >= line.inner_after and not is_soft:  # its line end is removed
            line = self._line_at(line.end, line.inner_after, inner_end)
            at, _, inner_at, _ = line
        splits = inner_end == line.inner_after - 1 and self._ends_in_crlf(line)
        end = line.end - 1 if splits else self._advance(at, inner_at, inner_end)
        self.line, self._at, self._inner_at = line, end, edit.end
        return Edit(start, end, new)

    def _line_at(self, at: int, inner_at: int, offset: int) -> _Line:
        raw = self._raw
        while True:
            # Text never decodes to more bytes than it has: the offset is at `reach` or beyond.
            reach = at + offset - inner_at
            start = raw.rfind(b"\n", at, reach) + 1
            if start:
                inner_at += self._inner_length(at, start)
                at = start
                continue
            end = raw.find(b"\n", reach) + 1
            if not end:
                return _Line(at, len(raw), inner_at, self._inner_size + 1)
            inner_after = inner_at + self._inner_length(at, end)
            if offset < inner_after:
                return _Line(at, end, inner_at, inner_after)
            at, inner_at = end, inner_after

    def _inner_length(self, start: int, end: int) -> int:
        raw = self._raw
        if self._is_odd:
            return len(_decoded(raw[start:end]))
        return end - start - 2 * raw.count(b"=", start, end) - raw.count(b"=\r\n", start, end)

    def _ends_in_crlf(self, line: _Line) -> bool:
        is_crlf = self._raw.endswith(b"\r\n", line.start, line.end)
        return is_crlf and not _ending(self._raw, line.start, line.end)[2]

    def _advance(self, at: int, inner_at: int, offset: int) -> int:
        """Return the raw offset of an inner offset, counted from an earlier one in its line."""
        raw = self._raw
        while True:
            reach = at + offset - inner_at
            equals = raw.find(b"=", at, reach)
            if equals == -1:
                return reach
            inner_at += equals - at + 1
            is_escape = not self._is_odd or _ESCAPE.match(raw, equals)
            at = equals + (3 if is_escape else 1)


class _Change(NamedTuple):
    """Lines that edits, with offsets of the body, turn into one line."""

    start: int
    end: int
    edits: list[Edit]


def _ending(raw: bytes, start: int, end: int) -> tuple[int, int, bool]:
    """Return where the text of a line ends, where its line end begins and whether it is soft."""
    eol = end - raw.endswith(b"\n", start, end)
    eol -= raw.endswith(b"\r\n", start, end)
    text = raw[start:eol].rstrip(_BLANKS)
    is_soft = eol < end and text.endswith(b"=")
    return start + len(text) - is_soft, eol, is_soft


def _first_line(text: bytes, at: int, mark: bytes, width: int) -> tuple[bytes, int]:
    """Return the first line from `at`, with as much of `mark` as fits, and where it ends."""
    rest = len(text) - at
    if rest + mark.startswith(b"=") <= width:
        return text[at:] + mark[: width - rest], len(text)
    end = at + width - 1
    escape = text.rfind(b"=", end - 2, end)
    end = end if escape == -1 else escape
    return text[at:end] + b"=", end


def _sealed(piece: bytes) -> bytes:
    """Escape the last bytes of text before an edit if what follows could complete them."""
    last = piece[-2:]
    if b"=" not in last and b"\r" not in last:
        return piece
    return piece[:-2] + _OPEN.sub(_escaped, last)


def _text(raw: bytes, change: _Change, text_end: int) -> bytes:
    text, at = bytearray(), change.start
    change.edits.reverse()
    while change.edits:  # frees each edit: a body of one line may have a million
        start, end, new = change.edits.pop()
        text += _sealed(raw[at:start])
        text += _UNSAFE.sub(_escaped, new)
        at = end
    text += raw[at:text_end]
    return bytes(text)


def _closed(text: bytes, padding: bytes) -> bytes:
    """Escape a last byte that is padding, or that becomes half of a CRLF without its padding."""
    if text.endswith((b" ", b"\t")):
        return _sealed(text[:-1]) + b"=%02X" % text[-1]
    return _sealed(text) if padding and text.endswith(b"\r") else text


def _escaped(byte: re.Match[bytes]) -> bytes:
    return b"=%02X" % byte[0][0]


def _decoded(raw: bytes) -> bytes:
    """Decode text with padding or literal `=`, which binascii reads in its own way."""
    inner = bytearray()
    at = 0
    for code in _CODED.finditer(raw):
        inner += raw[at : code.start()]
        if code[1]:
            inner.append(int(code[1], 16))
        at = code.end()
    inner += raw[at:]
    return bytes(inner)
