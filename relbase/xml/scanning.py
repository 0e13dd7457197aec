"""Read XML ahead of the exact walk, with the compiled scanner.

The scanner knows no namespaces. When the exact walk meets an element, the scanner learns what its
attributes and text hold; it forgets that when a prefix is bound again.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from relbase.bases.layers import MAX_BASE
from relbase.edit import Edit
from relbase.expressions import regex
from relbase.html.foreign import HTML
from relbase.html.vocabulary import Nested, Row
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import BaseResolver, Context
from relbase.scan import binding, tables
from relbase.scan.held import HELD, holds_url
from relbase.scan.plain_forms import Prefixes, base_of_names, is_same_in_css, walk_for
from relbase.url.plain import UNRESERVED, plain_base
from relbase.url.profiles import PROFILES
from relbase.values.syntaxes import Syntax
from relbase.xml import structure
from relbase.xml.bases import MAX_XML_BASE_DEPTH, Resolve, Scopes
from relbase.xml.escapes import without_bad
from relbase.xml.names import Named, Names
from relbase.xml.vocabulary import XML_BASE

# How many of each are learned. Documents have a handful; the exact walk reads hostile ones.
_MOST: Final = 512
_MOST_ATTRIBUTES: Final = 64

# Relative in both RFCs, and its resolved URL is a base without further changes.
_relative: Final = regex(rf"[{UNRESERVED}./]++(?:\?[{UNRESERVED}./=]*+)?+")
_FEW: Final = 16


class Ahead:
    """Reads ahead in one document."""

    def __init__(self, text: bytes, scopes: Scopes, around: Context) -> None:
        self._text = text
        # Bytes that are not characters are masked.
        self._readable = without_bad(text, "\udcff")
        self._scopes = scopes
        self._extended = around.extended
        self._item_links = around.task.policy.item_links
        # The policy, or what was saved beside the page, may have to see each reference.
        is_asked = around.local_files is not None or around.task.keeps is not None
        self._may_enter = not (is_asked or self._item_links)
        self.is_html = self.may_have_entities = False  # what its root tells
        self._context: Context | None = None
        # Takes a text, an offset and the end, how many elements are open, how many must stay open,
        # `_reads`, what was learned, and what gives the prefixes for an `xml:base`. Returns edits,
        # the offset to go on at, how many are open there, the item of a feed, texts with HTML, and
        # whether references with flaws are among the edits.
        self._walk: Callable[..., Any] | None = None
        self._reads = 0
        self._elements: dict[bytes, tuple[int, bool, dict[bytes, int]]] = {}
        self._tags: dict[bytes, int] = {}
        self._changes = -1  # of names, when they were learned
        self._plain: dict[str, Prefixes] = {}
        # Bases that the scanner met: what resolves against each, its offset and length.
        self.scanned: list[tuple[Resolve | None, int, int]] = []
        self._unpaid = 0  # the sum of these lengths
        # Of those yet to be paid: where their elements begin, and these lengths.
        self._due: deque[tuple[int, int]] = deque()

    def scan(
        self, names: Names, pos: int, depth: int, floor: int
    ) -> tuple[structure.Scanned | None, int, int]:
        """Read ahead to what needs a closer look; an offset of -1 means the end.

        `depth` elements are open, and `floor` must stay open.
        """
        context = self._scopes.inside
        if context is not self._context:
            self._go_on_in(context)
        if self._walk is None:
            return None, pos, depth
        if self._changes != names.changes:
            self._forget(names)
        self.scanned.clear()
        self._unpaid = 0
        where = self._readable, pos, len(self._text), depth, floor
        how = self._reads, self._elements, self._tags
        enter = self._prefixes if self._may_enter else lambda *_: None
        edits, pos, depth, item, markups, has_flaws = self._walk(*where, *how, enter)
        for _, at, length in self.scanned:
            if not 0 <= pos <= at:
                self._due.append((self._text.rfind(b"<", 0, at), length))
        if edits or item:
            return structure.Scanned(edits, item, markups, bool(has_flaws)), pos, depth
        if self._due:
            self.pay_up_to(len(self._text))
        return None, pos, depth

    def _go_on_in(self, context: Context | None) -> None:
        """Make edits with the base of a context; None if bases nest too deep."""
        self._context = context
        if context is None:
            self._walk = None
            return
        is_plain = not (self.may_have_entities or self._item_links)
        self._reads = 0 if self.may_have_entities else tables.TELLS_FLAWS
        if is_plain and is_same_in_css(context):
            self._reads |= tables.READS_MARKUP
        # The policy may have to see each reference, and in XML text `]` may need an escape.
        if context.task.keeps is not None or "]" in context.base.url:
            context = context._replace(resolve=None)
        self._walk = walk_for(context, binding.XML_WALK)

    def _forget(self, names: Names) -> None:
        """Forget what was learned, since names may mean something else now."""
        self._elements.clear()
        self._tags.clear()
        self._changes = names.changes

    def learn(
        self,
        tag: re.Match[bytes],
        named: Named,
        names: Names,
        attributes: structure.Attributes,
        text_row: Row | None,
    ) -> None:
        """Learn what the names of a start tag mean, none of which occurs twice."""
        if self._changes != names.changes:
            self._forget(names)
        name = tag[1]
        known = self._elements.get(name) or self._learn_name(name, named)
        if known is None:
            return
        holds_by_name, rows_of = known[2], named.attributes_of.rows
        keys = {attribute.name: key for key, attribute in attributes.items()}
        for attribute in structure.each_attribute(tag.string, *tag.span(2)):
            name = attribute[1]
            is_room = len(holds_by_name) < _MOST_ATTRIBUTES and len(name) <= tables.MAX_TAG
            if name in holds_by_name or not is_room or name.startswith(b"xmlns"):
                continue
            key = keys.get(name, b"")
            if key == XML_BASE:
                holds_by_name[name] = tables.SCOPE
            elif key != b"codebase":  # decides on the references of others
                holds = _attribute_holds(rows_of.get(key, ()), self._extended)
                if holds is not None:
                    holds_by_name[name] = holds
        if known[0] == tables.BY_TAG and len(self._tags) < _MOST:
            # If the tag is written like this, without the base that it states, which may differ.
            base, end = attributes.get(XML_BASE), tag.end()
            cut, on = (base.start, base.end) if base else (end, end)
            written = tag.string[tag.start(1) - 1 : cut] + tag.string[on:end]
            if len(written) <= tables.MAX_TAG:
                self._tags[written] = 0 if text_row is None else _holds(text_row)

    def _learn_name(self, name: bytes, named: Named) -> tuple[int, bool, dict[bytes, int]] | None:
        # XHTML in a feed may be in an item.
        is_plain = self.is_html or named.vocabulary != HTML
        if named.is_base or named.is_template or not is_plain:
            return None
        holds = _text_holds(named.attributes_of.text)
        if holds is None or len(self._elements) >= _MOST or len(name) > tables.MAX_TAG:
            return None
        known = self._elements[name] = holds, named.is_item, dict[bytes, int]()
        return known

    # ---- Bases that the scanner meets.

    def _prefixes(self, value: bytes, at: int, around: int) -> Prefixes | None:
        """Return the prefixes for an `xml:base` inside number `around` of `scanned` (0: none).

        None if its element has to be entered instead.
        """
        scopes = self._scopes
        outer = scopes.stated
        if outer is None or not scopes.counts:
            return None
        # What the budget still has if all that the scanner met is paid.
        left = MAX_BASE if outer.budget is None else outer.budget.left - self._unpaid
        if left < 0:
            return None
        resolve = self.scanned[around - 1][0] if around else outer.resolve
        if b"&" in value:
            value = structure.meant(value)
        url = value.decode("latin-1")
        if resolve is not None and _relative.fullmatch(url):
            url = resolve(url)
        edits = self._plain.get(url)
        if len(url) > min(left, MAX_BASE):
            return None
        if edits is None:
            profile = outer.task.profile
            resolve = BaseResolver(url, profile, outer.encoding)
            plain = base_of_names(url, profile)
            if plain or (not PROFILES[profile].normalizes and plain_base.fullmatch(url)):
                edits = Prefixes(resolve, outer.depth, plain)
            if edits is None or "]" in url or scopes.depth >= MAX_XML_BASE_DEPTH // 2:
                return None
            if len(self._plain) >= _FEW:
                self._plain.clear()
            self._plain[url] = edits
        self._unpaid += len(url)
        self.scanned.append((edits.resolve, at, len(url)))
        return edits

    def pay_up_to(self, end: int) -> None:
        """Pay for the bases whose elements begin before an offset."""
        budget = None if self._scopes.stated is None else self._scopes.stated.budget
        while self._due and self._due[0][0] < end:
            _, length = self._due.popleft()
            if budget is not None:
                budget.prepare(length)

    def pay_for_all(self, budget: Budget, edits: list[Edit]) -> bool:
        """Pay for edits and for the bases of their elements; False if nothing was paid."""
        before = budget.state()
        lengths = sum([length for _, length in self._due])
        if budget.prepare(lengths) and budget.spend_on_all(edits):
            self._due.clear()
            budget.rewritten += len(edits)
            return True
        budget.restore(before)
        return False

    def affordable(self, budget: Budget, edits: list[Edit], depth: int) -> list[Edit]:
        """Pay for edits, and for bases, in their order; return the edits that are paid."""
        paid: list[Edit] = []
        while edits and self._due:
            at = bisect_left(edits, self._due[0][0], key=itemgetter(0))
            paid += budget.affordable(edits[:at], depth)
            edits = edits[at:]
            if edits:
                self.pay_up_to(edits[0].start)
        paid += budget.affordable(edits, depth)
        budget.rewritten += len(paid)
        return paid


@lru_cache(maxsize=256)
def _attribute_holds(rows: tuple[Row, ...], extended: int) -> int | None:
    """Return what an attribute holds by its rows; None if it depends on anything else."""
    known = [row for row in rows if row.is_known(extended)]
    if not known:
        return tables.NOTHING
    if any(row.when is not None or row.on_codebase for row in known):
        return None
    holds = HELD.get(known[0].syntax)
    return holds_url(known[0]) if holds == tables.URL else holds


@lru_cache(maxsize=256)
def _text_holds(rows: tuple[Row, ...]) -> int | None:
    """Return what the text of an element holds, or None if it is not read ahead."""
    holds = 0
    for row in reversed(rows):
        if row.syntax not in {Syntax.URL, Nested.HTML}:
            return None
        holds = tables.BY_TAG if holds == tables.BY_TAG or row.when is not None else _holds(row)
    return holds


def _holds(row: Row) -> int:
    if row.only or row.stays:
        return tables.MAYBE
    return tables.MARKUP if row.syntax is Nested.HTML else holds_url(row)
