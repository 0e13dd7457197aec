"""JSON-LD 1.1 in script elements and files: `@id`, and properties of schema.org that hold URLs.

The text is walked twice, since an `@context` may follow what it applies to. Contexts elsewhere are
not read. Of them only schema.org's is known, so that terms of others, terms that a context here
defines, and compact IRIs are not looked at; nor are `@type` and what begins like a keyword.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import Layer, Statement
from relbase.edit import Span
from relbase.expressions import expression
from relbase.html.vocabulary import JSON_LD_LISTS, JSON_LD_NAMES, PROPERTIES, Nested, Row
from relbase.notes import Note, Reason
from relbase.rewriting.outcomes import Outcome, Status, lower, shift
from relbase.rewriting.reference import Place, Verdict, visit_url
from relbase.url.resolver import is_absolute
from relbase.values import syntaxes
from relbase.values.json_text import JsonKind, JsonString, json_view, strings, unescaped
from relbase.values.syntaxes import clean
from relbase.view.characters import decode_inner
from relbase.view.charset import after_mark

if TYPE_CHECKING:
    from relbase.rewriting.context import Context

_NONE: Final[frozenset[bytes]] = frozenset()
_NOT_NODES: Final = (b"@context", b"@value")
_TEMPLATES: Final = (b"target", b"urlTemplate")  # may hold `{search_term_string}`
_schema_org: Final = expression(
    rb"(?:https?:)?//(?:www\.)?schema\.org(?:/(?:docs/jsonldcontext\.json(?:ld)?)?)?\#?",
    re.VERBOSE | re.IGNORECASE,
)
# §4.1.1, API §5.2: what has the form of a keyword, or names a blank node, is no reference.
_is_none: Final = expression(rb"@[A-Za-z]++\Z|_:")
# Text that is no URL, although schema.org wants one there.
_is_text: Final = expression(rb"\s*+(?:\S++\s++\S|(?i:true|false)\s*+\Z)")

_ROW: Final = Row(Nested.JSON_LD, empty=True)


class _Object(NamedTuple):
    depth: int  # the number of containers that are open in it, with itself
    start: int  # where its first name is, by which it is known


class _Step(NamedTuple):
    """What an `@context` does, in order."""

    name: bytes  # @context (another one, by its URL), @base, or a term that it defines
    value: bytes | None  # None: null
    start: int


class _Scope(NamedTuple):
    """What applies to the members of an object and to what is inside it."""

    context: Context
    properties: frozenset[bytes]
    has_base: bool = True  # False if an `@base` is null: nothing resolves


def visit_json_ld(text: bytes, context: Context, place: Place) -> Iterator[Outcome]:
    """Visit the text of a script; without the policy `extended` only note what is relative."""
    is_rewritten, wanted = context.task.policy.extended, context.wanted
    if not is_rewritten and wanted.references_only:
        return iter(())
    last = last_relative(text) if wanted.edits_only else len(text)
    if last < 0:
        return iter(())
    visit = _Visit(text, context, PROPERTIES, place, is_rewritten=is_rewritten)
    return visit.outcomes(len(text) if is_rewritten else last)  # a base is noted anywhere


def visit_json_ld_file(text: bytes, context: Context) -> Iterator[Outcome]:
    """Visit a file, whose `@id` need no policy."""
    start = after_mark(text)
    known = PROPERTIES if context.task.policy.extended else _NONE
    visit = _Visit(text[start:], context, known)
    if visit.contexts is None:
        words = "it is not JSON: left unchanged"
        return iter((Note(Reason.JSON_UNSOUND, context.part, None, words),))
    return shift(visit.outcomes(len(text)), start)


# A member whose value may be a relative URL or a list that begins with one, or with a list; an item
# after an object that is not one itself; the escape of a letter or `@`, as which a name could be
# hidden. Most documents have none of these.
_WS: Final = rb"[\t\n\r\ ]*+"
_URL_OF_WEB: Final = rb'"https?:(?:\\?/|\\u002[Ff]){2}'
_relative_member: Final = expression(
    rb"""
    "(@?+[A-Za-z]++)" %(ws)b : %(ws)b
    (?! %(web)b | [^"\[] | \[ %(ws)b (?: %(web)b %(text)b" %(ws)b ,?+ %(ws)b )*+ [\]{] )
    | \} %(ws)b , %(ws)b (?! [{}\]] | " %(text)b " %(ws)b : )
    | \\u00(?: 40 | [46][1-9A-Fa-f] | [57][0-9Aa] )
    """
    % {b"ws": _WS, b"web": _URL_OF_WEB, b"text": rb"(?:[^\"\\]++|\\.)*+"},
    re.VERBOSE,
)


def last_relative(text: bytes) -> int:
    """Return where the last member begins whose URL may be relative, or items; -1 if none may."""
    matches = _relative_member.finditer(text)
    counting = (each.start() for each in matches if (each[1] or b"@id") in JSON_LD_NAMES)
    return max(counting, default=-1)


def _walk(text: bytes, last: int) -> Iterator[tuple[JsonString, list[_Object]]]:
    """Yield each string up to the member that begins `last`, with the objects that are open."""
    objects: list[_Object] = []
    for string in strings(text):
        names, depth = string.names, len(string.names)
        is_first = string.kind is JsonKind.KEY and not string.places[-1]
        if string.start > last + 1 and string.kind is JsonKind.KEY:
            return
        # At the depth of one that was closed, there is an array, or an object with another start.
        while objects and (
            objects[-1].depth > depth - is_first or names[objects[-1].depth - 1] is None
        ):
            objects.pop()
        if is_first:
            objects.append(_Object(depth, string.start))
        yield string, objects


class _Visit:
    def __init__(
        self,
        text: bytes,
        context: Context,
        properties: frozenset[bytes],
        place: Place | None = None,
        *,
        is_rewritten: bool = True,
    ) -> None:
        self._text, self._place = text, place  # without a place it is a file
        self._outermost = _Scope(context.in_utf_8(), _NONE)
        self._known, self._is_rewritten = properties, is_rewritten
        # The contexts by the starts of their objects; None if the text is not JSON.
        self.contexts = self._read_contexts()
        self._bases: dict[int, _Scope] = {}  # what each `@base` is resolved against, by its start

    def _read_contexts(self) -> dict[int, list[_Step]] | None:
        contexts: dict[int, list[_Step]] = {}
        for string, objects in _walk(self._text, len(self._text)):
            kind, start, end, names, _ = string
            if kind is JsonKind.END:
                return contexts if end == len(self._text) else None
            if not objects:
                continue
            owner, name = objects[-1], b"@context"
            if len(objects) > 1 and names[objects[-2].depth - 1] == name:
                owner, name = objects[-2], names[-1] or b""  # a local one defines terms
                if kind is JsonKind.KEY:
                    name = unescaped(self._text[start:end])
                    if name not in self._known:
                        continue
                elif name != b"@base" or len(names) != objects[-1].depth:
                    continue
            elif kind is JsonKind.KEY or names[owner.depth - 1] != name:
                continue
            value = None if kind is JsonKind.NULL else unescaped(self._text[start:end])
            if name == b"@context" and value is None:
                contexts[owner.start] = []
            contexts.setdefault(owner.start, []).append(_Step(name, value, start))
        return None

    def outcomes(self, last: int) -> Iterator[Outcome]:
        """Yield what becomes of URLs up to those of the member that begins `last`."""
        if self.contexts is None:
            return
        scopes: list[_Scope | None] = []  # of the objects that are open; None inside an @context
        for string, objects in _walk(self._text, last):
            if string.kind is JsonKind.KEY:
                if string.start == objects[-1].start:
                    del scopes[len(objects) - 1 :]
                    scope = scopes[-1] if scopes else self._outermost
                    if scopes and string.names[objects[-2].depth - 1] in _NOT_NODES:
                        scope = None
                    scopes.append(scope and (yield from self._entered(objects[-1], scope)))
                continue
            if not objects or string.kind is JsonKind.NULL:
                continue
            if (base := self._bases.pop(string.start, None)) is not None:
                yield from self._outcomes_of(string, base, b"@base")
            elif (scope := scopes[len(objects) - 1]) is not None:
                name = _property(string, objects)
                if name in scope.properties or (name == b"@id" and string.kind is JsonKind.MEMBER):
                    yield from self._outcomes_of(string, scope, name)

    def _entered(self, entered: _Object, around: _Scope) -> Generator[Outcome, None, _Scope]:
        """Yield notes on the bases that an object states; return what applies in it."""
        assert self.contexts is not None
        context, properties, has_base = around
        for name, value, start in self.contexts.pop(entered.start, ()):
            if name == b"@context":  # any but schema.org's may define each term
                is_known = value is not None and _schema_org.fullmatch(value)
                properties = self._known if is_known else _NONE
                if value is None:
                    context, has_base = self._outermost.context, True
            elif name != b"@base":
                properties -= {name}
            elif value is None:
                has_base = False
            else:
                self._bases[start] = _Scope(context, properties, has_base)
                # A relative one needs a base around it.
                stated = decode_inner(value)
                has_base = has_base or is_absolute(stated, context.task.profile)
                if has_base and self._is_rewritten:
                    span = Span(start, start + len(value))
                    statement = Statement(Layer.EMBEDDED, stated, "@base", span)
                    base, notes = context.established(statement)
                    # §9.3.1: unlike `<base>`, it may be relative.
                    yield from (note for note in notes if note.reason != Reason.BASE_RELATIVE)
                    context = context.with_base(base)
        return _Scope(context, properties, has_base)

    def _outcomes_of(self, string: JsonString, scope: _Scope, name: bytes) -> Iterator[Outcome]:
        raw = self._text[string.start : string.end]
        if not self._is_rewritten and raw.startswith((b"http://", b"https://")):
            return
        view = json_view(raw, in_script=self._place is not None)
        inner, is_property = view.inner, name in self._known and name != b"id"
        if _is_none.match(inner) or (is_property and _is_text.match(inner)):
            return
        row = _ROW._replace(empty=not is_property)
        place = self._place or Place("", name.decode(), row)
        context, place = scope.context.inside(string.start), place._replace(row=row)
        for span in (syntaxes.template if name in _TEMPLATES else syntaxes.url)(inner):
            if self._is_rewritten:
                keeps = None if scope.has_base else _without_base
                items = visit_url(inner, span, context, place, keeps)
            else:
                items = _noted(clean(decode_inner(inner[span.start : span.end])), span, scope)
            yield from lower(items, view, string.start)


def _property(string: JsonString, objects: list[_Object]) -> bytes:
    """Return the name of the property that a string is a value of, perhaps in a list."""
    for inside in reversed(objects[-2:]):
        name = string.names[inside.depth - 1] or b""
        if name not in JSON_LD_LISTS:
            return name
    return b""


def _noted(reference: str, span: Span, scope: _Scope) -> Iterator[Outcome]:
    context = scope.context
    if reference and scope.has_base and not is_absolute(reference, context.task.profile):
        yield Note(Reason.JSON_LD_RELATIVE, context.part, span, _NOTED)


_NOTED: Final = "left unchanged; policy=Policy(extended=True) makes such URLs absolute"


def _without_base(_reference: str) -> Verdict:
    return Verdict(Status.KEPT, None)
