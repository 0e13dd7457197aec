"""Whether an XML document is one: what the spans of `xml` found is believed only then.

expat decides, the parser of the standard library, which says where. It is stopped at the first
declaration of an entity or of an attribute's default: with those a document means what its
declarations make of it, and relbase reads none. So no entity is ever expanded, and nothing outside
of the document is looked for: expat fetches nothing on its own.
"""

from __future__ import annotations

from typing import NamedTuple


class Unsound(NamedTuple):
    """Why a document is passed through: the offset, and a phrase for people."""

    start: int
    text: str


class _Declared(Exception):  # noqa: N818 (it is not an error)
    """The document declares what relbase does not read."""


def unsound(text: bytes) -> Unsound | None:
    """Say where and why a document is not well-formed, or declares entities or defaults.

    Args:
        text: the document, in UTF-8, whatever its declaration says.

    Namespaces do not count: a prefix that is bound nowhere makes an element of no vocabulary.

    >>> unsound(b"<a><b></a>")
    Unsound(start=7, text='it is not well-formed: mismatched tag')
    """
    from xml.parsers import expat  # noqa: PLC0415 (most documents have nothing to change)

    parser = expat.ParserCreate("utf-8")
    parser.EntityDeclHandler = _entity
    parser.AttlistDeclHandler = _attribute
    try:
        parser.Parse(text, True)
    except _Declared as declared:
        return Unsound(parser.CurrentByteIndex, str(declared))
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        return Unsound(max(parser.ErrorByteIndex, 0), f"it is not well-formed: {why}")
    return None


def _entity(name: str, *_declaration: object) -> None:
    raise _Declared(f"it declares the entity {name[:40]!r}")


def _attribute(element: str, name: str, _type: str, default: str | None, _required: int) -> None:
    if default is not None:
        raise _Declared(f"it declares a default of the attribute {name[:40]!r} of {element[:40]!r}")
