"""RFC 1808 §3.3: the URL that an entity was retrieved from, and the headings that came with it.

The last URL of a redirected request is the base. Each redirect is resolved on the one before by
RFC 3986 whatever the profile is: that is what HTTP clients do (RFC 9110 §10.2.2). Everything here
works on strings and bytes that the caller has.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import Layer, Statement
from relbase.expressions import expression
from relbase.notes import Note, Reason
from relbase.url import rfc3986

if TYPE_CHECKING:
    from collections.abc import Iterable


class Dump(NamedTuple):
    """What a dump of HTTP headings holds: the fields of the last one, the redirects before it."""

    fields: tuple[tuple[str, str], ...]
    redirects: tuple[str, ...]


def statements(url: str | None, redirects: Iterable[str]) -> tuple[list[Statement], list[Note]]:
    """Return the retrieval URL as a statement of the base, without fragment and credentials.

    Args:
        url: the URL first requested, None when unknown.
        redirects: the Location values that followed, absolute or relative.

    >>> statements("http://a/b", ["/c#d"])[0][0].value
    'http://a/c'
    """
    locations = [redirect.strip() for redirect in redirects]
    source = f"redirect {len(locations)}" if locations else "retrieval URL"
    last = rfc3986.follow((url or "").strip(), locations)
    if not last:
        return [], []
    components = rfc3986.split(last)._replace(fragment=None)
    notes = []
    if components.authority is not None and "@" in components.authority:
        host = components.authority.rpartition("@")[2]
        components = components._replace(authority=host)
        text = f"{source}: the user name and password in it were removed"
        notes.append(Note(Reason.CREDENTIALS_REMOVED, "", None, text))
    return [Statement(Layer.RETRIEVAL, rfc3986.unsplit(components), source)], notes


_status_line: Final = expression(r"\s*HTTP/\d(?:\.\d)?\s+(\d{3})")
_field: Final = expression(r"\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:(.*)", re.DOTALL)

_REDIRECTION: Final = range(300, 400)


def parse_dump(dump: bytes) -> Dump:
    r"""Read the headings that a client wrote down: `curl -D FILE -L`, `wget -S`, or one heading.

    Args:
        dump: one heading, with or without a status line, or several with one each. What follows
            an empty line is no part of a heading before the next status line; other lines that
            are no fields are passed over.

    >>> parse_dump(b"HTTP/1.1 301 Moved\r\nLocation: /x\r\n\r\nHTTP/1.1 200 OK\r\nBase: http://a/")
    Dump(fields=(('Base', 'http://a/'),), redirects=('/x',))
    """
    fields: list[tuple[str, str]] = []
    redirects: list[str] = []
    status = 0
    is_heading = True
    for line in _unfolded(_decoded(dump).lstrip("\r\n")):
        if found := _status_line.match(line):
            redirects += _locations(fields, status)
            fields, status, is_heading = [], int(found[1]), True
        elif not line:
            is_heading = False
        elif is_heading and (found := _field.fullmatch(line)):
            fields.append((found[1], found[2].strip()))
    return Dump(tuple(fields), tuple(redirects))


def _locations(fields: list[tuple[str, str]], status: int) -> list[str]:
    """Where a heading redirects to, if it does."""
    if status not in _REDIRECTION:
        return []
    return [value for name, value in fields if name.lower() == "location"][:1]


def _decoded(dump: bytes) -> str:
    try:
        return dump.decode("utf-8-sig")
    except UnicodeDecodeError:
        return dump.decode("latin-1")


def _unfolded(text: str) -> list[str]:
    """The lines, each with its continuation lines (RFC 9112 §5.2)."""
    lines: list[list[str]] = []
    margin = 0
    for line in re.split(r"\r\n|\r|\n", text):
        bare = line.lstrip(" \t")
        indent = len(line) - len(bare)
        if not lines or _status_line.match(line):
            margin = indent  # wget -S indents every line of a heading
        if bare and indent > margin and lines and lines[-1] != [""]:
            lines[-1].append(line)
        else:
            lines.append([bare])
    return ["".join(pieces) for pieces in lines]
