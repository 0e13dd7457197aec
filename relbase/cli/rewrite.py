"""`relbase rewrite`: documents in, the same documents with absolute links out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

import relbase
from relbase.cli import files, options, remarks, streams
from relbase.cli.outcome import Tally
from relbase.cli.streams import excerpt, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relbase.cli.files import Source
    from relbase.results import Result

_EPILOG: Final = """\b
Examples:
  relbase rewrite page.html --url http://example.com/a/page.html > absolute.html
  relbase rewrite *.html --headers headers.txt -o absolute/
  curl -sL -D headers.txt http://example.com/a | relbase rewrite \\
      --url http://example.com/a --headers headers.txt -o a.html
  relbase rewrite page.html --url http://example.com/a/page.html --diff

\b
Exit status: 0 done; 1 --check found inputs that would change, or warnings
under --strict; 2 usage, nothing written; 3 some inputs failed, the others
are written; 4 an output cannot be written: stopped.
"""

_OPTIONS: Final = (
    click.Option(
        ["-o", "--output"],
        metavar="FILE|DIR",
        type=click.Path(readable=False),
        help="Write to a file; or into a directory, under the names of the inputs, if it is one, "
        "ends in '/', or there are several inputs. Files that are there are replaced.",
    ),
    click.Option(
        ["--diff", "diff_"],
        is_flag=True,
        help="Write no documents: show what would change, for reading.",
    ),
    click.Option(
        ["--check"],
        is_flag=True,
        help="Write no documents: list the inputs that would change, and exit with status 1 if "
        "there are any.",
    ),
    click.Option(
        ["-v", "--verbose"],
        is_flag=True,
        help="Say for each input what was done, also when standard error is no terminal.",
    ),
)


@click.command(
    "rewrite",
    short_help="Make relative links absolute.",
    params=options.parameters(*_OPTIONS),
    epilog=_EPILOG,
)
@click.pass_context
def rewrite(
    context: click.Context,
    /,
    inputs: tuple[str, ...],
    *,
    output: str | None,
    diff_: bool,
    check: bool,
    verbose: bool,
    **given: Any,  # noqa: ANN401 (the shared options)
) -> None:
    """Make the relative links of each INPUT absolute, and change no other byte.

    "-" or no INPUT is standard input. The result of one input goes to standard output. Warnings go
    to standard error, as file:line:column.
    """
    _refuse(inputs, output, diff=diff_, check=check)
    settings = options.settings(given)
    tally = Tally()
    verbose = verbose or (output is not None and streams.is_terminal())
    take = _taker(inputs or (files.STDIN,), output, tally, diff=diff_, check=check)

    def work(source: Source) -> None:
        result = relbase.rewrite(source.data, **settings.arguments(source.name))
        take(source, result)
        remarks.warn(source, result.notes, result.base, tally)
        if verbose:
            streams.warn(f"{source.shown}: {_summary(result)}")

    files.process(inputs, work, tally)
    context.exit(tally.status(strict=settings.strict))


def _refuse(inputs: Sequence[str], output: str | None, *, diff: bool, check: bool) -> None:
    if diff and check:
        raise click.UsageError("--diff and --check exclude each other: give one of them")
    if output is not None and (diff or check):
        flag = "--diff" if diff else "--check"
        raise click.UsageError(f"{flag} writes no documents: leave -o out, or {flag}")
    if output == "":
        raise click.UsageError("-o is empty: give the name of a file or a directory")
    if output is None and len(inputs) > 1 and not (diff or check):
        text = "several inputs go into a directory: give -o DIRECTORY (or --check, or --diff)"
        raise click.UsageError(text)


def _taker(
    inputs: Sequence[str], output: str | None, tally: Tally, *, diff: bool, check: bool
) -> Callable[[Source, Result], None]:
    """What is done with each result."""
    if diff:
        return _show_diff
    if check:
        return lambda source, result: _list(source, result, tally)
    if output is None:
        return lambda _source, result: streams.put(result.data)
    paths, written = files.plan(inputs, output), files.Written()
    return lambda source, result: written.write(paths[source.name], result.data, source.status)


def _show_diff(source: Source, result: Result) -> None:
    from relbase.cli.diff import diff  # noqa: PLC0415 (start-up time of the usual case)

    for line in diff(source.name, source.data, result.edits):
        streams.say(line)


def _list(source: Source, result: Result, tally: Tally) -> None:
    if result.changed:
        tally.found += 1
        streams.say(printable(source.name))


def _summary(result: Result) -> str:
    if not result.changed:
        return "no link changed"
    count = len(result.edits)
    base = result.base
    places = f"{count} place{'s'[: count > 1]}"
    return f"links made absolute in {places}, on {excerpt(base.url)} ({printable(base.source)})"
