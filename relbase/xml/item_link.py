"""The link of a feed's item, which some readers take as the base of the HTML in it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from relbase.html.tags import Attribute
from relbase.xml.structure import (
    END_TAG,
    TAG,
    FeedItem,
    attribute_of,
    each_attribute,
    next_token,
    section,
    text_end,
    values_of,
)
from relbase.xml.vocabulary import ITEMS

if TYPE_CHECKING:
    from relbase.html.vocabulary import ValueOf


def item_link(text: bytes, item: FeedItem) -> tuple[int, Attribute | None]:
    """Return where an item ends, and what readers take as its link (`link_rank`)."""
    prefix, colon, local = item.name.rpartition(b":")
    own, is_atom = prefix + colon, local != b"item"
    depth, pos, others = 0, item.end, 0
    best, link = WORST, None if is_atom else _about(text, item)
    while token := next_token(text, pos):
        start, pos = pos, token.end()
        if token.lastindex == END_TAG:
            depth -= 1
            if depth < 0:
                return start, link
        elif token.lastindex == TAG:
            if token[1].endswith(_ITEM_NAMES) and token[1].rpartition(b":")[2] in _ITEM_NAMES:
                others += 1
                if token[1] == item.name or others > _MOST_OTHERS:
                    return start, link
            is_open = not token[3]
            if depth == 0 and best and token[1].endswith(LINKING):
                rank, found = _ranked_link(text, token, own, is_atom=is_atom)
                if rank < best:
                    best, link = rank, found
            depth += is_open
    return len(text), link


def _about(text: bytes, item: FeedItem) -> Attribute | None:
    """Return the `rdf:about` of an item of RSS 1.0."""
    for attribute in each_attribute(text, item.start, item.end):
        if attribute[1].endswith(b":about"):
            return attribute_of(attribute, text)
    return None


def _ranked_link(
    text: bytes, tag: re.Match[bytes], own: bytes, *, is_atom: bool
) -> tuple[int, Attribute | None]:
    """Return how good a child of an item is as its link, and what holds the URL."""
    local = tag[1].rpartition(b":")[2]
    asked = {
        attribute[1]: attribute_of(attribute, text)
        for attribute in each_attribute(text, *tag.span(2))
    }
    content = Attribute(b"", tag.end(), tag.end() if tag[3] else text_end(text, tag.end()), b"")
    begun = section(text, content.start, content.end)
    url = text[begun.end() if begun else content.end : content.end]
    is_own = tag[1] == own + local
    rank = link_rank(local, values_of(text, asked), url, is_own=is_own, is_atom=is_atom)
    return rank, content if rank < _IN_HREF else asked.get(b"href")


def link_rank(local: bytes, value: ValueOf, text: bytes, *, is_own: bool, is_atom: bool) -> int:
    """Return how good a child of an item is as its link: the lowest counts, and WORST does not.

    Readers take the link of RSS, else a guid that is a URL, else an alternate of Atom, which has a
    page before anything else (RFC 4287 §4.2.7.2).
    """
    if is_own and not is_atom:
        if local == b"link":
            return 0 if text else WORST
        is_url = text[: len(b"https://")].lower().startswith((b"http://", b"https://"))
        return 1 if local == b"guid" and is_url and value(b"isPermaLink") != b"false" else WORST
    is_alternate = local == b"link" and is_own == is_atom and value(b"rel") in ALTERNATES
    if not is_alternate or not value(b"href"):
        return WORST
    return _IN_HREF + (value(b"type").partition(b";")[0].strip() not in _PAGES)


LINKING: Final = (b"link", b"guid")
WORST: Final = 4
_IN_HREF: Final = 2
_PAGES: Final = frozenset((b"", b"text/html", b"application/xhtml+xml"))

# Under other prefixes they may be items or not: to look beyond many would take quadratic time.
_ITEM_NAMES: Final = tuple({name for _, name in ITEMS})
_MOST_OTHERS: Final = 8

ALTERNATES: Final = (b"", b"alternate", b"http://www.iana.org/assignments/relation/alternate")
