"""How HTML is passed over: by the compiled scanner, or where nothing can be a reference.

Strategy: most relative references are of a plain shape (`shapes.Shape`): what they resolve to is
the same text before each of that shape. It is found out once for a base, with a sample of each;
where a sample resolves to anything else, references of that shape are looked at one by one.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

from relbase.bases.remembering import remembering
from relbase.edit import Span
from relbase.records import NamedTuple
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
from relbase.references.shapes import DOTS, SAMPLES
from relbase.references.skip import skipping
from relbase.references.values import clean
from relbase.references.vocabulary import named_rows
from relbase.rewriting.budget import weight
from relbase.rewriting.items import Found, Status
from relbase.rewriting.outward import plain_in_css, plain_in_quotes, plain_unquoted
from relbase.rewriting.reference import smallest
from relbase.url.resolver import Profile, has_net_loc
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

    Resolve: TypeAlias = "Callable[[str], str]"

_SHAPES: Final = max(DOTS) + 1
_NONE: Final[Becomes] = (None,) * _SHAPES


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
    resolve = None if is_asked else _sampled_by(context)
    base, how = context.base.url, _how(context, scanner.XML_WALK)
    scan = _remembered_scan(base)(base, resolve, how)
    return lambda *where: scan(*where[:-2], reads_markup, *where[-2:])


def is_same_in_markup(context: Context) -> bool:
    """Whether references in HTML in XML become what they become in XML, written as it is."""
    edits = _remembered(context.base.url)(_sampled_by(context)).becomes
    return _is_same_in_css(context) and not any(edit and edit[2].endswith(b"]") for edit in edits)


def _editing(context: Context, walk: str) -> Callable[..., Any]:
    """Return what makes the edits of plain references that the budget covers."""
    base, resolve, how = context.base.url, _sampled_by(context), _how(context, walk)
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
    becomes, unquoted, in_css = _remembered(base)(resolve)
    return scanner.scanning(
        becomes,
        walk=how.walk,
        whatwg=how.whatwg,
        unquoted=unquoted,
        in_css=in_css and how.in_css,
        ascii_stands=how.ascii_stands,
        extended=how.extended,
        keeps=keeps,
    )


def _is_same_in_css(context: Context) -> bool:
    """What stands in CSS is resolved as UTF-8: the query of the base may be another then."""
    return context.encoding == "utf-8" or context.base.url.isascii()


def _listing(
    context: Context, walk: str, attributes: tuple[str, ...], names: dict[bytes, str]
) -> Callable[..., Any]:
    """Return what lists plain and absolute references."""
    records = _records(context, walk)
    becomes = _remembered(context.base.url)(_sampled_by(context)).becomes
    found = _Lister(context, becomes, attributes, names).found

    def listing(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `records`)
        listed, *places = records(text, *where)
        return (found(text, listed) if listed else ()), *places

    return listing


def _records(context: Context, walk: str) -> Callable[..., Any]:
    """Return what finds plain and absolute references."""
    return scanner.listing(
        _remembered(context.base.url)(_sampled_by(context)).becomes,
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
        edits = _remembered(context.base.url)(_sampled_by(context)).becomes
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


class _Prepared(NamedTuple):
    """What becomes of references of each shape, and where what is written may stand as it is."""

    becomes: Becomes
    unquoted: bool = True
    in_css: bool = True


def _sampled_by(context: Context) -> Resolve | None:
    """What resolves samples for the references of a context; None where they tell nothing."""
    base = context.base.url
    # The WHATWG parser treats the paths of file and of other schemes by rules of their own.
    is_whatwg = context.task.profile is Profile.WHATWG
    if is_whatwg and not base.startswith(("http:", "https:")):
        return None
    # What is saved beside the page may stay; without a net_loc a path may be written otherwise.
    if context.task.places is not None or not has_net_loc(base):
        return None
    return context.resolve


def _prepared(resolve: Resolve | None) -> _Prepared:
    """What becomes of references of each shape by what resolves their samples."""
    if resolve is None:
        return _Prepared(_NONE)
    becomes = [*_NONE]
    for shape, sample in SAMPLES.items():
        becomes[shape] = _edit(sample, _resolved(resolve, sample))
    for level, dots in DOTS.items():
        resolved, directory = _resolved(resolve, dots + "x"), _resolved(resolve, dots)
        # What climbs above the root is noted, one by one.
        is_noted = resolved is not None and "/../" in resolved
        if directory is not None and resolved == directory + "x" and not is_noted:
            becomes[level] = _edit(dots + "x", resolved)
    written = b"".join(edit[2] for edit in becomes if edit)
    return _Prepared(
        tuple(becomes), plain_unquoted(written) is not None, plain_in_css(written) is not None
    )


def _resolved(resolve: Resolve, sample: str) -> str | None:
    try:
        return resolve(sample)
    except ValueError:
        return None


def _edit(sample: str, resolved: str | None) -> tuple[int, int, bytes] | None:
    """The edit that makes a sample absolute, when it is the same for all that are like it."""
    if resolved is None or not resolved.isascii():
        return None
    start, end, new = smallest(sample, resolved, Span(0, len(sample)))
    rest = sample.lstrip("./") if sample.startswith(".") else sample
    is_alike = end <= len(sample) - len(rest)
    return (start, end, new) if is_alike and plain_in_quotes(new) else None


_remembered: Final = remembering(_prepared)
_remembered_scan: Final = remembering(_scan)
_remembered_costs: Final = remembering(_costs)
