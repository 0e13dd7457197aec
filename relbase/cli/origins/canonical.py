"""`--canonical`: the address that a page calls its own.

To mind: it is what the author wishes for, not where the page was retrieved: many pages of a site
may state one. So it counts only where it is asked for, and after everything else.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from relbase.cli.origins.beside import Stated
from relbase.references import tags
from relbase.references.heads import head_tokens
from relbase.references.values import clean
from relbase.view.characters import text as decode_inner
from relbase.view.charrefs import attribute_view


class _CanonicalRow(NamedTuple):
    """An element that states it: the attribute and its value that say so, and where the URL is."""

    element: bytes
    tells: bytes
    value: bytes
    url: bytes
    source: str


_ROWS: Final = (
    _CanonicalRow(b"link", b"rel", b"canonical", b"href", "<link rel=canonical>"),
    _CanonicalRow(b"meta", b"property", b"og:url", b"content", "<meta property=og:url>"),
)
_ASKED: Final = frozenset(name for row in _ROWS for name in (row.tells, row.url))


def canonical(data: bytes) -> Stated | None:
    """Return the address that a page calls its own, None where it does not."""
    stated: dict[bytes, Stated] = {}
    for token in head_tokens(data):
        for row in _ROWS:
            if token.name != row.element or row.element in stated:
                continue
            asked = tags.attributes(data, token.start, token.end, _ASKED)
            found = {one.name: one for one in asked}
            if row.tells in found and row.url in found:
                tells, url = found[row.tells], found[row.url]
                if data[tells.start : tells.end].strip().lower() == row.value:
                    raw = data[url.start : url.end]
                    view = attribute_view(raw, url.quote or b"", "utf-8")
                    stated[row.element] = Stated(clean(decode_inner(view.inner)), row.source)
    return next((stated[row.element] for row in _ROWS if row.element in stated), None)
