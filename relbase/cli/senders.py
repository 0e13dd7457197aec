"""Who sent the messages whose links have no base: the table from which a message map is written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer
from relbase.cli import streams
from relbase.cli.help import MAIL, Option
from relbase.cli.streams import excerpt, printable
from relbase.formats import FORMATS
from relbase.notes import Reason
from relbase.opening.door import kind_of_call
from relbase.pipeline import found_called
from relbase.rewriting.items import Status

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relbase.bases.message_urls import MessageUrlSource
    from relbase.call import Call
    from relbase.cli.documents import InputDocument
    from relbase.results import Result

SELECTORS: Final = {"sender": "(no sender)", "list": "(no list)", "message": "(no Message-ID)"}

# How many senders are shown after a run; `relbase links --unresolved-by` shows all.
_SHOWN: Final = 10


def selector(data: bytes, by: str) -> str:
    """Return what a message map selects a message by; the words of `SELECTORS` for none."""
    from relbase.bases import message_urls  # noqa: PLC0415 (start-up time)
    from relbase.mail.emlx import fields_of_mail  # noqa: PLC0415

    read = {
        "sender": message_urls.sender,
        "list": message_urls.list_id,
        "message": message_urls.message_id,
    }[by]
    return read(fields_of_mail(data)) or SELECTORS[by]


def left_in(result: Result) -> int:
    """Return how many references a document has that no base is known for."""
    texts = (note.text for note in result.notes if note.reason is Reason.BASE_NONE)
    return sum(int(text.partition(" ")[0]) for text in texts)  # the note begins with their number


def stated_by(data: bytes, result: Result, urls: MessageUrlSource | None, *, has_url: bool) -> str:
    """Return what gave a message with relative references its base, in words."""
    if left_in(result):
        return "unknown"
    from relbase.mail.bases import BASE_FIELDS  # noqa: PLC0415 (start-up time)
    from relbase.mail.emlx import fields_of_mail  # noqa: PLC0415

    fields = fields_of_mail(data)
    if any(name in BASE_FIELDS for name, _ in fields) and result.base.layer is not Layer.RETRIEVAL:
        return "stated in the message"
    found = None if urls is None else urls.find(fields)
    if found is not None:
        is_mapped = found.source.startswith("message map")
        return "by --message-map" if is_mapped else f"by {found.source}"
    return "by --url" if has_url else "stated in the message"


def table(left: Counter[str], messages: Counter[str]) -> Iterator[str]:
    """Yield a line for each selector, the one with the most references first."""
    for name, count in sorted(left.items(), key=lambda row: (-row[1], row[0])):
        within = _counted(messages[name], "message")
        yield f"{excerpt(name)}\t{_counted(count, 'reference')} in {within}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


class Unresolved:
    """Counts the references of messages that no base is known for."""

    def __init__(self, by: str) -> None:
        self._by = by
        self._left: Counter[str] = Counter()
        self._messages: Counter[str] = Counter()

    def add(self, calls: Iterable[tuple[InputDocument, Call]]) -> None:
        """Count those of the documents of an input."""
        for document, call in calls:
            if not FORMATS[kind_of_call(call, document.data)].messages:
                continue
            references = found_called(document.data, call)
            count = sum(found.status is Status.UNRESOLVED for found in references)
            if count:
                name = selector(document.data, self._by)
                self._left[name] += count
                self._messages[name] += 1

    def show(self) -> None:
        """Print a line for each selector, the one with the most references first."""
        for line in table(self._left, self._messages):
            streams.say(line)


def summed(bases: Counter[str], left: Counter[str], messages: Counter[str]) -> Iterator[str]:
    """Yield what is said after a run: what gave messages their bases, and whose have none."""
    if bases:
        parts = ", ".join(f"{count} {printable(name)}" for name, count in bases.most_common())
        yield f"base URLs of {_counted(bases.total(), 'message')} with relative links: {parts}"
    if not left:
        return
    yield "relative links without a base, by sender (relbase links --unresolved-by lists them):"
    for number, line in enumerate(table(left, messages)):
        if number == _SHOWN:
            yield f"  and {len(left) - _SHOWN} more"
            return
        yield f"  {line}"


def option() -> Option:
    """Return --unresolved-by."""
    import click  # noqa: PLC0415 (only `relbase links` needs it)

    return Option(
        MAIL,
        "--unresolved-by BY",
        "Print only how many links of messages have no base: by sender, list or message, the most "
        "first, as a start for --message-map.",
        type=click.Choice(list(SELECTORS)),
    )
