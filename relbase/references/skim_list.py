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
from relbase.references.plain import (
    BEGINNINGS,
    absolute,
    candidates_of,
    in_brackets,
    url_matcher,
)
from relbase.references.shapes import Shape
from relbase.references.skim_css import find_css, is_sheet, plain_declarations
from relbase.references.skim_reading import MOST
from relbase.references.skim_rows import SPECIAL, WITH_TEXT, names_of, row_of_element
from relbase.references.skim_tags import Value, attributes_end, may_decide, tag_name
from relbase.references.skim_tokens import passed_over, style_tag, tag_with_one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from relbase.references.shapes import Becomes
    from relbase.references.skim_rows import Names

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
        names: how tags are read.
        numbers: of the attributes.
    """

    becomes: Becomes
    whatwg: bool
    in_css: bool
    ascii_stands: bool
    names: Names
    numbers: Mapping[bytes, int]


class _Records(NamedTuple):
    """What is listed, and the name of the element that is read.

    Args:
        made: all of them.
        name: where the name begins.
        name_end: where it ends.
    """

    made: list[_Record]
    name: int
    name_end: int


def listing(
    becomes: Becomes, *, whatwg: bool, in_css: bool, ascii_stands: bool, extended: bool
) -> Callable[[bytes, int, int, bool, bool], tuple[list[_Record], int]]:
    """Return what lists references up to the next place that has to be looked at."""
    names = names_of(extended=extended)
    how = _Listing(becomes, whatwg, in_css, ascii_stands, names, _numbers(extended=extended))
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
    attribute, name = found[_ATTRIBUTE], found[_NAME]
    holds = row_of_element(name, how.names).get(attribute)
    if holds is None:
        return True
    if holds & holding.KIND != holding.URL:  # another attribute may decide
        return False
    count, group = len(records), found.lastindex or 0
    start, end = found.span(group)
    if group == _ITSELF:
        records.append((start, end, 0, how.numbers[attribute], holds, *found.span(_NAME)))
        return True
    value = Value(text, start, end, holds, quoted=True, attribute=attribute)
    if _url(value, how, _Records(records, *found.span(_NAME))):
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
    value = Value(text, begin, stop, holding.CSS, quoted=True, attribute=_NO_ATTRIBUTE)
    if _list_css(value, text, begin, how, _Records(records, pos + 1, name_end)):
        return stop
    del records[count:]
    return -1


def _tag(text: bytes, pos: int, end: int, how: _Listing, records: list[_Record]) -> int:
    """Where an element ends whose values were all read, their records appended; -1 otherwise."""
    named = tag_name(text, pos + 1, end)
    name = named[0].lower() if named else b""
    if named is None or (name in SPECIAL and name not in WITH_TEXT):
        return -1
    count = len(records)
    row, into = row_of_element(name, how.names), _Records(records, *named.span())
    pos = attributes_end(text, named.end(), end, row, how.names, _READ, how, into)
    if pos < 0 or len(records) - count > MOST:
        del records[count:]
        return -1
    return pos if name not in WITH_TEXT else tags.raw_text_end(name, text, pos, end)


_NO_ATTRIBUTE: Final = b""


@cache
def _numbers(*, extended: bool) -> Mapping[bytes, int]:
    names = holding.held_attributes(extended=extended)
    return {_NO_ATTRIBUTE: -1, **{name: number for number, name in enumerate(names)}}


# ---- values: each returns whether it was read, its records appended


# What a URL parser drops, as it is or as a character reference.
_may_drop: Final = re.compile(rb"[\x00-\x1f\x7f]|&(?!amp;)(?:\#|[a-zA-Z0-9]++;)").search


def _url(value: Value, how: _Listing, records: _Records) -> bool:
    whole = value.text[value.start : value.end]
    if not whole:
        if value.holds & holding.EMPTY_LOOK:
            return False
        if not value.holds & holding.EMPTY_IS_BASE:
            return True
        return value.quoted and _put(value, (value.start, value.start), Shape.EMPTY, how, records)
    raw = whole.strip(b"\t\n\f\r ")
    if not raw or (value.holds & holding.FRAGMENT_LOOK and raw.startswith(b"#")):
        return False
    at = value.start + whole.index(raw)
    span = at, at + len(raw)
    if absolute(raw):
        return _put(value, span, 0, how, records) and _may_drop(raw) is None
    found = url_matcher(whatwg=how.whatwg)(raw)
    if found is None:
        return False
    return _put(value, span, BEGINNINGS[found[found.lastindex or 0]], how, records)


def _put(value: Value, span: tuple[int, int], shape: int, how: _Listing, records: _Records) -> bool:
    """Append a record; return whether what is of the shape may be listed unseen."""
    made, name, name_end = records
    made.append((*span, shape, how.numbers[value.attribute], value.holds, name, name_end))
    return shape == 0 or bool(how.becomes[shape])


_ABSOLUTE: Final = 1  # the group


def _srcset(value: Value, how: _Listing, records: _Records) -> bool:
    text, start, end, _, quoted, _ = value
    if not quoted:
        return start == end
    for found in candidates_of(whatwg=how.whatwg, listing=True)(text, start, end):
        group = found.lastindex
        if found.start() != start or len(records.made) > MOST + _BATCH:
            return False
        start = found.end()
        if group is not None:
            at = found.start(group)
            token = text[at:start].split(None, 1)[0].rstrip(b",")
            shape = 0 if group == _ABSOLUTE else BEGINNINGS[found[group]]
            is_known = _put(value, (at, at + len(token)), shape, how, records)
            if not is_known or (shape == 0 and _may_drop(token)):
                return False
        if start == end:
            return True
    return start == end


def _css(value: Value, how: _Listing, records: _Records) -> bool:
    declarations = plain_declarations(value.text[value.start : value.end])
    if not declarations:
        return declarations is not None
    if holds_none(declarations):
        return True
    return value.quoted and _list_css(value, declarations, 0, how, records)


def _list_css(value: Value, css: bytes, begin: int, how: _Listing, records: _Records) -> bool:
    """Whether CSS was read: the value itself, in its place, or what that means."""
    offset = value.start - begin
    most = len(records.made) + MOST

    def found_one(at: int, stop: int, shape: int) -> bool:
        start = at + offset
        span = start, start + len(in_brackets(css[at:stop]))
        is_known = _put(value, span, shape, how, records)
        is_same = shape in {0, Shape.FRAGMENT} or how.in_css
        return is_known and is_same and len(records.made) < most

    end = begin + value.end - value.start
    return find_css(css, begin, end, how, found_one, listing=True)


def _decides(value: Value, how: _Listing, _records: _Records) -> bool:
    return not may_decide(value, extended=how.names.extended)


def _nothing(value: Value, _how: _Listing, _records: _Records) -> bool:
    is_empty = value.start == value.end
    return is_empty and not value.holds & (holding.EMPTY_LOOK | holding.EMPTY_IS_BASE)


def _waits(_value: Value, _how: _Listing, _records: _Records) -> bool:
    """Nothing, where what decides on it says so: otherwise the tag is looked at for that."""
    return True


def _unread(_value: Value, _how: _Listing, _records: _Records) -> bool:
    return False


_READ: Final[Mapping[int, Callable[[Value, _Listing, _Records], bool]]] = {
    holding.URL: _url,
    holding.CSS: _css,
    holding.SRCSET: _srcset,
    holding.LIST: _unread,
    holding.DECIDES: _decides,
    holding.MAYBE: _nothing,
    holding.ANYTHING: _nothing,
    holding.IF: _waits,
    holding.DECIDES_IF: _decides,
}
