"""Files that hold pages, as a HAR or an export of Evernote, read like those of a WARC."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, NamedTuple

from relbase.containers import enex, har, maff, webarchive
from relbase.containers.content_type import media_type
from relbase.containers.saved import Saved
from relbase.containers.warc import Fault, Trouble
from relbase.formats.recognition import may_hold_references, recognized
from relbase.formats.rows import FORMATS
from relbase.warc.page import Page


class Holder(NamedTuple):
    """A kind of file that holds pages."""

    begins: Callable[[bytes], object]
    saved: Callable[[Any], Iterator[Saved | Fault]]  # takes the bytes of a file
    is_streamed: bool = False  # takes them in pieces
    has_loaded: bool = True  # holds what its pages load, with URLs


# By the values of --kind, which are also suffixes.
HOLDERS: Final[dict[str, Holder]] = {
    "webarchive": Holder(webarchive.begins.match, webarchive.saved),
    "har": Holder(har.begins.match, har.saved),
    "maff": Holder(maff.begins, maff.saved, has_loaded=False),
    "enex": Holder(enex.begins.match, enex.saved, is_streamed=True, has_loaded=False),
}


def pages_in(holder: Holder, content: bytes | Iterable[bytes]) -> Iterator[Page | Fault]:
    """Yield the documents in a file that relbase reads, and what cannot be read as faults."""
    for saved in holder.saved(content):
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
                page = Page(*place, fields, body, "", (), redirects=saved.redirects)
                yield page._replace(name=saved.name, files=saved.files)


def is_html(page: Page) -> bool:
    """Return whether a page is one in a browser: HTML or XHTML."""
    kind, _ = recognized(None, page.content_type, "", page.body)
    is_saved = FORMATS[kind].marks is not None  # what programs save as a page
    return is_saved or media_type(page.content_type) == "application/xhtml+xml"
