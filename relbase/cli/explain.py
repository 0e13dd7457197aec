"""`relbase explain`: a page that shows why each link means what it means."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from relbase.cli import documents, files, outputs, streams
from relbase.cli.documents import with_options
from relbase.cli.files import STDIN, Inputs, OpenInput, Output
from relbase.cli.group import Option, command, section
from relbase.cli.inputs import begin
from relbase.cli.options import Settings, document_options
from relbase.cli.streams import Collected, counted, printable
from relbase.cli.writing import Writer, settle
from relbase.explaining.page import Summary, index, page
from relbase.formats.rows import FORMATS
from relbase.session.session import Call
from relbase.url.profiles import DEFAULT
from relbase.warc.writing import call_of

if TYPE_CHECKING:
    from relbase.cli.archives import Archive
    from relbase.cli.origins.finder import Finder

# A web archive may have millions of pages: only this many are explained.
_MAX_PAGES: Final = 1_000
_INDEX: Final = "index.html"
_ALL: Final = "all"  # the profiles


@command(
    "Draw the base and every link of a document as an HTML page.",
    """\
Examples:
  relbase explain page.html -u http://example.com/a/page.html -o why.html
  relbase explain mail.eml -o mail.html
  relbase explain *.html -o explained/
  relbase explain page.html -u http://example.com/ --profile all -o all.html
  relbase explain site --root site=http://example.com/ -o explained/
  curl -s http://example.com | relbase explain -u http://example.com > a.html

The page shows the base URL as the nested boxes of RFC 1808 §3, each layer
with its source or the reason why it was refused. Then come the source text,
with each reference in the colour of the layer that decides it, and a list of
what each reference resolves to and by which step. With --profile all the list
has every profile, and the steps where they part. The page is one file, and
nothing of the document can run in it.

Exit status:
  0  done
  1  there were warnings, under --strict
  2  wrong usage, nothing was written
  3  some inputs failed
  4  an output could not be written
""",
    *section(
        "Output",
        Option(
            "-o, --output FILE|DIR",
            "Write to FILE; write several inputs below DIR, with an index.html.",
            basic=True,
        ),
        Option("--force", "Overwrite files that exist in the output directory.", basic=True),
    ),
    *document_options(profiles=(_ALL,), hint="; all shows them side by side"),
)
def explain(inputs: tuple[str, ...], *, output: str | None, force: bool, **given: Any) -> int:
    """Write an HTML page that shows why each link of INPUT means what it means.

    "-" or no INPUT is standard input. Without -o the page goes to standard output.
    """
    if compares := given["profile"] == _ALL:
        given["profile"] = DEFAULT.value
    reading = begin(inputs, given)
    plan = _Plan(reading.inputs, output, force=force)

    def work(source: OpenInput, archive: Archive | None, warned: Collected) -> None:
        if archive is None:
            data, call = _whole(source, reading.settings, reading.finder)
            documents = iter([(data, call, "" if call.name else source.shown)])
        elif plan.directory:
            documents = _pages(archive)
        else:
            raise files.InputError("it is a web archive of many pages: give -o DIRECTORY/")
        for number, (data, call, name) in enumerate(documents, archive is not None):
            markup, summary = page(data, call, name, wording=with_options, compares=compares)
            if summary.notes and reading.settings.strict:
                text = f"warning: the page lists {counted(summary.notes, 'note')} (--strict)"
                warned.add("notes", f"{source.shown}: {text}")
            plan.put(source.name, markup, summary, number)

    status = reading.process(work)
    plan.settle()
    return status


def _whole(source: OpenInput, settings: Settings, finder: Finder) -> tuple[bytes, Call]:
    """An input as one document, even if it is a mailbox of several messages."""
    source, settings = documents.opened(source, settings)
    data = b"".join(source.pieces)
    call, stated = settings.call(source.name), finder.find(source, settings.url)
    if FORMATS[call.kind_of(data)].streams:
        return data, call._replace(url=stated.url) if stated.given else call
    call = settings._replace(fields=stated.fields or settings.fields).call(source.name)
    return data, finder.place(call.opened(data), stated, source).call


def _pages(archive: Archive) -> Iterator[tuple[bytes, Call, str]]:
    for number, saved in enumerate(archive.pages()):
        if number == _MAX_PAGES:
            archive.warn(f"only the first {_MAX_PAGES:,} pages are explained")
            break
        yield saved.body, call_of(saved, **archive.how), saved.url


class _Plan:
    """Where pages go: to standard output, a file, or below a directory that gets an index."""

    def __init__(self, inputs: Inputs, output: str | None, *, force: bool) -> None:
        output = None if output == STDIN else output
        if output == "":
            raise click.UsageError("-o is empty: give the name of a file or a directory")
        if force and output is None:
            raise click.UsageError("--force is for files in an output directory: give -o DIR too")
        if output is None and (inputs.several or len(inputs.all) > 1):
            raise click.UsageError("a tree or several inputs need a directory: give -o DIR")
        is_directory = output is not None and outputs.is_directory(output, inputs)
        self.directory = output if is_directory else None
        self._force = force
        self._rows: list[tuple[str, Summary]] = []
        self._writer = Writer()
        self._made: set[str] = set()
        path = os.path.join(self.directory or "", _INDEX)
        if self.directory and os.path.lexists(path) and not force:
            text = f"'{printable(path)}' already exists: give --force to replace it"
            raise click.UsageError(f"{text}, or another directory with -o")
        # Pages get other names than those planned here: existing files are noticed when writing.
        self._planned = {} if output is None else outputs.plan(inputs, output, force=True)

    def put(self, name: str, markup: str, summary: Summary, number: int = 0) -> None:
        data = markup.encode("utf-8", "backslashreplace")
        planned = self._planned.get(name)
        if planned is None:
            streams.put(data)
            return
        if self.directory is not None:
            last = f"{planned.parts[-1]}{f'.{number}' if number else ''}.html"
            # The index must not replace the page of an input called index.
            last = f"_{last}" if (*planned.parts[:-1], last) == (_INDEX,) else last
            planned = planned._replace(parts=(*planned.parts[:-1], last), replaces=self._force)
        self._made.add(self._writer.write(planned, (data,), None))
        self._rows.append(("/".join(planned.parts), summary))

    def settle(self) -> None:
        if self.directory is not None and self._rows:
            markup = index(self._rows).encode("utf-8", "backslashreplace")
            made = Output(self.directory, (_INDEX,), self._force)
            try:
                self._made.add(self._writer.write(made, (markup,), None))
            except files.InputError as error:
                raise streams.OutputError(str(error)) from None
        settle(self._made)
