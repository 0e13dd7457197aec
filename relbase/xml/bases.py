"""The bases of an XML document: that of the whole, and xml:base, element by element.

An `xml:base` applies to its element and everything inside, and is relative to the one outside (XML
Base 2 §4). In profile whatwg it does not count in documents that browsers show (rule 7), but it is
still made absolute, against the `xml:base` outside.
"""

from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from operator import itemgetter
from typing import Any, Final, TypeAlias

from relbase.bases.layers import MAX_BASE, Layer, Statement
from relbase.edit import Edit, Span
from relbase.expressions import regex
from relbase.html.tags import Attribute
from relbase.notes import Note, Reason
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import BaseResolver, Context
from relbase.scan.plain_forms import Prefixes, base_of_names
from relbase.url.plain import UNRESERVED, plain_base
from relbase.url.profiles import PROFILES
from relbase.values.syntaxes import trimmed
from relbase.view.characters import decode_inner
from relbase.view.charset import Lines
from relbase.xml.escapes import pieces_view
from relbase.xml.structure import Element, embedded_base, is_shown, meant
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


# Relative in both RFCs, and its resolved URL is a base without further changes.
_relative: Final = regex(rf"[{UNRESERVED}./]++(?:\?[{UNRESERVED}./=]*+)?+")

_REMEMBERED: Final = 1 << 12
_FEW: Final = 16


def url_of(text: bytes, value: Attribute) -> str:
    """The one URL in a value or a text, as the URL parser reads it."""
    raw = text[value.start : value.end]
    inner = pieces_view(raw).inner if not value.quote and _is_text(raw) else meant(raw)
    return trimmed(decode_inner(inner))


_is_text: Final = regex(rb"[<\t\r\n]").search


def state(
    text: bytes, value: Attribute, source: str, context: Context
) -> tuple[Context, list[Note]]:
    """Return the context inside an element that states a base, and notes on the base."""
    statement = statement_of(text, value, source)
    if statement is None:
        return context, []
    base, notes = context.established(statement)
    return context.with_base(base), notes


def statement_of(text: bytes, value: Attribute, source: str) -> Statement | None:
    """Return the base that a value states; None if it is empty."""
    url, span = url_of(text, value), Span(value.start, value.end)
    return Statement(Layer.EMBEDDED, url, source, span) if url else None


def on_own_base(text: bytes, around: Context) -> tuple[Context, list[Note], int]:
    """Return the context of a document with its `<base>`, notes on it, and its offset."""
    stated = embedded_base(text)
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
        self._lines = Lines(text, document.encoding)
        self.counts = counts  # whether `xml:base` applies to its content, or is only made absolute
        self._part, self._depth = document.part, 0
        # Many elements may state the same few bases, and edits do not depend on where.
        self._known: dict[tuple[bytes, str], Context] = {}
        self._plain: dict[str, Prefixes] = {}
        # Bases that the compiled scanner met: what resolves against each, its offset and length.
        self.scanned: list[tuple[Resolve | None, int, int]] = []
        self._unpaid = 0  # the sum of these lengths
        # Of those yet to be paid: where their elements begin, and these lengths.
        self.due: deque[tuple[int, int]] = deque()
        self._outer: list[tuple[Context | None, Context | None, int, int]] = []
        self.stated_at = -1  # the offset of the `xml:base` that applies here; -1 for none
        self.inside: Context | None = document  # None if bases nest too deep
        self.stated: Context | None = document  # resolves the next `xml:base`

    def enter(self, element: Element) -> list[Note]:
        """Enter an element; return notes on its `xml:base`."""
        if self.due:
            self.pay_up_to(len(self._text))
        if element.opens:
            self._outer.append((self.inside, self.stated, self._depth, self.stated_at))
        stated = element.attributes.get(XML_BASE)
        if stated is None or self.stated is None:
            return []
        self._depth += 1
        self.stated_at = stated.start
        if self._depth > MAX_XML_BASE_DEPTH:
            self.inside = self.stated = None
            text = f"xml:base nests deeper than {MAX_XML_BASE_DEPTH}: its content is left unchanged"
            return [Note(Reason.LIMIT_XML_BASE, self._part, Span(stated.start, stated.end), text)]
        key = (self._text[stated.start : stated.end], self.stated.base.url)
        known = self._known.get(key)
        if known and (not known.budget or known.budget.prepare(len(known.base.url))):
            self.stated = known
            self.inside = self.stated if self.counts else self.inside
            return []
        source = f"xml:base of <{shown(element.name)}> at {self._lines.of(stated.start)}"
        is_forgotten = not self.stated.wanted.edits_only or len(key[0]) > _REMEMBERED
        self.stated, notes = state(self._text, stated, source, self.stated)
        # XML Base 2 §3: unlike `<base>`, it may be relative.
        held = self.stated.base.source == source
        notes = [note for note in notes if not (held and note.reason is Reason.BASE_RELATIVE)]
        if not notes and not is_forgotten:
            if len(self._known) >= _FEW:
                self._known.clear()
            self._known[key] = self.stated
        if not self.counts:
            return []
        self.inside = self.stated
        return notes

    def at_once(self, value: bytes, at: int, around: int) -> Prefixes | None:
        """Return the prefixes for an `xml:base` inside number `around` of `scanned` (0: none).

        None if its element has to be entered instead.
        """
        outer = self.stated
        if outer is None or not self.counts or self._left(outer) < 0:
            return None
        resolve = self.scanned[around - 1][0] if around else outer.resolve
        if b"&" in value:
            value = meant(value)
        url = value.decode("latin-1")
        if resolve is not None and _relative.fullmatch(url):
            url = resolve(url)
        edits = self._plain.get(url)
        if len(url) > MAX_BASE:
            return None
        if edits is None:
            profile = outer.task.profile
            resolve = BaseResolver(url, profile, outer.encoding)
            plain = base_of_names(url, profile)
            if plain or (not PROFILES[profile].normalizes and plain_base.fullmatch(url)):
                edits = Prefixes(resolve, outer.depth, plain)
            if edits is None or "]" in url or self._depth >= MAX_XML_BASE_DEPTH // 2:
                return None
            if len(self._plain) >= _FEW:
                self._plain.clear()
            self._plain[url] = edits
        if self._left(outer) < len(url):
            return None
        self._unpaid += len(url)
        self.scanned.append((edits.resolve, at, len(url)))
        return edits

    def _left(self, outer: Context) -> int:
        """What the budget still has if all that the compiled scanner met is paid."""
        return MAX_BASE if outer.budget is None else outer.budget.left - self._unpaid

    def scan(self, scan: Callable[..., Any], *where: Any) -> Any:  # noqa: ANN401 (as `scan` has)
        """Let the compiled scanner read; the bases in what it read are to be paid."""
        if self.due:
            self.pay_up_to(len(self._text))
        self.scanned.clear()
        self._unpaid = 0
        read = scan(*where)
        for _, at, length in self.scanned:
            if not 0 <= read[1] <= at:
                self.due.append((self._text.rfind(b"<", 0, at), length))
        return read

    def pay_up_to(self, end: int) -> None:
        """Pay for the bases whose elements begin before an offset."""
        budget = None if self.stated is None else self.stated.budget
        while self.due and self.due[0][0] < end:
            _, length = self.due.popleft()
            if budget is not None:
                budget.prepare(length)

    def pay_for_all(self, budget: Budget, edits: list[Edit]) -> bool:
        """Pay for edits and for the bases of their elements; False if nothing was paid."""
        before = budget.state()
        lengths = sum(length for _, length in self.due)
        if budget.prepare(lengths) and budget.spend_on_all(edits):
            self.due.clear()
            budget.rewritten += len(edits)
            return True
        budget.restore(before)
        return False

    def affordable(self, budget: Budget, edits: list[Edit], depth: int) -> list[Edit]:
        """Pay for edits, and for bases, in their order; return the edits that are paid."""
        paid: list[Edit] = []
        while edits and self.due:
            at = bisect_left(edits, self.due[0][0], key=itemgetter(0))
            paid += budget.affordable(edits[:at], depth)
            edits = edits[at:]
            if edits:
                self.pay_up_to(edits[0].start)
        paid += budget.affordable(edits, depth)
        budget.rewritten += len(paid)
        return paid

    def leave(self) -> None:
        """Leave the element with a scope that was entered last."""
        self.inside, self.stated, self._depth, self.stated_at = self._outer.pop()


def shown(name: bytes) -> str:
    return name.decode("utf-8", "replace")
