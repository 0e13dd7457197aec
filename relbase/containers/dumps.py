"""Dumps of HTTP headers: what `curl -D FILE -L` and `wget -S` write down, or one header pasted.

Strategy: the dump is cut into headers, each without its status line, its margin and what follows
its empty line; the reader of headers (`containers.fields`) finds the fields in them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.containers.fields import fields_of_paragraph, text_of
from relbase.containers.http import REDIRECTION, status_line, with_range

if TYPE_CHECKING:
    from collections.abc import Iterator


class Dump(NamedTuple):
    """What a dump of HTTP headers holds: the fields of the last one, the redirects before it.

    Args:
        fields: names in lower case, and values. A Content-Range is among them only where the status
            says that it counts; a partial response without one has one that says so.
        redirects: the first Location of each header that redirects.
    """

    fields: tuple[tuple[str, str], ...]
    redirects: tuple[str, ...]


class _Block(NamedTuple):
    """A header of a dump: its status, 0 for none, and the lines of its fields."""

    status: int
    lines: list[bytes]


def parse_dump(dump: bytes) -> Dump:
    r"""Read the headers that a client wrote down: `curl -D FILE -L`, `wget -S`, or one header."""
    fields: list[tuple[str, str]] = []
    redirects: list[str] = []
    status = 0
    for block in _blocks(_in_utf_8(dump)):
        redirects += _locations(fields, status)
        fields, status = _fields(block.lines), block.status
    return Dump(with_range(fields, status or None), tuple(redirects))


def _in_utf_8(dump: bytes) -> bytes:
    try:
        return dump.decode("utf-8-sig").encode()
    except UnicodeDecodeError:
        return dump.decode("latin-1").encode()


_line_ends: Final = re.compile(rb"\r\n|\r|\n")


def _blocks(dump: bytes) -> Iterator[_Block]:
    """The headers, each without the margin that `wget -S` and people give it."""
    block, margin, is_header = _Block(0, []), None, True
    for line in _line_ends.split(dump.lstrip(b"\r\n")):
        bare = line.lstrip(b" \t")
        indent = len(line) - len(bare)
        found = status_line(bare)
        if found:
            yield block
            block, margin, is_header = _Block(int(found[1]), []), indent, True
        elif not bare:
            is_header = False
        elif is_header:
            margin = indent if margin is None else margin
            block.lines.append(line[min(indent, margin) :])
    yield block


def _fields(lines: list[bytes]) -> list[tuple[str, str]]:
    """The fields of a header; a line that goes on is part of its value (RFC 9112 §5.2)."""
    header = b"\n".join(lines)
    found = fields_of_paragraph(header, 0, len(header), of_any_name=True)
    return [(one.name, _fold(" ", text_of(header, one))) for one in found if _token(one.name)]


# field-name = token (RFC 9110 §5.1, §5.6.2)
_token: Final = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]++").fullmatch
_fold: Final = re.compile(r"\n[ \t]++").sub


def _locations(fields: list[tuple[str, str]], status: int) -> list[str]:
    """Where a header redirects to, if it does."""
    if status not in REDIRECTION:
        return []
    return [value for name, value in fields if name == "location"][:1]
