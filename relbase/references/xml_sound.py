"""Whether an XML document is one: what the spans of `xml` found is believed only then.

expat decides, the parser of the standard library, which says where. It is stopped at the first
declaration of an entity or of an attribute's default: with those a document means what its
declarations make of it, and relbase reads none. So no entity is ever expanded, and nothing outside
of the document is looked for: expat fetches nothing on its own.

In a feed nearly all is HTML that is written in texts, which expat has read already, each on its
own, when somebody asked what they mean (`xml_values`). Those are not read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.records import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from relbase.edit import Span


class Unsound(NamedTuple):
    """Why a document is passed through: the offset, and a phrase for people."""

    start: int
    text: str


class _Declared(Exception):  # noqa: N818 (it is not an error)
    """The document declares what relbase does not read."""


def unsound(text: bytes, read: Sequence[Span] = ()) -> Unsound | None:
    """Say where and why a document is not well-formed, or declares entities or defaults.

    Namespaces do not count: a prefix that is bound nowhere makes an element of no vocabulary.

    >>> unsound(b"<a><b></a>")
    Unsound(start=7, text='it is not well-formed: mismatched tag')
    """
    from xml.parsers import expat  # noqa: PLC0415 (most documents have nothing to change)

    parser = expat.ParserCreate("utf-8")
    parser.EntityDeclHandler = _entity
    parser.AttlistDeclHandler = _attribute
    # expat keeps something for each open element. One character is counted sooner than two.
    if all(text.count(mark) * _KEPT_BY_EXPAT > _FREE * len(text) for mark in (b"<", b"</")):
        depth = _Depth()
        parser.StartElementHandler = depth.begin
        parser.EndElementHandler = depth.end
    try:
        at = 0
        for start, end in read:
            parser.Parse(memoryview(text)[at:start], False)
            at = end
        parser.Parse(memoryview(text)[at:], True)
    except _Declared as declared:
        return Unsound(_place(parser.CurrentByteIndex, read), str(declared))
    except expat.ExpatError as error:
        why = expat.ErrorString(error.code)
        return Unsound(_place(max(parser.ErrorByteIndex, 0), read), f"it is not well-formed: {why}")
    return None


def _place(index: int, read: Iterable[Span]) -> int:
    """Where in the document something is, from where it is in what was not read before."""
    for start, end in read:
        if index < start:
            break
        index += end - start
    return index


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
