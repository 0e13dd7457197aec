"""A walk over a tree: finds the values that hold references, and what they become.

The visits that rewrite bytes read each value: it is encoded as UTF-8 for them, and what they return
is decoded. Plain references, which most are, go straight to the resolver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from relbase.bases.layers import UNKNOWN, Layer, Statement, retrieval
from relbase.css.candidates import holds_none
from relbase.edit import Edit, Span, splice
from relbase.formats.recognition import reader
from relbase.html.foreign import HTML
from relbase.html.visit import visit_comment, visit_value
from relbase.html.vocabulary import EXTENDED, Nested, Row
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Context, Task, Wanted
from relbase.rewriting.outcomes import Outcome, Reference, Status, lower
from relbase.rewriting.reference import Place, on_codebase, visit_url
from relbase.session.run import Lines, answers
from relbase.trees.markup import SHEET, XML_BASE, Candidate, Scope
from relbase.trees.tree import REPORTED, Node, Tree, TreeLink, Value
from relbase.url.plain import ABSOLUTE, plain_reference
from relbase.url.profiles import PROFILES, Profile
from relbase.values.syntaxes import C0_AND_SPACE, SYNTAXES, Syntax, trimmed
from relbase.view.characters import decode_inner, encode_inner
from relbase.view.charset import lookup
from relbase.xml.bases import MAX_XML_BASE_DEPTH
from relbase.xml.escapes import doubts, value_view
from relbase.xml.feeds import html_in_base64, on_site, site_of
from relbase.xml.structure import sheet_href

if TYPE_CHECKING:
    from relbase.policy import Policy
    from relbase.session.options import Replace
    from relbase.view.runs import View

# An element, what holds a value of it (itself, or what has its text), and which attribute.
_Where: TypeAlias = tuple[Node, Node, str | None]


class Walk:
    """The walk over a tree for one call."""

    def __init__(
        self,
        tree: Tree,
        url: str | None,
        profile: Profile,
        policy: Policy,
        *,
        resolve_base_href: bool,
        replace: Replace | None = None,
        lists: bool = False,
    ) -> None:
        self._replace = replace
        self._lists = lists  # whether the caller only asks for links, and for those that stay too
        # Whether the names of elements decide, so that results are not shared.
        self._is_exact = replace is not None or bool(policy.only)
        self._budget = Budget(0)
        task = Task(*(profile, policy, reader), keeps=policy.keeper(), is_scanned=policy.is_scanned)
        self.tree = tree
        url = url or tree.url or ""
        base, _ = task.establish(retrieval(url, (), profile)[0], UNKNOWN)
        outside = Context(
            *(UNKNOWN, task, Wanted.REFERENCES if lists else Wanted.ALL),
            budget=self._budget,
            sheets=cache(tree.has_sheets),
            extended=policy.extended and EXTENDED,
        )
        encoding = lookup(tree.label or "") or "utf-8"
        around = outside.with_fields(base=base, encoding=encoding)
        self._around = on_site(lambda: site_of(tree.site(), "the feed's link", None), around)
        base = self._around.base
        counts = resolve_base_href and not policy.ignore_base
        self.has_base = False
        self._late: Node = None  # the `<base>` that browsers have not seen when they fetch
        for element in islice(tree.bases(whole=True), int(counts)):
            self.has_base = True
            stated = Statement(Layer.EMBEDDED, trimmed(tree.get(element, "href")), "<base href>")
            base, _ = self._around.established(stated)
            if PROFILES[profile].fetches_early and base.outer is self._around.base:
                self._late = next((own for own in tree.bases(whole=False) if own is element), None)
        self.inside = self._around.with_base(base)
        # The resolvers of plain references, by context; None if there is more to do.
        self._resolvers: dict[int, Callable[[str], str | None] | None] = {}
        # Where xml:base nests too deep. Kept alive, since contexts are known by their ids.
        self._nowhere = self.inside.with_base(UNKNOWN)
        # The contexts with bases stated inside the document, by the context around.
        self._stated: dict[tuple[int, str], Context] = {}
        tree.enter = self._enter
        # In documents that browsers show, xml:base does not count, but is made absolute (rule 7).
        self._ignores_scopes = tree.known.is_shown and not PROFILES[profile].honours_xml_base
        self._item: tuple[Any, str] = None, ""  # an item of a feed, and its link

    # One loop over all attributes, since a call for each would take longer than the work itself.
    def values(self) -> Iterator[Value]:  # noqa: C901, PLR0912, PLR0915
        """The values that hold references, in document order."""
        get, spelled, rows_of = self.tree.get, self.tree.spelled, self.tree.rows
        all_ = self._lists or self._replace is not None
        inside, budget = self.inside, self._budget
        resolve_inside = self._resolver(inside)
        late, early = self._late, None
        is_kept = not PROFILES[inside.task.profile].normalizes  # an absolute URL
        for candidate in self.tree.candidates():
            element, kind, key, _, scope, item = candidate
            if late is not None:
                late = None if element is late else late
                early = None if late is None or self.tree.is_hidden else self._around
            context, at_once = inside, resolve_inside
            if scope is not None or item is not None or kind.is_base:
                at_once = self._resolver(context := self._context(candidate))
            if not key:
                if not kind.name:
                    yield from self._sheet(element) if kind is SHEET else self._comment(element)
                elif rows := rows_of(candidate):
                    yield from self._texts(candidate, rows, context, early)
                continue
            row = kind.plain[key]
            if row is None:
                rows = rows_of(candidate)
                if not rows:
                    continue
                row = rows[0]
                if key == XML_BASE and scope is not None:
                    context = scope.around
                if key == XML_BASE or row.on_codebase:
                    at_once = None
            attribute = spelled(element, key) if key[0] == "{" else key
            value = get(element, attribute)
            if row.syntax is _URL and not self._is_exact:
                url: str | None
                status = None
                if value.startswith(_ABSOLUTE):
                    if not all_ and value[-1] > " ":
                        continue
                    if is_kept and value.isprintable() and value[-1] != " ":
                        url, text, status = value, None, _ABSOLUTE_URL
                elif value[:1] == "#" and (row.local or row.local_when):
                    if row.local and not all_ and budget.left >= 0:
                        continue
                # Where what browsers fetch early counts, none is plain.
                elif at_once is not None and _plain(value):
                    url = text = at_once(value)
                    cost = len(url or value) - len(value)
                    if cost <= budget.left:
                        budget.left -= max(0, cost)
                        status = _REWRITTEN if url else _UNRESOLVED
                if status is not None:
                    link = _link((element, attribute, value, 0, url, status, len(value)))
                    yield _value((element, value, text, [link]))
                    continue
            elif row.syntax is _CSS and "(" not in value and "@" not in value:
                continue  # most style attributes: no function and no @import
            if row.local_when or (early and row.early_when):
                row = rows_of(candidate)[0]
            context = early if early and row.early else context
            decided = self._decided(candidate, attribute, row, value, context)
            reported = any(link[5] in REPORTED for link in decided.links)
            if all_ or reported or decided.text is not None:
                yield decided

    def _context(self, candidate: Candidate) -> Context:
        """The context of the references of an element."""
        _, kind, _, _, scope, item = candidate
        if kind.is_base:
            return self._around
        context = self.inside
        if scope is not None and not self._ignores_scopes:
            context = scope.inside
        return self._on_link(item, context) if kind.vocabulary == HTML else context

    def _on_link(self, item: Node, context: Context) -> Context:
        """The context of HTML in a feed's item, with the item's link as its base if asked for."""
        if item is None:
            return context
        if item is not self._item[0]:
            self._item = item, trimmed(self.tree.item_link(item))
        return self._based(self._item[1], "link of an item", context)

    def _enter(self, stated: str, outer: Scope | None) -> Scope:
        around, depth = (self.inside, 1) if outer is None else (outer.inside, outer.depth + 1)
        if depth > MAX_XML_BASE_DEPTH:
            return Scope(self._nowhere, around, depth)
        return Scope(self._based(trimmed(stated), "xml:base", around), around, depth)

    def _based(self, stated: str, source: str, around: Context) -> Context:
        """The context with a base that the document states."""
        if not stated:
            return around
        key = (id(around), stated)
        if key not in self._stated:
            base, _ = around.established(Statement(Layer.EMBEDDED, stated, source))
            self._stated[key] = around.with_base(base)
        return self._stated[key]

    def _texts(
        self, candidate: Candidate, rows: tuple[Row, ...], context: Context, early: Context | None
    ) -> Iterator[Value]:
        # Called only if rows count: the text of most scripts is long, and not read.
        element, kind, *_, item = candidate
        for holder, text in self.tree.texts(element):
            encoded = encode_inner(text)
            counting = (
                row for row in rows if not row.only or encoded.lstrip().startswith(row.only)
            )
            if row := next(counting, None):
                view = html_in_base64(encoded) if row.stays else None
                if row.stays and view is None:
                    continue
                context = early if early and row.early else context
                inside = self._on_link(item, context) if row.syntax is Nested.HTML else context
                place = Place(decode_inner(kind.name), "", row)
                visit = partial(_visit_text, encoded, view, place)
                yield self._apart((element, holder, None), text, visit, inside)

    def _resolver(self, context: Context) -> Callable[[str], str | None] | None:
        """The resolver for plain references; None if its results cannot be written as they are."""
        key = id(context)
        if key not in self._resolvers:
            task, url = context.task, context.base.url
            is_asked = task.keeps is not None or PROFILES[task.profile].normalizes
            is_plain = url.isascii() and url.isprintable() and len(url) <= _LONGEST
            nowhere = None if task.policy.ignore_base else _nowhere
            self._resolvers[key] = None if is_asked or not is_plain else context.resolve or nowhere
        return self._resolvers[key]

    def _decided(
        self, candidate: Candidate, attribute: str, row: Row, value: str, context: Context
    ) -> Value:
        """What the value of an attribute becomes."""
        element, kind, *_ = candidate
        policy, text = context.task.policy, encode_inner(value)
        codebase = None
        if row.empty and policy.keep_fragments and kind.vocabulary != HTML and not value.strip():
            kept = TreeLink(element, attribute, value, 0, None, Status.KEPT, len(value))
            return Value(element, value, None, [kept])
        if row.on_codebase:
            codebase = on_codebase(trimmed(self.tree.said(candidate, b"codebase")), context)
        elif row.syntax is _CSS and holds_none(text):
            return Value(element, value, None, [])
        elif isinstance(row.syntax, Syntax) and self._replace is None:
            spans = list(SYNTAXES[row.syntax](text))
            is_bare = row.syntax is not _URL or value == value.strip(C0_AND_SPACE)
            if is_bare and all(text.startswith(_ABSOLUTE_BYTES, span.start) for span in spans):
                listed = spans if self._lists else ()
                at_once, urls = self._resolver(context), [value[slice(*span)] for span in listed]
                if not listed or (at_once and text.isascii() and "".join(urls).isprintable()):
                    links = [
                        _link((element, attribute, url, start, url, _ABSOLUTE_URL, end))
                        for url, (start, end) in zip(urls, listed, strict=True)
                    ]
                    return Value(element, value, None, links)
        place = Place(decode_inner(kind.name), attribute, row, codebase)
        visit, where = partial(visit_value, text, place=place), (element, element, attribute)
        if not isinstance(row.syntax, Syntax):
            return self._apart(where, value, visit, context)
        items = visit(self._replacing(visit, text, context))
        made = self._value_of(where, value, items)
        if row.syntax is not _URL:
            return made
        # White space around a URL goes, around an absolute one too: lxml would escape it.
        is_absolute = any(link.status is _ABSOLUTE_URL for link in made.links)
        new = value if made.text is None and is_absolute else made.text
        stripped = new and new.strip(C0_AND_SPACE)
        return made._replace(text=None if stripped == value else stripped)

    def _apart(
        self,
        where: _Where,
        written: str,
        visit: Callable[[Context], Iterable[Outcome]],
        context: Context,
    ) -> Value:
        """What a value becomes: one visit for edits and one for links, since each is fast."""
        if self._lists or self._replace is not None:
            context = self._replacing(visit, encode_inner(written), context)
            return self._value_of(where, written, visit(context))
        before = self._budget.state()
        items = list(visit(context._replace(wanted=Wanted.EDITS)))
        if not items and self._budget.left >= 0:
            return Value(where[1], written, None, [])
        self._budget.restore(before)
        edits = (item for item in items if isinstance(item, Edit))
        outcomes = chain(visit(context._replace(wanted=Wanted.REFERENCES)), edits)
        return self._value_of(where, written, outcomes)

    def _replacing(
        self, visit: Callable[[Context], Iterable[Outcome]], text: bytes, context: Context
    ) -> Context:
        """The context with the URLs that the caller gives for the links of a value."""
        if self._replace is None:
            return context
        asked = visit(context._replace(replaced={}))
        # lxml writes an empty URL, for a link that is to lead nowhere.
        replaced = answers(asked, Lines(text), self._replace, may_be_empty=True)
        return context._replace(replaced=replaced)

    def _value_of(self, where: _Where, written: str, items: Iterable[Outcome]) -> Value:
        """What a value or text becomes, from the items of a visit."""
        element, holder, attribute = where
        text = encode_inner(written)
        edits: list[Edit] = []
        links: list[TreeLink] = []
        passed = at = 0
        for item in items:
            if isinstance(item, Edit):
                edits.append(item)
            elif isinstance(item, Reference):
                (start, end), url, status = item.span, item.url, item.status
                if status is Status.KEPT and url is None and self._budget.left < 0:
                    status = Status.UNRESOLVED  # there are no notes to say so
                if start < passed:
                    passed = at = 0
                at += len(decode_inner(text[passed:start]))
                passed = start
                end = at + len(decode_inner(text[start:end]))
                links.append(TreeLink(element, attribute, item.reference, at, url, status, end))
        new = decode_inner(splice(text, edits)) if edits else None
        return Value(holder, written, new, links)

    def _sheet(self, element: Node) -> Iterator[Value]:
        """The one value of `<?xml-stylesheet href="..."?>`, unless it points into the document."""
        for holder, written in self.tree.texts(element):
            text = b" " + encode_inner(written)  # lxml omits the space before it
            if (href := sheet_href(text, 0, len(text))) is None:
                continue
            raw = text[href.start : href.end]
            view = value_view(raw, href.quote or b"")
            visit = partial(visit_url, view.inner, Span(0, len(view.inner)), place=_SHEET)
            context = self._replacing(visit, view.inner, self._around)
            items = lower(visit(context), view, href.start - 1)
            value = self._value_of((element, holder, None), written, items)
            if doubts(raw, is_text=False):
                kept = [link._replace(url=None, status=Status.KEPT) for link in value.links]
                value = value._replace(text=None, links=kept)
            yield value

    def _comment(self, element: Node) -> Iterator[Value]:
        before, after = "<!--", "-->"
        for holder, written in self.tree.texts(element):
            text = f"{before}{written}{after}"
            visit = partial(visit_comment, encode_inner(text), around=self._around)
            *_, new, links = self._apart((element, holder, None), text, visit, self.inside)
            cut = len(before)
            links = [link._replace(position=link[3] - cut, end=link.end - cut) for link in links]
            yield Value(holder, written, new and new[cut : -len(after)], links)


def _visit_text(
    text: bytes, view: View | None, place: Place, context: Context
) -> Iterable[Outcome]:
    if view is None:
        return visit_value(text, context, place)
    return lower(visit_value(view.inner, context, place), view, 0)


_SHEET: Final = Place("xml-stylesheet", "href", Row(Syntax.URL))
# Looking up an enum member in Python 3.11 takes as long as everything else for a value.
_URL: Final = Syntax.URL
_CSS: Final = Nested.CSS
_REWRITTEN: Final = Status.REWRITTEN
_UNRESOLVED: Final = Status.UNRESOLVED
_nowhere: Final = dict[str, str]().get  # resolves where no base is known
_ABSOLUTE_URL: Final = Status.ABSOLUTE
_link: Final = partial(tuple.__new__, TreeLink)  # in C
_value: Final = partial(tuple.__new__, Value)
_plain: Final = plain_reference.fullmatch
_ABSOLUTE: Final = (*ABSOLUTE, "javascript:", "mailto:")  # what else most pages have
_ABSOLUTE_BYTES: Final = tuple(map(str.encode, _ABSOLUTE))

# Of a base: a result is made before the budget pays for it, so it must not be long.
_LONGEST: Final = 2048
