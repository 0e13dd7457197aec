"""`relbase base`: the base URL of each entity, and why."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

import click

from relbase import pipeline
from relbase.bases.layers import Base, Layer, outward, unsuitable
from relbase.cli import archives, files, jsonl, options, remarks, streams
from relbase.cli.documents import before_part, calls, entity_in
from relbase.cli.help import command, table
from relbase.cli.inputs import begin
from relbase.cli.streams import Tally, excerpt, printable
from relbase.opening.recognition import reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.cli.files import OpenInput
    from relbase.notes import Note
    from relbase.results import Entity

_LAYERS: Final = {
    Layer.EMBEDDED: "embedded, §3.1",
    Layer.ENTITY: "entity, §3.2",
    Layer.RETRIEVAL: "retrieval, §3.3",
    Layer.NONE: "none, §3.4",
}

_LONG: Final = 2000
_COLUMN: Final = 60

_EPILOG: Final = """\b
Examples:
  relbase base page.html -u http://example.com/a/page.html
  relbase base page.html -u http://example.com/ --redirect /a/
  relbase base page.html --headers headers.txt --json
  relbase base mail.eml

\b
For each document: its base URL, then the base of what encloses it, outward
to the URL that it was retrieved from (the layers of RFC 1808 §3), then the
candidates that were refused, and why. For a message its parts follow, one per
line: number, type, layer, source and base URL.

\b
Exit status:
  0  done
  1  a base is missing or a candidate was refused, under --strict
  2  wrong usage
  3  some inputs failed
"""

_OPTIONS: Final = table(
    """\
Output
* --json                  Write JSON Lines, one object per entity, with its chain of bases.
""",
    json={"dest": "as_json"},
)


@command("base", "Show the base URL of documents, and why.", options.parameters(*_OPTIONS), _EPILOG)
@click.pass_context
def base(
    context: click.Context, /, inputs: tuple[str, ...], *, as_json: bool, **given: Any
) -> None:
    """Print the base URL of each INPUT, its layer and source, and what was refused.

    "-" or no INPUT is standard input.
    """
    tally = Tally()
    found, settings, finder = begin(inputs, given, tally)

    def work(source: OpenInput) -> None:
        source, archive = archives.recognise(source, settings, tally)
        if archive is not None:
            archives.show_bases(archive, as_json=as_json)
            return
        for document, call in calls(source, settings, finder):
            listed = pipeline.entities_called(document.data, call)
            entities = [entity_in(document, entity) for entity in listed]
            for entity in entities:
                tally.warnings += not entity.base.usable or bool(_refused(entity.base))
                if as_json:
                    streams.say(jsonl.line(source.name, entity))
            if not as_json:
                for line in _report(source, document.number, entities, several=found.several):
                    streams.say(line)

    files.process(found.all, work, tally)
    context.exit(tally.status(strict=settings.strict))


def _report(
    source: OpenInput, number: str, entities: Sequence[Entity], *, several: bool
) -> Iterator[str]:
    """The report on the entities of a document for people, the outermost first."""
    outermost, *parts = entities
    part = before_part(outermost.part, number)
    yield f"{source.shown}: {part}{printable(outermost.type)}"
    own = outermost.base
    # That there is nothing after the last one goes without saying.
    bases = [one for one in outward(own) if one is own or one.layer is not Layer.NONE]
    width = min(_COLUMN, max(len(_shown(stated)) for stated in bases))
    for stated in bases:
        label = "base" if stated is own else "outward"
        yield f"    {label:8} {_shown(stated):{width}}  ({_where(stated)})"
    reported = _refused(own)
    for note in reported:
        yield f"    {'refused':8} {remarks.sentence(note)}"
    if advice := _advice(entities, several=several):
        yield f"    {'advice':8} {advice}"
    yield from _table(parts, set(reported))


def _where(base: Base) -> str:
    return f"{_LAYERS[base.layer]}: {printable(base.source)}"


def _advice(entities: Sequence[Entity], *, several: bool) -> str:
    """What to give when a document has no base, or one of no use."""
    outermost, *parts = entities
    rows = ((entity, reader(entity.type, "")) for entity in parts)
    read = [entity for entity, row in rows if row is not None and row.visit is not None]
    for entity in read if parts else [outermost]:
        if entity.base.layer is Layer.NONE:
            return remarks.advice(outermost.type, several=several)
        if not entity.base.url:
            return "a program is still to fill in the placeholder of this base"
        if why := unsuitable(entity.base.url):
            where = f" of part {entity.part}" if parts else ""
            return f"no relative reference can be resolved against this base{where}, {why}"
    return ""


def _table(parts: Sequence[Entity], reported: set[Note]) -> Iterator[str]:
    """The parts of a message, a line each; what is refused in one stands below it."""
    rows: list[tuple[str, ...]] = []  # one text alone is of what was refused
    for entity in parts:
        number, type_ = f"part {entity.part}", printable(entity.type)
        # How the source of a base ends that the part itself states.
        of_part = f" of part {entity.part.rpartition('/')[2]}"
        own = takewhile(lambda one: one.source.endswith(of_part), outward(entity.base.outer))  # noqa: B023
        for stated in (entity.base, *own):
            where = _where(stated).removesuffix(of_part) if stated.url else ""
            rows.append((number, type_, where, _shown(stated)))
            number = type_ = ""
        refused = [note for note in _refused(entity.base) if note not in reported]
        rows += [(remarks.sentence(note),) for note in refused]
        reported.update(refused)
    columns = zip(*(row[:-1] for row in rows if row[1:]), strict=True)
    # A text that is longer than a column is not aligned.
    widths = [max((n for n in map(len, column) if n <= _COLUMN), default=0) for column in columns]
    for row in rows:
        if not row[1:]:
            yield f"    {'':{widths[0]}}  refused: {row[0]}"
            continue
        cells = zip(row[:-1], widths, strict=True)
        padded = "  ".join(f"{text:{width}}" for text, width in cells if width)
        yield f"    {padded}  {row[-1]}"


def _shown(base: Base) -> str:
    return excerpt(base.url, _LONG) if base.url else "none"


def _refused(base: Base) -> list[Note]:
    return [note for one in outward(base) for note in one.refused]
