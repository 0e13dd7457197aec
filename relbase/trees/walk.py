"""A walk over a tree: which values hold references, what these are, and what they become.

The visits that rewrite bytes read each value: encoded as UTF-8 going in, decoded coming out. What a
URL becomes is remembered, since pages repeat their links.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, cast

from relbase.bases.layers import UNKNOWN, Base, Layer, Statement, establish, retrieval
from relbase.edit import Span
from relbase.opening.recognition import reader
from relbase.references.css_functions import holds_none, is_settled
from relbase.references.foreign import HTML
from relbase.references.values import C0_AND_SPACE, Syntax, clean, spell, trimmed
from relbase.references.vocabulary import Nested, Row, held
from relbase.references.xml_vocabulary import XML_BASE
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Context, Task
from relbase.rewriting.html import visit_comment, visit_value
from relbase.rewriting.items import Found, Item, Status, lower
from relbase.rewriting.reference import Place, on_codebase, verdict_of, visit_url
from relbase.trees.links import NOTHING, REPORTED, Settled, Value, settled_by
from relbase.trees.markup import SHEET
from relbase.trees.tree import Scopes
from relbase.url.resolver import Profile
from relbase.view.characters import inner as encode_inner
from relbase.view.characters import text as decode_inner
from relbase.view.xml_values import value_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from relbase.policy import Policy
    from relbase.trees.links import TreeLink
    from relbase.trees.markup import Spot
    from relbase.trees.tree import Tree


class Walk:
    """A tree that is looked into for one call."""

    def __init__(
        self,
        tree: Tree,
        url: str | None,
        profile: Profile,
        policy: Policy,
        *,
        resolve_base_href: bool,
    ) -> None:
        task = Task(profile, policy, reader, budget=Budget(0))
        retrieved, _ = retrieval(url or tree.url, ())
        base, _ = establish(retrieved, UNKNOWN, profile=profile)
        self._tree = tree
        self._around = Context(UNKNOWN, task).having(base=base, encoding=tree.encoding or "utf-8")
        embedded = self._embedded() if resolve_base_href else self._around.base
        self.inside = self._around.having(base=embedded, sheets=tree.has_sheets)
        # What to write for the beginnings of plain paths, by the context.
        self._prefixes: dict[tuple[int, str], str | None] = {}
        named = cast("tuple[tuple[str, str], ...]", policy.attributes)
        self._known = tree.known(extended=policy.extended, named=named)
        # What values become, by the contexts that they stand in.
        self._remembered: dict[int, dict[tuple[str, int], Settled]] = defaultdict(dict)
        # Whether CSS holds nothing that is asked for, at the first sight.
        self._holds_none = holds_none
        self._scopes = Scopes(self.inside)
        # In what browsers show xml:base does not count, but is made absolute (rule 7).
        self._ignores_scopes = profile is Profile.WHATWG and self._known.is_shown()

    def _embedded(self) -> Base:
        """The base that the document states itself (RFC 1808 §3.1), or that around it."""
        around, element = self._around, next(self._tree.bases(whole=True), None)
        if element is None:
            return around.base
        value = trimmed(self._tree.get(element, "href"))
        stated = Statement(Layer.EMBEDDED, value, "<base href>")
        return around.established(stated)[0]

    # One loop over all attributes: a call for each would take longer than what is done with it.
    def values(self, *, all_: bool) -> Iterator[Value]:  # noqa: C901
        """The values that hold references, in the order of the document."""
        get = self._tree.get
        self._holds_none = holds_none if all_ else is_settled
        inside = self.inside
        of_inside = self._remembered[id(inside)]
        for spot in self._tree.spots(self._known):
            element, kind, keys, scope = spot
            if not kind.name:
                yield from self._sheet(spot) if kind is SHEET else self._comment(spot)
                continue
            context, remembered = inside, of_inside
            if kind.is_base or (scope is not None and not self._ignores_scopes):
                context = self._around if kind.is_base else self._scopes.on(scope)
                remembered = self._remembered[id(context)]
            plain = kind.keys
            for key in keys:
                if key not in plain:
                    continue
                row = plain[key]
                if row is None:
                    yield from self._value(spot, key, context)
                    continue
                attribute = keys[key] if isinstance(keys, dict) else key
                value = get(element, attribute)
                is_url = row.syntax is _URL
                if is_url and not all_ and value.startswith(_ABSOLUTE):
                    continue
                if row.syntax is _CSS and "(" not in value and "@" not in value:
                    continue  # most style attributes: no function and no @import
                settled = remembered.get((value, id(row)))
                if settled is None:
                    settle = self._settle_url if is_url else self._settle
                    settled = settle(spot, key, row, value, context)
                if all_ or not settled.stays:
                    yield tuple.__new__(Value, (element, element, attribute, settled))
            # Without the attributes that it depends on most text holds nothing: that of scripts.
            if kind.text and (kind.speaks or not kind.asked.isdisjoint(keys)):
                yield from self._texts(spot, context)

    def _value(self, spot: Spot, key: str, context: Context) -> Iterator[Value]:
        """The value of an attribute that depends on others, or of xml:base itself."""
        if spot.scope is not None and self._known.attributes[key] == XML_BASE:
            context = self._scopes.on(spot.scope[1])
        says = partial(self._says, spot)
        for row in spot.kind.rows[self._known.attributes[key]]:
            if row.when is None or row.when.holds(says):
                attribute = spot.keys[key] if isinstance(spot.keys, dict) else key
                value = self._tree.get(spot.element, attribute)
                settled = self._settle(spot, key, row, value, context)
                yield Value(spot.element, spot.element, attribute, settled)
                return

    def _texts(self, spot: Spot, context: Context) -> Iterator[Value]:
        says = partial(self._says, spot)
        rows = [row for row in spot.kind.text if row.when is None or row.when.holds(says)]
        # Of most scripts the text is never looked at: it may be long.
        for holder, text in self._tree.texts(spot.element) if rows else ():
            for row in rows:
                if not row.only or encode_inner(text.lstrip()).startswith(row.only):
                    inside = context
                    if row.syntax is Nested.HTML and context.task.policy.item_links:
                        link = self._tree.item_link(spot.element, self._known) or ""
                        inside = self._scopes.on_link(trimmed(link), context)
                    settled = self._settle(spot, "", row, text, inside)
                    yield Value(spot.element, holder, None, settled)
                    break

    def written(self, value: Value) -> list[TreeLink]:
        """Write what a value becomes, and return its links that change or cannot be resolved."""
        element, holder, attribute, (text, _, _) = value
        links = value.reported()
        if text is None:
            return links
        try:
            if attribute is not None:
                self._tree.set(holder, attribute, text)
            else:
                element = self._tree.set_text(element, holder, text)
        except ValueError:  # lxml: control characters, which HTML may hold and XML may not
            return [link._replace(url=None, status=Status.UNRESOLVED) for link in value.links()]
        if element is value.element:
            return links
        return [link._replace(element=element) for link in links]

    def discarded(self, value: Value) -> list[TreeLink]:
        """Take a value away, and return its links that cannot be resolved."""
        if value.attribute is None:
            self._tree.set_text(value.element, value.holder, "")
        else:
            self._tree.delete(value.holder, value.attribute)
        return value.failed()

    def drop_base(self) -> None:
        """Take every `<base>` with an href away that decided or could."""
        for element in list(self._tree.bases(whole=False)):
            self._tree.remove(element)

    def _attribute(self, spot: Spot, name: bytes) -> str:
        attribute = self._known.spelled(name, spot.keys)
        return "" if attribute is None else self._tree.get(spot.element, attribute)

    def _says(self, spot: Spot, name: bytes) -> bytes:
        return encode_inner(self._attribute(spot, name)).lower()

    def _settle_url(self, spot: Spot, key: str, row: Row, value: str, context: Context) -> Settled:
        """What a value that is one URL becomes: what `visit_url` says, without its detours."""
        plain = _plain(value)
        is_dotted = plain is None and _dotted(value)
        prefix = self._prefix(plain[1] if plain else "", context) if plain or is_dotted else None
        if prefix is not None and context.resolve is not None:
            whole = prefix + value[plain.end(1) :] if plain else context.resolve(value)
            # As `Settled(...)`, in half the time.
            settled = tuple.__new__(Settled, (whole, ((value, 0, whole, _REWRITTEN),), False))
            self._remembered[id(context)][value, id(row)] = settled
            return settled
        written = value.strip(C0_AND_SPACE)
        reference = written if written.isprintable() else clean(written)
        budget = context.task.budget
        if not reference or budget is None or budget.left < len(context.base.url):
            return self._settle(spot, key, row, value, context)
        start = 0 if written == value else len(value) - len(value.lstrip(C0_AND_SPACE))
        if reference.startswith(_ABSOLUTE):
            found = (written, start, reference, Status.ABSOLUTE)
            settled = Settled(None, (found,), stays=True)
        else:
            place = _BASE if spot.kind.is_base else _place(row)
            status, url, _ = verdict_of(reference, context, place)
            new = None
            if status is _REWRITTEN and url is not None:
                new = spell(_URL, url, b"", _NO_SPAN)  # white space around it goes
                budget.left -= max(0, len(new) - len(value))
            stays = status not in REPORTED
            settled = Settled(new, ((written, start, url, status),), stays)
        if len(value) <= _REMEMBERED:
            self._remembered[id(context)][value, id(row)] = settled
        return settled

    def _prefix(self, beginning: str, context: Context) -> str | None:
        """What to write for the beginning of a plain path; None where that is not all."""
        key = (id(context), beginning)
        if key not in self._prefixes:
            self._prefixes[key] = _prefix_of(beginning, context)
        prefix = self._prefixes[key]
        budget = context.task.budget
        if prefix is None or budget is None or budget.left < len(prefix):
            return None
        budget.left -= len(prefix) - len(beginning)
        return prefix

    def _settle(self, spot: Spot, key: str, row: Row, value: str, context: Context) -> Settled:
        """What a value becomes; remembered where it is not long and nothing else decides."""
        remembered = self._remembered[id(context)]
        stated = trimmed(self._attribute(spot, b"codebase")) if row.on_codebase else ""
        codebase = on_codebase(stated, context) if row.on_codebase else None
        is_remembered = codebase is None and len(value) <= _REMEMBERED
        if is_remembered and (value, id(row)) in remembered:
            return remembered[value, id(row)]
        text = encode_inner(value)
        if row.syntax is _CSS and self._holds_none(text):
            settled = NOTHING
        else:
            name = decode_inner(self._known.attributes.get(key, b""))
            place = Place(decode_inner(spot.kind.name), name, row, codebase)
            settled = settled_by(text, _told(visit_value(text, context, place), context))
            if key and row.syntax is _URL and settled.text is not None:
                settled = settled._replace(text=settled.text.strip(C0_AND_SPACE))
        if is_remembered:
            # Rows stay as long as the process: the tables of the vocabularies hold them.
            remembered[value, id(row)] = settled
        return settled

    def _sheet(self, spot: Spot) -> Iterator[Value]:
        """The one value of `<?xml-stylesheet href="..."?>`, unless it is of the document itself."""
        for holder, written in self._tree.texts(spot.element):
            text = encode_inner(written)
            found = _href(text)
            if found is None or text.startswith(b"#", found.start(2)):
                continue
            view = value_view(found[2], found[1])
            items = visit_url(view.inner, Span(0, len(view.inner)), self._around, _SHEET)
            items = lower(items, view, found.start(2))
            settled = settled_by(text, _told(items, self._around))
            yield Value(spot.element, holder, None, settled)

    def _comment(self, spot: Spot) -> Iterator[Value]:
        for holder, written in self._tree.texts(spot.element):
            text = b"<!--%b-->" % encode_inner(written)
            items = visit_comment(text, self.inside, self._around)
            settled = settled_by(text, _told(items, self.inside))
            found = [
                (reference, position - len("<!--"), url, status)
                for reference, position, url, status in settled.found
            ]
            new = None if settled.text is None else settled.text[len("<!--") : -len("-->")]
            yield Value(spot.element, holder, None, Settled(new, tuple(found), settled.stays))


# xml-stylesheet §3: the pseudo-attribute.
_href: Final = re.compile(rb"""(?<![^\t\n\r ])href[\t\n\r ]*+=[\t\n\r ]*+(["'])(.*?)\1""").search
_SHEET: Final = Place("xml-stylesheet", "href", Row(Syntax.URL))

# Python 3.11 looks a member of an enumeration up by code of Python: as long as all else of a value.
_URL: Final = Syntax.URL
_CSS: Final = Nested.CSS
_REWRITTEN: Final = Status.REWRITTEN


# Absolute in every profile, whatever follows.
_ABSOLUTE: Final = ("http://", "https://")
_NO_SPAN: Final = Span(0, 0)

# A path that holds no dot segment but those that it begins with, no parameters and nothing that a
# URL parser writes anew, with a query or a fragment. Any other with the same beginning could stand
# for it.
_WORD: Final = r"[A-Za-z0-9_~%!$&'()*+,=@-]"
_plain: Final = re.compile(
    rf"(/|(?:\.\./){{0,8}}+(?={_WORD}))(?:{_WORD}(?:{_WORD}|[.])*+/)*+(?:{_WORD}(?:{_WORD}|[.])*+)?"
    rf"(?:[?](?:{_WORD}|[][.:;/?])*+)?(?:[#](?:{_WORD}|[.:;/?])*+)?"
).fullmatch
# Likewise, with dot segments anywhere.
_dotted: Final = re.compile(
    rf"/?(?:{_WORD}|[.])(?:{_WORD}|[./])*+(?:[?](?:{_WORD}|[][.:;/?])*+)?"
    rf"(?:[#](?:{_WORD}|[.:;/?])*+)?"
).fullmatch
_ANY: Final = "x"


def _told(items: Iterable[Item], context: Context) -> Iterator[Item]:
    """Items of a value; what the budget does not cover is unresolved: no note can tell of it."""
    budget = context.task.budget
    for item in items:
        if isinstance(item, Found) and budget is not None and budget.is_spent:
            is_refused = item.status is Status.KEPT and item.url is None
            yield item._replace(status=Status.UNRESOLVED) if is_refused else item
        else:
            yield item


def _prefix_of(beginning: str, context: Context) -> str | None:
    task = context.task
    is_asked = task.policy.keeper() is not None
    if is_asked or task.profile is Profile.WHATWG or context.resolve is None:
        return None
    url = context.resolve(beginning + _ANY)
    prefix = url.removesuffix(_ANY)
    is_plain = prefix != url and prefix.isascii() and prefix.isprintable()
    return prefix if is_plain and len(prefix) <= _REMEMBERED else None


# The rows of the vocabularies stay as long as the process.
_place: Final = lru_cache(maxsize=256)(partial(Place, "", ""))
_BASE: Final = Place("base", "href", held(HTML, b"base").rows[b"href"][0])

# Longer values are seldom there twice.
_REMEMBERED: Final = 2048
