"""What a task does with an archive: rows of links, or conversion records, page by page.

Nothing here knows of an engine: whatever maps a function over paths can do it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from relbase.call import DEFAULT_POLICY
from relbase.containers.warc import Fault, Trouble
from relbase.records import NamedTuple
from relbase.url.resolver import Profile
from relbase.warc import Page, conversion, link_rows, pack, pages, warcinfo
from relbase.warc.rows import LinkRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO

    from relbase.containers.warc import Record
    from relbase.policy import Policy

    Opener = Callable[[str], BinaryIO]

# How many bytes are read at a time.
_PIECE: Final = 1 << 18


class Job(NamedTuple):
    """What all tasks share; it is pickled to the workers.

    Args:
        opener: opens an archive by its path, for reading and seeking.
        paths: of the archives, one a task.
        profile: the algorithm.
        policy: what is left alone.
        careful: whether to work in a child at once; else when an attempt failed.
        output: the directory of the conversions, "" for rows of links.
        date: of the conversions.
        all_status: whether responses of every status are converted.
        salvage: whether what is there of a truncated page is converted.
    """

    opener: Opener
    paths: tuple[str, ...] = ()
    profile: Profile = Profile.RFC1808
    policy: Policy = DEFAULT_POLICY
    careful: bool = False
    output: str = ""
    date: str = ""
    all_status: bool = False
    salvage: bool = False


# Rows of links, or a conversion record with its page's number of places, or a fault.
Item = list[LinkRow] | tuple[bytes, int] | Fault


def items(job: Job, path: str, skip: Callable[[Record], bool] = lambda _: False) -> Iterator[Item]:
    """What is made of an archive, page by page: rows, or a record, or what cannot be read."""
    try:
        file = job.opener(path)
    except OSError as error:
        yield Fault(0, "", "", Trouble.UNREADABLE, error.strerror or str(error))
        return
    with file:
        try:
            again = partial(_chunks, job.opener, path)
            for page in pages(iter(lambda: file.read(_PIECE), b""), again, skip=skip):
                yield page if isinstance(page, Fault) else _made(job, path, page)
        except OSError as error:
            yield Fault(0, "", "", Trouble.UNREADABLE, error.strerror or str(error))


def _chunks(opener: Opener, path: str, offset: int) -> Iterator[bytes]:
    with opener(path) as file:
        file.seek(offset)
        while piece := file.read(_PIECE):
            yield piece


def _made(job: Job, path: str, page: Page) -> Item:
    try:
        if not job.output:
            return list(link_rows(page, path, profile=job.profile, policy=job.policy))
        if not (page.succeeded or job.all_status):
            return b"", 0
        info, _ = info_of(job, path)
        made = conversion(page, date=job.date, profile=job.profile, policy=job.policy, info=info)
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
    """The name of an archive's output."""
    name = path.rpartition("/")[2]
    for suffix in (".gz", ".zst", ".warc", ".arc"):
        name = name.removesuffix(suffix)
    return f"{name}.warc.gz"
