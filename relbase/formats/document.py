"""How a kind of document is read, and a document that has been opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from relbase.edit import Span
from relbase.expressions import expression
from relbase.notes import Note, Reason
from relbase.results import Entity
from relbase.rewriting.context import Context, Wanted
from relbase.rewriting.outcomes import Batch, Outcome, lower, single
from relbase.savers.rows import NONE, Marks
from relbase.scan.tables import BEYOND_ASCII, MAY_BE_MARKED, MAY_STATE_CHARSET, NOT_UNICODE
from relbase.view.charset import (
    DEFAULT,
    GUESSED,
    ISO_2022_JP,
    NOT_ASCII,
    PRESCAN_LENGTH,
    UNREADABLE,
    WIDE,
    Charset,
    CharsetSource,
    not_ascii,
)

if TYPE_CHECKING:
    import re

    from relbase.bases.layers import Base
    from relbase.kind import Kind
    from relbase.mail.documents import DecodedBody
    from relbase.view.runs import View

Visit: TypeAlias = Callable[[bytes, Context], Iterator[Batch]]
# Finds the charset of a document from its bytes and the label in the header, if there is one.
CharsetRule: TypeAlias = Callable[[bytes, str | None], Charset]
# Shows bytes of a charset as UTF-8; None if the bytes themselves can be scanned.
ViewRule: TypeAlias = "Callable[[bytes, str], View | None]"
# Returns the context of a text by its charset, that of its document, and what nothing states.
InCharset: TypeAlias = "Callable[[str, str, re.Pattern[str] | None], Context]"


def _document_view(data: bytes, charset: str) -> View | None:
    if charset not in WIDE and charset != ISO_2022_JP:
        return None
    from relbase.view.transcode import document_view

    return document_view(data, charset)


class Format(NamedTuple):
    """All that relbase knows about one kind of document."""

    kind: Kind
    # its media types, also `x/*` and `*+x`; the first is the one that entities show
    types: tuple[str, ...]
    suffixes: str = ""  # of its file names, without the dot
    # whether a document with these first bytes (`sniffing.beginning`) is of this kind
    looks: Callable[[bytes], bool] | None = None
    # whether these first bytes are of this kind and of no other: how most documents begin
    settles: Callable[[bytes], bool] | None = None
    # media types and suffixes that it shares with other kinds, so that the bytes decide
    among: tuple[str, ...] = ()
    # finds its charset; None if its bytes are visited as they are
    charset: CharsetRule | None = None
    view: ViewRule = _document_view  # shows its text as UTF-8
    # yields what a text holds, with offsets in it; None if the kind is never rewritten
    visit: Visit | None = None
    # finds the base of a text: its own, or else that of its container
    base: Callable[[bytes, Context], Base] = lambda _text, context: context.base
    # reads the marks of programs that save pages, and tells at first what a document may hold
    marks: Callable[[bytes, str], Marks] | None = None
    look: Callable[..., int] | None = None
    # lists the entities inside; None if the document is the only one
    entities: Callable[[bytes, Context], Iterator[Entity]] | None = None
    # whether it can be larger than memory, so that its documents are processed one at a time
    streams: bool = False
    # what a note says if no base is known
    advice: str = "the document's URL is unknown (pass url=)"
    # yields the encoded bodies in a text, decoded, for `explain`; None if there are none
    decoded: Callable[[bytes, Context], Iterator[DecodedBody]] | None = None
    # whether a document that begins with these bytes is a feed or a sitemap
    is_feed: Callable[[bytes], bool] = lambda _start: False
    # whether it holds messages: they have senders, may be compressed, and files named as text
    # may hold them
    messages: bool = False
    # whether the bytes are of this kind even if their label is one of a kind that `yields`
    is_certain: Callable[[bytes], bool] = lambda _start: False
    yields: bool = False
    # whether to note documents that begin like this kind but are labelled as another,
    doubts: bool = False
    # unless that other kind may be right
    may_be: Callable[[bytes], bool] = lambda _start: False
    title: str = ""  # what notes call it where they list what is read
    is_judged: bool = False  # whether its visit notes documents of another kind
    stating: str = ""  # markup that states a base (`{}`) at the start of a text, if any
    # whether files in a directory are rewritten only if their kind is asked for
    is_asked_for: bool = False
    # whether its visit can yield lists of links if the bytes themselves are scanned
    makes_links: bool = False

    def first_look(
        self, data: bytes, label: str | None, *, for_marks: bool = False, for_base: bool = False
    ) -> int:
        """Return what a document may hold; 0 for its base if nothing in it states one."""
        if self.look is None or (label and not (for_marks or for_base)):
            return MAY_STATE_CHARSET | (MAY_BE_MARKED if self.marks else 0)
        return self.look(data, labelled=bool(label), for_marks=for_marks, for_base=for_base)

    def opened(
        self, data: bytes, label: str | None, in_charset: InCharset, looked: int | None = None
    ) -> Document:
        """Open a document, perhaps after a first look: find its charset and the text to scan."""
        if self.charset is None:
            context = in_charset("utf-8", "utf-8", None)
            return Document(self, data, data, None, None, context, looked=looked or 0)
        looked = self.first_look(data, label) if looked is None else looked
        if label or looked & MAY_STATE_CHARSET:
            charset = read_charset(data, label, self.charset)
        else:
            is_guessed = looked & (BEYOND_ASCII | NOT_UNICODE) == BEYOND_ASCII
            charset = GUESSED if is_guessed else DEFAULT
        name = charset.name
        if name in _ODD and (why := _unreadable(data, charset)):
            context = in_charset("utf-8", "utf-8", None)
            note = Note(Reason.CHARSET_UNSUPPORTED, context.part, None, f"{why}: left unchanged")
            return Document(self, data, data, None, charset, context, (note,))
        view, unstated = None if name == "utf-8" else self.view(data, name), None
        if charset.source in _GUESSED:
            # Matches references whose meaning depends on the charset, if none is stated.
            unstated = _QUERY_NOT_ASCII if data.isascii() else _NOT_ASCII
        context = in_charset(name if view is None else "utf-8", name, unstated)
        if view is None:
            return Document(self, data, data, None, charset, context, (), (), looked)
        return Document(self, data, view.inner, view, charset, context)


class Document(NamedTuple):
    """A document that has been opened."""

    format: Format  # the row of its kind
    data: bytes  # its bytes
    text: bytes  # what is visited: the bytes, or the text that the view shows
    view: View | None  # shows the text; None if the bytes themselves are visited
    charset: Charset | None  # of the document; None if the kind has none
    context: Context  # of its container, with the charset of the text
    notes: tuple[Note, ...] = ()  # why its references cannot be looked for
    remarks: tuple[Note, ...] = ()  # on its kind, if it is nested in another document
    looked: int = MAY_BE_MARKED  # what a first look told, as bits of `scan.tables`

    def visit(self, wanted: Wanted | None = None) -> Iterator[Outcome]:
        """The items of the document, with offsets in its bytes."""
        if self.format.visit is None or self.notes:
            return iter(self.remarks)
        context = self.context if wanted is None else self.context._replace(wanted=wanted)
        items = single(self.format.visit(self.text, context))
        lowered = items if self.view is None else lower(items, self.view, 0)
        return chain(self.remarks, lowered) if self.remarks else lowered

    def base(self, wanted: Wanted | None = None) -> Base:
        """The base of the document: its own, or that of its container."""
        if self.notes:
            return self.context.base
        context = self.context
        context = context.visited(wanted, context.budget) if wanted else context
        return self.format.base(self.text, context)

    def marks(self) -> Marks:
        """What programs that save pages left in the document."""
        read = self.format.marks
        return NONE if read is None or self.notes else read(self.text, self.context.charset)

    def entities(self, type_: str) -> Iterator[Entity]:
        """The entities of the document, itself first."""
        if self.format.entities is not None:
            return self.format.entities(self.text, self.context)
        span = Span(0, len(self.data))
        return iter((Entity(self.context.part, type_, span, self.base()),))

    def moves_charset(self, output: bytes, label: str | None) -> bool:
        """Whether the rewritten document would be read in another charset (threat E6)."""
        rule = self.format.charset
        if rule is None or self.charset is None or self.charset.source is not CharsetSource.META:
            return False
        if output.startswith(self.data[:PRESCAN_LENGTH]):
            return False
        return read_charset(output, label, rule).name != self.charset.name


def read_charset(data: bytes, label: str | None, rule: CharsetRule) -> Charset:
    """Return the charset of a document."""
    other = not_ascii(data, label)
    if other:
        return Charset(other, CharsetSource.TRANSPORT if label else CharsetSource.BOM)
    charset = rule(data, label)
    if charset.source is CharsetSource.GUESS and data.isascii():
        # ASCII reads the same in all. Queries and new text follow the default of browsers [C].
        return DEFAULT
    return charset


def _unreadable(data: bytes, charset: Charset) -> str:
    """Why a text with this charset cannot be read; "" if it can."""
    if charset.name in UNREADABLE:
        return "the charset that the document states is not read"
    if charset.name in NOT_ASCII:
        return f"the charset is {charset.name!r}, which is not read"
    # In these charsets each ASCII character, and so `<` and `{`, has a zero byte.
    if charset.name in WIDE and data and b"\0" not in data:
        return f"the charset is stated as {charset.name}, but no byte is zero, so it has no markup"
    return ""


_ODD: Final = UNREADABLE | NOT_ASCII | WIDE.keys()
_GUESSED: Final = (CharsetSource.GUESS, CharsetSource.DEFAULT, CharsetSource.CONTRADICTED)
_NOT_ASCII: Final = expression(r"[\0-\x7f]*+[^\0-\x7f]")
_QUERY_NOT_ASCII: Final = expression(r"[^?#]*+\?[\0-\x22\x24-\x7f]*+[^\0-\x7f]")
