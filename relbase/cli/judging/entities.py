"""Judges the links of messages, by the names of their parts, and of web archives, by target URIs.

What a page loads (a picture, a sheet, a frame) from a host of which other parts or records are
there was meant to be there, too. A hyperlink to a page that is not there leads outside.
"""

from __future__ import annotations

import re
from binascii import a2b_qp
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from relbase.bases.headers import message_id
from relbase.cli import files
from relbase.cli.documents import InputDocument, before_part
from relbase.cli.judging.verdicts import (
    INSIDE,
    MISSING,
    OUTSIDE,
    UNKNOWN,
    Ids,
    Judgement,
    Known,
    address_of,
    ids_of,
    inside,
    is_of_web,
    is_own,
    key_of,
)
from relbase.containers.fields import text_of
from relbase.containers.http import final_head
from relbase.containers.mail import BASE64, QUOTED_PRINTABLE, Part, walk
from relbase.expressions import expression
from relbase.formats.recognition import kind_of_type
from relbase.mail.message import fields_of_mail
from relbase.mail.parts import line_end, transfer_view
from relbase.session import run
from relbase.url import rfc3986
from relbase.url.profiles import Profile
from relbase.url.resolver import Resolver
from relbase.warc.page import file_beside

if TYPE_CHECKING:
    from collections.abc import Hashable

    from relbase.cli.files import OpenInput
    from relbase.cli.judging.verdicts import Address, ReadIds
    from relbase.containers.saved import Saved
    from relbase.containers.warc import Record
    from relbase.results import Link
    from relbase.view.runs import View
    from relbase.warc import Page
    from relbase.warc.rows import LinkRow

LOCATION: Final = "content-location"
_located: Final = expression(rb"^content-location[ \t]*:", re.IGNORECASE | re.MULTILINE)
_LOADING: Final = frozenset(
    ("src", "srcset", "imagesrcset", "poster", "background", "data", "lowsrc", "dynsrc")
)
_LOADED: Final = frozenset(("image", "use", "feimage", "script"))
# What a `<link>` loads.
_loads: Final = expression(
    rb"<link\b[^>]*?\brel\s*+=\s*+[\"']?[^\"'>]*?(?:stylesheet|icon|preload)",
    re.IGNORECASE,
)
_link: Final = expression(
    rb"""(<link\b[^>]*?\bhref\s*=\s*(?:"([^">]*+)"|'([^'>]*+)'|([^\s"'>]*+))[^>]*+)""",
    re.IGNORECASE,
)
_TAG: Final = 1 << 12  # bytes


def loads(link: Link | LinkRow, data: bytes, at: int, *, is_quoted: bool = False) -> bool:
    """Return whether a page loads what a link leads to; `at` is where it is in the data."""
    if link.element == "link":
        start, end = data.rfind(b"<", max(0, at - _TAG), at), data.find(b">", at, at + _TAG)
        tag = a2b_qp(data[start:end]) if is_quoted else data[start:end]
        return start >= 0 and _loads.match(tag) is not None
    is_sheet = link.syntax == "css"
    return is_sheet or link.attribute in _LOADING or link.element in _LOADED


class MessageParts:
    """The parts of a message by their names."""

    def __init__(self, document: InputDocument) -> None:
        self._document, data = document, document.data
        self._known = Known()
        self._parts: dict[str, Part] = {}
        self._named: dict[str, str] = {}  # numbers by Content-ID
        self._located: dict[str, str] = {}  # numbers by the URL of Content-Location
        self._loaded: dict[str, set[bytes]] = {}  # what `<link>`s load, in parts in base64
        self._hosts: dict[str, set[str]] = {}  # numbers by the host of that; file: is one, too
        for part in walk(data):
            self._parts[part.number] = part
            for field in part.header.fields:
                if field.name == "content-id":
                    self._named.setdefault(text_of(data, field).strip(" <>"), part.number)
        for link in run.links(document.given) if _located.search(data) else ():
            if link.attribute == LOCATION:
                self._located.setdefault(_normalised(link.url or link.reference), link.part)
                if host := _host_of(link.url or ""):
                    self._hosts.setdefault(host, set()).add(link.part)

    def judge(self, link: Link) -> Judgement:
        number = self._document.number
        own = link.part.removeprefix(number).removeprefix("/")
        url = link.reference if link.url is None else link.url
        scheme, _, rest = url.partition(":")
        target, _, fragment = url.partition("#")
        part = self._located.get(_normalised(target))  # Chromium's sheets have a `cid:` there
        if part is None and scheme.lower() in {"cid", "mid"}:
            return self._of_name(scheme.lower(), unquote(rest), own)
        if part is None and is_own(link.reference, link.base.layer.value):
            part = own
        if part is not None:
            page = f"part {part}"
            return inside(self._known, page, self._shown(part), fragment, partial(self._ids, part))
        if link.url is None and is_of_web(url):
            return UNKNOWN
        others = self._hosts.get(_host_of(url), set()) - {own}
        return Judgement(MISSING) if others and self._loads(link, own) else OUTSIDE

    def _loads(self, link: Link, own: str) -> bool:
        part = self._parts.get(own)
        if link.element != "link" or part is None or part.encoding != BASE64:
            at = link.span.start - self._document.start
            is_quoted = part is not None and part.encoding == QUOTED_PRINTABLE
            return loads(link, self._document.data, at, is_quoted=is_quoted)
        if own not in self._loaded:
            view = self._view(part)
            tags = _link.findall(view.inner) if view else ()
            loaded = (b"".join(href) for tag, *href in tags if _loads.match(tag))
            self._loaded[own] = set(loaded)
        return link.reference.encode(errors="replace") in self._loaded[own]

    def _of_name(self, scheme: str, name: str, own: str) -> Judgement:
        """Judge a URL of a part or a message (RFC 2392)."""
        if scheme == "mid":
            message, _, name = name.partition("/")
            if f"<{message}>" != message_id(fields_of_mail(self._document.data)):
                return OUTSIDE  # another message
        part = self._named.get(name) if name else ""
        if part is None:
            # The parts of a message in base64 are not among those of this one.
            return UNKNOWN if "/" in own else Judgement(MISSING)
        return Judgement(INSIDE, self._shown(part))

    def _shown(self, part: str) -> str:
        number = self._document.number
        whole = "/".join(filter(None, (number, part)))
        return before_part(whole, number).removesuffix(": ") or "the message"

    def _ids(self, number: str, is_whole: bool) -> Ids:  # noqa: FBT001 (as `ReadIds`)
        part = self._parts.get(number)
        kind = kind_of_type(part.type) if part else None
        if part is None or kind is None:
            return None, True
        view = self._view(part)
        return (None, True) if view is None else ids_of(view.inner, kind, is_whole)

    def _view(self, part: Part) -> View | None:
        data = self._document.data
        return transfer_view(part, data[part.body.start : part.body.end], line_end(data))


def _normalised(url: str) -> str:
    """Return a URL as browsers compare them, with http for https."""
    with suppress(ValueError):
        url = _browser.resolve(url)
    return f"http{url[5:]}" if url.startswith("https:") else url


_browser: Final = Resolver("", Profile.WHATWG)


def _host_of(url: str) -> str:
    """Return the host of a URL, or what stands for it where programs save parts without one."""
    scheme, authority, path, *_ = rfc3986.split(url)
    if address := address_of(url):
        return address.host
    return f"{scheme}://{authority or ''}".lower() if scheme and path.startswith("/") else ""


class Records:
    """The records of an archive, or the documents of a file that holds pages, by their URLs."""

    def __init__(
        self, source: OpenInput, *, is_crawl: bool, is_zip: bool, has_loaded: bool
    ) -> None:
        if not files.is_read_again(source):
            raise files.InputError("--judge reads an archive twice: give a file, not a pipe")
        self._source, self._is_crawl, self._known = source, is_crawl, Known()
        self._is_zip, self._has_loaded = is_zip, has_loaded
        self._ends: list[int] | None = None  # of the archives in a ZIP file

    def add(self, record: Record) -> bool:
        """Remember a record, unless it is that of a failure; it is not read any further."""
        head, _ = final_head(record.block or b"")
        if head is None or (head.status or 0) < _FAILED:
            self._known.add(record.url, str(record.offset))
        return True

    def add_saved(self, saved: Saved) -> None:
        """Remember a document with its ids, unless its request failed."""
        if (saved.status or 0) >= _FAILED:
            return
        self._known.add(saved.url, str(saved.offset))
        kind, address = kind_of_type(saved.type), address_of(saved.url)
        if kind is not None and address is not None and saved.body:
            ids, _ = ids_of(bytes(saved.body), kind, True)
            if ids is not None:
                self._known.join(self._page(saved.offset, address), ids)

    def judge(self, page: Page, link: LinkRow) -> Judgement:
        url = link.reference if link.url is None else link.url
        fragment, address, own = url.partition("#")[2], address_of(url), address_of(page.url)
        if is_own(link.reference, link.layer):
            return self._inside(page.offset, own, fragment, partial(_ids_of, page))
        if place := self._known.find(address, exact=True) if address else "":
            read = partial(self._ids, int(place), address)
            return self._inside(int(place), address, fragment, read)
        if link.url is None and is_of_web(url):
            file = file_beside(page, link.reference) or ""
            if file in page.files:
                return Judgement(INSIDE, file)
            is_missing = file and loads(link, page.body, link.start)
            return Judgement(MISSING, file) if is_missing else UNKNOWN
        if address is None or link.element == "base":
            return OUTSIDE
        # A crawl should have the other pages of the site; a page that was saved need not.
        is_of_site = self._is_crawl and own is not None and own.host == address.host
        is_missing = is_of_site or (
            self._has_loaded
            and self._known.has_host(address.host)
            and loads(link, page.body, link.start)
        )
        return Judgement(MISSING) if is_missing else OUTSIDE

    def _inside(
        self, offset: int, address: Address | None, fragment: str, read: ReadIds
    ) -> Judgement:
        target = f"{self._source.name}:{offset}"
        return inside(self._known, self._page(offset, address), target, fragment, read)

    def _page(self, offset: int, address: Address | None) -> Hashable:
        """What has ids: a record of a crawl, or all captures of a URL in a file."""
        key = address and key_of(address, address.query)
        return (offset, key) if self._is_crawl or key is None else key

    def _ids(self, offset: int, address: Address | None, is_whole: bool) -> Ids:  # noqa: FBT001
        """The ids of another record, if it is the first one at its offset."""
        if not self._is_crawl:
            return None, True  # if it has any, they are known
        from relbase import warc
        from relbase.warc.work import archive_ends, byte_range

        with files.seekable(self._source) as file:
            if self._ends is None:
                self._ends = archive_ends(file) if self._is_zip else []
            end = next((end for end in self._ends if end > offset), None)
            page = next(warc.pages(byte_range(file, offset, end)), None)
        if not isinstance(page, warc.Page) or address_of(page.url) != address:
            return None, True
        return _ids_of(page, is_whole)


def _ids_of(page: Page, is_whole: bool) -> Ids:  # noqa: FBT001 (as `ReadIds`)
    kind = kind_of_type(page.content_type)
    if kind is None or not page.succeeded:  # what a redirect leads to may have the id
        return None, True
    return ids_of(page.body, kind, is_whole)


_FAILED: Final = 400  # statuses of errors begin here (RFC 9110 §15)
