"""The messages of an mbox (rule 19), from a file that comes in chunks of any size.

A From_ line separates messages if it is the first line of the file or follows an empty line.
Content-Length (mboxcl, mboxcl2) counts only if it proves true: after that number of bytes come at
most two line ends, and then a separator or the end of the file.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from relbase.containers.fields import fields_of_paragraph
from relbase.containers.from_line import LOOKED_AT_LINE, begins_file, is_separator
from relbase.containers.header_fields import Follows
from relbase.containers.known_fields import ROWS
from relbase.edit import Span
from relbase.expressions import regex

# How far to read ahead to check a Content-Length, which is the memory that a wrong one can cost.
# Longer messages are split by From_ lines alone, which mostly gives the same result.
MAX_CONTENT_LENGTH: Final = 1 << 25

_FROM_AFTER_LINE: Final = b"\nFrom "
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_LF: Final = 0x0A
_CR: Final = 0x0D


class DeclaredLength(NamedTuple):
    """A Content-Length: its number, and where the bytes that it counts begin."""

    length: int
    body: int


class Message(NamedTuple):
    """A message of an mbox, as it stands in the file."""

    offset: int  # where its bytes begin in the file
    # its From_ line with line end; None for text before the first message, which is left unchanged
    separator: bytes | None
    content: bytes  # the message: header and body
    # what ends it in the mbox but is not part of it: the empty line before the next separator or
    # the end of the file, or all line ends after a true Content-Length; b"" if there is none
    ending: bytes
    # the digits of the Content-Length that determined its end, as a span of `content`
    length: Span | None = None
    # the only Content-Length of the header, if it did not prove true; its `body` is an offset in
    # `content`
    unproven: DeclaredLength | None = None
    # where the first line in `content` begins that looks like a separator but follows no empty line
    doubtful: int | None = None

    @property
    def data(self) -> bytes:
        return b"".join((self.separator or b"", self.content, self.ending))


def split(chunks: Iterable[bytes]) -> Iterator[Message]:
    """Yield any text before the first From_ line, and then the messages of an mbox.

    Their `data`, joined, is the file.
    """
    source = _Source(chunks)
    offset = source.leading()
    if offset:
        yield Message(0, None, source.copied(0, offset), b"")
    del source.data[:offset]
    while source.data or source.fill(1):
        message, size = source.message(offset)
        del source.data[:size]  # moves the start of the buffer, not its bytes
        offset += size
        yield message


_LINE_END: Final = regex(rb"\n")
_HEADER_END: Final = regex(rb"\n\r?\n")
_HEADER_END_SIZE: Final = 3

# More digits than these are not a length.
_is_length: Final = regex(rb"[0-9]{1,18}").fullmatch
_after_length: Final = regex(rb"(?:\r?\n){0,2}(?:(?<=\n)(?=From )|\Z)").match
_AFTER_LENGTH_SIZE: Final = len(b"\r\n\r\n") + LOOKED_AT_LINE


class _Source:
    """The bytes of a file from the next message on, as far as they have been read."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self.data = bytearray()

    def _grow(self) -> bool:
        chunk = next(self._chunks, None)
        self.data += chunk or b""
        return chunk is not None

    def fill(self, size: int) -> bool:
        """Read until `size` bytes are there; False when the file ends before."""
        while len(self.data) < size:
            if not self._grow():
                return False
        return True

    def copied(self, start: int, end: int) -> bytes:
        """Return bytes, copied once; slicing the buffer would copy them twice."""
        with memoryview(self.data) as whole, whole[start:end] as view:
            return bytes(view)

    def leading(self) -> int:
        self.fill(len(_BYTE_ORDER_MARK) + LOOKED_AT_LINE)
        start = len(_BYTE_ORDER_MARK) if self.data.startswith(_BYTE_ORDER_MARK) else 0
        line = self.copied(start, start + LOOKED_AT_LINE)
        return start if begins_file(line) else self._next_separator(0)[0]

    def message(self, offset: int) -> tuple[Message, int]:
        """Read the message that begins here, and return how many bytes it has."""
        content = self._search(_LINE_END, 1, 0)
        # The line end of the separator may be the one before the empty line that ends the header.
        body = self._search(_HEADER_END, _HEADER_END_SIZE, content - 1)
        header = self.copied(content, body)
        # Most mail has none.
        digits = _length_of(header) if b"-length" in header.lower() else None
        following, ending, unproven = None, body, None
        doubtful: int | None = None
        if digits is not None:
            length = self.data[content + digits.start : content + digits.end]
            promise = DeclaredLength(int(length), body - content)
            ending = body + promise.length
            following = self._proven(ending)
            unproven = promise if following is None else None
        if following is None:
            digits = None
            following, doubtful = self._next_separator(body - 1)
            ending = self._empty_line(content, following)
        with memoryview(self.data) as whole:
            separator, text = bytes(whole[:content]), bytes(whole[content:ending])
            after = bytes(whole[ending:following])
        doubtful = doubtful and doubtful - content
        return Message(offset, separator, text, after, digits, unproven, doubtful), following

    def _search(self, pattern: re.Pattern[bytes], size: int, at: int) -> int:
        """Where the first match from `at` on ends, or the file; `size`: of the longest match."""
        while (match := pattern.search(self.data, at)) is None:
            at = max(at, len(self.data) - size + 1)
            if not self._grow():
                return len(self.data)
        return match.end()

    def _proven(self, end: int) -> int | None:
        """Where the next message begins if this one really ends at `end`, else None."""
        self.fill(end + _AFTER_LENGTH_SIZE)
        after = _after_length(self.data, end) if end <= len(self.data) else None
        if after is None:
            return None
        following = after.end()
        is_end = following == len(self.data)
        line = self.copied(following, following + LOOKED_AT_LINE)
        return following if is_end or is_separator(line) else None

    def _next_separator(self, at: int) -> tuple[int, int | None]:
        """Where the next From_ line after an empty line begins, or the end; the doubtful line."""
        at = max(at, 0)
        doubtful: int | None = None
        while True:
            from_at = self.data.find(_FROM_AFTER_LINE, at)
            if from_at >= 0:
                at = from_at + 1
                self.fill(at + LOOKED_AT_LINE)
                if is_separator(self.copied(at, at + LOOKED_AT_LINE)):
                    if self._empty_line(0, at) < at:
                        return at, doubtful
                    doubtful = doubtful or at
                continue
            at = max(at, len(self.data) - len(_FROM_AFTER_LINE) + 1)
            if not self._grow():
                return len(self.data), doubtful

    def _empty_line(self, start: int, end: int) -> int:
        """Where the empty line that ends at `end` begins, `end` if there is none after `start`."""
        data = self.data
        if end <= start or data[end - 1] != _LF:
            return end
        at = end - 1
        if at > start and data[at - 1] == _CR:
            at -= 1
        return at if at == start or data[at - 1] == _LF else end


def _length_of(header: bytes) -> Span | None:
    """The span of the only Content-Length of a header; None if there is none to check."""
    lengths = [
        field.value
        for field in fields_of_paragraph(header, 0, len(header))
        if ROWS[field.name].follows is Follows.LENGTH
        and b"\n" not in header[field.span.start : field.value.start]  # nobody folds it
    ]
    if len(lengths) != 1 or not _is_length(header, *lengths[0]):
        return None
    return lengths[0] if int(header[slice(*lengths[0])]) <= MAX_CONTENT_LENGTH else None
