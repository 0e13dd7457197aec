"""The members of a compressed archive: bytes in, pieces of text out, each with its place.

Where a member does not decode or breaks off, its last piece says so (`fault`), and reading goes on
at the next place that begins like a member and unfolds to the start of a record. The bytes of the
bad member are looked through, too: its damage may have eaten the beginning of the next.

To mind: an archive that ends between two members looks whole, and nobody can tell.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.codings import GZIP, ZSTD, zstd_stream
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.containers.codings import Stream

    _Search = Callable[[bytes, int], re.Match[bytes] | None]

# How much is fed at a time. zlib gives up to 1,032 times as much, Zstandard 32,000: no piece is
# longer than 8 MB.
_FED: Final = {GZIP: 1 << 13, ZSTD: 1 << 8}

# What is kept of a member to look through when it does not decode.
_KEPT: Final = 1 << 20

# The bytes that may be looked through again, beside as many as the archive has so far: members in
# members in members could make each byte be looked at a thousand times.
_LOOKED_AGAIN: Final = 1 << 24

MAX_DICTIONARY: Final = 1 << 24

_LOOKED_AT: Final = 1 << 12


class Piece(NamedTuple):
    """A piece of the text of an archive."""

    data: bytes
    at: int  # where the member begins in the archive; where the data does, if it is not compressed
    end: int | None  # where the member ends in the archive, None before its last piece
    fault: str  # why the member does not decode, "" when it does
    packed: bool  # whether it was compressed


def pieces(chunks: Iterable[bytes]) -> Iterator[Piece]:
    r"""Yield the text of an archive, member by member; of any bytes at least one piece."""
    source = _Stream(chunks)
    start = source.peek(len(ZSTD))
    if _is_skippable(start) or _mark_of(start) is not None:
        yield from _members(source)
        return
    while data := source.take(_ALL):
        yield Piece(data, source.at - len(data), None, "", packed=False)


_ALL: Final = 1 << 62


class _Stream:
    __slots__ = ("_again", "_chunks", "_data", "_pos", "at")

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._data = b""
        self._pos = 0
        self._again = _LOOKED_AGAIN
        self.at = 0  # of the next byte in the archive

    def take(self, most: int) -> bytes:
        """Return the next bytes, as many as there are at hand; b"" at the end."""
        while self._pos >= len(self._data):
            chunk = next(self._chunks, None)
            if chunk is None:
                return b""
            self._data, self._pos = chunk, 0
        taken = self._data[self._pos : self._pos + most]
        self._pos += len(taken)
        self.at += len(taken)
        return taken

    def give_back(self, data: bytes) -> None:
        """Make bytes that were taken the next ones again."""
        self.at -= len(data)
        if self._pos >= len(data) and self._data.endswith(data, 0, self._pos):
            self._pos -= len(data)
        else:
            self._data, self._pos = data + self._data[self._pos :], 0

    def peek(self, size: int) -> bytes:
        """Return the next bytes, fewer only at the end, and leave them."""
        found = self._data[self._pos : self._pos + size]
        while len(found) < size:
            chunk = next(self._chunks, None)
            if chunk is None:
                break
            self._data, self._pos = self._data[self._pos :] + chunk, 0
            found = self._data[:size]
        return found

    def go_to(self, search: _Search, overlap: int) -> bool:
        """Go to what is found in the bytes at hand; else after them, but for an overlap."""
        found = search(self._data, self._pos)
        left = len(self._data) - self._pos
        skipped = found.start() - self._pos if found else max(left - overlap, 1)
        self._pos += skipped
        self.at += skipped
        return found is not None

    def look_again(self, data: bytes) -> None:
        """Make all but the first of these bytes the next ones again, unless that was too often."""
        self._again -= len(data)
        if self._again + self.at >= 0:
            self.give_back(data[1:])


def _mark_of(start: bytes) -> bytes | None:
    return next((mark for mark in (GZIP, ZSTD) if start.startswith(mark)), None)


def begins_record(text: bytes) -> bool:
    r"""Return whether a text begins as a record of WARC or ARC does."""
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


def _members(source: _Stream) -> Iterator[Piece]:
    """The members of a compressed archive, and what is between them that is none."""
    dictionary = b""
    while start := source.peek(len(ZSTD)):
        at = source.at
        if _is_skippable(start):
            content, fault = _skippable(source)
            if not fault and start == _DICTIONARY and at == 0:
                dictionary, fault = _dictionary(content)
            if fault:
                yield Piece(b"", at, end=source.at, fault=fault, packed=True)
            continue
        mark = _mark_of(start)
        if mark is None:
            text = "no member begins here: what follows was not read"
            yield Piece(b"", at, end=at, fault=text, packed=True)
            _find_member(source, dictionary)
            continue
        kept: list[bytes] = []
        for piece in _unfolded(source, mark, dictionary, kept):
            yield piece
            if piece.fault:  # the next member may begin inside of this one
                source.look_again(b"".join(kept))
                _find_member(source, dictionary)


def _unfolded(
    source: _Stream, mark: bytes, dictionary: bytes, kept: list[bytes]
) -> Iterator[Piece]:
    """The pieces of the member that begins here; the last of its raw bytes are put into `kept`."""
    at, size = source.at, 0
    found = _stream(mark, dictionary)
    if found is None:
        source.take(1)
        yield Piece(b"", at, end=None, fault=_MISSING, packed=True)
        return
    stream, errors = found
    while fed := source.take(_FED[mark]):
        kept.append(fed)
        size += len(fed)
        while size > _KEPT and len(kept) > 1:
            size -= len(kept.pop(0))
        try:
            data = stream.decompress(fed)
        except errors as error:
            text = f"the member does not decode: {error}"
            yield Piece(b"", at, source.at, text, packed=True)
            return
        if stream.eof:
            source.give_back(stream.unused_data)
            yield Piece(data, at, source.at, "", packed=True)
            return
        if data:
            yield Piece(data, at, None, "", packed=True)
    yield Piece(b"", at, source.at, BREAKS_OFF, packed=True)


# The fault of a member that the archive ends in.
BREAKS_OFF: Final = "the archive breaks off inside of a member"

_MISSING: Final = "the package zstandard is needed to read it: pip install 'relbase[warc]'"


def _stream(mark: bytes | None, dictionary: bytes) -> tuple[Stream, type[Exception]] | None:
    if mark == GZIP:
        return zlib.decompressobj(31), zlib.error
    return None if mark is None else zstd_stream(dictionary)


# ---- after damage


def _find_member(source: _Stream, dictionary: bytes) -> None:
    """Go to the next place that begins like a member of a record, or to the end."""
    while source.peek(_LOOKED_AT):
        if not source.go_to(_any_mark.search, len(ZSTD) - 1):
            continue
        if _holds_record(source.peek(_LOOKED_AT), dictionary):
            return
        source.take(1)


_any_mark: Final = expression(b"|".join(map(re.escape, (GZIP, ZSTD))))


def _holds_record(start: bytes, dictionary: bytes) -> bool:
    found = _stream(_mark_of(start), dictionary)
    if found is None:
        return False
    stream, errors = found
    try:
        return begins_record(stream.decompress(start)[:_LOOKED_AT])
    except errors:
        return False


# ---- frames that hold no text (RFC 8878 §3.1.2), among them a dictionary

_DICTIONARY: Final = b"\x5d\x2a\x4d\x18"
_SKIPPABLE: Final = expression(rb"[\x50-\x5f]\x2a\x4d\x18")
_FRAME_HEAD: Final = 8


def _is_skippable(start: bytes) -> bool:
    return _SKIPPABLE.match(start) is not None


def _skippable(source: _Stream) -> tuple[bytes, str]:
    """The content of a frame that holds no text, and why it cannot be read."""
    head = source.peek(_FRAME_HEAD)
    size = int.from_bytes(head[4:], "little")
    source.take(len(head))
    if size > MAX_DICTIONARY:
        return b"", f"a frame without text has {size} bytes, more than {MAX_DICTIONARY}"
    content = source.peek(size)
    taken = 0
    while taken < len(content):
        taken += len(source.take(len(content) - taken))
    if len(head) < _FRAME_HEAD or len(content) < size:
        return b"", BREAKS_OFF
    return content, ""


def _dictionary(content: bytes) -> tuple[bytes, str]:
    """A dictionary, which may itself be compressed (the .warc.zst specification)."""
    if not content.startswith(ZSTD):
        return content, ""
    found = zstd_stream()
    if found is None:
        return b"", _MISSING
    stream, errors = found
    try:
        return stream.decompress(content), ""
    except errors as error:
        return b"", f"the dictionary does not decode: {error}"


# ---- ARC files, which came before WARC: one line in front of each block

ARC: Final = "ARC"

# A line with a longer URL is not known as one.
MAX_ARC_LINE: Final = 1 << 14

# url-record = URL IP-address Archive-date Content-type [ Result-code Checksum Location Offset
# Filename ] Archive-length   (ARC file format, versions 1 and 2)
# However, a URL may have spaces in it, and a type may have parameters, or be empty or left out; the
# address may be `0` or `-`.
_WORD: Final = rb"[^ \r\n]++"
_LINE: Final = (
    rb"([a-zA-Z][a-zA-Z0-9+.-]*+:[^ \r\n]*+(?: %b){0,50}?) ([0-9a-fA-F.:]{1,45}+|-)"
    rb" ([0-9]{14}|[0-9]{12}|[0-9]{8})(?: ((?:%b(?<=;) )*+%b|))?"
    rb"(?: %b %b %b [0-9]++ %b)?+ ([0-9]{1,18})\r?\n"
) % ((_WORD,) * 7)
arc_line: Final = re.compile(_LINE).match

# Where a record begins inside of other text: a line with a date in the right place.
ARC_STARTS: Final = rb"(?<=\n)(?:[a-z]++:)(?:[^ \r\n]++ ){2}[0-9]{14} [^\r\n]*+(?<=[0-9])\r?\n"


def arc_fields(found: re.Match[bytes]) -> tuple[tuple[str, str], ...]:
    r"""Return the fields of a line, under the names of WARC; the length is the last."""
    url, address, date, type_, length = (
        (group or b"").decode("utf-8", "surrogateescape") for group in found.groups()
    )
    kind = "response" if url.lower().startswith(("http:", "https:")) else "resource"
    return (
        ("warc-type", "warcinfo" if url.startswith("filedesc:") else kind),
        ("warc-target-uri", url),
        ("warc-date", _iso_date(date)),
        ("warc-ip-address", address),
        ("content-type", type_),
        ("content-length", length),
    )


def _iso_date(date: str) -> str:
    """Return `20081113213051` as WARC writes it; what is left out is zero."""
    date = date.ljust(14, "0")
    day = f"{date[:4]}-{date[4:6]}-{date[6:8]}"
    return f"{day}T{date[8:10]}:{date[10:12]}:{date[12:14]}Z"
