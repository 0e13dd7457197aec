"""Where markup begins in HTML, where a comment ends, and what of a text in SVG is text."""

from __future__ import annotations

import re
from typing import Final

from relbase.references import tags
from relbase.view.xml_pieces import Piece

# A comment, a tag with its name, or what else begins with `<` and is not text.
token: Final = re.compile(rb"<(?:(!--)|(/?)([a-zA-Z][^\t\n\f\r />]*+)|[!?/])").search

CDATA: Final = b"<![CDATA["


def comment_end(text: bytes, found: re.Match[bytes], end: int, *, cdata: bool) -> int:
    """Return where a comment ends, or a CDATA section where there are some."""
    if cdata and text.startswith(CDATA, found.start(), end):
        return min(tags.cdata_end(text, found.start() + len(CDATA), end) + len(b"]]>"), end)
    return (tags.comment_end if found[1] else tags.bogus_comment_end)(text, found.end(), end)


def text_end(text: bytes, pos: int, end: int) -> int:
    """Return where text in SVG ends: at a tag. Comments and CDATA sections only interrupt it."""
    while (found := token(text, pos, end)) and found[3] is None:
        pos = comment_end(text, found, end, cdata=True)
    return found.start() if found else end


def pieces(text: bytes) -> list[Piece]:
    """Return the pieces of a text in SVG: what is not in a comment."""
    found: list[Piece] = []
    at, end = 0, len(text)
    while begun := token(text, at, end):
        start = begun.start()
        if at < start:
            found.append(Piece(at, start, is_cdata=False))
        at = comment_end(text, begun, end, cdata=True)
        if text.startswith(CDATA, start):
            content = start + len(CDATA)
            found.append(Piece(content, tags.cdata_end(text, content, end), is_cdata=True))
    if at < end:
        found.append(Piece(at, end, is_cdata=False))
    return [piece for piece in found if piece.start < piece.end]
