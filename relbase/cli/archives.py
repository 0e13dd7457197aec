"""Web archives on the command line: pages in; conversion records, links or bases out."""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, TypeVar

import click

from relbase import warc
from relbase.cli import files, streams
from relbase.cli.csv_tables import CsvTable, base_columns
from relbase.cli.documents import before_part, sentence
from relbase.cli.outputs import new_file, refuse_others, uploaded
from relbase.cli.streams import Verbosity, counted, excerpt, printable
from relbase.compression.codings import ZSTD
from relbase.compression.members import MAX_ARC_LINE, arc_line, pieces
from relbase.containers.saved import MAX_FILE, Saved
from relbase.session import run
from relbase.url.credentials import masked
from relbase.warc import rows, work
from relbase.warc.held import Holder, pages_in
from relbase.warc.writing import call_of, date_of_run, notes_on

if TYPE_CHECKING:
    from collections import Counter

    import pyarrow as pa

    from relbase.cli.findings import LinkPrinter
    from relbase.cli.jobs import Outcome, Plan
    from relbase.cli.judging.entities import Records
    from relbase.cli.options import Settings
    from relbase.containers.warc import Record
    from relbase.notes import Note
    from relbase.results import Result

_CODING: Final = "coding"
_SUFFIX: Final = ".parquet"
_MARK: Final = b"PAR1"

# A page of a column, in bytes. Several are held for each column, and larger ones save no space.
_PAGE: Final = 1 << 17

_T = TypeVar("_T")

# By trouble: what is counted, why it is left out, and what to do; "" if that is not a failure.
_COUNTED: Final = {
    "elsewhere": ("revisit", "of payloads that do not precede them in the archive", ""),
    "partial": ("partial response", "(a range of a document)", ""),
    "truncated": ("page", "that are incomplete: not converted", "--salvage converts what is there"),
    "revisit-limit": (
        "revisit",
        "beyond the limit on what revisits read again or yield",
        "if the archive is sound, divide it, or extract it from its WACZ",
    ),
    "not-again": (
        "revisit",
        "of payloads that cannot be read a second time",
        "give a file, not a pipe, with one record per member (warcio recompress)",
    ),
}


class Archive(NamedTuple):
    source: files.OpenInput
    settings: Settings
    packing: str  # "gz", "zst" or ""
    tally: streams.Tally  # where failures and warnings are counted
    left_out: Counter[str]  # records and pages, by trouble
    warned: streams.Collected  # the notes on its pages
    is_zip: bool  # a WACZ, or another ZIP file with archives in it
    holder: Holder | None = None  # reads it if it is another file that holds pages

    @property
    def how(self) -> dict[str, Any]:
        return {"profile": self.settings.profile, "policy": self.settings.policy}

    def pages(self, unread: Callable[[warc.Fault], None] = lambda _: None) -> Iterator[warc.Page]:
        """Yield its pages; what cannot be read is reported and counted."""
        for page in self._read():
            if isinstance(page, warc.Page):
                for remark in page.remarks:
                    text = f"warning: {printable(remark)} [{_CODING}]"
                    self.warned.add(_CODING, f"{self._place(page)}: {text}")
                yield page
            else:
                unread(page)
                self.report(page)
        # A crawl may have thousands of these: they are reported once.
        for trouble, left in self.left_out.items():
            what, why, fix = _COUNTED[trouble]
            text = f"{counted(left, what)} {why}"
            if fix:
                self.tally.failed += 1
                streams.warn(f"{self.source.shown}: error: {text}: {fix} [{trouble}]")
            else:
                self.warn(f"{text}: left out")

    def _read(self) -> Iterator[warc.Page | warc.Fault]:
        if self.holder is not None:
            yield from pages_in(self.holder, _content(self.holder, self.source.pieces))
            deque(self.source.pieces, maxlen=0)  # of a streamed file, for the hash of the report
            return
        if self.is_zip:
            yield from self.read_again()
            return
        # Opening a named pipe again would wait forever.
        again = partial(files.again, self.source) if files.is_read_again(self.source) else None
        yield from warc.pages(self.source.pieces, again)

    def read_again(
        self, skip: Callable[[Record], bool] = lambda _: False
    ) -> Iterator[warc.Page | warc.Fault]:
        with files.seekable(self.source) as file:
            if self.is_zip:
                yield from work.wacz_pages(file, skip=skip)
            else:
                yield from warc.pages(file, skip=skip)

    def report(self, fault: warc.Fault) -> None:
        """Report a fault, or only count it if there may be many like it."""
        if fault.trouble.value in _COUNTED:
            self.left_out[fault.trouble.value] += 1
            return
        self.tally.failed += 1
        record = f" (record {printable(fault.record_id)})" if fault.record_id else ""
        text = f"{printable(fault.text)} [{fault.trouble.value}]"
        streams.warn(f"{self.source.shown}: error: at offset {fault.offset}{record}: {text}")

    def warn(self, text: str) -> None:
        self.tally.warnings += 1
        if self.settings.verbosity is not Verbosity.NONE:
            streams.warn(f"{self.source.shown}: warning: {text}")

    def _guarded(self, page: warc.Page, make: Callable[[warc.Page], Iterable[_T]]) -> Iterator[_T]:
        """Let a bug cost only one page: report it, and count the input as failed."""
        try:
            yield from make(page)
        except files.InputError:  # the options are wrong, not the page
            raise
        except Exception as error:  # noqa: BLE001 (one page must not stop the others)
            self.report(work.fault_of_error(page, error))

    def _place(self, page: warc.Page) -> str:
        return f"{self.source.shown}:{page.offset}: {excerpt(masked(page.url) or page.name)}"

    def rewritten(self, plan: Plan, outcome: Outcome) -> Iterator[bytes]:
        own = plan.options
        packing, name = self._packing(own.output)
        if own.with_originals and (why := self._hindrance(packing)):
            raise files.InputError(why)
        try:
            date = own.date or date_of_run(plan.now)
            info, record = warc.warcinfo(name, date=date, **self.how)
            first = warc.pack(record, packing)
        except (ImportError, ValueError) as error:
            raise files.InputError(str(error)) from None
        yield first
        how, pages = {**self.how, "replace": self.settings.replace}, 0
        convert = {**how, "date": date, "info": info}
        for page in self.pages():
            pages += 1
            is_wanted = page.succeeded or own.all_status
            converted = self._guarded(page, lambda page: [warc.conversion(page, **convert)])
            for made in converted if is_wanted else ():
                self._add_notes(page, made.notes, outcome)
                if own.report is not None:
                    outcome.links.update(row.outcome for row in warc.link_rows(page, **how))
                if made.record is not None and page.truncated and not own.salvage:
                    self.report(work.truncated_fault(page))
                elif made.record is not None:
                    outcome.changed += 1
                    outcome.places += len(made.edits)
                    self.tally.rewritten += len(made.edits)
                    yield warc.pack(made.record, packing)
        if own.with_originals:
            with files.opened(self.source.input) as original:
                yield from original.pieces
        made_, links = counted(outcome.changed, "conversion"), counted(self.tally.rewritten, "link")
        text = f"{made_}, {links} {self.settings.made}"
        text = text if outcome.changed else "no link changed: no conversion is written"
        outcome.text = f"{counted(pages, 'page')}, {text}"

    def _add_notes(self, page: warc.Page, notes: Iterable[Note], outcome: Outcome) -> None:
        outcome.notes.update(_CODING for _ in page.remarks)
        for note in notes:
            outcome.notes[note.reason.value] += 1
            text = f"{self._place(page)}: warning: {sentence(note)}"
            self.warned.add(note.reason.value, text)

    def _rewritten(self, page: warc.Page) -> list[Result]:
        call = call_of(page, **self.how, replace=self.settings.replace)
        return [run.rewrite(call.opened(page.body))]

    def results(self, plan: Plan, outcome: Outcome) -> Iterator[tuple[warc.Page, Result]]:
        """Yield each page of a file that holds pages, and what it becomes."""
        pages = 0
        for page in self.pages():
            pages += 1
            for result in self._guarded(page, self._rewritten):
                self._add_notes(page, notes_on(page, result), outcome)
                if plan.options.report is not None:
                    statuses = (link.status.value for link in result.links)
                    outcome.links.update(statuses)
                outcome.changed += result.changed
                outcome.places += len(result.edits)
                self.tally.rewritten += len(result.edits)
                yield page, result
        links = f"{counted(self.tally.rewritten, 'link')} {self.settings.made}"
        outcome.text = f"{counted(pages, 'page')}, {links}"

    def _packing(self, output: str | None) -> tuple[Any, str]:
        if output is None:
            return self.packing, ""
        in_directory = output.endswith("/") or os.path.isdir(output)
        if self.is_zip and (in_directory or output.lower().endswith((".wacz", ".zip"))):
            raise files.InputError("the output is a WARC, not a ZIP file: give -o FILE.warc.gz")
        if output.lower().endswith((".html", ".htm")):
            raise files.InputError("the output is a WARC, not a page: give -o FILE.warc.gz")
        if in_directory:
            output = self.source.name
        packing = files.packing_of(output)
        return self.packing if packing is None else packing, os.path.basename(output)

    def _hindrance(self, packing: str) -> str:
        """Return why --with-originals is impossible; "" if it is possible."""
        if self.is_zip:
            return "the rest of a WACZ is not rebuilt: leave --with-originals out"
        if not files.is_read_again(self.source):
            return "--with-originals reads the archive twice: give a file"
        with files.opened(self.source.input) as original:
            start = next(original.pieces, b"")
        if packing != self.packing:
            fix = "give -o a name that ends as the input's"
            return f"--with-originals keeps the compression of the input: {fix}"
        if packing == "zst" and not start.startswith(ZSTD):
            return "its records need the dictionary at its start: leave --with-originals out"
        first = next(pieces([start]), None)  # whatever its name says
        is_arc = first is not None and arc_line(first.data[:MAX_ARC_LINE])
        return "ARC and WARC do not mix in one file: leave --with-originals out" if is_arc else ""

    def show(self, table: Table | None, printer: LinkPrinter, *, wat: bool) -> None:
        name = self.source.name
        of_wat = {"warc": name, **self.how}
        how = {**of_wat, "replace": self.settings.replace, "texts": printer.texts}
        if wat:
            for page in self.pages():
                for record in self._guarded(page, lambda page: [rows.wat(page, **of_wat)]):
                    streams.say(json.dumps(record))
            return
        judge = None if printer.tallied is None else self._records().judge
        if table is None:
            for page in self.pages():
                place = self._place(page)
                for row in self._guarded(page, partial(rows.link_rows, **how)):
                    at = f"{place}: {before_part(row.part)}"
                    printer.show(at, row, judgement=judge and judge(page, row))
            return
        for page in self.pages(lambda fault: table.add_fault(fault, name)):
            if judge is None or printer.tallied is None:
                table.add(self._guarded(page, partial(rows.packed_rows, **how)))
                continue
            listed = self._guarded(page, partial(rows.link_rows, **how))
            judged = ((row, judge(page, row)) for row in listed)
            is_listed = printer.tallied.is_listed
            table.add((*row, *judgement) for row, judgement in judged if is_listed(judgement))

    def _records(self) -> Records:
        from relbase.cli.judging.entities import Records

        has_loaded = self.holder is None or self.holder.has_loaded
        is_crawl = self.holder is None
        records = Records(self.source, is_crawl=is_crawl, is_zip=self.is_zip, has_loaded=has_loaded)
        if self.holder is None:
            for _ in self.read_again(records.add):
                pass
            return records
        for saved in self.holder.saved(_content(self.holder, files.again(self.source))):
            if isinstance(saved, Saved):
                records.add_saved(saved)
        return records

    def show_bases(self, table: CsvTable | None, *, as_json: bool) -> None:
        for page in self.pages():
            for entity in run.entities(call_of(page, **self.how).opened(page.body)):
                self.tally.warnings += not entity.base.usable
                file = {"file": self.source.name}
                place = {"page": page.url, "offset": page.offset, "record_id": page.record_id}
                if table is not None:
                    table.add({**file, **place, **base_columns(entity)})
                    continue
                if as_json:
                    streams.say(streams.object_line(file, entity, place))
                    continue
                base = f"{excerpt(entity.base.url)} ({printable(entity.base.source)})"
                shown = base if entity.base.url else "none"
                streams.say(f"{self._place(page)}: {before_part(entity.part)}{shown}")


def _content(holder: Holder, pieces: Iterable[bytes]) -> Iterable[bytes] | bytes:
    """Return what a reader takes: the pieces of a file, or all of it."""
    if holder.is_streamed:
        return pieces
    read, size = [], 0
    for piece in pieces:
        size += len(piece)
        if size > MAX_FILE:
            raise files.InputError(f"it is larger than {MAX_FILE >> 20} MiB: not read")
        read.append(piece)
    return b"".join(read)


class Table(NamedTuple):
    """The table of the links of archives, and the one of errors beside it, `x.errors.parquet`."""

    add: Callable[[Iterable[Any]], None]
    add_fault: Callable[[warc.Fault, str], None]


@contextmanager
def written(
    path: str,
    inputs: Iterable[str],
    columns: Sequence[str] | None,
    more: tuple[str, ...] = (),
    *,
    data_urls: bool,
) -> Iterator[Table]:
    """Write a table of links and one of errors, which get their names when both are complete."""
    # Read at the import. Arrow's own pools keep some 20 MB that the system's allocator gives back.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    try:
        from relbase.warc import table  # of the extra `warc`
    except ImportError:
        text = "--parquet needs the package pyarrow: pip install 'relbase[warc]'"
        raise click.UsageError(text) from None
    try:
        fields = (*rows.LinkRow._fields, *more)
        chosen = columns or (*rows.USUAL, *more)
        select = rows.selector(chosen, data_urls=data_urls, fields=fields)
    except ValueError as error:
        raise click.UsageError(f"--columns: {error}") from None
    schema = table.schema_of(chosen)
    repeated = [field.name for field in schema if field.type == table.REPEATED]
    place, mark, query = path.partition("?") if files.is_object(path) else (path, "", "")
    errors = f"{place.removesuffix(_SUFFIX)}.errors{_SUFFIX}{mark}{query}"
    if place.endswith((".csv", ".json", ".jsonl", ".tsv", ".txt")):
        raise click.UsageError(f"--parquet writes Parquet, not {place!a}: give links.parquet")
    refuse_others((path, errors), inputs, lambda start: start.startswith(_MARK))
    page = {"data_page_size": _PAGE, "write_statistics": True, "write_page_index": True}
    with (
        files.failing(path),
        uploaded(path, errors) as outputs,
        new_file(outputs[0]) as links_file,
        new_file(outputs[1]) as errors_file,
        _added(links_file, schema, use_dictionary=repeated, **page) as add,
        _added(errors_file, table.ERRORS) as add_errors,
    ):
        yield Table(
            lambda page_rows: add(map(select, page_rows)),
            lambda fault, name: add_errors([table.error_row(fault, name)]),
        )


@contextmanager
def _added(
    file: BinaryIO, schema: pa.Schema, **how: Any
) -> Iterator[Callable[[Iterable[Any]], None]]:
    """Yield a function that adds rows to a table."""
    from pyarrow import parquet

    from relbase.warc import table

    columns = table.Columns(schema, table.BATCH)
    with parquet.ParquetWriter(file, schema, compression="zstd", **how) as writer:

        def add(added: Iterable[Any]) -> None:
            for batch in columns.add(added):
                writer.write_batch(batch)

        yield add
        if len(columns):
            writer.write_batch(columns.take())
