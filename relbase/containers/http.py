"""HTTP messages as bytes: the head, by spans.

Strategy: `read_head` finds the start line and hands the fields to the one reader of headers
(`fields.read_header`), so that every repeated field has its span. What the codings of a body hide
is for `codings`.
"""

from __future__ import annotations

import re
from typing import Final

from relbase.containers.fields import Header, read_header, text_of
from relbase.edit import Span
from relbase.records import NamedTuple


class Head(NamedTuple):
    """The head of a message.

    Args:
        start: its first line, without the line end.
        status: of a response, None for a request.
        header: the fields, and where the body begins.
    """

    start: Span
    status: int | None
    header: Header


REDIRECTION: Final = range(300, 400)  # RFC 9110 §15.4

# status-line = HTTP-version SP status-code SP [ reason-phrase ]   (RFC 9112 §4)
# However, HTTP/2 has no reason, and curl writes it as `HTTP/2 200`.
status_line: Final = re.compile(rb"HTTP/[0-9](?:\.[0-9])?[ \t]++([0-9]{3})(?![0-9])[^\r\n]*+").match
# request-line = method SP request-target SP HTTP-version   (RFC 9112 §3)
_request_line: Final = re.compile(rb"[!-~]++ [^ \r\n]++ HTTP/[0-9](?:\.[0-9])?").match
_line_end: Final = re.compile(rb"\r?\n|\Z").match


def read_head(data: bytes, pos: int = 0, end: int | None = None) -> Head | None:
    r"""Return the head of the message that begins at `pos`, None when none does.

    >>> head = read_head(b"HTTP/1.1 200 OK\r\nLink: <a>\r\nLink: <b>\r\n\r\nbody")
    >>> head.status, head.header.body, [field.name for field in head.header.fields]
    (200, 41, ['link', 'link'])
    """
    end = len(data) if end is None else end
    found = status_line(data, pos, end)
    status = int(found[1]) if found else None
    found = found or _request_line(data, pos, end)
    line_end = _line_end(data, found.end(), end) if found else None
    if found is None or line_end is None:
        return None
    return Head(Span(*found.span()), status, read_header(data, line_end.end(), end))


def values(data: bytes, head: Head, name: str) -> list[str]:
    r"""Return the values of all fields of a name, in order.

    >>> data = b"HTTP/1.1 200 OK\r\nLink: <a>\r\nLINK: <b>\r\n\r\n"
    >>> values(data, read_head(data), "link")
    ['<a>', '<b>']
    """
    return [text_of(data, field) for field in head.header.fields if field.name == name]
