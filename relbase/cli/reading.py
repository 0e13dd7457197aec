"""From an input to calls of the library: its documents, each with what is known of its URL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relbase.call import check
from relbase.cli import compressed
from relbase.cli.documents import documents

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.call import Call
    from relbase.cli.documents import InputDocument
    from relbase.cli.files import OpenInput
    from relbase.cli.options import Settings
    from relbase.cli.origins.finder import Finder, Found


def calls(
    source: OpenInput, settings: Settings, finder: Finder
) -> Iterator[tuple[InputDocument, Call]]:
    """Yield the documents of an input, and the call of the library for each."""
    found = finder.find(source, settings.url)
    source, settings = compressed.opened(source, settings.on_fields(found.fields))
    yield from found_calls(source, settings, finder, found)


def found_calls(
    source: OpenInput, settings: Settings, finder: Finder, found: Found
) -> Iterator[tuple[InputDocument, Call]]:
    """Yield the same where it is known what is found outside of the input."""
    for document in documents(source, settings):
        if document.number:
            # What was found beside a mailbox is the mailbox's URL, not that of its messages.
            call = check(document.data, **document.arguments)
            yield document, call._replace(url=found.url) if found.given else call
        else:
            yield document, finder.call(document.arguments, found, source, document.data)
