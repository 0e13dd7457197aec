"""Members of ZIP files: whether they can be read, where they are, what they contain (APPNOTE).

Of `zipfile` only the directory at the end is used. The members of a sound file do not overlap.
"""

from __future__ import annotations

import zlib
from bisect import bisect
from collections import Counter
from contextlib import suppress
from io import BytesIO
from typing import BinaryIO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

# What `zipfile` raises at a file that it cannot read.
UNREADABLE: Final = (BadZipFile, NotImplementedError, UnicodeError)
# Each takes a kilobyte of memory. A ZIP file without 64-bit fields has no more.
MAX_MEMBERS: Final = 65_535
_ENTRY: Final = b"PK\x01\x02"  # what a member in the directory begins with (§4.3.12)
_IS_UTF_8: Final = 1 << 11  # §4.4.4


def content_of(
    file: BinaryIO, member: ZipInfo, read: list[tuple[int, int]]
) -> tuple[int, int, str]:
    """Return where the content of a member begins and ends, and why it is not read, or "".

    `read` has the ranges of the members read so far, sorted; that of this one is added.
    """
    if member.header_offset < 0:
        return 0, 0, "lies outside of the ZIP file"
    start = _content_starts(file, member)
    end = start + member.compress_size
    if member.flag_bits & 1 or member.compress_type not in {ZIP_STORED, ZIP_DEFLATED}:
        return start, end, "is encrypted or uses an unknown compression method"
    if not _is_apart((member.header_offset, end), read):
        return start, end, "overlaps another member of the ZIP file"
    return start, end, ""


def _content_starts(file: BinaryIO, member: ZipInfo) -> int:
    """Return where the content of a member begins, after its local header (APPNOTE §4.3.7)."""
    file.seek(member.header_offset + 26)
    lengths = file.read(4)
    name, extra = int.from_bytes(lengths[:2], "little"), int.from_bytes(lengths[2:], "little")
    return member.header_offset + 30 + name + extra


def _is_apart(range_: tuple[int, int], ranges: list[tuple[int, int]]) -> bool:
    """Add a range to sorted ones unless it overlaps one of them; return whether it was added."""
    at = bisect(ranges, range_)
    if (at and ranges[at - 1][1] > range_[0]) or (at < len(ranges) and ranges[at][0] < range_[1]):
        return False
    ranges.insert(at, range_)
    return True


class Members:
    """The members of a ZIP file in memory, by names, and what they contain.

    Raises:
        ValueError, or what `zipfile` raises: If the file cannot be read.
    """

    def __init__(self, data: bytes, limit: int) -> None:
        if data.count(_ENTRY) > MAX_MEMBERS:
            raise ValueError(f"it has more than {MAX_MEMBERS:,} members")
        self._data, self._file = memoryview(data), BytesIO(data)
        with ZipFile(self._file) as file:
            self.named = [(_name(member), member) for member in file.infolist()]
        self._times = Counter(name for name, _ in self.named)
        self._read: list[tuple[int, int]] = []
        self.left = limit  # of what they decompress to

    def content(self, name: str, member: ZipInfo, limit: int) -> bytes:
        """Return the content of a member; raise ValueError if that is not certain, or too long."""
        if self._times[name] > 1:
            raise ValueError("its name is there more than once")
        start, end, why = content_of(self._file, member, self._read)
        if why:
            raise ValueError(f"it {why}")
        packed, limit = self._data[start:end], min(limit, self.left)
        if member.compress_type == ZIP_STORED:
            content = bytes(packed)
        else:
            try:
                content = zlib.decompressobj(-15).decompress(packed, limit + 1)
            except zlib.error as error:
                raise ValueError(f"it is damaged: {error}") from None
        self.left -= len(content)
        if len(content) > limit:
            rest = " with those before it: the rest is not read" if self.left < 0 else ""
            raise ValueError(f"it decompresses to more than {limit:,} bytes{rest}")
        if zlib.crc32(content) != member.CRC:
            raise ValueError("it is damaged: its checksum is wrong")
        return content


def _name(member: ZipInfo) -> str:
    """Return the path of a member, with slashes, in UTF-8 even if the member does not say so."""
    name = member.filename
    if not member.flag_bits & _IS_UTF_8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return name.replace("\\", "/")
