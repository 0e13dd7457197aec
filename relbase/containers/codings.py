"""What the codings of an HTTP body hide: chunked, gzip, deflate, br, zstd.

Strategy: `decoded` undoes the codings that `Transfer-Encoding` and `Content-Encoding` state, the
last one first (RFC 9112 §6.1, RFC 9110 §8.4). Nothing is undone in place: who changes a body
changes one that has no coding.

Where real messages break the rules: programs write down a body that they have decoded, with the
fields as they came. So a body that does not begin as its coding does and begins as text is taken as
it stands, with a remark; so is a gzip that nobody stated undone. A body that begins as stated and
then breaks off, does not decode or is too long is refused: half a page is a wrong page.

To mind: a coding may unfold to a thousand times its size, and codings may be stacked. Everything is
unfolded in pieces up to `MAX_DECODED` bytes, by no more than `MAX_CODINGS` codings.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Final

from relbase.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# The bytes that a body may unfold to: no page is so long, and all of it is held at once.
MAX_DECODED: Final = 64 << 20

# Of one message; real ones have one or two, and the sum of the work grows with each.
MAX_CODINGS: Final = 4

# Extensions of a chunk that are longer hold nothing that anybody reads (RFC 9112 §7.1.1).
MAX_CHUNK_LINE: Final = 8192


class Decoded(NamedTuple):
    """A body without its codings.

    Args:
        data: the bytes, None when the codings cannot be undone.
        undone: the codings that were undone, the outermost first.
        remarks: where the codings are not as stated, sentences for people.
        fault: why they cannot be undone, "" when they can.
    """

    data: bytes | None
    undone: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    fault: str = ""


def codings(stated: Iterable[str]) -> list[str]:
    """Return the codings that fields state, in the order they were applied, in lower case.

    >>> codings(["GZIP, identity", "x-gzip ;q=1"])
    ['gzip', 'gzip']
    """
    names = [
        item.partition(";")[0].strip(" \t\r\n\"'").lower()
        for value in stated
        for item in value.split(",")
    ]
    return [name.removeprefix("x-") for name in names if name not in ("", "identity", "none")]


class _UndecodableError(Exception):
    """A body cannot be decoded, for the reason in the text."""


class _MislabelledError(_UndecodableError):
    """A body does not begin as its coding does."""


def decoded(
    body: bytes,
    transfer: Iterable[str] = (),
    content: Iterable[str] = (),
    limit: int = MAX_DECODED,
) -> Decoded:
    r"""Undo the codings of a body.

    Implements RFC 9112 §6 and §7, RFC 9110 §8.4, RFC 7932 and RFC 8878, as leniently as the head of
    this file says.

    >>> decoded(b"3;x=1\r\nabc\r\n0\r\n\r\n", ["chunked"])
    Decoded(data=b'abc', undone=('chunked',), remarks=(), fault='')
    """
    stated = [*codings(content), *codings(transfer)]
    if len(stated) > MAX_CODINGS:
        return Decoded(None, fault=f"{len(stated)} codings are stated: no more than {MAX_CODINGS}")
    undone: list[str] = []
    remarks: list[str] = []
    for coding in reversed(stated):
        try:
            body, remark = _undo(body, coding, limit)
        except _MislabelledError as error:
            if not _looks_like_text(body):
                return Decoded(None, tuple(undone), tuple(remarks), f"{coding}: {error}")
            remarks.append(f"the body is said to be {coding}, and is not: taken as it stands")
        except _UndecodableError as error:
            return Decoded(None, tuple(undone), tuple(remarks), f"{coding}: {error}")
        else:
            undone.append(coding)
            if remark:
                remarks.append(f"{coding}: {remark}")
    return _unstated(body, undone, remarks, limit)


def _unstated(body: bytes, undone: list[str], remarks: list[str], limit: int) -> Decoded:
    """The body, with a gzip undone that nobody stated: no text begins so."""
    while body.startswith(_GZIP) and len(undone) < MAX_CODINGS:
        try:
            body, _ = _undo(body, "gzip", limit)
        except _UndecodableError as error:
            return Decoded(None, tuple(undone), tuple(remarks), f"gzip, not stated: {error}")
        undone.append("gzip")
        remarks.append("the body is gzip once more than is stated")
    return Decoded(body, tuple(undone), tuple(remarks))


def _undo(body: bytes, coding: str, limit: int) -> tuple[bytes, str]:
    """The body without one coding, and what is to be remarked on it."""
    undo = _CODINGS.get(coding)
    if undo is None:
        raise _MislabelledError("no coding that is known")
    if not body:
        return b"", ""  # HEAD, 204, 304: no body has no coding
    return undo(body, limit)


# What stands in no text: the controls but TAB, LF, FF, CR and ESC (of ISO-2022-JP).
_CONTROL: Final = re.compile(rb"[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]")
_LOOKED_AT: Final = 256


def _looks_like_text(body: bytes) -> bool:
    start = body[:_LOOKED_AT]
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        start = start.replace(b"\0", b"")
    return _CONTROL.search(start) is None


# ---- chunked (RFC 9112 §7.1)

# chunk = chunk-size [ chunk-ext ] CRLF chunk-data CRLF; lines end with LF alone, too (§2.2)
_chunk_line: Final = re.compile(
    rb"([0-9A-Fa-f]{1,16})[ \t]*+(?:;[^\n]{0,%d}+)?\r?\n" % MAX_CHUNK_LINE
).match
_part_of_line: Final = re.compile(rb"[0-9A-Fa-f]{1,16}[ \t]*+(?:;[^\n]*+)?\r?|").fullmatch
_chunk_end: Final = re.compile(rb"\r?\n").match


def _dechunk(body: bytes, limit: int) -> tuple[bytes, str]:
    pieces: list[bytes] = []
    at, left = 0, limit
    while True:
        line = _chunk_line(body, at)
        if line is None:
            at_end = _part_of_line(body, at) is not None
            if at == 0 and not at_end:
                raise _MislabelledError("the body begins with no chunk")
            raise _UndecodableError(_broken(body, len(body) if at_end else at, "no chunk"))
        size, start = int(line[1], 16), line.end()
        if size == 0:
            return b"".join(pieces), ""  # trailers tell nothing of the body
        end = _chunk_end(body, start + size) if start + size < len(body) else None
        if end is None:
            raise _UndecodableError(_broken(body, start + size, "a chunk that is longer"))
        left -= size
        if left < 0:
            raise _UndecodableError(f"it unfolds to more than {limit} bytes")
        pieces.append(body[start : start + size])
        at = end.end()


def _broken(body: bytes, at: int, what: str) -> str:
    return f"it breaks off at byte {len(body)}" if at >= len(body) else f"{what} at byte {at}"


# ---- compression

_GZIP: Final = b"\x1f\x8b\x08"
_ZSTD: Final = b"\x28\xb5\x2f\xfd"

# How much is fed at a time: zlib gives up to 1,032 times as much, Zstandard 32,000 times.
_FED: Final = {"gzip": 1 << 13, "deflate": 1 << 13, "zstd": 1 << 8}
_FED_FIRST: Final = 256

# What a window of Zstandard may need (RFC 8878 §3.1.1.1.2 recommends 8 MB at least).
MAX_WINDOW: Final = 1 << 27


class _Stream:
    """One stream of a coding, fed piece by piece: what `zlib` and `zstandard` have in common."""

    __slots__ = ("_errors", "_stream")

    def __init__(self, stream: object, errors: tuple[type[Exception], ...]) -> None:
        self._stream = stream
        self._errors = errors

    def unfold(self, body: bytes, at: int, step: int, left: int) -> Iterator[bytes | int]:
        """Yield the pieces of the stream that begins at `at`, and last where it ends."""
        stream: zlib._Decompress = self._stream  # type: ignore[assignment]
        fed_size = min(step, _FED_FIRST)  # there may be millions of streams, each very short
        while at < len(body):
            fed = body[at : at + fed_size]
            fed_size = min(step, 2 * fed_size)
            try:
                piece = stream.decompress(fed)
            except self._errors as error:
                raise _UndecodableError(f"it does not decode: {error}") from None
            left -= len(piece)
            if left < 0:
                raise _UndecodableError("it unfolds to too many bytes")
            yield piece
            at += len(fed)
            if stream.eof:
                yield at - len(stream.unused_data)
                return
        raise _UndecodableError(f"it breaks off at byte {len(body)}")


def _unfold(
    body: bytes, make: Callable[[], _Stream], mark: bytes, step: int, limit: int
) -> tuple[bytes, str]:
    """All streams of a body that begin with a mark, one after the other."""
    pieces: list[bytes] = []
    at, left = 0, limit
    while True:
        for found in make().unfold(body, at, step, left):
            if isinstance(found, int):
                at = found
            else:
                pieces.append(found)
                left -= len(found)
        if at >= len(body):
            return b"".join(pieces), ""
        if not mark or not body.startswith(mark, at):
            rest = len(body) - at
            return b"".join(pieces), f"{rest} bytes follow its end: left out"


def _begin(body: bytes, mark: bytes, what: str) -> None:
    """Raise unless a body begins with a mark."""
    if body.startswith(mark):
        return
    if mark.startswith(body):
        raise _UndecodableError(f"it breaks off at byte {len(body)}")
    raise _MislabelledError(f"the body begins with no {what}")


def _gunzip(body: bytes, limit: int) -> tuple[bytes, str]:
    """RFC 1952: a gzip is one member or several."""
    _begin(body, _GZIP[:2], "gzip")
    return _unfold(body, lambda: _zlib(31), _GZIP, _FED["gzip"], limit)


def _inflate(body: bytes, limit: int) -> tuple[bytes, str]:
    """RFC 9110 §8.4.1.2: the zlib format; however, some servers send deflate without it."""
    if len(body) < len(b"x\x9c"):
        raise _UndecodableError(f"it breaks off at byte {len(body)}")
    if _is_zlib(body):
        try:
            return _unfold(body, lambda: _zlib(15), b"", _FED["deflate"], limit)
        except _UndecodableError:
            if not _begins(body, -15):
                raise
    elif not _begins(body, -15):
        raise _MislabelledError("the body begins with no deflate")
    return _unfold(body, lambda: _zlib(-15), b"", _FED["deflate"], limit)


def _zlib(wbits: int) -> _Stream:
    return _Stream(zlib.decompressobj(wbits), (zlib.error,))


def _is_zlib(body: bytes) -> bool:
    """RFC 1950 §2.2: compression method 8, and a check of the first two bytes."""
    return body[0] & 0x0F == _DEFLATE and int.from_bytes(body[:2]) % 31 == 0


_DEFLATE: Final = 8


def _begins(body: bytes, wbits: int) -> bool:
    try:
        zlib.decompressobj(wbits).decompress(body[:_LOOKED_AT])
    except zlib.error:
        return False
    return not _looks_like_text(body) or not body[:1].isascii()


def _unzstd(body: bytes, limit: int) -> tuple[bytes, str]:
    """RFC 8878: frames, one after the other."""
    _begin(body, _ZSTD, "frame of Zstandard")
    try:
        import zstandard  # noqa: PLC0415 (of the extra `warc`)
    except ImportError:
        raise _UndecodableError(_MISSING.format("zstandard")) from None

    def make() -> _Stream:
        stream = zstandard.ZstdDecompressor(max_window_size=MAX_WINDOW).decompressobj()
        return _Stream(stream, (zstandard.ZstdError,))

    return _unfold(body, make, _ZSTD, _FED["zstd"], limit)


def _unbrotli(body: bytes, limit: int) -> tuple[bytes, str]:
    """RFC 7932. It has no mark: what begins like text may still be one."""
    try:
        import brotli  # noqa: PLC0415 (of the extra `warc`)
    except ImportError:
        if body.lstrip()[:1] == b"<":
            raise _MislabelledError("the body begins with a tag") from None
        raise _UndecodableError(_MISSING.format("brotli")) from None
    stream = brotli.Decompressor()
    pieces: list[bytes] = []
    left, fed = limit, body
    try:
        while True:
            piece = stream.process(fed, output_buffer_limit=_BROTLI_PIECE)
            pieces.append(piece)
            left -= len(piece)
            if left < 0:
                raise _UndecodableError(f"it unfolds to more than {limit} bytes")
            if stream.is_finished():
                return b"".join(pieces), ""
            if not piece and stream.can_accept_more_data():
                raise _UndecodableError(f"it breaks off at byte {len(body)}")
            fed = b""
    except brotli.error as error:
        if len(pieces) == 0:
            raise _MislabelledError("the body does not decode") from None
        raise _UndecodableError(f"it does not decode: {error}") from None


_BROTLI_PIECE: Final = 1 << 20

_MISSING: Final = "the package {0} is needed to undo it: pip install 'relbase[warc]'"

_CODINGS: Final[dict[str, Callable[[bytes, int], tuple[bytes, str]]]] = {
    "chunked": _dechunk,
    "gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
