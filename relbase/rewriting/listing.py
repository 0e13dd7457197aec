"""What the compiled scanner lists of a document: references, or links in their last form.

Either is made of what plain references of each shape become on the base (`shape_edits`), as long as
the budget covers them.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

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
from relbase.rewriting.items import Found, Packed, Status
from relbase.rewriting.shape_edits import shape_edits, walk_for
from relbase.view.characters import text as decode_inner
from relbase.view.charrefs import attribute_view

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.rewriting.context import Context


def listing_for(
    context: Context, walk: str, attributes: tuple[str, ...], element: str = ""
) -> Callable[..., Any]:
    """Return what lists plain and absolute references; `element` is whose text is scanned."""
    records = _records(context, walk)
    found = _Lister(context, attributes, element).found

    def listing(text: bytes, *where: Any) -> tuple[Any, ...]:  # noqa: ANN401 (of `records`)
        listed, *places = records(text, *where)
        return (found(text, listed) if listed else ()), *places

    return listing


def _records(context: Context, walk: str) -> Callable[..., Any]:
    return partial(walk_for(context, walk, scanner.ALL), shape_edits(context))


class Linker:
    """Has links made of what the scanner finds, as long as the budget covers them."""

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
        self._around = context.base, context.part
        self._is_packed = link is Packed
        self._types: tuple[Any, ...] = (None, None) if self._is_packed else (link, Span)
        self._names: dict[Any, Any] = {}
        self._made_with: tuple[Any, ...] = (
            *(_numbers(attributes) if self._is_packed else attributes, SYNTAX_NAMES, STATUSES),
            *(*self._around, self._decoded, context.task.policy.keep_fragments),
        )
        self._lines: tuple[int, int, int] = 1, 0, 0  # line, its offset, an offset in it

    def scan(self, text: bytes, *where: int) -> tuple[Any, ...]:
        """The links up to the next place that has to be looked at."""
        names = {} if self._is_packed else self._names
        made_with = (*self._types, names, *self._made_with)
        budget = self._budget
        covered = (_AT_ONCE, _AT_ONCE)
        if budget is not None:
            covered = min(budget.left, _AT_ONCE), min(budget.shown, _AT_ONCE)
        made = self._links(text, *where, made_with, *covered, *self._lines)
        links, at, cost, shown, *lines = made
        if links is None:
            found: tuple[Any, ...] = self._listing(text, *where)  # one after the other
            return found
        if budget is not None:
            budget.left -= cost
            budget.shown -= shown
        if self._is_packed:
            size = len(links[-1]) // 4
            return (Packed(names, links, size, *self._around) if size else ()), at
        self._lines = tuple(lines)
        return links, at

    def _decoded(self, raw: bytes, is_name: int) -> str | bytes:
        if is_name:
            return _name(raw)
        written = written_in(raw, self._charset)
        return utf_8(written) if self._is_packed else written


# So much longer may URLs be together than their references, where they are made at once.
_AT_ONCE: Final = 1 << 24


def utf_8(text: str) -> bytes:
    """A text as a table holds it: bytes that are not UTF-8, carried as surrogates, are U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").encode()


class _Lister:
    """Makes what was found of what the scanner lists."""

    def __init__(self, context: Context, attributes: tuple[str, ...], element: str) -> None:
        self._context = context
        self._keeps = context.task.policy.keeper()
        self._attributes = attributes
        self._element = element
        self._edits = shape_edits(context)

    def found(self, text: bytes, records: list[tuple[int, ...]]) -> Iterator[Found]:
        """What stands at the places of some records."""
        base, part, charset = self._context.base, self._context.part, self._context.charset
        attributes, verdict_of = self._attributes, self._verdict
        for start, end, shape, attribute, holds, name, name_end in records:
            raw = text[start:end]
            is_plain = b"&" not in raw and raw.isascii()
            written = raw.decode("ascii") if is_plain else written_in(raw, charset)
            verdict = verdict_of(written, shape, holds) if shape else (Status.ABSOLUTE, written)
            values = (
                tuple.__new__(Span, (start, end)),
                _name(text[name:name_end]) or self._element,
                attributes[attribute],
                _SYNTAXES[holds & KIND],
                written,
                verdict[1],
                base,
                verdict[0],
                part,
            )
            yield tuple.__new__(Found, values)

    def _verdict(self, written: str, shape: int, holds: int) -> tuple[Status, str | None]:
        edit = self._edits[shape]
        if edit is None:
            return Status.ABSOLUTE, written
        status, rest = Status.REWRITTEN, edit.until
        budget, keeps = self._context.task.budget, self._keeps
        stays = written.startswith("#") and is_local(holds)
        if stays or (keeps is not None and keeps(written)):
            if budget is None or budget.shown < 0:
                return Status.KEPT, None
            status = Status.KEPT
            budget.shown -= len(edit.new) + len(written) - rest
        elif budget is not None and not budget.spend(edit.cost):
            return Status.KEPT, None
        return status, edit.new.decode("ascii") + written[rest:]


@lru_cache(maxsize=2)
def _numbers(attributes: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(map(ATTRIBUTES.index, attributes))


def _name(raw: bytes) -> str:
    return _known_name(raw) if len(raw) <= _LONGEST else _known_name.__wrapped__(raw)


@lru_cache(maxsize=256)
def _known_name(raw: bytes) -> str:
    return raw.lower().decode("utf-8", "replace")


# Longer names are those of hostile documents, which would stay in memory.
_LONGEST: Final = 64


def written_in(raw: bytes, charset: str) -> str:
    """Return a reference as its author wrote it, from the bytes of a value."""
    if (charset == "utf-8" or raw.isascii()) and raw.count(b"&") == raw.count(b"&amp;"):
        with suppress(UnicodeDecodeError):
            return raw.replace(b"&amp;", b"&").decode()
    return decode_inner(attribute_view(raw, b'"', charset).inner)


ATTRIBUTES: Final = tuple(
    {name: 0 for extended in (False, True) for name in attribute_names(extended=extended)}
)
_SYNTAXES: Final = {number: held_syntax(number).value for number in (URL, CSS, SRCSET, LIST)}
SYNTAX_NAMES: Final = tuple(_SYNTAXES.get(number, "") for number in range(max(_SYNTAXES) + 1))
# By their numbers in _scanner.c.
STATUSES: Final = (Status.ABSOLUTE, Status.REWRITTEN, Status.KEPT)
