"""Which edits mail allows in the lines of a message, and what becomes of the others."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, TypeAlias

from relbase.containers.fields import read_header
from relbase.containers.mail import BASE64
from relbase.edit import Edit, Span, splice
from relbase.expressions import regex
from relbase.mail.parts import MailPart, called
from relbase.notes import Note, Reason
from relbase.rewriting.outcomes import Outcome, Reference, Status, consume, split_edits_and_rest

# RFC 5322 §2.1.1: a line has at most 998 octets without its line end.
MAX_LINE: Final = 998


# What a rule makes of the edits of a text: those that mail allows, the lines of the others, notes.
Allowed: TypeAlias = tuple[list[Edit], list[Span], list[Note]]
Rule: TypeAlias = Callable[[MailPart, list[Edit]], Allowed]


def only_allowed(
    entity: MailPart, items: Iterable[Outcome], rules: Sequence[Rule]
) -> Iterator[Outcome]:
    """The items of a header or body, with only edits that all rules allow."""
    findings, edits = yield from split_edits_and_rest(
        items, at_once=entity.context.wanted.edits_only
    )
    for rule in rules if edits else ():
        edits, lines, notes = rule(entity, edits)
        findings = chain(keep_in_lines(findings, lines) if lines else findings, notes)
    yield from findings
    yield from consume(edits)


def in_lines(within: Span, entity: MailPart, edits: list[Edit]) -> Allowed:
    """Of a header, or of a body that is not encoded: what makes no line a delimiter."""
    kept: list[Edit] = []
    notes: list[Note] = []
    for changes, note in _judged(entity, within, consume(edits)):
        kept += () if note and note.reason is Reason.MIME_BOUNDARY else changes
        changes.clear()  # a line may have millions
        notes += (note,) if note else ()
    lines = [note.span for note in notes if note.reason is Reason.MIME_BOUNDARY and note.span]
    return kept, lines, notes


def refuses_any(entity: MailPart, edits: Iterable[Edit]) -> bool:
    judged = _judged(entity, entity.part.body, edits)
    return any(note is not None and note.reason is Reason.MIME_BOUNDARY for _, note in judged)


def _judged(
    entity: MailPart, within: Span, edits: Iterable[Edit]
) -> Iterator[tuple[list[Edit], Note | None]]:
    """Yield the edits of each line, with a note if they make it a delimiter or too long."""
    data, part = entity.data, entity.part
    number, name = entity.context.part, called(part)
    eol = entity.eol[-1:]  # lines may end with CR LF and LF in the same message
    delimiters = [b"--" + boundary for boundary in part.boundaries]
    for start, end, changes in _lines(data, within, edits, eol):
        before = data[start:end]
        is_long = _longest(before, eol) > MAX_LINE
        if is_long and not delimiters:
            yield changes, None
            continue
        after = splice(before, changes, start)
        if _starts(after, delimiters, eol) - _starts(before, delimiters, eol):
            text = f"{name}: {_DELIMITER}"
            yield changes, Note(Reason.MIME_BOUNDARY, number, Span(start, end), text)
        elif not is_long and part.encoding != "binary" and _longest(after, eol) > MAX_LINE:
            text = f"{name}: the line grows beyond {MAX_LINE} octets (RFC 5322 §2.1.1)"
            yield changes, Note(Reason.LINE_LENGTH, number, Span(start, end), text)
        else:
            yield changes, None


_DELIMITER: Final = "the line would become a delimiter of a multipart: its links are left unchanged"


def _lines(
    data: bytes, within: Span, edits: Iterable[Edit], eol: bytes
) -> Iterator[tuple[int, int, list[Edit]]]:
    """Yield each edited line (or lines that edits join) with its line end, and its edits."""
    start = end = within.start
    changes: list[Edit] = []
    for edit in edits:
        if edit.start >= end and end < within.end:
            if changes:
                yield start, end, changes
            start = end = data.rfind(eol, end, edit.start) + 1 or end
            changes = []
        changes.append(edit)
        if edit.end >= end:
            end = data.find(eol, edit.end, within.end) + 1 or within.end
    if changes:
        yield start, end, changes


def _starts(text: bytes, delimiters: Sequence[bytes], eol: bytes) -> set[bytes]:
    """The delimiters that lines begin with, since some readers compare only beginnings."""
    if b"--" not in text:
        return set()
    lines = [line for line in text.split(eol) if line.startswith(b"--")]
    return {delimiter for delimiter in delimiters for line in lines if line.startswith(delimiter)}


def _longest(text: bytes, eol: bytes) -> int:
    if len(text) <= MAX_LINE:
        return 0
    return max(len(line.rstrip(b"\r")) for line in text.split(eol))


def keep_in_lines(
    findings: Iterable[Reference | Note], lines: Sequence[Span]
) -> Iterator[Reference | Note]:
    starts = [line.start for line in lines]
    for item in findings:
        if isinstance(item, Reference) and item.status is Status.REWRITTEN:
            index = bisect_right(starts, item.span.start) - 1
            if index >= 0 and item.span.start < lines[index].end:
                yield item._replace(status=Status.KEPT)
                continue
        yield item


def in_both_readings(entity: MailPart, edits: list[Edit]) -> Allowed:
    """Of a body that only some programs decode: what all show alike."""
    part, data = entity.part, entity.data
    kept: list[Edit] = []
    lines: list[Span] = []
    for edit in edits:
        # In quoted-printable, an edit that adds no escape and no line end looks alike to all.
        escapes = Counter(_escapes(edit.new)) - Counter(_escapes(data, edit.start, edit.end))
        if part.encoding != BASE64 and not (escapes or re.search(rb"[\r\n]", edit.new)):
            kept.append(edit)
        else:
            start, end, _ = next(_lines(data, part.body, [edit], entity.eol[-1:]))
            lines.append(Span(start, end))
    text = f"states its encoding as {part.disputed!a}, which only some mail programs decode"
    left = f": the links in {len(lines)} of its lines stay as they are" if lines else ""
    notes = [entity.note(Reason.ENCODING_DISPUTED, f"{text}{left}")] if edits else []
    return kept, lines, notes


_escapes: Final = regex(rb"=[^=]{0,2}").findall


def in_header(entity: MailPart, edits: list[Edit]) -> Allowed:
    """Of a part that is not apart: what makes none of its first lines a field (threat N5).

    If no empty line ends a header, the first line that is not a field does. An edit may put a colon
    into that line. All readers would then take it for a field, and the header would go on.
    """
    part, eol = entity.part, entity.eol[-1:]
    empty = _EMPTY_LINE[eol].finditer(entity.data, *part.body)
    end = next((line.end() for line in empty if _stays(line, edits)), part.body.end)
    first = [edit for edit in edits if edit.start < end]
    at = part.header.start
    after = splice(entity.data[at:end], first, at)
    if not first or read_header(after, 0, len(after), eol).body == part.header.body - at:
        return edits, [], []
    lines = Span(part.body.start, end)
    return edits[len(first) :], [lines], [entity.note(Reason.MIME_HEADER, _NO_EMPTY_LINE, lines)]


_NO_EMPTY_LINE: Final = (
    "has no empty line after its header, and a line of it would become a field: the links up to "
    "the next empty line are left unchanged"
)
_EMPTY_LINE: Final = {b"\n": regex(rb"\n\r*\n"), b"\r": regex(rb"\r\r")}


def _stays(line: re.Match[bytes], edits: Sequence[Edit]) -> bool:
    """Whether an empty line is outside all edits, since one inside an edited value disappears."""
    at = bisect_right(edits, line.start(), key=lambda edit: edit.end)
    return at == len(edits) or edits[at].start >= line.end()
