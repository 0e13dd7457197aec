"""What a layer of RFC 1808 §3 is called in the page: one row each, from the inside outward."""

from __future__ import annotations

from typing import Final

from relbase.bases.layers import Base, Layer
from relbase.records import NamedTuple


class Shown(NamedTuple):
    """How a layer is shown.

    Args:
        name: of its CSS class.
        section: of RFC 1808.
        mark: before each reference that it decides, so that colour is not all.
        title: as the figure of §3 has it.
        missing: what is said where nothing states a base in it.
    """

    name: str
    section: str
    mark: str
    title: str
    missing: str


SHOWN: Final = {
    Layer.EMBEDDED: Shown(
        "embedded",
        "3.1",
        "\N{SUPERSCRIPT ONE}",
        "Base URL embedded in the document's content",
        "the document states none",
    ),
    Layer.ENTITY: Shown(
        "entity",
        "3.2",
        "\N{SUPERSCRIPT TWO}",
        "Base URL of the encapsulating entity",
        "no header around it states one",
    ),
    Layer.RETRIEVAL: Shown(
        "retrieval",
        "3.3",
        "\N{SUPERSCRIPT THREE}",
        "URL used to retrieve the entity",
        "it is not known",
    ),
    Layer.NONE: Shown(
        "none",
        "3.4",
        "\N{SUPERSCRIPT FOUR}",
        'Base URL = "" (undefined)',
        "",
    ),
}


def chain(base: Base | None) -> list[Base]:
    """Return a base and those of the layers around it, outward."""
    found = []
    while base is not None:
        found.append(base)
        base = base.outer
    return found
