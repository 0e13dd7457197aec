"""The messages of an mbox, one after the other, out of a file that is fed in pieces of any size.

What comes in are the bytes of the file in pieces. What goes out are `Message` values whose bytes,
joined in order, are the file again. At most one message and one piece are held at a time.

The rule (https://www.jwz.org/doc/content-length.html): a line that begins with the five bytes
`From ` is a separator where it is the first line of the file (behind a byte order mark too) or
follows an empty line. However, readers differ:

- Mutt and Dovecot read a date on the line, and ask for no empty line. Dates were written in too
  many forms and left out (`From - ` of Mozilla, `From ???@???` of Eudora, names in any charset): a
  separator that is missed gives the links of a message the base of another message.
- Thunderbird wants a header field on the next line. Then an edit on that line could make or unmake
  a separator. This rule depends on nothing but line ends and `From `, which no edit writes.

Content-Length (mboxcl, mboxcl2) is followed only where it proves true: the number of bytes behind
the heading is followed by at most two line ends and then a separator, or the end of the file. In
mboxcl2 the lines `From ` inside are not escaped, and this is how they are known.

To mind: `>From ` (mboxo, mboxrd, mboxcl) stays as it is, a message's content is what the file has.
Who rewrites it must write no line that begins with `From `, and must write the number at `length`
anew. What separates messages is not escaped in mboxcl2: a content that was found by its length may
hold such lines, and is only found again by the right one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.edit import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# How far a Content-Length is read ahead to see whether it is true: this is the memory that a wrong
# one can cost. Without it a longer message is split by the rule, which most often is the same.
MAX_CONTENT_LENGTH: Final = 1 << 25

_FROM: Final = b"From "
_FROM_AFTER_LINE: Final = b"\nFrom "
_MARKED_FROM: Final = b"\xef\xbb\xbfFrom "  # behind a byte order mark
_LF: Final = 0x0A
_CR: Final = 0x0D


class Message(NamedTuple):
    r"""A message of an mbox, as it stands in the file.

    Args:
        offset: where its bytes begin in the file.
        separator: its From_ line, line end included; None for what the file begins with before the
            first one, which is no message and is passed on.
        content: the message: heading and body.
        ending: what ends it in the mbox and is no part of it: the empty line before the next
            separator or the end of the file, behind a true Content-Length any line ends; b"" where
            there is none.
        length: the digits of the Content-Length that the end was found by, as a span of `content`.

    >>> message = Message(0, b"From a\n", b"Subject: x\n\ny\n", b"\n", None)
    >>> message.data
    b'From a\nSubject: x\n\ny\n\n'
    """

    offset: int
    separator: bytes | None
    content: bytes
    ending: bytes
    length: Span | None

    @property
    def data(self) -> bytes:
        """All its bytes, as they stand in the file."""
        return b"".join((self.separator or b"", self.content, self.ending))


def split(chunks: Iterable[bytes]) -> Iterator[Message]:
    r"""Yield the messages of an mbox, before them what stands before the first From_ line, if any.

    Args:
        chunks: the bytes of the file in pieces of any size.

    The joined `data` of all that is yielded is the file, and where the pieces were cut changes
    nothing.

    >>> [m.content for m in split([b"From a\n\nx\n\nFr", b"om b\nSubject: y\n"])]
    [b'\nx\n', b'Subject: y\n']
    """
    source = iter(chunks)
    buffer = bytearray()
    offset = _leading(buffer, source)
    if offset:
        yield Message(0, None, _taken(buffer, offset), b"", None)
    while _fill(buffer, source, 1):
        content, ending, following, length = _measured(buffer, source)
        message = Message(
            offset,
            _copied(buffer, 0, content),
            _copied(buffer, content, ending),
            _copied(buffer, ending, following),
            length,
        )
        del buffer[:following]  # moves the start of the buffer, not its bytes
        offset += following
        yield message


def _leading(buffer: bytearray, source: Iterator[bytes]) -> int:
    """How many bytes stand before the first separator."""
    _fill(buffer, source, len(_MARKED_FROM))
    if buffer.startswith(_FROM):
        return 0
    if buffer.startswith(_MARKED_FROM):
        return len(_MARKED_FROM) - len(_FROM)
    return _next_separator(buffer, source, 0)


class _Measured(NamedTuple):
    """Where the parts of the message at the start of the buffer begin, and its `length`."""

    content: int
    ending: int
    following: int
    length: Span | None


def _measured(buffer: bytearray, source: Iterator[bytes]) -> _Measured:
    """Measure the message at the start of the buffer; the buffer then holds all of it."""
    content = _search(_LINE_END, 1, buffer, source, 0)
    # The line end of the separator may be the one before the empty line that ends the heading.
    body = _search(_HEADING_END, _HEADING_END_SIZE, buffer, source, content - 1)
    promised = _promised(buffer, content, body)
    if promised is not None:
        length, end = promised
        _fill(buffer, source, end + _AFTER_LENGTH_SIZE)
        after = _AFTER_LENGTH.match(buffer, end) if end <= len(buffer) else None
        if after is not None:
            return _Measured(content, end, after.end(), length)
    following = _next_separator(buffer, source, body - 1)
    return _Measured(content, _empty_line(buffer, content, following), following, None)


_LINE_END: Final = re.compile(rb"\n")
_HEADING_END: Final = re.compile(rb"\n\r?\n")
_HEADING_END_SIZE: Final = 3

# The search begins at the line end of the From_ line. More digits than these are no length.
_CONTENT_LENGTH: Final = re.compile(
    rb"\ncontent-length[\t ]*+:[\t ]*+([0-9]{1,18})[\t ]*+(?=\r?\n)", re.IGNORECASE
)
# What proves a length true. A buffer that reaches further than this does not end here.
_AFTER_LENGTH: Final = re.compile(rb"(?:\r?\n){0,2} (?: (?<=\n)(?=From[ ]) | \Z )", re.VERBOSE)
_AFTER_LENGTH_SIZE: Final = len(b"\r\n\r\nFrom ")


def _promised(buffer: bytearray, content: int, body: int) -> tuple[Span, int] | None:
    """The Content-Length of a heading and where the message ends by it; None for none or several.

    Which of several is meant nobody knows.
    """
    found = list(_CONTENT_LENGTH.finditer(buffer, content - 1, body))
    if len(found) != 1:
        return None
    length = int(found[0][1])
    if length > MAX_CONTENT_LENGTH:
        return None
    start, end = found[0].span(1)
    return Span(start - content, end - content), body + length


def _next_separator(buffer: bytearray, source: Iterator[bytes], at: int) -> int:
    """Where the next From_ line behind an empty line begins, or the end of the file.

    Args:
        buffer: begins where the file or a message does.
        source: the pieces that follow.
        at: where to look from, at most at the line end of the empty line.
    """
    at = max(at, 0)
    while True:
        found = buffer.find(_FROM_AFTER_LINE, at)
        if found >= 0:
            at = found + 1
            if _empty_line(buffer, 0, at) < at:
                return at
            continue
        at = max(at, len(buffer) - len(_FROM_AFTER_LINE) + 1)
        if not _grow(buffer, source):
            return len(buffer)


def _empty_line(buffer: bytearray, start: int, end: int) -> int:
    """Where the empty line that ends at `end` begins, `end` if there is none behind `start`."""
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


def _copied(buffer: bytearray, start: int, end: int) -> bytes:
    with memoryview(buffer) as view:  # a slice of the buffer itself would be a second copy
        return bytes(view[start:end])


def _taken(buffer: bytearray, size: int) -> bytes:
    taken = _copied(buffer, 0, size)
    del buffer[:size]
    return taken
