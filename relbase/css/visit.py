"""The visit of CSS: a style sheet, a style element or attribute, a property's value (rule 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from relbase.css.candidates import holds_none
from relbase.css.escapes import css_view
from relbase.css.functions import Form
from relbase.edit import Span
from relbase.html.vocabulary import Nested, Row
from relbase.notes import Reason
from relbase.rewriting.outcomes import Outcome, Status, lower, lower_plain, plain_in_css
from relbase.rewriting.reference import ABSOLUTE, Place, Verdict, noting, visit_url
from relbase.scan.batches import css_scan_for
from relbase.url.profiles import PROFILES

if TYPE_CHECKING:
    from relbase.css.statements import CssReference
    from relbase.rewriting.context import Context


def visit_css(text: bytes, context: Context, place: Place | None = None) -> Iterator[Outcome]:
    place = _SHEET if place is None else place
    scan = css_scan_for(context, place.element, place.attribute)
    if scan is None and context.wanted.edits_only and holds_none(text):
        return
    from relbase.css import statements  # its regexes: start-up time

    in_utf_8 = context.in_utf_8()
    masked = context.task.policy.masked(text, closed=True)
    filters = context.task.policy.extended and place is not _SHEET
    is_sheet = not place.attribute
    if scan is None:
        references = statements.references(masked, is_sheet=is_sheet)
    else:
        references = statements.scanned(text, scan, is_sheet=is_sheet)
    for reference in references:
        if not isinstance(reference, statements.CssReference):
            yield from reference
            continue
        raw = text[reference.start : reference.end]
        if context.wanted.edits_only and raw.startswith(ABSOLUTE):
            continue
        # Filters of Internet Explorer resolve against the page, which a sheet does not know.
        if reference.form is Form.FILTER and not filters:
            continue
        keeps = _keeps(reference, context)
        view = partial(css_view, raw, reference.quote)
        within = in_utf_8 if place.attribute or reference.form is Form.IMPORT else context
        decoded = None if plain_in_css(raw) else view()
        inner = raw if decoded is None else decoded.inner
        inside = within.inside(reference.start)
        items = visit_url(inner, Span(0, len(inner)), inside, place, keeps)
        if decoded is None:
            yield from lower_plain(items, plain_in_css, view, reference.start)
        else:
            yield from lower(items, decoded, reference.start)


_SHEET: Final = Place("", "", Row(Nested.CSS))
_LOCAL: Final = Verdict(Status.KEPT, None)
_CUSTOM: Final = Verdict(
    Status.KEPT,
    None,
    noting(
        Reason.REFERENCE_CUSTOM_PROPERTY,
        "a url() in a custom property is resolved where var() uses it, perhaps in another sheet",
    ),
)


def _keeps(reference: CssReference, context: Context) -> Callable[[str], Verdict | None] | None:
    if reference.local:
        return lambda _reference: _LOCAL
    if not reference.custom or not context.sheets():
        return None
    # These resolve alike in every sheet of the same site, wherever var() uses the property.
    roots = tuple(PROFILES[context.task.profile].slashes)
    return lambda written: None if written.startswith(roots) else _CUSTOM
