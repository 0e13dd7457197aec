"""`relbase links`: what documents refer to, and what it resolves to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from relbase.bases.layers import UNKNOWN
from relbase.cli import documents, files, streams
from relbase.cli.documents import before_part
from relbase.cli.files import OpenInput
from relbase.cli.findings import JUDGED, LinkPrinter
from relbase.cli.group import Option, command, exclude, section
from relbase.cli.inputs import Reading, Work, begin
from relbase.cli.jobs import CSV_BOM, JOBS, SELECTORS, count_unresolved, unresolved_lines
from relbase.cli.options import REPLACE, document_options
from relbase.cli.streams import Collected, ExitStatus, counted, excerpt
from relbase.edit import Span
from relbase.formats.rows import READ
from relbase.results import Link
from relbase.rewriting.outcomes import Status
from relbase.session import run
from relbase.url.credentials import masked

if TYPE_CHECKING:
    from relbase.cli.archives import Archive, Table
    from relbase.cli.csv_tables import Select
    from relbase.cli.judging.files import Site
    from relbase.cli.judging.verdicts import Judgement, Tallied

_UNREAD: Final = f"not {READ}: no link is read (or give --kind)"

FILE: Final = click.Path(dir_okay=False, readable=False)


@command(
    "List links and what they resolve to.",
    """\
Examples:
  relbase links page.html -u http://example.com/a/page.html
  relbase links *.html --json | jq -r 'select(.url == null) | .reference'
  relbase links page.html --violations
  relbase links inbox.mbox Maildir/ --json
  relbase links *.warc.gz --parquet links.parquet
  relbase links site/ --root site=http://example.com/ --missing

Each line reads
  file:line:column: element/@attribute: reference -> url [status]
with the status rewritten, absolute, kept or unresolved. In mail the part
precedes the element: "part 3/1.2" is part 1.2 of message 3 of an mbox.

Exit status:
  0  done
  1  --violations or --missing found some, or references are unresolved under
     --strict
  2  wrong usage
  3  some inputs failed
""",
    *section(
        "Output",
        Option("--json", "Write JSON Lines, one object per reference.", basic=True),
        Option("--texts", "Add the text and the rel of the element that each link is on."),
        Option(
            "--judge",
            "Say of each link where it leads, as far as the inputs show: inside, missing, "
            "fragment-missing, outside or unknown.",
            basic=True,
        ),
        Option(
            "--missing",
            "Like --judge, but list only what is missing, and exit with status 1 if anything is.",
            basic=True,
        ),
        Option(
            "--violations",
            "List the references that violate RFC 1808 or RFC 1738, and why.",
            basic=True,
        ),
        Option(
            "--parquet FILE",
            "Write the links of web archives to a table, and their errors to a second table "
            "beside it. Needs relbase[warc].",
            basic=True,
            type=FILE,
        ),
        Option(
            "--csv FILE",
            "Write the links as CSV, for spreadsheets ('-': standard output).",
            basic=True,
            type=FILE,
        ),
        CSV_BOM,
        Option(
            "--columns NAMES",
            "Write these columns to the table, such as file,url,host.",
            read=lambda value: tuple(value.split(",")),
        ),
        Option("--no-data-urls", "Cut data: URLs in the table to their media type."),
    ),
    *section(
        "Web archives",
        Option(
            "--wat",
            "Write a JSON object per page of web archives, as WAT files have it, with absolute "
            "URLs.",
        ),
    ),
    *section(
        "Mail",
        Option(
            "--unresolved-by BY",
            "Count the links of messages that have no base by sender, list or message, most "
            "first; a start for --message-map.",
            type=click.Choice(list(SELECTORS)),
        ),
    ),
    *section("Links", REPLACE),
    *section("Many files", JOBS),
    *document_options(),
)
def links(
    inputs: tuple[str, ...],
    *,
    columns: tuple[str, ...] | None,
    no_data_urls: bool,
    csv_bom: bool,
    jobs: int,
    texts: bool,
    judge: bool,
    missing: bool,
    **given: Any,
) -> int:
    """List every reference of each INPUT and what it resolves to.

    "-" or no INPUT is standard input. Long references are cut, and unprintable characters are shown
    as escapes; --json has both in full.
    """
    names = "parquet", "csv", "unresolved_by", "wat", "json", "violations"
    chosen = parquet, csv, by, wat, json, violations = [given.pop(name) for name in names]
    _refuse(dict(zip(names, chosen, strict=True)), for_table=bool(columns or no_data_urls))
    exclude({"judge": judge or missing, "unresolved_by": by, "wat": wat, "violations": violations})
    reading = begin(inputs, given)
    count = 1
    if jobs != 1:
        from relbase.cli.run import workers  # start-up time

        count = workers(jobs, reading.inputs.all)
    if by is not None:
        status = _process(reading, partial(_counting, by), None, count)
        for line in unresolved_lines(reading.tally.unresolved):
            streams.say(line)
        return status
    has_texts = texts or not {"text", "rel"}.isdisjoint(columns or ())
    shown = _Shown(json, violations, has_texts, wat, csv is not None, judge or missing, missing)
    work_of = partial(_listing, shown, [])
    tallied, more = shown.tallied(reading), JUDGED if shown.judged else ()
    select = _select(columns, data_urls=not no_data_urls)
    written = _csv_rows(csv, reading, (*_COLUMNS, *more), select, mark=csv_bom)
    if parquet is not None:
        from relbase import warc
        from relbase.cli import archives

        if texts and columns is None:
            columns = (*warc.LinkRow._fields, *more)
        read = [entry.name for entry in reading.inputs.all]
        written = archives.written(parquet, read, columns, more, data_urls=not no_data_urls)
    with written as table:
        status = _process(reading, work_of, table, count, tallied)
        # Without an input the table would be empty: leave no file, and what was there.
        if table is not None and not reading.tally.tabled:
            raise click.exceptions.Exit(status)
    return status


class _Shown(NamedTuple):
    """What is shown of links."""

    as_json: bool
    violations: bool
    texts: bool
    wat: bool
    as_csv: bool
    judged: bool
    only_broken: bool

    def tallied(self, reading: Reading) -> Tallied | None:
        if not self.judged:
            return None
        from relbase.cli.judging.verdicts import Tallied

        return Tallied(reading.tally, reading.settings.verbosity, only_broken=self.only_broken)


def _process(
    reading: Reading,
    work_of: Callable[..., Work],
    table: Table | None,
    count: int,
    tallied: Tallied | None = None,
) -> ExitStatus:
    parallel = None
    if count > 1:
        from relbase.cli.parallel import Workers  # start-up time

        parallel = partial(Workers(reading, work_of, count).read, table)
    status = reading.process(work_of(reading, table), parallel)
    if tallied is not None:
        tallied.close(len(reading.inputs.all))
    return status


def _listing(shown: _Shown, sites: list[Site], reading: Reading, table: Table | None) -> Work:
    """Return what lists the links of an input; `sites` is for the one site of each process."""
    tallied = shown.tallied(reading)
    if tallied is not None and not sites:
        from relbase.cli.judging.files import Site

        sites.append(Site(*reading[:3]))
    of_archives, of_links = (None, table) if shown.as_csv else (table, None)
    add = of_links and of_links.add
    printer = LinkPrinter(reading.tally, *shown[:3], add, tallied)

    def work(source: OpenInput, archive: Archive | None, warned: Collected) -> None:
        if archive is None and (of_archives is not None or shown.wat):
            text = "--wat" if shown.wat else "--parquet"
            raise files.InputError(f"{text} reads only web archives")
        reading.tally.tabled += 1
        if archive is not None:
            archive.show(of_archives, printer, wat=shown.wat)
        elif text := _list(reading, source, printer, *sites):
            warned.add("unresolved", f"{source.shown}: warning: {text}")
        if tallied is not None:
            tallied.end_file(source.shown)

    return work


def _refuse(chosen: dict[str, Any], *, for_table: bool) -> None:
    exclude(chosen, {"json", "violations"})
    if for_table and chosen["parquet"] is chosen["csv"] is None:
        text = "--columns and --no-data-urls need a table: give --parquet FILE or --csv FILE"
        raise click.UsageError(text)
    if chosen["parquet"] == files.STDIN:
        raise click.UsageError("--parquet writes a file: give its name")


@contextmanager
def _csv_rows(
    path: str | None, reading: Reading, *columns: Any, mark: bool
) -> Iterator[Table | None]:
    with reading.csv(path, *columns, mark=mark) as made:
        if made is None:
            yield None
            return
        from relbase.cli.archives import Table

        def add(rows: Iterable[Any]) -> None:
            try:
                for row in rows:
                    made.add(row)
            except files.InputError as error:
                raise click.UsageError(str(error)) from None

        yield Table(add, lambda *_: None)


# Of a table without rows.
_COLUMNS: Final = (
    "file",
    *Link("", "", "", "", "", None, UNKNOWN, Span(0, 0), 1, 1, Status.KEPT).as_dict(),
)


def _select(columns: tuple[str, ...] | None, *, data_urls: bool) -> Select:
    def select(fields: Sequence[str]) -> tuple[Sequence[str], Callable[..., Sequence[object]]]:
        from relbase.warc.rows import selector  # start-up time

        names = columns or fields
        return names, selector(names, data_urls=data_urls, fields=fields)

    return select


def _list(
    reading: Reading, source: OpenInput, printer: LinkPrinter, site: Site | None = None
) -> str:
    """List the links of an input, and return the warning about those without a base, or "".

    Of links that are judged, it is about those whose verdict is unknown.
    """
    several, unresolved, base, advice, unread = reading.inputs.several, 0, "", "", ""
    for document in reading.documents(source):
        is_read = document.given.document.format.visit is not None
        unread = _UNREAD if document.data and not is_read and not several else ""
        judge: Callable[[Link], Judgement] | None = None
        if site is not None and document.given.document.format.messages:
            from relbase.cli.judging.entities import MessageParts

            judge = MessageParts(document).judge
        elif site is not None:
            judge = site.judge(source, document)
        for link in documents.links_of(document, texts=printer.texts):
            part = before_part(link.part, document.number)
            place = f"{source.shown}:{link.line}:{link.column}: {part}"
            judgement = judge and judge(link)
            printer.show(place, link, source.name, judgement)
            is_open = judgement is None or judgement.verdict == "unknown"
            if is_open and link.status is Status.UNRESOLVED:
                base = base if unresolved else link.base.url
                if not advice:
                    type_ = next(run.entities(document.given)).type
                    # Of one --url nobody knows what belongs to its site.
                    several |= site is not None and not document.given.document.format.messages
                    advice = documents.advice(type_, document, several=several, name=source.name)
                unresolved += 1
    if not unresolved:
        return unread
    why = f"none can be resolved against {excerpt(masked(base))}" if base else advice
    unjudged = f"{counted(unresolved, 'link')} cannot be judged"
    return f"{counted(unresolved, 'unresolved link') if site is None else unjudged}: {why}"


def _counting(by: str, reading: Reading, _table: Table | None) -> Work:
    """Return what counts the links of messages that have no base."""

    def count(source: OpenInput, archive: Archive | None, _: Collected) -> None:
        if archive is not None:
            raise files.InputError("--unresolved-by counts senders of mail: this is a web archive")
        for document in reading.documents(source):
            if document.given.document.format.messages:
                count_unresolved(reading.tally.unresolved, document.given, by)

    return count
