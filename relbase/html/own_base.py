"""The base of an HTML document, from its `<base>` or from the mark of a saving program.

A `<base>` is ignored if a Content-Security-Policy forbids it: one in the HTTP header, or in a
`<meta>` before the `<base>`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Base, Layer, Statement
from relbase.edit import Span
from relbase.expressions import expression
from relbase.html import tags, tokens
from relbase.html.csp import forbidding
from relbase.html.foreign import HTML, base_tag
from relbase.notes import Note, Reason
from relbase.rewriting.context import Wanted
from relbase.rewriting.reference import own_url, unstated
from relbase.savers.marks import own_base
from relbase.savers.rows import Unarchived
from relbase.scan.batches import scan_for
from relbase.scan.binding import head_base, may_have_base
from relbase.url.credentials import masked
from relbase.values.syntaxes import trimmed

if TYPE_CHECKING:
    from relbase.html.tags import Attribute
    from relbase.rewriting.context import Context


def html_base(text: bytes, around: Context) -> Base:
    """The base of an HTML document: its `<base>`, or that of its container."""
    first = sought_base(text, around)
    base, _ = _own_base(text, first, around)
    if around.wanted is not Wanted.BASE and (ignored := [*_ignored(text, first, around)]):
        base = replace(base, refused=(*base.refused, *ignored))
    return base


def sought_base(text: bytes, context: Context) -> Attribute | None:
    """Return the href of the `<base>` that counts; most are in the head."""
    if (href := head_base(text)) is not None:
        start, end, has_quotes = href
        return tags.Attribute(b"href", start, end, text[end : end + 1] if has_quotes else b"")
    if not may_have_base(text):
        return None
    return tokens.embedded_base(text, scan_for(context.visited(Wanted.EDITS, None)))


def href_at(text: bytes, stop: int) -> Attribute | None:
    """Return the href of the `<base>` at which the scanner first stopped; None if it is no such."""
    if (tag := base_tag.match(text, stop)) is None:
        return None
    inside = tag.end() - 1
    end = tags.tag_end(text, inside, len(text))
    return None if end < 0 else tags.attributes(text, inside, end, {b"href"}).get(b"href")


# How many ignored `<base>` elements get a note of their own: a hostile page has a million.
_LISTED: Final = 20


def _ignored(text: bytes, first: Attribute | None, around: Context) -> Iterator[Note]:
    if not any(islice(base_tag.finditer(text), first is not None, None)):
        return
    later = (
        (element, href)
        for element in tokens.elements(text, 0, len(text))
        if element.name == b"base"
        for href in tags.attributes(text, element.attributes, element.end, {b"href"}).values()
        if href != first
    )
    for element, href in islice(later, _LISTED):
        stated = _statement(text, href, around)
        why = "comes after the first <base href>"
        if element.namespace != HTML:
            why = "is in SVG or MathML"
        elif element.hidden:
            why = "is in a template, noscript or conditional comment"
        text_ = f"{stated.source}: {stated.value[:200]!a} {why}: it does not count"
        yield Note(Reason.BASE_IGNORED, around.part, stated.span, text_)
    if more := sum(1 for _ in later):
        yield Note(Reason.BASE_IGNORED, around.part, None, f"<base href>: {more} more do not count")


def on_own_base(
    text: bytes, attribute: Attribute | None, around: Context
) -> tuple[Context, list[Note]]:
    """Return the context inside an HTML document, with the document's base, and notes on it."""
    base, notes = _own_base(text, attribute, around)
    return around.with_base(base), notes


def _own_base(text: bytes, attribute: Attribute | None, around: Context) -> tuple[Base, list[Note]]:
    if around.task.policy.ignore_base:
        return around.base, []
    stated = None if attribute is None else _statement(text, attribute, around)
    if around.may_be_marked and not around.depth:  # no program marks what is nested in a page
        stated = own_base(text, attribute, around.charset, around.marks) or stated
    if stated is None:
        return around.base, []
    base, notes = around.established(stated)
    if base.outer is around.base and (note := _forbidden(text, stated, base, around)):
        base, notes = replace(around.base, refused=(note, *around.base.refused)), [note]
    if not stated.value.isascii() and (note := unstated(stated.value, around)):
        notes.append(note._replace(part=around.part, span=stated.span))
    return base, notes


class Sheets:
    """Whether a document links or imports style sheets, which is sought when it is asked."""

    __slots__ = ("_has_any", "_text")

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._has_any: bool | None = None

    def __call__(self) -> bool:
        if self._has_any is None:
            self._has_any = tokens.has_sheets(self._text)
        return self._has_any


def _statement(text: bytes, attribute: Attribute, around: Context) -> Statement:
    line = text.count(b"\n", 0, attribute.start) + 1
    column = attribute.start - text.rfind(b"\n", 0, attribute.start)
    value = trimmed(tags.attribute_text(text, attribute, around.charset))
    files = around.local_files
    if isinstance(files, Unarchived):
        value = files.base(value) or value
    source = f"<base href> at {line}:{column}{around.within}"
    return Statement(Layer.EMBEDDED, value, source, Span(attribute.start, attribute.end))


def _forbidden(text: bytes, stated: Statement, base: Base, around: Context) -> Note | None:
    end = len(text) if stated.span is None else stated.span.start
    if not (around.policies or _policy_name.search(text, 0, end)):
        return None
    policies = [*around.policies, *_stated_policies(text, end, around.charset)]
    if not policies:
        return None
    work = _TESTED * sum(map(len, policies))
    if around.budget is not None and not around.budget.prepare(work):
        return None  # no reference is resolved any more
    directive = forbidding(policies, base.url, own_url(around.base))
    if directive is None:
        return None
    shown = ascii(masked(directive)[:200])
    text_ = f"{stated.source}: the Content-Security-Policy forbids it ({shown})"
    return Note(Reason.BASE_FORBIDDEN, around.part, stated.span, f"{text_}: it does not count")


# Testing a policy takes so many times as long as preparing a base of its length. Each nested
# document with a `<base>` tests those of the header.
_TESTED: Final = 32

_policy_name: Final = expression(rb"content-security-policy", re.IGNORECASE)
_ASKED: Final = {b"http-equiv", b"content"}


def _stated_policies(text: bytes, end: int, charset: str) -> Iterator[str]:
    for element in tokens.elements(text, 0, end):
        if not isinstance(element, tokens.Element) or element.hidden or element.name != b"meta":
            continue
        attributes = tags.attributes(text, element.attributes, element.end, _ASKED)
        values = {
            name: tags.attribute_text(text, attribute, charset)
            for name, attribute in attributes.items()
        }
        if values.get(b"http-equiv", "").strip().lower() == "content-security-policy":
            yield values.get(b"content", "")
