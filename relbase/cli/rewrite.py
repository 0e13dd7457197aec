"""`relbase rewrite`: documents in, the same documents with absolute links out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from relbase.bases.layers import UNKNOWN
from relbase.cli import archives, files, maildir, options, streams
from relbase.cli.documents import documents, rewritten
from relbase.cli.outcome import Tally
from relbase.cli.streams import printable
from relbase.cli.summary import Summary
from relbase.results import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeAlias

    from relbase.cli.documents import Document
    from relbase.cli.files import Source
    from relbase.cli.options import Settings

    _Rewritten: TypeAlias = tuple[Document, Result]
    _Take: TypeAlias = Callable[[Source, Iterator[_Rewritten]], None]

_EPILOG: Final = """\b
Examples:
  relbase rewrite page.html --url http://example.com/a/page.html > absolute.html
  relbase rewrite *.html --headers headers.txt -o absolute/
  curl -sL -D headers.txt http://example.com/a | relbase rewrite \\
      --url http://example.com/a --headers headers.txt -o a.html
  relbase rewrite inbox.mbox -o absolute.mbox
  relbase rewrite Maildir/ -o absolute/
  relbase rewrite < mail > absolute
  relbase rewrite page.html --url http://example.com/a/page.html --diff
  relbase rewrite crawl.warc.gz -o absolute.warc.gz

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
        "ends in '/', or there are several inputs. Files that are there are replaced; "
        "a message that is in the Maildir already is an error.",
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
    *archives.OPTIONS,
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
    with_originals: bool,
    all_status: bool,
    date: str,
    **given: Any,  # noqa: ANN401 (the shared options)
) -> None:
    """Make the relative links of each INPUT absolute, and change no other byte.

    "-" or no INPUT is standard input. The result of one input goes to standard output. Warnings go
    to standard error, as file:line:column.

    An INPUT may be a page, a style sheet, a message, an mbox, which is rewritten a message at a
    time, or a Maildir: its messages and sub-folders are written to the Maildir that -o names.
    Of a web archive (WARC, ARC) the output is a WARC of conversion records: the pages with links
    that changed, each on the URL of its own record.
    """
    _refuse(inputs, output, diff=diff_, check=check)
    settings = options.settings(given)
    tally = Tally()
    verbose = verbose or (output is not None and streams.is_terminal())
    inputs = inputs or (files.STDIN,)
    take, directories = _taker(inputs, output, tally, diff=diff_, check=check)
    names = maildir.expanded(inputs, tally)

    choices = archives.Choices(output, with_originals, all_status, date)

    def work(source: Source) -> None:
        source, archive = archives.recognise(source, settings, tally)
        if archive is not None:
            if diff_:
                raise files.InputError("--diff shows no archives: give --check, or -o FILE")
            take(source, archives.rewritten(archive, choices, verbose=verbose))
            return
        summary = Summary(source.shown, tally)
        take(source, _rewritten(source, settings, tally, summary))
        summary.close(verbose=verbose)

    files.process(names, work, tally)
    files.settle(directories)
    context.exit(tally.status(strict=settings.strict))


def _refuse(inputs: Sequence[str], output: str | None, *, diff: bool, check: bool) -> None:
    if diff and check:
        raise click.UsageError("--diff and --check exclude each other: give one of them")
    if output is not None and (diff or check):
        flag = "--diff" if diff else "--check"
        raise click.UsageError(f"{flag} writes no documents: leave -o out, or {flag}")
    if output == "":
        raise click.UsageError("-o is empty: give the name of a file or a directory")
    mailboxes = [name for name in inputs if name != files.STDIN and maildir.is_maildir(name)]
    if mailboxes and not (diff or check):
        _refuse_maildir(mailboxes[0], len(inputs), output)
    if output is None and len(inputs) > 1 and not (diff or check):
        text = "several inputs go into a directory: give -o DIRECTORY (or --check, or --diff)"
        raise click.UsageError(text)


def _refuse_maildir(name: str, count: int, output: str | None) -> None:
    shown = printable(name)
    if count > 1:
        fix = "rewrite it with a command of its own"
        raise click.UsageError(f"the Maildir '{shown}' has a directory for its output: {fix}")
    if output is None:
        fix = "give -o DIRECTORY (or --check, or --diff)"
        raise click.UsageError(f"the Maildir '{shown}' goes into a directory: {fix}")


def _rewritten(
    source: Source, settings: Settings, tally: Tally, summary: Summary
) -> Iterator[_Rewritten]:
    """The documents of an input and what became of them, one at a time."""
    for document in documents(source, settings):
        result = _unchanged(document.data)
        if document.number:
            # What was read must not get lost because of one message of many.
            shown = f"{source.shown}: part {document.number}, passed through"
            with files.told(shown, tally):
                result = rewritten(document)
        else:
            result = rewritten(document)
        yield document, result
        summary.add(document, result)


def _unchanged(data: bytes) -> Result:
    return Result(data, (), (), base=lambda: UNKNOWN, links=tuple)


def _pieces(rewritten: Iterator[_Rewritten]) -> Iterator[bytes]:
    """The bytes of the output."""
    for document, result in rewritten:
        yield document.before
        yield result.data
        yield document.after


# ---- what is done with it


def _taker(
    inputs: Sequence[str], output: str | None, tally: Tally, *, diff: bool, check: bool
) -> tuple[_Take, set[str]]:
    """What is done with what became of each input, and the directories that it goes to."""
    if diff:
        return _show_diff, set()
    if check:
        return lambda source, rewritten: _list(source, rewritten, tally), set()
    if output is None:
        return _put, set()
    if inputs[0] != files.STDIN and maildir.is_maildir(inputs[0]):
        delivery = maildir.Delivery(inputs[0], output)
        return (
            lambda source, rewritten: _deliver(source, rewritten, delivery),
            delivery.directories,
        )
    paths, written = files.plan(inputs, output), files.Written()

    def write(source: Source, rewritten: Iterator[_Rewritten]) -> None:
        written.write(paths[source.name], _pieces(rewritten), source.status)

    return write, written.directories


def _put(_source: Source, rewritten: Iterator[_Rewritten]) -> None:
    for piece in _pieces(rewritten):
        streams.put(piece)


def _deliver(source: Source, rewritten: Iterator[_Rewritten], delivery: maildir.Delivery) -> None:
    changed = False
    pieces: list[bytes] = []
    for document, result in rewritten:
        changed |= result.changed
        pieces += (document.before, result.data, document.after)
    delivery.deliver(source.name, b"".join(pieces), source.status, changed=changed)


def _show_diff(source: Source, rewritten: Iterator[_Rewritten]) -> None:
    from relbase.cli.diff import diff  # noqa: PLC0415 (start-up time of the usual case)

    moved = 0
    for document, result in rewritten:
        name = f"{source.name} (message {document.number})" if document.number else source.name
        for line in diff(name, document.data, result.edits, document.lines, moved):
            streams.say(line)
        moved += result.data.count(b"\n") - document.data.count(b"\n")


def _list(source: Source, rewritten: Iterator[_Rewritten], tally: Tally) -> None:
    # All of them: their warnings count too.
    changed = [result.changed for _, result in rewritten]
    if any(changed):
        tally.found += 1
        streams.say(printable(source.name))
