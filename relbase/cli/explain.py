"""`relbase explain`: a page that shows why each link means what it means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from relbase.cli import files, options, outputs, streams
from relbase.cli.expansion import inputs_of, refuse_one_url
from relbase.cli.outcome import Tally
from relbase.cli.outputs import Output, Written
from relbase.explaining.index import index
from relbase.explaining.page import page

if TYPE_CHECKING:
    from relbase.cli.expansion import Inputs
    from relbase.cli.files import Source
    from relbase.explaining.page import Summary

_EPILOG: Final = """\b
Examples:
  relbase explain page.html --url http://example.com/a/page.html -o page.explained.html
  relbase explain mail.eml -o mail.html
  relbase explain *.html -o explained/
  curl -s http://example.com/a | relbase explain --url http://example.com/a > a.html

\b
The page shows the base URL as the nested boxes of RFC 1808 §3, each layer with
its source or why it was refused; the source, with each reference marked by the
layer that decides it, before and after; and a list of what each reference
resolves to, by which step, and why those that stay do. It is one file that
needs nothing else, and nothing in the document can run in it.

\b
Exit status: 0 done; 2 usage, nothing written; 3 some inputs failed; 4 an output
cannot be written: stopped.
"""

_OPTIONS: Final = (
    click.Option(
        ["-o", "--output"],
        metavar="FILE|DIR",
        type=click.Path(readable=False),
        help="Write to a file; or into a directory, under the names of the inputs with '.html' "
        "after them and an index.html with totals, if it is one, ends in '/', or there are several "
        "inputs. Files that are there are replaced.",
    ),
)


@click.command(
    "explain",
    short_help="Show why each link means what it means, as a page.",
    params=options.parameters(*_OPTIONS),
    epilog=_EPILOG,
)
@click.pass_context
def explain(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    *,
    output: str | None,
    **given: Any,  # noqa: ANN401 (the shared options)
) -> None:
    """Write a page of HTML that shows why each link of INPUT means what it means.

    "-" or no INPUT is standard input. The page goes to standard output without -o.
    """
    tally = Tally()
    found = inputs_of(inputs, given, tally)
    settings = options.settings(given)
    refuse_one_url(found, settings)
    _refuse(found, output)
    plan = _Plan(found, output)

    def work(source: Source) -> None:
        data = b"".join(source.pieces)
        plan.put(source, *page(data, **settings.arguments(source.name)))

    files.process(found.all, work, tally)
    plan.settle()
    context.exit(tally.status(strict=settings.strict))


def _refuse(found: Inputs, output: str | None) -> None:
    if output == "":
        raise click.UsageError("-o is empty: give the name of a file or a directory")
    if output is None and (found.several or len(found.all) > 1):
        raise click.UsageError("several inputs go into a directory: give -o DIRECTORY")


class _Plan:
    """Where the pages go: to standard output, to one file, or into a directory with an index."""

    def __init__(self, found: Inputs, output: str | None) -> None:
        self._directory: str | None = None
        self._outputs: dict[str, Output] = {}
        self._rows: list[tuple[str, Summary]] = []
        self._written = Written()
        self._settled: set[str] = set()
        if output is None:
            return
        trees = bool(found.trees) or found.listed
        planned = outputs.plan(found.all, output, trees=trees, force=True)
        if outputs.is_directory(output, len(found.all), trees=trees):
            self._directory = output
            planned = {name: _named(one) for name, one in planned.items()}
        self._outputs = planned

    def put(self, source: Source, page: str, summary: Summary) -> None:
        """Take the page of an input."""
        data = page.encode("utf-8", "backslashreplace")
        if not self._outputs:
            streams.put(data)
            return
        output = self._outputs[source.name]
        self._settled.add(self._written.write(output, (data,), None))
        self._rows.append(("/".join(output.parts), summary))

    def settle(self) -> None:
        """Write the index of a directory, and bring all to the disk."""
        if self._directory is not None and self._rows:
            names = {file for file, _ in self._rows}
            name = next(
                name for name in ("index.html", "_index.html", "__index.html") if name not in names
            )
            output = Output(self._directory, (name,), replaces=True)
            data = index(self._rows).encode("utf-8", "backslashreplace")
            self._settled.add(self._written.write(output, (data,), None))
        outputs.settle(self._settled)


def _named(output: Output) -> Output:
    """The page of an input beside those of others: under its name, with another end."""
    *directories, name = output.parts
    return output._replace(parts=(*directories, f"{name}.html"))
