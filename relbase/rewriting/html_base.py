"""The base of an HTML document: what its `<base>` or a program's mark states, where that counts.

A `<base>` that a Content-Security-Policy forbids is ignored (CSP 3 §7.5): one of the header that
the document came with, or of a `<meta>` before it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer, Statement
from relbase.bases.marks import Unarchived, own_base
from relbase.bases.policies import forbidding
from relbase.edit import Span
from relbase.notes import Note, Reason
from relbase.references import html, tags
from relbase.references.values import trimmed
from relbase.rewriting.reference import own_url, unstated
from relbase.view.characters import text as decode_inner
from relbase.view.charrefs import attribute_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.bases.layers import Base
    from relbase.references.tags import Attribute
    from relbase.rewriting.context import Context


def html_base(text: bytes, around: Context) -> Base:
    """The base of an HTML document: its `<base>`, or that of its container."""
    return on_own_base(text, html.embedded_base(text), around)[0].base


def on_own_base(
    text: bytes, attribute: Attribute | None, around: Context
) -> tuple[Context, list[Note]]:
    """The context of the inside of an HTML document, on its own base, and what is noted on that."""
    sheets = partial(_has_sheets, text, [])
    stated = None if attribute is None else _statement(text, attribute, around)
    if around.task.detect:
        stated = own_base(text, attribute, around.charset, around.marks) or stated
    if stated is None:
        return around.having(sheets=sheets), []
    base, notes = around.established(stated)
    if base.outer is around.base and (note := _forbidden(text, stated, base, around)):
        base, notes = replace(around.base, refused=(note, *around.base.refused)), [note]
    if note := unstated(stated.value, around):
        notes.append(note._replace(part=around.part, span=stated.span))
    return around.having(base=base, sheets=sheets), notes


def _has_sheets(text: bytes, found: list[bool]) -> bool:
    if not found:  # looked for when it is asked first
        found.append(html.has_sheets(text))
    return found[0]


def _statement(text: bytes, attribute: Attribute, around: Context) -> Statement:
    line = text.count(b"\n", 0, attribute.start) + 1
    column = attribute.start - text.rfind(b"\n", 0, attribute.start)
    value = trimmed(attribute_text(text, attribute, around.charset))
    places = around.task.places
    if isinstance(places, Unarchived):
        value = places.base(value) or value
    source = f"<base href> at {line}:{column}{around.within}"
    return Statement(Layer.EMBEDDED, value, source, Span(attribute.start, attribute.end))


def attribute_text(text: bytes, attribute: Attribute, charset: str) -> str:
    """The value of an attribute, decoded."""
    raw = text[attribute.start : attribute.end]
    return decode_inner(attribute_view(raw, attribute.quote or b"", charset).inner)


def _forbidden(text: bytes, stated: Statement, base: Base, around: Context) -> Note | None:
    end = len(text) if stated.span is None else stated.span.start
    policies = [*around.task.policies, *_stated_policies(text, end, around.charset)]
    directive = forbidding(policies, base.url, own_url(around.base)) if policies else None
    if directive is None:
        return None
    text_ = f"{stated.source}: the Content-Security-Policy forbids it ({directive[:200]!a})"
    return Note(Reason.BASE_FORBIDDEN, around.part, stated.span, f"{text_}: it does not count")


_names_policy: Final = re.compile(rb"content-security-policy", re.IGNORECASE).search
_ASKED: Final = {b"http-equiv", b"content"}


def _stated_policies(text: bytes, end: int, charset: str) -> Iterator[str]:
    if not _names_policy(text, 0, end):
        return
    for element in html.elements(text, 0, end):
        if not isinstance(element, html.Element) or element.hidden or element.name != b"meta":
            continue
        attributes = tags.attributes(text, element.attributes, element.end, _ASKED)
        found = {one.name: attribute_text(text, one, charset) for one in attributes}
        if found.get(b"http-equiv", "").strip().lower() == "content-security-policy":
            yield found.get(b"content", "")
