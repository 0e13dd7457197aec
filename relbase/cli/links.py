"""`relbase links`: the references of documents, and what they resolve to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

import relbase
from relbase.cli import archives, files, options, remarks, streams, tables
from relbase.cli.documents import before_part, calls, links_of
from relbase.cli.help import command, table
from relbase.cli.inputs import begin
from relbase.cli.streams import Tally, WarningPrinter, counted, excerpt
from relbase.pipeline import entities_called

if TYPE_CHECKING:
    from relbase.cli.files import OpenInput
    from relbase.cli.tables import Table
    from relbase.results import Link

_EPILOG: Final = """\b
Examples:
  relbase links page.html -u http://example.com/a/page.html
  relbase links *.html --json | jq -r 'select(.url == null) | .reference'
  relbase links page.html --violations
  relbase links inbox.mbox Maildir/ --json
  relbase links *.warc.gz --parquet links.parquet

\b
Each line reads
  file:line:column: element/@attribute: reference -> url [status]
with the status rewritten, absolute, kept or unresolved. In mail the part
stands before the element: "part 3/1.2" is part 1.2 of message 3 of an mbox.

\b
Exit status:
  0  done
  1  --violations found some, or references are unresolved under --strict
  2  wrong usage
  3  some inputs failed
"""

_OPTIONS: Final = table(
    """\
Output
* --json                  Write JSON Lines, one object per reference.
* --violations            List the references that violate RFC 1808 or RFC 1738, and why.
* --parquet FILE          Write the links of web archives to a table, and their errors to a second
                          table beside it. Needs relbase[warc].
Web archives
  --columns NAMES         Write these columns to the table of --parquet, such as page,url,host.
  --no-data-urls          Cut data: URLs in the table of --parquet to their media type.
  --wat                   Write a JSON object per page of web archives, as WAT files have it, with
                          absolute URLs.
Mail
  --unresolved-by BY      Print only how many links of messages have no base: by sender, list or
                          message, the most first, as a start for --message-map.
""",
    json={"dest": "as_json"},
    parquet={"type": click.Path(dir_okay=False, readable=False)},
    columns={"read": lambda value: tuple(value.split(","))},
    unresolved_by={"type": click.Choice(list(remarks.SELECTORS))},
)


@command("links", "List links and what they resolve to.", options.parameters(*_OPTIONS), _EPILOG)
@click.pass_context
def links(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    *,
    as_json: bool,
    violations: bool,
    parquet: str | None,
    columns: tuple[str, ...] | None,
    no_data_urls: bool,
    wat: bool,
    unresolved_by: str | None,
    **given: Any,
) -> None:
    """List every reference of each INPUT and what it resolves to.

    "-" or no INPUT is standard input. Long references are cut, and unprintable characters are shown
    as escapes; --json has both in full.
    """
    outputs = {
        "--parquet": parquet is not None,
        "--unresolved-by": unresolved_by is not None,
        "--wat": wat,
        "--json": as_json,
        "--violations": violations,
    }
    _refuse(outputs, has_columns=bool(columns or no_data_urls))
    tally = Tally()
    found, settings, finder = begin(inputs, given, tally)
    printer = WarningPrinter(settings.verbosity)
    link_printer = remarks.LinkPrinter(tally, as_json, violations)

    def work(source: OpenInput, table: Table | None) -> None:
        source, archive = archives.recognise(source, settings, tally)
        if archive is not None:
            archives.show(archive, table, link_printer, wat=wat)
            return
        if table is not None or wat:
            option = "--wat" if wat else "--parquet"
            raise files.InputError(f"it is not a web archive: {option} is for those")
        unresolved, base, type_ = 0, "", ""
        for document, call in calls(source, settings, finder):
            for link in links_of(document, call):
                _show(link_printer, source, document.number, link)
                if link.status is relbase.Status.UNRESOLVED:
                    base = base if unresolved else link.base.url
                    type_ = type_ or next(entities_called(document.data, call)).type
                    unresolved += 1
        if unresolved:
            tally.warnings += 1
            why = f"none resolves against {excerpt(base)}"
            why = why if base else remarks.advice(type_, several=found.several)
            text = f"{counted(unresolved, 'unresolved link')}: {why}"
            printer.add("unresolved", f"{source.shown}: warning: {text}")

    if unresolved_by is not None:
        left = remarks.Unresolved(unresolved_by)
        files.process(found.all, lambda one: left.add_messages(calls(one, settings, finder)), tally)
        for line in left.lines():
            streams.say(line)
        context.exit(tally.status(strict=settings.strict))
    names = (one.name for one in found.all)
    with tables.written(parquet, names, columns, data_urls=not no_data_urls) as table:
        files.process(found.all, lambda one: work(one, table), tally)
    printer.close()
    context.exit(tally.status(strict=settings.strict))


def _refuse(outputs: dict[str, bool], *, has_columns: bool) -> None:
    both = [name for name, is_given in outputs.items() if is_given][:2]
    if len(both) > 1 and both != ["--json", "--violations"]:
        raise click.UsageError(f"{' and '.join(both)} exclude each other: give one of them")
    if has_columns and not outputs["--parquet"]:
        raise click.UsageError("--columns and --no-data-urls are of a table: give --parquet FILE")


def _show(link_printer: remarks.LinkPrinter, source: OpenInput, number: str, link: Link) -> None:
    place = f"{source.shown}:{link.line}:{link.column}: {before_part(link.part, number)}"
    outcome = link.status.value
    link_printer.show(
        place, link, link.base.url, outcome, lambda: {"file": source.name, **link.as_dict()}
    )
