"""How scanners go ahead: the compiled one, or one that skips what cannot be a reference.

The compiled scanner knows what becomes of each plain form of reference with a given base
(`prefixes_of`). Up to the next place that it cannot decide, it makes edits, lists references, or
builds finished links, as long as the budget covers them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, cast

from relbase.edit import Span
from relbase.html.vocabulary import EXTENDED, NONE_NAMED, Row, named_rows
from relbase.results import Link
from relbase.rewriting.budget import Budget
from relbase.rewriting.context import Wanted
from relbase.rewriting.outcomes import Packed, Reference, Status
from relbase.scan import binding
from relbase.scan.binding import Scan
from relbase.scan.held import HELD, attribute_names, is_local
from relbase.scan.plain_forms import prefixes_of, walk_for
from relbase.scan.tables import (
    ALL,
    EDITS,
    HOLDS_MASK,
    IS_ABSOLUTE,
    IS_KEPT,
    IS_REWRITTEN,
    WRITTEN,
)

if TYPE_CHECKING:
    from relbase.css.statements import Scan as CssScan
    from relbase.policy import Policy
    from relbase.rewriting.context import Context


def scan_for(context: Context, flags: int = 0) -> Scan:
    """Return a scanner for HTML documents with this base; `flags` are `PAST_BASE` or `IN_BASE`."""
    wanted = context.wanted
    if not (binding.compiled and context.task.is_scanned and wanted.is_scanned):
        return exact_scan_for(context, absolute=wanted.edits_only)
    if wanted.edits_only:
        return _editing(context, binding.HTML_WALK, flags)
    attributes = attribute_names(extended=context.extended)
    link = _LINKS.get(wanted)
    if link is None or context.depth or context.task.keeps is not None:
        return _listing_for(context, binding.HTML_WALK, attributes)
    return _linking(context, link, attributes, flags)


def exact_scan_for(context: Context, *, absolute: bool) -> Scan:
    """Return the scanner that skips what cannot be a reference in a document with this base."""
    from relbase.html.tokens import skipping

    named = frozenset(named_of(context.task.policy))
    return skipping(extended=context.extended, absolute=absolute, named=named)


def named_of(policy: Policy) -> Mapping[bytes, tuple[Row, ...]]:
    given = policy.attributes
    return named_rows(cast("tuple[tuple[str, str], ...]", given)) if given else NONE_NAMED


def css_scan_for(context: Context, element: str, attribute: str) -> CssScan | None:
    """Return a scanner for CSS with this base; None if every statement must be visited."""
    if not (binding.compiled and context.task.is_scanned and context.wanted.is_scanned):
        return None
    if context.wanted.edits_only:
        return _editing(context, binding.CSS_WALK)
    return _listing_for(context, binding.CSS_WALK, (attribute,), element)


def _asking(
    context: Context, walk: str, flags: int, keeps: Callable[[str], object]
) -> Callable[..., tuple[Any, ...]]:
    """Return a scanner that asks the policy about each reference, so that it knows no cost."""
    from relbase.values.syntaxes import clean

    scan, charset = walk_for(context, walk, WRITTEN, flags), context.charset

    def asked(*where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `scan`)
        edits, *places, written = scan(*where)
        # A reference that needs no decoding is a str; bytes have to be decoded.
        cleaned = (
            one if isinstance(one, str) else clean(written_in(one, charset)) for one in written
        )
        left = [edit for edit, one in zip(edits, cleaned, strict=True) if not keeps(one)]
        return left, *places, None

    return asked


def _editing(context: Context, walk: str, flags: int = 0) -> Callable[..., Any]:
    """Return a scanner that makes the edits of plain references that the budget covers."""
    keeps, budget, depth = context.task.keeps, context.budget, context.depth
    scan = (
        walk_for(context, walk, EDITS, flags)
        if keeps is None
        else _asking(context, walk, flags, keeps)
    )

    def paid(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `scan`)
        edits, *places, cost = scan(text, *where)
        if budget is not None:
            if cost is None or not budget.spend_if_covered(cost):
                edits = budget.affordable(edits, depth)
            budget.rewritten += len(edits)
        return edits, *places

    return paid


# ---- what the compiled scanner lists


# The types of what it makes.
_LINKS: Final[Mapping[Wanted, type[tuple[Any, ...]]]] = {
    Wanted.LINKS: Link,
    Wanted.COLUMNS: Packed,
}


def _listing_for(
    context: Context, walk: str, attributes: tuple[str, ...], element: str = ""
) -> Callable[..., Any]:
    """Return a scanner that lists plain and absolute references; the text is in `element`."""
    records = walk_for(context, walk, ALL)
    found = _Lister(context, attributes, element).found

    def listing(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `records`)
        listed, *places = records(text, *where)
        return (found(text, listed) if listed else ()), *places

    return listing


def _linking(
    context: Context, link: type[tuple[Any, ...]], attributes: tuple[str, ...], flags: int
) -> Callable[..., Any]:
    """Return a scanner that builds finished links, as long as the budget covers them."""
    scan, budget = walk_for(context, binding.LINKS_WALK, ALL, flags), context.budget or Budget(0)
    around, is_packed = (context.base, context.part), link is Packed
    types: tuple[Any, ...] = (None, None) if is_packed else (link, Span)
    decoded = partial(_decoded, context.charset, is_packed)
    made_with: tuple[Any, ...] = (
        *(_numbers(attributes) if is_packed else attributes, SYNTAX_NAMES, STATUSES),
        *(*around, decoded, context.task.policy.keep_fragments),
    )
    names: dict[Any, Any] = {}
    lines: Sequence[int] = (1, 0, 0)  # a line, its offset, and an offset in it

    def links(text: bytes, *where: int) -> tuple[Any, ...]:
        nonlocal names, lines
        names = {} if is_packed else names
        limits = min(budget.left, _AT_ONCE), min(budget.list_left, _AT_ONCE)
        made, at, cost, listed, *last = scan(
            text, *where, (*types, names, *made_with), *limits, *lines
        )
        if made is None:  # charged one by one
            listing = _listing_for(context, binding.HTML_WALK, attributes)
            one_by_one: tuple[Any, ...] = listing(text, *where)
            return one_by_one
        budget.spend_if_covered(cost, listed)
        if is_packed:
            size = len(made[-1]) // 4
            return (Packed(names, made, size, *around) if size else ()), at
        lines = last
        return made, at

    return links


def _decoded(charset: str, is_packed: bool, raw: bytes, is_name: int) -> str | bytes:  # noqa: FBT001
    if is_name:
        return _name(raw)
    written = written_in(raw, charset)
    return utf_8(written) if is_packed else written


# How much longer than their references all URLs may be that are made in one call.
_AT_ONCE: Final = 1 << 24


def utf_8(text: str) -> bytes:
    """Encode a text for a table; surrogates, which stand for bad bytes, become U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode()


class _Lister:
    """Makes `Reference` of what the scanner lists."""

    def __init__(self, context: Context, attributes: tuple[str, ...], element: str) -> None:
        self._context = context
        self._keeps = context.task.keeps
        self._attributes = attributes
        self._element = element
        self._edits = prefixes_of(context)

    def found(self, text: bytes, records: list[tuple[int, ...]]) -> Iterator[Reference]:
        base, part, charset = self._context.base, self._context.part, self._context.charset
        attributes, verdict_of = self._attributes, self._verdict
        for start, end, form, attribute, holds, name, name_end in records:
            raw = text[start:end]
            is_plain = b"&" not in raw and raw.isascii()
            written = raw.decode("ascii") if is_plain else written_in(raw, charset)
            verdict = verdict_of(written, form, holds) if form else (Status.ABSOLUTE, written)
            values = (
                tuple.__new__(Span, (start, end)),
                _name(text[name:name_end]) or self._element,
                attributes[attribute],
                _SYNTAXES[holds & HOLDS_MASK],
                written,
                verdict[1],
                base,
                verdict[0],
                part,
                None,
                None,
            )
            yield tuple.__new__(Reference, values)

    def _verdict(self, written: str, form: int, holds: int) -> tuple[Status, str | None]:
        edit = self._edits[form]
        if edit is None:
            return Status.ABSOLUTE, written
        status, rest = Status.REWRITTEN, edit.until
        budget, keeps = self._context.budget, self._keeps
        stays = written.startswith("#") and is_local(holds)
        if stays or (keeps is not None and keeps(written)):
            if budget is None or budget.list_left < 0:
                return Status.KEPT, None
            status = Status.KEPT
            budget.list_left -= len(edit.new) + len(written) - rest
        elif budget is not None and not budget.spend(edit.cost):
            return Status.KEPT, None
        return status, edit.new.decode("ascii") + written[rest:]


@lru_cache(maxsize=4)
def _numbers(attributes: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(map(ATTRIBUTES.index, attributes))


def _name(raw: bytes) -> str:
    return _known_name(raw) if len(raw) <= _LONGEST else _lower_name(raw)


def _lower_name(raw: bytes) -> str:
    return raw.lower().decode("utf-8", "replace")


_known_name: Final = lru_cache(maxsize=256)(_lower_name)


# Only hostile documents have longer names, which would stay in memory.
_LONGEST: Final = 64


def written_in(raw: bytes, charset: str) -> str:
    """Return a reference as its author wrote it, from the bytes of a value."""
    if (charset == "utf-8" or raw.isascii()) and raw.count(b"&") == raw.count(b"&amp;"):
        with suppress(UnicodeDecodeError):
            return raw.replace(b"&amp;", b"&").decode()
    from relbase.view.characters import decode_inner
    from relbase.view.charrefs import attribute_view

    return decode_inner(attribute_view(raw, b'"', charset).inner)


ATTRIBUTES: Final = tuple(
    {name: 0 for extended in (0, EXTENDED) for name in attribute_names(extended=extended)}
)
_SYNTAXES: Final = {number: syntax.value for syntax, number in HELD.items()}
SYNTAX_NAMES: Final = tuple(_SYNTAXES.get(number, "") for number in range(max(_SYNTAXES) + 1))
_STATUSES: Final = {
    IS_ABSOLUTE: Status.ABSOLUTE,
    IS_REWRITTEN: Status.REWRITTEN,
    IS_KEPT: Status.KEPT,
}
STATUSES: Final = tuple(_STATUSES[number] for number in range(len(_STATUSES)))
