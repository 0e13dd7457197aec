"""What the codings of an HTTP body hide: chunked, gzip, deflate, br, zstd.

Strategy: `decoded` undoes the codings that `Transfer-Encoding` and `Content-Encoding` state, the
last one first (RFC 9112 §6.1, RFC 9110 §8.4). Nothing is undone in place: who changes a body
changes one that has no coding.

Where real messages break the rules: programs write down a body that they have decoded, with the
fields as they came. So a coding that the body does not begin with is skipped, with a remark, if a
later one or text follows; so is a gzip that nobody stated undone. A checksum that is wrong or
missing loses no byte: a remark. A body that begins as stated and then breaks off, does not decode
or is too long is refused: half a page is a wrong page. Only who asks for it (`salvage`) is given
what was decoded until then.

To mind: a coding may unfold to a thousand times its size, and codings may be stacked. Everything is
unfolded in pieces up to `MAX_DECODED` bytes, by no more than `MAX_CODINGS` codings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.compressions import (
    GZIP,
    TOO_LONG,
    MislabelledError,
    UndecodableError,
    gunzip,
    inflate,
    looks_like_text,
    unbrotli,
    unzstd,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The bytes that a body may unfold to: no page is so long, and all of it is held at once.
MAX_DECODED: Final = 64 << 20

# Of one message; real ones have one or two, and the sum of the work grows with each.
MAX_CODINGS: Final = 4

# Extensions of a chunk that are longer hold nothing that anybody reads (RFC 9112 §7.1.1).
MAX_CHUNK_LINE: Final = 8192


class Decoded(NamedTuple):
    """A body without its codings."""

    data: bytes | None  # None when they cannot be undone
    undone: tuple[str, ...] = ()  # the outermost first
    remarks: tuple[str, ...] = ()  # where the codings are not as stated
    fault: str = ""  # why they cannot be undone; of what was salvaged, why that is not all
    is_mislabelled: bool = False  # the body does not begin as its coding does, nor as text


def codings(stated: Iterable[str]) -> list[str]:
    """Return the codings that fields state, in the order they were applied, in lower case."""
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
    r"""Undo the codings of a body; with `salvage` as far as they can be undone.

    Implements RFC 9112 §6 and §7, RFC 9110 §8.4, RFC 7932 and RFC 8878, as leniently as the head of
    this file says.
    """
    stated = [*codings(content), *codings(transfer)]
    if len(stated) > MAX_CODINGS:
        return Decoded(None, fault=f"{len(stated)} codings are stated: no more than {MAX_CODINGS}")
    undone: list[str] = []
    remarks: list[str] = []
    fault = ""
    while stated or (body.startswith(GZIP) and len(undone) < MAX_CODINGS):
        coding, shown = _next(stated)
        try:
            body, remark = _undo(body, coding, limit)
        except MislabelledError as error:
            if not (stated or body.startswith(GZIP) or looks_like_text(body)):
                found = tuple(undone), tuple(remarks), f"{shown}: {error}"
                return Decoded(None, *found, is_mislabelled=True)
            remarks.append(f"the body is said to be {coding}, and is not: taken as it stands")
            continue
        except UndecodableError as error:
            if not (salvage and error.salvaged):
                return Decoded(None, tuple(undone), tuple(remarks), f"{shown}: {error}")
            body, remark, fault = error.salvaged, "", fault or f"{shown}: {error}"
        undone.append(coding)
        if remark:
            remarks.append(f"{coding}: {remark}")
        if shown != coding:
            remarks.append("the body is gzip once more than is stated")
    return Decoded(body, tuple(undone), tuple(remarks), fault)


def _next(stated: list[str]) -> tuple[str, str]:
    """The coding to be undone next, and what it is called: no text begins as gzip does."""
    if stated:
        coding = stated.pop()
        return coding, coding
    return "gzip", "gzip, not stated"


def _undo(body: bytes, coding: str, limit: int) -> tuple[bytes, str]:
    """The body without one coding, and what is to be remarked on it."""
    undo = _CODINGS.get(coding)
    if undo is None:
        raise MislabelledError("no coding that is known")
    if not body:
        return b"", ""  # HEAD, 204, 304: no body has no coding
    return undo(body, limit)


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
                raise MislabelledError("the body begins with no chunk")
            why = _broken(body, len(body) if at_end else at, "no chunk")
            raise UndecodableError(why, pieces)
        size, start = int(line[1], 16), line.end()
        if size == 0:
            return b"".join(pieces), ""  # trailers tell nothing of the body
        end = _chunk_end(body, start + size) if start + size < len(body) else None
        left -= min(size, len(body))
        if left < 0:
            raise UndecodableError(TOO_LONG)
        pieces.append(body[start : start + size])
        if end is None:
            why = _broken(body, start + size, "a chunk that is longer")
            raise UndecodableError(why, pieces)
        at = end.end()


def _broken(body: bytes, at: int, what: str) -> str:
    return f"it breaks off at byte {len(body)}" if at >= len(body) else f"{what} at byte {at}"


_CODINGS: Final[dict[str, Callable[[bytes, int], tuple[bytes, str]]]] = {
    "chunked": _dechunk,
    "gzip": gunzip,
    "deflate": inflate,
    "br": unbrotli,
    "zstd": unzstd,
}
