"""Headers by byte offsets (RFC 5322 §2.2, §4.5); one expression skips fields that nobody needs.

A line that is neither a field nor the continuation of one is skipped if a MIME field follows before
the first empty line, as in Chromium, Dovecot and Thunderbird. Otherwise it ends the header, as in
Python's `email`. A line that begins with `--`, like a delimiter, also ends it.

A CR alone is a line end only in a message without any LF. Otherwise a value could contain a field
that other readers do not see.
"""

import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from relbase.containers.known_fields import REMEMBERED
from relbase.edit import Span
from relbase.expressions import regex

_Match = Callable[[bytes, int, int], re.Match[bytes] | None]
_Always = Callable[[bytes, int, int], re.Match[bytes]]  # of a pattern that may be empty

# Beyond these limits a header is `cut`. The longest headers of real mail have some 100 KB; stalwart
# and Dovecot allow as much as this, or less.
MAX_HEADER: Final = 50_000_000
MAX_FIELD: Final = 10_000_000
MAX_FIELDS: Final = 1_000  # counting only those that are remembered


class Field(NamedTuple):
    name: str  # in lower case
    # the bytes of its value without white space at its ends; folding inside stays, and so does a CR
    # alone in front
    value: Span
    span: Span  # the whole field, from its name to its last line end


class Header(NamedTuple):
    start: int
    # where its last field ends; the empty line follows, if there is one
    end: int
    body: int  # where the body begins
    fields: tuple[Field, ...]  # those that `relbase.containers.header_fields` needs, in order
    cut: bool  # whether it exceeds a limit; the rest was not read


def _alternatives() -> bytes:
    # grouped, so that the engine compares a common prefix only once
    tails: dict[str, list[str]] = {}
    for name in sorted(REMEMBERED, reverse=True):
        head, dash, tail = name.partition("-")
        tails.setdefault(head + dash, []).append(tail)
    words = (re.escape(head) + f"(?:{'|'.join(tails[head])})" for head in tails)
    return f"(?:{'|'.join(words)})".encode()


_REMEMBERED: Final = _alternatives()

# Only these continue a header after other lines (RFC 2045 §3); text may contain `Link: ...`.
_MIME: Final = rb"(?:content-(?:[a-z]++-)*+[a-z]++|mime-version)"


class _Grammar(NamedTuple):
    """Patterns for the start of a line, for one kind of line end."""

    first: _Always  # a byte order mark, a From_ line, continuation lines without a field
    skipped: _Always  # fields that are not remembered
    remembered: _Match
    every: _Always  # fields of any name
    goes_on: _Match  # lines that are not fields, up to a field of MIME in the same paragraph
    passed_over: _Always  # lines that are not fields, and fields that are not remembered
    any_field: _Match  # a field of any name
    no_field: _Always  # lines up to a field of any name
    empty: _Match  # the line between header and body
    is_field: _Match


def _grammar(eol: bytes) -> _Grammar:
    line, end = rb"[^%b]*+" % eol, rb"(?:%b|\Z)" % eol
    # unfolding (§2.2.3): a line break before white space is part of the value
    rest = line + end + rb"(?:[ \t]%b%b)*+" % (line, end)
    name = rb"(?!--|[ \t])[^\t\n\r :]*+[ \t]*+:"
    any_field = rb"(?!%b[ \t]*+:)%b%b" % (_REMEMBERED, name, rest)
    value = rb"%b(?:%b[ \t]%b)*+" % (line, eol, line)

    def compiled(pattern: bytes) -> Any:  # noqa: ANN401 (of the field's type)
        return regex(pattern, re.IGNORECASE | re.VERBOSE).match

    return _Grammar(
        first=compiled(
            rb"(?:\xef\xbb\xbf)?+(?:>?From[ ]%b%b)?+(?:[ \t]%b%b)*+" % (line, end, line, end)
        ),
        skipped=compiled(rb"(?:%b)*+" % any_field),
        remembered=compiled(rb"(%b)[ \t]*+:(%b)%b" % (_REMEMBERED, value, end)),
        every=compiled(rb"(?:%b%b)*+" % (name, rest)),
        goes_on=compiled(
            rb"(?:(?!%b[ \t]*+:|--|\r*+%b)[^%b]++%b)++(?=%b[ \t]*+:)"
            % (_MIME, eol, eol, eol, _MIME)
        ),
        passed_over=compiled(rb"(?:(?!%b[ \t]*+:)[^%b]++%b)*+" % (_REMEMBERED, eol, eol)),
        any_field=compiled(rb"(%b)(%b)%b" % (name, value, end)),
        no_field=compiled(rb"(?:(?!%b)[^%b]*+%b)*+" % (name, eol, eol)),
        empty=compiled(rb"\r*+%b" % end if eol == rb"\n" else end),
        is_field=compiled(name),
    )


_GRAMMARS: Final = {b"\n": _grammar(rb"\n"), b"\r": _grammar(rb"\r")}
_WHITE_SPACE: Final = b"\t\n\r "


def eol_of(data: bytes, start: int, end: int) -> bytes:
    """Return the line end of a message: LF (with or without CR), or CR if it has no LF."""
    return b"\r" if data.find(b"\n", start, end) < 0 <= data.find(b"\r", start, end) else b"\n"


def read_header(
    data: bytes, pos: int, end: int, eol: bytes = b"\n", most: int | None = None
) -> Header:
    """Read the header that begins at `pos`; it has no fields if there is none."""
    grammar = _GRAMMARS[eol]
    last = pos + MAX_HEADER
    limit = min(end, last + 1)
    most = MAX_FIELDS if most is None else most
    at, fields, cut = _fields(data, grammar.first(data, pos, limit).end(), limit, grammar, most)
    # The limit may cut a line before its colon.
    if limit < end and (at > last or grammar.is_field(data, at, end)):
        body = max(pos, data.rfind(eol, pos, last) + 1)
        return Header(pos, body, body, (), cut=True)
    empty = grammar.empty(data, at, end)
    return Header(pos, at, empty.end() if empty else at, tuple(fields), cut)


def _fields(
    data: bytes, at: int, limit: int, grammar: _Grammar, most: int
) -> tuple[int, list[Field], bool]:
    """Return where the fields from `at` on end, those to remember, and whether some are missing."""
    fields: list[Field] = []
    cut = False
    goes_on = at  # up to here, nothing ends the header
    while True:
        if at < goes_on:
            at = grammar.passed_over(data, at, goes_on).end()
        at = grammar.skipped(data, at, limit).end()
        match = grammar.remembered(data, at, limit)
        if match is None:
            more = grammar.goes_on(data, at, limit)
            if more is None:
                return at, fields, cut
            goes_on = more.end()
            continue
        if len(fields) >= most:
            return grammar.every(data, at, limit).end(), fields, True
        at = match.end()
        if at - match.start() > MAX_FIELD:
            cut = True
        else:
            fields.append(_field(data, match))


def fields_of_paragraph(
    data: bytes, start: int, end: int, eol: bytes = b"\n", *, of_any_name: bool = False
) -> list[Field]:
    """Return the fields among all lines of a paragraph; other lines are skipped.

    Readers of mbox look for lengths like this; logs of HTTP clients have other lines in between.
    """
    grammar = _GRAMMARS[eol]
    passed_over = grammar.no_field if of_any_name else grammar.passed_over
    field = grammar.any_field if of_any_name else grammar.remembered
    fields: list[Field] = []
    while len(fields) < MAX_FIELDS:
        start = passed_over(data, start, end).end()
        match = field(data, start, end)
        if match is None:
            break
        start = match.end()
        if start - match.start() <= MAX_FIELD:
            fields.append(_field(data, match))
    return fields


def _field(data: bytes, match: re.Match[bytes]) -> Field:
    """Return a field, its value without white space; a CR right in front of text stays."""
    start, end = match.span(2)
    name, value = match[1].rstrip(b"\t :").decode("ascii", "replace").lower(), match[2]
    text = end - len(value.lstrip(_WHITE_SPACE))
    if start < text < end and data[text - 1] == ord("\r"):
        text -= 1  # no fold: to some readers a line begins there
    after = max(text, end - len(value) + len(value.rstrip(_WHITE_SPACE)))
    return Field(name, Span(text, after), Span(*match.span()))


def text_of(data: bytes, field: Field) -> str:
    """Return the value of a field as text: UTF-8, other bytes as surrogates, folding kept."""
    return data[field.value.start : field.value.end].decode("utf-8", "surrogateescape")


def first(data: bytes, header: Header, name: str) -> str | None:
    assert name in REMEMBERED, f"{name} has no row in relbase.containers.header_fields"
    for field in header.fields:
        if field.name == name:
            return text_of(data, field)
    return None
