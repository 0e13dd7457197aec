"""What became of an input, whose documents are done one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase.cli import remarks, senders
from relbase.cli.files import shown_name
from relbase.cli.findings import UNCHECKED
from relbase.cli.streams import excerpt, printable
from relbase.notes import Reason

if TYPE_CHECKING:
    from relbase.bases.message_urls import MessageUrlSource
    from relbase.cli.documents import InputDocument
    from relbase.cli.jobs import Done
    from relbase.results import Result


def add(
    done: Done,
    document: InputDocument,
    result: Result,
    *,
    has_url: bool,
    several: bool,
    message_urls: MessageUrlSource | None = None,
) -> None:
    """Count a document that is done, and collect what is remarked on it."""
    done.changed += result.changed
    done.places += len(result.edits)
    done.notes.update(note.reason.value for note in result.notes)
    is_left = any(note.reason is Reason.BASE_NONE for note in result.notes)
    done.unknown += is_left
    done.unchecked += any(note.reason in UNCHECKED for note in result.notes)
    notes = result.notes
    if document.number:
        # Of the messages of a mailbox that is reported once, with the first of them.
        notes = tuple(note for note in notes if note.reason is not Reason.BASE_NONE)
        if is_left:
            done.first_unknown = done.first_unknown or document.number
    if (result.changed or is_left) and (message_urls is not None or (document.number and has_url)):
        stated = senders.stated_by(document.data, result, message_urls, has_url=has_url)
        done.on_given_url += bool(document.number) and stated == "by --url"
        if message_urls is not None:
            done.bases[stated] += 1
        if is_left and message_urls is not None:
            sender = senders.selector(document.data, "sender")
            done.left[sender] += senders.left_in(result)
            done.senders[sender] += 1
    shown = shown_name(done.job.input.name)
    remarks.collect(shown, document, notes, done.warned, several=several)


def close(done: Done, *, several: bool) -> None:
    """Sum up what was done, and collect what is remarked on the input as a whole."""
    done.text = _text(done)
    if not done.first_unknown:
        return
    messages = f"message {done.first_unknown}"
    if done.unknown > 1:
        messages = f"{done.unknown} messages, the first is {messages}"
    text = f"relative links left unchanged in {messages}"
    advice = remarks.advice("message/rfc822", several=several)
    if done.unknown > 1:
        advice += "; --message-map gives one for each sender"
    reason = Reason.BASE_NONE.value
    shown = shown_name(done.job.input.name)
    done.warned.add(reason, f"{shown}: warning: {text}: {advice} [{reason}]")


def _text(done: Done) -> str:
    if not done.places:
        return "no link changed"
    text = f"links made absolute in {counted(done.places, 'place')}"
    if done.source:
        return f"{text}, on {excerpt(done.url)} ({printable(done.source)})"
    shared = f", {done.on_given_url} of them on the given URL" if done.on_given_url else ""
    return f"{text} of {counted(done.changed, 'message')}{shared}"


def counted(count: int, what: str) -> str:
    """Return a number of things in words."""
    return f"{count} {what}{'' if count == 1 else 's'}"
