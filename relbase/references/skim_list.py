"""Listing without the compiled scanner: what skimming passes over holds no reference at all.

What comes out are the records that the compiled scanner makes (`scanner.Listed`), up to the next
element that has to be looked at.
"""

from __future__ import annotations

import re
from functools import cache, partial
from typing import TYPE_CHECKING, Final

from relbase.records import NamedTuple
from relbase.references import holding, tags
from relbase.references.css_skim import holds_none
from relbase.references.plain import BEGINNINGS, absolute, candidates_of, url_matcher
from relbase.references.shapes import Shape
from relbase.references.skim_css import is_sheet, list_css, plain_declarations
from relbase.references.skim_reading import MOST
from relbase.references.skim_tags import (
    SPECIAL,
    WITH_TEXT,
    attributes_end,
    may_decide,
    row_of_element,
    tag_name,
)
from relbase.references.skim_tokens import passed_over, style_tag, tag_with_one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.references.shapes import Becomes

# So many records are handed over at once.
_BATCH: Final = 4096

_Record = tuple[int, ...]


class _Listing(NamedTuple):
    """How references are listed: those of the shapes that have an edit.

    Args:
        becomes: what becomes of references of each shape.
        whatwg: whether they resolve by the WHATWG parser.
        in_css: whether they resolve likewise in CSS.
        ascii_stands: whether no byte of ASCII is the rest of another character.
        extended: whether rows of the policy `extended` count.
    """

    becomes: Becomes
    whatwg: bool
    in_css: bool
    ascii_stands: bool
    extended: bool


class _Value(NamedTuple):
    """A value: where it is, whether in quotes, and what its records end in."""

    text: bytes
    start: int
    end: int
    quoted: bool
    rest: tuple[int, int, int, int]

    @property
    def holds(self) -> int:
        return self.rest[1]


def listing(
    becomes: Becomes, *, whatwg: bool, in_css: bool, ascii_stands: bool, extended: bool
) -> Callable[[bytes, int, int, bool, bool], tuple[list[_Record], int]]:
    """Return what lists references up to the next place that has to be looked at.

    Args:
        becomes: which shapes may be listed: those that have an edit.
        whatwg: whether they resolve by the WHATWG parser.
        in_css: whether they resolve likewise in CSS.
        ascii_stands: whether no byte of ASCII is the rest of another character.
        extended: whether rows of the policy `extended` count.
    """
    how = _Listing(becomes, whatwg, in_css, ascii_stands, extended)
    return partial(_list, _pattern(extended=extended), how)


@cache
def _pattern(*, extended: bool) -> Callable[..., Iterator[re.Match[bytes]]]:
    return re.compile(
        rb"[^<]*+(?:<(?:" + passed_over(extended=extended, listing=True) + rb")[^<]*+)*+(?:<(?:"
        + tag_with_one((b"href", b"src"), extended=extended) + rb"|"
        + style_tag(extended=extended) + rb")|)"
    ).finditer  # fmt: skip


# The groups: of a tag with one attribute that holds a reference, of the tag of a style sheet.
_NAME, _ATTRIBUTE, _ITSELF, _VALUE, _STYLE = 1, 2, 3, 4, 5


def _list(
    finditer: Callable[..., Iterator[re.Match[bytes]]],
    how: _Listing,
    text: bytes,
    pos: int,
    end: int,
    _in_noscript: bool = False,  # noqa: FBT001, FBT002 (there are no noscript elements in one,
    _in_comment: bool = False,  # noqa: FBT001, FBT002  nor whole comments in a comment)
) -> tuple[list[_Record], int]:
    records: list[_Record] = []
    while len(records) < _BATCH:
        for found in finditer(text, pos, end):
            group, at = found.lastindex, found.end()
            if group is None and at == end:
                return records, -1
            is_one = group is not None and group != _STYLE
            if is_one and _one(found, text, how, records):
                if len(records) < _BATCH:
                    continue
                return records, at
            at = at if group is None else found.start(_NAME if is_one else group) - 1
            pos = (_sheet if group == _STYLE else _tag)(text, at, end, how, records)
            if pos < 0:
                return records, at
            break
    return records, pos


def _one(found: re.Match[bytes], text: bytes, how: _Listing, records: list[_Record]) -> bool:
    """Whether the one value of a tag was read, its record appended."""
    attribute = found[_ATTRIBUTE]
    holds = row_of_element(found[_NAME].lower(), extended=how.extended).get(attribute)
    if holds is None:
        return True
    if holds & holding.KIND != holding.URL:  # another attribute may decide
        return False
    count, group = len(records), found.lastindex or 0
    start, end = found.span(group)
    rest = (_numbers(extended=how.extended)[attribute], holds, *found.span(_NAME))
    if group == _ITSELF:
        records.append((start, end, 0, *rest))
        return True
    if _url(_Value(text, start, end, quoted=True, rest=rest), how, records):
        return True
    del records[count:]
    return False


def _sheet(text: bytes, pos: int, end: int, how: _Listing, records: list[_Record]) -> int:
    """Where a style sheet ends whose references were all read; -1 where they were not."""
    name_end = pos + len(b"<style")
    begin = tags.tag_end(text, name_end, end)
    stop = tags.raw_text_end(b"style", text, begin, end)
    if holds_none(text[begin:stop]):
        return stop
    if not is_sheet(text, name_end, begin):
        return -1
    count = len(records)
    value = _Value(text, begin, stop, quoted=True, rest=(-1, holding.CSS, pos + 1, name_end))
    if _css(value, text, begin, how, records):
        return stop
    del records[count:]
    return -1


def _css(value: _Value, css: bytes, begin: int, how: _Listing, records: list[_Record]) -> bool:
    """Whether CSS was read, its records appended; it is the value itself, or what that means."""
    offset = value.start - begin
    most = len(records) + MOST

    def found_one(start: int, end: int, shape: int) -> bool:
        records.append((start + offset, end + offset, shape, *value.rest))
        is_listed = shape in {0, Shape.FRAGMENT} or how.in_css
        return is_listed and len(records) < most and (shape == 0 or bool(how.becomes[shape]))

    end = begin + value.end - value.start
    return list_css(css, begin, end, how.whatwg, how.ascii_stands, found_one)


def _tag(text: bytes, pos: int, end: int, how: _Listing, records: list[_Record]) -> int:
    """Where an element ends whose values were all read, their records appended; -1 otherwise."""
    count = len(records)
    pos = _values(text, pos, end, how, records)
    if pos < 0 or len(records) - count > MOST:
        del records[count:]
        return -1
    return pos


def _values(text: bytes, pos: int, end: int, how: _Listing, records: list[_Record]) -> int:
    named = tag_name(text, pos + 1, end)
    name = named[0].lower() if named else b""
    if named is None or (name in SPECIAL and name not in WITH_TEXT):
        return -1
    row = row_of_element(name, extended=how.extended)
    numbers = _numbers(extended=how.extended)
    span = named.span()

    def read(attribute: bytes, holds: int, start: int, stop: int, quoted: bool) -> bool:  # noqa: FBT001
        rest = (numbers[attribute], holds, *span)
        return _value(_Value(text, start, stop, quoted, rest), how, records)

    at = attributes_end(text, named.end(), end, row, how.extended, read)
    return at if at < 0 or name not in WITH_TEXT else tags.raw_text_end(name, text, at, end)


@cache
def _numbers(*, extended: bool) -> dict[bytes, int]:
    names = holding.held_attributes(extended=extended)
    return {name: number for number, name in enumerate(names)}


def _value(value: _Value, how: _Listing, records: list[_Record]) -> bool:
    """Whether a value was read, its records appended."""
    text, start, end, quoted, rest = value
    kind = rest[1] & holding.KIND
    if kind == holding.URL:
        return _url(value, how, records)
    if kind == holding.SRCSET:
        return _srcset(value, how, records) if quoted else start == end
    if kind == holding.CSS:
        declarations = plain_declarations(text[start:end])
        if not declarations:
            return declarations is not None
        return holds_none(declarations) or (quoted and _css(value, declarations, 0, how, records))
    if kind in {holding.DECIDES, holding.DECIDES_IF}:
        return not may_decide(text[start:end], extended=how.extended)
    if kind in {holding.MAYBE, holding.ANYTHING}:
        return start == end and not rest[1] & (holding.EMPTY_LOOK | holding.EMPTY_IS_BASE)
    return kind == holding.IF


# What a URL parser drops, as it is or as a character reference.
_may_drop: Final = re.compile(rb"[\x00-\x1f\x7f]|&(?!amp;)(?:\#|[a-zA-Z0-9]++;)").search


def _url(value: _Value, how: _Listing, records: list[_Record]) -> bool:
    whole = value.text[value.start : value.end]
    if not whole:
        if value.holds & holding.EMPTY_LOOK:
            return False
        if not value.holds & holding.EMPTY_IS_BASE:
            return True
        return value.quoted and _put(value, value.start, 0, Shape.EMPTY, how, records)
    raw = whole.strip(b"\t\n\f\r ")
    if not raw or (value.holds & holding.FRAGMENT_LOOK and raw.startswith(b"#")):
        return False
    at = value.start + whole.index(raw)
    if absolute(raw):
        records.append((at, at + len(raw), 0, *value.rest))
        return _may_drop(raw) is None
    found = url_matcher(whatwg=how.whatwg)(raw)
    if found is None:
        return False
    return _put(value, at, len(raw), BEGINNINGS[found[found.lastindex or 0]], how, records)


def _put(  # noqa: PLR0917 (called often: by position)
    value: _Value, at: int, length: int, shape: int, how: _Listing, records: list[_Record]
) -> bool:
    records.append((at, at + length, shape, *value.rest))
    return bool(how.becomes[shape])


_ABSOLUTE: Final = 1  # the group


def _srcset(value: _Value, how: _Listing, records: list[_Record]) -> bool:
    text, start, end, _, rest = value
    for found in candidates_of(whatwg=how.whatwg, listing=True)(text, start, end):
        group = found.lastindex
        if found.start() != start or len(records) > MOST + _BATCH:
            return False
        start = found.end()
        if group is not None:
            at = found.start(group)
            token = text[at:start].split(None, 1)[0].rstrip(b",")
            shape = 0 if group == _ABSOLUTE else BEGINNINGS[found[group]]
            records.append((at, at + len(token), shape, *rest))
            if (shape == 0 and _may_drop(token)) or (shape and not how.becomes[shape]):
                return False
        if start == end:
            return True
    return start == end
