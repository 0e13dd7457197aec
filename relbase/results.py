"""What callers get: links, entities and the result of `rewrite`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.notes import Note, Reason

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.edit import Edit, Span
    from relbase.rewriting.outcomes import Status

# The most notes of one reason that are kept; a hostile document could cause millions.
MAX_NOTES: Final = 1000


class Link(NamedTuple):
    """One link of a document: where it is, what it resolves to, and why.

    Args:
        part: Section number of the message part, as in IMAP ("1.2"); "" for the document.
        element: Name of the element, in lower case; "" in a style sheet.
        attribute: Name of the attribute, in lower case; "" for text.
        syntax: What the attribute or text contains: "url", "srcset", "css", ...
        reference: As the author wrote it, decoded, without white space around it.
        url: What the reference resolves to; None if unresolved.
        base: The base that the reference was resolved against.
        span: Where the reference is in the input, in bytes.
        line: Line number, from 1.
        column: Column in bytes, from 1.
        status: Whether it was rewritten, is absolute, was kept or is unresolved.
        text: The text of the element that the link is on, of an area its `alt`, of an anchor with
            images alone that of the first one; "" unless `texts=True`. White space is folded,
            scripts and styles are left out, and what follows 200 characters.
        rel: The `rel` of the element; "" unless `texts=True`.
    """

    part: str
    element: str
    attribute: str
    syntax: str
    reference: str
    url: str | None
    base: Base
    span: Span
    line: int
    column: int
    status: Status
    text: str = ""
    rel: str = ""

    def as_dict(self, *, texts: bool = False) -> dict[str, str | int | None]:
        """Return a flat dict of JSON types: a line of `relbase links --json`, or a row of a table.

        With `texts`, `text` and `rel` are in it.

        >>> from relbase import links
        >>> [link] = links(b"<a href=x>", url="http://h/")
        >>> row = link.as_dict()
        >>> row["url"], row["status"], row["layer"], row["start"]
        ('http://h/x', 'rewritten', 'retrieval', 8)
        """
        return {
            "part": self.part,
            "element": self.element,
            "attribute": self.attribute,
            "syntax": self.syntax,
            "reference": self.reference,
            "url": self.url,
            "status": self.status.value,
            "layer": self.base.layer.value,
            "base": self.base.url,
            "base_source": self.base.source,
            "line": self.line,
            "column": self.column,
            "start": self.span.start,
            "end": self.span.end,
            **({"text": self.text, "rel": self.rel} if texts else {}),
        }


@dataclass(frozen=True, slots=True)
class Entity:
    """The document itself, or one part of a message.

    Args:
        part: Section number, as in IMAP ("1.2"); "" for the document itself.
        type: Media type.
        span: Where the entity is in the input, in bytes.
        base: Its base, and the layers around it.
    """

    part: str
    type: str
    span: Span
    base: Base


class Result:
    """What `rewrite` returns: read-only, comparable and picklable.

    `base` and `links` are computed on first access.
    """

    __slots__ = ("_base", "_data", "_edits", "_links", "_notes")

    def __init__(
        self,
        data: bytes,
        edits: Sequence[Edit],
        notes: tuple[Note, ...],
        base: Callable[[], Base] | Base,
        links: Callable[[], Iterable[Link]] | tuple[Link, ...],
    ) -> None:
        self._data = data
        self._base = base
        self._edits = edits
        self._notes = notes
        self._links = links

    @property
    def data(self) -> bytes:
        """The document with absolute links; the input itself if nothing changed."""
        return self._data

    @property
    def edits(self) -> Sequence[Edit]:
        """The changes, as offsets in the input, sorted and disjoint.

        A tuple, unless they take more memory than the document: then they are made one by one.
        """
        if isinstance(self._edits, list):
            self._edits = tuple(self._edits)
        return self._edits

    @property
    def notes(self) -> tuple[Note, ...]:
        """Remarks: what was left unchanged, and why."""
        return self._notes

    @property
    def changed(self) -> bool:
        """Whether anything changed."""
        return bool(self._edits)

    @property
    def base(self) -> Base:
        """The base of the document, with the layers around it."""
        if callable(self._base):
            self._base = self._base()
        return self._base

    @property
    def links(self) -> tuple[Link, ...]:
        """Every reference of the input, with what it resolves to and why."""
        if not isinstance(self._links, tuple):
            self._links = tuple(self._links())
        return self._links

    def _replace(self, **changed: Any) -> Result:  # noqa: ANN401 (as a named tuple does)
        given = {name[1:]: getattr(self, name) for name in self.__slots__}
        return Result(**{**given, **changed})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Result):
            return NotImplemented
        same = (self.data, self.edits, self.notes) == (other.data, other.edits, other.notes)
        return same and self.base == other.base

    def __hash__(self) -> int:
        return hash((self.data, self.edits))

    def __repr__(self) -> str:
        return f"Result({len(self.edits)} edits, {len(self.notes)} notes, base={self.base.url!r})"


class Notes:
    """Collects at most `MAX_NOTES` notes of each reason, and one with a count of some reasons."""

    __slots__ = ("_counts", "_notes")

    def __init__(self, notes: Iterable[Note] = ()) -> None:
        self._notes: list[Note] = []
        self._counts: dict[Reason, int] = {}  # a Counter takes as long as a small page
        for note in notes:
            self.add(note)

    def add(self, note: Note) -> None:
        """Keep a note, or only count it if there are too many of its reason."""
        count = self._counts[note.reason] = self._counts.get(note.reason, 0) + 1
        if count <= (1 if note.reason in _COUNTED else MAX_NOTES):
            self._notes.append(note)

    def collected(self) -> tuple[Note, ...]:
        """The notes, and for each reason with too many, one more that counts the rest."""
        if not self._notes:
            return ()
        left = {note.reason: self._counts[note.reason] - MAX_NOTES for note in self._notes}
        more = [
            Note(reason, "", None, f"{count} more of this kind")
            for reason, count in left.items()
            if count > 0 and reason not in _COUNTED
        ]
        return (*map(self._counted, self._notes), *more)

    def _counted(self, note: Note) -> Note:
        if (words := _COUNTED.get(note.reason)) is None:
            return note
        count = self._counts[note.reason]
        return note._replace(text=f"{count} {words[count > 1]}: {note.text}")


# One note stands for all with such a reason. Its text counts them: singular, plural.
_COUNTED: Final = {
    Reason.JSON_LD_RELATIVE: ("URL in JSON-LD is relative", "URLs in JSON-LD are relative"),
    Reason.PLACEHOLDER_KEPT: ("link begins with a placeholder", "links begin with a placeholder"),
    Reason.REFERENCE_BACKSLASH: ("reference has a backslash", "references have a backslash"),
    Reason.REFERENCE_CLIMBS: ("reference climbs above the root", "references climb above the root"),
}
