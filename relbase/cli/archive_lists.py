"""Links and bases of the pages of web archives, on the command line."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import relbase
from relbase.cli import streams
from relbase.cli.archives import how_of
from relbase.cli.streams import excerpt, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.cli.archives import Archive
    from relbase.cli.show import How
    from relbase.cli.tables import Table
    from relbase.warc import Page
    from relbase.warc.rows import LinkRow


# ---- links


def show(archive: Archive, table: Table | None, how: How, *, wat: bool) -> None:
    """Show the links of the pages of an archive, or put them into a table."""
    if table is not None:
        tabulate(archive, table)
    elif wat:
        show_wat(archive)
    else:
        show_links(archive, how)


def tabulate(archive: Archive, table: Table) -> None:
    """Put the links of the pages of an archive into a table."""
    name = archive.source.name
    pages = archive.pages(lambda fault: table.add_fault(fault, name))
    table.add(chain.from_iterable(_rows(archive, page, name) for page in pages))


def show_links(archive: Archive, how: How) -> None:
    """Show the links of the pages of an archive."""
    for page in archive.pages():
        for row in _rows(archive, page, archive.source.name):
            part = f"part {row.part}: " if row.part else ""
            place = f"{archive.place(page)}: {part}"
            how.show(place, row, row.base, row.outcome, row._asdict)


def show_wat(archive: Archive) -> None:
    """Show the links of each page as a record of a WAT file has them."""
    import json  # noqa: PLC0415 (start-up time)

    from relbase.warc.wat import wat  # noqa: PLC0415 (likewise)

    for page in archive.pages():
        made = archive.done(page, lambda page: wat(page, archive.source.name, **how_of(archive)))
        if made is not None:
            streams.say(json.dumps(made))


def _rows(archive: Archive, page: Page, name: str) -> Iterator[LinkRow]:
    """The rows of a page; after a defect no more of them."""
    from relbase import warc  # noqa: PLC0415 (start-up time)

    try:
        yield from warc.link_rows(page, name, **how_of(archive))
    except Exception as error:  # noqa: BLE001 (one page of many stops no others)
        archive.report_defect(page, error)


# ---- bases


def show_bases(archive: Archive, *, as_json: bool) -> None:
    """Show the base of each page of an archive, and what states it."""
    from relbase.cli import jsonl  # noqa: PLC0415 (start-up time)
    from relbase.warc.writing import arguments  # noqa: PLC0415 (start-up time)

    for page in archive.pages():
        given = arguments(page, **how_of(archive))
        for entity in relbase.entities(page.body, **given):
            archive.tally.warnings += not entity.base.usable
            if as_json:
                place = {"page": page.url, "offset": page.offset, "record_id": page.record_id}
                streams.say(jsonl.line(archive.source.name, entity, **place))
                continue
            part = f"part {entity.part}: " if entity.part else ""
            base = f"{excerpt(entity.base.url)} ({printable(entity.base.source)})"
            streams.say(f"{archive.place(page)}: {part}{base if entity.base.url else 'none'}")
