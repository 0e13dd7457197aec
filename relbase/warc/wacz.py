"""The WARC files in a WACZ, or in any ZIP file: each as the bytes of an archive.

A WACZ stores its WARC files as they are, so the offsets of pages and faults are those in the whole
file. In a member that is compressed once more they begin to count at the member's own place.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Final

from relbase.containers.warc import Fault, Trouble
from relbase.warc.reading import pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from relbase.containers.warc import Record
    from relbase.warc.reading import Page

_PIECE: Final = 1 << 18

_is_archive: Final = re.compile(r"\.w?arc(?:\.gz|\.zst)?$", re.IGNORECASE).search


def wacz_pages(
    file: BinaryIO, *, skip: Callable[[Record], bool] = lambda _: False
) -> Iterator[Page | Fault]:
    """Yield the pages of all archives in a ZIP file in order, and what of them cannot be read."""
    count = 0
    try:
        with zipfile.ZipFile(file) as members:
            for member in members.infolist():
                if _is_archive(member.filename):
                    count += 1
                    yield from _pages(file, member, skip)
    except (zipfile.BadZipFile, NotImplementedError, zlib.error) as error:
        yield Fault(0, "", "", Trouble.DAMAGED, f"the ZIP file cannot be read: {error}")
    else:
        if count == 0:
            yield Fault(0, "", "", Trouble.DAMAGED, "no WARC file is in the ZIP file")


def holds_archives(file: BinaryIO) -> bool:
    """Return whether a file is a ZIP file with a WARC file in it."""
    try:
        with zipfile.ZipFile(file) as members:
            return any(_is_archive(name) for name in members.namelist())
    except (zipfile.BadZipFile, NotImplementedError):
        return False


def _pages(
    file: BinaryIO, member: zipfile.ZipInfo, skip: Callable[[Record], bool]
) -> Iterator[Page | Fault]:
    start = _start(file, member)

    def content(offset: int) -> Iterator[bytes]:
        if member.compress_type == zipfile.ZIP_STORED:
            return _range(file, start + offset, start + member.file_size)
        return _inflated(_range(file, start, start + member.compress_size), offset)

    methods = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
    is_encrypted = member.flag_bits & 1
    if is_encrypted or member.compress_type not in methods:
        text = f"{member.filename} is encrypted, or packed in a way that is not known: not read"
        yield Fault(start, "", "", Trouble.DAMAGED, text)
        return
    for found in pages(content(0), content, skip=skip):
        yield found._replace(offset=start + found.offset)


def _inflated(pieces: Iterable[bytes], offset: int) -> Iterator[bytes]:
    """What a member unfolds to, from an offset on."""
    stream = zlib.decompressobj(-15)
    for piece in pieces:
        fed = piece
        while fed:
            data = stream.decompress(fed, _PIECE)
            fed = stream.unconsumed_tail
            if data[offset:]:
                yield data[offset:]
            offset = max(0, offset - len(data))


def _start(file: BinaryIO, member: zipfile.ZipInfo) -> int:
    """Where the content of a member begins, behind its local header (APPNOTE §4.3.7)."""
    file.seek(member.header_offset + 26)
    lengths = file.read(4)
    name, extra = int.from_bytes(lengths[:2], "little"), int.from_bytes(lengths[2:], "little")
    return member.header_offset + 30 + name + extra


def _range(file: BinaryIO, at: int, end: int) -> Iterator[bytes]:
    while at < end:
        file.seek(at)  # others read the same file in between
        piece = file.read(min(_PIECE, end - at))
        if not piece:
            return
        at += len(piece)
        yield piece
