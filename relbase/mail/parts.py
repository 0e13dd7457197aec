"""The parts of a message with their bases down the MIME tree, and their bodies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.headers import mime_statements, snapshot_statements
from relbase.bases.layers import UNKNOWN, Base, Layer, establish, retrieval
from relbase.containers.fields import Header, eol_of, fields_of_paragraph, first, text_of
from relbase.containers.mail import BASE64, IDENTITY, QUOTED_PRINTABLE, Part
from relbase.expressions import regex
from relbase.notes import Note, Reason
from relbase.registry import States, bases
from relbase.url.resolver import is_absolute
from relbase.view.base64 import Base64View, base64_view
from relbase.view.quoted_printable import QuotedPrintableView
from relbase.view.runs import SameView, View

if TYPE_CHECKING:
    from relbase.edit import Edit, Span
    from relbase.rewriting.context import Context


class MailPart(NamedTuple):
    data: bytes  # the message
    eol: bytes  # what ends its lines
    part: Part
    context: Context  # of the part, with its base
    states_base: bool  # whether its own header states that base
    attached: bool  # whether it is an attachment or in one
    notes: tuple[Note, ...]  # on its base

    @property
    def body(self) -> bytes:
        return self.data[self.part.body.start : self.part.body.end]

    def note(self, reason: Reason, text: str, span: Span | None = None) -> Note:
        """Return a note on the part, which its text begins with; on its body without a span."""
        whole = f"{called(self.part)} ({self.part.type}) {text}"
        return Note(reason, self.context.part, span or self.part.body, whole)


def number_of(part: Part, context: Context) -> str:
    return "/".join(filter(None, (context.part, part.number)))


def called(part: Part) -> str:
    """Return what a note on a part calls it: its number stands beside the text."""
    return "this part" if part.number else "the message"


def line_end(data: bytes) -> bytes:
    first = data.find(b"\n")
    is_crlf = first > 0 and data.startswith(b"\r", first - 1)
    return b"\r\n" if is_crlf else eol_of(data, 0, len(data))


# A relative base is resolved only against a shorter one. With this limit the bases of 10,000 parts,
# each another one, are 80 MB at most; without it a long base makes them as many times as long.
MAX_BASE: Final = 8_000

# Longer ones nobody writes: servers refuse URLs of a few kilobytes. All parts of a message may
# inherit it, and to resolve one reference takes as long as the base is.
MAX_STATED_BASE: Final = 1 << 16

_SNAPSHOT: Final = "snapshot-content-location"
BASE_FIELDS: Final = frozenset(row.name.lower() for row in bases(States.MAIL))
# What states a base and nothing else; a Content-Location names its part as well.
STATES_BASE: Final = frozenset(row.name.lower() for row in bases(States.MAIL) if not row.names_part)


def part_bases(data: bytes, parts: Sequence[Part], context: Context) -> Iterator[MailPart]:
    """Yield the parts of a message with their bases (RFC 1808 §3.1, §3.2)."""
    eol = line_end(data)
    path: dict[int, MailPart] = {}  # the parts around, and no others: bases may be long
    for index, part in enumerate(parts):
        attached = False
        if part.parent is None:
            around, notes = _around(data, part, context)
        else:
            while next(reversed(path)) != part.parent:
                path.popitem()
            outer = path[part.parent]
            around, notes = outer.context.base, ()
            if outer.part.message:
                around, notes = _retrieved(data, part, around, context)
            attached = outer.attached or part.disposition == "attachment"
        base, states, more = _established(data, part, around, context)
        within = f" of part {part.number}" if part.number else " of the body"
        inside = context.having(base=base, part=number_of(part, context), within=within)
        path[index] = MailPart(data, eol, part, inside, states, attached, (*notes, *more))
        yield path[index]


def _retrieved(
    data: bytes, part: Part, around: Base, context: Context
) -> tuple[Base, tuple[Note, ...]]:
    """The base around a message: the URL that the caller has for it, unless a header states one."""
    urls = context.task.message_urls
    if urls is None or around.layer in {Layer.EMBEDDED, Layer.ENTITY}:
        return around, ()
    found = urls.find(message_fields(data, part.header))
    if found is None:
        return around, ()
    statements, remarks = retrieval(found.url, ())
    statements = [statement._replace(source=found.source) for statement in statements]
    number = number_of(part, context)
    base, notes = establish(statements, UNKNOWN, profile=context.task.profile, part=number)
    if around.refused:
        base = replace(base, refused=(*base.refused, *around.refused))
    return base, (*(remark._replace(part=number) for remark in remarks), *notes)


def message_fields(data: bytes, header: Header) -> list[tuple[str, str]]:
    start, end = header.start, header.end
    found = fields_of_paragraph(data, start, end, eol_of(data, start, end), of_any_name=True)
    return [(field.name, _unfold("", text_of(data, field)).strip()) for field in found]


_unfold: Final = regex(r"[\r\n]++(?=[ \t])").sub


def _around(data: bytes, part: Part, context: Context) -> tuple[Base, tuple[Note, ...]]:
    """The base around the outermost message: what Chromium says that it saved counts where none."""
    around, notes = _retrieved(data, part, context.base, context)
    if not context.task.detect or around.layer is not Layer.NONE:
        return around, notes
    snapshot = first(data, part.header, _SNAPSHOT)
    if snapshot is None:
        return around, notes
    statements, refused = snapshot_statements(snapshot)
    around, more = establish(statements, around, profile=context.task.profile)
    remarks = (*notes, *refused, *more)
    notes = tuple(note._replace(part=number_of(part, context)) for note in remarks)
    if refused and not statements:
        around = replace(around, refused=(*notes, *around.refused))
    return around, notes


def _established(
    data: bytes, part: Part, around: Base, context: Context
) -> tuple[Base, bool, list[Note]]:
    fields = [
        (field.name, text_of(data, field), field.value)
        for field in part.header.fields
        if field.name in BASE_FIELDS
    ]
    if not fields:
        return around, False, []
    name = f"part {part.number}" if part.number else "the message"
    number, profile = number_of(part, context), context.task.profile
    stated = mime_statements(fields, name)
    kept = [found for found in stated if len(found.value) <= MAX_STATED_BASE]
    if len(around.url) > MAX_BASE:
        kept = [found for found in kept if is_absolute(found.value, profile, around.url)]
    base, notes = establish(kept, around, profile=profile, part=number)
    if len(kept) < len(stated):
        text = f"a base of {name} is too long, or relative to one that is: it does not count"
        long = Note(Reason.BASE_UNSUITABLE, number, None, text)
        base = replace(base, refused=(long, *base.refused))
        notes = [long, *notes]
    return base, bool(kept) and base.outer is around, notes


# ---- bodies under their transfer encodings


class _BareReturnsView(QuotedPrintableView):
    """The view of a quoted-printable body whose lines, as those of all the message, end with CR.

    There is no LF in the message, so that LF can stand for CR, and all places stay where they are.
    """

    __slots__ = ()

    def __init__(self, raw: bytes, boundaries: Sequence[bytes]) -> None:
        super().__init__(raw.replace(b"\r", b"\n"), boundaries, b"\n")

    def lowered(self, edits: Iterable[Edit]) -> Iterator[Edit]:
        """What is written holds no LF but that of its line ends."""
        for edit in super().lowered(edits):
            yield edit._replace(new=edit.new.replace(b"\n", b"\r"))


def transfer_view(part: Part, raw: bytes, eol: bytes) -> View | None:
    """Return the view of a body by its Content-Transfer-Encoding; None where it cannot be read."""
    if part.encoding in IDENTITY:
        return SameView(raw)
    if part.encoding == QUOTED_PRINTABLE:
        if eol == b"\r":
            return _BareReturnsView(raw, part.boundaries)
        return QuotedPrintableView(raw, part.boundaries, eol)
    if part.encoding == BASE64:
        return base64_view(raw, eol) or _footed_view(raw, eol)
    return None


# Up to the first padding, or the first line that is not of base64.
_base64: Final = regex(rb"(?:[A-Za-z0-9+/]*+[ \t]*+\r?\n)*+(?:[A-Za-z0-9+/]*+={1,2})?+").match
_SPACE: Final = b" \t\r\n"
_word: Final = regex(rb"[A-Za-z0-9+/]*+").match
_in_the_clear: Final = regex(rb"[^A-Za-z0-9+/=\s]").search


def _footed_view(raw: bytes, eol: bytes) -> Base64View | None:
    """The view of what is base64 before a text that is not."""
    found = _base64(raw)
    end = found.end() if found else 0
    # What is again base64 some readers read, and some do not.
    if not raw[:end].strip() or _in_the_clear(raw, end) is None:
        return None
    # An edit may take the padding away: what follows must tell of itself that it is text.
    text = raw[end:].lstrip(_SPACE)
    same_line = b"\n" not in raw[end - 1 : len(raw) - len(text)]
    if (_word if same_line else _base64)(text).group():  # type: ignore[union-attr]
        return None
    return base64_view(raw[:end], eol, end)
