"""What other parts of a message have of the links of an HTML part: their names, or the same links.

Neither is rewritten, so one note for each counts them.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import unquote

from relbase.containers.mail import Part
from relbase.expressions import regex
from relbase.mail.documents import open_document
from relbase.mail.parts import MailPart, transfer_view
from relbase.notes import Note, Reason
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Wanted
from relbase.rewriting.outcomes import Reference, Status
from relbase.url.credentials import quoted
from relbase.view.characters import encode_inner

HTML: Final = "text/html"
_ALTERNATIVE: Final = "multipart/alternative"

# As programs make text of HTML: `<x>`, `[x]`, or `x` alone on a line.
_links: Final = regex(
    rb"(?m)<([^<>\s]++)>|\[([^\[\]\s]++)\]|^[ \t]*+([^\s<>\[\]]++)[ \t]*+\r?$"
).finditer

_TEXTS: Final = {
    Reason.PART_NAMED: (
        "has {} that became absolute, and that other parts are named after (the first, {}): "
        "only a cid: URL leads to a part (RFC 2392), but some mail programs go by names"
    ),
    Reason.TEXT_RELATIVE: (
        "has {} that became absolute, and that the plain text beside it still has as they were "
        "(the first, {})"
    ),
}


class Neighbours:
    """What the parts of one message are called, and the plain texts beside its HTML."""

    def __init__(self, data: bytes, parts: Sequence[Part]) -> None:
        ids = (
            data[field.value.start : field.value.end].decode("utf-8", "replace").strip(" \t\r\n<>")
            for part in parts
            for field in part.header.fields
            if field.name == "content-id"
        )
        self._names = frozenset((*ids, *(part.name for part in parts))) - {""}
        self._parts = parts
        self._texts: dict[int, list[Part]] = {}  # by their alternative, until they are read
        for part in parts:
            at = part.parent
            if at is not None and part.type == "text/plain" and parts[at].type == _ALTERNATIVE:
                self._texts.setdefault(at, []).append(part)

    def notes(self, entity: MailPart) -> Iterator[Note]:
        """Return notes on references of an HTML part that became absolute."""
        written = self._written(entity)
        if not (self._names or written):
            return
        budget = Budget(len(entity.data))
        context = entity.context._replace(wanted=Wanted.REFERENCES, budget=budget)
        opened = open_document(entity._replace(context=context))
        counts = dict.fromkeys(_TEXTS, 0)
        firsts: dict[Reason, str] = {}
        for item in opened[1].visit() if opened else ():
            if isinstance(item, Reference) and item.status is Status.REWRITTEN:
                reference = item.reference
                is_named = unquote(reference) in self._names
                is_kept = encode_inner(reference) in written
                for reason in (Reason.PART_NAMED,) * is_named + (Reason.TEXT_RELATIVE,) * is_kept:
                    counts[reason] += 1
                    firsts.setdefault(reason, quoted(reference))
        for reason, first in firsts.items():
            count = f"{counts[reason]} link{'s'[: counts[reason] > 1]}"
            yield entity.note(reason, _TEXTS[reason].format(count, first))

    def _written(self, entity: MailPart) -> set[bytes]:
        """Return what may be links in the plain text that is the alternative of a part."""
        at = entity.part.parent
        while at is not None and self._parts[at].type != _ALTERNATIVE:
            at = self._parts[at].parent
        written: set[bytes] = set()
        for part in self._texts.pop(at, ()) if at is not None else ():
            text = entity._replace(part=part)
            view = transfer_view(part, text.body, text.eol)
            if view is not None:
                written.update(match[match.lastindex or 0] for match in _links(view.inner))
        return written
