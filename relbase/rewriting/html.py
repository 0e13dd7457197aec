"""From a text inward to its references, and back outward with what each becomes.

Strategy: a text is visited by its syntax: HTML has values, a value has URLs, CSS or HTML again.
Each visit yields items (`Hit`s and `Edit`s) in offsets of the text that it was given. Where a text
is written in an encoding (character references, CSS or JSON escapes, a charset), its view decodes
it, the inner text is visited, and the items are lowered through the view. So a reference in CSS in
an attribute of HTML in `srcdoc` is found and written by the same few functions.
"""

from __future__ import annotations

import re
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer, Statement, establish
from relbase.edit import Edit, Span
from relbase.notes import Reason
from relbase.references import html, scripts, values
from relbase.references.css_escapes import css_escaped, css_view
from relbase.references.css_skim import last_relative
from relbase.references.foreign import HTML
from relbase.references.scripts import json_escaped, json_view
from relbase.references.skim import SAMPLES, skimming
from relbase.references.values import SYNTAXES, Syntax, clean
from relbase.references.vocabulary import Nested, Row
from relbase.rewriting.context import ABSOLUTE, Hit, Item, Kept, Place, Scope, visit_url
from relbase.rewriting.outward import (
    lowered,
    plain_in_css,
    plain_in_quotes,
    plain_unquoted,
    shifted,
    written,
)
from relbase.url.resolver import Profile
from relbase.view.characters import text as decode_inner
from relbase.view.charrefs import attribute_view, needs_view
from relbase.view.transcode import text_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from relbase.bases.layers import Base
    from relbase.notes import Note
    from relbase.references.css import CssReference
    from relbase.references.skim import Insertions, Skim
    from relbase.references.tags import Attribute

# Pages nest no deeper; each level costs another decoding of all that is inside it.
MAX_SRCDOC_DEPTH: Final = 16


def visit_html(text: bytes, scope: Scope) -> Iterator[Item]:
    """The items of an HTML document, whose `<base>` is looked for first.

    Args:
        text: the document, in an ASCII-compatible charset.
        scope: of its container.
    """
    is_skimmed = _is_skimmed(text, scope)
    if is_skimmed:
        items = _without_base(text, scope)
        if items is not None:
            yield from items
            return
    attribute = html.embedded_base(text)
    inside, notes = _within(text, attribute, scope)
    for note in notes:
        yield _remark(note.span or Span(0, 0), note.reason, note.text, inside.base)
    outside = scope.on(scope.base)
    base_at = 0 if attribute is None else attribute.start
    late = 0
    skim, prefixes = _skimming(inside) if is_skimmed else (None, {})
    for element in html.elements(text, 0, len(text), skim=skim):
        is_base = isinstance(element, html.Element) and element.name == b"base"
        for item in _visit_element(text, element, prefixes, inside, outside):
            late += item.start < base_at and isinstance(item, Edit) and not is_base
            yield item
    if late and attribute is not None and inside.base.layer is Layer.EMBEDDED:
        text_ = (
            f"<base> decides for {late} reference{'s'[: late > 1]} before it too: browsers fetch "
            "some of them from the base outside"
        )
        span = Span(attribute.start, attribute.end)
        yield _remark(span, Reason.BASE_LATE, text_, inside.base)


def _without_base(text: bytes, scope: Scope) -> list[Item] | None:
    """The items of a document that can be skimmed; None when a `<base>` decides.

    That shows on the way: to look for one first costs a tenth of all. What is written must not be
    long, since it is kept until then (threat A8).
    """
    inside, _ = _within(text, None, scope)
    skim, prefixes = _skimming(inside)
    items: list[Item] = []
    outside: Scope | None = None
    room = len(text) + (1 << 20)
    for element in html.elements(text, 0, len(text), skim=skim):
        if isinstance(element, html.Element) and element.name == b"base" and not outside:
            if html.embedded_base(text):
                return None
            outside = scope.on(scope.base)
        found = list(_visit_element(text, element, prefixes, inside, outside or inside))
        items += found
        if isinstance(element, html.Element):
            room -= sum(len(item.new) for item in found if isinstance(item, Edit))
            if room < 0:
                return None
    return items


def _visit_element(
    text: bytes,
    element: html.Element | Insertions,
    prefixes: Mapping[int, bytes],
    inside: Scope,
    outside: Scope,
) -> Iterable[Item]:
    """The items of one element, or of those that skimming passed over."""
    if isinstance(element, list):
        return [Edit(at, at, prefixes[shape]) for at, shape in element]
    is_base = element.name == b"base" and element.namespace == HTML
    scope = outside if is_base else inside
    slots = html.slots(text, element, extended=scope.policy.extended)
    return chain.from_iterable(_visit_slot(text, slot, scope) for slot in slots)


def html_base(text: bytes, scope: Scope) -> Base:
    """The base of an HTML document: its `<base>`, or that of its container.

    Args:
        text: the document, in an ASCII-compatible charset.
        scope: of its container.
    """
    return _within(text, html.embedded_base(text), scope)[0].base


def visit_css(text: bytes, scope: Scope, place: Place | None = None) -> Iterator[Item]:
    """The items of CSS (design rule 9).

    Args:
        text: the style sheet or the declarations, in an ASCII-compatible charset.
        scope: of the document.
        place: where the text stands; None for a style sheet.
    """
    place = _SHEET if place is None else place
    until = last_relative(text) if scope.edits_only else None
    if until == 0:
        return
    from relbase.references import css  # noqa: PLC0415 (its regexes: start-up time)

    in_utf_8 = _in_utf_8(scope)
    for found in css.references(text, until=until):
        raw = text[found.start : found.end]
        if scope.edits_only and raw.startswith(ABSOLUTE):
            continue
        keeps = _css_keeps(found, scope)
        view = partial(css_view, raw, found.quote)
        within = in_utf_8 if place.attribute or found.form is css.Form.IMPORT else scope
        if plain_in_css(raw):
            items = visit_url(raw, Span(0, len(raw)), within, place, keeps)
            yield from written(items, plain_in_css, view, found.start)
        else:
            decoded = view()
            whole = Span(0, len(decoded.inner))
            items = visit_url(decoded.inner, whole, within, place, keeps)
            yield from lowered(items, decoded, found.start)


def _in_utf_8(scope: Scope) -> Scope:
    """The scope of where browsers take no charset from the document to encode queries [C]."""
    if scope.encoding == "utf-8":
        return scope
    return scope._replace(encoding="utf-8").on(scope.base)


_SHEET: Final = Place("", "", Row(Nested.CSS))

_LOCAL: Final = Kept(None)
_CUSTOM: Final = Kept(
    (
        Reason.REFERENCE_CUSTOM_PROPERTY,
        "a url() in a custom property is resolved where var() stands, maybe in another sheet",
    )
)


def _css_keeps(found: CssReference, scope: Scope) -> Callable[[str], Kept | None] | None:
    """What keeps a reference in CSS relative, if anything does."""
    if found.local:
        return lambda _reference: _LOCAL
    if not found.custom or not scope.sheets():
        return None
    # On every sheet that var() may stand in, of the same site, these resolve to the same.
    roots = ("/", "\\") if scope.profile is Profile.WHATWG else ("/",)
    return lambda reference: None if reference.startswith(roots) else _CUSTOM


def _within(text: bytes, attribute: Attribute | None, scope: Scope) -> tuple[Scope, list[Note]]:
    """The scope inside of an HTML document, on its own base."""
    statements = () if attribute is None else (_base_statement(text, attribute, scope.charset),)
    base, notes = establish(
        statements, scope.base, profile=scope.profile, part=scope.part, charset=scope.encoding
    )
    return scope.on(base)._replace(sheets=_Sheets(text)), notes


class _Sheets:
    """Whether a document links or imports style sheets: looked for when asked, and once."""

    __slots__ = ("_found", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._found: bool | None = None

    def __call__(self) -> bool:
        if self._found is None:
            self._found = _links_sheets(self._text) is not None
        return self._found


# Without `=` in the value each byte is looked at for one `rel` only: linear.
_links_sheets: Final = re.compile(
    rb"@import|\brel[\t\n\f\r ]*+=[\t\n\f\r ]*+[\"']?[^\"'=>]*?stylesheet", re.IGNORECASE
).search


def _base_statement(text: bytes, attribute: Attribute, charset: str) -> Statement:
    line = text.count(b"\n", 0, attribute.start) + 1
    column = attribute.start - text.rfind(b"\n", 0, attribute.start)
    span = Span(attribute.start, attribute.end)
    value = _url_value(text, attribute, charset)
    return Statement(Layer.EMBEDDED, value, f"<base href> at {line}:{column}", span)


def _url_value(text: bytes, attribute: Attribute, charset: str) -> str:
    """The one URL in an attribute, as the URL parser reads it."""
    raw = text[attribute.start : attribute.end]
    inner = attribute_view(raw, attribute.quote or b"", charset).inner
    (span,) = values.url(inner)
    return clean(decode_inner(inner[span.start : span.end]))


# In the time in which the regex of skimming is compiled, the exact tokenizer walks so many bytes.
# So the first page of a process is walked, unless it is large; after that skimming pays.
SKIMMED_FROM: Final = 1 << 18


class _Seen:
    """How many bytes of HTML this process has been given, as far as it matters."""

    __slots__ = ("size",)

    def __init__(self) -> None:
        self.size = 0

    def add(self, size: int) -> int:
        self.size = min(self.size + size, _SEEN_ENOUGH)
        return max(self.size, size)


_SEEN_ENOUGH: Final = 1 << 20
_seen: Final = _Seen()


def _is_skimmed(text: bytes, scope: Scope) -> bool:
    policy = scope.policy
    if not scope.edits_only or policy.extended or policy.chooses:
        return False
    return _seen.add(len(text)) >= SKIMMED_FROM


def _skimming(scope: Scope) -> tuple[Skim, Mapping[int, bytes]]:
    """How a document is skimmed, and what is inserted before references of each shape."""
    whatwg = scope.profile is Profile.WHATWG
    prefixes: Mapping[int, bytes] = {}
    if scope.resolve is not None and not scope.policy.keep_fragments:
        is_long = len(scope.base.url) > _REMEMBERED_URL
        prefixes = (_prefixes if is_long else _remembered_prefixes)(scope.resolve)
    # The WHATWG parser treats the paths of file and of other schemes by rules of their own.
    insertions = len(prefixes) == len(SAMPLES) and not (
        whatwg and not scope.base.url.startswith(("http:", "https:"))
    )
    unquoted = all(plain_unquoted(prefix) for prefix in prefixes.values())
    return skimming(insertions=insertions, whatwg=whatwg, unquoted=unquoted), prefixes


def _prefixes(resolve: Callable[[str], str]) -> Mapping[int, bytes]:
    """What a reference of each shape resolves to, without the reference; where that is plain."""
    prefixes: dict[int, bytes] = {}
    for shape, sample in SAMPLES.items():
        url = resolve(sample)
        if url.endswith(sample) and url.isascii() and plain_in_quotes(url.encode("ascii")):
            prefixes[int(shape)] = url[: len(url) - len(sample)].encode("ascii")
    return prefixes


# Messages of a mailbox most often share their base; a hostile one may be as long as the mailbox.
_REMEMBERED_URL: Final = 1 << 12
_remembered_prefixes: Final = lru_cache(maxsize=16)(_prefixes)


def _visit_slot(text: bytes, slot: html.Slot, scope: Scope) -> Iterable[Item]:
    """The items of one value of HTML, in offsets of the document."""
    attribute = slot.value
    raw = text[attribute.start : attribute.end]
    place = Place(
        slot.element.decode("utf-8", "replace"),
        slot.attribute.decode("utf-8", "replace"),
        slot.row,
        None if slot.codebase is None else _url_value(text, slot.codebase, scope.charset),
    )
    visit = _VISITS[slot.row.syntax]
    if attribute.quote == html.RAW:
        return _visit_raw(raw, scope, place, attribute.start)
    if attribute.quote is None:
        return _quoted(visit(b"", scope, place), attribute, scope.charset)
    make_view = partial(attribute_view, raw, attribute.quote, scope.charset)
    if needs_view(raw):
        view = make_view()
        return lowered(visit(view.inner, scope, place), view, attribute.start)
    plain = plain_in_quotes if attribute.quote else plain_unquoted
    return written(visit(raw, scope, place), plain, make_view, attribute.start)


def _visit_raw(raw: bytes, scope: Scope, place: Place, offset: int) -> Iterable[Item]:
    """The items of raw text, where no character reference can stand for what the charset lacks."""
    visit = _VISITS[place.row.syntax]
    if scope.charset == "utf-8":
        return shifted(visit(raw, scope, place), offset)
    escaped = css_escaped if place.row.syntax is Nested.CSS else json_escaped
    make_view = partial(text_view, raw, scope.charset, escaped)
    if raw.isascii():
        return written(visit(raw, scope, place), bytes.isascii, make_view, offset)
    view = make_view()
    return lowered(visit(view.inner, scope, place), view, offset)


def _visit_values(text: bytes, scope: Scope, place: Place) -> Iterator[Item]:
    syntax = place.row.syntax
    assert isinstance(syntax, Syntax)
    for span in SYNTAXES[syntax](text):
        yield from visit_url(text, span, scope, place)


def _visit_srcdoc(text: bytes, scope: Scope, _place: Place) -> Iterator[Item]:
    if scope.depth >= MAX_SRCDOC_DEPTH:
        text_ = f"srcdoc documents nest deeper than {MAX_SRCDOC_DEPTH}: left as it is"
        return iter((_remark(Span(0, len(text)), Reason.LIMIT_SRCDOC, text_, scope.base),))
    inside = scope._replace(depth=scope.depth + 1, charset="utf-8", encoding="utf-8")
    return visit_html(text, inside)


def _visit_json(
    find: Callable[[bytes], Iterator[scripts.JsonReference]],
    text: bytes,
    scope: Scope,
    place: Place,
) -> Iterator[Item]:
    scope = _in_utf_8(scope)
    for found in find(text):
        view = json_view(text[found.start : found.end])
        for span in values.url(view.inner):
            yield from lowered(visit_url(view.inner, span, scope, place), view, found.start)


_VISITS: Final[Mapping[Syntax | Nested, Callable[[bytes, Scope, Place], Iterator[Item]]]] = {
    **dict.fromkeys(Syntax, _visit_values),
    Nested.CSS: visit_css,
    Nested.HTML: _visit_srcdoc,
    Nested.IMPORT_MAP: partial(_visit_json, scripts.import_map),
    Nested.SPECULATION_RULES: partial(_visit_json, scripts.speculation_rules),
}


def _quoted(items: Iterable[Item], attribute: Attribute, charset: str) -> Iterator[Item]:
    """The items of an attribute without a value: one is written, with quotes."""
    equals = b"" if attribute.equals else b"="
    make_view = partial(attribute_view, b"", b'"', charset)
    for item in written(items, plain_in_quotes, make_view, attribute.start):
        if isinstance(item, Edit):
            yield item._replace(new=b'%b"%b"' % (equals, item.new))
        else:
            yield item


def _remark(span: Span, reason: Reason, text: str, base: Base) -> Hit:
    return Hit(span.start, span.end, "", "", "", "", None, base, None, (reason, text))
