"""JSON Feed 1.0 and 1.1: its URLs, and the HTML of its items as nested documents.

The text is walked twice: it has to be JSON as a whole, and an item's URL may follow its HTML.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer, Statement
from relbase.edit import Edit, Span
from relbase.notes import Note, Reason
from relbase.references import scripts
from relbase.references.scripts import JsonKind, json_view
from relbase.references.values import Syntax, trimmed
from relbase.references.vocabulary import Nested, Row
from relbase.rewriting.html import visit_value
from relbase.rewriting.item_links import ItemLinks
from relbase.rewriting.items import Item, drained, lower, shift
from relbase.rewriting.reference import Place
from relbase.view.characters import text as decode_inner

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from relbase.references.scripts import JsonString
    from relbase.rewriting.context import Context

_ITEM: Final = (b"items", None)
# Members that hold a URL, by the names of the containers around them, None for an array.
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
_MARK: Final = b"\xef\xbb\xbf"


def visit_json_feed(text: bytes, context: Context) -> Iterator[Item]:
    """The items of a JSON Feed; a note for any other text."""
    start = len(_MARK) if text.startswith(_MARK) else 0
    feed = text[start:]
    urls = _item_urls(feed)
    if urls is None:
        words = "it is not JSON, or its version is not that of a JSON Feed: left unchanged"
        yield Note(Reason.JSON_UNSOUND, context.part, None, words)
        return
    links = ItemLinks(context)
    for string in scripts.strings(feed):
        row = _ROWS.get(tuple(string.names)) if string.kind is JsonKind.MEMBER else None
        if row is not None:
            view = json_view(feed[string.start : string.end], in_script=False)
            names = ["", *(name.decode() for name in string.names if name is not None)]
            place = Place(names[-2], names[-1], row)
            link = urls.get(string.places[1]) if row is _HTML else None
            if link is None or not (url := _value(feed, link)):
                items: Iterable[Item] = visit_value(view.inner, context, place)
            else:
                source = f"url of item {string.places[1] + 1}"
                stated = Statement(Layer.EMBEDDED, url, source, link)
                items = _of_item(view.inner, string, place, context, stated, links=links)
            yield from shift(lower(items, view, string.start), start)
    yield from shift(links.notes(context.part), start)


def _item_urls(text: bytes) -> dict[int, Span] | None:
    """Where the URLs of the items are, by their numbers; None if a text is no JSON Feed."""
    urls: dict[int, Span] = {}
    has_version = False
    for string in scripts.strings(text):
        if string.kind is JsonKind.END:
            return urls if has_version and string.end == len(text) else None
        if string.kind is JsonKind.MEMBER:
            if string.names == [*_ITEM, b"url"]:
                urls[string.places[1]] = Span(string.start, string.end)
            elif string.names == [b"version"]:
                has_version = has_version or _value(text, string).startswith(_VERSION)
    return None


def _value(text: bytes, span: Span | JsonString) -> str:
    return trimmed(decode_inner(scripts.unescaped(text[span.start : span.end])))


def _of_item(
    inner: bytes,
    string: JsonString,
    place: Place,
    context: Context,
    link: Statement,
    *,
    links: ItemLinks,
) -> Iterable[Item]:
    """The items of an item's HTML, on the feed's base or that of the item (`item_links`)."""
    if context.task.policy.item_links:
        return visit_value(inner, context.on(context.established(link)[0]), place)
    found = list(visit_value(inner, context, place))
    if context.task.edits_only and context.resolve is not None:
        edits = (item for item in found if isinstance(item, Edit))
        links.compare(inner, edits, link.value, context.resolve, Span(string.start, string.end))
    return drained(found)
