"""The bases of an XML document: that of the whole, and xml:base, element by element.

An `xml:base` applies to its element and everything inside, and is relative to the one outside (XML
Base 2 §4). In profile whatwg it does not count in documents that browsers show (rule 7), but it is
still made absolute, against the `xml:base` outside.
"""

from collections.abc import Callable
from typing import Final, TypeAlias

from relbase.bases.layers import Layer, Statement
from relbase.edit import Span
from relbase.expressions import regex
from relbase.html.tags import Attribute
from relbase.notes import Note, Reason
from relbase.rewriting.context import Context
from relbase.url.profiles import PROFILES
from relbase.values.syntaxes import trimmed
from relbase.view.characters import decode_inner
from relbase.view.charset import Lines
from relbase.xml.escapes import pieces_view
from relbase.xml.structure import Element, base_tag, embedded_base, is_shown, meant
from relbase.xml.vocabulary import XML_BASE
from relbase.xml.well_formed import Flaw

Resolve: TypeAlias = Callable[[str], str]

# No real document comes near; each level keeps the URL that it resolves to (threat N11).
MAX_XML_BASE_DEPTH: Final = 100


def note_on(reason: Reason, text: bytes, around: Context, flaw: Flaw, done: str) -> Note:
    """Return a note on a flaw of a document that says what was done about it."""
    at = Lines(text, around.encoding).of(flaw.start)
    words = f"{flaw.text} at {at}{around.within}: {done}"
    return Note(reason, around.part, Span(flaw.start, flaw.start), words)


_REMEMBERED: Final = 1 << 12
_FEW: Final = 16


def url_of(text: bytes, value: Attribute) -> str:
    """The one URL in a value or a text, as the URL parser reads it."""
    raw = text[value.start : value.end]
    inner = pieces_view(raw).inner if not value.quote and _is_text(raw) else meant(raw)
    return trimmed(decode_inner(inner))


_is_text: Final = regex(rb"[<\t\r\n]").search


def state(
    text: bytes, value: Attribute, source: str, context: Context, *, may_be_relative: bool = False
) -> tuple[Context, list[Note]]:
    """Return the context inside an element that states a base, and notes on the base."""
    statement = statement_of(text, value, source)
    if statement is None:
        return context, []
    statement = statement._replace(may_be_relative=may_be_relative)
    base, notes = context.established(statement)
    return context.with_base(base), notes


def statement_of(text: bytes, value: Attribute, source: str) -> Statement | None:
    """Return the base that a value states; None if it is empty."""
    url, span = url_of(text, value), Span(value.start, value.end)
    return Statement(Layer.EMBEDDED, url, source, span) if url else None


def on_own_base(text: bytes, around: Context) -> tuple[Context, list[Note], int]:
    """Return the context of a document with its `<base>`, notes on it, and its offset."""
    stated = embedded_base(text) if base_tag(text) else None
    if stated is None or around.task.policy.ignore_base:
        return around, [], 0
    at = Lines(text, around.encoding).of(stated.start)
    inside, notes = state(text, stated, f"<base href> at {at}{around.within}", around)
    return inside, notes, stated.start


def xml_base_counts(root: Element, around: Context) -> bool:
    """Whether xml:base counts: browsers ignore it in the documents that they show (rule 7)."""
    return PROFILES[around.task.profile].honours_xml_base or not is_shown(root)


class Scopes:
    def __init__(self, text: bytes, document: Context, *, counts: bool = True) -> None:
        self._text = text
        self._lines: Lines | None = None
        self._encoding = document.encoding
        self.counts = counts  # whether `xml:base` applies to its content, or is only made absolute
        self._part, self.depth = document.part, 0
        # Many elements may state the same few bases, and edits do not depend on where.
        self._known: dict[tuple[bytes, str], Context] = {}
        self._outer: list[tuple[Context | None, Context | None, int, int]] = []
        self.stated_at = -1  # the offset of the `xml:base` that applies here; -1 for none
        self.inside: Context | None = document  # None if bases nest too deep
        self.stated: Context | None = document  # resolves the next `xml:base`

    def enter(self, element: Element) -> list[Note]:
        """Enter an element; return notes on its `xml:base`."""
        if element.opens:
            self._outer.append((self.inside, self.stated, self.depth, self.stated_at))
        stated = element.attributes.get(XML_BASE)
        if stated is None or self.stated is None:
            return []
        self.depth += 1
        self.stated_at = stated.start
        if self.depth > MAX_XML_BASE_DEPTH:
            self.inside = self.stated = None
            text = f"xml:base nests deeper than {MAX_XML_BASE_DEPTH}: its content is left unchanged"
            return [Note(Reason.LIMIT_XML_BASE, self._part, Span(stated.start, stated.end), text)]
        key = (self._text[stated.start : stated.end], self.stated.base.url)
        known = self._known.get(key)
        if known and (not known.budget or known.budget.prepare(len(known.base.url))):
            self.stated = known
            self.inside = self.stated if self.counts else self.inside
            return []
        name = element.name.decode("utf-8", "replace")
        self._lines = self._lines or Lines(self._text, self._encoding)
        source = f"xml:base of <{name}> at {self._lines.of(stated.start)}"
        is_forgotten = not self.stated.wanted.edits_only or len(key[0]) > _REMEMBERED
        # XML Base 2 §3: unlike `<base>`, it may be relative.
        self.stated, notes = state(self._text, stated, source, self.stated, may_be_relative=True)
        if not notes and not is_forgotten:
            if len(self._known) >= _FEW:
                self._known.clear()
            self._known[key] = self.stated
        if not self.counts:
            return []
        self.inside = self.stated
        return notes

    def leave(self) -> None:
        """Leave the element with a scope that was entered last."""
        self.inside, self.stated, self.depth, self.stated_at = self._outer.pop()
