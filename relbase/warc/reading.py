"""Reads the pages of a web archive: takes its bytes, yields decoded documents."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from io import TextIOBase
from itertools import chain, islice
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.compression.codings import decoded
from relbase.containers.content_type import effective_type
from relbase.containers.fields import text_of
from relbase.containers.http import Head, final_head, is_partial
from relbase.containers.warc import Fault, Record, Trouble, records
from relbase.expressions import regex
from relbase.formats.recognition import kind_of_type, may_hold_references

if TYPE_CHECKING:
    Again = Callable[[int], Iterable[bytes]]
    Fields = tuple[tuple[str, str], ...]

# How many records of a member are searched for the payload of a revisit. A well-made archive has
# one record per member.
_LOOKED_AT: Final = 64

_TYPES: Final = frozenset(("response", "resource", "conversion", "revisit"))
_OVERRULED: Final = frozenset(("base", "content-base"))
_NOT_MODIFIED: Final = 304


class Page(NamedTuple):
    """A document of an archive.

    Args:
        offset: Where its record (if compressed, its member) begins in the archive.
        record_id: Id of the record, "" if it has none.
        url: The URL that it was retrieved from, as the record says, or "".
        date: Date of the record.
        status: Status of the HTTP response, or None.
        fields: HTTP header fields, names in lower case; for a resource its Content-Type.
        body: The body with its transfer and content codings removed.
        truncated: Why part of it is missing, as in WARC-Truncated; "" if it is complete.
        remarks: What is wrong with the record, as sentences for people.
        payload: "truncated", "recoded" if its codings or checksums are not as stated, else "".
    """

    offset: int
    record_id: str
    url: str
    date: str
    status: int | None
    fields: tuple[tuple[str, str], ...]
    body: bytes
    truncated: str
    remarks: tuple[str, ...]
    payload: str = ""

    @property
    def content_type(self) -> str:
        """The media type as stated, with its parameters; "" if none is stated."""
        return effective_type(value for name, value in self.fields if name == "content-type")

    @property
    def succeeded(self) -> bool:
        """Whether it is a response of 2xx, or no response."""
        return self.status is None or self.status // 100 == 2  # noqa: PLR2004 (RFC 9110 §15.3)


def pages(
    chunks: Iterable[bytes],
    again: Again | None = None,
    *,
    skip: Callable[[Record], bool] = lambda _: False,
) -> Iterator[Page | Fault]:
    r"""Return an iterator over the pages of an archive, with a `Fault` for each unreadable record.

    Args:
        chunks: A WARC or ARC file, compressed or not: open in binary mode, or in pieces of bytes.
        again: A function that reads the archive once more, from an offset, for the payloads of
            revisits. Without it they are faults.
        skip: A function that says whether to skip a record, called before it is read.

    >>> block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>"
    >>> head = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\r\n"
    >>> record = head + b"Content-Length: %d\r\n\r\n%b\r\n\r\n" % (len(block), block)
    >>> [(page.url, page.status, page.body) for page in pages([record])]
    [('http://h/', 200, b'<p>')]
    """
    given: object = chunks
    if isinstance(given, (str, bytes, TextIOBase)) or not isinstance(given, Iterable):
        fix = f"not {type(chunks).__name__}: give open(path, 'rb') or [data]"
        raise TypeError(f"chunks must be a binary file or an iterable of bytes, {fix}")
    places = Places()
    return chain.from_iterable(
        _pages(record, places, again, skip) for record in records(chunks, _wanted)
    )


def _pages(
    record: Record | Fault, places: Places, again: Again | None, skip: Callable[[Record], bool]
) -> Iterator[Page | Fault]:
    """The page of a record, or a fault; nothing if the record cannot hold a page."""
    if isinstance(record, Fault):
        yield record._replace(salvaged=None)
        if record.salvaged is None or _type_of(record.salvaged) == "revisit":
            return
        record = record.salvaged
    if not _type_of(record):
        yield record.fault(Trouble.DAMAGED, "it has no WARC-Type: not read")
    elif record.block is None:
        return
    elif _type_of(record) == "revisit":
        if not skip(record):
            yield from _revisit(record, places, again)
    else:
        is_skipped = skip(record)
        page = None if is_skipped else _page(record)
        if is_skipped or page is not None:
            unread = _UNREAD if isinstance(page, Fault) else 0
            for name in _names(record):
                places.add(name, record.offset | unread)
        if page is not None:
            yield page


def _type_of(record: Record) -> str:
    """The type of a record in lower case, since the case does not matter (RFC 2616 §2.1)."""
    return record.get("warc-type").lower()


def _wanted(record: Record) -> bool:
    type_ = _type_of(record)
    return type_ == "revisit" or (
        type_ in _TYPES and may_hold_references(record.get("content-type"))
    )


def _page(record: Record) -> Page | Fault | None:
    message = _message(record)
    if isinstance(message, Fault):
        return message
    stated = effective_type(message.values("content-type"))
    if not may_hold_references(stated):
        return None
    if record.get("warc-segment-number"):
        return record.fault(Trouble.SEGMENTED, "the record is one of several segments: not joined")
    if is_partial(message.status, message.values("content-range")):
        return record.fault(Trouble.PARTIAL, "the response is a range of a document: not read")
    coded = message.values("transfer-encoding"), message.values("content-encoding")
    try:
        body = decoded(message.body, *coded, salvage=True)
    except MemoryError:
        return record.fault(Trouble.TOO_LARGE, "the page does not fit into memory")
    if body.data is None:
        # If no type says that it is a document, a body that is neither coded nor text is no loss.
        is_lost = kind_of_type(stated) is not None or not body.is_mislabelled
        return record.fault(Trouble.UNDECODABLE, body.fault) if is_lost else None
    if not may_hold_references(stated, body.data):
        return None
    fault = body.fault or ("" if body.remarks else _missing_of(message))
    truncated = record.get("warc-truncated") or ("unspecified" if fault else "")
    missing = [f"the page was not stored to its end: {truncated}"] if truncated else []
    if fault:
        missing = [f"the page is incomplete, {fault}"]
    return Page(
        record.offset,
        record.get("warc-record-id"),
        record.url,
        record.get("warc-date"),
        message.status,
        message.fields,
        body.data,
        truncated,
        (*filter(None, (record.remark,)), *message.remarks, *body.remarks, *missing),
        "truncated" if truncated else "recoded" if body.remarks or record.remark else "",
    )


class _Message(NamedTuple):
    """The HTTP response in a record, or else its block, with the type of the record."""

    status: int | None
    fields: Fields
    body: bytes
    remarks: tuple[str, ...] = ()

    def values(self, name: str) -> list[str]:
        return [value for field, value in self.fields if field == name]


def _missing_of(message: _Message) -> str:
    """The fault if a body, unless empty, is shorter than its Content-Length (RFC 9112 §8)."""
    lengths = message.values("content-length")
    size = len(message.body)
    if message.values("transfer-encoding") or not all(map(_length, lengths)):
        return ""
    if not (size and lengths) or min(map(int, lengths)) <= size:
        return ""
    return f"Content-Length is {lengths[0]}, but there are {size} bytes"


_length: Final = regex(r"[0-9]{1,18}", re.ASCII).fullmatch


def _message(record: Record) -> _Message | Fault:
    block, type_ = record.block or b"", record.get("content-type")
    head, remark = final_head(block) if _type_of(record) == "response" else (None, "")
    if head is None:
        if _type_of(record) == "response" and type_.lower().startswith("application/http"):
            return record.fault(Trouble.DAMAGED, "it begins without an HTTP status line: not read")
        return _Message(None, (("content-type", type_),), block)
    if head.header.cut:
        return record.fault(Trouble.TOO_LARGE, "the HTTP header is too large: not read")
    remarks = (remark,) if remark else ()
    return _Message(head.status, _fields(block, head), block[head.header.body :], remarks)


def _fields(block: bytes, head: Head) -> Fields:
    return tuple((field.name, text_of(block, field)) for field in head.header.fields)


# ---- revisits

_FIRST: Final = 1 << 10
_WORD: Final = (1 << 64) - 1
_UNREAD: Final = 1 << 63  # in an offset: the record there was a fault


class Places:
    """Maps names to offsets in two words each, since a gigabyte has some hundred thousand names.

    It stores only a hash of each name, so callers must check the name of the record they find.
    """

    def __init__(self) -> None:
        self._count = 0
        self._keys = array("Q", bytes(8 * _FIRST))
        self._offsets = array("Q", bytes(8 * _FIRST))

    def add(self, name: str, offset: int) -> None:
        if 3 * self._count >= 2 * len(self._keys):
            known = zip(self._keys, self._offsets, strict=True)
            size, self._count = 16 * len(self._keys), 0
            self._keys, self._offsets = array("Q", bytes(size)), array("Q", bytes(size))
            for key, at in known:
                if key:
                    self._put(key, at)
        self._put(hash(name) & _WORD or 1, offset)

    def find(self, name: str) -> int | None:
        """Return where a name probably is; None if it is unknown."""
        key = hash(name) & _WORD or 1
        at = self._slot(key)
        return self._offsets[at] if self._keys[at] == key else None

    def _slot(self, key: int) -> int:
        """The slot of a key, or the free slot where it belongs."""
        mask = len(self._keys) - 1
        at = key & mask
        while self._keys[at] not in (0, key):
            at = at + 1 & mask
        return at

    def _put(self, key: int, offset: int) -> None:
        at = self._slot(key)
        if self._keys[at] == 0:
            self._keys[at], self._offsets[at] = key, offset
            self._count += 1


def _names(record: Record) -> list[str]:
    names = [record.get("warc-record-id"), record.get("warc-payload-digest")]
    return [*filter(None, names), f"{record.url} {record.get('warc-date')}"]


def _revisit(record: Record, places: Places, again: Again | None) -> Iterator[Page | Fault]:
    head, _ = final_head(record.block or b"")
    own = _fields(record.block or b"", head) if head else ()
    types = [value for name, value in own if name == "content-type"]
    if types and not may_hold_references(types[0]):
        return  # an image, for example
    # The names by which it refers to its payload, the most reliable first.
    names = [*filter(None, (record.get("warc-refers-to"), record.get("warc-payload-digest")))]
    uri, date = record.get("warc-refers-to-target-uri"), record.get("warc-refers-to-date")
    names += [f"{uri.strip('<>')} {date}"] if uri and date else []
    offset = next((at for name in names if (at := places.find(name)) is not None), None)
    if offset is None:
        text = "the record that it revisits does not precede it in the archive"
        yield record.fault(Trouble.ELSEWHERE, text)
        return
    if again is None:
        text = "the record that it revisits has passed, and this input cannot be read again"
        yield record.fault(Trouble.NOT_AGAIN, text)
        return
    if offset & _UNREAD:  # it would cost as much for each revisit
        yield record.fault(Trouble.NOT_AGAIN, "the record that it revisits could not be read")
        return
    for payload in islice(records(again(offset), _wanted), _LOOKED_AT):
        if isinstance(payload, Record) and not set(names).isdisjoint(_names(payload)):
            page = _page(payload) if payload.block is not None else None
            if isinstance(page, Page):
                status = head.status if head and head.status != _NOT_MODIFIED else page.status
                yield _revisited(record, page._replace(status=status), own)
            elif page is not None:
                yield record.fault(page.trouble, f"the record that it revisits: {page.text}")
            return
    text = f"its payload is not among the first {_LOOKED_AT} records of its member: not read"
    yield record.fault(Trouble.NOT_AGAIN, text)


def _revisited(record: Record, payload: Page, own: Fields) -> Page:
    """The payload as a page at the revisit's URL; the revisit's own fields replace some of its."""
    names = {name for name, _ in own} & {"content-type", "content-language", *_OVERRULED}
    fields = [field for field in payload.fields if field[0] not in (names | _OVERRULED)]
    return payload._replace(
        offset=record.offset,
        record_id=record.get("warc-record-id"),
        url=record.url,
        date=record.get("warc-date"),
        fields=(*(field for field in own if field[0] in names), *fields),
        remarks=(*filter(None, (record.remark,)), *payload.remarks),
    )
