"""CSS whose references are all plain: in style elements and attributes, to be edited or listed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Protocol

from relbase.references import tags
from relbase.references.css_skim import last_relative
from relbase.references.plain import BEGINNINGS, css_begins, css_urls, in_brackets
from relbase.references.skim_names import STYLE_TYPES
from relbase.references.skim_reading import MOST, put

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.edit import Edit
    from relbase.references.skim_reading import Reading


def read_sheet(  # noqa: PLR0917 (by position, as its callers are called)
    text: bytes, attributes: int, pos: int, end: int, reading: Reading, edits: list[Edit]
) -> int:
    """Return where a style sheet ends whose references are all plain; -1 when they may not be."""
    stop = tags.raw_text_end(b"style", text, pos, end)
    until = last_relative(text[pos:stop])
    if not until:
        return stop
    if not is_sheet(text, attributes, pos):
        return -1
    count = len(edits)
    if read_css(text, pos, stop, 0, reading, edits, pos + until):
        return stop
    del edits[count:]
    return -1


def is_sheet(text: bytes, attributes: int, pos: int) -> bool:
    """Whether the type of a style element says that its text is CSS."""
    types = [text[one.start : one.end] for one in tags.attributes(text, attributes, pos, {b"type"})]
    return not types or types[0].lower() in STYLE_TYPES


def plain_declarations(raw: bytes) -> bytes | None:
    """Return what a style attribute says, byte for byte; b"" where that can hold no reference.

    None where it has to be looked at.
    """
    if b"(" not in raw and b"&" not in raw:
        return None if b"\\" in raw or b"@" in raw else b""
    if b"\\&" in raw:  # `\&quot;` is an escape, and not a quote
        return None
    if b"&" in raw:
        raw = _with_quotes(raw)
    return None if b"&" in raw else raw


def _with_quotes(raw: bytes) -> bytes:
    """The value with its `&quot;` as quotes, each in as many bytes: white space does not count."""
    pieces = raw.split(b"&quot;")
    quotes = (b'     "', b'"     ')
    joined = [pieces[0]]
    for number, piece in enumerate(pieces[1:]):
        joined += (quotes[number % 2], piece)
    return b"".join(joined)


def read_css(  # noqa: PLR0917 (called often: by position)
    text: bytes,
    pos: int,
    end: int,
    offset: int,
    reading: Reading,
    edits: list[Edit],
    until: int | None = None,
) -> bool:
    """Return whether each reference of CSS is plain, and append their edits."""
    most = len(edits) + MOST

    def found_one(at: int, stop: int, shape: int) -> bool:
        raw = in_brackets(text[at:stop]) if reading.keeps else b""
        is_put = put(offset + at, shape if reading.in_css else 0, raw, reading, edits)
        return is_put and len(edits) <= most

    return find_css(text, pos, end, reading, found_one, until)


# A byte of ASCII that is the rest of a character in some charset, as in _scanner.c.
_may_end_character: Final = re.compile(rb"[\x80-\xff][0-9\x40-\x7e]").search


class _How(Protocol):
    """How references are read, to be edited or listed."""

    @property
    def whatwg(self) -> bool: ...

    @property
    def ascii_stands(self) -> bool: ...


def find_css(  # noqa: PLR0917 (called often: by position)
    text: bytes,
    pos: int,
    end: int,
    how: _How,
    found_one: Callable[[int, int, int], bool],
    until: int | None = None,
    listing: bool = False,  # noqa: FBT001, FBT002
) -> bool:
    """Return whether each reference of CSS is plain, and was taken."""
    if not how.ascii_stands and _may_end_character(text, pos, end):
        return False
    begin = css_begins(listing=listing)(text, pos, end)
    if begin is None:
        return False
    section = begin.lastindex is not None
    find, (ends, stuck) = css_urls(whatwg=how.whatwg, section=section, listing=listing)
    until = end if until is None else until
    for found in find(text, begin.end(), end):
        group = found.lastindex
        if group is not None:
            if group >= ends:
                return group != stuck
            at = found.start(group)
            if not found_one(at, found.end(), BEGINNINGS.get(found[group], 0)):
                return False
        if found.end() >= until:
            return True
    return False
