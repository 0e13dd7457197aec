"""The text of an archive as its records are read: chunks in, what is at hand of a member out.

A member that does not decode or breaks off ends with a fault, and is looked through for the next
one, whose beginning its damage may have eaten.
"""

from __future__ import annotations

import re
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.arc import MAX_ARC_LINE, arc_line
from relbase.containers.codings import (
    GZIP,
    NO_ZSTD,
    ZSTD,
    fast_zlib,
    zstd_dictionary,
    zstd_stream,
)
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from relbase.containers.codings import Stream

# How much is fed at a time. zlib gives up to 1,032 times as much, Zstandard 32,000: no piece is
# longer than 8 MB.
_FED: Final = {GZIP: 1 << 13, ZSTD: 1 << 8}

# What is kept of a member to look through when it does not decode.
_KEPT: Final = 1 << 20
# What isal unfolds is held back up to here, until the whole member is known to decode.
_HELD: Final = 1 << 20

# The bytes that may be looked at again, beside as many as were read so far: members in members,
# or lengths that lie, could make each byte be looked at a thousand times.
_AGAIN: Final = 1 << 24

MAX_DICTIONARY: Final = 1 << 24

_LOOKED_AT: Final = 1 << 12
_STEP: Final = 1 << 7


class _Buffer:
    """Bytes at hand, and more of them when asked for."""

    def __init__(self) -> None:
        self.data, self.pos = b"", 0  # what is at hand, and where in it the next byte is
        self._read = 0  # how many bytes came so far
        self._again = _AGAIN

    @property
    def offset(self) -> int:
        """Where the next byte is in all that came."""
        return self._read - len(self.data) + self.pos

    def more(self) -> bytes | None:
        """Return the next piece, None when it is over."""
        raise NotImplementedError

    def fill(self) -> bool:
        """Put the next piece to what is at hand; False when it is over."""
        piece = self.more()
        if piece is not None:
            self.data, self.pos = self.data[self.pos :] + piece, 0
        return piece is not None

    def peek(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end."""
        while len(self.data) - self.pos < size and self.fill():
            pass
        return self.data[self.pos : self.pos + size]

    def give_back(self, data: bytes) -> None:
        """Make bytes that were taken last the next ones again."""
        if self.data.endswith(data, 0, self.pos):
            self.pos -= len(data)
        else:
            self.data, self.pos = data + self.data[self.pos :], 0

    def look_again(self, data: bytes) -> bool:
        """Make bytes that were taken last the next ones again; False if that was too often."""
        self._again -= len(data)
        if self._again + self._read < 0:
            return False
        self.give_back(data)
        return True


class _Raw(_Buffer):
    """The bytes of an archive."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        super().__init__()
        self._chunks = iter(chunks)

    def more(self) -> bytes | None:
        """Return the next chunk."""
        chunk = next(self._chunks, None)
        self._read += len(chunk or b"")
        return chunk

    def take(self, most: int | None = None) -> bytes:
        """Return the next bytes, without a number as many as there are at hand; b"" at the end."""
        self.peek(most or 1)
        start = self.pos
        self.pos = len(self.data) if most is None else min(start + most, len(self.data))
        return self.data[start : self.pos]


class Unfolded(_Buffer):
    """The text of an archive, joined from its pieces, no further than to the end of a member."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        super().__init__()
        self._pieces = pieces(chunks)
        self._ahead = next(self._pieces, None)
        self._member = 0  # where it begins
        self.over = True  # whether no more of the member comes
        self.fault = ""  # of the member, known when it is over
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
            if not self.fill() and not self.enter():
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
    """A piece of the text of an archive."""

    data: bytes
    at: int  # where the member begins in the archive; where the data does, if it is not compressed
    is_last: bool = False  # whether its member ends with it
    fault: str = ""  # why the member does not decode, "" when it does
    packed: bool = True  # whether it was compressed


def pieces(chunks: Iterable[bytes]) -> Iterator[Piece]:
    """Yield the text of an archive, member by member; of any bytes at least one piece."""
    source = _Raw(chunks)
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


# ---- members


def _members(source: _Raw) -> Iterator[Piece]:
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
            yield from _unfolded(source, mark, dictionary)


def _unfolded_fast(source: _Raw) -> Generator[Piece, None, int | None]:
    """The pieces of the gzip member that begins here, if isal unfolds it; else how much it gave.

    Large members are left to zlib, too, and what is wrong with one: both are to have the same.
    """
    at, given, size = source.offset, 0, 0
    raw: list[bytes] = []
    held: list[bytes] = []
    isal = fast_zlib()
    stream = isal.decompressobj(31)
    # Members with flags that RFC 1952 does not know are none for zlib.
    is_known = source.peek(4)[3:] < b"\x20"
    while is_known and len(raw) < _KEPT // _FED[GZIP] and (fed := source.take(_FED[GZIP])):
        raw.append(fed)
        try:
            held.append(stream.decompress(fed))
        except isal.error:
            break
        if stream.eof:
            source.give_back(stream.unused_data)
            yield Piece(b"".join(held), at, is_last=True)
            return None
        size += len(held[-1])
        if size - given > _HELD:
            yield Piece(b"".join(held), at)
            given = size
            held.clear()
    source.give_back(b"".join(raw))
    return given


def _unfolded(source: _Raw, mark: bytes, dictionary: bytes) -> Iterator[Piece]:
    """The pieces of the member that begins here; after a fault the next member is looked for."""
    given = 0
    if mark == GZIP and fast_zlib() is not zlib:
        done = yield from _unfolded_fast(source)
        if done is None:
            return
        given = done
    at, fault = source.offset, BREAKS_OFF
    kept: list[bytes] = []  # the last of its raw bytes: another may begin among them
    last = b""  # of its text, before a fault
    found = _stream(mark, dictionary)
    if found is None:
        source.take(1)
        fault = NO_ZSTD
    else:
        stream, errors = found
        size = 0
        while fed := source.take(_FED[mark]):
            kept.append(fed)
            size += len(fed)
            while size > _KEPT and len(kept) > 1:
                size -= len(kept.pop(0))
            try:
                data = stream.decompress(fed)
            except errors as error:
                fault = f"the member does not decode: {error}"
                if source.offset - at == size:
                    again = _stream(mark, dictionary) or found
                    last = b"".join(_before_fault(kept, *again))[given:]
                break
            data, given = data[given:], max(0, given - len(data))
            if stream.eof:
                source.give_back(stream.unused_data)
                yield Piece(data, at, is_last=True)
                return
            if data:
                yield Piece(data, at)
    yield Piece(last, at, fault=fault)
    source.look_again(b"".join(kept)[1:])
    _find_member(source, dictionary)


def _before_fault(kept: list[bytes], stream: Stream, errors: type[Exception]) -> Iterator[bytes]:
    """What the bytes fed last unfold to before the fault: of a small member its whole text."""
    for fed in kept[:-1]:
        stream.decompress(fed)
    with suppress(errors):
        for byte in kept[-1]:
            yield stream.decompress(bytes((byte,)))


# The fault of a member that the archive ends in.
BREAKS_OFF: Final = "the archive breaks off inside of a member"


def _mark_of(start: bytes) -> bytes | None:
    return next((mark for mark in (GZIP, ZSTD) if start.startswith(mark)), None)


def _stream(mark: bytes | None, dictionary: bytes) -> tuple[Stream, type[Exception]] | None:
    if mark == GZIP:
        return zlib.decompressobj(31), zlib.error
    return None if mark is None else zstd_stream(dictionary)


# ---- after damage


def _find_member(source: _Raw, dictionary: bytes) -> None:
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


def _skippable(source: _Raw) -> tuple[bytes, str]:
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
