"""What a task of any engine does with archives: rows of links, or conversions, page by page."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import partial
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.call import DEFAULT_POLICY
from relbase.containers.warc import Fault, Trouble
from relbase.url.resolver import Profile
from relbase.warc import Page, conversion, link_rows, pack, pages, warcinfo
from relbase.warc.rows import LinkRow
from relbase.warc.wacz import wacz_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from relbase.containers.warc import Record
    from relbase.policy import Policy

    Opener = Callable[[str], BinaryIO]
    Skip = Callable[["Part", Record], bool]

# How many bytes are read at a time.
_PIECE: Final = 1 << 18


class Part(NamedTuple):
    """What is read of an archive: all of it, or the records in a range, as an index tells it."""

    path: str
    offset: int = 0
    length: int | None = None  # in bytes, None for all that follows


class Job(NamedTuple):
    """What all tasks share; it is pickled to the workers."""

    opener: Opener  # opens an archive by its path, for reading and seeking
    profile: Profile = Profile.RFC1808
    policy: Policy = DEFAULT_POLICY
    careful: bool = False  # whether to work in a child at once; else when an attempt failed
    converts: bool = False  # whether conversions are made, or rows of links
    date: str = ""  # of the conversions
    all_status: bool = False  # whether responses of every status are converted
    salvage: bool = False  # whether what is there of a truncated page is converted
    info: str = ""  # the id of the warcinfo record of the conversions


# Rows of links, or a conversion record with its page's number of places, or a fault.
Item = list[LinkRow] | tuple[bytes, int] | Fault


def items(
    job: Job, parts: Iterable[Part], skip: Skip = lambda _part, _record: False
) -> Iterator[tuple[str, Item]]:
    """What is made of archives, page by page, each with its path: rows, a record, or a fault."""
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
    """The pages in a part of an archive; their offsets are those in the archive."""
    file.seek(part.offset)
    if part.length is None and part.path.lower().endswith((".wacz", ".zip")):
        yield from wacz_pages(file, skip=partial(skip, part))
        return
    again = partial(_again, job.opener, part.path) if part.length is None else None
    for found in pages(_pieces(file, part.length), again, skip=partial(skip, part)):
        yield found._replace(offset=found.offset + part.offset) if part.offset else found


def _pieces(file: BinaryIO, length: int | None) -> Iterator[bytes]:
    left = length
    while left is None or left > 0:
        piece = file.read(_PIECE if left is None else min(_PIECE, left))
        if not piece:
            return
        left = None if left is None else left - len(piece)
        yield piece


def _again(opener: Opener, path: str, offset: int) -> Iterator[bytes]:
    with opener(path) as file:
        file.seek(offset)
        yield from _pieces(file, None)


def _unreadable(part: Part, error: Exception) -> Fault:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if not isinstance(error, OSError):
        text = f"{type(error).__name__}: {text}"
    return Fault(part.offset, "", "", Trouble.UNREADABLE, text[:300])


def _made(job: Job, path: str, page: Page) -> Item:
    try:
        if not job.converts:
            return list(link_rows(page, path, profile=job.profile, policy=job.policy))
        if not (page.succeeded or job.all_status):
            return b"", 0
        made = conversion(
            page, date=job.date, profile=job.profile, policy=job.policy, info=job.info
        )
    except Exception as error:  # noqa: BLE001 (one page of many stops no others)
        return fault_of_error(page, error)
    if made.record is None:
        return b"", 0
    if page.truncated and not job.salvage:
        return truncated_fault(page)
    return pack(made.record), len(made.edits)


def truncated_fault(page: Page) -> Fault:
    """Return the fault of a page that has no conversion since not all of it is there."""
    text = f"not all of the page is there ({page.truncated}): not converted without salvage"
    return Fault(page.offset, page.record_id, page.url, Trouble.TRUNCATED, text)


def fault_of_error(page: Page, error: Exception) -> Fault:
    """Return the fault of a page on which relbase failed: of its memory, or by a defect."""
    if isinstance(error, MemoryError):
        trouble, text = Trouble.TOO_LARGE, "the page is too large for the memory"
    else:
        what = f"{type(error).__name__}: {error}"[:300]
        text = f"a defect of relbase, please report it with the record: {what}"
        trouble = Trouble.DEFECT
    return Fault(page.offset, page.record_id, page.url, trouble, text)


def info_of(job: Job, path: str) -> tuple[str, bytes]:
    """Return the id and the warcinfo record of an archive's conversions."""
    return warcinfo(name_of(path), date=job.date, profile=job.profile, policy=job.policy)


def name_of(path: str) -> str:
    """The name of an archive's output.

    >>> name_of("s3://bucket/x.warc.zst?region=r"), name_of("d/x.arc")
    ('x.warc.gz', 'x.warc.gz')
    """
    if "://" in path:
        path = path.partition("?")[0]
    name = path.rpartition("/")[2]
    for suffix in (".wacz", ".zip", ".gz", ".zst", ".warc", ".arc"):
        name = name.removesuffix(suffix)
    return f"{name}.warc.gz"
