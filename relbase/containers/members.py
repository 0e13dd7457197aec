"""The text of an archive as its records are read: chunks in, what is at hand of a member out.

A member that does not decode or breaks off ends with a fault, and is looked through for the next
one, whose beginning its damage may have eaten.
"""

from __future__ import annotations

import re
import zlib
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from relbase.containers.arc import MAX_ARC_LINE, arc_line
from relbase.containers.buffers import Buffer, Raw
from relbase.containers.codings import (
    GZIP,
    GZIP_TRAILER,
    NO_ZSTD,
    UNKNOWN_FLAG,
    ZSTD,
    fast_zlib,
    gzip_data,
    zstd_dictionary,
    zstd_stream,
)
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relbase.containers.codings import Stream

# How much is fed at a time. zlib gives up to 1,032 times as much, Zstandard 32,000: no piece is
# longer than 8 MB.
_FED: Final = {GZIP: 1 << 13, ZSTD: 1 << 8}

# What is kept of a member to look through when it does not decode.
_KEPT: Final = 1 << 20
# The header of a member of gzip: a name in it has no length of its own.
_MAX_NAME: Final = 1 << 17
_WORD: Final = (1 << 32) - 1

MAX_DICTIONARY: Final = 1 << 24

_LOOKED_AT: Final = 1 << 12
_STEP: Final = 1 << 7


class Unfolded(Buffer):
    """The text of an archive, joined from its pieces, no further than to the end of a member."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        super().__init__()
        self._pieces = pieces(chunks)
        self._ahead = next(self._pieces, None)
        self._member = 0  # where it begins
        self.over = True  # whether no more of the member comes
        self.fault = ""  # of the member, known when it is over
        self.remark = ""  # on the member, or on one before it that the same record lies in
        self.packed = False  # whether it was compressed

    @property
    def offset(self) -> int:
        """Where the next byte is in the archive; of what is compressed, its member."""
        return self._member if self.packed else super().offset

    def _next(self) -> bytes | None:
        piece = self._ahead
        if piece is None:
            return None
        self._ahead = next(self._pieces, None)
        self._read += len(piece.data)
        self.packed, self.fault = piece.packed, piece.fault
        self.remark = piece.remark or self.remark
        is_last = piece.is_last or bool(piece.fault)
        self.over = is_last if piece.packed else self._ahead is None
        return piece.data

    def more(self) -> bytes | None:
        """Return the next piece of the member, None when it is over."""
        return None if self.over else self._next()

    def goes_on(self) -> bool:
        """Whether another member follows that begins no record: some records lie in several."""
        ahead = self._ahead
        return not (ahead is None or ahead.fault or self.fault or begins_record(ahead.data))

    def enter(self) -> bool:
        """Go into the next member; False when there is none."""
        if self._ahead is not None:
            self._member = self._ahead.at
        piece = self._next()
        self.data, self.pos = piece or b"", 0
        return piece is not None

    def begin(self) -> bool:
        """Go to the next byte that is not a line end, or to a fault; False at the archive's end."""
        while True:
            blank = _line_ends(self.data, self.pos)
            self.pos = blank.end() if blank else self.pos
            if self.pos < len(self.data) or (self.fault and self.over):
                return True
            if not self.fill():
                self.remark = ""
                if not self.enter():
                    return False

    def take(self, size: int, most: int) -> tuple[bytes | None, int]:
        """Take bytes of the member; return them, None if they are too many, and their number."""
        kept: list[bytes] = []
        count = 0
        while True:
            taken = self.data[self.pos : self.pos + size - count]
            count += len(taken)
            self.pos += len(taken)
            kept.append(taken)
            if count > most:
                kept.clear()
            if count == size or not (self.fill() or (self.goes_on() and self.enter())):
                break
        try:
            return b"".join(kept) if count <= most else None, count
        except MemoryError:  # too many, too
            return None, count


_line_ends: Final = re.compile(rb"[\r\n]*+").match


class Piece(NamedTuple):
    data: bytes
    at: int  # where the member begins in the archive; where the data does, if it is not compressed
    is_last: bool = False  # whether its member ends with it
    fault: str = ""  # why the member does not decode, "" when it does
    remark: str = ""  # what is wrong with it, though all of it is there
    packed: bool = True  # whether it was compressed


def pieces(chunks: Iterable[bytes]) -> Iterator[Piece]:
    """Yield the text of an archive, member by member; of any bytes at least one piece."""
    source = Raw(chunks)
    start = source.peek(len(ZSTD))
    if _is_skippable(start) or _mark_of(start) is not None:
        yield from _members(source)
        return
    while data := source.take():
        yield Piece(data, source.offset - len(data), packed=False)


def begins_record(text: bytes) -> bool:
    """Return whether a text begins as a record of WARC or ARC does."""
    return text[:5].upper() == b"WARC/" or arc_line(text[:MAX_ARC_LINE]) is not None


def packing_of(start: bytes) -> str | None:
    """Return how an archive that begins so is packed; None for what begins as no archive."""
    if _is_skippable(start):
        return "zst"
    mark = _mark_of(start)
    if mark is None:
        return "" if begins_record(start) else None
    # A dictionary is not known here, and Zstandard holds no other text so often.
    is_known = _holds_record(start[:_LOOKED_AT], b"")
    return {GZIP: "gz", ZSTD: "zst"}[mark] if is_known else None


def _members(source: Raw) -> Iterator[Piece]:
    """The members of a compressed archive, and what is between them that is none."""
    dictionary = b""
    while start := source.peek(len(ZSTD)):
        at = source.offset
        if _is_skippable(start):
            content, fault = _skippable(source)
            if not fault and start == _DICTIONARY and at == 0:
                dictionary, fault = zstd_dictionary(content)
            if fault:
                yield Piece(b"", at, fault=fault)
        elif (mark := _mark_of(start)) is None:
            yield Piece(b"", at, fault="no member begins here: what follows was not read")
            _find_member(source, dictionary)
        else:
            yield from _Member(source, mark, dictionary).pieces()


class _Member:
    """The member that begins here; after a fault the next one is looked for."""

    def __init__(self, source: Raw, mark: bytes, dictionary: bytes) -> None:
        self._source, self._mark, self._dictionary = source, mark, dictionary
        self._at, self._given, self._fault = source.offset, 0, NO_ZSTD
        self._kept: deque[bytes] = deque(maxlen=_KEPT // _FED[mark])  # the last of its raw bytes
        self._rest = b""  # of the text

    def pieces(self) -> Iterator[Piece]:
        source, isal = self._source, fast_zlib()
        if self._mark == GZIP and isal is not zlib and source.peek(4)[3:] < UNKNOWN_FLAG:
            # Large members are left to zlib, and what is wrong with one: both give the same.
            yield from self._read(isal.decompressobj(31), isal.error, self._kept.maxlen)
            if not self._fault:
                return
            source.give_back(b"".join(self._kept))
        if (found := _stream(self._mark, self._dictionary)) is None:
            source.take(1)
        else:
            yield from self._read(*found)
        if self._fault:
            yield Piece(self._rest or self._last(), self._at, fault=self._fault)
            source.look_again(b"".join(self._kept)[1:])
            _find_member(source, self._dictionary)

    def _read(
        self, stream: Stream, errors: type[Exception], most: int | None = None
    ) -> Iterator[Piece]:
        source, kept, skipped = self._source, self._kept, self._given
        kept.clear()
        self._fault = BREAKS_OFF
        while len(kept) != most and (fed := source.take(_FED[self._mark])):
            kept.append(fed)
            try:
                text = stream.decompress(fed)
            except errors as error:
                self._fault = f"the member does not decode: {error}"
                return
            data, skipped = text[skipped:], max(0, skipped - len(text))
            self._given += len(data)
            if stream.eof:
                if (remark := self._end(stream)) is not None:
                    yield Piece(data, self._at, is_last=True, remark=remark)
                self._rest = data
                return
            if data:
                yield Piece(data, self._at)

    def _end(self, stream: Stream) -> str | None:
        """Go behind the member; return what is to be remarked, None for a fault.

        With a wrong checksum all of it is there if another member follows.
        """
        source, size = self._source, len(stream.unused_data)
        source.pos -= size
        if not isinstance(stream, _Gzip) or stream.is_right:
            self._fault = ""
            return ""
        follows = source.peek(len(ZSTD))
        if not follows or _is_skippable(follows) or _mark_of(follows) is not None:
            self._fault = ""
            return "the checksum or the length of its gzip member is wrong"
        source.pos += size
        self._fault = _WRONG
        return None

    def _last(self) -> bytes:
        """What follows up to the fault, if all of a member is kept."""
        found = _stream(self._mark, self._dictionary)
        is_kept = self._source.offset - self._at == sum(map(len, self._kept))
        if found is None or self._fault == BREAKS_OFF or not is_kept:
            return b""
        (stream, errors), last = found, bytearray()
        size = sum(len(stream.decompress(fed)) for fed in [*self._kept][:-1])
        with suppress(errors):
            for byte in self._kept[-1]:
                last += stream.decompress(bytes((byte,)))
        return bytes(last[self._given - size :])


class _Gzip:
    """A gzip member, whatever its checksum is: all bytes are there before it (RFC 1952 §2.3)."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(-15)
        self._head: bytes | None = b""
        self._value = self._size = 0
        self.eof, self.unused_data = False, b""
        self.is_right = True

    def decompress(self, fed: bytes) -> bytes:
        """Return what some bytes unfold to; raise `zlib.error` where they do not."""
        if self._head is not None:
            self._head += fed
            start = gzip_data(self._head, 0)
            if self._head[3:4] >= UNKNOWN_FLAG or len(self._head) > _MAX_NAME:
                raise zlib.error("unknown header flags set, or a name without end")
            if start > len(self._head):
                return b""
            fed, self._head = self._head[start:], None
        data = self._stream.decompress(fed)
        self._value, self._size = zlib.crc32(data, self._value), self._size + len(data)
        rest = self._stream.unused_data
        if len(rest) >= GZIP_TRAILER.size:
            self.eof, self.unused_data = True, rest[GZIP_TRAILER.size :]
            self.is_right = rest.startswith(GZIP_TRAILER.pack(self._value, self._size & _WORD))
        return data


_WRONG: Final = (
    "the member does not decode: Error -3 while decompressing data: incorrect data check"
)
# The fault of a member that the archive ends in.
BREAKS_OFF: Final = "the archive breaks off inside of a member"


def _mark_of(start: bytes) -> bytes | None:
    if start.startswith(GZIP):
        return GZIP
    return ZSTD if start.startswith(ZSTD) else None


def _stream(mark: bytes | None, dictionary: bytes) -> tuple[Stream, type[Exception]] | None:
    if mark == GZIP:
        return cast("Stream", _Gzip()), zlib.error
    return None if mark is None else zstd_stream(dictionary)


# ---- after damage


def _find_member(source: Raw, dictionary: bytes) -> None:
    """Go to the next place that begins like a member of a record, or to the end."""
    while source.peek(_LOOKED_AT):
        found = _any_mark.search(source.data, source.pos)
        if found is None:  # a mark may lie across two chunks
            source.pos = max(len(source.data) - len(ZSTD) + 1, source.pos + 1)
            continue
        source.pos = found.start()
        if _holds_record(source.peek(_LOOKED_AT), dictionary):
            return
        source.pos += 1


_any_mark: Final = expression(b"|".join(map(re.escape, (GZIP, ZSTD))))


def _holds_record(start: bytes, dictionary: bytes) -> bool:
    found = _stream(_mark_of(start), dictionary)
    if found is None:
        return False
    stream, errors = found
    text = b""
    with suppress(errors):  # one that is damaged later on holds one, too
        for at in range(0, len(start), _STEP):
            text = (text + stream.decompress(start[at : at + _STEP]))[:_LOOKED_AT]
            if begins_record(text) or len(text) == _LOOKED_AT:
                break
    return begins_record(text)


# ---- frames that hold no text (RFC 8878 §3.1.2), among them a dictionary

_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
_is_skippable: Final = expression(rb"[\x50-\x5f]\x2a\x4d\x18").match
_FRAME_HEAD: Final = 8


def _skippable(source: Raw) -> tuple[bytes, str]:
    """The content of a frame that holds no text, and why it cannot be read."""
    head = source.peek(_FRAME_HEAD)
    size = int.from_bytes(head[4:], "little")
    source.pos += len(head)
    if size > MAX_DICTIONARY:
        return b"", f"a frame without text has {size} bytes, more than {MAX_DICTIONARY}"
    content = source.peek(size)
    source.pos += len(content)
    if len(head) < _FRAME_HEAD or len(content) < size:
        return b"", BREAKS_OFF
    return content, ""
