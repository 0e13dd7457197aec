"""The MIME tree of a message as a flat list of parts, by byte offsets.

Strategy: one pass from the first byte to the last, without recursion. `path` holds the open
entities, outermost first. At the start of an entity its header is read; a message/rfc822 leads to
the next entity at once, a multipart opens its boundary. Then the next line that is a delimiter of
an open boundary is looked for: each line that begins with `--` is looked up once in a dict,
however many boundaries are open. The delimiter ends all entities inside of its multipart. So the
bytes divide into headers, bodies, delimiter lines, preambles and epilogues without rest.

What a delimiter is (RFC 2046 §5.1.1): `--`, the boundary, perhaps `--`, spaces and tabs, and the
line end. However, `--bX` is none of the boundary `b`, as in Python's `email`, Go and Thunderbird:
the RFC compares beginnings, and a part may well hold such a line. Where a line can be two things,
as `--b--` with the boundaries `b` and `b--` open, the longer boundary counts, and of equal ones
the newest, as in Dovecot. The line break before a delimiter belongs to it.

To mind: a part is entered only where all readers see the same in it (`Opaque` says why not).
What is sealed or said to be encoded is followed to its end all the same, so that a boundary that
is used again inside does not expose what is in there; nothing of it is listed. Boundaries are
compared as bytes: a line written into a body must begin with none of `Part.boundaries`, as a
beginning, since other readers do compare beginnings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from relbase.containers import fields
from relbase.containers.content_type import token
from relbase.containers.fields import Header, eol_of, first, read_header
from relbase.containers.parts import (
    IDENTITY,
    MESSAGES,
    OPAQUE_PREFIXES,
    OPAQUE_TYPES,
    Multipart,
    Opaque,
    Part,
    transfer_encoding,
)
from relbase.containers.stated import Stated, file_name, read_type
from relbase.edit import Span

# Rule 12. Dovecot has the same two, and real messages have 10 levels and 300 parts.
MAX_DEPTH: Final = 100
MAX_PARTS: Final = 10_000

# Of all headers together: 10,000 headers of `fields.MAX_FIELDS` would need 50 times the memory of
# the message. Past it a header is cut.
MAX_FIELDS: Final = 100_000


class _Message(NamedTuple):
    """The message, and within what it is walked."""

    data: bytes
    end: int
    eol: bytes
    max_depth: int
    max_parts: int


class _Structure(NamedTuple):
    """What a body is: opaque, a multipart whose delimiters count, a message, or a leaf."""

    opaque: Opaque | None
    boundary: bytes | None
    message: bool


@dataclass(slots=True)
class _OpenPart:
    """An entity while its end is not known."""

    part: Part
    parent: _OpenPart | None
    index: int | None  # in the list of parts; None for what is followed, not listed
    depth: int
    boundary: bytes | None  # of a multipart whose parts are followed
    children: int = 0
    preamble: int | None = None  # where it ends
    close: Span | None = None
    end: int = 0


class _Delimiter(NamedTuple):
    span: Span
    owner: _OpenPart
    closes: bool


@dataclass(slots=True)
class _MimeWalk:
    """What grows and shrinks on the way."""

    listed: list[_OpenPart] = field(default_factory=list)
    path: list[_OpenPart] = field(default_factory=list)  # the open entities, outermost first
    # Multiparts by their boundaries, the newest last.
    opened: dict[bytes, list[_OpenPart]] = field(default_factory=dict)
    count: int = 0  # of all entities, those that are only followed too
    fields: int = 0  # of all headers


def walk(
    data: bytes,
    start: int = 0,
    end: int | None = None,
    *,
    max_depth: int = MAX_DEPTH,
    max_parts: int = MAX_PARTS,
) -> list[Part]:
    r"""Return the parts of a message in the order of the bytes, the message itself first.

    Implements RFC 2046 §5.1 and §5.2 as the head of this file says. Nothing in a message raises.
    """
    end = len(data) if end is None else end
    whole = _Message(data, end, eol_of(data, start, end), max_depth, max_parts)
    state = _MimeWalk()
    at, delimiter = start, Span(start, start)
    while True:
        at = _enter(whole, state, at, delimiter)
        found = _next(whole, state.opened, at)
        while found is not None and found.closes:
            _end(state, found.span.start, found.owner)
            _close(state.opened, found)
            at = found.span.end
            found = _next(whole, state.opened, at)
        if found is None:
            _end(state, end, None)
            return [_part(entity) for entity in state.listed]
        _end(state, found.span.start, found.owner)
        found.owner.children += 1
        at, delimiter = found.span.end, found.span


# ---- Entities begin


def _enter(whole: _Message, state: _MimeWalk, at: int, delimiter: Span) -> int:
    """Read the entity at `at` and the messages that its body leads to; return where a body is."""
    while True:
        parent = state.path[-1] if state.path else None
        hidden = parent is not None and (parent.index is None or parent.part.opaque is not None)
        if state.count >= whole.max_parts:
            # Only a body part gets here: a message that would be too many is not entered.
            state.opened.clear()
            if hidden:
                state.listed[-1].part = state.listed[-1].part._replace(opaque=Opaque.PARTS)
                return at
            entity = _rest(at, delimiter, parent, len(state.listed))
        else:
            index = None if hidden else len(state.listed)
            entity = _read(whole, state, at, delimiter, (parent, index))
        state.count += 1
        state.fields += len(entity.part.header.fields)
        state.path.append(entity)
        if not hidden:
            state.listed.append(entity)
        if entity.boundary is not None:
            state.opened.setdefault(entity.boundary, []).append(entity)
        at = entity.part.body.start
        if not entity.part.message:
            return at
        delimiter = Span(at, at)


def _read(
    whole: _Message,
    state: _MimeWalk,
    at: int,
    delimiter: Span,
    place: tuple[_OpenPart | None, int | None],
) -> _OpenPart:
    """Read the header of an entity and decide what its body is."""
    parent, index = place
    data = whole.data
    most = min(fields.MAX_FIELDS, MAX_FIELDS - state.fields)
    header = read_header(data, at, whole.end, whole.eol, most)
    stated = read_type(first(data, header, "content-type") or "")
    disposition = first(data, header, "content-disposition") or ""
    type_ = stated.type or _default_type(header, parent)
    encoding, disputed = transfer_encoding(data, header)
    depth = parent.depth + 1 if parent else 0
    is_plain = encoding in IDENTITY
    is_multipart = type_.startswith("multipart/")
    if is_multipart and not is_plain and _is_in_the_clear(whole, header, stated):
        encoding, disputed, is_plain = "8bit", "", True
    structure = _structure(type_, stated.boundary, header, is_plain=is_plain)
    structure = _within_limits(structure, whole, depth, state.count)
    part = Part(
        number=_number(parent, type_),
        parent=parent.index if parent else None,
        type=type_,
        charset=stated.charset,
        encoding=encoding,
        disputed=disputed,
        disposition=token(disposition) or None,
        name=file_name(disposition) or stated.name,
        header=header,
        body=Span(header.body, header.body),
        delimiter=delimiter,
        boundaries=_around(parent),
        opaque=structure.opaque,
        multipart=None,
        message=structure.message,
    )
    return _OpenPart(part, parent, index, depth, structure.boundary)


# How far into a body its first delimiter is looked for: preambles are a few lines.
_PREAMBLE: Final = 1 << 16


def _is_in_the_clear(whole: _Message, header: Header, stated: Stated) -> bool:
    """Whether a multipart is not encoded, whatever it says: RFC 2045 §6.4 forbids it.

    Encoded, the lines of its delimiters would not begin with `--`: that is not base64, and in
    quoted-printable the parts would be encoded twice.
    """
    if stated.boundary is None:
        return False
    end = min(whole.end, header.body + _PREAMBLE)
    mark = b"--" + stated.boundary
    return (
        whole.data.startswith(mark, header.body, end)
        or whole.data.find(whole.eol + mark, header.body, end) >= 0
    )


def _default_type(header: Header, parent: _OpenPart | None) -> str:
    """Return the type where none is stated (RFC 2045 §5.2, RFC 2046 §5.1.5)."""
    is_stated = any(field.name == "content-type" for field in header.fields)
    in_digest = parent is not None and parent.part.type == "multipart/digest"
    return "message/rfc822" if in_digest and not is_stated else "text/plain"


def _around(parent: _OpenPart | None) -> tuple[bytes, ...]:
    """Return the boundaries that are open in the parts of an entity."""
    if parent is None:
        return ()
    return parent.part.boundaries + ((parent.boundary,) if parent.boundary else ())


def _structure(type_: str, boundary: bytes | None, header: Header, *, is_plain: bool) -> _Structure:
    """Say what a body is. A multipart that is not entered is followed if it has a boundary."""
    if header.cut:
        return _Structure(Opaque.HEADER, None, message=False)
    is_multipart, is_message = type_.startswith("multipart/"), type_ in MESSAGES
    if not is_multipart:
        boundary = None
    if type_ in OPAQUE_TYPES or type_.startswith(OPAQUE_PREFIXES):
        return _Structure(OPAQUE_TYPES.get(type_, Opaque.SEALED), boundary, message=False)
    if is_multipart and boundary is None:
        return _Structure(Opaque.BOUNDARY, None, message=False)
    if (is_multipart or is_message) and not is_plain:
        return _Structure(Opaque.ENCODED, boundary, message=False)
    return _Structure(None, boundary, message=is_message)


def _within_limits(structure: _Structure, whole: _Message, depth: int, count: int) -> _Structure:
    """Return the structure, or one that is not entered when its parts would pass a limit."""
    if structure.boundary is None and not structure.message:
        return structure
    if depth >= whole.max_depth:
        return _Structure(structure.opaque or Opaque.DEPTH, None, message=False)
    if structure.message and count + 1 >= whole.max_parts:
        return _Structure(Opaque.PARTS, None, message=False)
    return structure


def _number(parent: _OpenPart | None, type_: str) -> str:
    """Return the IMAP section number: `2` for a part, `2.1` for the text of the message in it."""
    if parent is None:
        return ""
    number = parent.part.number
    if not parent.part.message:
        return f"{number}.{parent.children}" if number else str(parent.children)
    # RFC 3501 §6.4.5: a message that is not a multipart has its body as part 1.
    section = number or "1"
    return section if type_.startswith("multipart/") else f"{section}.1"


def _rest(at: int, delimiter: Span, parent: _OpenPart | None, index: int) -> _OpenPart:
    """Return the part that holds all that follows the last part that is read."""
    part = Part(
        number=_number(parent, ""),
        parent=parent.index if parent else None,
        type="application/octet-stream",
        charset=None,
        encoding="binary",
        disputed="",
        disposition=None,
        name="",
        header=Header(at, at, at, (), cut=False),
        body=Span(at, at),
        delimiter=delimiter,
        boundaries=_around(parent),
        opaque=Opaque.PARTS,
        multipart=None,
        message=False,
    )
    return _OpenPart(part, parent, index, 0, None)


# ---- Entities end


def _next(whole: _Message, opened: dict[bytes, list[_OpenPart]], floor: int) -> _Delimiter | None:
    """Return the first delimiter of an open boundary from `floor` on, a line's start or break."""
    if not opened:
        return None
    data, end = whole.data, whole.end
    # Of one boundary alone the engine can skip what does not begin with it.
    mark = b"--" + (next(iter(opened)) if len(opened) == 1 else b"")
    at = floor if data.startswith(mark, floor, end) else _marked(whole, mark, floor)
    while at < end:
        stop = data.find(whole.eol, at, end)
        stop = end if stop < 0 else stop
        line = data[at + 2 : stop].rstrip(b"\t\r ")
        owners = opened.get(line)
        closes = owners is None and line.endswith(b"--")
        if closes:
            owners = opened.get(line[:-2])
        if owners:
            # What follows a closing delimiter, its line break too, may be an outer one (§5.1.1).
            after = _line_break(whole, stop + 1, at) if closes else min(stop + 1, end)
            return _Delimiter(Span(_line_break(whole, at, floor), after), owners[-1], closes)
        at = _marked(whole, mark, stop)
    return None


def _marked(whole: _Message, mark: bytes, at: int) -> int:
    """Return the start of the next line that begins with a mark, the end for none."""
    found = whole.data.find(whole.eol + mark, at, whole.end)
    return whole.end if found < 0 else found + 1


def _line_break(whole: _Message, at: int, floor: int) -> int:
    """Return where the line break in front of a line begins, but not before `floor`."""
    before = max(at - 1, floor)
    with_cr = whole.eol == b"\n" and before > floor and whole.data[before - 1] == ord("\r")
    return before - 1 if with_cr else before


def _end(state: _MimeWalk, at: int, owner: _OpenPart | None) -> None:
    """End the entities inside of `owner`, all for None, and the preamble of `owner`."""
    while state.path and state.path[-1] is not owner:
        entity = state.path.pop()
        entity.end = at
        if entity.boundary is not None and entity.close is None:
            _forget(state.opened, entity.boundary)
    if owner is not None and owner.preamble is None:
        owner.preamble = at


def _close(opened: dict[bytes, list[_OpenPart]], found: _Delimiter) -> None:
    """Take a multipart out of those that are open."""
    found.owner.close = found.span
    assert found.owner.boundary is not None
    _forget(opened, found.owner.boundary)


def _forget(opened: dict[bytes, list[_OpenPart]], boundary: bytes) -> None:
    """Remove the newest multipart with a boundary; at the limit of parts none is left."""
    owners = opened.get(boundary, [])
    if len(owners) > 1:
        owners.pop()
    else:
        opened.pop(boundary, None)


def _part(entity: _OpenPart) -> Part:
    """Return the part of an entity that has ended."""
    part = entity.part
    body = Span(part.body.start, entity.end)
    if entity.boundary is None or part.opaque is not None:
        return part._replace(body=body)
    preamble = body.end if entity.preamble is None else entity.preamble
    close = entity.close or Span(body.end, body.end)
    around = Multipart(
        entity.boundary, Span(body.start, preamble), close, Span(close.end, body.end)
    )
    return part._replace(body=body, multipart=around)
