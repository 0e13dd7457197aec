"""Links, and notes as warnings, a line each: `file:line:column: warning: text [reason]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.cli import jsonl, streams
from relbase.cli.documents import note_in, part_name
from relbase.cli.streams import excerpt, printable
from relbase.expressions import expression
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.opening.recognition import kind_of_type

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from relbase.cli.documents import InputDocument
    from relbase.cli.streams import Collected, Tally
    from relbase.notes import Note
    from relbase.results import Link
    from relbase.warc.rows import LinkRow

# What programs write where people give an option. One URL is not given to several documents
# (rule 16).
_argument: Final = expression(r"\bpolicy=Policy\((\w+)=True\)|(?<=\(pass )url=")
_ONE: Final = "--url"
_SEVERAL: Final = "--map, --root or --mirror"


def with_options(text: str, *, several: bool = False) -> str:
    """Return a sentence of the library with options in the place of arguments."""
    url = _SEVERAL if several else _ONE
    return _argument.sub(lambda found: f"--{found[1].replace('_', '-')}" if found[1] else url, text)


def advice(type_: str, *, several: bool = False) -> str:
    """Return what to give where a document has no base."""
    text = FORMATS[kind_of_type(type_) or Kind.OTHER].advice
    return with_options(text, several=several)


def collect(
    shown: str,
    document: InputDocument,
    notes: Sequence[Note],
    warned: Collected,
    *,
    several: bool = False,
) -> None:
    """Collect notes on a document as warnings, in its order."""
    data, line, line_start, at = document.data, document.lines + 1, 0, 0
    for note in sorted(notes, key=lambda note: note.span.start if note.span else -1):
        place = ""
        if note.span:
            before, at = at, note.span.start
            line += data.count(b"\n", before, at)
            line_start = max(line_start, data.rfind(b"\n", before, at) + 1)
            place = f":{line}:{at - line_start + 1}"
        text = sentence(note_in(document, note), document.number, several=several)
        warned.add(note.reason.value, f"{shown}{place}: warning: {text}")


def sentence(note: Note, number: str = "", *, several: bool = False) -> str:
    name = part_name(note.part, number)
    part = f"{name}: " if name else ""
    return printable(f"{part}{with_options(note.text, several=several)} [{note.reason.value}]")


def place_of(element: str, attribute: str, syntax: str) -> str:
    """Return what a reference stands in; a field of a header is an attribute of no element."""
    where = element or attribute or syntax
    return printable(f"{where}/@{attribute}" if element and attribute else where)


class LinkPrinter(NamedTuple):
    """Prints a link on a line: for people, as JSON, or with its violations of the grammar."""

    tally: Tally
    as_json: bool = False
    violations: bool = False

    def show(
        self,
        place: str,
        row: Link | LinkRow,
        base: str,
        status: str,
        fields: Callable[[], dict[str, object]],
    ) -> None:
        """Print a link: `place` is its file and line, `fields` are those of its object."""
        where = f"{place}{place_of(row.element, row.attribute, row.syntax)}"
        more: dict[str, object] = {}
        text = f"{where}: {excerpt(row.reference)}"
        if row.url is not None and row.url != row.reference:
            text += f" -> {excerpt(row.url)}"
        text += f" [{status}]"
        if self.violations:
            from relbase.cli.check import counted_violations, report  # noqa: PLC0415 (start-up time)

            found = counted_violations(row.reference, base, self.tally)
            if not found:
                return
            more = {"violations": found}
            text = f"{where}:\n{report(row.reference, found)}"
        streams.say(jsonl.object_line({**fields(), **more}) if self.as_json else text)
