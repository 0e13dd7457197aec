"""What the codings of an HTTP body hide: chunked, gzip, deflate, br, zstd.

Where real messages break the rules: programs write down a body that they have decoded, with the
fields as they came. So a coding that the body does not begin with is skipped, with a remark, if a
later one or text follows; so is a gzip that nobody stated undone. A body that begins as stated and
then breaks off, does not decode or is too long is refused: half a page is a wrong page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.compressions import (
    CODINGS,
    GZIP,
    MislabelledError,
    UndecodableError,
    looks_like_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

# The bytes that a body may unfold to: no page is so long, and all of it is held at once.
MAX_DECODED: Final = 64 << 20

# Of one message; real ones have one or two, and the sum of the work grows with each.
MAX_CODINGS: Final = 4


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
    faults: list[str] = []
    while stated or (body.startswith(GZIP) and len(undone) < MAX_CODINGS):
        is_stated = bool(stated)
        coding = stated.pop() if is_stated else "gzip"  # no text begins as gzip does
        shown = coding if is_stated else "gzip, not stated"
        try:
            found = _undo(body, coding, limit)
        except MislabelledError as error:
            if not (stated or body.startswith(GZIP) or looks_like_text(body)):
                why = tuple(undone), tuple(remarks), f"{shown}: {error}"
                return Decoded(None, *why, is_mislabelled=True)
            remarks.append(f"the body is said to be {coding}, and is not: taken as it stands")
            continue
        if found.fault:
            faults.append(f"{shown}: {found.fault}")
            if not (salvage and found.data):
                return Decoded(None, tuple(undone), tuple(remarks), faults[-1])
        body = found.data
        undone.append(coding)
        if found.remark:
            remarks.append(f"{coding}: {found.remark}")
        if not is_stated:
            remarks.append("the body is gzip once more than is stated")
    return Decoded(body, tuple(undone), tuple(remarks), "".join(faults[:1]))


class _Undone(NamedTuple):
    """A body without one coding."""

    data: bytes
    remark: str = ""
    fault: str = ""  # why that is not all


def _undo(body: bytes, coding: str, limit: int) -> _Undone:
    if coding not in CODINGS:
        raise MislabelledError("no coding that is known")
    if not body:
        return _Undone(b"")  # HEAD, 204, 304: no body has no coding
    pieces: list[bytes] = []
    remark, left = "", limit
    try:
        for piece in CODINGS[coding](body):
            if isinstance(piece, str):
                remark = remark or piece
                continue
            left -= len(piece)
            if left < 0:
                return _Undone(b"", fault="it unfolds to too many bytes")
            pieces.append(piece)
    except MislabelledError:
        raise
    except UndecodableError as error:
        return _Undone(b"".join(pieces), fault=str(error))
    return _Undone(b"".join(pieces), remark)
