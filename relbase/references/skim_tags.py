"""Tags whose references are all plain, however many: read one by one, and not by the tokenizer.

Strategy: skimming ends in front of a tag that its expression does not know. Most of those hold
several plain references, a srcset, or a style. One expression passes over the attributes without
references; of the others each value is read by what it holds (`holding`). Where one of them is not
plain, the tag is left to the exact tokenizer as a whole.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

from relbase.records import NamedTuple
from relbase.references import holding, tags
from relbase.references.plain import (
    BEGINNINGS,
    absolute,
    absolute_list,
    candidates_of,
    url_matcher,
)
from relbase.references.shapes import Shape
from relbase.references.skim_css import plain_declarations, read_css, read_sheet
from relbase.references.skim_names import SCRIPT_TYPES
from relbase.references.skim_reading import MOST, put
from relbase.references.skim_rows import CLOSE, NAME, SPECIAL, UNQUOTED, WITH_TEXT, row_of_element

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from relbase.edit import Edit
    from relbase.references.skim_reading import Reading
    from relbase.references.skim_rows import Names

H = TypeVar("H")
F = TypeVar("F")


class Value(NamedTuple):
    """A value: where it begins and ends in the text, and what it is.

    Args:
        text: the document.
        start: where it begins, after its quote.
        end: where it ends.
        holds: what the row says that it holds.
        quoted: whether it has quotes.
        attribute: whose value it is, in lower case.
    """

    text: bytes
    start: int
    end: int
    holds: int
    quoted: bool
    attribute: bytes


tag_name: Final = re.compile(rb"[a-zA-Z][^\t\n\f\r />]*+").match


def read_tag(text: bytes, pos: int, end: int, reading: Reading, edits: list[Edit]) -> int:
    """Return where the element ends whose tag begins at `pos`; -1 when it has to be looked at."""
    named = tag_name(text, pos + 1, end)
    if named is None:
        return -1
    name = named[0].lower()
    if name in SPECIAL and name not in WITH_TEXT and name != b"style":
        return -1
    row, count = row_of_element(name, reading.names), len(edits)
    pos = attributes_end(text, named.end(), end, row, reading.names, _READ, reading, edits)
    if name == b"style" and pos > 0:
        pos = read_sheet(text, named.end(), pos, end, reading, edits)
    if pos < 0 or len(edits) - count > MOST:
        del edits[count:]
        return -1
    return pos if name not in WITH_TEXT else tags.raw_text_end(name, text, pos, end)


def attributes_end(  # noqa: PLR0917 (called often: by position)
    text: bytes,
    pos: int,
    end: int,
    row: Mapping[bytes, int],
    names: Names,
    readers: Mapping[int, Callable[[Value, H, F], bool]],
    how: H,
    found_in: F,
) -> int:
    """Return where the tag ends whose values were all read; -1 where one was not."""
    match = names.match_attribute
    seen: list[bytes] = []
    while found := match(text, pos, end):
        pos, group = found.end(), found.lastindex or 0
        if group == CLOSE:
            return pos
        name = found[NAME].lower()
        if name in seen:
            continue
        if name == b"type" and not is_plain_type(found[group] if group > NAME else b""):
            return -1
        holds = row.get(name)
        if holds is None:
            continue
        seen.append(name)
        start, stop = found.span(group) if group > NAME else (pos, pos)
        # As `Value(...)`, in half the time.
        value = tuple.__new__(Value, (text, start, stop, holds, NAME < group < UNQUOTED, name))
        if not readers[holds & holding.KIND](value, how, found_in):
            return -1
    return -1


def is_plain_type(value: bytes) -> bool:
    """Whether the type of a script does not make its text data."""
    return b"&" not in value and value.strip(b"\t\n\f\r ").lower() not in SCRIPT_TYPES


# ---- values: each returns whether it was read


def _url(value: Value, reading: Reading, edits: list[Edit]) -> bool:
    text, start, end, holds, quoted, _ = value
    if start == end:
        return _empty(value, reading, edits)
    whole = text[start:end]
    raw = whole.strip(b"\t\n\f\r ")
    if not raw:
        return False
    if absolute(raw):
        return True
    if raw.startswith(b"#"):
        if holds & holding.FRAGMENT_LOOK:
            return False
        if holds & holding.LOCAL:
            return True
    if not (quoted or reading.unquoted):
        return False
    found = url_matcher(whatwg=reading.whatwg)(raw)
    if found is None:
        return False
    shape = BEGINNINGS[found[found.lastindex or 0]]
    return put(start + whole.index(raw), shape, raw, reading, edits)


def _empty(value: Value, reading: Reading, edits: list[Edit]) -> bool:
    if value.holds & holding.EMPTY_LOOK:
        return False
    if not value.holds & holding.EMPTY_IS_BASE:
        return True
    return value.quoted and put(value.start, Shape.EMPTY, b"", reading, edits)


def _maybe(value: Value, _reading: Reading, _edits: list[Edit]) -> bool:
    if value.start == value.end:
        return not value.holds & (holding.EMPTY_LOOK | holding.EMPTY_IS_BASE)
    return absolute(value.text[value.start : value.end].strip(b"\t\n\f\r ")) is not None


def _srcset(value: Value, reading: Reading, edits: list[Edit]) -> bool:
    text, start, end, _, quoted, _ = value
    if not quoted:
        return start == end
    keeps = reading.keeps
    for found in candidates_of(whatwg=reading.whatwg)(text, start, end):
        if found.start() != start or len(edits) > MOST + _BATCH:
            return False
        start, group = found.end(), found.lastindex
        if group is not None:
            at = found.start(group)
            raw = _token(text[at:start]) if keeps else b""
            if not put(at, BEGINNINGS[found[group]], raw, reading, edits):
                return False
        if start == end:
            return True
    return start == end


# As many edits are handed over at once: so many may be there before the tag.
_BATCH: Final = 4096


def _token(candidate: bytes) -> bytes:
    return candidate.split(None, 1)[0].rstrip(b",")


def _list(value: Value, _reading: Reading, _edits: list[Edit]) -> bool:
    return absolute_list(value.text[value.start : value.end]) is not None


def _css(value: Value, reading: Reading, edits: list[Edit]) -> bool:
    text, start, end, _, quoted, _ = value
    raw = plain_declarations(text[start:end])
    if raw is None:
        return False
    return not raw or (quoted and read_css(raw, 0, len(raw), start, reading, edits))


def _anything(value: Value, _reading: Reading, _edits: list[Edit]) -> bool:
    return value.start == value.end and not value.holds & holding.EMPTY_LOOK


def _decides(value: Value, reading: Reading, _edits: list[Edit]) -> bool:
    return not may_decide(value, extended=reading.names.extended)


def may_decide(value: Value, *, extended: bool) -> bool:
    """Whether a value may say that another attribute holds references."""
    raw = value.text[value.start : value.end]
    return b"&" in raw or raw.lower() in _deciding(extended=extended)


@cache
def _deciding(*, extended: bool) -> frozenset[bytes]:
    found = holding.deciding_values(extended=extended)
    return frozenset(value for _, values in found for value in values)


def _waits(_value: Value, _reading: Reading, _edits: list[Edit]) -> bool:
    """Nothing, where what decides on it says so: otherwise the tag is looked at for that."""
    return True


_READ: Final[Mapping[int, Callable[[Value, Reading, list[Edit]], bool]]] = {
    holding.URL: _url,
    holding.CSS: _css,
    holding.SRCSET: _srcset,
    holding.LIST: _list,
    holding.DECIDES: _decides,
    holding.MAYBE: _maybe,
    holding.ANYTHING: _anything,
    holding.IF: _waits,
    holding.DECIDES_IF: _decides,
}
