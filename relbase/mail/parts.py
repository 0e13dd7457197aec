"""The parts of a message with their bases down the MIME tree, and their bodies."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from relbase.bases.headers import snapshot_statements, statements_of
from relbase.bases.layers import UNKNOWN, Base, Layer, retrieval
from relbase.containers.fields import Header, eol_of, fields_of_paragraph, text_of
from relbase.containers.header_fields import States
from relbase.containers.known_fields import bases
from relbase.containers.mail import BASE64, IDENTITY, QUOTED_PRINTABLE, Part
from relbase.edit import Edit, Span
from relbase.expressions import regex
from relbase.notes import Note, Reason
from relbase.rewriting.context import Context, Task
from relbase.url.resolver import is_absolute
from relbase.view.base64 import Base64View, base64_view
from relbase.view.quoted_printable import QuotedPrintableView
from relbase.view.runs import SameView, View


class MailPart(NamedTuple):
    data: bytes  # the message
    eol: bytes  # the line end of the message
    part: Part
    context: Context  # of the part, with its base
    states_base: bool  # whether its own header states that base
    attached: bool  # whether it is an attachment or in one
    # Whether an empty line ends its header, so that no edit can extend it.
    apart: bool
    notes: tuple[Note, ...]  # on its base

    @property
    def body(self) -> bytes:
        return self.data[self.part.body.start : self.part.body.end]

    def note(self, reason: Reason, text: str, span: Span | None = None) -> Note:
        """Return a note whose text begins by naming the part; without a span, on its body."""
        whole = f"{called(self.part)} ({self.part.type}) {text}"
        return Note(reason, self.context.part, span or self.part.body, whole)


def number_of(part: Part, context: Context) -> str:
    return "/".join(filter(None, (context.part, part.number)))


def called(part: Part) -> str:
    """Return what a note calls a part; reports show its number next to the text."""
    return "this part" if part.number else "the message"


def line_end(data: bytes) -> bytes:
    first = data.find(b"\n")
    if first < 0:
        return eol_of(data, 0, len(data))
    return b"\r\n" if first > 0 and data.startswith(b"\r", first - 1) else b"\n"


# A relative base is resolved only against a base up to this length. So 10,000 different bases of
# parts take 80 MB at most; without the limit, each would be as long as a hostile one.
MAX_OUTER_BASE: Final = 8_000

_SNAPSHOT: Final = "snapshot-content-location"
BASE_FIELDS: Final = frozenset(row.name.lower() for row in bases(States.MAIL))
# Fields that state a base and nothing else; a Content-Location names its part as well.
STATES_BASE: Final = frozenset(row.name.lower() for row in bases(States.MAIL) if not row.names_part)


def part_bases(data: bytes, parts: Sequence[Part], context: Context) -> Iterator[MailPart]:
    """Yield the parts of a message with their bases (RFC 1808 §3.1, §3.2)."""
    eol = line_end(data)
    path: dict[int, MailPart] = {}  # only the parts around this one, since bases may be long
    for index, part in enumerate(parts):
        stated = [
            (field.name, text_of(data, field), field.value)
            for field in part.header.fields
            if field.name in BASE_FIELDS or field.name == _SNAPSHOT
        ]
        number, attached = number_of(part, context), False
        if part.parent is None:
            around, notes = _around(data, part, stated, context)
        else:
            while next(reversed(path)) != part.parent:
                path.popitem()
            outer = path[part.parent]
            around, notes = outer.context.base, ()
            if outer.part.message:
                around, notes = _retrieved(data, part, around, context)
            attached = outer.attached or part.disposition == "attachment"
        base, states, more = around, False, list[Note]()
        if stated:
            base, states, more = _established(part, stated, around, context.task, number)
        within = f" of part {part.number}" if part.number else " of the body"
        inside = context.with_fields(base=base, part=number, within=within)
        apart = part.header.body > part.header.end
        entity = MailPart(data, eol, part, inside, states, attached, apart, (*notes, *more))
        path[index] = entity
        yield entity


def _retrieved(
    data: bytes, part: Part, around: Base, context: Context
) -> tuple[Base, tuple[Note, ...]]:
    """The base around a message: the caller's URL for it, unless a header around it states one."""
    urls = context.task.message_urls
    if urls is None or around.layer in {Layer.EMBEDDED, Layer.ENTITY}:
        return around, ()
    selected = urls.find(message_fields(data, part.header))
    if selected is None:
        return around, ()
    statements, remarks = retrieval(selected.url, (), context.task.profile)
    statements = [statement._replace(source=selected.source) for statement in statements]
    number = number_of(part, context)
    base, notes = context.task.establish(statements, UNKNOWN, number)
    if around.refused:
        base = replace(base, refused=(*base.refused, *around.refused))
    return base, (*(remark._replace(part=number) for remark in remarks), *notes)


def message_fields(data: bytes, header: Header) -> list[tuple[str, str]]:
    start, end = header.start, header.end
    fields = fields_of_paragraph(data, start, end, eol_of(data, start, end), of_any_name=True)
    return [(field.name, _unfold("", text_of(data, field)).strip()) for field in fields]


_unfold: Final = regex(r"[\r\n]++(?=[ \t])").sub


def _around(
    data: bytes, part: Part, fields: Sequence[tuple[str, str, Span]], context: Context
) -> tuple[Base, tuple[Note, ...]]:
    """The base around the outermost message; without one, the URL that Chromium recorded."""
    around, notes = context.base, tuple[Note, ...]()
    if context.task.message_urls is not None:
        around, notes = _retrieved(data, part, around, context)
    if not context.task.detect or around.layer is not Layer.NONE:
        return around, notes
    snapshots = [value for name, value, _ in fields if name == _SNAPSHOT]
    if not snapshots:
        return around, notes
    profile = context.task.profile
    statements, refused = snapshot_statements(snapshots[0], profile)
    around, more = context.task.establish(statements, around)
    remarks = (*notes, *refused, *more)
    notes = tuple(note._replace(part=number_of(part, context)) for note in remarks)
    if refused and not statements:
        around = replace(around, refused=(*notes, *around.refused))
    return around, notes


def _established(
    part: Part, fields: Sequence[tuple[str, str, Span]], around: Base, task: Task, number: str
) -> tuple[Base, bool, list[Note]]:
    name, profile = f"part {part.number}" if part.number else "the message", task.profile
    kept = stated = statements_of(fields, States.MAIL, name)
    if len(around.url) > MAX_OUTER_BASE:
        kept = [
            statement for statement in kept if is_absolute(statement.value, profile, around.url)
        ]
    base, notes = task.establish(kept, around, number)
    if len(kept) < len(stated):
        text = f"a base of {name} is relative to one that is too long: it does not count"
        long = Note(Reason.BASE_UNSUITABLE, number, None, text)
        base = replace(base, refused=(long, *base.refused))
        notes = [long, *notes]
    return base, bool(kept) and base.outer is around, notes


# ---- bodies under their transfer encodings


class _BareReturnsView(QuotedPrintableView):
    """The view of a quoted-printable body in a message whose lines end with CR.

    The message contains no LF, so LF can replace CR without moving any offset.
    """

    def __init__(self, raw: bytes, boundaries: Sequence[bytes]) -> None:
        super().__init__(raw.replace(b"\r", b"\n"), boundaries, b"\n")

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """Turn LF back into CR: in edits, LF occurs only as a line end."""
        for edit in super().lowered(edits):
            yield edit._replace(new=edit.new.replace(b"\n", b"\r"))


def transfer_view(part: Part, raw: bytes, eol: bytes) -> View | None:
    """Return the view of a body by its Content-Transfer-Encoding; None if it cannot be decoded."""
    if part.encoding in IDENTITY:
        return SameView(raw)
    if part.encoding == QUOTED_PRINTABLE:
        if eol == b"\r":
            return _BareReturnsView(raw, part.boundaries)
        return QuotedPrintableView(raw, part.boundaries, eol)
    if part.encoding == BASE64:
        return base64_view(raw, eol) or _footed_view(raw, eol)
    return None


# Matches up to the first padding, or the first line that is not base64.
_base64: Final = regex(rb"(?:[A-Za-z0-9+/]*+[ \t]*+\r?\n)*+(?:[A-Za-z0-9+/]*+={1,2})?+").match
_SPACE: Final = b" \t\r\n"
_word: Final = regex(rb"[A-Za-z0-9+/]*+").match
_in_the_clear: Final = regex(rb"[^A-Za-z0-9+/=\s]").search


def _footed_view(raw: bytes, eol: bytes) -> Base64View | None:
    """The view of base64 that is followed by text (the footer of a mailing list)."""
    match = _base64(raw)
    end = match.end() if match else 0
    # If more base64 follows, some readers decode it, and some do not.
    if not raw[:end].strip() or _in_the_clear(raw, end) is None:
        return None
    # An edit may remove the padding, so the text has to be recognisable without it.
    text = raw[end:].lstrip(_SPACE)
    same_line = b"\n" not in raw[end - 1 : len(raw) - len(text)]
    if (_word if same_line else _base64)(text).group():  # type: ignore[union-attr]
        return None
    return base64_view(raw[:end], eol, end)
