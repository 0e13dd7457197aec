"""A part of a message while it is visited, and which edits mail allows in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.fields import eol_of, read_header
from relbase.containers.parts import BASE64
from relbase.edit import Edit, Span, splice
from relbase.mail.bases import number_of, within
from relbase.mail.bodies import fit_lines
from relbase.notes import Note, Reason
from relbase.rewriting.items import Found, Status
from relbase.rewriting.outward import separate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from relbase.containers.parts import Part
    from relbase.mail.bases import PartBase
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


class MailPart(NamedTuple):
    """A part of a message while it is visited."""

    data: bytes  # the message
    eol: bytes  # what ends its lines
    part: Part
    context: Context  # of the part, with its base

    @property
    def body(self) -> bytes:
        """The bytes of its body."""
        return self.data[self.part.body.start : self.part.body.end]

    def note(self, reason: Reason, text: str, span: Span | None = None) -> Note:
        """Return a note on the part, which its text begins with; on its body without a span."""
        whole = f"{called(self.part)} ({self.part.type}) {text}"
        return Note(reason, self.context.part, span or self.part.body, whole)


def mail_part(data: bytes, eol: bytes, stated: PartBase, around: Context) -> MailPart:
    """Return a part with its base."""
    part = stated.part
    inside = around.having(base=stated.base, part=number_of(part, around), within=within(part))
    return MailPart(data, eol, part, inside)


def called(part: Part) -> str:
    """Return what a note on a part calls it: its number stands beside the text."""
    return "this part" if part.number else "the message"


def fit(entity: MailPart, within: Span, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a header or of a body that is not encoded, with the edits that mail allows."""
    part = entity.part
    findings, edits = separate(items)
    kept, notes = fit_lines(entity.data, within, edits, part.boundaries, entity.eol)
    refused = [note.span for note in notes if note.span and note.reason is Reason.MIME_BOUNDARY]
    yield from _keep_in_lines(findings, refused) if refused else findings
    for note in notes:
        if note.reason is not Reason.LINE_LENGTH or part.encoding != "binary":
            text = f"{called(part)}: {note.text}"
            yield note._replace(part=entity.context.part, text=text)
    yield from kept


def _keep_in_lines(
    findings: Iterable[Found | Note], lines: Sequence[Span]
) -> Iterator[Found | Note]:
    """The findings; those that stand in these lines are kept, not rewritten."""
    starts = [line.start for line in lines]
    for item in findings:
        if isinstance(item, Found) and item.status is Status.REWRITTEN:
            index = bisect_right(starts, item.span.start) - 1
            if index >= 0 and item.span.start < lines[index].end:
                yield item._replace(status=Status.KEPT)
                continue
        yield item


def fit_both_readings(entity: MailPart, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a body with a disputed encoding, with the edits that all readers show alike.

    Some mail programs decode it and others show it as it stands: to both a line that is changed
    must show what it showed, and the new link.
    """
    part, data = entity.part, entity.data
    findings, edits = separate(items)
    kept: list[Edit] = []
    lines: list[Span] = []
    for edit in edits:
        if part.encoding != BASE64 and _shows_alike(data, edit):
            kept.append(edit)
        else:
            lines.append(_line_of(entity, edit))
    yield from _keep_in_lines(findings, lines) if lines else findings
    if edits:
        text = f"states its encoding as {part.disputed!a}, which only some mail programs decode"
        left = f": the links in {len(lines)} of its lines stay as they are" if lines else ""
        yield entity.note(Reason.ENCODING_DISPUTED, f"{text}{left}")
    yield from kept


_escapes: Final = re.compile(rb"=[^=]{0,2}").findall


def _shows_alike(data: bytes, edit: Edit) -> bool:
    """Whether an edit of quoted-printable writes no escape and no line end."""
    if b"\n" in edit.new or b"\r" in edit.new:
        return False
    return Counter(_escapes(edit.new)) <= Counter(_escapes(data, edit.start, edit.end))


def _line_of(entity: MailPart, edit: Edit) -> Span:
    data, eol, body = entity.data, entity.eol[-1:], entity.part.body
    end = data.find(eol, edit.end, body.end)
    start = data.rfind(eol, body.start, edit.start) + 1 or body.start
    return Span(start, body.end if end < 0 else end)


def fit_header(entity: MailPart, items: Iterable[Item]) -> Iterator[Item]:
    """The items of a body, without edits that would make its first lines fields (threat N5).

    Where no empty line ends a header, a line that is not a field does. What is written into it may
    have a colon: to all readers it would then be one, and the header would go on.
    """
    part = entity.part
    if part.header.body > part.header.end:
        yield from items
        return
    findings, edits = separate(items)
    end = _paragraph_end(entity)
    first = [edit for edit in edits if edit.start < end]
    end = max([end, *(edit.end for edit in first)])  # a value may hold the empty line
    if not first or not _moves_body(entity, end, first):
        yield from findings
        yield from edits
        return
    lines = Span(part.body.start, end)
    yield from _keep_in_lines(findings, [lines])
    yield entity.note(Reason.MIME_HEADER, _NO_EMPTY_LINE, lines)
    yield from edits[len(first) :]


_NO_EMPTY_LINE: Final = (
    "has no empty line after its header, and a line of it would become a field: the links up to "
    "the next empty line are left unchanged"
)
_empty_line: Final = {
    b"\n": re.compile(rb"\n\r*\n").search,
    b"\r": re.compile(rb"\r\r").search,
}


def _paragraph_end(entity: MailPart) -> int:
    """Where the first empty line of the body is, or its end."""
    start, end = entity.part.body
    found = _empty_line[entity.eol[-1:]](entity.data, start, end)
    return found.end() if found else end


def _moves_body(entity: MailPart, end: int, edits: Sequence[Edit]) -> bool:
    """Whether the header would end elsewhere, were the edits made up to a place."""
    header = entity.part.header
    text = entity.data[header.start : end]
    at = header.start
    after = splice(text, [Edit(edit.start - at, edit.end - at, edit.new) for edit in edits])
    eol = eol_of(entity.data, 0, len(entity.data))
    return read_header(after, 0, len(after), eol).body != header.body - at
