"""`relbase base`: what links are resolved against, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import click

from relbase.bases.layers import Base, Layer, outward, unsuitable
from relbase.cli import documents, streams
from relbase.cli.documents import before_part
from relbase.cli.files import OpenInput
from relbase.cli.group import Option, command, exclude, section
from relbase.cli.inputs import begin
from relbase.cli.jobs import CSV_BOM
from relbase.cli.options import document_options
from relbase.cli.streams import Collected, excerpt, printable
from relbase.formats.recognition import reader
from relbase.session import run

if TYPE_CHECKING:
    from relbase.cli.archives import Archive
    from relbase.cli.csv_tables import CsvTable
    from relbase.cli.documents import InputDocument
    from relbase.notes import Note
    from relbase.results import Entity

_LAYERS: Final = {layer: f"{layer.value or 'none'}, §3.{n}" for n, layer in enumerate(Layer, 1)}
_LONG: Final = 2000
_COLUMN: Final = 60


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
    *section(
        "Output",
        Option(
            "--json",
            "Write JSON Lines, one object per entity, with its chain of bases.",
            basic=True,
        ),
        Option(
            "--csv FILE",
            "Write CSV: of pages their files and URLs, as --map reads them, and of messages a row "
            "for each part ('-': standard output).",
            basic=True,
            type=click.Path(dir_okay=False, readable=False),
        ),
        CSV_BOM,
    ),
    *document_options(),
)
def base(
    inputs: tuple[str, ...], *, json: bool, csv: str | None, csv_bom: bool, **given: Any
) -> int:
    """Print the base URL of each INPUT, its layer and source, and what was refused.

    "-" or no INPUT is standard input.
    """
    exclude({"json": json, "csv": csv})
    reading = begin(inputs, given)

    def work(source: OpenInput, archive: Archive | None, _: Collected) -> None:
        if archive is not None:
            archive.show_bases(rows, as_json=json)
            return
        for document in reading.documents(source):
            listed = run.entities(document.given)
            entities = [documents.in_input(document, entity) for entity in listed]
            bases = (entity.base for entity in entities)
            reading.tally.warnings += sum(not own.usable or bool(_refused(own)) for own in bases)
            several = reading.inputs.several
            if rows is not None:
                _add_bases(rows, source, document, entities)
                continue
            lines = _report(source, document, entities, several=several)
            if json:
                lines = (streams.object_line({"file": source.name}, entity) for entity in entities)
            for line in lines:
                streams.say(line)

    with reading.csv(csv, _OF_PAGE, mark=csv_bom) as rows:
        status = reading.process(work)
        if rows is not None and status and not rows.names:  # keep the table that was there
            raise click.exceptions.Exit(status)
    return status


# Of the table of pages, which --map reads.
_OF_PAGE: Final = ("file", "url")


def _add_bases(
    table: CsvTable,
    source: OpenInput,
    document: documents.InputDocument,
    entities: Sequence[Entity],
) -> None:
    if not entities:
        return
    is_message = document.given.document.format.messages
    if not document.number and table.names in ({_OF_PAGE} if is_message else {(), _OF_PAGE}):
        bases = (base.url for base in outward(entities[0].base) if base.layer is Layer.RETRIEVAL)
        table.add(dict(zip(_OF_PAGE, (source.name, next(bases, "")), strict=True)))
        return
    from relbase.cli.csv_tables import base_columns
    from relbase.cli.judging.entities import LOCATION, MessageParts
    from relbase.cli.judging.verdicts import MISSING

    judge = MessageParts(document).judge if is_message else None
    locations: dict[str, str] = {}
    resolved, missing = Counter[str](), Counter[str]()
    for link in documents.links_of(document):
        if link.attribute == LOCATION:
            locations.setdefault(link.part, link.reference)
            continue
        is_missing = judge is not None and judge(link).verdict == MISSING
        resolved[link.part] += link.url is not None and not is_missing
        missing[link.part] += is_missing
    for entity in entities:
        part = entity.part
        row = base_columns(entity, location=locations.get(part, ""))
        counts = {"links_resolved": resolved[part], "links_missing": missing[part]}
        table.add({"file": source.name, **row, **counts})


def _report(
    source: OpenInput, document: InputDocument, entities: Sequence[Entity], *, several: bool
) -> Iterator[str]:
    if not entities:  # a mailbox without messages, or the text before them
        return
    outermost, *parts = entities
    part = before_part(outermost.part, document.number)
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
    if fix := _advice(document, entities, several=several, name=source.name):
        yield f"    {'advice':8} {fix}"
    yield from _parts_table(parts, set(reported))


def _where(base: Base) -> str:
    return f"{_LAYERS[base.layer]}: {printable(base.source)}"


def _advice(
    document: InputDocument, entities: Sequence[Entity], *, several: bool, name: str
) -> str:
    outermost, *parts = entities
    rows = ((entity, reader(entity.type, "")) for entity in parts)
    read = [entity for entity, row in rows if row is not None and row.visit is not None]
    for entity in read if parts else [outermost]:
        if entity.base.layer is Layer.NONE:
            return documents.advice(outermost.type, document, several=several, name=name)
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
