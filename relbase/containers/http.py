"""Heads of HTTP messages, as spans."""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from relbase.containers.fields import Header, fields_of_paragraph, read_header, text_of
from relbase.edit import Span
from relbase.expressions import regex


class Head(NamedTuple):
    start: Span  # its first line, without the line end
    status: int | None  # of a response, None for a request
    header: Header  # the fields, and where the body begins


INFORMATION: Final = range(100, 200)  # RFC 9110 §15.2
REDIRECTION: Final = range(300, 400)  # §15.4
SWITCHING_PROTOCOLS: Final = 101  # §15.2.2: no other response follows it
PARTIAL: Final = 206  # §15.3.7

# status-line = HTTP-version SP status-code SP [ reason-phrase ]   (RFC 9112 §4)
# However, HTTP/2 has no reason, and curl writes it as `HTTP/2 200`.
status_line: Final = regex(rb"HTTP/[0-9](?:\.[0-9])?[ \t]++([0-9]{3})(?![0-9])[^\r\n]*+").match
# request-line = method SP request-target SP HTTP-version   (RFC 9112 §3)
_request_line: Final = regex(rb"[!-~]++ [^ \r\n]++ HTTP/[0-9](?:\.[0-9])?").match
_line_end: Final = regex(rb"\r?\n|\Z").match
# What archives contain instead of a status line: `ICY 200 OK`, `HTTP 200 OK`, `HTTP/1.1`.
_odd_status_line: Final = regex(
    rb"(?i:HTTP(?:/[0-9.]*+)?+(?=[ \t\r\n]|\Z)|[A-Z]++(?:/[0-9.]*+)?+(?=[ \t]++[0-9]{3}(?![0-9])))"
    rb"(?:[ \t]++([0-9]{3})(?![0-9]))?+[^\r\n]*+"
).match


def read_head(data: bytes, pos: int = 0) -> Head | None:
    line = status_line(data, pos)
    return _head(data, line or _request_line(data, pos), int(line[1]) if line else None)


def _head(data: bytes, line: re.Match[bytes] | None, status: int | None) -> Head | None:
    line_end = _line_end(data, line.end()) if line else None
    if line is None or line_end is None:
        return None
    return Head(Span(*line.span()), status, read_header(data, line_end.end(), len(data)))


def final_head(block: bytes) -> tuple[Head | None, str]:
    """Return the head of the final response in a block, None for none, and what is odd about it."""
    head, remark = _response_head(block, 0)
    while head and head.status in INFORMATION and head.status != SWITCHING_PROTOCOLS:
        following, more = _response_head(block, head.header.body)
        if following is None:
            break
        head, remark = following, more
    return head, remark


def _response_head(block: bytes, pos: int) -> tuple[Head | None, str]:
    if status_line(block, pos):
        return read_head(block, pos), ""
    odd = _odd_status_line(block, pos)
    if odd is None:
        return None, ""
    line = odd[0][:_SHOWN].decode("ascii", "backslashreplace")
    status = int(odd[1]) if odd[1] else None
    return _head(block, odd, status), f"the status line is not one of HTTP: {line!r}"


_SHOWN: Final = 40

# Content-Range = range-unit SP first-pos "-" last-pos "/" complete-length   (RFC 9110 §14.4)
_range: Final = regex(
    r"[ \t]*+bytes[ \t]++0-([0-9]{1,18})/([0-9]{1,18})[ \t]*+", re.IGNORECASE | re.ASCII
)


def is_partial(status: int | None, ranges: Iterable[str]) -> bool:
    if status not in (None, PARTIAL):  # if the status is unknown, Content-Range decides
        return False
    stated = list(ranges)
    if not stated:
        return status == PARTIAL
    wholes = map(_range.fullmatch, stated)
    return not all(whole and int(whole[1]) + 1 == int(whole[2]) for whole in wholes)


def with_range(
    fields: Iterable[tuple[str, str]], status: int | None
) -> tuple[tuple[str, str], ...]:
    """Return the fields, with a Content-Range that can be understood without the status."""
    known = tuple(fields)
    ranges = [value for name, value in known if name.lower() == _RANGE]
    if status is None or (status == PARTIAL and ranges):
        return known
    others = tuple(field for field in known if field[0].lower() != _RANGE)
    return (*others, (_RANGE, "bytes */*")) if status == PARTIAL else others


_RANGE: Final = "content-range"


def values(data: bytes, head: Head, name: str) -> list[str]:
    return [text_of(data, field) for field in head.header.fields if field.name == name]


# ---- dumps of headers: `curl -D FILE -L`, `wget -S`, or one header pasted


class Dump(NamedTuple):
    # of the last header, names in lower case, after `with_range`
    fields: tuple[tuple[str, str], ...]
    redirects: tuple[str, ...]  # the first Location of each redirect before it


def parse_dump(dump: bytes) -> Dump:
    r"""Read the headers that a client saved: `curl -D FILE -L`, `wget -S`, or one header."""
    try:
        text = dump.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = dump.decode("latin-1")
    fields: list[tuple[str, str]] = []
    redirects: list[str] = []
    before = 0
    for status, lines in _blocks(text.encode()):
        if before in REDIRECTION:
            redirects += [value for name, value in fields if name == "location"][:1]
        fields, before = _fields(lines), status
    return Dump(with_range(fields, before or None), tuple(redirects))


_line_ends: Final = regex(rb"\r\n|\r|\n")


def _blocks(dump: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """The status of each header, 0 for none, and its lines without the margin of `wget -S`."""
    status, lines, margin, is_header = 0, list[bytes](), None, True
    for line in _line_ends.split(dump.lstrip(b"\r\n")):
        bare = line.lstrip(b" \t")
        indent = len(line) - len(bare)
        answer = status_line(bare)
        if answer:
            yield status, lines
            status, lines, margin, is_header = int(answer[1]), [], indent, True
        elif not bare:
            is_header = False
        elif is_header:
            margin = indent if margin is None else margin
            lines.append(line[min(indent, margin) :])
    yield status, lines


def _fields(lines: list[bytes]) -> list[tuple[str, str]]:
    """The fields of a header; a continuation line is part of the value (RFC 9112 §5.2)."""
    header = b"\n".join(lines)
    fields = fields_of_paragraph(header, 0, len(header), of_any_name=True)
    return [
        (field.name, _fold(" ", text_of(header, field))) for field in fields if _token(field.name)
    ]


# field-name = token (RFC 9110 §5.1, §5.6.2)
_token: Final = regex(r"[!#$%&'*+.^_`|~0-9a-z-]++").fullmatch
_fold: Final = regex(r"\n[ \t]++").sub
