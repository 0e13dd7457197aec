"""A raw HTTP response: the references of its head, then the document in its body.

Strategy: programs write down responses with all the redirects before, so the heads are followed
while one comes after the other; each Location is where the next was retrieved from. The last head
states the base of the body (RFC 2068 §14.11), and its own references are visited: Location and
Content-Location against the URL of the request (RFC 9110 §8.7, §10.2.2), the others against the
header's base. A body without a coding is visited in place, and what describes it in the head
follows. A body with one is read and left unchanged: nobody could encode it as it was.

To mind: there may be no retrieval URL, and then the Locations may be all that is known.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.headers import http_statements
from relbase.bases.layers import Base, Layer, establish, retrieval
from relbase.bases.policies import POLICY_FIELD, policies_of
from relbase.containers import sniffing
from relbase.containers.codings import Decoded, decoded
from relbase.containers.content_type import effective_type, media_type, parameters
from relbase.containers.fields import text_of
from relbase.containers.http import (
    INFORMATION,
    REDIRECTION,
    SWITCHING_PROTOCOLS,
    is_partial,
    read_head,
    values,
)
from relbase.edit import Edit, Span
from relbase.http.derived import follow_body
from relbase.mail.message import visit_field, visit_message
from relbase.notes import Note, Reason
from relbase.references import headers
from relbase.registry import ROWS, States
from relbase.rewriting.items import Found, Item, Status, separate, shift

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.containers.http import Head
    from relbase.rewriting.context import Context, Opened

# Clients ask for the same once more, with credentials (RFC 9110 §11.4, §11.7.1), and write down
# both heads.
_ASKED_AGAIN: Final = (401, 407)

# Whoever follows more redirects is in a circle (browsers follow 20).
MAX_HEADS: Final = 100

_BLANK: Final = b"\xef\xbb\xbf\r\n\t "


class _Response(NamedTuple):
    """A response that has been looked through."""

    data: bytes
    heads: tuple[Head, ...]
    contexts: tuple[Context, ...]  # of each head, with the URL of its request
    inside: Context  # of the body, with the base that the last header states
    body: Span
    decoded: Decoded
    type: str
    label: str | None
    notes: tuple[Note, ...]


def visit_http(data: bytes, context: Context) -> Iterator[Item]:
    """The items of a raw HTTP response, in offsets of its bytes."""
    response = _read(data, context)
    if response is None:
        text = "it does not begin as an HTTP response: left unchanged"
        yield Note(Reason.KIND_UNSUPPORTED, context.part, None, text)
        return
    yield from response.notes
    findings: list[Item] = []
    edits: list[Edit] = []
    for head, around in zip(response.heads, response.contexts, strict=True):
        on = response.inside if head is response.heads[-1] else around
        for item in _visit_head(data, head, around, on):
            (edits if isinstance(item, Edit) else findings).append(item)  # type: ignore[arg-type]
    yield from findings
    inside: list[Edit] = []
    for item in _visit_body(response):
        if isinstance(item, Edit):
            inside.append(item)
        else:
            yield item
    yield from _rest_notes(response)
    if inside:
        followed, stale = follow_body(data, response.heads[-1], response.body, inside)
        yield from (note._replace(part=context.part) for note in stale)
        edits = sorted([*edits, *followed])
    yield from edits
    yield from inside


def http_base(data: bytes, context: Context) -> Base:
    """Return the base of the document in a raw HTTP response."""
    response = _read(data, context)
    if response is None:
        return context.base
    document = _document(response)
    return response.inside.base if document is None else document.base()


# ---- heads


def _read(data: bytes, context: Context) -> _Response | None:
    heads, contexts = _heads(data, context)
    if not heads or heads[-1].status is None:
        return None
    last = heads[-1]
    fields = [(field.name, text_of(data, field)) for field in last.header.fields]
    stated, refused = http_statements(fields)
    base, notes = establish(stated, contexts[-1].base, profile=context.task.profile)
    if refused:
        base = replace(base, refused=(*refused, *base.refused))
    body = Span(last.header.body, _end(data, last))
    content_type = effective_type(values(data, last, "content-type"))
    type_ = media_type(content_type)
    found = decoded(
        data[body.start : body.end],
        values(data, last, "transfer-encoding"),
        values(data, last, "content-encoding"),
    )
    if type_ in _SAY_NOTHING and found.data is not None:
        type_ = _type_of(found.data)
    label = parameters(content_type).get("charset")
    noted = tuple(note._replace(part=context.part) for note in (*refused, *notes))
    inside = contexts[-1].on(base).having(within=f" of the body{contexts[-1].within}")
    inside = _under_policies(inside, values(data, last, POLICY_FIELD))
    return _Response(data, tuple(heads), tuple(contexts), inside, body, found, type_, label, noted)


def _under_policies(context: Context, stated: list[str]) -> Context:
    """The context with the policies of the response itself (rule 14)."""
    if not stated:
        return context
    policies = (*context.task.policies, *policies_of(stated))
    return context.asking(context.task._replace(policies=policies))


def _heads(data: bytes, context: Context) -> tuple[list[Head], list[Context]]:
    """The heads that follow one another, each with the URL of its request."""
    heads: list[Head] = []
    contexts: list[Context] = []
    at = len(data) - len(data.lstrip(_BLANK))
    while len(heads) < MAX_HEADS and (head := read_head(data, at)) is not None:
        heads.append(head)
        contexts.append(context)
        at = head.header.body
        if head.status in REDIRECTION:
            context = _redirected(data, head, context)
        elif head.status not in _ASKED_AGAIN and _has_content(data, head):
            break
    return heads, contexts


def _has_content(data: bytes, head: Head) -> bool:
    """Whether a response has a body: a 1xx has none, nor the answer to CONNECT."""
    if head.status in INFORMATION:
        return head.status == SWITCHING_PROTOCOLS
    return any(map(partial(values, data, head), ("content-type", "transfer-encoding"))) or (
        values(data, head, "content-length") not in ([], ["0"])
    )


def _redirected(data: bytes, head: Head, context: Context) -> Context:
    """The context with the URL that a response redirects to."""
    locations = values(data, head, "location")[:1]
    if not locations:
        return context
    known = context.base if context.base.usable else None
    stated, _ = retrieval(known.url if known else None, locations)
    base, _ = establish(stated, context.base, profile=context.task.profile)
    return context.on(base)


def _end(data: bytes, head: Head) -> int:
    """Where the body ends: at Content-Length if another message begins there."""
    stated = values(data, head, "content-length")
    if stated and stated[0].isascii() and stated[0].isdigit() and len(stated[0]) < _DIGITS:
        end = head.header.body + int(stated[0])
        if end < len(data) and read_head(data, end) is not None:
            return end
    return len(data)


# A length of more digits is longer than any file.
_DIGITS: Final = 19


def _visit_head(data: bytes, head: Head, request: Context, own: Context) -> Iterator[Item]:
    """The items of the fields that hold references."""
    states = own.base is not request.base and own.base.outer is request.base
    stated = own.on(replace(own.base, layer=Layer.EMBEDDED)) if states else own
    for field in head.header.fields:
        row = ROWS[field.name]
        if row.holds is not None:
            is_outside = row.on_request or States.HTTP in row.states
            # HTTP has no encoded words, and what is not one must not be read as one.
            if b"=?" not in data[slice(*field.value)]:
                form = headers.FIELDS[field.name.encode()]
                yield from visit_field(data, field, form, request if is_outside else stated)


# ---- bodies

_SAY_NOTHING: Final = frozenset(("", "application/octet-stream"))
_LOOKS: Final = (
    (sniffing.is_xml, "application/xml"),
    (sniffing.is_html, "text/html"),
    (sniffing.is_css, "text/css"),
)


def _type_of(body: bytes) -> str:
    """The type that a body looks like, where its header states none."""
    start = sniffing.beginning(body)
    return next((type_ for looks, type_ in _LOOKS if looks(start)), "")


def _document(response: _Response) -> Opened | None:
    """The document in the body, None where there is none."""
    reader = response.inside.task.reader(response.type, "")
    if reader is None or response.decoded.data is None or _is_partial(response):
        return None
    return reader.read(response.decoded.data, response.label, response.inside)


def _rest_notes(response: _Response) -> Iterator[Note]:
    """The notes on messages after the first response: their URLs are unknown."""
    part, begin, end = response.inside.part, response.body.end, len(response.data)
    if len(response.heads) == MAX_HEADS and read_head(response.data, response.body.start):
        text = f"more than {MAX_HEADS} HTTP heads follow one another: the rest is left unchanged"
        yield Note(Reason.LIMIT_HEADER, part, response.body, text)
    if begin < end:
        text = "another HTTP message begins here: left unchanged; give it by itself, with its URL"
        yield Note(Reason.KIND_UNSUPPORTED, part, Span(begin, end), text)


def _is_partial(response: _Response) -> bool:
    last = response.heads[-1]
    return is_partial(last.status, values(response.data, last, "content-range"))


def _visit_body(response: _Response) -> Iterator[Item]:
    """The items of the document in the body."""
    found, part, inside = response.decoded, response.inside.part, response.inside
    if not range(*response.body):  # after a HEAD, or of a 304: whatever the head says of it
        return
    is_mail = response.type == "message/rfc822" or response.type.startswith("multipart/")
    if inside.task.reader(response.type, "") is None and not is_mail:
        return
    why = _hindrance(response)
    if why:
        of_part = _is_partial(response)
        reason = Reason.BODY_PARTIAL if of_part else Reason.ENCODING_UNSUPPORTED
        yield Note(reason, part, response.body, f"{why}: left unchanged")
    for remark in found.remarks:
        yield Note(Reason.ENCODING_MISLABELLED, part, response.body, remark)
    if found.data is None or _is_partial(response) or (why and inside.task.edits_only):
        return
    if is_mail:
        items = visit_message(found.data, inside)
    else:
        document = _document(response)
        assert document is not None
        yield from (note._replace(span=response.body) for note in document.notes)
        items = document.visit()
    if why:
        yield from _in_coding(items, response.body)
    else:
        yield from shift(items, response.body.start)


def _hindrance(response: _Response) -> str:
    """Why the body is left unchanged, "" if it is not."""
    if _is_partial(response):
        return "the body is a range of a document"
    if response.decoded.fault:
        return f"the body cannot be decoded, {response.decoded.fault}"
    if response.decoded.undone:
        return f"the body is encoded ({', '.join(response.decoded.undone)})"
    return ""


def _in_coding(items: Iterator[Item], body: Span) -> Iterator[Item]:
    """The findings in an encoded body: each spans the whole body, and nothing is written."""
    findings, _ = separate(items)
    for item in findings:
        if isinstance(item, Found) and item.status is Status.REWRITTEN:
            yield item._replace(span=body, status=Status.KEPT)
        else:
            yield item._replace(span=body)
