"""What most pages need: one scan from their beginning to their end, against the base around them.

The exact walk, and what finds the base of a page in it, are loaded when the scanner stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final

from relbase.expressions import expression, loaded_later
from relbase.html.vocabulary import AMP
from relbase.rewriting.outcomes import Batch, scanned
from relbase.savers.rows import END, words
from relbase.scan import binding
from relbase.scan.batches import scan_for

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.rewriting.context import Context

# How most pages begin that are no documents of AMP: with a root element of plain attributes, or
# with another element.
_plain_root: Final = expression(
    rb"[^<]*+<(?:![^>-][^>]*+>[^<]*+<)?+(?!!|\?)(?:(?!(?i:html)[\t\n\f\r /])"
    rb'|(?i:html)(?:[\t\n\f\r ]++[b-zB-Z][a-zA-Z:-]*+(?:="[^"]*+")?+)*+[\t\n\f\r ]*+>)'
)


def amp_aware(text: bytes, around: Context) -> Context:
    """Return the context of a page, which may be a document of AMP."""
    if _plain_root.match(text):
        return around
    from relbase.html.tokens import amp_root

    return around._replace(extended=around.extended | AMP) if amp_root.match(text) else around


def visit_html(text: bytes, around: Context) -> Iterator[Batch]:
    """Visit a document, against its own base if it states one.

    The scanner meets the `<base>` for nothing, where looking for it first would take a tenth of the
    time.
    """
    around = amp_aware(text, around)
    budget, ahead = around.budget, None
    # A visit on trial of what is nested would begin another one for what is nested in that.
    if around.wanted.is_scanned_ahead and not (around.depth or around.may_be_marked):
        before = None if budget is None else budget.state()
        scan = scan_for(around)
        passed, pos = scan(text, 0, len(text), False, False)
        if pos < 0:
            return iter(scanned(passed) if passed else ())
        ahead = before, scan, passed, pos
    batches: Iterator[Batch] = _visit_page(text, around, ahead)
    return batches


_visit_page: Final = loaded_later("html.visit.visit_page")


def html_base(text: bytes, around: Context) -> Base:
    """The base of an HTML document: its `<base>`, or that of its container."""
    if not (around.may_be_marked or binding.may_have_base(text)):
        return around.base
    base: Base = _stated_base(text, around)
    return base


_stated_base: Final = loaded_later("html.own_base.html_base")

# Returns what a first look at a page tells, as bits of `scan.tables`.
first_look: Final = partial(binding.first_look, words(), END)
