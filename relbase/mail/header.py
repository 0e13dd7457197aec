"""References in the headers of mail (RFC 1808 §3.1, RFC 2557 §4.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from relbase.bases.layers import Layer
from relbase.containers.parts import Opaque
from relbase.edit import Span
from relbase.mail.bases import STATES_BASE
from relbase.mail.entity import fit
from relbase.references import headers
from relbase.references.vocabulary import Row
from relbase.rewriting.outward import lower
from relbase.rewriting.reference import Place, visit_url
from relbase.view.folding import folded_view

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from relbase.containers.fields import Field
    from relbase.containers.parts import Part
    from relbase.mail.bases import PartBase
    from relbase.mail.entity import MailPart
    from relbase.rewriting.context import Context
    from relbase.rewriting.items import Item


def linking_fields(part: Part) -> list[Field]:
    """Return the fields of a part's header that hold references."""
    return [field for field in part.header.fields if _form(field, part) is not None]


def _form(field: Field, part: Part) -> headers.LinkingField | None:
    """How a field holds references, None when it holds none."""
    if field.name == "content-type":
        return headers.EXTERNAL_BODY if part.opaque is Opaque.EXTERNAL else None
    return headers.FIELDS.get(field.name.encode())


def visit_header(entity: MailPart, stated: PartBase, linking: Sequence[Field]) -> Iterator[Item]:
    """The items of a header."""
    header = Span(entity.part.header.start, entity.part.header.end)
    return fit(entity, header, _visit_fields(entity, stated, linking))


def _visit_fields(entity: MailPart, stated: PartBase, linking: Sequence[Field]) -> Iterator[Item]:
    base = stated.base
    # A header's own base is embedded for the references that stand in it.
    header_base = replace(base, layer=Layer.EMBEDDED) if stated.states else base
    around = base.outer if stated.states and base.outer is not None else base
    stated_by = base.source.partition(" of ")[0].lower() if stated.states else ""
    for field in linking:
        # A field that states a base is resolved against the base around it, never against itself.
        is_outside = field.name == stated_by or field.name in STATES_BASE
        form = _form(field, entity.part)
        if form is not None:
            context = entity.context.on(around if is_outside else header_base)
            yield from _visit_field(entity.data, field, form, context)


def _visit_field(
    data: bytes, field: Field, form: headers.LinkingField, context: Context
) -> Iterator[Item]:
    value = data[field.value.start : field.value.end]
    place = Place("", field.name, Row(form.syntax))
    for span in form.find(value):
        raw = value[span.start : span.end]
        # Between the quotes of a parameter a backslash is none.
        is_parameter = form is headers.EXTERNAL_BODY
        view = folded_view(raw, b"\\" if is_parameter else headers.quote_before(value, span))
        items = visit_url(view.inner, Span(0, len(view.inner)), context, place)
        yield from lower(items, view, field.value.start + span.start)
