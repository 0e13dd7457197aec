"""The MIME tree of a message as a flat list of parts, by byte offsets.

A delimiter (RFC 2046 §5.1.1) is a whole line: `--bX` does not delimit parts of boundary `b`, as in
Python's `email`, Go and Thunderbird. Other readers compare only beginnings, so no edited line may
begin with one of `Part.boundaries`. If a line can be two delimiters (`--b--` with `b` and `b--`
open), the longer boundary counts, and of equal ones the newest, as in Dovecot. Sealed and encoded
parts are followed to their end, so that a boundary used again inside does not expose their content.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from relbase.containers import fields
from relbase.containers.content_type import file_name, is_lone, read_type, token
from relbase.containers.fields import Header, eol_of, first, read_header, text_of
from relbase.edit import Span
from relbase.expressions import regex
from relbase.notes import Reason


class Multipart(NamedTuple):
    """What a multipart has around its parts; spans are empty where there is nothing."""

    boundary: bytes  # as in its delimiters, without the leading `--`
    # what comes before the first delimiter; all of the body if there is none
    preamble: Span
    close: Span  # the closing delimiter with the line break before it
    epilogue: Span  # what follows the closing delimiter, from its line break on


class Part(NamedTuple):
    """An entity: the message, a body part of a multipart, or a message inside of a message."""

    # as IMAP numbers sections (RFC 3501 §6.4.5), "" for the outermost message. A multipart that is
    # the body of a message/rfc822 has the same number as this
    number: str
    parent: int | None  # the index of the part around it, None for the outermost message
    type: str  # the media type in lower case, the default one if none is stated
    header: Header  # its fields with their spans
    body: Span  # exactly its body, without the line break that belongs to the next delimiter
    # the delimiter line in front, with both line breaks; empty for a message
    delimiter: Span
    # the boundaries that are open in its body, outermost first, without its own
    boundaries: tuple[bytes, ...]
    charset: str | None = None  # the label that its Content-Type states
    encoding: str = "7bit"  # the Content-Transfer-Encoding in lower case
    # The encoding as stated, if some mail programs can read it and others cannot: `base64;`.
    disputed: str = ""
    disposition: str | None = None  # of Content-Disposition in lower case
    name: str = ""  # of the file that it is to be saved as
    opaque: Reason | None = None  # why it was not entered, None if nothing prevented that
    multipart: Multipart | None = None  # what is around its parts, if it was entered
    message: bool = False  # whether its body is a message that was entered: the next part


# Media types that are never entered, and why.
OPAQUE_TYPES: Final = {
    "multipart/signed": Reason.MIME_SIGNED,
    "multipart/encrypted": Reason.MIME_SEALED,
    "application/pkcs7-mime": Reason.MIME_SEALED,
    "application/x-pkcs7-mime": Reason.MIME_SEALED,
    "message/partial": Reason.MIME_PARTIAL,
    "message/external-body": Reason.MIME_EXTERNAL,
}
OPAQUE_PREFIXES: Final = ("application/pgp", "application/x-pgp")

# The types whose body is a message: RFC 2046 §5.2.1, RFC 6532 §3.7, RFC 5537 §2.3.
MESSAGES: Final = frozenset(["message/rfc822", "message/global", "message/news"])

# Files of messages: if their type says nothing, their name does, as for other parts (rule 15).
_MESSAGE_NAMES: Final = (".eml", ".mht", ".mhtml")

# The encodings that change nothing (RFC 2045 §6.2), and how mailers misspell them.
IDENTITY: Final = frozenset(["7bit", "8bit", "binary", "7-bit", "8-bit", "7bits", "8bits"])
QUOTED_PRINTABLE: Final = "quoted-printable"
BASE64: Final = "base64"
_ENCODINGS: Final = IDENTITY | {QUOTED_PRINTABLE, BASE64}

_SHOWN: Final = 100  # characters of an encoding that nobody can undo
_quoted: Final = regex(r'"([^"]++)"').fullmatch


def transfer_encoding(data: bytes, header: Header) -> tuple[str, str]:
    """Return the Content-Transfer-Encoding of a header (RFC 2045 §6.1), "7bit" if none is stated.

    The second value is what is stated, if readers differ on it: a token in quotes, or followed by
    more (`base64;`). Fields that differ, or have no token, give an encoding that nobody can undo.
    """
    tokens: dict[str, str] = {}
    for field in header.fields:
        if field.name == "content-transfer-encoding":
            value = text_of(data, field)
            if value.lower() in _ENCODINGS:
                tokens[value.lower()] = tokens.get(value.lower(), "")
                continue
            quoted = _quoted(value)
            name = token(quoted[1] if quoted else value)
            disputed = "" if not name or is_lone(value) else value[:_SHOWN]
            if not name and not value.startswith("("):
                name = value.lower()
            if name:
                tokens[name] = tokens.get(name) or disputed
    if IDENTITY.issuperset(tokens):
        return next(iter(tokens), "7bit"), ""
    name = ", ".join(tokens)[:_SHOWN]
    return name, tokens.get(name, "")


# Rule 12. Dovecot has the same two, and real messages have 10 levels and 300 parts.
MAX_DEPTH: Final = 100
MAX_PARTS: Final = 10_000

# Of all headers together: 10,000 headers of `fields.MAX_FIELDS` would need 50 times the memory of
# the message. Beyond it a header is cut.
MAX_FIELDS: Final = 100_000

# How far into a body to look for its first delimiter: preambles have a few lines.
_PREAMBLE: Final = 1 << 16


def walk(data: bytes) -> list[Part]:
    """Return the parts of a message in the order of the bytes, the message itself first."""
    state = _Walk(data)
    at, delimiter = 0, Span(0, 0)
    while True:
        at = state.enter(at, delimiter)
        while state.opened and (delimited := state.next(at)):
            delimiter, owner, closes = delimited
            state.end(delimiter.start, owner)
            at = delimiter.end
            if not closes:
                break
            owner.close = delimiter
            state.forget(owner)
        else:
            state.end(len(data), None)
            return list(map(_OpenPart.ended, state.listed))
        owner.children += 1


@dataclass(slots=True)
class _OpenPart:
    part: Part
    parent: _OpenPart | None
    index: int | None  # in the list of parts; None if it is followed but not listed
    boundary: bytes | None = None  # of a multipart whose parts are followed
    depth: int = 0
    children: int = 0
    preamble: int | None = None  # where it ends
    close: Span | None = None
    end: int = 0

    def ended(self) -> Part:
        part = self.part
        body = Span(part.body.start, self.end)
        if self.boundary is None or part.opaque is not None:
            return part._replace(body=body)
        preamble = Span(body.start, body.end if self.preamble is None else self.preamble)
        close = self.close or Span(body.end, body.end)
        around = Multipart(self.boundary, preamble, close, Span(close.end, body.end))
        return part._replace(body=body, multipart=around)


class _Walk:
    """The state of `walk`."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.eol = eol_of(data, 0, len(data))
        self.listed: list[_OpenPart] = []
        self.path: list[_OpenPart] = []  # the open entities, outermost first
        self.opened: dict[bytes, list[_OpenPart]] = {}  # by their boundaries, the newest last
        self.count = 0  # of all entities, including those that are only followed
        self.fields = 0  # of all headers

    # ---- entities begin

    def enter(self, at: int, delimiter: Span) -> int:
        """Read the entity at `at`, and a message that is its body; return where the body begins."""
        while True:
            parent = self.path[-1] if self.path else None
            hidden = parent is not None and (parent.index is None or parent.part.opaque is not None)
            index = None if hidden else len(self.listed)
            if self.count < MAX_PARTS:
                entity = self._read(at, delimiter, parent, index)
            else:  # only a body part: `_read` enters no message beyond the limit
                self.opened.clear()
                if hidden:
                    last = self.listed[-1]
                    last.part = last.part._replace(opaque=Reason.LIMIT_MIME_PARTS)
                    return at
                header = Header(at, at, at, (), cut=False)
                part = _part(parent, "application/octet-stream", header, delimiter)
                part = part._replace(encoding="binary", opaque=Reason.LIMIT_MIME_PARTS)
                entity = _OpenPart(part, parent, index)
            self.count += 1
            self.fields += len(entity.part.header.fields)
            self.path.append(entity)
            if not hidden:
                self.listed.append(entity)
            if entity.boundary is not None:
                self.opened.setdefault(entity.boundary, []).append(entity)
            at = entity.part.body.start
            if not entity.part.message:
                return at
            delimiter = Span(at, at)

    def _read(
        self, at: int, delimiter: Span, parent: _OpenPart | None, index: int | None
    ) -> _OpenPart:
        data = self.data
        most = min(fields.MAX_FIELDS, MAX_FIELDS - self.fields)
        header = read_header(data, at, len(data), self.eol, most)
        content_type = first(data, header, "content-type")
        disposition = first(data, header, "content-disposition")
        stated = read_type(content_type or "")
        in_digest = parent is not None and parent.part.type == "multipart/digest"
        # RFC 2045 §5.2, RFC 2046 §5.1.5
        default = "message/rfc822" if in_digest and content_type is None else "text/plain"
        name = (disposition and file_name(disposition)) or stated.name
        type_ = stated.type or default
        if type_ == "application/octet-stream" and name.lower().endswith(_MESSAGE_NAMES):
            type_ = "message/rfc822"
        encoding, disputed = transfer_encoding(data, header)
        if type_.startswith("multipart/") and encoding not in IDENTITY and stated.boundary:
            preamble = self.eol + data[header.body : header.body + _PREAMBLE]
            if self.eol + b"--" + stated.boundary in preamble:
                encoding, disputed = "8bit", ""  # not encoded: RFC 2045 §6.4 allows nothing else
        opaque, boundary = _structure(type_, stated.boundary, header, encoding)
        depth = parent.depth + 1 if parent else 0
        is_message = type_ in MESSAGES and opaque is None
        if (boundary is not None or is_message) and depth >= MAX_DEPTH:
            opaque, boundary = opaque or Reason.LIMIT_MIME_DEPTH, None
        elif is_message and self.count + 1 >= MAX_PARTS:
            opaque = Reason.LIMIT_MIME_PARTS
        part = _part(parent, type_, header, delimiter)._replace(
            charset=stated.charset,
            encoding=encoding,
            disputed=disputed,
            disposition=(disposition and token(disposition)) or None,
            name=name,
            opaque=opaque,
            message=is_message and opaque is None,
        )
        return _OpenPart(part, parent, index, boundary, depth)

    # ---- entities end

    def next(self, floor: int) -> tuple[Span, _OpenPart, bool] | None:
        """Return the first delimiter from `floor` on, its multipart, and whether it closes that."""
        data, opened = self.data, self.opened
        # If only one boundary is open, search for all of it.
        mark = b"--" + (next(iter(opened)) if len(opened) == 1 else b"")
        at = floor if data.startswith(mark, floor) else self._marked(mark, floor)
        while at < len(data):
            stop = data.find(self.eol, at)
            stop = len(data) if stop < 0 else stop
            line = data[at + 2 : stop].rstrip(b"\t\r ")
            owners = opened.get(line)
            closes = owners is None and line.endswith(b"--")
            if closes:
                owners = opened.get(line[:-2])
            if owners:
                # The line break after a closing delimiter may begin an outer one (§5.1.1).
                end = min(stop + 1, len(data))
                after = self._line_break(stop + 1, at) if closes else end
                return Span(self._line_break(at, floor), after), owners[-1], closes
            at = self._marked(mark, stop)
        return None

    def _marked(self, mark: bytes, at: int) -> int:
        mark_at = self.data.find(self.eol + mark, at)
        return len(self.data) if mark_at < 0 else mark_at + 1

    def _line_break(self, at: int, floor: int) -> int:
        """Return where the line break in front of a line begins, but not before `floor`."""
        before = max(at - 1, floor)
        with_cr = self.eol == b"\n" and before > floor and self.data[before - 1] == ord("\r")
        return before - 1 if with_cr else before

    def end(self, at: int, owner: _OpenPart | None) -> None:
        """End the entities inside `owner` (for None, all), and the preamble of `owner`."""
        while self.path and self.path[-1] is not owner:
            entity = self.path.pop()
            entity.end = at
            if entity.close is None and entity.boundary is not None:
                self.forget(entity)
        if owner is not None and owner.preamble is None:
            owner.preamble = at

    def forget(self, entity: _OpenPart) -> None:
        """Remove the newest multipart with this boundary; past the limit of parts none is left."""
        assert entity.boundary is not None
        owners = self.opened.get(entity.boundary, [])
        if len(owners) > 1:
            owners.pop()
        else:
            self.opened.pop(entity.boundary, None)


def _part(parent: _OpenPart | None, type_: str, header: Header, delimiter: Span) -> Part:
    body = Span(header.body, header.body)
    if parent is None:
        return Part("", None, type_, header, body, delimiter, ())
    boundaries = parent.part.boundaries + ((parent.boundary,) if parent.boundary else ())
    number = _number(parent, type_)
    return Part(number, parent.index, type_, header, body, delimiter, boundaries)


def _structure(
    type_: str, boundary: bytes | None, header: Header, encoding: str
) -> tuple[Reason | None, bytes | None]:
    """Return why a body is not entered, and the boundary by which a multipart is followed."""
    if header.cut:
        return Reason.LIMIT_HEADER, None
    is_multipart = type_.startswith("multipart/")
    boundary = boundary if is_multipart else None
    if type_ in OPAQUE_TYPES or type_.startswith(OPAQUE_PREFIXES):
        return OPAQUE_TYPES.get(type_, Reason.MIME_SEALED), boundary
    if is_multipart and boundary is None:
        return Reason.MIME_BOUNDARY, None
    if (is_multipart or type_ in MESSAGES) and encoding not in IDENTITY:
        return Reason.MIME_ENCODED, boundary
    return None, boundary


def _number(parent: _OpenPart, type_: str) -> str:
    """Return the IMAP section number: `2` for a part, `2.1` for the text of the message in it."""
    number = parent.part.number
    if not parent.part.message:
        return f"{number}.{parent.children}" if number else str(parent.children)
    # RFC 3501 §6.4.5: a message that is not a multipart has its body as part 1.
    section = number or "1"
    return section if type_.startswith("multipart/") else f"{section}.1"
