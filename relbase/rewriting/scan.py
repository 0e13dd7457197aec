"""How HTML is passed over: by the compiled scanner, or where nothing can be a reference.

Strategy: the compiled scanner is told what becomes of references of each plain shape on a base
(`shape_edits`); it makes edits or links of them up to what has to be looked at.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from relbase.bases.remembering import remembering
from relbase.edit import Span
from relbase.references import scanner
from relbase.references.holding import (
    CSS,
    KIND,
    LIST,
    SRCSET,
    URL,
    attribute_names,
    held_syntax,
    is_local,
)
from relbase.references.shapes import Shape
from relbase.references.skip import skipping
from relbase.references.values import clean
from relbase.references.vocabulary import named_rows
from relbase.rewriting.budget import weight
from relbase.rewriting.items import Found, Status
from relbase.rewriting.shape_edits import (
    NONE,
    SHAPES,
    Prepared,
    becomes_of,
    prepared_on,
    sampled_by,
    with_places,
)
from relbase.url.resolver import Profile
from relbase.view.characters import is_multi_byte
from relbase.view.characters import text as decode_inner
from relbase.view.charrefs import attribute_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from relbase.policy import Policy
    from relbase.references.css import Scan as CssScan
    from relbase.references.shapes import Becomes, KeepsEach, Scan
    from relbase.references.vocabulary import Row
    from relbase.rewriting.budget import Budget
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
    listing = _listing(context, scanner.HTML_WALK, attributes, {})
    if task.link is None or context.depth or policy.keeper() is not None:
        return listing
    return _Linker(context, task.link, attributes, listing).scan


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
    return _listing(context, scanner.CSS_WALK, (attribute,), {b"": element})


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
    return _is_same_in_css(context) and not any(edit and edit[2].endswith(b"]") for edit in edits)


def _editing(context: Context, walk: str) -> Callable[..., Any]:
    """Return what makes the edits of plain references that the budget covers."""
    base, resolve, how = context.base.url, sampled_by(context), _how(context, walk)
    keeps = context.task.policy.keeper()
    if keeps is not None:
        each = partial(_keeps_each, keeps, partial(_keeps, context, keeps))
        scan = _scan(base, resolve, how, each)
    else:
        scan = _remembered_scan(base)(base, resolve, how)
    return scan if context.task.budget is None else _covered(scan, context, context.task.budget)


def _how(context: Context, walk: str) -> _How:
    return _How(
        walk,
        context.task.profile is Profile.WHATWG,
        _is_same_in_css(context),
        walk != scanner.HTML_WALK or not is_multi_byte(context.charset),
        context.task.policy.extended,
    )


def _covered(scan: Callable[..., Any], context: Context, budget: Budget) -> Callable[..., Any]:
    """Return what makes the edits that the budget covers."""

    def covered(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `scan`)
        edits, *places = scan(text, *where)
        return budget.covered(edits, context.depth) if edits else edits, *places

    return covered


class _How(NamedTuple):
    """How a document is passed over, whatever its base.

    Args:
        walk: of the compiled scanner.
        whatwg: whether references resolve by the WHATWG parser.
        in_css: whether they resolve likewise in CSS.
        ascii_stands: whether no byte of ASCII is the rest of another character.
        extended: whether rows of the policy `extended` count.
    """

    walk: str
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
_ANY: Final[Becomes] = tuple(
    (0, 0, b"") if shape >= Shape.ROOT else None for shape in range(SHAPES)
)
_EACH: Final = sum(1 << shape for shape in range(Shape.ROOT, SHAPES))


@lru_cache(maxsize=16)
def _occurring(how: _How) -> Callable[..., int]:
    how = how._replace(walk=scanner.SHAPES_WALK)
    return _scanning(Prepared(_ANY), how)


def _is_same_in_css(context: Context) -> bool:
    """What stands in CSS is resolved as UTF-8: the query of the base may be another then."""
    return context.encoding == "utf-8" or context.base.url.isascii()


def _listing(
    context: Context, walk: str, attributes: tuple[str, ...], names: dict[bytes, str]
) -> Callable[..., Any]:
    """Return what lists plain and absolute references."""
    records = _records(context, walk)
    becomes = prepared_on(context.base.url)(sampled_by(context)).becomes
    found = _Lister(context, becomes, attributes, names).found

    def listing(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `records`)
        listed, *places = records(text, *where)
        return (found(text, listed) if listed else ()), *places

    return listing


def _records(context: Context, walk: str) -> Callable[..., Any]:
    """Return what finds plain and absolute references."""
    return scanner.listing(
        prepared_on(context.base.url)(sampled_by(context)).becomes,
        walk=walk,
        whatwg=context.task.profile is Profile.WHATWG,
        in_css=_is_same_in_css(context),
        ascii_stands=walk == scanner.CSS_WALK or not is_multi_byte(context.charset),
        extended=context.task.policy.extended,
    )


class _Linker:
    """Has links made of what the scanner finds, as long as the budget covers them."""

    __slots__ = ("_budget", "_charset", "_lines", "_links", "_listing", "_made_with")

    def __init__(
        self,
        context: Context,
        link: type[tuple[Any, ...]],
        attributes: tuple[str, ...],
        listing: Callable[..., Any],
    ) -> None:
        self._charset = context.charset
        self._budget = context.task.budget
        self._listing = listing
        self._links = _records(context, scanner.LINKS_WALK)
        edits = prepared_on(context.base.url)(sampled_by(context)).becomes
        costs = _remembered_costs(context.base.url)(edits, context.depth)
        self._made_with: tuple[Any, ...] = (
            *(link, Span, {}, attributes, _SYNTAX_NAMES, _STATUSES, costs),
            *(context.base, context.part, self._decoded, context.task.policy.keep_fragments),
        )
        self._lines: tuple[int, int, int] = 1, 0, 0  # line, its offset, an offset in it

    def scan(self, text: bytes, *where: int) -> tuple[Any, ...]:
        """The links up to the next place that has to be looked at."""
        made = self._links(text, *where, self._made_with, *self._lines)
        links, at, cost, shown, *lines = made
        budget = self._budget
        if budget is not None:
            if cost > budget.left or shown > budget.shown:
                found: tuple[Any, ...] = self._listing(text, *where)  # one after the other
                return found
            budget.left -= cost
            budget.shown -= shown
        self._lines = tuple(lines)
        return links, at

    def _decoded(self, raw: bytes, is_name: int) -> str:
        return _name(raw) if is_name else _written(raw, self._charset)


class _Lister:
    """Makes what was found of what the scanner lists."""

    __slots__ = ("_attributes", "_context", "_keeps", "_names", "_urls")

    def __init__(
        self,
        context: Context,
        becomes: Becomes,
        attributes: tuple[str, ...],
        names: dict[bytes, str],
    ) -> None:
        self._context = context
        self._keeps = context.task.policy.keeper()
        self._attributes = attributes
        costs = _remembered_costs(context.base.url)(becomes, context.depth)
        # What stands before the rest of a reference of each shape, where that rest begins, and what
        # that costs.
        self._urls = [
            (edit[2].decode("ascii"), edit[1], cost) if edit else None
            for edit, cost in zip(becomes, costs, strict=True)
        ]
        self._names = names

    def found(self, text: bytes, records: list[tuple[int, ...]]) -> Iterator[Found]:
        """What stands at the places of some records."""
        base, part, charset = self._context.base, self._context.part, self._context.charset
        attributes, name_of, verdict_of = self._attributes, self._name, self._verdict
        for start, end, shape, attribute, holds, name, name_end in records:
            raw = text[start:end]
            is_plain = b"&" not in raw and raw.isascii()
            written = raw.decode("ascii") if is_plain else _written(raw, charset)
            url: str | None = written
            if shape == 0:
                status = Status.ABSOLUTE
            else:
                status, url = verdict_of(written, shape, holds)
            values = (
                tuple.__new__(Span, (start, end)),
                name_of(text[name:name_end]),
                attributes[attribute],
                _SYNTAXES[holds & KIND],
                written,
                url,
                base,
                status,
                part,
            )
            yield tuple.__new__(Found, values)

    def _verdict(self, written: str, shape: int, holds: int) -> tuple[Status, str | None]:
        before = self._urls[shape]
        if before is None:
            return Status.ABSOLUTE, written
        new, rest, cost = before
        budget, keeps = self._context.task.budget, self._keeps
        stays = written.startswith("#") and is_local(holds)
        if stays or (keeps is not None and keeps(written)):
            if budget is None or budget.shown < 0:
                return Status.KEPT, None
            budget.shown -= len(new) + len(written) - rest
            return Status.KEPT, new + written[rest:]
        if budget is None or budget.spend(cost):
            return Status.REWRITTEN, new + written[rest:]
        return Status.KEPT, None

    def _name(self, name: bytes) -> str:
        known = self._names.get(name)
        if known is None:
            known = _name(name)
            if len(self._names) < _NAMES:
                self._names[name] = known
        return known


def _name(raw: bytes) -> str:
    return raw.lower().decode("utf-8", "replace")


def _written(raw: bytes, charset: str) -> str:
    if raw.isascii() and raw.count(b"&") == raw.count(b"&amp;"):
        return raw.replace(b"&amp;", b"&").decode("ascii")
    return decode_inner(attribute_view(raw, b'"', charset).inner)


def _costs(edits: Becomes, depth: int) -> tuple[int, ...]:
    """What the budget is charged for an edit of each shape."""
    return tuple(
        max(0, weight(edit[2].decode("ascii"), depth) - (edit[1] - edit[0])) if edit else 0
        for edit in edits
    )


_SYNTAXES: Final = {number: held_syntax(number).value for number in (URL, CSS, SRCSET, LIST)}

_SYNTAX_NAMES: Final = tuple(_SYNTAXES.get(number, "") for number in range(max(_SYNTAXES) + 1))
# By their numbers in _scanner.c.
_STATUSES: Final = (Status.ABSOLUTE, Status.REWRITTEN, Status.KEPT)

# So many names of elements are kept while a document is listed: real ones have fewer.
_NAMES: Final = 256


def _keeps(context: Context, keeps: Callable[[str], object], raw: bytes) -> bool:
    # It has no white space that a URL parser drops.
    if raw.isascii() and b"&" not in raw:
        return bool(keeps(raw.decode("ascii")))
    inner = attribute_view(raw, b'"', context.charset).inner
    return bool(keeps(clean(decode_inner(inner))))


def _keeps_each(
    keeps: Callable[[str], object], keeps_raw: Callable[[bytes], bool], written: list[str | bytes]
) -> Iterable[object]:
    if bytes in map(type, written):
        return [keeps(one) if isinstance(one, str) else keeps_raw(one) for one in written]
    return map(cast("Callable[[str | bytes], object]", keeps), written)


_remembered_scan: Final = remembering(_scan)
_remembered_costs: Final = remembering(_costs)
