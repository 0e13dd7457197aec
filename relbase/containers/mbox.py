"""The messages of an mbox, out of a file that is fed in pieces of any size.

The rule (rule 19): a From_ line (`containers.sniffing`) separates messages where it is the first
line of the file or follows an empty line. Other ones are text, and reported.

Content-Length (mboxcl, mboxcl2) is followed only where it proves true: the number of bytes after
the header is followed by at most two line ends and then a separator, or the end of the file. In
mboxcl2 the lines `From ` inside are not escaped: such a content is only found again by the right
length, which has to be written anew when it changes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.fields import fields_of_paragraph
from relbase.containers.sniffing import LOOKED_AT_LINE, begins_file, is_separator
from relbase.edit import Span
from relbase.registry import ROWS, Follows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# How far a Content-Length is read ahead to see whether it is true: this is the memory that a wrong
# one can cost. Without it a longer message is split by the rule, which most often is the same.
MAX_CONTENT_LENGTH: Final = 1 << 25

_FROM_AFTER_LINE: Final = b"\nFrom "
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LF: Final = 0x0A
_CR: Final = 0x0D


# Each is reported, and nobody reads more.
MAX_DOUBTFUL: Final = 100


class Promise(NamedTuple):
    """A Content-Length: its number, and where the bytes that it counts begin."""

    length: int
    body: int


class Message(NamedTuple):
    """A message of an mbox, as it stands in the file."""

    offset: int  # where its bytes begin in the file
    # its From_ line, line end included; None for what the file begins with before the first one,
    # which is not a message and is passed on
    separator: bytes | None
    content: bytes  # the message: header and body
    # what ends it in the mbox and is not part of it: the empty line before the next separator or
    # the end of the file, after a true Content-Length any line ends; b"" where there is none
    ending: bytes
    # the digits of the Content-Length that the end was found by, as a span of `content`
    length: Span | None = None
    # the one Content-Length of the header that does not prove true, None for none: what it
    # promises, and where the bytes that it counts begin in `content`
    unproven: Promise | None = None
    # where in `content` lines begin that look like a separator, without an empty line before them;
    # no more than `MAX_DOUBTFUL`
    doubtful: tuple[int, ...] = ()

    @property
    def data(self) -> bytes:
        """All its bytes, as they stand in the file."""
        return b"".join((self.separator or b"", self.content, self.ending))


def split(chunks: Iterable[bytes]) -> Iterator[Message]:
    r"""Yield the messages of an mbox, before them what stands before the first From_ line, if any.

    The joined `data` of all that is yielded is the file, and where the pieces were cut changes
    nothing.
    """
    source = iter(chunks)
    buffer = bytearray()
    offset = _leading(buffer, source)
    if offset:
        yield Message(0, None, _taken(buffer, offset), b"")
    while _fill(buffer, source, 1):
        content, ending, following, length, unproven, doubtful = _measured(buffer, source)
        message = Message(
            offset,
            _copied(buffer, 0, content),
            _copied(buffer, content, ending),
            _copied(buffer, ending, following),
            length,
            unproven,
            tuple(at - content for at in doubtful),
        )
        del buffer[:following]  # moves the start of the buffer, not its bytes
        offset += following
        yield message


def _leading(buffer: bytearray, source: Iterator[bytes]) -> int:
    """How many bytes stand before the first separator."""
    _fill(buffer, source, len(_BYTE_ORDER_MARK) + LOOKED_AT_LINE)
    start = len(_BYTE_ORDER_MARK) if buffer.startswith(_BYTE_ORDER_MARK) else 0
    if begins_file(_line(buffer, start)):
        return start
    return _next_separator(buffer, source, 0)[0]


class _Measured(NamedTuple):
    """Where the parts of the message at the start of the buffer begin, and what was seen."""

    content: int
    ending: int
    following: int
    length: Span | None = None
    unproven: Promise | None = None
    doubtful: tuple[int, ...] = ()


def _measured(buffer: bytearray, source: Iterator[bytes]) -> _Measured:
    """Measure the message at the start of the buffer; the buffer then holds all of it."""
    content = _search(_LINE_END, 1, buffer, source, 0)
    # The line end of the separator may be the one before the empty line that ends the header.
    body = _search(_HEADER_END, _HEADER_END_SIZE, buffer, source, content - 1)
    digits = _digits(buffer, content, body)
    unproven = None
    if digits is not None:
        length = int(buffer[content + digits.start : content + digits.end])
        after = _proven(buffer, source, body + length)
        if after is not None:
            return _Measured(content, body + length, after, digits)
        unproven = Promise(length, body - content)
    following, doubtful = _next_separator(buffer, source, body - 1)
    ending = _empty_line(buffer, content, following)
    return _Measured(content, ending, following, None, unproven, doubtful)


_LINE_END: Final = re.compile(rb"\n")
_HEADER_END: Final = re.compile(rb"\n\r?\n")
_HEADER_END_SIZE: Final = 3

# More digits than these are not a length.
_is_length: Final = re.compile(rb"[0-9]{1,18}").fullmatch
_after_length: Final = re.compile(rb"(?:\r?\n){0,2}(?:(?<=\n)(?=From )|\Z)").match
_AFTER_LENGTH_SIZE: Final = len(b"\r\n\r\n") + LOOKED_AT_LINE


def _digits(buffer: bytearray, content: int, body: int) -> Span | None:
    """The number of a header's Content-Length, as a span of the header; None for none to follow.

    Which of several is meant nobody knows.
    """
    header = _copied(buffer, content, body)
    found = [
        field.value
        for field in fields_of_paragraph(header, 0, len(header))
        if ROWS[field.name].follows is Follows.LENGTH
        and b"\n" not in header[field.span.start : field.value.start]  # nobody folds it
    ]
    if len(found) != 1 or not _is_length(header, *found[0]):
        return None
    start, end = found[0]
    return None if int(header[start:end]) > MAX_CONTENT_LENGTH else Span(start, end)


def _proven(buffer: bytearray, source: Iterator[bytes], end: int) -> int | None:
    """Where the next message begins if this one does end at `end`, else None."""
    _fill(buffer, source, end + _AFTER_LENGTH_SIZE)
    after = _after_length(buffer, end) if end <= len(buffer) else None
    following = len(buffer) + 1 if after is None else after.end()
    if following < len(buffer) and not is_separator(_line(buffer, following)):
        return None
    return following if following <= len(buffer) else None


def _next_separator(
    buffer: bytearray, source: Iterator[bytes], at: int
) -> tuple[int, tuple[int, ...]]:
    """Where the next From_ line after an empty line begins, or the end; the doubtful lines."""
    at = max(at, 0)
    doubtful: list[int] = []
    while True:
        found = buffer.find(_FROM_AFTER_LINE, at)
        if found >= 0:
            at = found + 1
            _fill(buffer, source, at + LOOKED_AT_LINE)
            if is_separator(_line(buffer, at)):
                if _empty_line(buffer, 0, at) < at:
                    return at, tuple(doubtful)
                if len(doubtful) < MAX_DOUBTFUL:
                    doubtful.append(at)
            continue
        at = max(at, len(buffer) - len(_FROM_AFTER_LINE) + 1)
        if not _grow(buffer, source):
            return len(buffer), tuple(doubtful)


def _empty_line(buffer: bytearray, start: int, end: int) -> int:
    """Where the empty line that ends at `end` begins, `end` if there is none after `start`."""
    if end <= start or buffer[end - 1] != _LF:
        return end
    at = end - 1
    if at > start and buffer[at - 1] == _CR:
        at -= 1
    return at if at == start or buffer[at - 1] == _LF else end


def _search(
    pattern: re.Pattern[bytes], size: int, buffer: bytearray, source: Iterator[bytes], at: int
) -> int:
    """Where the first match from `at` on ends, or the end of the file; `size`: of the longest."""
    while True:
        match = pattern.search(buffer, at)
        if match is not None:
            return match.end()
        at = max(at, len(buffer) - size + 1)
        if not _grow(buffer, source):
            return len(buffer)


def _fill(buffer: bytearray, source: Iterator[bytes], size: int) -> bool:
    """Read until the buffer holds `size` bytes; False when the file ends before."""
    while len(buffer) < size:
        if not _grow(buffer, source):
            return False
    return True


def _grow(buffer: bytearray, source: Iterator[bytes]) -> bool:
    """Read one piece; False at the end of the file."""
    chunk = next(source, None)
    if chunk is None:
        return False
    buffer += chunk
    return True


def _line(buffer: bytearray, at: int) -> bytes:
    """What `containers.sniffing` looks at to judge the line at a place."""
    return _copied(buffer, at, at + LOOKED_AT_LINE)


def _copied(buffer: bytearray, start: int, end: int) -> bytes:
    with memoryview(buffer) as view:  # a slice of the buffer itself would be a second copy
        return bytes(view[start:end])


def _taken(buffer: bytearray, size: int) -> bytes:
    taken = _copied(buffer, 0, size)
    del buffer[:size]
    return taken
