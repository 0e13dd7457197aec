"""`relbase links` and `relbase base`: what documents refer to, and what it is resolved against."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import click

import relbase
from relbase.bases.layers import Base, Layer, outward, unsuitable
from relbase.cli import documents, files, streams
from relbase.cli.documents import before_part
from relbase.cli.files import OpenInput
from relbase.cli.findings import LinkPrinter
from relbase.cli.group import command, option
from relbase.cli.inputs import Reading, Work, begin
from relbase.cli.jobs import SELECTORS, count_unresolved, jobs_option, unresolved_lines
from relbase.cli.options import document_options
from relbase.cli.replacing import replace_option
from relbase.cli.streams import Collected, ExitStatus, counted, excerpt, printable
from relbase.formats.recognition import reader
from relbase.formats.rows import READ
from relbase.session import run
from relbase.url.credentials import masked

if TYPE_CHECKING:
    from relbase.cli.archives import Archive, Table
    from relbase.notes import Note
    from relbase.results import Entity

_LAYERS: Final = {layer: f"{layer.value or 'none'}, §3.{n}" for n, layer in enumerate(Layer, 1)}
_LONG: Final = 2000
_COLUMN: Final = 60
_UNREAD: Final = f"not {READ}: no link is read (or give --kind)"


@command(
    "List links and what they resolve to.",
    """\
Examples:
  relbase links page.html -u http://example.com/a/page.html
  relbase links *.html --json | jq -r 'select(.url == null) | .reference'
  relbase links page.html --violations
  relbase links inbox.mbox Maildir/ --json
  relbase links *.warc.gz --parquet links.parquet

Each line reads
  file:line:column: element/@attribute: reference -> url [status]
with the status rewritten, absolute, kept or unresolved. In mail the part
precedes the element: "part 3/1.2" is part 1.2 of message 3 of an mbox.

Exit status:
  0  done
  1  --violations found some, or references are unresolved under --strict
  2  wrong usage
  3  some inputs failed
""",
)
@option("Output", "--json", basic=True, help="Write JSON Lines, one object per reference.")
@option("Output", "--texts", help="Add the text and the rel of the element that each link is on.")
@option(
    "Output",
    "--violations",
    basic=True,
    help="List the references that violate RFC 1808 or RFC 1738, and why.",
)
@option(
    "Output",
    "--parquet",
    metavar="FILE",
    type=click.Path(dir_okay=False, readable=False),
    basic=True,
    help="Write the links of web archives to a table, and their errors to a second table "
    "beside it. Needs relbase[warc].",
)
@option(
    "Web archives",
    "--columns",
    metavar="NAMES",
    read=lambda value: tuple(value.split(",")),
    help="Write these columns to the table of --parquet, such as page,url,host.",
)
@option(
    "Web archives",
    "--no-data-urls",
    help="Cut data: URLs in the table of --parquet to their media type.",
)
@option(
    "Web archives",
    "--wat",
    help="Write a JSON object per page of web archives, as WAT files have it, with absolute URLs.",
)
@option(
    "Mail",
    "--unresolved-by",
    metavar="BY",
    type=click.Choice(list(SELECTORS)),
    help="Count the links of messages that have no base by sender, list or message, most "
    "first; a start for --message-map.",
)
@replace_option
@jobs_option
@document_options
def links(
    inputs: tuple[str, ...],
    *,
    columns: tuple[str, ...] | None,
    no_data_urls: bool,
    jobs: int,
    texts: bool,
    **given: Any,
) -> int:
    """List every reference of each INPUT and what it resolves to.

    "-" or no INPUT is standard input. Long references are cut, and unprintable characters are shown
    as escapes; --json has both in full.
    """
    names = "parquet", "unresolved_by", "wat", "json", "violations"
    chosen = parquet, by, wat, json, violations = [given.pop(name) for name in names]
    _refuse(dict(zip(names, chosen, strict=True)), for_table=bool(columns or no_data_urls))
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
    work_of = partial(_listing, (json, violations, has_texts), wat)
    written: AbstractContextManager[Table | None] = nullcontext()
    if parquet is not None:
        from relbase import warc
        from relbase.cli import archives

        if texts and columns is None:
            columns = warc.LinkRow._fields
        read = (entry.name for entry in reading.inputs.all)
        written = archives.written(parquet, read, columns, data_urls=not no_data_urls)
    with written as table:
        if table is None:
            return _process(reading, work_of, None, count)
        is_read = False

        def add(page_rows: Iterable[Any]) -> None:
            nonlocal is_read
            is_read = True
            table.add(page_rows)

        status = _process(reading, work_of, table._replace(add=add), count)
        if not is_read:  # the table would be empty: leave no file, and what was there
            raise click.exceptions.Exit(status)
    return status


def _process(
    reading: Reading, work_of: Callable[..., Work], table: Table | None, count: int
) -> ExitStatus:
    if count <= 1:
        return reading.process(work_of(reading, table))
    from relbase.cli.parallel import Workers  # start-up time

    parallel = partial(Workers(reading, work_of, count).read, table)
    return reading.process(work_of(reading, table), parallel)


def _listing(
    how: tuple[bool, bool, bool],  # as JSON, violations, texts
    wat: bool,  # noqa: FBT001
    reading: Reading,
    table: Table | None,
) -> Work:
    """Return what lists the links of an input."""
    printer = LinkPrinter(reading.tally, *how)

    def work(source: OpenInput, archive: Archive | None, warned: Collected) -> None:
        if archive is not None:
            if table is not None:
                table.add(())  # it is read, even if it holds no link
            archive.show(table, printer, wat=wat)
        elif table is not None or wat:
            raise files.InputError(f"{'--wat' if wat else '--parquet'} reads only web archives")
        elif text := _list(reading, source, printer):
            warned.add("unresolved", f"{source.shown}: warning: {text}")

    return work


def _refuse(chosen: dict[str, Any], *, for_table: bool) -> None:
    both = [name for name, value in chosen.items() if value not in {None, False}][:2]
    if len(both) > 1 and both != ["json", "violations"]:
        text = " and ".join(f"--{name.replace('_', '-')}" for name in both)
        raise click.UsageError(f"{text} exclude each other: give one of them")
    if for_table and chosen["parquet"] is None:
        raise click.UsageError("--columns and --no-data-urls need a table: give --parquet FILE")
    if chosen["parquet"] == files.STDIN:
        raise click.UsageError("--parquet writes a file: give its name")


def _list(reading: Reading, source: OpenInput, printer: LinkPrinter) -> str:
    """List the links of an input, and return the warning about those without a base, or ""."""
    several, unresolved, base, type_, unread = reading.inputs.several, 0, "", "", ""
    for document in reading.documents(source):
        is_read = document.given.document.format.visit is not None
        unread = _UNREAD if document.data and not is_read and not several else ""
        for link in documents.links_of(document, texts=printer.texts):
            part = before_part(link.part, document.number)
            printer.show(f"{source.shown}:{link.line}:{link.column}: {part}", link, source.name)
            if link.status is relbase.Status.UNRESOLVED:
                base = base if unresolved else link.base.url
                type_ = type_ or next(run.entities(document.given)).type
                unresolved += 1
    if not unresolved:
        return unread
    advice = documents.advice(type_, several=several, name=source.name)
    why = f"none can be resolved against {excerpt(masked(base))}" if base else advice
    return f"{counted(unresolved, 'unresolved link')}: {why}"


def _counting(by: str, reading: Reading, _table: Table | None) -> Work:
    """Return what counts the links of messages that have no base."""

    def count(source: OpenInput, archive: Archive | None, _: Collected) -> None:
        if archive is not None:
            raise files.InputError("--unresolved-by counts senders of mail: this is a web archive")
        for document in reading.documents(source):
            if document.given.document.format.messages:
                count_unresolved(reading.tally.unresolved, document.given, by)

    return count


@command(
    "Show the base URL of documents, and why.",
    """\
Examples:
  relbase base page.html -u http://example.com/a/page.html
  relbase base page.html -u http://example.com/ --redirect /a/
  relbase base page.html --headers headers.txt --json
  relbase base mail.eml

For each document: its base URL, then the base of what encloses it, outward
to the URL that it was retrieved from (the layers of RFC 1808 §3), then the
candidates that were refused, and why. For a message its parts follow, one per
line: number, type, layer, source and base URL.

Exit status:
  0  done
  1  a base is missing or a candidate was refused, under --strict
  2  wrong usage
  3  some inputs failed
""",
)
@option(
    "Output",
    "--json",
    basic=True,
    help="Write JSON Lines, one object per entity, with its chain of bases.",
)
@document_options
def base(inputs: tuple[str, ...], *, json: bool, **given: Any) -> int:
    """Print the base URL of each INPUT, its layer and source, and what was refused.

    "-" or no INPUT is standard input.
    """
    reading = begin(inputs, given)

    def work(source: OpenInput, archive: Archive | None, _: Collected) -> None:
        if archive is not None:
            archive.show_bases(as_json=json)
            return
        for document in reading.documents(source):
            listed = run.entities(document.given)
            entities = [documents.in_input(document, entity) for entity in listed]
            bases = (entity.base for entity in entities)
            reading.tally.warnings += sum(not own.usable or bool(_refused(own)) for own in bases)
            several = reading.inputs.several
            lines = _report(source, document.number, entities, several=several)
            if json:
                lines = (streams.object_line({"file": source.name}, entity) for entity in entities)
            for line in lines:
                streams.say(line)

    return reading.process(work)


def _report(
    source: OpenInput, number: str, entities: Sequence[Entity], *, several: bool
) -> Iterator[str]:
    if not entities:  # a mailbox without messages, or the text before them
        return
    outermost, *parts = entities
    part = before_part(outermost.part, number)
    yield f"{source.shown}: {part}{printable(outermost.type)}"
    own = outermost.base
    # The last layer is always "": show it only if there is no other.
    bases = [outer for outer in outward(own) if outer is own or outer.layer is not Layer.NONE]
    width = min(_COLUMN, max(len(_base_url(stated)) for stated in bases))
    if own.layer is Layer.NONE and any(entity.base.url for entity in parts):
        yield "    base     stated by its parts"
        bases = []
    for stated in bases:
        label = "base" if stated is own else "outward"
        yield f"    {label:8} {_base_url(stated):{width}}  ({_where(stated)})"
    reported = _refused(own)
    for note in reported:
        yield f"    {'refused':8} {documents.sentence(note)}"
    if fix := _advice(entities, several=several, name=source.name):
        yield f"    {'advice':8} {fix}"
    yield from _parts_table(parts, set(reported))


def _where(base: Base) -> str:
    return f"{_LAYERS[base.layer]}: {printable(base.source)}"


def _advice(entities: Sequence[Entity], *, several: bool, name: str) -> str:
    outermost, *parts = entities
    rows = ((entity, reader(entity.type, "")) for entity in parts)
    read = [entity for entity, row in rows if row is not None and row.visit is not None]
    for entity in read if parts else [outermost]:
        if entity.base.layer is Layer.NONE:
            return documents.advice(outermost.type, several=several, name=name)
        if not entity.base.url:
            return "a program has yet to fill in the placeholder in this base"
        if why := unsuitable(entity.base.url):
            where = f" of part {entity.part}" if parts else ""
            return f"no relative reference can be resolved against this base{where} because {why}"
    return ""


def _parts_table(parts: Sequence[Entity], reported: set[Note]) -> Iterator[str]:
    """The parts of a message, one per line, and below each the bases that were refused in it."""
    rows: list[tuple[str, ...]] = []
    for entity in parts:
        number, type_ = f"part {entity.part}", printable(entity.type)
        # If the part itself states a base, the source of that base ends like this.
        of_part = f" of part {entity.part.rpartition('/')[2]}"
        own = takewhile(lambda outer: outer.source.endswith(of_part), outward(entity.base.outer))  # noqa: B023
        for stated in (entity.base, *own):
            where = _where(stated).removesuffix(of_part) if stated.url else ""
            rows.append((number, type_, where, _base_url(stated)))
            number = type_ = ""
        refused = [note for note in _refused(entity.base) if note not in reported]
        rows += [("", f"refused: {documents.sentence(note)}") for note in refused]
        reported.update(refused)
    columns = zip(*(row[:-1] for row in rows if len(row) > 2), strict=True)  # noqa: PLR2004
    # A text that is longer than `_COLUMN` is not aligned.
    widths = [max((n for n in map(len, column) if n <= _COLUMN), default=0) for column in columns]
    for row in rows:
        cells = zip(row[:-1], widths, strict=False)
        padded = "  ".join(f"{text:{width}}" for text, width in cells if width)
        yield f"    {padded}  {row[-1]}"


def _base_url(base: Base) -> str:
    return excerpt(base.url, _LONG) if base.url else "none"


def _refused(base: Base) -> list[Note]:
    return [note for stated in outward(base) for note in stated.refused]
