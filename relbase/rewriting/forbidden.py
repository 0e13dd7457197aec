"""A `<base>` that the page's Content-Security-Policy forbids: browsers ignore it (CSP 3 §7.5).

The policies are those of the header that the document came with, and those of `<meta>` elements
before the `<base>`: a later one comes too late for it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from relbase.bases.policies import forbidding
from relbase.notes import Note, Reason
from relbase.references import html, tags
from relbase.rewriting.reference import own_url
from relbase.view.characters import text as decode_inner
from relbase.view.charrefs import attribute_view

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.bases.layers import Base, Statement
    from relbase.references.tags import Attribute
    from relbase.rewriting.context import Context


def allowed_base(
    text: bytes, stated: Statement, established: tuple[Base, list[Note]], around: Context
) -> tuple[Base, list[Note]]:
    """Return the base that a page's policies let count: browsers ignore a `<base>` they forbid."""
    base, _ = established
    end = len(text) if stated.span is None else stated.span.start
    policies = [*around.task.policies, *_stated_policies(text, end, around.charset)]
    if not policies:
        return established
    directive = forbidding(policies, base.url, own_url(around.base))
    if directive is None:
        return established
    text_ = f"{stated.source}: the Content-Security-Policy forbids it ({directive[:200]!a})"
    note = Note(Reason.BASE_FORBIDDEN, around.part, stated.span, f"{text_}: it does not count")
    refused = replace(around.base, refused=(note, *around.base.refused))
    return refused, [note]


_names_policy: Final = re.compile(rb"content-security-policy", re.IGNORECASE).search


def _stated_policies(text: bytes, end: int, charset: str) -> Iterator[str]:
    """The policies of the `<meta>` elements before a place."""
    if not _names_policy(text, 0, end):
        return
    for element in html.elements(text, 0, end):
        if not isinstance(element, html.Element) or element.hidden or element.name != b"meta":
            continue
        found = {
            one.name: _value(text, one, charset)
            for one in tags.attributes(
                text, element.attributes, element.end, {b"http-equiv", b"content"}
            )
        }
        if found.get(b"http-equiv", "").strip().lower() == "content-security-policy":
            yield found.get(b"content", "")


def _value(text: bytes, attribute: Attribute, charset: str) -> str:
    raw = text[attribute.start : attribute.end]
    return decode_inner(attribute_view(raw, attribute.quote or b"", charset).inner)
