"""Who sent the messages whose links have no base: the table from which a message map is written."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer
from relbase.cli.streams import counted, excerpt, printable
from relbase.formats import FORMATS
from relbase.opening.door import kind_of_call
from relbase.pipeline import found_called
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Self

    from relbase.bases.headers import MessageUrlSource
    from relbase.bases.layers import Base
    from relbase.call import Call
    from relbase.cli.documents import InputDocument

SELECTORS: Final = {"sender": "(no sender)", "list": "(no list)", "message": "(no Message-ID)"}

# How many senders are shown after a run; `relbase links --unresolved-by` shows all.
_SHOWN: Final = 10


@dataclass(slots=True)
class Unresolved:
    """Counts the references of messages that no base is known for."""

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
        """Yield a line for each selector, the one with the most references first."""
        for name, count in sorted(self.references.items(), key=lambda row: (-row[1], row[0])):
            within = counted(self.messages[name], "message")
            yield f"{excerpt(name)}\t{counted(count, 'reference')} in {within}"


def _selector(data: bytes, by: str) -> str:
    """What a message map selects a message by; the words of `SELECTORS` for none."""
    from relbase.bases import headers  # noqa: PLC0415 (start-up time)
    from relbase.mail.message import fields_of_mail  # noqa: PLC0415

    read = {"sender": headers.sender, "list": headers.list_id, "message": headers.message_id}
    return read[by](fields_of_mail(data)) or SELECTORS[by]


def stated_by(data: bytes, base: Base, urls: MessageUrlSource | None, *, has_url: bool) -> str:
    """Return what gave a message with relative references its base, in words."""
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
