"""The link of a feed's item, which some readers take as the base of the HTML in it."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from relbase.expressions import regex
from relbase.html.tags import Attribute
from relbase.xml.names import attribute_of
from relbase.xml.structure import (
    END_TAG,
    TAG,
    FeedItem,
    each_attribute,
    next_token,
    section,
    text_end,
    value_in,
)
from relbase.xml.vocabulary import ITEMS

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.html.vocabulary import ValueOf

    Rank = Callable[..., tuple[int, Attribute | None]]


LINKING: Final = (b"link", b"guid")
# Under other prefixes they may be items or not: to look beyond many would take quadratic time.
ITEM_NAMES: Final = tuple({name for _, name in ITEMS})


def item_link(
    text: bytes, item: FeedItem, rank_of: Rank | None = None, until: int = -1
) -> tuple[int, Attribute | None, bool]:
    """Return where an item ends, what readers take as its link (`link_rank`), and True.

    Of a feed itself, it is what is stated before the first item. If no link can be better, and no
    item ends before `until`: a place after that, the link, and False.
    """
    prefix, colon, local = item.name.rpartition(b":")
    own, is_atom = prefix + colon, local not in OF_RSS
    most = 0 if local in FEEDS else _MOST_OTHERS
    rank_of = rank_of or _ranked_link
    depth, pos, others = 0, _after_others(text, item.end), 0
    next_at = -1 if until >= 0 else len(text)  # where the next tag of an item is
    best, link = WORST, _about(text, item) if local == b"item" else None
    least = _IN_HREF if is_atom else 0
    while token := next_token(text, pos):
        start, pos = pos, token.end()
        if token.lastindex == END_TAG:
            depth -= 1
            if depth < 0:
                return start, link, True
        elif token.lastindex == TAG:
            name = token[1]
            if name.endswith(ITEM_NAMES) and name.rpartition(b":")[2] in ITEM_NAMES:
                others += 1
                if name == item.name or others > most:
                    return start, link, True
            if depth == 0 and best and name.endswith(LINKING):
                rank, linked = rank_of(text, token, own, is_atom=is_atom)
                if rank < best:
                    best, link = rank, linked
                if best == least and next_at < pos and (next_at := item_at(text, pos, until)) < 0:
                    return until + 1, link, False
            depth += not token[3]
    return len(text), link, True


# Elements of an item that are not its link, with text alone: most items begin with some.
_others: Final = regex(
    rb"(?:[ \t\n\r]*+<([A-Za-z]++)%b>[^<]*+</\1>)*+"
    % b"".join(rb"(?<!%b)" % name for name in (*LINKING, *ITEM_NAMES))
)


def _after_others(text: bytes, pos: int) -> int:
    match = _others.match(text, pos)
    return match.end() if match else pos


def item_at(text: bytes, pos: int, end: int) -> int:
    """Return where the next tag of an item may be, or a name that ends like its; -1 for none."""
    for name in ITEM_NAMES:
        if text.find(name, pos, end) >= 0:  # in a fraction of the time
            tag = _item_tag(text, pos, end)
            return tag.start() if tag else -1
    return -1


def feed_link(text: bytes, *, is_own: bool) -> Attribute | None:
    """Return what a feed states as its own URL, or as that of its site."""
    pos = 0
    for _ in range(_BEFORE_FEED):
        token = next_token(text, pos)
        if token is None:
            return None
        pos = token.end()
        if token.lastindex == TAG and token[1].rpartition(b":")[2] in FEEDS:
            feed = FeedItem(token[1], token.start(1) - 1, pos)
            return item_link(text, feed, _self_link if is_own else None)[1]
    return None


def _about(text: bytes, item: FeedItem) -> Attribute | None:
    """Return the `rdf:about` of an item of RSS 1.0."""
    if item.end - item.start == len(item.name) + len(b"<>"):
        return None
    for attribute in each_attribute(text, item.start, item.end):
        if attribute[1].endswith(b":about"):
            return attribute_of(attribute)
    return None


def _ranked_link(
    text: bytes, tag: re.Match[bytes], own: bytes, *, is_atom: bool
) -> tuple[int, Attribute | None]:
    """Return how good a child of an item is as its link, and what holds the URL."""
    local = tag[1].rpartition(b":")[2]
    asked = _attributes_of(tag, text) if tag[2] else {}
    value_of, is_own, end = partial(value_in, text, asked), tag[1] == own + local, tag.end()
    if is_atom or not is_own:
        return link_rank(local, value_of, b"", is_own=is_own, is_atom=is_atom), asked.get(b"href")
    content = Attribute(b"", end, end if tag[3] else text_end(text, end), b"")
    begun = section(text, content.start, content.end)
    url = text[begun.end() if begun else content.end : content.end]
    return link_rank(local, value_of, url, is_own=is_own, is_atom=is_atom), content


def _attributes_of(tag: re.Match[bytes], text: bytes) -> dict[bytes, Attribute]:
    attributes = map(attribute_of, each_attribute(text, *tag.span(2)))
    return {attribute.name: attribute for attribute in attributes}


def _self_link(
    text: bytes, tag: re.Match[bytes], _own: bytes, *, is_atom: bool
) -> tuple[int, Attribute | None]:
    """The link of a feed to itself, which is Atom's in RSS too."""
    asked = _attributes_of(tag, text)
    is_own = value_in(text, asked, b"rel") == b"self" and (is_atom or b":" in tag[1])
    return (0 if is_own else WORST), asked.get(b"href")


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


WORST: Final = 4
FEEDS: Final = (b"channel", b"feed")
OF_RSS: Final = (b"channel", b"item")
_BEFORE_FEED: Final = 64  # declarations, comments and the root
_IN_HREF: Final = 2
_PAGES: Final = frozenset((b"", b"text/html", b"application/xhtml+xml"))

_item_tag: Final = regex(rb"[</:](?:" + rb"|".join(ITEM_NAMES) + rb")[ \t\n\r/>]").search
_MOST_OTHERS: Final = 8

ALTERNATES: Final = (b"", b"alternate", b"http://www.iana.org/assignments/relation/alternate")
