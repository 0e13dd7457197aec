"""JSON Feed 1.0 and 1.1: its URLs, and the HTML of its items as nested documents.

The text is read twice, because all of it has to be JSON, and an item's URL may follow its HTML.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from relbase.bases.layers import Layer, Statement
from relbase.edit import Edit, Span
from relbase.html.visit import visit_value
from relbase.html.vocabulary import Nested, Row
from relbase.notes import Note, Reason
from relbase.rewriting.outcomes import Outcome, batched, consume, lower, shift, single
from relbase.rewriting.reference import Place
from relbase.values import json_text
from relbase.values.json_text import JsonKind, JsonString, json_view
from relbase.values.syntaxes import Syntax, trimmed
from relbase.view.characters import decode_inner
from relbase.view.charset import after_mark
from relbase.xml.feeds import ItemLinks, on_site, site_of, with_site_noted

if TYPE_CHECKING:
    from relbase.bases.layers import Base
    from relbase.rewriting.context import Context


_ITEM: Final = (b"items", None)
# Members that contain a URL, by the names of the containers around them; None is an array.
_URLS: Final[Mapping[tuple[bytes | None, ...], str]] = {
    (): "home_page_url feed_url next_url icon favicon",
    (b"author",): "url avatar",
    (b"authors", None): "url avatar",
    (b"hubs", None): "url",
    _ITEM: "url external_url image banner_image",
    (*_ITEM, b"author"): "url avatar",
    (*_ITEM, b"authors", None): "url avatar",
    (*_ITEM, b"attachments", None): "url",
}
_URL: Final = Row(Syntax.URL)
_HTML: Final = Row(Nested.HTML)
_ROWS: Final[Mapping[tuple[bytes | None, ...], Row]] = {
    (*_ITEM, b"content_html"): _HTML,
    **{(*where, name.encode()): _URL for where, names in _URLS.items() for name in names.split()},
}
_VERSION: Final = ("https://jsonfeed.org/version/", "http://jsonfeed.org/version/")


def visit_json_feed(text: bytes, context: Context) -> Iterator[Outcome]:
    start = after_mark(text)
    feed = text[start:]
    urls_and_home = _urls(feed)
    if urls_and_home is None:
        words = "it is not JSON, or its version is not that of a JSON Feed: left unchanged"
        yield Note(Reason.JSON_UNSOUND, context.part, None, words)
        return
    urls, home = urls_and_home

    site = partial(_home, feed, home)
    context = on_site(site, context)
    items = _json_items(feed, urls, context)
    yield from shift(single(with_site_noted(feed, batched(items), site, context)), start)


def json_base(text: bytes, context: Context) -> Base:
    feed = text[after_mark(text) :]
    urls_and_home = _urls(feed)
    if urls_and_home is None:
        return context.base
    return on_site(partial(_home, feed, urls_and_home[1]), context).base


def _home(feed: bytes, place: Span | None) -> Statement | None:
    return place and site_of(_value(feed, place), "home_page_url", place)


def _json_items(feed: bytes, urls: _Urls, context: Context) -> Iterator[Outcome]:
    links = ItemLinks(context)
    for string in json_text.strings(feed):
        row = _ROWS.get(tuple(string.names)) if string.kind is JsonKind.MEMBER else None
        if row is not None:
            view = json_view(feed[string.start : string.end], in_script=False)
            names = ["", *(name.decode() for name in string.names if name is not None)]
            place = Place(names[-2], names[-1], row)
            link = urls.of(string.places[1]) if row is _HTML else None
            inside = context.inside(string.start)
            if link is None or not (url := _value(feed, link)):
                items: Iterable[Outcome] = visit_value(view.inner, inside, place)
            else:
                source = f"url of item {string.places[1] + 1}"
                stated = Statement(Layer.EMBEDDED, url, source, link)
                items = _of_item(view.inner, string, place, inside, stated, links=links)
            yield from lower(items, view, string.start)
    if links.count:
        yield links.note(context.part)


class _Urls(NamedTuple):
    """Where the URLs of items are, by item number; in arrays, since there may be millions."""

    numbers: array[int]
    starts: array[int]
    ends: array[int]

    def of(self, number: int) -> Span | None:
        at = bisect_right(self.numbers, number) - 1
        if at < 0 or self.numbers[at] != number:
            return None
        return Span(self.starts[at], self.ends[at])


def _urls(text: bytes) -> tuple[_Urls, Span | None] | None:
    """Where the URLs of the items and of the site are; None if the text is not a JSON Feed."""
    home: Span | None = None
    urls = _Urls(array("Q"), array("Q"), array("Q"))
    has_version = False
    for string in json_text.strings(text):
        if string.kind is JsonKind.END:
            return (urls, home) if has_version and string.end == len(text) else None
        if string.kind is JsonKind.MEMBER:
            if string.names == [*_ITEM, b"url"]:
                for column, value in zip(
                    urls, (string.places[1], string.start, string.end), strict=True
                ):
                    column.append(value)
            elif string.names == [b"home_page_url"]:
                home = Span(string.start, string.end)
            elif string.names == [b"version"]:
                has_version = has_version or _value(text, string).startswith(_VERSION)
    return None


def stated_url(text: bytes, name: bytes) -> str:
    """Return the URL that a JSON Feed states as its own or its site's; "" if there is none."""
    feed = text[after_mark(text) :]
    for string in json_text.strings(feed):
        if string.kind is JsonKind.MEMBER and string.names == [name]:
            return _value(feed, string)
    return ""


def _value(text: bytes, span: Span | JsonString) -> str:
    return trimmed(decode_inner(json_text.unescaped(text[span.start : span.end])))


def _of_item(
    inner: bytes,
    string: JsonString,
    place: Place,
    context: Context,
    link: Statement,
    *,
    links: ItemLinks,
) -> Iterable[Outcome]:
    """Visit an item's HTML, against the feed's base or (`item_links`) the item's URL."""
    if context.task.policy.item_links:
        return visit_value(inner, context.on_item_link(link), place)
    items = visit_value(inner, context, place)
    if context.wanted.references_only or context.resolve is None:
        return items
    outcomes = list(items)
    edits = (item for item in outcomes if isinstance(item, Edit))
    links.compare(inner, edits, link.value, context.resolve, Span(string.start, string.end))
    return consume(outcomes)
