"""The parts of a message as a tree, and their bytes without transfer encodings."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from relbase.containers.mail import walk
from relbase.view.base64 import base64_view
from relbase.view.quoted_printable import QuotedPrintableView

if TYPE_CHECKING:
    from relbase.containers.mail import Part


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
