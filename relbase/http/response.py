"""A raw HTTP response: the references of its head, then the document in its body.

Programs save a response with all the redirects before it: each Location is the URL of the next
response. A body with a coding is left unchanged, since it could not be encoded as it was.
"""

import hashlib
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from relbase.bases.headers import http_statements
from relbase.bases.layers import Base, Layer, retrieval
from relbase.compression.codings import Decoded, decoded
from relbase.containers.content_type import effective_type, media_type, parameters
from relbase.containers.fields import text_of
from relbase.containers.header_fields import States
from relbase.containers.http import (
    INFORMATION,
    REDIRECTION,
    SWITCHING_PROTOCOLS,
    Head,
    is_partial,
    read_head,
    values,
)
from relbase.containers.known_fields import ROWS
from relbase.edit import Edit, Span, splice
from relbase.expressions import regex
from relbase.formats import sniffing
from relbase.html.csp import POLICY_FIELD, policies_of
from relbase.mail.message import visit_field, visit_message
from relbase.notes import Note, Reason
from relbase.rewriting.context import Context, Opened
from relbase.rewriting.outcomes import Outcome, Reference, Status, shift, split_edits
from relbase.values import headers

# After these, clients repeat the request with credentials (RFC 9110 §11.4, §11.7.1), and save both
# heads.
_ASKED_AGAIN: Final = (401, 407)

# More redirects than these are a loop (browsers follow 20).
MAX_HEADS: Final = 100

_BLANK: Final = b"\xef\xbb\xbf\r\n\t "


class _Response(NamedTuple):
    data: bytes
    heads: list[Head]
    contexts: list[Context]  # one for each head, with the URL of its request
    inside: Context  # of the body, with the base that the last header states
    body: Span
    decoded: Decoded
    type: str
    is_partial: bool
    document: Opened | None  # in the body
    notes: tuple[Note, ...]


def visit_http(data: bytes, context: Context) -> Iterator[Outcome]:
    response = _read(data, context)
    if response is None:
        text = "it does not begin as an HTTP response: left unchanged"
        yield Note(Reason.KIND_UNSUPPORTED, context.part, None, text)
        return
    yield from response.notes
    edits: list[Edit] = []
    owns = [*response.contexts[:-1], response.inside]
    for head, request, own in zip(response.heads, response.contexts, owns, strict=True):
        yield from split_edits(_visit_head(data, head, request, own), edits)
    inside: list[Edit] = []
    yield from split_edits(_visit_body(response), inside)
    yield from _rest_notes(response)
    if inside:
        yield from split_edits(_follow_body(response, inside), edits)
    yield from sorted(edits)
    yield from inside


def http_base(data: bytes, context: Context) -> Base:
    response = _read(data, context)
    if response is None:
        return context.base
    return response.inside.base if response.document is None else response.document.base()


def _read(data: bytes, context: Context) -> _Response | None:
    heads, contexts = _heads(data, context)
    if not heads or heads[-1].status is None:
        return None
    last = heads[-1]
    fields = [(field.name, text_of(data, field)) for field in last.header.fields]
    stated, refused = http_statements(fields)
    base, notes = context.task.establish(stated, contexts[-1].base)
    if refused:
        base = replace(base, refused=(*refused, *base.refused))
    body = Span(last.header.body, _end(data, last))
    content_type = effective_type(values(data, last, "content-type"))
    type_ = media_type(content_type)
    body_decoded = decoded(
        data[body.start : body.end],
        values(data, last, "transfer-encoding"),
        values(data, last, "content-encoding"),
    )
    if not sniffing.known_type(content_type) and body_decoded.data is not None:
        start = sniffing.beginning(body_decoded.data)
        type_ = next((type_ for looks, type_ in _LOOKS if looks(start)), "")
    noted = tuple(note._replace(part=context.part) for note in (*refused, *notes))
    inside = contexts[-1].with_base(base).with_fields(within=f" of the body{contexts[-1].within}")
    if policies := policies_of(values(data, last, POLICY_FIELD)):  # may forbid a <base>
        inside = inside._replace(policies=(*inside.policies, *policies))
    is_part = is_partial(last.status, values(data, last, "content-range"))
    document, reader = None, inside.task.reader(type_, "")
    if reader is not None and body_decoded.data is not None and not is_part:
        label = parameters(content_type).get("charset")
        document = reader.read(body_decoded.data, label, inside.inside(body.start))
    return _Response(
        data, heads, contexts, inside, body, body_decoded, type_, is_part, document, noted
    )


_LOOKS: Final = (
    (sniffing.is_xml, "application/xml"),
    (sniffing.is_json_feed, "application/feed+json"),
    (sniffing.is_html, "text/html"),
    (sniffing.is_css, "text/css"),
)


def _heads(data: bytes, context: Context) -> tuple[list[Head], list[Context]]:
    heads: list[Head] = []
    contexts: list[Context] = []
    at = len(data) - len(data.lstrip(_BLANK))
    while len(heads) < MAX_HEADS and (head := read_head(data, at)) is not None:
        heads.append(head)
        contexts.append(context)
        at = head.header.body
        if head.status in REDIRECTION:
            if locations := values(data, head, "location")[:1]:
                known = context.base.url if context.base.usable else None
                profile = context.task.profile
                stated, _ = retrieval(known, locations, profile)
                base, _ = context.task.establish(stated, context.base)
                context = context.with_base(base)  # with the URL that it redirects to
        elif head.status not in _ASKED_AGAIN and _has_content(data, head):
            break
    return heads, contexts


def _has_content(data: bytes, head: Head) -> bool:
    """Whether a response has a body: a 1xx has none, and the answer to CONNECT has none."""
    if head.status in INFORMATION:
        return head.status == SWITCHING_PROTOCOLS
    stated = {field.name for field in head.header.fields}
    is_empty = values(data, head, "content-length") in ([], ["0"])
    return not is_empty or not stated.isdisjoint(("content-type", "transfer-encoding"))


def _end(data: bytes, head: Head) -> int:
    """Where the body ends: at Content-Length if another message begins there."""
    for stated in values(data, head, "content-length")[:1]:
        end = head.header.body + _length(stated.encode("latin-1", "replace"))
        if head.header.body <= end < len(data) and read_head(data, end) is not None:
            return end
    return len(data)


def _length(value: bytes) -> int:
    """The number in a value, -1 for none; the length of a file never has 19 digits."""
    return int(value) if value.isdigit() and len(value) < 19 else -1  # noqa: PLR2004


def _visit_head(data: bytes, head: Head, request: Context, own: Context) -> Iterator[Outcome]:
    states = own.base is not request.base and own.base.outer is request.base
    stated = own.with_base(replace(own.base, layer=Layer.EMBEDDED)) if states else own
    for field in head.header.fields:
        row = ROWS[field.name]
        if row.holds is not None:
            is_outside = row.on_request or States.HTTP in row.states
            context = request if is_outside else stated
            form = headers.FIELDS[field.name]
            yield from visit_field(data, field, form, context, words=False)  # HTTP has none


def _rest_notes(response: _Response) -> Iterator[Note]:
    part, begin, end = response.inside.part, response.body.end, len(response.data)
    if len(response.heads) == MAX_HEADS and read_head(response.data, response.body.start):
        text = f"more than {MAX_HEADS} HTTP heads follow one another: the rest is left unchanged"
        yield Note(Reason.LIMIT_HEADER, part, response.body, text)
    if begin < end:
        text = "another HTTP message begins here: left unchanged; give it by itself, with its URL"
        yield Note(Reason.KIND_UNSUPPORTED, part, Span(begin, end), text)


def _visit_body(response: _Response) -> Iterator[Outcome]:
    decoded, part, inside = response.decoded, response.inside.part, response.inside
    if not range(*response.body):  # the answer to a HEAD, or a 304, whatever its header says
        return
    is_mail = response.type == "message/rfc822" or response.type.startswith("multipart/")
    if inside.task.reader(response.type, "") is None and not is_mail:
        if why := sniffing.not_read(decoded.data or b""):
            text = f"the body ({response.type}) {why}"
            yield Note(Reason.KIND_DOUBTFUL, part, response.body, text)
        return
    why = _hindrance(response)
    if why:
        reason = Reason.BODY_PARTIAL if response.is_partial else Reason.ENCODING_UNSUPPORTED
        yield Note(reason, part, response.body, f"{why}: left unchanged")
    for remark in decoded.remarks:
        yield Note(Reason.ENCODING_MISLABELLED, part, response.body, remark)
    if decoded.data is None or response.is_partial or (why and inside.wanted.edits_only):
        return
    if response.document is None:
        items = visit_message(decoded.data, inside.inside(response.body.start))
    else:
        yield from (note._replace(span=response.body) for note in response.document.notes)
        items = response.document.visit()
    yield from _in_coding(items, response.body) if why else shift(items, response.body.start)


def _hindrance(response: _Response) -> str:
    if response.is_partial:
        return "the body is a range of a document"
    if response.decoded.fault:
        return f"the body cannot be decoded, {response.decoded.fault}"
    if response.decoded.undone:
        return f"the body is encoded ({', '.join(response.decoded.undone)})"
    return ""


def _in_coding(items: Iterator[Outcome], body: Span) -> Iterator[Outcome]:
    """The findings in an encoded body, without edits; each has the whole body as its span."""
    for item in items:
        if isinstance(item, Reference) and item.status is Status.REWRITTEN:
            yield item._replace(span=body, status=Status.KEPT)
        elif not isinstance(item, Edit):
            yield item._replace(span=body)


# ---- fields that describe a body change with it


def _follow_body(response: _Response, edits: list[Edit]) -> Iterator[Edit | Note]:
    data, start = response.data, response.body.start
    before = data[start : response.body.end]
    after = splice(before, edits, start)
    for field in response.heads[-1].header.fields:
        if (follow := _FOLLOWED.get(field.name)) is None:
            continue
        at = field.value.start
        changes = follow(data[at : field.value.end], before, after)
        if changes is None:
            text = f"{field.name} was wrong before: left as it is, although the body changed"
            yield Note(Reason.FIELD_STALE, response.inside.part, field.value, text)
        else:
            yield from (Edit(edit.start + at, edit.end + at, edit.new) for edit in changes)


def _follow_length(value: bytes, before: bytes, after: bytes) -> list[Edit] | None:
    if _length(value) != len(before):
        return None
    return [Edit(0, len(value), b"%d" % len(after))] if len(after) != len(before) else []


def _follow_md5(value: bytes, before: bytes, after: bytes) -> list[Edit] | None:
    return [Edit(0, len(value), _hashed("md5", after))] if value == _hashed("md5", before) else None


def _follow_digests(value: bytes, before: bytes, after: bytes) -> list[Edit] | None:
    """Update all digests of a list, or none of them."""
    edits: list[Edit] = []
    for digest in _digests.finditer(value):
        algorithm = _ALGORITHMS.get(digest[1].lower())
        if algorithm is None or digest[2] != digest[4] or digest[3] != _hashed(algorithm, before):
            return None
        edits.append(Edit(*digest.span(3), _hashed(algorithm, after)))
    return edits if len(edits) == value.count(b",") + 1 else None


# RFC 3230 §4.3.2: a list of an algorithm, `=`, and base64
# RFC 9530 §2 and §3 (Content-Digest, Repr-Digest): with `:` around the base64
_digests: Final = regex(rb"([!-+\--<>-~]++)=(:?)([A-Za-z0-9+/]++={0,2})(:?)(?=[ \t]*+(?:,|\Z))")
_ALGORITHMS: Final = {
    b"md5": "md5",
    b"sha": "sha1",
    b"sha-1": "sha1",
    b"sha-256": "sha256",
    b"sha-512": "sha512",
}


def _hashed(algorithm: str, body: bytes) -> bytes:
    return b64encode(hashlib.new(algorithm, body, usedforsecurity=False).digest())


_FOLLOWED: Final = {
    "content-length": _follow_length,
    "content-md5": _follow_md5,
    **dict.fromkeys(("digest", "content-digest", "repr-digest"), _follow_digests),
}
