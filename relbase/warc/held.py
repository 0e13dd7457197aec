"""Files that hold pages: web archives of Safari and HAR, read as pages like those of a WARC."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from relbase.containers import har, webarchive
from relbase.containers.content_type import media_type
from relbase.containers.saved import Saved
from relbase.containers.warc import Fault, Trouble
from relbase.formats.recognition import may_hold_references, recognized
from relbase.formats.rows import FORMATS
from relbase.warc.page import Page


class Holder(NamedTuple):
    """A kind of file that holds pages."""

    begins: Callable[[bytes], object]
    saved: Callable[[bytes], Iterator[Saved | Fault]]


# By the values of --kind, which are also suffixes.
HOLDERS: Final[dict[str, Holder]] = {
    "webarchive": Holder(webarchive.begins.match, webarchive.saved),
    "har": Holder(har.begins.match, har.saved),
}


def pages_in(holder: Holder, data: bytes) -> Iterator[Page | Fault]:
    """Yield the documents in a file that relbase reads, and what cannot be read as faults."""
    for saved in holder.saved(data):
        if isinstance(saved, Fault):
            yield saved
        # So that most pictures are not copied.
        elif (saved.status or 200) // 100 != 2 or not may_hold_references(saved.type):  # noqa: PLR2004
            continue
        elif saved.fault:
            yield Fault(saved.offset, "", saved.url, Trouble.UNDECODABLE, saved.fault)
        else:
            body = bytes(saved.body)
            if may_hold_references(saved.type, body):
                fields = (("content-type", saved.type), *saved.fields)
                place = saved.offset, "", saved.url, saved.date, saved.status
                yield Page(*place, fields, body, "", (), redirects=saved.redirects)


def is_html(page: Page) -> bool:
    """Return whether a page is one in a browser: HTML or XHTML."""
    kind, _ = recognized(None, page.content_type, "", page.body)
    is_saved = FORMATS[kind].marks is not None  # what programs save as a page
    return is_saved or media_type(page.content_type) == "application/xhtml+xml"
