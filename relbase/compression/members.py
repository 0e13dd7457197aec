"""The members of an archive: chunks in, pieces of their text out.

A member that does not decode or breaks off ends with a fault. It is then searched for the beginning
of the next member, which may be inside the damaged bytes.
"""

import re
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from relbase.compression.codings import (
    GZIP,
    UNKNOWN_FLAG,
    ZSTD,
    Gzip,
    Stream,
    fast_zlib,
    zstd_stream,
)
from relbase.expressions import expression, regex

# How much is fed at a time. zlib returns up to 1,032 times as much, Zstandard 32,000 times: no
# piece is longer than 8 MB.
_FED: Final = {GZIP: 1 << 13, ZSTD: 1 << 8}

# How much of a member is kept, to be searched if it does not decode.
_KEPT: Final = 1 << 20

MAX_DICTIONARY: Final = 1 << 24
NO_ZSTD: Final = "the package zstandard is needed to read it: pip install 'relbase[warc]'"
_LOOKED_AT: Final = 1 << 12
_STEP: Final = 1 << 7

# How many bytes may be read again, in addition to as many as were read so far: nested members or
# wrong lengths could cause each byte to be read a thousand times.
_AGAIN: Final = 1 << 24


class Buffer:
    """Buffered bytes; more are read when they are needed."""

    def __init__(self, chunks: Iterable[bytes] = ()) -> None:
        self._chunks = iter(chunks)
        self.data, self.pos = b"", 0  # the buffered bytes, and the index of the next one
        self._read = 0  # how many bytes were read so far
        self._again = _AGAIN

    @property
    def offset(self) -> int:
        """The offset of the next byte in the input."""
        return self._read - len(self.data) + self.pos

    def more(self) -> bytes | None:
        chunk = next(self._chunks, None)
        self._read += len(chunk or b"")
        return chunk

    def fill(self) -> bool:
        """Append the next piece to the buffer; False if there is none."""
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
        """Push back bytes that were just taken."""
        if self.data.endswith(data, 0, self.pos):
            self.pos -= len(data)
        else:
            self.data, self.pos = data + self.data[self.pos :], 0

    def look_again(self, data: bytes) -> bool:
        """Push back bytes that were just taken; False if that happened too often."""
        self._again -= len(data)
        if self._again + self._read < 0:
            return False
        self.give_back(data)
        return True

    def take(self, most: int | None = None) -> bytes:
        """Return the next bytes, without a number all that are buffered; b"" at the end."""
        self.peek(most or 1)
        start = self.pos
        self.pos = len(self.data) if most is None else min(start + most, len(self.data))
        return self.data[start : self.pos]


class Piece(NamedTuple):
    data: bytes
    at: int  # the offset of its member in the archive, or of the data if it is not compressed
    is_last: bool = False  # whether its member ends with it
    fault: str = ""  # why the member does not decode, "" if it does
    remark: str = ""  # what is wrong with the member, although all of it is there
    packed: bool = True  # whether it was compressed


def pieces(chunks: Iterable[bytes]) -> Iterator[Piece]:
    """Yield the text of an archive, member by member; at least one piece if it is not empty."""
    source = Buffer(chunks)
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
    """Return how an archive with this beginning is compressed; None if it is not an archive."""
    if _is_skippable(start):
        return "zst"
    mark = _mark_of(start)
    if mark is None:
        return "" if begins_record(start) else None
    # No dictionary is needed: one would be in front, in a skippable frame.
    is_known = _holds_record(start[:_LOOKED_AT], b"")
    return {GZIP: "gz", ZSTD: "zst"}[mark] if is_known else None


def _members(source: Buffer) -> Iterator[Piece]:
    """The pieces of a compressed archive; bytes that are not a member give a fault."""
    dictionary = b""
    while start := source.peek(len(ZSTD)):
        at = source.offset
        if _is_skippable(start):
            content, fault = _skippable(source)
            if not fault and start == _DICTIONARY and at == 0:
                dictionary, fault = _dictionary(content)
            if fault:
                yield Piece(b"", at, fault=fault)
        elif (mark := _mark_of(start)) is None:
            yield Piece(b"", at, fault="no member begins here: what follows was not read")
            _find_member(source, dictionary)
        else:
            yield from _Member(source, mark, dictionary).pieces()


class _Member:
    """Reads the member that begins here; after a fault, it searches for the next one."""

    def __init__(self, source: Buffer, mark: bytes, dictionary: bytes) -> None:
        self._source, self._mark, self._dictionary = source, mark, dictionary
        self._at, self._given, self._fault = source.offset, 0, NO_ZSTD
        self._kept: deque[bytes] = deque(maxlen=_KEPT // _FED[mark])  # the last of its raw bytes
        self._rest = b""  # the last text of a member with a wrong checksum

    def pieces(self) -> Iterator[Piece]:
        source, isal = self._source, fast_zlib()
        if self._mark == GZIP and isal is not zlib and source.peek(4)[3:] < UNKNOWN_FLAG:
            # zlib reads large members, and those with a fault; the result is the same.
            yield from self._read(isal.decompressobj(31), isal.error, self._kept.maxlen)
            if not self._fault:
                return
            source.give_back(b"".join(self._kept))
        if (opened := _stream(self._mark, self._dictionary)) is None:
            source.take(1)
        else:
            yield from self._read(*opened)
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
        """Move past the member; return a remark, or None for a fault.

        If another member follows, all of this one is there even with a wrong checksum.
        """
        source, size = self._source, len(stream.unused_data)
        source.pos -= size
        if not (isinstance(stream, Gzip) and stream.remark):
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
        """Decode the rest up to the fault, if all of the member was kept."""
        opened = _stream(self._mark, self._dictionary)
        is_kept = self._source.offset - self._at == sum(map(len, self._kept))
        if opened is None or self._fault == BREAKS_OFF or not is_kept:
            return b""
        (stream, errors), last = opened, bytearray()
        size = sum(len(stream.decompress(fed)) for fed in [*self._kept][:-1])
        with suppress(errors):
            for byte in self._kept[-1]:
                last += stream.decompress(bytes((byte,)))
        return bytes(last[self._given - size :])


_WRONG: Final = (
    "the member does not decode: Error -3 while decompressing data: incorrect data check"
)
# The fault of a member inside which the archive ends.
BREAKS_OFF: Final = "the archive ends inside a member"


def _mark_of(start: bytes) -> bytes | None:
    return GZIP if start.startswith(GZIP) else ZSTD if start.startswith(ZSTD) else None


def _stream(mark: bytes | None, dictionary: bytes) -> tuple[Stream, type[Exception]] | None:
    if mark == GZIP:
        return Gzip(), zlib.error
    return None if mark is None else zstd_stream(dictionary)


# ---- after damage


def _find_member(source: Buffer, dictionary: bytes) -> None:
    """Move to the next bytes that look like a member with a record, or to the end."""
    while source.peek(_LOOKED_AT):
        mark = _any_mark.search(source.data, source.pos)
        if mark is None:  # a mark may lie across two chunks
            source.pos = max(len(source.data) - len(ZSTD) + 1, source.pos + 1)
            continue
        source.pos = mark.start()
        if _holds_record(source.peek(_LOOKED_AT), dictionary):
            return
        source.pos += 1


_any_mark: Final = expression(b"|".join(map(re.escape, (GZIP, ZSTD))))


def _holds_record(start: bytes, dictionary: bytes) -> bool:
    mark, text = _mark_of(start), b""
    with suppress(zlib.error):
        if mark == GZIP and Gzip.start(start) > len(start):
            return False  # each step would search for the end of its header again
    if (opened := _stream(mark, dictionary)) is None:
        return False
    stream, errors = opened
    with suppress(errors):  # a member that is damaged further on counts, too
        for at in range(0, len(start), _STEP):
            text = (text + stream.decompress(start[at : at + _STEP]))[:_LOOKED_AT]
            if begins_record(text) or len(text) == _LOOKED_AT:
                break
    return begins_record(text)


# ---- frames without text (RFC 8878 §3.1.2), one of which may be a dictionary

_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
_is_skippable: Final = regex(rb"[\x50-\x5f]\x2a\x4d\x18").match
_FRAME_HEAD: Final = 8


def _skippable(source: Buffer) -> tuple[bytes, str]:
    """The content of a frame without text, and why it cannot be read."""
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


def _dictionary(content: bytes) -> tuple[bytes, str]:
    """A dictionary, which may itself be compressed (the .warc.zst specification)."""
    if not content.startswith(ZSTD):
        return content, ""
    opened = zstd_stream()
    if opened is None:
        return b"", NO_ZSTD
    stream, errors = opened
    try:
        return stream.decompress(content), ""
    except errors as error:
        return b"", f"the dictionary does not decode: {error}"


# ---- ARC, which came before WARC: one line in front of each block

ARC: Final = "ARC"

# A line with a longer URL is not recognised.
MAX_ARC_LINE: Final = 1 << 14

# url-record = URL IP-address Archive-date Content-type [ Result-code Checksum Location Offset
# Filename ] Archive-length   (ARC file format, versions 1 and 2)
# However, a URL may contain spaces, and a type may have parameters, be empty, or be missing; the
# address may be `0` or `-`.
_WORD: Final = rb"[^ \r\n]++"
_LINE: Final = (
    rb"([a-zA-Z][a-zA-Z0-9+.-]*+:[^ \r\n]*+(?: %b){0,50}?) ([0-9a-fA-F.:]{1,45}+|-)"
    rb" ([0-9]{14}|[0-9]{12}|[0-9]{8})(?: ((?:%b(?<=;) )*+%b|))?"
    rb"(?: %b %b %b [0-9]++ %b)?+ ([0-9]{1,18})\r?\n"
) % ((_WORD,) * 7)
arc_line: Final = regex(_LINE).match

# Where a record begins inside other text: a line with a date in the right place.
ARC_STARTS: Final = rb"(?<=\n)(?:[a-z]++:)(?:[^ \r\n]++ ){2}[0-9]{14} [^\r\n]*+(?<=[0-9])\r?\n"


def arc_fields(line: re.Match[bytes]) -> tuple[tuple[str, str], ...]:
    """Return the fields of a line under their names in WARC; the length comes last."""
    url, address, date, type_, length = (
        (group or b"").decode("utf-8", "surrogateescape") for group in line.groups()
    )
    kind = "response" if url.lower().startswith(("http:", "https:")) else "resource"
    return (
        ("warc-type", "warcinfo" if url.startswith("filedesc:") else kind),
        ("warc-target-uri", url),
        # `20081113213051` as WARC writes it; missing digits are zero
        ("warc-date", re.sub(_DATE, r"\1-\2-\3T\4:\5:\6Z", date.ljust(14, "0"))),
        ("warc-ip-address", address),
        ("content-type", type_),
        ("content-length", length),
    )


_DATE: Final = "(....)(..)(..)(..)(..)(..)"
