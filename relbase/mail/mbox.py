"""The messages of an mbox, each with its own bases; readers of the output find the same ones."""

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain
from typing import Final, NamedTuple

from relbase.containers import mbox
from relbase.edit import Edit, Span, growth, splice
from relbase.expressions import regex
from relbase.mail.allowed_edits import keep_in_lines
from relbase.mail.documents import DecodedBody, decoded_bodies
from relbase.mail.message import message_entities, visit_message
from relbase.notes import Note, Reason
from relbase.results import Entity
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Context, Wanted
from relbase.rewriting.outcomes import Outcome, consume, shift, split_edits_and_rest


class MboxMessage(NamedTuple):
    number: int  # the first one is 1
    before: bytes  # its From_ line; for the first message, also any text before that line
    message: mbox.Message
    start: int  # where its content begins in the file
    lines: int  # how many lines of the file precede its content


def messages(chunks: Iterable[bytes]) -> Iterator[MboxMessage | bytes]:
    number = lines = 0
    before = b""
    for message in mbox.split(chunks):
        before += message.separator or message.content
        if message.separator is not None:
            number += 1
            lines += before.count(b"\n")
            start = message.offset + len(message.separator)
            yield MboxMessage(number, before, message, start, lines)
            lines += message.content.count(b"\n") + message.ending.count(b"\n")
            before = b""
    if number == 0:
        yield before


def _with_own_length(message: mbox.Message, edits: Sequence[Edit]) -> tuple[list[Edit], list[Note]]:
    notes: list[Note] = []
    if (at := message.doubtful) is not None:
        notes.append(Note(Reason.MBOX_SEPARATOR, "", Span(at, at + len(_FROM)), _DOUBTFUL))
    if message.length is not None:
        # Edit the Content-Length even if, for readers of mail, the header ends before it.
        start, end = message.length
        length = int(message.content[start:end])
        body = len(message.content) - length
        grown = growth(edit for edit in edits if edit.start >= body)
        if grown and all(edit.start != start for edit in edits):
            return sorted([*edits, Edit(start, end, b"%d" % (length + grown))]), notes
    elif edits and b"\n" + _FROM in message.content:
        written = splice(message.content, edits)
        if sum(1 for _ in mbox.split([message.separator or b"", written])) > 1:
            notes.append(Note(Reason.MBOX_SEPARATOR, "", Span(0, len(message.content)), _ADDED))
            return [], notes
    return list(edits), notes


_FROM: Final = b"From "
_DOUBTFUL: Final = (
    "this line looks like the beginning of a message, but no empty line precedes it: read as text"
)
_ADDED: Final = "a line would become the beginning of a message: its links are left unchanged"


class Lengths:
    """Refuses edits that would make a wrong Content-Length right (see `containers.mbox`)."""

    def __init__(self) -> None:
        self._grown = 0  # how many bytes longer than the input the output is so far
        self._ends: list[int] = []  # where in the output wrong lengths end, as a heap

    def concern(self, member: MboxMessage) -> bool:
        """Return whether `with_lengths` may refuse edits of a message, or has to see it."""
        message = member.message
        # No edit inserts `From `.
        may_drop = message.length is None and b"\n" + _FROM in message.content
        return may_drop or bool(self._ends) or message.unproven is not None

    def with_lengths(
        self, member: MboxMessage, changes: Sequence[Edit]
    ) -> tuple[list[Edit], list[Note]]:
        message = member.message
        edits, notes = _with_own_length(message, changes)
        unedited = member.start + self._grown + len(message.content) + len(message.ending)
        grown = growth(edits)
        end = unedited + grown
        near = []  # the wrong lengths that end right at the end of this message
        while self._ends and self._ends[0] <= end:
            at = heappop(self._ends)
            if at >= end - _LINE_ENDS:
                near.append(at)
        text = splice(message.content, edits) + message.ending if edits and near else b""
        if text and any(_line_ends(text, len(text) - (end - at)) for at in near):
            notes.append(Note(Reason.FIELD_STALE, "", Span(0, len(message.content)), _JOINED))
            edits, grown = [], 0
            for at in near:
                if at > unedited:
                    heappush(self._ends, at)
        if (promise := message.unproven) is not None:
            body = promise.body + growth(edit for edit in edits if edit.start < promise.body)
            heappush(self._ends, member.start + self._grown + body + promise.length)
        self._grown += grown
        return edits, notes


_JOINED: Final = (
    "links left unchanged: with them, the wrong Content-Length of an earlier message would "
    "become right, and both messages would be read as one"
)
# At most two line ends separate the end of a length from the next message.
_LINE_ENDS: Final = len(b"\r\n\r\n")
_line_ends: Final = regex(rb"(?:\r?\n){0,2}\Z").match


def is_updated(message: mbox.Message, item: Outcome) -> bool:
    """Return whether this is a wrong note on a stale length: `with_lengths` updates that length."""
    if not isinstance(item, Note) or item.reason is not Reason.FIELD_STALE:
        return False
    return item.span == message.length


def visit_mbox(data: bytes, context: Context) -> Iterator[Outcome]:
    """The items of all messages of an mbox; part "3/1.2" is in the third message."""
    lengths = Lengths()
    for member in messages([data]):
        if isinstance(member, bytes):
            if member.strip():
                yield Note(Reason.KIND_UNSUPPORTED, context.part, None, _NO_MESSAGE)
            return
        budget = Budget(len(member.message.content))
        inside = context._replace(part=str(member.number), budget=budget)
        if lengths.concern(member):
            inside = inside.with_edits()
        items = visit_message(member.message.content, inside)
        if member.message.length is not None:
            items = (item for item in items if not is_updated(member.message, item))
        at_once = inside.wanted is not Wanted.ALL
        findings, edits = yield from split_edits_and_rest(items, member.start, at_once=at_once)
        settled, notes = lengths.with_lengths(member, edits)
        if context.budget is not None and settled:
            context.budget.rewritten += budget.rewritten
        if budget.refused:
            notes.append(budget.note(inside.part))
        if edits and not settled:
            findings = keep_in_lines(findings, [Span(0, len(member.message.content))])
        del edits  # so that `consume` frees each
        made: Iterator[Edit] = consume(settled)
        if notes:
            findings = [*findings, *(note._replace(part=inside.part) for note in notes)]
        yield from shift(chain(findings, made), member.start)


_NO_MESSAGE: Final = "no message begins in this mbox: left unchanged"


def mbox_entities(data: bytes, context: Context) -> Iterator[Entity]:
    for content, start, inside in _contents(data, context):
        yield from message_entities(content, inside, start)


def decoded_in_mbox(data: bytes, context: Context) -> Iterator[DecodedBody]:
    for content, start, inside in _contents(data, context):
        yield from decoded_bodies(content, start, inside)


def _contents(data: bytes, context: Context) -> Iterator[tuple[bytes, int, Context]]:
    for member in messages([data]):
        if not isinstance(member, bytes):
            yield member.message.content, member.start, context.with_fields(part=str(member.number))
