"""Web archives on the command line: pages in; conversion records, links or bases out.

To mind: the payload of a revisit and the originals (`--with-originals`) are read from the file once
more, by the name that the user gave: standard input and pipes cannot be.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypedDict

import relbase
from relbase.cli import files, remarks, streams
from relbase.cli.documents import before_part
from relbase.cli.files import OpenInput, is_object
from relbase.cli.options import ARCHIVE, Settings
from relbase.cli.streams import (
    Collected,
    Tally,
    Verbosity,
    WarningPrinter,
    counted,
    excerpt,
    printable,
)
from relbase.expressions import expression

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.cli.jobs import Done, Options, Plan
    from relbase.cli.tables import Table
    from relbase.warc import Fault, Page

_named: Final = expression(r"\.w?arc(?:\.(gz|zst))?$", re.IGNORECASE)

_CODING: Final = "coding"

_PAUSE: Final = 0.5  # seconds between two lines of progress


class Archive(NamedTuple):
    source: OpenInput
    settings: Settings
    packing: str  # "gz", "zst" or ""
    tally: Tally  # where failures and warnings are counted
    left_out: Counter[str]  # records and pages, by trouble
    warned: Collected  # the notes on its pages
    is_shown: bool  # whether these are shown here
    is_zip: bool  # a WACZ, or another ZIP file with archives in it

    def pages(self, unread: Callable[[Fault], None] = lambda _: None) -> Iterator[Page]:
        """Yield its pages; what cannot be read is reported and counted."""
        from relbase import warc  # noqa: PLC0415 (start-up time)

        progress = _Progress(self.source)
        for found in self._read(progress):
            if isinstance(found, warc.Page):
                progress.pages += 1
                for remark in found.remarks:
                    self.note(found, _CODING, f"{printable(remark)} [{_CODING}]")
                yield found
            else:
                unread(found)
                self.report(found)
        self._report_counts()

    def _read(self, progress: _Progress) -> Iterator[Page | Fault]:
        from relbase.warc import pages, work  # noqa: PLC0415 (start-up time)

        if not self.is_zip:
            # A pipe with a name would be waited for without end.
            again = partial(files.again, self.source) if _is_read_again(self.source) else None
            yield from pages(progress.counted(), again)
            return
        with files.seekable(self.source) as file:
            yield from work.wacz_pages(file)

    def _report_counts(self) -> None:
        """What a crawl may have thousands of is reported once."""
        for trouble, count in self.left_out.items():
            what, why, fix = _COUNTED[trouble]
            text = f"{counted(count, what)} {why}"
            if fix:
                self.tally.failed += 1
                streams.warn(f"{self.source.shown}: error: {text}: {fix} [{trouble}]")
            else:
                self.warn(f"{text}: left out")
        if self.is_shown:
            self.tally.warnings += self.warned.counts.total()
            printer = WarningPrinter(self.settings.verbosity)
            printer.show(self.warned)
            printer.close()

    def report(self, fault: Fault) -> None:
        """Report what could not be done, or count it where there may be many."""
        if fault.trouble.value in _COUNTED:
            self.left_out[fault.trouble.value] += 1
            return
        self.tally.failed += 1
        record = f" (record {printable(fault.record_id)})" if fault.record_id else ""
        text = f"{printable(fault.text)} [{fault.trouble.value}]"
        streams.warn(f"{self.source.shown}: error: at offset {fault.offset}{record}: {text}")

    def note(self, page: Page, reason: str, text: str) -> None:
        self.warned.add(reason, f"{self.place(page)}: warning: {text}")

    def warn(self, text: str) -> None:
        self.tally.warnings += 1
        if self.settings.verbosity is not Verbosity.NONE:
            streams.warn(f"{self.source.shown}: warning: {text}")

    @contextmanager
    def guarding(self, page: Page) -> Iterator[None]:
        """Let a defect cost a page alone: it is reported, and the input counts as failed."""
        from relbase.warc.work import fault_of_error  # noqa: PLC0415 (start-up time)

        try:
            yield
        except Exception as error:  # noqa: BLE001 (one page of many stops no others)
            self.report(fault_of_error(page, error))

    def place(self, page: Page) -> str:
        return f"{self.source.shown}:{page.offset}: {excerpt(page.url)}"


# By their trouble: what is counted, why it is left out, and what to do; "" where nothing failed.
_COUNTED: Final = {
    "elsewhere": ("revisit", "of payloads that are not before them in the archive", ""),
    "partial": ("partial response", "(a range of a document)", ""),
    "truncated": (
        "page",
        "of which not all is there: not converted",
        "--salvage converts what is there",
    ),
    "not-again": (
        "revisit",
        "of payloads that cannot be read once more",
        "give an archive in a file, and with one record in a member (warcio recompress)",
    ),
}


def recognise(
    source: OpenInput, settings: Settings, tally: Tally, warned: Collected | None = None
) -> tuple[OpenInput, Archive | None]:
    """Return an input, and the archive that it is; `warned` gets its notes, else they are shown."""
    if settings.kind not in {None, ARCHIVE}:
        return source, None
    first, source = files.peeked(source)
    is_zip = _is_zip(source, first, settings)
    packing = "gz" if is_zip else None
    if not (is_zip or first.startswith(b"<")):  # no archive begins as most documents do
        from relbase.containers.members import packing_of  # noqa: PLC0415 (start-up time)

        packing = packing_of(first)
    if packing is None:
        packing = _named_packing(source.name) if settings.kind is None else ""
    if packing is None:
        return source, None
    collected = Collected(settings.verbosity) if warned is None else warned
    shows = warned is None
    archive = Archive(source, settings, packing, tally, Counter(), collected, shows, is_zip)
    for option, value in (
        ("--url", settings.url),
        ("--redirect or --headers", settings.redirects or settings.fields),
        ("--charset", settings.charset),
    ):
        if value:
            text = "says nothing of an archive: a page has the URL and the header of its record"
            archive.warn(f"{option} {text}")
    return source, archive


def _named_packing(name: str) -> str | None:
    found = _named.search(name)
    return (found[1] or "").lower() if found else None


def _is_zip(source: OpenInput, first: bytes, settings: Settings) -> bool:
    if not first.startswith(b"PK"):
        return False
    from relbase.warc import work  # noqa: PLC0415 (start-up time)

    is_stated = source.name.lower().endswith(".wacz") or settings.kind == ARCHIVE
    if not _is_read_again(source):
        if is_stated or work.begins_wacz(first):
            raise files.InputError("a WACZ is read from its end: give a file, not a pipe")
        return False
    if is_stated:
        return True
    with files.seekable(source) as file:
        return work.holds_archives(file)


def _is_read_again(source: OpenInput) -> bool:
    return source.status is not None or is_object(source.name)


def rewritten(archive: Archive, plan: Plan, done: Done) -> Iterator[bytes]:
    """Yield the records of the output, the warcinfo record first."""
    from relbase import warc  # noqa: PLC0415 (start-up time)
    from relbase.warc.work import truncated_fault  # noqa: PLC0415 (likewise)
    from relbase.warc.writing import date_of_run  # noqa: PLC0415 (likewise)

    own = plan.options
    packing, name = _packing(archive, own.output)
    _refuse_originals(archive, own, packing)
    how = how_of(archive)
    try:
        date = own.date or date_of_run(plan.now)
        info, record = warc.warcinfo(name, date=date, **how)
        first = warc.pack(record, packing)
    except (ImportError, ValueError) as error:
        raise files.InputError(str(error)) from None
    yield first
    convert = partial(warc.conversion, date=date, info=info, **how)
    pages = 0
    for page in archive.pages():
        pages += 1
        if not (page.succeeded or own.all_status):
            continue
        made = None
        with archive.guarding(page):
            made = convert(page)
        if made is None:
            continue
        done.notes.update(_CODING for _ in page.remarks)
        for note in made.notes:
            done.notes[note.reason.value] += 1
            archive.note(page, note.reason.value, remarks.sentence(note))
        if own.report is not None:
            done.links.update(row.outcome for row in warc.link_rows(page, **how))
        if made.record is not None and page.truncated and not own.salvage:
            archive.report(truncated_fault(page))
        elif made.record is not None:
            done.changed += 1
            done.places += len(made.edits)
            yield warc.pack(made.record, packing)
    if own.with_originals:
        with files.opened(archive.source.input) as original:
            yield from original.pieces
    made_, places = counted(done.changed, "conversion"), counted(done.places, "place")
    done.text = f"{counted(pages, 'page')}, {made_}, links made absolute in {places}"


class _How(TypedDict):
    """What the library's functions on pages are given."""

    profile: relbase.Profile
    policy: relbase.Policy


def how_of(archive: Archive) -> _How:
    settings = archive.settings
    return {"profile": relbase.Profile(settings.profile), "policy": settings.policy}


def _packing(archive: Archive, output: str | None) -> tuple[Any, str]:
    """How the output is packed, and its name for the warcinfo record."""
    if output is None:
        return archive.packing, ""
    in_directory = output.endswith("/") or os.path.isdir(output)  # noqa: PTH112
    if archive.is_zip and (in_directory or output.lower().endswith((".wacz", ".zip"))):
        raise files.InputError("the output is a WARC, not a ZIP file: give -o FILE.warc.gz")
    if in_directory:
        output = archive.source.name
    packing = _named_packing(output)
    return archive.packing if packing is None else packing, os.path.basename(output)  # noqa: PTH119


def _refuse_originals(archive: Archive, own: Options, packing: str) -> None:
    if not own.with_originals:
        return
    from relbase.containers.arc import MAX_ARC_LINE, arc_line  # noqa: PLC0415 (start-up time)
    from relbase.containers.members import pieces  # noqa: PLC0415

    source = archive.source
    if archive.is_zip:
        raise files.InputError("the rest of a WACZ is not made anew: leave --with-originals out")
    if not _is_read_again(source):
        raise files.InputError("--with-originals reads the archive twice: give a file")
    with files.opened(source.input) as original:
        start = next(original.pieces, b"")
    if packing != archive.packing:
        fix = "give -o a name that ends as the input's"
        raise files.InputError(f"--with-originals keeps the compression of the input: {fix}")
    if packing == "zst" and not start.startswith(b"\x28\xb5\x2f\xfd"):
        text = "its records need the dictionary at its start: leave --with-originals out"
        raise files.InputError(text)
    first = next(pieces([start]), None)  # whatever its name says
    if first is not None and arc_line(first.data[:MAX_ARC_LINE]):
        raise files.InputError("ARC and WARC do not mix in one file: leave --with-originals out")


def show(archive: Archive, table: Table | None, printer: remarks.LinkPrinter, *, wat: bool) -> None:
    """Show the links of the pages of an archive, or put them into a table."""
    name = archive.source.name
    if table is not None:
        for page in archive.pages(lambda fault: table.add_fault(fault, name)):
            table.add(_rows(archive, page, packed=table.packs))
        return
    for page in archive.pages():
        for line in _wat(archive, page) if wat else ():
            streams.say(line)
        for row in () if wat else _rows(archive, page):
            place = f"{archive.place(page)}: {before_part(row.part)}"
            printer.show(place, row, row.base, row.outcome, row._asdict)


def _wat(archive: Archive, page: Page) -> Iterator[str]:
    """A page as a record of a WAT file has it."""
    import json  # noqa: PLC0415 (start-up time)

    from relbase.warc.rows import wat  # noqa: PLC0415

    with archive.guarding(page):
        yield json.dumps(wat(page, archive.source.name, **how_of(archive)))


def _rows(archive: Archive, page: Page, *, packed: bool = False) -> Iterator[Any]:
    """The rows of a page, or columns of them; after a defect no more of them."""
    from relbase.warc.rows import link_rows, packed_rows  # noqa: PLC0415 (start-up time)

    make: Callable[..., Any] = packed_rows if packed else link_rows
    with archive.guarding(page):
        yield from make(page, archive.source.name, **how_of(archive))


def show_bases(archive: Archive, *, as_json: bool) -> None:
    """Show the base of each page of an archive, and what states it."""
    from relbase.warc.writing import arguments  # noqa: PLC0415 (start-up time)

    for page in archive.pages():
        given = arguments(page, **how_of(archive))
        for entity in relbase.entities(page.body, **given):
            archive.tally.warnings += not entity.base.usable
            if as_json:
                place = {"page": page.url, "offset": page.offset, "record_id": page.record_id}
                streams.say(streams.object_line({"file": archive.source.name}, entity, place))
                continue
            base = f"{excerpt(entity.base.url)} ({printable(entity.base.source)})"
            shown = base if entity.base.url else "none"
            streams.say(f"{archive.place(page)}: {before_part(entity.part)}{shown}")


class _Progress:
    """What a person who waits for an archive sees: pages and bytes so far, over the line before."""

    def __init__(self, source: OpenInput) -> None:
        self._source = source
        self.pages = 0

    def counted(self) -> Iterator[bytes]:
        if not streams.is_terminal():
            yield from self._source.pieces
            return
        read = 0
        due = time.monotonic() + 2 * _PAUSE
        for piece in self._source.pieces:
            read += len(piece)
            if time.monotonic() > due:
                due += _PAUSE
                text = f"{self._source.shown}: {self.pages:,} pages, {read / 1e6:,.1f} MB read"
                streams.warn(f"\r\x1b[K{text}", end="")
            yield piece
        streams.warn("\r\x1b[K", end="")
