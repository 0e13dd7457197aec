"""From a text inward to its references, and back outward with what each becomes.

Strategy: a text is visited by its syntax: HTML has values, a value has URLs, CSS or HTML again.
Each visit yields `Hit`s in offsets of the text that it was given. Where a text is written in an
encoding (character references, CSS or JSON escapes, a charset), its view decodes it, the inner text
is visited, and the hits are lowered through the view. So a reference in CSS in an attribute of HTML
in `srcdoc` is found and written by the same few functions.

To mind: all edits of one view are lowered together, since neighbours may touch the same escape.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.edit import Edit, Span
from relbase.layers import Base, Layer, Statement, establish
from relbase.notes import Reason
from relbase.references import css, html, scripts, values
from relbase.references.css_escapes import css_view
from relbase.references.foreign import HTML
from relbase.references.scripts import json_view
from relbase.references.values import SYNTAXES, Syntax, clean, spell
from relbase.references.vocabulary import Nested, Row
from relbase.url import rfc3986
from relbase.url.resolver import Profile, Resolver, is_absolute
from relbase.view.charrefs import attribute_view, needs_view
from relbase.view.characters import inner as encode_inner
from relbase.view.characters import text as decode_inner
from relbase.view.transcode import text_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from relbase.notes import Note
    from relbase.policy import Policy
    from relbase.references.tags import Attribute
    from relbase.view.runs import View

# WHATWG HTML nests no deeper in practice; each level costs another decoding of what is inside it.
MAX_SRCDOC_DEPTH: Final = 16


class Status(Enum):
    """What became of a reference."""

    REWRITTEN = "rewritten"
    ABSOLUTE = "absolute"  # its bytes are never touched
    KEPT = "kept"  # relative, and to stay so
    UNRESOLVED = "unresolved"  # no base, or the algorithm fails


class Hit(NamedTuple):
    """A reference or a remark at a place of a text, and the edit of that text that it leads to.

    `remark` alone (no `status`) is a note that is on no reference.
    """

    start: int
    end: int
    edit: Edit | None
    element: str
    attribute: str
    syntax: str
    reference: str
    url: str | None
    base: Base
    status: Status | None
    remark: tuple[Reason, str] | None = None


@dataclass(frozen=True, slots=True)
class Scope:
    """What the references of one document are resolved with.

    Args:
        base: the base of the document; of its container before the document was looked into.
        profile: the algorithm.
        policy: what the caller chose.
        part: the entity's number.
        charset: of the text that is scanned, a WHATWG name.
        encoding: of the document, which decides how queries are encoded.
        depth: how many srcdoc documents are around.
        own_url: the document's own URL, for an empty action.
        sheets: whether the document links or imports style sheets (design rule 9).
        resolve: the prepared algorithm, None when nothing can be resolved.
    """

    base: Base
    profile: Profile
    policy: Policy
    part: str = ""
    charset: str = "utf-8"
    encoding: str = "utf-8"
    depth: int = 0
    own_url: str | None = None
    sheets: bool = True
    resolve: Callable[[str], str] | None = None

    def on(self, base: Base) -> Scope:
        """The scope with a base that has been established."""
        return replace(self, base=base, resolve=_resolver(base, self.profile, self.encoding))


class _Place(NamedTuple):
    """Where a text stands, and the row it is there by."""

    element: str
    attribute: str
    row: Row
    codebase: str | None = None


def visit_html(text: bytes, scope: Scope) -> Iterator[Hit]:
    """The hits of an HTML document, whose `<base>` is looked for first.

    Args:
        text: the document, in an ASCII-compatible charset.
        scope: of its container.
    """
    attribute = html.embedded_base(text)
    inside, notes = _within(text, attribute, scope)
    for note in notes:
        start, end = note.span or Span(0, 0)
        yield _remark(start, end, note.reason, note.text, inside)
    outside = scope.on(scope.base)
    late = 0
    for slot in html.slots(text, extended=scope.policy.extended):
        is_base = slot.element == b"base" and slot.namespace == HTML and slot.attribute == b"href"
        for hit in _visit_slot(text, slot, outside if is_base else inside):
            if attribute is not None and hit.start < attribute.start:
                late += hit.status is Status.REWRITTEN
            yield hit
    if late and attribute is not None and inside.base.layer is Layer.EMBEDDED:
        yield _remark(
            attribute.start,
            attribute.end,
            Reason.BASE_LATE,
            f"<base> decides for {late} reference{'s'[: late > 1]} before it too: "
            "browsers fetch some of them from the base outside",
            inside,
        )


def html_scope(text: bytes, scope: Scope) -> Scope:
    """The scope inside of an HTML document: on its own base.

    Args:
        text: the document, in an ASCII-compatible charset.
        scope: of its container.
    """
    return _within(text, html.embedded_base(text), scope)[0]


def _within(text: bytes, attribute: Attribute | None, scope: Scope) -> tuple[Scope, list[Note]]:
    statements = () if attribute is None else (_base_statement(text, attribute, scope.charset),)
    base, notes = establish(statements, scope.base, profile=scope.profile, part=scope.part)
    inside = replace(
        scope.on(base),
        own_url=_own_url(base) if scope.depth == 0 else None,
        sheets=_links_sheets(text) is not None,
    )
    return inside, notes


def visit_css(text: bytes, scope: Scope, element: str = "", attribute: str = "") -> Iterator[Hit]:
    """The hits of CSS (design rule 9).

    Args:
        text: the style sheet or the declarations, in an ASCII-compatible charset.
        scope: of the document.
        element: around the text, "" for a style sheet.
        attribute: that the text is the value of.
    """
    for found in css.references(text):
        raw = text[found.start : found.end]
        view = css_view(raw, found.quote)
        place = _Place(element, attribute, _CSS_ROW)
        special = None
        if found.local:
            special = (Status.KEPT, None)
        elif found.custom and scope.sheets and raw[:1] not in {b"/", b"\\"}:
            special = (
                Status.KEPT,
                (
                    Reason.REFERENCE_CUSTOM_PROPERTY,
                    "a url() in a custom property is resolved where var() stands, which may be in "
                    "another style sheet",
                ),
            )
        hits = _visit_url(view.inner, Span(0, len(view.inner)), scope, place, special)
        yield from lowered(hits, view, found.start)


def _base_statement(text: bytes, attribute: Attribute, charset: str) -> Statement:
    raw = text[attribute.start : attribute.end]
    view = attribute_view(raw, attribute.quote or b"", charset)
    (span,) = values.url(view.inner)
    value = clean(decode_inner(view.inner[span.start : span.end]))
    line = text.count(b"\n", 0, attribute.start) + 1
    column = attribute.start - text.rfind(b"\n", 0, attribute.start)
    span = Span(attribute.start, attribute.end)
    return Statement(Layer.EMBEDDED, value, f"<base href> at {line}:{column}", span)


def _visit_slot(text: bytes, slot: html.Slot, scope: Scope) -> Iterable[Hit]:
    """The hits of one value of HTML, in offsets of the document."""
    attribute = slot.value
    raw = text[attribute.start : attribute.end]
    place = _Place(
        slot.element.decode("utf-8", "replace"),
        slot.attribute.decode("utf-8", "replace"),
        slot.row,
        None if slot.codebase is None else _codebase(text, slot.codebase, scope.charset),
    )
    visit = _VISITS[slot.row.syntax]
    if attribute.quote == html.RAW:
        if raw.isascii() or scope.charset == "utf-8":
            return _shifted(visit(raw, scope, place), attribute.start)
        view: View = text_view(raw, scope.charset)
        return lowered(visit(view.inner, scope, place), view, attribute.start)
    if attribute.quote is None:
        return _quoted(visit(b"", scope, place), attribute, scope.charset)
    if needs_view(raw):
        view = attribute_view(raw, attribute.quote, scope.charset)
        return lowered(visit(view.inner, scope, place), view, attribute.start)
    return _written(visit(raw, scope, place), raw, attribute, scope.charset)


def _visit_values(text: bytes, scope: Scope, place: _Place) -> Iterator[Hit]:
    syntax = place.row.syntax
    assert isinstance(syntax, Syntax)
    for span in SYNTAXES[syntax](text):
        yield from _visit_url(text, span, scope, place)


def _visit_style(text: bytes, scope: Scope, place: _Place) -> Iterator[Hit]:
    return visit_css(text, scope, place.element, place.attribute)


def _visit_srcdoc(text: bytes, scope: Scope, place: _Place) -> Iterator[Hit]:
    if scope.depth >= MAX_SRCDOC_DEPTH:
        text_ = f"srcdoc documents nest deeper than {MAX_SRCDOC_DEPTH}: left as it is"
        yield _remark(0, len(text), Reason.LIMIT_SRCDOC, text_, scope)
        return
    yield from visit_html(text, replace(scope, depth=scope.depth + 1, charset="utf-8"))


def _visit_json(text: bytes, scope: Scope, place: _Place) -> Iterator[Hit]:
    find = (
        scripts.import_map if place.row.syntax is Nested.IMPORT_MAP else scripts.speculation_rules
    )
    for found in find(text):
        view = json_view(text[found.start : found.end])
        hits = _visit_url(view.inner, Span(0, len(view.inner)), scope, place)
        yield from lowered(hits, view, found.start)


_CSS_ROW: Final = Row(Nested.CSS)

_VISITS: Final[dict[Syntax | Nested, Callable[[bytes, Scope, _Place], Iterator[Hit]]]] = {
    **dict.fromkeys(Syntax, _visit_values),
    Nested.CSS: _visit_style,
    Nested.HTML: _visit_srcdoc,
    Nested.IMPORT_MAP: _visit_json,
    Nested.SPECULATION_RULES: _visit_json,
}

_Verdict = tuple[Status, tuple[Reason, str] | None]


def _visit_url(
    text: bytes, span: Span, scope: Scope, place: _Place, special: _Verdict | None = None
) -> Iterator[Hit]:
    """The hit of one URL, and its edit: the smallest that makes it absolute."""
    written = decode_inner(text[span.start : span.end])
    reference = clean(written)
    if reference == "" and not place.row.empty:
        return
    status, url, remark = _decide(reference, scope, place)
    if special is not None and status is not Status.ABSOLUTE:
        status, remark = special
    edit = None
    if status is Status.REWRITTEN and url is not None:
        syntax = place.row.syntax if isinstance(place.row.syntax, Syntax) else Syntax.URL
        edit = _smallest(written, spell(syntax, url, text, span), span)
    yield Hit(
        span.start,
        span.end,
        edit,
        place.element,
        place.attribute,
        place.row.syntax.value,
        written,
        url,
        scope.base,
        status,
        remark,
    )


def _decide(
    reference: str, scope: Scope, place: _Place
) -> tuple[Status, str | None, tuple[Reason, str] | None]:
    """What becomes of a reference, and what it resolves to."""
    policy = scope.policy
    if is_absolute(reference, scope.profile):
        return Status.ABSOLUTE, reference, None
    resolve = scope.resolve
    if place.codebase is not None and scope.profile is not Profile.WHATWG:
        resolve = _on_codebase(place.codebase, scope)
    if reference == "" and place.row.own_url:
        if scope.own_url is None:
            return Status.KEPT, None, None
        url: str | None = scope.own_url
    elif resolve is None:
        return Status.UNRESOLVED, None, None
    else:
        try:
            url = resolve(reference)
        except ValueError as error:
            return Status.UNRESOLVED, None, (Reason.REFERENCE_FAILED, str(error))
    if reference.startswith("#") and (place.row.local or policy.keep_fragments):
        return Status.KEPT, url, None
    if policy.keep is not None and policy.keep.search(reference):
        return Status.KEPT, url, None
    return Status.REWRITTEN, url, None


def _smallest(written: str, url: str, span: Span) -> Edit:
    """The edit that leaves the suffix which the reference and the URL share as it is written."""
    if url.endswith(written):
        return Edit(span.start, span.start, encode_inner(url[: len(url) - len(written)]))
    shared = 0
    for ours, theirs in zip(reversed(written), reversed(url), strict=False):
        if ours != theirs:
            break
        shared += 1
    kept = len(encode_inner(written[len(written) - shared :]))
    return Edit(span.start, span.end - kept, encode_inner(url[: len(url) - shared]))


def lowered(hits: Iterable[Hit], view: View, offset: int) -> Iterator[Hit]:
    """The hits of a view's inner text, in offsets of the text around it.

    Args:
        hits: in offsets of `view.inner`, sorted.
        view: the view.
        offset: where the view's raw text begins in the text around it.
    """
    found = list(hits)
    edits = view.lower([hit.edit for hit in found if hit.edit is not None])
    for hit, edit in zip(found, _pair(found, view, edits), strict=True):
        (span,) = view.lower([Edit(hit.start, hit.end, b"")])
        yield hit._replace(
            start=span.start + offset,
            end=span.end + offset,
            edit=None if edit is None else _moved(edit, offset),
        )


def _pair(hits: list[Hit], view: View, edits: list[Edit]) -> list[Edit | None]:
    """Each hit's lowered edit. Of those that touch one escape, and so are one, the first has it."""
    count = sum(hit.edit is not None for hit in hits)
    if count == len(edits):
        rest = iter(edits)
        return [None if hit.edit is None else next(rest) for hit in hits]
    pairs: list[Edit | None] = []
    position = 0
    for hit in hits:
        edit = None
        if hit.edit is not None and position < len(edits):
            (alone,) = view.lower([hit.edit])
            if alone.start >= edits[position].start:
                edit = edits[position]
                position += 1
        pairs.append(edit)
    return pairs


def _shifted(hits: Iterable[Hit], offset: int) -> Iterator[Hit]:
    for hit in hits:
        edit = None if hit.edit is None else _moved(hit.edit, offset)
        yield hit._replace(start=hit.start + offset, end=hit.end + offset, edit=edit)


def _moved(edit: Edit, offset: int) -> Edit:
    return Edit(edit.start + offset, edit.end + offset, edit.new)


# What may be written into an attribute as it is, whatever its quotes.
_plain: Final = re.compile(rb"[!#-%(-;?-_a-~]*+").fullmatch


def _written(hits: Iterable[Hit], raw: bytes, attribute: Attribute, charset: str) -> Iterator[Hit]:
    """The hits of a value that means itself; what is written into it may still need escapes."""
    found = list(hits)
    if all(hit.edit is None or _plain(hit.edit.new) for hit in found):
        return _shifted(found, attribute.start)
    view = attribute_view(raw, attribute.quote or b"", charset)
    return lowered(found, view, attribute.start)


def _quoted(hits: Iterable[Hit], attribute: Attribute, charset: str) -> Iterator[Hit]:
    """The hits of an attribute without a value: one is written, with quotes."""
    equals = b"" if attribute.equals else b"="
    view = attribute_view(b"", b'"', charset)
    for hit in lowered(hits, view, attribute.start):
        edit = hit.edit
        if edit is not None:
            edit = edit._replace(new=b'%b"%b"' % (equals, edit.new))
        yield hit._replace(edit=edit)


def _remark(start: int, end: int, reason: Reason, text: str, scope: Scope) -> Hit:
    return Hit(start, end, None, "", "", "", "", None, scope.base, None, (reason, text))


def _codebase(text: bytes, attribute: Attribute, charset: str) -> str:
    raw = text[attribute.start : attribute.end]
    inner = attribute_view(raw, attribute.quote or b"", charset).inner
    (span,) = values.url(inner)
    return clean(decode_inner(inner[span.start : span.end]))


def _on_codebase(codebase: str, scope: Scope) -> Callable[[str], str] | None:
    """HTML 4.01 §13.3: `codebase` is the base of its element, itself relative to the document's."""
    if scope.resolve is None and not is_absolute(codebase, scope.profile):
        return None
    try:
        url = codebase if scope.resolve is None else scope.resolve(codebase)
    except ValueError:
        return scope.resolve
    return _resolver(Base(url, Layer.EMBEDDED, "codebase"), scope.profile, scope.encoding)


def _resolver(base: Base, profile: Profile, encoding: str) -> Callable[[str], str] | None:
    return Resolver(base.url, profile, encoding).resolve if base.usable else None


def _own_url(base: Base) -> str | None:
    """The document's own URL: the chain without its `<base>` (design rule 6)."""
    around = base.outer if base.layer is Layer.EMBEDDED else base
    if around is None or not around.usable:
        return None
    return rfc3986.unsplit(rfc3986.split(around.url)._replace(fragment=None))


_links_sheets: Final = re.compile(
    rb"@import|\brel[\t\n\f\r ]*+=[\t\n\f\r ]*+[\"']?[^\"'>]*?stylesheet", re.IGNORECASE
).search
