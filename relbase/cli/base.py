"""`relbase base`: the base URL of each entity, and why."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final

import click

import relbase
from relbase.cli import files, jsonl, options, remarks, streams
from relbase.cli.outcome import Tally
from relbase.cli.streams import excerpt, printable
from relbase.layers import Layer, unsuitable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.cli.files import Source
    from relbase.layers import Base
    from relbase.results import Entity

# RFC 1808 has a section for each layer.
_LAYERS: Final = {
    Layer.EMBEDDED: "embedded, §3.1",
    Layer.ENTITY: "entity, §3.2",
    Layer.RETRIEVAL: "retrieval, §3.3",
    Layer.NONE: "none, §3.4",
}

# A URL that is longer is cut for people; one that is longer than a column is not aligned.
_LONG: Final = 2000
_COLUMN: Final = 60

_EPILOG: Final = """\b
Examples:
  relbase base page.html --url http://example.com/a/page.html
  relbase base page.html --url http://example.com/ --redirect /a/
  relbase base page.html --headers headers.txt --json

\b
For each document: its base, then the base of what is around it, outward to
the URL it was retrieved from (the layers of RFC 1808 §3), then what states a
base and was refused, and why. The exit status is 3 when inputs failed; under
--strict it is 1 when there is no base or something was refused.
"""

_OPTIONS: Final = (
    click.Option(
        ["--json", "as_json"],
        is_flag=True,
        help="Write JSON Lines, one object an entity, with the chain of bases in it.",
    ),
)


@click.command(
    "base",
    short_help="Tell the base URL of documents, and why.",
    params=options.parameters(*_OPTIONS),
    epilog=_EPILOG,
)
@click.pass_context
def base(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    *,
    as_json: bool,
    **given: Any,  # noqa: ANN401 (the shared options)
) -> None:
    """Tell the base URL of each INPUT, which layer states it, and what was refused.

    "-" or no INPUT is standard input.
    """
    settings = options.settings(given)
    tally = Tally()

    def work(source: Source) -> None:
        for entity in relbase.entities(source.data, **settings.arguments(source.name)):
            tally.warnings += not entity.base.usable or bool(list(_refused(entity.base)))
            if as_json:
                streams.say(jsonl.line(source.name, entity))
            else:
                for line in _report(source, entity):
                    streams.say(line)

    files.process(inputs, work, tally)
    context.exit(tally.status(strict=settings.strict))


def _report(source: Source, entity: Entity) -> Iterator[str]:
    """The report on an entity for people."""
    part = f"part {entity.part}: " if entity.part else ""
    yield f"{source.shown}: {part}{printable(entity.type)}"
    bases = [(_shown(stated), stated) for stated in _chain(entity.base)]
    width = min(_COLUMN, max(len(url) for url, _ in bases))
    for label, (url, stated) in zip(_labels(), bases, strict=False):
        where = f"{_LAYERS[stated.layer]}: {printable(stated.source)}"
        yield f"    {label:8} {url:{width}}  ({where})"
    for sentence in _refused(entity.base):
        yield f"    {'refused':8} {sentence}"
    if not entity.base.url:
        yield f"    {'advice':8} {remarks.ADVICE}"
    elif why := unsuitable(entity.base.url):
        yield f"    {'advice':8} no relative reference can be resolved on this base, {why}"


def _labels() -> Iterator[str]:
    return chain(("base",), repeat("outward"))


def _shown(base: Base) -> str:
    return excerpt(base.url, _LONG) if base.url else "none"


def _chain(base: Base | None) -> Iterator[Base]:
    """The bases outward; that there is nothing behind the last one goes without saying."""
    innermost = base
    while base is not None and (base.layer is not Layer.NONE or base is innermost):
        yield base
        base = base.outer


def _refused(base: Base | None) -> Iterator[str]:
    while base is not None:
        yield from map(remarks.sentence, base.refused)
        base = base.outer
