"""Links, and notes as warnings, a line each: `file:line:column: warning: text [reason]`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple, Self

from relbase.bases.layers import Base, Layer
from relbase.cli import streams
from relbase.cli.documents import InputDocument, before_part, note_in
from relbase.cli.streams import Collected, Tally, counted, excerpt, printable
from relbase.expressions import expression
from relbase.formats import FORMATS
from relbase.kind import Kind
from relbase.opening.door import kind_of_call
from relbase.opening.recognition import kind_of_type
from relbase.pipeline import found_called
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from relbase.bases.headers import MessageUrlSource
    from relbase.call import Call
    from relbase.notes import Note
    from relbase.results import Link
    from relbase.warc.rows import LinkRow

# What programs write where people give an option.
_argument: Final = expression(r"\bpolicy=Policy\((\w+)=True\)|(?<=\(pass )url=")


def with_options(text: str, *, several: bool = False) -> str:
    """Return a sentence of the library with options in the place of arguments."""
    url = "--map, --root or --mirror" if several else "--url"  # rule 16: one URL, one document
    return _argument.sub(lambda found: f"--{found[1].replace('_', '-')}" if found[1] else url, text)


def advice(type_: str, *, several: bool = False) -> str:
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
    part = before_part(note.part, number)
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
            from relbase.cli.urls import counted_violations, report  # noqa: PLC0415 (start-up time)

            found = counted_violations(row.reference, base, self.tally)
            if not found:
                return
            more = {"violations": found}
            text = f"{where}:\n{report(row.reference, found)}"
        streams.say(streams.object_line(fields(), more) if self.as_json else text)


SELECTORS: Final = {"sender": "(no sender)", "list": "(no list)", "message": "(no Message-ID)"}

# How many senders are shown after a run; `relbase links --unresolved-by` shows all.
_SHOWN: Final = 10


@dataclass(slots=True, eq=False, repr=False)
class Unresolved:
    by: str = "sender"
    references: Counter[str] = field(default_factory=Counter)  # by what selects their messages
    messages: Counter[str] = field(default_factory=Counter)

    def add_messages(self, calls: Iterable[tuple[InputDocument, Call]]) -> None:
        """Count those of the messages among the documents of an input."""
        for document, call in calls:
            if FORMATS[kind_of_call(call, document.data)].messages:
                self.add(document.data, call)

    def add(self, data: bytes, call: Call) -> None:
        count = sum(found.status is Status.UNRESOLVED for found in found_called(data, call))
        if count:
            name = _selector(data, self.by)
            self.references[name] += count
            self.messages[name] += 1

    def __iadd__(self, other: Unresolved) -> Self:
        self.references.update(other.references)  # `+=` would look through all counts each time
        self.messages.update(other.messages)
        return self

    def lines(self) -> Iterator[str]:
        for name, count in sorted(self.references.items(), key=lambda row: (-row[1], row[0])):
            within = counted(self.messages[name], "message")
            yield f"{excerpt(name)}\t{counted(count, 'reference')} in {within}"


def _selector(data: bytes, by: str) -> str:
    from relbase.bases import headers  # noqa: PLC0415 (start-up time)
    from relbase.mail.message import fields_of_mail  # noqa: PLC0415

    read = {"sender": headers.sender, "list": headers.list_id, "message": headers.message_id}
    return read[by](fields_of_mail(data)) or SELECTORS[by]


def stated_by(data: bytes, base: Base, urls: MessageUrlSource | None, *, has_url: bool) -> str:
    from relbase.mail.message import fields_of_mail  # noqa: PLC0415
    from relbase.mail.parts import BASE_FIELDS  # noqa: PLC0415 (start-up time)

    fields = fields_of_mail(data)
    if any(name in BASE_FIELDS for name, _ in fields) and base.layer is not Layer.RETRIEVAL:
        return "stated in the message"
    found = None if urls is None else urls.find(fields)
    if found is not None:
        is_mapped = found.source.startswith("message map")
        return "by --message-map" if is_mapped else f"by {found.source}"
    return "by --url" if has_url else "stated in the message"


def summed(bases: Counter[str], unresolved: Unresolved) -> Iterator[str]:
    """Yield what is said after a run of what gave messages their bases, and of those without."""
    if bases:
        parts = ", ".join(f"{count} {printable(name)}" for name, count in bases.most_common())
        yield f"base URLs of {counted(bases.total(), 'message')} with relative links: {parts}"
    lines = list(unresolved.lines())
    if lines:
        yield "relative links without a base, by sender (relbase links --unresolved-by lists them):"
        yield from (f"  {line}" for line in lines[:_SHOWN])
    if len(lines) > _SHOWN:
        yield f"  and {len(lines) - _SHOWN} more"
