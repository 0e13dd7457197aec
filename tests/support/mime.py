"""Messages of many parts in short: `{b}` begins a multipart of this boundary, `{>}` a message.

And the parts of any message: as pieces, as a tree, decoded.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from unittest.mock import patch

from relbase.containers import mail
from relbase.containers.mail import MAX_DEPTH, MAX_PARTS, Part, walk
from relbase.edit import Span
from relbase.view.base64 import base64_view
from relbase.view.quoted_printable import QuotedPrintableView


def message(text: str) -> bytes:
    """Write a message out: `{b}`, `{b digest}` and `{>}` stand for the end of a header."""
    return re.sub(r"\{([^{} ]+)(?: (\w+))?\}", _header, text).encode("latin-1")


def _header(found: re.Match[str]) -> str:
    if found[1] == ">":
        return "Content-Type: message/rfc822\n\n"
    return f'Content-Type: multipart/{found[2] or "mixed"}; boundary="{found[1]}"\n\n'


def pieces(part: Part) -> list[Span]:
    """What of a message a part is alone: its delimiter, its header, its leaf or what is around."""
    spans = [part.delimiter, Span(part.header.start, part.header.body)]
    if part.multipart is not None:
        return [*spans, part.multipart.preamble, part.multipart.close, part.multipart.epilogue]
    return spans if part.message else [*spans, part.body]


def assert_lossless(data: bytes, parts: list[Part]) -> None:
    """Check that each byte of a message is in one piece of one part."""
    spans = sorted(span for part in parts for span in pieces(part))
    at = 0
    for span in spans:
        assert (at, span.start) == (span.start, at), f"{data!r} at {at}: {span}"
        at = span.end
    assert at == len(data)


def walked(data: bytes, parts: int = MAX_PARTS, depth: int = MAX_DEPTH) -> list[Part]:
    """Return the parts of a message under limits; all its bytes are somewhere."""
    with patch.multiple(mail, MAX_PARTS=parts, MAX_DEPTH=depth):
        found = walk(data)
    assert_lossless(data, found)
    return found


def tree(data: bytes) -> list[tuple[str, str, bytes | None]]:
    """The number, the type and, of a leaf, the body of each part."""
    return [
        (one.number, one.type, None if one.multipart or one.message else data[slice(*one.body)])
        for one in walked(data)
    ]


def leaves(data: bytes) -> list[tuple[str, bytes]]:
    """The number and the body of each leaf but a message itself."""
    return [(number, body) for number, _, body in tree(data) if number and body is not None]


class Entity(NamedTuple):
    """A part, and those that are in it."""

    part: Part
    inside: list[Entity]

    @classmethod
    def of(cls, data: bytes) -> Entity:
        """The whole message."""
        entities = [cls(part, []) for part in walk(data)]
        for entity in entities:
            if entity.part.parent is not None:
                entities[entity.part.parent].inside.append(entity)
        return entities[0]


def decoded(data: bytes, part: Part) -> bytes:
    """Return the body of a part of `data` decoded, as it is written where it cannot be."""
    body = data[slice(*part.body)]
    if part.encoding == "quoted-printable":
        return QuotedPrintableView(body).inner
    view = base64_view(body) if part.encoding == "base64" else None
    return body if view is None else view.inner
