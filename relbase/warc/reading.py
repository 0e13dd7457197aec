"""Reads the pages of a web archive: takes its bytes, yields decoded documents."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import TextIOBase
from typing import Final, NamedTuple

from relbase.compression.codings import decoded
from relbase.containers.content_type import effective_type
from relbase.containers.fields import text_of
from relbase.containers.http import Head, final_head, is_partial
from relbase.containers.warc import Fault, Record, Trouble, Unfolded, records_of
from relbase.expressions import regex
from relbase.formats.recognition import kind_of_type, may_hold_references
from relbase.warc.page import Page, with_scheme
from relbase.warc.revisits import Again, Allowance, Revisits

Fields = tuple[tuple[str, str], ...]

_TYPES: Final = frozenset(("response", "resource", "conversion"))
_OVERRULED: Final = frozenset(("base", "content-base"))
_NOT_MODIFIED: Final = 304


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
    return pages_within(chunks, again, skip)


def pages_within(
    chunks: Iterable[bytes],
    again: Again | None,
    skip: Callable[[Record], bool],
    allowance: Allowance | None = None,
) -> Iterator[Page | Fault]:
    """Yield what `pages` does, where revisits may cost what is left of an allowance."""
    allowance = allowance or Allowance()
    revisits = Revisits(again, allowance, _holds_page, _page)
    text, before = Unfolded(chunks), allowance.once
    for record in records_of(text, lambda each: each.type == "revisit" or _holds_page(each)):
        allowance.once = before + text.consumed
        for page in _pages(record, revisits, skip):
            yield with_scheme(page) if isinstance(page, Page) else page


def _pages(
    record: Record | Fault, revisits: Revisits, skip: Callable[[Record], bool]
) -> Iterator[Page | Fault]:
    """The page of a record, or a fault; nothing if the record cannot hold a page."""
    if isinstance(record, Fault):
        yield record._replace(salvaged=None)
        if record.salvaged is None or record.salvaged.type == "revisit":
            return
        record = record.salvaged
    type_ = record.type
    if not type_:
        yield record.fault(Trouble.DAMAGED, "it has no WARC-Type: not read")
    elif type_ == "revisit":
        if not skip(record) and record.block is not None:
            yield from _revisit(record, revisits)
    elif type_ in _TYPES:
        is_skipped = skip(record)
        if record.block is None:
            return
        page = None if is_skipped else _page(record)
        if is_skipped or page is not None:
            revisits.add(record, unread=isinstance(page, Fault))
        if page is not None:
            yield page


def _holds_page(record: Record) -> bool:
    return record.type in _TYPES and may_hold_references(record.fields.get("content-type", ""))


def _page(record: Record) -> Page | Fault | None:
    message = _message(record)
    if isinstance(message, Fault):
        return message
    values = message.values()
    stated = effective_type(values["content-type"])
    if not may_hold_references(stated):
        return None
    if record.fields.get("warc-segment-number"):
        return record.fault(Trouble.SEGMENTED, "the record is one of several segments: not joined")
    if is_partial(message.status, values["content-range"]):
        return record.fault(Trouble.PARTIAL, "the response is a range of a document: not read")
    coded = values["transfer-encoding"], values["content-encoding"]
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
    fault = body.fault or ("" if body.remarks else _missing_of(message, values))
    truncated = record.fields.get("warc-truncated") or ("unspecified" if fault else "")
    missing = [f"the page was not stored to its end: {truncated}"] if truncated else []
    if fault:
        missing = [f"the page is incomplete, {fault}"]
    return Page(
        record.offset,
        record.fields.get("warc-record-id", ""),
        record.url,
        record.fields.get("warc-date", ""),
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

    def values(self) -> Mapping[str, list[str]]:
        """Return the values of each field, by its name."""
        values = defaultdict[str, list[str]](list)
        for name, value in self.fields:
            values[name].append(value)
        return values


def _missing_of(message: _Message, values: Mapping[str, list[str]]) -> str:
    """The fault if a body, unless empty, is shorter than its Content-Length (RFC 9112 §8)."""
    lengths = values["content-length"]
    size = len(message.body)
    if values["transfer-encoding"] or not all(map(_length, lengths)):
        return ""
    if not (size and lengths) or min(map(int, lengths)) <= size:
        return ""
    return f"Content-Length is {lengths[0]}, but there are {size} bytes"


_length: Final = regex(r"[0-9]{1,18}", re.ASCII).fullmatch


def _message(record: Record) -> _Message | Fault:
    block, type_ = record.block or b"", record.fields.get("content-type", "")
    is_response = record.type == "response"
    head, remark = final_head(block) if is_response else (None, "")
    if head is None:
        if is_response and type_.lower().startswith("application/http"):
            return record.fault(Trouble.DAMAGED, "it begins without an HTTP status line: not read")
        return _Message(None, (("content-type", type_),), block)
    if head.header.cut:
        return record.fault(Trouble.TOO_LARGE, "the HTTP header is too large: not read")
    remarks = (remark,) if remark else ()
    return _Message(head.status, _fields(block, head), block[head.header.body :], remarks)


def _fields(block: bytes, head: Head) -> Fields:
    return tuple([(field.name, text_of(block, field)) for field in head.header.fields])


# ---- revisits


def _revisit(record: Record, revisits: Revisits) -> Iterator[Page | Fault]:
    head, _ = final_head(record.block or b"")
    own = _fields(record.block or b"", head) if head else ()
    types = [value for name, value in own if name == "content-type"]
    if types and not may_hold_references(types[0]):
        return  # an image, for example
    payload = revisits.payload(record)
    if isinstance(payload, Page):
        status = head.status if head and head.status != _NOT_MODIFIED else payload.status
        yield _revisited(record, payload._replace(status=status), own)
    elif payload is not None:
        yield payload


def _revisited(record: Record, payload: Page, own: Fields) -> Page:
    """The payload as a page at the revisit's URL; the revisit's own fields replace some of its."""
    names = {name for name, _ in own} & {"content-type", "content-language", *_OVERRULED}
    fields = [field for field in payload.fields if field[0] not in (names | _OVERRULED)]
    return payload._replace(
        offset=record.offset,
        record_id=record.fields.get("warc-record-id", ""),
        url=record.url,
        date=record.fields.get("warc-date", ""),
        fields=(*(field for field in own if field[0] in names), *fields),
        remarks=(*filter(None, (record.remark,)), *payload.remarks),
    )
