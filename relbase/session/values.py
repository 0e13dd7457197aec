"""One value of an attribute, decoded: the URLs in it, and what each becomes.

A tree or a template hands over the value of an attribute by itself. A row of the vocabulary says
how the value holds URLs, and the other attributes of the element decide whether that row counts.
Since the value is decoded, nothing is escaped for the place that it is written to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from relbase.bases.layers import Base, Layer
from relbase.edit import Edit, splice
from relbase.expressions import expression
from relbase.html.foreign import HTML, MATH, SVG
from relbase.html.places import attributes_of
from relbase.html.visit import visit_value
from relbase.html.vocabulary import Row, counting, keyword, named_rows
from relbase.rewriting.budget import MAX_GROWTH_BYTES, Budget
from relbase.rewriting.context import Wanted
from relbase.rewriting.outcomes import Reference
from relbase.rewriting.reference import Place, on_codebase
from relbase.scan.batches import scan_for
from relbase.scan.binding import spliced
from relbase.session.run import Lines, answers
from relbase.session.texts import Characters
from relbase.url.step import check_text
from relbase.values.syntaxes import trimmed
from relbase.view.characters import encode_inner

if TYPE_CHECKING:
    from relbase.results import Link
    from relbase.rewriting.context import Context
    from relbase.session.session import Call

# As parsers hand them over: BeautifulSoup divides `rel`, others have None where nothing is stated.
Attributes = Mapping[str, str | Sequence[str] | None]
NO_ATTRIBUTES: Final[Attributes] = MappingProxyType({})


class Value(NamedTuple):
    """Where a value is: its element, in any case, `svg:use` for SVG; its attribute; the others."""

    element: str
    attribute: str  # in any case; "" for the text of the element
    text: str
    attributes: Attributes = NO_ATTRIBUTES


def rewrite_value(value: Value, call: Call, base: str = "") -> str:
    """Return a value with absolute URLs; the same object if nothing in it changes."""
    context, place, front, scan = _prepared(value, call, base)
    if place is None:
        return value.text
    text = encode_inner(value.text)
    # A scanner counts no growth, so it reads only what cannot grow beyond the budget.
    is_small = len(text) * (len(context.base.url) + _LONGEST_CHARACTER) < MAX_GROWTH_BYTES
    if front and is_small and call.replace is None and not _escaped.search(text):
        tag = front + text + b'">'
        made, at = scan(tag, 0, len(tag), False, False)
        if at < 0:
            return spliced(tag, made)[len(front) : -2].decode() if made else value.text
    if call.replace is not None:
        asked = context._replace(replaced={}, budget=Budget(len(text)))
        outcomes = visit_value(text, asked, place)
        context = context._replace(replaced=answers(outcomes, Lines(text), call.replace))
    context = context._replace(budget=Budget(len(text)))
    edits = [outcome for outcome in visit_value(text, context, place) if type(outcome) is Edit]
    return splice(text, edits).decode("utf-8", "surrogatepass") if edits else value.text


def value_links(value: Value, call: Call, base: str = "") -> Iterator[Link]:
    """Yield the links in a value, with spans in its characters."""
    context, place, *_ = _prepared(value, call, base)
    if place is not None:
        text = encode_inner(value.text)
        lines, characters = Lines(text), Characters(text)
        context = context._replace(budget=Budget(len(text)))
        for outcome in visit_value(text, context, place):
            if isinstance(outcome, Reference):
                yield characters.link(lines.link(outcome))


class _Prepared(NamedTuple):
    """What all values of an attribute share whose element has no others that decide."""

    context: Context
    place: Place | None  # None if they hold no URLs
    front: bytes = b""  # of a tag with the value, for a scanner to read
    scan: Any = None


def _prepared(value: Value, call: Call, base: str) -> _Prepared:
    for name, given in zip(("element", "attribute", "value"), value, strict=False):
        check_text(given, name, "give a str")
    ready: dict[object, _Prepared] = call.session.around(call).values
    key = base, value.element, value.attribute
    if value.attributes == NO_ATTRIBUTES and (known := ready.get(key)):
        return known
    context = call.session.around(call).context("utf-8", "utf-8", None)
    if base:
        stated = Base(base, Layer.EMBEDDED, "the base that was given", context.base)
        context = context.with_base(stated)
    prepared = _Prepared(context, _place(value, context))
    if value.attributes != NO_ATTRIBUTES or sum(map(len, key)) > _LONGEST:
        return prepared
    if (place := prepared.place) and value.element.lower() in _SCANNED and place.attribute:
        front = f'<{place.element} {place.attribute}="'.encode()
        prepared = prepared._replace(
            front=front, scan=scan_for(context.visited(Wanted.EDITS, None))
        )
    if len(ready) >= _FEW:
        ready.clear()
    ready[key] = prepared
    return prepared


_LONGEST, _FEW = 1 << 12, 256  # what a hostile document names must not stay in memory
_SCANNED: Final = frozenset(("a", "area", "img", "link", "source"))
_LONGEST_CHARACTER: Final = 12  # in any escape
_escaped: Final = expression(rb'["&\r\0]|[^\0-\x7f]')


def _place(value: Value, context: Context) -> Place | None:
    """Where a value is, with the row that counts; None if it holds no URLs."""
    policy = context.task.policy
    element, attribute, rows = _rows(value.element, value.attribute, policy.attributes)
    if not rows:
        return None
    stated = _stated(value.attributes)

    def value_of(name: bytes) -> bytes:
        return keyword(encode_inner(stated.get(name.decode(), "")))

    row = counting(rows, value_of, extended=policy.extended)
    if row is None:
        return None
    codebase = trimmed(stated.get("codebase", "")) if row.on_codebase else ""
    return Place(element, attribute, row, on_codebase(codebase, context))


def _stated(attributes: object) -> dict[str, str]:
    """Return attributes by their names in lower case, each with its value as one text."""
    if not isinstance(attributes, Mapping):
        raise TypeError(f"attrs must be a mapping, not {type(attributes).__name__}: {_FIX}")
    stated = {}
    for name, given in attributes.items():
        check_text(name, "a name in attrs", _FIX)
        text = " ".join(given) if isinstance(given, (list, tuple)) else given or ""
        check_text(text, f"attrs[{name!r:.200}]", _FIX)
        stated[name.lower()] = text
    return stated


_FIX: Final = "give the attributes of the element, as in {'rel': 'icon'}"


@lru_cache(maxsize=256)
def _rows(
    element: str, attribute: str, named: tuple[tuple[str, str], ...]
) -> tuple[str, str, tuple[Row, ...]]:
    """The names in lower case, and the rows of an attribute."""
    element, attribute = element.lower(), attribute.lower()
    prefix, _, local = element.partition(":")
    namespace = _PREFIXES.get(prefix, HTML)
    element = local if prefix in _PREFIXES and local else element
    of_element = attributes_of(namespace, encode_inner(element))
    key = encode_inner(attribute)
    if not key:
        return element, attribute, of_element.text
    return element, attribute, named_rows(named).get(key) or of_element.rows.get(key, ())


_PREFIXES: Final = {"svg": SVG, "math": MATH}
