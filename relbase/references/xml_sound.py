"""Whether an XML document is one: what the spans of `xml` found is believed only then.

expat decides, the parser of the standard library, which says where. It is stopped at the first
declaration of an entity or of an attribute's default: with those a document means what its
declarations make of it, and relbase reads none. So no entity is ever expanded, and nothing outside
of the document is looked for: expat fetches nothing on its own.
"""

from __future__ import annotations

from typing import Final, NamedTuple


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
    # expat keeps something for each open element.
    if text.count(b"</") * _KEPT_BY_EXPAT > _FREE * len(text):
        depth = _Depth()
        parser.StartElementHandler = depth.begin
        parser.EndElementHandler = depth.end
    try:
        parser.Parse(text, True)
    except _Declared as declared:
        return Unsound(parser.CurrentByteIndex, str(declared))
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        return Unsound(max(parser.ErrorByteIndex, 0), f"it is not well-formed: {why}")
    return None


# No real document comes near.
MAX_DEPTH: Final = 10_000
# In bytes for each element; what so many bytes of the document may take is not counted.
_KEPT_BY_EXPAT: Final = 150
_FREE: Final = 4


class _Depth:
    """How many elements are open."""

    __slots__ = ("_open",)

    def __init__(self) -> None:
        self._open = 0

    def begin(self, _name: str, _attributes: object) -> None:
        self._open += 1
        if self._open > MAX_DEPTH:
            raise _Declared(f"its elements nest deeper than {MAX_DEPTH}")

    def end(self, _name: str) -> None:
        self._open -= 1


def _entity(name: str, *_declaration: object) -> None:
    raise _Declared(f"it declares the entity {name[:40]!r}")


def _attribute(element: str, name: str, _type: str, default: str | None, _required: int) -> None:
    if default is not None:
        raise _Declared(f"it declares a default of the attribute {name[:40]!r} of {element[:40]!r}")
