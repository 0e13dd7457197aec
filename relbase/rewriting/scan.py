"""How HTML is passed over: by the compiled scanner, or where nothing can be a reference.

The compiled scanner is told what becomes of references of each plain shape on a base
(`shape_edits`); it makes edits or links of them up to what has to be looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from relbase.references import scanner
from relbase.references.holding import attribute_names
from relbase.references.html import skipping
from relbase.references.values import clean
from relbase.references.vocabulary import NONE_NAMED, named_rows
from relbase.rewriting.budget import Budget
from relbase.rewriting.listing import Linker, listing_for, written_in
from relbase.rewriting.shape_edits import NO_EDITS, is_same_in_css, shape_edits, walk_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from relbase.policy import Policy
    from relbase.references.css import Scan as CssScan
    from relbase.references.scanner import Scan
    from relbase.references.vocabulary import Row
    from relbase.rewriting.context import Context


def scan_for(context: Context) -> Scan:
    """Return what passes over a document on a base, with what it finds on its way."""
    task = context.task
    policy = task.policy
    # The compiled scanner knows the tables alone.
    is_exact = scanner.compiled is None or bool(policy.attributes)
    if is_exact or not (task.edits_only or task.found_only):
        named = frozenset(named_of(policy))
        return skipping(extended=policy.extended, absolute=task.edits_only, named=named)
    if task.edits_only:
        return _editing(context, scanner.HTML_WALK)
    attributes = attribute_names(extended=policy.extended)
    listing = listing_for(context, scanner.HTML_WALK, attributes)
    if task.link is None or context.depth or policy.keeper() is not None:
        return listing
    return Linker(context, task.link, attributes, listing).scan


def named_of(policy: Policy) -> Mapping[bytes, tuple[Row, ...]]:
    """Return the rows of the attributes that the caller named."""
    given = policy.attributes
    return named_rows(cast("tuple[tuple[str, str], ...]", given)) if given else NONE_NAMED


def css_scan_for(context: Context, element: str, attribute: str) -> CssScan | None:
    """Return what goes ahead in CSS on a base; None where each statement is looked at."""
    task = context.task
    if scanner.compiled is None or not (task.edits_only or task.found_only):
        return None
    if task.edits_only:
        return _editing(context, scanner.CSS_WALK)
    return listing_for(context, scanner.CSS_WALK, (attribute,), element)


def xml_scan_for(
    context: Context, enter: Callable[[bytes, int], object], reads: int
) -> Callable[..., Any]:
    """Return what makes edits in XML on a base, and if wanted in the HTML of its texts.

    Whoever asks for them charges the budget, since those in HTML are deeper. `enter` says what
    becomes of shapes where an element states a base; `reads` is of `scanner.READS_MARKUP` and
    `scanner.ASCII_ALONE`.
    """
    is_asked = context.task.policy.keeper() is not None  # each reference is looked at
    edits = NO_EDITS if is_asked else shape_edits(context)
    scan = walk_for(context, scanner.XML_WALK)
    return lambda *where: scan(edits, *where[:-2], reads, *where[-2:], enter)


def is_same_in_markup(context: Context) -> bool:
    """Whether references in HTML in XML become what they become in XML, written as it is."""
    return is_same_in_css(context) and "]" not in context.base.url


def priced_scan_for(context: Context, walk: str = scanner.HTML_WALK) -> Callable[..., Any]:
    """Return what makes the edits of plain references on `shape_edits`, whatever the budget covers.

    What it returns ends in what they cost; in None where the policy is asked of each.
    """
    keeps, charset = context.task.policy.keeper(), context.charset
    if keeps is None:
        return walk_for(context, walk)
    scan = walk_for(context, walk, scanner.WRITTEN)

    def asked(*where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `scan`)
        edits, *places, written = scan(*where)
        # Text is what a reference says as it is written, and bytes have to be decoded for that.
        said = (one if isinstance(one, str) else clean(written_in(one, charset)) for one in written)
        left = [edit for edit, one in zip(edits, said, strict=True) if not keeps(one)]
        return left, *places, None

    return asked


def _editing(context: Context, walk: str) -> Callable[..., Any]:
    """Return what makes the edits of plain references that the budget covers."""
    scan, shapes, depth = priced_scan_for(context, walk), shape_edits(context), context.depth
    budget = context.task.budget or Budget(0)

    def covered(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `scan`)
        edits, *places, cost = scan(shapes, text, *where)
        if cost is not None and cost <= budget.left:
            budget.left -= cost
        else:
            edits = budget.covered(edits, depth)
        return edits, *places

    return covered
