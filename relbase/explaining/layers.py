"""What a layer of RFC 1808 §3 is called in the page: one row each, from the inside outward."""

from __future__ import annotations

from typing import Final, NamedTuple

from relbase.bases.layers import Base, Layer


class Shown(NamedTuple):
    """How a layer is shown."""

    name: str  # of its CSS class, which also puts a sign before each of its references
    section: str  # of RFC 1808
    title: str  # as the figure of §3 has it
    missing: str  # what is said where nothing states a base in it


SHOWN: Final = {
    Layer.EMBEDDED: Shown(
        "embedded",
        "3.1",
        "Base URL embedded in the document's content",
        "the document states none",
    ),
    Layer.ENTITY: Shown(
        "entity",
        "3.2",
        "Base URL of the encapsulating entity",
        "no header around it states one",
    ),
    Layer.RETRIEVAL: Shown(
        "retrieval", "3.3", "URL used to retrieve the entity", "it is not known"
    ),
    Layer.NONE: Shown("none", "3.4", 'Base URL = "" (undefined)', ""),
}


def chain(base: Base | None) -> list[Base]:
    """Return a base and those of the layers around it, outward."""
    found = []
    while base is not None:
        found.append(base)
        base = base.outer
    return found
