"""Bodies that are compressed: gzip, deflate, zstd, br; each is undone by one function.

Strategy: a function takes a body and a limit, and returns what the body unfolds to with what is to
be remarked on it. It reads in small steps, since a coding may unfold to a thousand times its size.
A checksum that is wrong or missing loses no byte: a remark. Where a body breaks off or does not
decode, the error holds what was unfolded until then.
"""

from __future__ import annotations

import re
import struct
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class UndecodableError(Exception):
    """A body cannot be decoded, for the reason in the text."""

    def __init__(self, text: str, salvaged: Iterable[bytes] = ()) -> None:
        super().__init__(text)
        self._salvaged = salvaged

    @property
    def salvaged(self) -> bytes:
        """What was decoded until then."""
        return b"".join(self._salvaged)


class MislabelledError(UndecodableError):
    """A body does not begin as its coding does."""


TOO_LONG: Final = "it unfolds to too many bytes"


class Output:
    """What a body unfolds to, in pieces, up to a limit."""

    __slots__ = ("left", "pieces")

    def __init__(self, limit: int) -> None:
        self.pieces: list[bytes] = []
        self.left = limit

    def add(self, piece: bytes) -> None:
        """Add a piece; raise where it is too much."""
        self.left -= len(piece)
        if self.left < 0:
            raise UndecodableError(TOO_LONG)
        self.pieces.append(piece)

    def ended(self, body: bytes, at: int) -> tuple[bytes, str]:
        """All of it, and what is to be remarked on the bytes after its end."""
        rest = len(body) - at
        return b"".join(self.pieces), f"{rest} bytes follow its end: left out" if rest > 0 else ""


# What stands in no text: the controls but TAB, LF, FF, CR and ESC (of ISO-2022-JP).
_CONTROL: Final = re.compile(rb"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT: Final = 256


def looks_like_text(body: bytes) -> bool:
    """Return whether the first bytes are those of a text."""
    start = body[:_LOOKED_AT]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start.replace(b"\0", b"")
    return _CONTROL.search(start) is None


GZIP: Final = b"\x1f\x8b\x08"
ZSTD: Final = b"\x28\xb5\x2f\xfd"

# How much is fed at a time: zlib gives up to 1,032 times as much, Zstandard 32,000 times.
_FED_FIRST: Final = 1 << 8
_FED_LAST: Final = 1 << 13

# What a window of Zstandard may need: what `zstd --long=27` writes, the default of its reader.
MAX_WINDOW: Final = 1 << 27


class _Reader(NamedTuple):
    """What undoes one stream of a coding."""

    stream: zlib._Decompress  # or that of `zstandard`, which has the same methods
    errors: type[Exception]
    step: int  # how many bytes are fed at a time


def _unfold(body: bytes, at: int, reader: _Reader, output: Output) -> int:
    """Put what the stream at `at` unfolds to into the output; return where the stream ends."""
    stream, size = reader.stream, min(reader.step, _FED_FIRST)  # there may be millions of streams
    while at < len(body):
        fed = body[at : at + size]
        size = min(reader.step, 2 * size)
        try:
            piece = stream.decompress(fed)
        except reader.errors as error:
            raise UndecodableError(f"it does not decode: {error}", output.pieces) from None
        output.add(piece)
        at += len(fed)
        if stream.eof:
            return at - len(stream.unused_data)
    raise UndecodableError(f"it breaks off at byte {len(body)}", output.pieces)


def _begin(body: bytes, mark: bytes, what: str) -> None:
    """Raise unless a body begins with a mark."""
    if body.startswith(mark):
        return
    if mark.startswith(body):
        raise UndecodableError(f"it breaks off at byte {len(body)}")
    raise MislabelledError(f"the body begins with no {what}")


def gunzip(body: bytes, limit: int) -> tuple[bytes, str]:
    """RFC 1952: a gzip is one member or several."""
    _begin(body, GZIP[:2], "gzip")
    output, at, remark = Output(limit), 0, ""
    while at == 0 or body.startswith(GZIP, at):
        start = _gzip_data(body, at)
        if start is None:
            raise UndecodableError(f"it breaks off at byte {len(body)}", output.pieces)
        first = len(output.pieces)
        end = _deflated(body, start, output)
        crc = size = 0
        for piece in output.pieces[first:]:
            crc, size = zlib.crc32(piece, crc), size + len(piece)
        check = struct.pack("<II", crc, size & 0xFFFFFFFF)
        remark, at = remark or _unchecked(body, end, check), end + len(check)
    data, rest = output.ended(body, at)
    return data, remark or rest


def _gzip_data(body: bytes, at: int) -> int | None:
    """Where the compressed data of a member begins (RFC 1952 §2.3), None where it breaks off."""
    flags = body[at + 3] if at + _GZIP_HEAD <= len(body) else None
    if flags is None:
        return None
    at += _GZIP_HEAD
    if flags & _FEXTRA:
        at += 2 + int.from_bytes(body[at : at + 2], "little")
    for flag in (_FNAME, _FCOMMENT):
        if flags & flag:
            end = body.find(b"\0", at)
            at = len(body) if end < 0 else end + 1
    at += 2 * bool(flags & _FHCRC)
    return at if at < len(body) else None


_GZIP_HEAD: Final = 10
_FHCRC, _FEXTRA, _FNAME, _FCOMMENT = 2, 4, 8, 16


def inflate(body: bytes, limit: int) -> tuple[bytes, str]:
    """RFC 9110 §8.4.1.2: the zlib format; however, some servers send deflate without it."""
    if len(body) < len(b"x\x9c"):
        raise UndecodableError(f"it breaks off at byte {len(body)}")
    if _is_zlib(body):
        output = Output(limit)
        try:
            end = _deflated(body, len(b"x\x9c"), output)
        except UndecodableError:
            if not _begins(body):
                raise
        else:
            adler = 1
            for piece in output.pieces:
                adler = zlib.adler32(piece, adler)
            check = adler.to_bytes(4)
            data, rest = output.ended(body, end + len(check))
            return data, _unchecked(body, end, check) or rest
    elif not _begins(body):
        raise MislabelledError("the body begins with no deflate")
    output = Output(limit)
    return output.ended(body, _deflated(body, 0, output))


def _deflated(body: bytes, at: int, output: Output) -> int:
    """Unfold deflate without a frame (RFC 1951); return where it ends."""
    return _unfold(body, at, _Reader(zlib.decompressobj(-15), zlib.error, _FED_LAST), output)


def _unchecked(body: bytes, at: int, check: bytes) -> str:
    """What is to be remarked on the checksum of bytes that are all there."""
    stated = body[at : at + len(check)]
    if stated == check:
        return ""
    return "its checksum is missing" if len(stated) < len(check) else "its checksum is wrong"


def _is_zlib(body: bytes) -> bool:
    """RFC 1950 §2.2: compression method 8, and a check of the first two bytes."""
    return body[0] & 0x0F == _DEFLATE and int.from_bytes(body[:2]) % 31 == 0


_DEFLATE: Final = 8


def _begins(body: bytes) -> bool:
    """Whether a body begins as deflate without a frame."""
    try:
        zlib.decompressobj(-15).decompress(body[:_LOOKED_AT])
    except zlib.error:
        return False
    return not looks_like_text(body) or not body[:1].isascii()


def unzstd(body: bytes, limit: int) -> tuple[bytes, str]:
    """RFC 8878: frames, one after the other."""
    _begin(body, ZSTD, "frame of Zstandard")
    try:
        import zstandard  # noqa: PLC0415 (of the extra `warc`)
    except ImportError:
        raise UndecodableError(_MISSING.format("zstandard")) from None

    output, at = Output(limit), 0
    while at == 0 or body.startswith(ZSTD, at):
        stream: Any = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
        at = _unfold(body, at, _Reader(stream, zstandard.ZstdError, _FED_FIRST), output)
    return output.ended(body, at)


def unbrotli(body: bytes, limit: int) -> tuple[bytes, str]:
    """RFC 7932. It has no mark: what begins like text may still be one."""
    try:
        import brotli  # noqa: PLC0415 (of the extra `warc`)
    except ImportError:
        if body.lstrip()[:1] == b"<":
            raise MislabelledError("the body begins with a tag") from None
        raise UndecodableError(_MISSING.format("brotli")) from None
    stream = brotli.Decompressor()
    output, fed = Output(limit), body
    try:
        while True:
            piece = stream.process(fed, output_buffer_limit=_BROTLI_PIECE)
            output.add(piece)
            if stream.is_finished():
                return output.ended(body, len(body))
            if not piece and stream.can_accept_more_data():
                raise UndecodableError(f"it breaks off at byte {len(body)}", output.pieces)
            fed = b""
    except brotli.error as error:
        if len(output.pieces) == 0:
            raise MislabelledError("the body does not decode") from None
        raise UndecodableError(f"it does not decode: {error}", output.pieces) from None


_BROTLI_PIECE: Final = 1 << 20

_MISSING: Final = "the package {0} is needed to undo it: pip install 'relbase[warc]'"
