"""How HTML is passed over: by the compiled scanner, or where nothing can be a reference.

The compiled scanner is told what becomes of references of each plain shape on a base
(`shape_edits`); it makes edits or links of them up to what has to be looked at.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from relbase.bases.layers import remembering
from relbase.references import scanner
from relbase.references.holding import attribute_names
from relbase.references.scanner import Shape
from relbase.references.skip import skipping
from relbase.references.values import clean
from relbase.references.vocabulary import named_rows
from relbase.rewriting.budget import Budget
from relbase.rewriting.listing import Linker, costs_of, listing_for, written_in
from relbase.rewriting.shape_edits import (
    NONE,
    SHAPES,
    Prepared,
    becomes_of,
    is_same_in_css,
    prepared_on,
    sampled_by,
    with_places,
)
from relbase.url.resolver import Profile
from relbase.view.characters import is_multi_byte

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from relbase.policy import Policy
    from relbase.references.css import Scan as CssScan
    from relbase.references.scanner import EditsByShape, KeepsEach, Scan
    from relbase.references.vocabulary import Row
    from relbase.rewriting.context import Context
    from relbase.rewriting.shape_edits import Resolve


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
    return named_rows(cast("tuple[tuple[str, str], ...]", policy.attributes))


def css_scan_for(context: Context, element: str, attribute: str) -> CssScan | None:
    """Return what goes ahead in CSS on a base; None where each statement is looked at."""
    task = context.task
    if scanner.compiled is None or not (task.edits_only or task.found_only):
        return None
    if task.edits_only:
        return _editing(context, scanner.CSS_WALK)
    return listing_for(context, scanner.CSS_WALK, (attribute,), element)


def xml_scan_for(context: Context, *, reads_markup: bool) -> Callable[..., Any]:
    """Return what makes edits in XML on a base, and if wanted in the HTML of its texts.

    Whoever asks for them charges the budget, since those in HTML are deeper.
    """
    is_asked = context.task.policy.keeper() is not None  # each reference is looked at
    resolve = None if is_asked else sampled_by(context)
    base, how = context.base.url, _how(context, scanner.XML_WALK)
    scan = _remembered_scan(base)(base, resolve, how)
    return lambda *where: scan(*where[:-2], reads_markup, *where[-2:])


def is_same_in_markup(context: Context) -> bool:
    """Whether references in HTML in XML become what they become in XML, written as it is."""
    edits = prepared_on(context.base.url)(sampled_by(context)).becomes
    return is_same_in_css(context) and not any(edit and edit[2].endswith(b"]") for edit in edits)


def priced_scan_for(context: Context, walk: str = scanner.HTML_WALK) -> Callable[..., Any]:
    """Return what makes the edits of plain references, whatever the budget covers.

    What it returns ends in what they cost, unless the policy is asked of each.
    """
    base, resolve, how = context.base.url, sampled_by(context), _how(context, walk)
    keeps = context.task.policy.keeper()
    if keeps is None:
        return _remembered_scan(base)(base, resolve, how)
    each = partial(_keeps_each, keeps, context.charset)
    return _scan(base, resolve, how, each)


def _editing(context: Context, walk: str) -> Callable[..., Any]:
    """Return what makes the edits of plain references that the budget covers."""
    scan = priced_scan_for(context, walk)
    depth, is_each = context.depth, context.task.policy.keeper() is not None
    budget = context.task.budget or Budget(0)

    def covered_each(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `scan`)
        edits, *places = scan(text, *where)
        return budget.covered(edits, depth), *places

    def covered(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401
        edits, *places, cost = scan(text, *where)
        if cost <= budget.left:
            budget.left -= cost
        else:
            edits = budget.covered(edits, depth)
        return edits, *places

    return covered_each if is_each else covered


def _how(context: Context, walk: str) -> _How:
    return _How(
        walk,
        context.depth,
        context.task.profile is Profile.WHATWG,
        is_same_in_css(context),
        walk != scanner.HTML_WALK or not is_multi_byte(context.charset),
        context.task.policy.extended,
    )


class _How(NamedTuple):
    """How a document is passed over, whatever its base.

    Args:
        walk: of the compiled scanner.
        depth: how many documents are around.
        whatwg: whether references resolve by the WHATWG parser.
        in_css: whether they resolve likewise in CSS.
        ascii_stands: whether no byte of ASCII is the rest of another character.
        extended: whether rows of the policy `extended` count.
    """

    walk: str
    depth: int
    whatwg: bool
    in_css: bool
    ascii_stands: bool
    extended: bool


def _scan(
    base: str,
    resolve: Resolve | None,
    how: _How,
    keeps: KeepsEach | None = None,
) -> Callable[..., Any]:
    if how.walk == scanner.HTML_WALK and keeps is None and resolve is not None:
        return _OnFirstUse(resolve, how)
    return _scanning(prepared_on(base)(resolve), how, keeps)


def _scanning(prepared: Prepared, how: _How, keeps: KeepsEach | None = None) -> Callable[..., Any]:
    return scanner.scanning(
        prepared.becomes,
        walk=how.walk,
        whatwg=how.whatwg,
        unquoted=prepared.unquoted,
        in_css=prepared.in_css and how.in_css,
        ascii_stands=how.ascii_stands,
        extended=how.extended,
        keeps=keeps,
        costs=costs_of(prepared.becomes, how.depth),
    )


class _OnFirstUse:
    """Makes edits on a base of which a shape is prepared when it occurs: a page has two or three.

    Where one is missing all the same its references are looked at one by one.
    """

    __slots__ = ("_becomes", "_how", "_known", "_resolve", "_scan", "_uses")

    def __init__(self, resolve: Resolve, how: _How) -> None:
        self._resolve = resolve
        self._how = how
        self._becomes = NONE
        self._known = self._uses = 0
        self._scan: Callable[..., Any] | None = None

    def __call__(self, text: bytes, pos: int, end: int, *inside: bool) -> tuple[Any, ...]:
        """The edits up to the next place that has to be looked at."""
        scan = self._scan
        if scan is None or self._known != _EACH:
            scan = self._learn(text, pos, end, *inside)
        made: tuple[Any, ...] = scan(text, pos, end, *inside)
        return made

    def _learn(self, text: bytes, *where: int) -> Callable[..., Any]:
        self._uses += 1
        is_small = where[1] - where[0] <= _SMALL and self._uses <= _FEW
        occurring = _occurring(self._how)(text, *where) & _EACH if is_small else _EACH
        if self._scan is None or occurring & ~self._known:
            self._becomes = tuple(
                becomes_of(shape, self._resolve) if (occurring & ~self._known) >> shape & 1 else was
                for shape, was in enumerate(self._becomes)
            )
            self._known |= occurring
            self._scan = _scanning(with_places(self._becomes), self._how)
        return self._scan


# To look which shapes occur takes as long as a scan: not worth it for a large page, nor for long.
_SMALL: Final = 1 << 14
_FEW: Final = 8
_ANY: Final[EditsByShape] = tuple(
    (0, 0, b"") if shape >= Shape.ROOT else None for shape in range(SHAPES)
)
_EACH: Final = sum(1 << shape for shape in range(Shape.ROOT, SHAPES))


@lru_cache(maxsize=16)
def _occurring(how: _How) -> Callable[..., int]:
    how = how._replace(walk=scanner.SHAPES_WALK)
    return _scanning(Prepared(_ANY), how)


def _keeps_each(
    keeps: Callable[[str], object], charset: str, written: list[str | bytes]
) -> Iterable[object]:
    return [
        keeps(one if isinstance(one, str) else clean(written_in(one, charset))) for one in written
    ]


_remembered_scan: Final = remembering(_scan)
