"""The work of one task in any engine: makes rows of links, or conversions, page by page."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from io import SEEK_END
from itertools import groupby
from operator import attrgetter
from typing import Any, BinaryIO, Final, NamedTuple

from relbase.compression.zips import UNREADABLE, content_of
from relbase.containers.warc import Fault, Record, Trouble
from relbase.expressions import regex
from relbase.policy import DEFAULT_POLICY, Policy
from relbase.session.options import Replace
from relbase.url.profiles import Profile
from relbase.warc import Page, conversion, link_rows, pack, pages, warcinfo
from relbase.warc.reading import pages_within
from relbase.warc.revisits import Allowance
from relbase.warc.rows import packed_rows

Opener = Callable[[str], BinaryIO]
Skip = Callable[["Part", Record], bool]

# How many bytes are read at a time.
_PIECE: Final = 1 << 18


class Part(NamedTuple):
    """What to read of an archive: all of it, or the records in a range from an index."""

    path: str
    offset: int = 0
    length: int | None = None  # in bytes; None: to the end


class Job(NamedTuple):
    opener: Opener  # opens an archive by its path, for reading and seeking
    profile: Profile = Profile.RFC1808
    policy: Policy = DEFAULT_POLICY
    careful: bool = False  # whether to use a child from the start, not only after a failure
    converts: bool = False  # whether to make conversions, not rows of links
    date: str = ""  # of the conversions
    all_status: bool = False  # whether responses of every status are converted
    salvage: bool = False  # whether to convert truncated pages as far as they go
    info: str = ""  # the id of the warcinfo record of the conversions
    packed: bool = False  # whether rows of links can be packed
    replace: Replace | None = None  # returns the URL to write for a link
    texts: bool = False  # whether rows of links get texts


# Rows of links, or a conversion record with the number of its edits, or a fault.
Outcome = list[Any] | tuple[bytes, int] | Fault


def items(
    job: Job, parts: Iterable[Part], skip: Skip = lambda _part, _record: False
) -> Iterator[tuple[str, Outcome]]:
    """Yield what each page of the archives becomes, with the path of its archive."""
    for path, group in groupby(parts, key=attrgetter("path")):
        file = None
        with ExitStack() as opened:
            for part in group:
                try:
                    if file is None:
                        file = opened.enter_context(closing(job.opener(path)))
                    for page in _pages(job, file, part, skip):
                        made = page if isinstance(page, Fault) else _made(job, path, page)
                        yield path, made
                except Exception as error:  # noqa: BLE001 (an opener may raise anything)
                    yield path, _unreadable(part, error)


def _pages(job: Job, file: BinaryIO, part: Part, skip: Skip) -> Iterator[Page | Fault]:
    if part.length is None and part.path.lower().endswith((".wacz", ".zip")):
        yield from wacz_pages(file, skip=partial(skip, part))
        return
    end = None if part.length is None else part.offset + part.length
    again = partial(_again, job.opener, part.path) if end is None else None
    for page in pages(byte_range(file, part.offset, end), again, skip=partial(skip, part)):
        yield page._replace(offset=page.offset + part.offset) if part.offset else page


def byte_range(file: BinaryIO, at: int, end: int | None) -> Iterator[bytes]:
    while end is None or at < end:
        file.seek(at)  # others read the same file in between
        piece = file.read(_PIECE if end is None else min(_PIECE, end - at))
        if not piece:
            return
        at += len(piece)
        yield piece


def _again(opener: Opener, path: str, offset: int) -> Iterator[bytes]:
    with opener(path) as file:
        yield from byte_range(file, offset, None)


def _unreadable(part: Part, error: Exception) -> Fault:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if not isinstance(error, OSError):
        text = f"{type(error).__name__}: {text}"
    return Fault(part.offset, "", "", Trouble.UNREADABLE, text[:300])


def _made(job: Job, path: str, page: Page) -> Outcome:
    how: Any = {"profile": job.profile, "policy": job.policy, "replace": job.replace}
    try:
        if not job.converts:
            rows: Callable[..., Iterator[Any]] = packed_rows if job.packed else link_rows
            return list(rows(page, path, **how, texts=job.texts))
        if not (page.succeeded or job.all_status):
            return b"", 0
        made = conversion(page, date=job.date, info=job.info, **how)
    except Exception as error:  # noqa: BLE001 (one page must not stop the others)
        return fault_of_error(page, error)
    if made.record is None:
        return b"", 0
    if page.truncated and not job.salvage:
        return truncated_fault(page)
    return pack(made.record), len(made.edits)


def truncated_fault(page: Page) -> Fault:
    text = f"the page is incomplete ({page.truncated}): not converted without salvage"
    return Fault(page.offset, page.record_id, page.url, Trouble.TRUNCATED, text)


def fault_of_error(page: Page, error: Exception) -> Fault:
    """Return the fault for a page on which relbase failed: lack of memory, or a bug."""
    if isinstance(error, MemoryError):
        trouble, text = Trouble.TOO_LARGE, "the page does not fit into memory"
    else:
        what = f"{type(error).__name__}: {error}"[:300]
        text = f"this is a bug in relbase, please report it with the record: {what}"
        trouble = Trouble.DEFECT
    return Fault(page.offset, page.record_id, page.url, trouble, text)


def info_of(job: Job, path: str) -> tuple[str, bytes]:
    return warcinfo(name_of(path), date=job.date, profile=job.profile, policy=job.policy)


def name_of(path: str) -> str:
    """The name of an archive's output: x.warc.gz for s3://b/x.warc.zst?region=r, or d/x.arc."""
    if "://" in path:
        path = path.partition("?")[0]
    name = path.rpartition("/")[2]
    for suffix in (".wacz", ".zip", ".gz", ".zst", ".warc", ".arc"):
        name = name.removesuffix(suffix)
    return f"{name}.warc.gz"


# ---- the WARC files in a WACZ, or in any ZIP file. Offsets are those in the whole file; in a
# compressed member, the offset in its decompressed content is added to that of its start.

_is_archive: Final = regex(r"\.w?arc(?:\.gz|\.zst)?$", re.IGNORECASE).search

# The local header of an archive, or of what a WACZ has beside its archives (APPNOTE §4.3.7).
begins_wacz: Final = regex(
    rb"PK\x03\x04(?s:.{26})"
    rb"(?:datapackage(?:-digest)?\.json|pages/|indexes/|[!-~]{1,200}?\.w?arc(?:\.gz|\.zst)?)"
).search


def wacz_pages(
    file: BinaryIO, *, skip: Callable[[Record], bool] = lambda _: False
) -> Iterator[Page | Fault]:
    """Yield the pages of all archives in a ZIP file in order, and what cannot be read as faults."""
    count = 0
    allowance = Allowance(file.seek(0, SEEK_END))
    try:
        with zipfile.ZipFile(file) as members:
            read: list[tuple[int, int]] = []  # where the members read so far begin and end, sorted
            for member in members.infolist():
                if _is_archive(member.filename):
                    count += 1
                    yield from _pages_of_member(file, member, skip, allowance, read)
    except (*UNREADABLE, zlib.error) as error:
        yield Fault(0, "", "", Trouble.DAMAGED, f"the ZIP file cannot be read: {error}")
    else:
        if count == 0:
            yield Fault(0, "", "", Trouble.DAMAGED, "the ZIP file contains no WARC file")


def archive_ends(file: BinaryIO) -> list[int]:
    """Return where the archives in a ZIP file end, in order; of another file nothing."""
    try:
        with zipfile.ZipFile(file) as members:
            archives = (item for item in members.infolist() if _is_archive(item.filename))
            return sorted(end for item in archives for _, end, _ in [content_of(file, item, [])])
    except UNREADABLE:
        return []


def holds_archives(file: BinaryIO) -> bool:
    try:
        with zipfile.ZipFile(file) as members:
            return any(_is_archive(name) for name in members.namelist())
    except UNREADABLE:
        return False


def _pages_of_member(
    file: BinaryIO,
    member: zipfile.ZipInfo,
    skip: Callable[[Record], bool],
    allowance: Allowance,
    read: list[tuple[int, int]],
) -> Iterator[Page | Fault]:
    start, end, why = content_of(file, member, read)

    def content(offset: int) -> Iterator[bytes]:
        if member.compress_type == zipfile.ZIP_STORED:
            return byte_range(file, start + offset, end)
        return _inflated(byte_range(file, start, end), offset, allowance.read_again)

    if why:
        yield Fault(start, "", "", Trouble.DAMAGED, f"{member.filename} {why}: not read")
        return

    def skip_at(record: Record) -> bool:
        return skip(record._replace(offset=start + record.offset))

    for page in pages_within(content(0), content, skip_at, allowance):
        yield page._replace(offset=start + page.offset)


def _inflated(
    pieces: Iterable[bytes], offset: int, charge: Callable[[int], None]
) -> Iterator[bytes]:
    """Inflate pieces, and yield what follows an offset; what precedes it is charged."""
    stream = zlib.decompressobj(-15)
    for piece in pieces:
        fed = piece
        while fed:
            data = stream.decompress(fed, _PIECE)
            fed = stream.unconsumed_tail
            if offset:
                charge(min(offset, len(data)))
            if len(data) > offset:
                yield data[offset:]
            offset = max(0, offset - len(data))
