"""Undoes the codings of an HTTP body: chunked, gzip, deflate, br, zstd.

Many programs save decoded bodies with the original fields. So a coding is skipped, with a remark,
if the body does not begin with it, but with a later coding or with text. A body that begins as
stated, and then breaks off or does not decode, is refused, since half a page is a wrong page.
"""

import struct
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

from relbase.expressions import regex

# Or that of `zstandard`, which has the same methods.
Stream: TypeAlias = "zlib._Decompress | Gzip"  # noqa: SLF001 (typeshed has no other name)


# The most bytes that a body may decode to: no page is so long, and all of it is in memory at once.
MAX_DECODED: Final = 64 << 20

# The codings of one message; real ones have one or two, and each adds work.
MAX_CODINGS: Final = 4


class Decoded(NamedTuple):
    data: bytes | None  # None if the codings cannot be undone
    undone: tuple[str, ...] = ()  # the outermost first
    remarks: tuple[str, ...] = ()  # on codings that are not as stated
    fault: str = ""  # why they cannot be undone, or why salvaged data is incomplete
    is_mislabelled: bool = False  # the body begins neither like its coding nor like text


def _codings(stated: Iterable[str]) -> list[str]:
    names = [
        item.partition(";")[0].strip(" \t\r\n\"'").lower()
        for value in stated
        for item in value.split(",")
    ]
    return [name.removeprefix("x-") for name in names if name not in ("", "identity", "none")]


def decoded(
    body: bytes,
    transfer: Iterable[str] = (),
    content: Iterable[str] = (),
    limit: int = MAX_DECODED,
    *,
    salvage: bool = False,
) -> Decoded:
    """Undo the codings of a body (RFC 9110 §8.4, RFC 9112 §6); `salvage` keeps what is decoded."""
    stated = _codings(chain(content, transfer))
    if len(stated) > MAX_CODINGS:
        return Decoded(None, fault=f"{len(stated)} codings are stated: no more than {MAX_CODINGS}")
    undone, remarks, faults = list[str](), list[str](), list[str]()
    while stated or (body.startswith(GZIP) and len(undone) < MAX_CODINGS):
        is_stated = bool(stated)
        coding = stated.pop() if is_stated else "gzip"  # no text begins like gzip
        shown = coding if is_stated else "gzip, not stated"
        try:
            data, remark, fault = _undo(body, coding, limit)
        except MislabelledError as error:
            if not (stated or body.startswith(GZIP) or looks_like_text(body)):
                why = tuple(undone), tuple(remarks), f"{shown}: {error}"
                return Decoded(None, *why, is_mislabelled=True)
            remarks.append(f"the body is labelled {coding}, but is not: taken as it is")
            continue
        if fault:
            faults.append(f"{shown}: {fault}")
            if not (salvage and data):
                return Decoded(None, tuple(undone), tuple(remarks), faults[-1])
        body = data
        undone.append(coding)
        if remark:
            remarks.append(f"{coding}: {remark}")
        if not is_stated:
            remarks.append("the body is gzipped once more than stated")
    return Decoded(body, tuple(undone), tuple(remarks), "".join(faults[:1]))


def _undo(body: bytes, coding: str, limit: int) -> tuple[bytes, str, str]:
    """Return the body without a coding, a remark, and why it is incomplete."""
    if coding not in CODINGS:
        raise MislabelledError("an unknown coding")
    if not body:
        return b"", "", ""  # HEAD, 204, 304: without a body, there is no coding
    pieces: list[bytes] = []
    remark, left = "", limit
    try:
        for piece in CODINGS[coding](body):
            if isinstance(piece, str):
                remark = remark or piece
                continue
            left -= len(piece)
            if left < 0:
                return b"", "", "it expands to too many bytes"
            pieces.append(piece)
    except UndecodableError as error:
        return b"".join(pieces), "", str(error)
    return b"".join(pieces), remark, ""


# ---- one generator undoes each coding. It yields the decoded bytes in small pieces, since a body
# may expand to a thousand times its size. Remarks are yielded as str: a wrong or missing checksum
# loses no byte. If a body breaks off or does not decode, the generator raises an error.


class UndecodableError(Exception):
    """A body cannot be decoded, for the reason in the text."""


class MislabelledError(Exception):
    """A body does not begin like its coding."""


# Controls that occur in no text: all but TAB, LF, FF, CR and ESC (of ISO-2022-JP).
_CONTROL: Final = regex(rb"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT: Final = 256


def looks_like_text(body: bytes) -> bool:
    start = body[:_LOOKED_AT]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start.replace(b"\0", b"")
    return _CONTROL.search(start) is None


GZIP: Final = b"\x1f\x8b\x08"
ZSTD: Final = b"\x28\xb5\x2f\xfd"

# The largest window of Zstandard: what `zstd --long=27` writes, and zstd reads by default.
_MAX_WINDOW: Final = 1 << 27

# How much is fed at a time: zlib returns up to 1,032 times as much, Zstandard 32,000 times.
_FED_FIRST, _FED_LAST = 1 << 8, 1 << 13
_BROTLI_PIECE: Final = 1 << 20


@cache
def fast_zlib() -> Any:  # noqa: ANN401 (a module)
    """Return isal's zlib, which takes a third of the time; zlib if isal is not installed."""
    try:
        from isal import isal_zlib  # of the extra `warc`
    except ImportError:
        return zlib
    return isal_zlib


def zstd_stream(dictionary: bytes = b"") -> tuple[Stream, type[Exception]] | None:
    """Return a decompressor for a frame of Zstandard, and its error; None without the package."""
    try:
        import zstandard  # of the extra `warc`
    except ImportError:
        return None
    known = zstandard.ZstdCompressionDict(dictionary) if dictionary else None
    reader = zstandard.ZstdDecompressor(dict_data=known, max_window_size=_MAX_WINDOW)
    return reader.decompressobj(), zstandard.ZstdError  # type: ignore[return-value]


class Gzip:
    """Decompresses a gzip member even if the checksum after its data is wrong (RFC 1952 §2.3)."""

    _checksum = staticmethod(zlib.crc32)

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(-15)
        self._head: bytes | None = b""
        self._value, self._size = self._checksum(b""), 0
        self.eof, self.unused_data = False, b""
        self.remark = ""  # on its checksum

    def decompress(self, fed: bytes) -> bytes:
        if self._head is not None:
            self._head += fed
            start = self.start(self._head)
            if start > len(self._head):
                return b""
            fed, self._head = self._head[start:], None
        data = self._stream.decompress(fed)
        self._value, self._size = self._checksum(data, self._value), self._size + len(data)
        if self._stream.eof:
            rest, check = self._stream.unused_data, self._check()
            self.eof, self.unused_data = len(rest) >= len(check), rest[len(check) :]
            wrong = "wrong" if self.eof else "missing"
            self.remark = "" if rest.startswith(check) else f"its checksum is {wrong}"
        return data

    @staticmethod
    def start(head: bytes) -> int:
        """Where the compressed data begins; past the end if the header is cut off."""
        if head[3:4] >= UNKNOWN_FLAG or len(head) > _MAX_NAME:
            raise zlib.error("unknown header flags set, or a name without end")
        flags, at = head[3] if len(head) >= _GZIP_HEAD else 0, _GZIP_HEAD
        if flags & _FEXTRA:
            at += 2 + int.from_bytes(head[at : at + 2], "little")
        for flag in (_FNAME, _FCOMMENT):
            if flags & flag:
                end = head.find(b"\0", at)
                at = len(head) + 1 if end < 0 else end + 1
        return at + 2 * bool(flags & _FHCRC)

    def _check(self) -> bytes:
        return struct.pack("<II", self._value, self._size & 0xFFFFFFFF)


_GZIP_HEAD: Final = 10
_FHCRC, _FEXTRA, _FNAME, _FCOMMENT = 2, 4, 8, 16
UNKNOWN_FLAG: Final = b"\x20"
# A name in the header does not state its length.
_MAX_NAME: Final = 1 << 17


class _Zlib(Gzip):
    _checksum = staticmethod(zlib.adler32)

    @staticmethod
    def start(_head: bytes) -> int:
        return _ZLIB_HEAD

    def _check(self) -> bytes:
        return self._value.to_bytes(4)


def _unfold(
    body: bytes, at: int, reader: tuple[Stream, type[Exception]], last: int = _FED_LAST
) -> Generator[bytes | str, None, int]:
    """Yield what a stream decodes to, and remarks; return where it ends."""
    stream, error = reader
    fed_at_once = _FED_FIRST  # there may be millions of streams
    while at < len(body) and not stream.eof:
        fed = body[at : at + fed_at_once]
        fed_at_once = min(last, 2 * fed_at_once)
        try:
            yield stream.decompress(fed)
        except error as failure:
            raise UndecodableError(f"it does not decode: {failure}") from None
        at += len(fed)
    remark = stream.remark if isinstance(stream, Gzip) else ""
    if remark:
        yield remark
    elif not stream.eof:
        raise _broken(body)
    return at - len(stream.unused_data)


def _broken(body: bytes) -> UndecodableError:
    return UndecodableError(f"it is cut off at byte {len(body)}")


def _begin(body: bytes, mark: bytes, what: str) -> None:
    if body != mark and mark.startswith(body):
        raise _broken(body)
    if not body.startswith(mark):
        raise MislabelledError(f"the body begins with no {what}")


def _rest(body: bytes, at: int) -> Iterator[str]:
    if at < len(body):
        yield f"{len(body) - at} bytes follow its end: left out"


def gunzip(body: bytes) -> Iterator[bytes | str]:
    """RFC 1952: one member or several."""
    _begin(body, GZIP, "gzip")
    if body[3:4] < UNKNOWN_FLAG and (whole := _whole(body)) is not None:
        yield whole
        return
    at = 0
    while at == 0 or body.startswith(GZIP, at):
        at = yield from _unfold(body, at, (Gzip(), zlib.error))
    yield from _rest(body, at)


def _whole(body: bytes) -> bytes | None:
    """Decode one valid member with isal; None for anything else, which zlib reads."""
    size, isal = int.from_bytes(body[-4:], "little"), fast_zlib()
    if isal is zlib or size > MAX_DECODED:
        return None
    stream = isal.decompressobj(31)
    try:
        data: bytes = stream.decompress(body, size + 1)
    except isal.error:
        return None
    return data if stream.eof and not stream.unused_data else None


def inflate(body: bytes) -> Iterator[bytes | str]:
    """RFC 9110 §8.4.1.2: the zlib format; however, some servers send raw deflate."""
    if len(body) < _ZLIB_HEAD:
        raise _broken(body)
    # RFC 1950 §2.2: compression method 8, and a check of the first two bytes.
    is_zlib = body[0] & 0x0F == _DEFLATE and int.from_bytes(body[:2]) % 31 == 0
    if is_zlib and not (_begins(body, -15) and not _begins(body, 15)):
        stream: Stream = _Zlib()
    elif _begins(body, -15):
        stream = zlib.decompressobj(-15)
    else:
        raise MislabelledError("the body begins with no deflate")
    at = yield from _unfold(body, 0, (stream, zlib.error))
    yield from _rest(body, at)


_ZLIB_HEAD, _DEFLATE = 2, 8


def _begins(body: bytes, window: int) -> bool:
    """Whether a body begins like deflate, in the zlib format or raw (-15)."""
    try:
        zlib.decompressobj(window).decompress(body[:_LOOKED_AT])
    except zlib.error:
        return False
    return not looks_like_text(body) or not body[:1].isascii()


def unzstd(body: bytes) -> Iterator[bytes | str]:
    """RFC 8878: frames, one after the other."""
    _begin(body, ZSTD, "frame of Zstandard")
    at = 0
    while at == 0 or body.startswith(ZSTD, at):
        stream = zstd_stream()
        if stream is None:
            raise UndecodableError(_MISSING.format("zstandard"))
        at = yield from _unfold(body, at, stream, last=_FED_FIRST)
    yield from _rest(body, at)


def unbrotli(body: bytes) -> Iterator[bytes | str]:
    """RFC 7932. It has no magic number: a body that begins like text may still be brotli."""
    try:
        import brotli  # of the extra `warc`
    except ImportError:
        if body.lstrip()[:1] == b"<":
            raise MislabelledError("the body begins with a tag") from None
        raise UndecodableError(_MISSING.format("brotli")) from None
    stream: Any = brotli.Decompressor()
    fed = body
    while True:
        try:
            piece = stream.process(fed, output_buffer_limit=_BROTLI_PIECE)
        except brotli.error as error:
            if fed:
                raise MislabelledError("the body does not decode") from None
            raise UndecodableError(f"it does not decode: {error}") from None
        yield piece
        if stream.is_finished():
            return
        if not piece and stream.can_accept_more_data():
            raise _broken(body)
        fed = b""


_MISSING: Final = "the package {0} is needed to undo it: pip install 'relbase[warc]'"

# ---- chunked (RFC 9112 §7.1)

# Nobody reads chunk extensions that are longer (RFC 9112 §7.1.1).
MAX_CHUNK_LINE: Final = 8192

# chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF; lines may also end with LF alone (§2.2)
_chunk_line: Final = regex(
    rb"([0-9A-Fa-f]{1,16})[ \t]*+(?:;[^\n]{0,%d}+)?\r?\n" % MAX_CHUNK_LINE
).match
_part_of_line: Final = regex(rb"[0-9A-Fa-f]{1,16}[ \t]*+(?:;[^\n]*+)?\r?|").fullmatch
_chunk_end: Final = regex(rb"\r?\n").match


def dechunk(body: bytes) -> Iterator[bytes | str]:
    """RFC 9112 §7.1: chunks, each with its length; trailers say nothing about the body."""
    at = 0
    while line := _chunk_line(body, at):
        size, start = int(line[1], 16), line.end()
        if size == 0:
            return
        yield body[start : start + size]
        if start + size >= len(body):
            raise _broken(body)
        end = _chunk_end(body, start + size)
        if end is None:
            raise UndecodableError(f"a chunk that is longer at byte {start + size}")
        at = end.end()
    if _part_of_line(body, at):
        raise _broken(body)
    if at == 0:
        raise MislabelledError("the body begins with no chunk")
    raise UndecodableError(f"no chunk at byte {at}")


CODINGS: Final[dict[str, Callable[[bytes], Iterator[bytes | str]]]] = {
    "chunked": dechunk,
    "gzip": gunzip,
    "deflate": inflate,
    "br": unbrotli,
    "zstd": unzstd,
}
