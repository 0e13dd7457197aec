"""Compressed mail: mailboxes and messages in gzip, bzip2 or xz, read and written as streams.

Where nothing changes, the file's own bytes are the output; else what comes before the first change
is unfolded twice. Past `_RATIO` times what was read, and `_LEAST` bytes, an input is refused.
"""

from __future__ import annotations

import os
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.cli import files
from relbase.cli.files import PIECE, InputError, OpenInput, Output, peeked
from relbase.expressions import expression
from relbase.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.cli.options import Settings
    from relbase.kind import Kind

# The numbers of the growth limit (rule 12): mail that is not made for it has a tenth of that.
_RATIO: Final = 100
_LEAST: Final = 64 << 20


class Coding(NamedTuple):
    suffix: str
    mark: bytes  # what a member begins with
    reader: Callable[[], Any]
    writer: Callable[[], Any]


def _made(module: str, name: str, *arguments: int) -> Callable[[], Any]:
    # Start-up time: hardly an input is compressed.
    return lambda: getattr(import_module(module), name)(*arguments)


_CODINGS: Final = (
    Coding(
        ".gz",
        b"\x1f\x8b\x08",
        _made("zlib", "decompressobj", 31),
        _made("zlib", "compressobj", 6, 8, 31),
    ),
    Coding(".bz2", b"BZh", _made("bz2", "BZ2Decompressor"), _made("bz2", "BZ2Compressor")),
    Coding(
        ".xz", b"\xfd7zXZ\0", _made("lzma", "LZMADecompressor"), _made("lzma", "LZMACompressor")
    ),
)


def _broken() -> tuple[type[Exception], ...]:
    return import_module("zlib").error, OSError, EOFError, import_module("lzma").LZMAError


def recognised(source: OpenInput, first: bytes, settings: Settings) -> tuple[Coding, Kind] | None:
    coding = next((one for one in _CODINGS if first.startswith(one.mark)), None)
    if coding is None or not (settings.kind is None or settings.kind in _NAMES):
        return None
    try:
        start = coding.reader().decompress(first, PIECE)
    except _broken():
        start = b""  # if its name says mail, that is reported when it is read
    kind = settings.kind_of(source.name.removesuffix(coding.suffix), start)
    return (coding, kind) if FORMATS[kind].messages else None


_NAMES: Final = {kind.value for kind, row in FORMATS.items() if row.messages}

# A name in a ZIP archive (APPNOTE.TXT 4.3.7), as exports of web mail have them.
ZIPPED: Final = expression(rb"(?is)PK\x03\x04.{26}[^\0]{1,200}?\.(?:eml|mbox)")


def opened(source: OpenInput, settings: Settings) -> tuple[OpenInput, Settings]:
    first, source = peeked(source)
    found = recognised(source, first, settings)
    if found is None:
        return source, settings
    coding, kind = found
    pieces = unfolded(source.pieces, coding)
    return source._replace(pieces=pieces), settings._replace(kind=kind.value)


def check_name(output: Output | None, coding: Coding) -> None:
    name = output.parts[-1] if output is not None and output.is_only else ""
    if os.path.splitext(name)[1] not in {"", coding.suffix}:  # noqa: PTH122
        fix = f"give -o FILE{coding.suffix}, or decompress the input first"
        raise InputError(f"the output is compressed like the input: {fix}")


def unfolded(pieces: Iterable[bytes], coding: Coding) -> Iterator[bytes]:
    read = made = 0
    member: Any = None
    rest = b""
    name = coding.suffix[1:]
    for piece in pieces:
        read += len(piece)
        rest += piece
        # zlib gives back what it has not read yet, the others keep it.
        while rest or not getattr(member, "needs_input", True):
            if member is None:
                rest = rest.lstrip(b"\0")  # padding, as tapes have it
                if len(rest) < len(coding.mark):
                    break
                if not rest.startswith(coding.mark):
                    raise InputError(f"there is something else after the end of its {name} data")
                member = coding.reader()
            try:
                data = member.decompress(rest, PIECE)
            except _broken() as error:
                raise InputError(f"its {name} data is broken: {error}") from None
            rest = getattr(member, "unconsumed_tail", b"")
            made += len(data)
            if made > max(_LEAST, _RATIO * read):
                limit = f"more than {_RATIO} times its size and {_LEAST >> 20} MiB"
                raise InputError(f"its {name} data unfolds to {limit}: decompress it first")
            yield data
            if member.eof:
                rest, member = member.unused_data, None
    if member is not None or rest:
        raise InputError(f"its {name} data breaks off")


def kept(source: OpenInput) -> tuple[OpenInput, Callable[[], Iterator[bytes]]]:
    """Return an input, and what reads its own bytes once more."""
    if source.status is not None:
        return source, lambda: files.again(source)
    from tempfile import TemporaryFile  # noqa: PLC0415 (start-up time)

    file = TemporaryFile()  # noqa: SIM115 (it goes with the last reader)
    file.writelines(source.pieces)

    def read() -> Iterator[bytes]:
        at = 0
        while file.seek(at) == at and (piece := file.read(PIECE)):  # two may read it at once
            at += len(piece)
            yield piece

    return source._replace(pieces=read()), read


def folded(
    pieces: Iterable[bytes],
    coding: Coding,
    original: Callable[[], Iterator[bytes]],
    has_changed: Callable[[], bool],
) -> Iterator[bytes]:
    """Yield the output compressed; the input's own bytes where nothing in it changes."""
    same = 0
    pieces = iter(pieces)
    for piece in pieces:
        if has_changed():
            break
        same += len(piece)
    else:
        yield from original()
        return
    writer = coding.writer()
    for before in unfolded(original(), coding):
        yield writer.compress(before[:same])
        same -= len(before)
        if same <= 0:
            break
    yield from map(writer.compress, chain((piece,), pieces))
    yield writer.flush()
