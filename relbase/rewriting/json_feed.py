"""JSON Feed 1.0 and 1.1: its URLs, and the HTML of its items as nested documents.

Strategy: the text is walked twice. First it has to be JSON as a whole, and say that it is a JSON
Feed; the URL of each item is kept, which may follow its HTML. Then each string in a row is seen
through its escapes and visited as a value of HTML is; order, escapes and white space stay.

Never references: `id`, which readers compare as a string, like the guid of RSS.
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
from relbase.rewriting.items import Item, lower, shift
from relbase.rewriting.reference import Place
from relbase.view.characters import text as decode_inner

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    links = _item_urls(feed)
    if links is None:
        words = "it is not JSON, or its version is not that of a JSON Feed: left unchanged"
        yield Note(Reason.JSON_UNSOUND, context.part, None, words)
        return
    yield from shift(_Visit(feed, context, links).items(), start)


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


class _Visit:
    """A visit of one feed."""

    def __init__(self, text: bytes, context: Context, urls: dict[int, Span]) -> None:
        self._text = text
        self._context = context
        self._urls = urls
        self._links = ItemLinks()

    def items(self) -> Iterator[Item]:
        """The items of the feed."""
        for string in scripts.strings(self._text):
            row = _ROWS.get(tuple(string.names)) if string.kind is JsonKind.MEMBER else None
            if row is None:
                continue
            inner = (
                view := json_view(self._text[string.start : string.end], in_script=False)
            ).inner
            names = [name.decode() for name in string.names if name is not None]
            place = Place(names[-2] if len(names) > 1 else "", names[-1], row)
            if row.syntax is Nested.HTML:
                items = self._html(inner, string, place)
            else:
                items = visit_value(inner, self._context, place)
            yield from lower(items, view, string.start)
        yield from self._links.notes(self._context.part)

    def _html(self, inner: bytes, string: JsonString, place: Place) -> Iterator[Item]:
        """The items of an item's HTML, on the feed's base or that of the item (`item_links`).

        Otherwise what the URL of its item would change is counted.
        """
        context = self._context
        link = self._urls.get(string.places[1])
        url = "" if link is None else _value(self._text, link)
        if url and context.task.policy.item_links:
            source = f"url of item {string.places[1] + 1}"
            statement = Statement(Layer.EMBEDDED, url, source, link)
            context = context.on(context.established(statement)[0])
        is_compared = url and context is self._context and context.task.edits_only
        resolve = context.resolve if is_compared else None
        for item in visit_value(inner, context, place):
            if isinstance(item, Edit) and resolve is not None:
                span = Span(string.start, string.end)
                self._links.compare(inner, item, resolve(url), context, span)
            yield item
