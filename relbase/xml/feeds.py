"""Feeds: the base of the HTML in items, which is the item's link under the policy `item_links`.

Some readers resolve an item's HTML against the item's link, as bloggers expect who write
`<img src="picture.png">` in a post. If that would give other URLs, one note says how many.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from html import unescape
from itertools import islice
from typing import Final, NamedTuple

from relbase.bases.layers import Layer, Statement
from relbase.edit import Edit, PackedEdits, Span
from relbase.expressions import regex
from relbase.html.tags import Attribute
from relbase.html.visit import visit_value
from relbase.html.vocabulary import Nested, Row, Slot
from relbase.notes import Note, Reason
from relbase.rewriting.context import Context, resolver
from relbase.rewriting.outcomes import Outcome, consume, lower, shift
from relbase.rewriting.reference import Place
from relbase.url.plain import NET_LOC, UNRESERVED
from relbase.values import json_text
from relbase.values.json_text import JsonKind, JsonString, json_view
from relbase.values.syntaxes import Syntax, trimmed
from relbase.view.characters import decode_inner
from relbase.view.charset import Lines
from relbase.xml import structure
from relbase.xml.bases import Resolve, shown, statement_of, url_of


class ItemLinks:
    """Counts the references in items that resolve differently against the item's link."""

    def __init__(self, document: Context) -> None:
        self._how = document.task.profile, document.encoding
        self._count = 0
        self._first = ""
        self._span: Span | None = None

    def compare(
        self,
        text: bytes,
        edits: Iterable[Edit],
        link: str,
        resolve: Resolve,
        span: Span | None = None,
    ) -> None:
        """Count the edits of a text that would differ if references resolved against a link."""
        if len(link) > _LONGEST_LINK:  # each reference would cost as much
            return
        simple = _simple(link.encode("utf-8", "surrogatepass"))
        if simple is None:
            try:
                link = resolve(link)
            except ValueError:
                return
            simple = _simple(link.encode("utf-8", "surrogatepass"))
        root, directory = (simple[2], simple[1]) if simple else (None, b"")
        for edit in edits:
            start, end, new = edit
            first = text[start : start + 1]
            if simple is None or start < end or not (first == b"/" or first.isalnum()):
                both = self._both(_reference_at(text, start), link, resolve)
                differs = both is not None and both[0] != both[1]
            elif first == b"/":
                differs = root is not None and not root.startswith(new + b"/")
            else:
                differs = new != directory if root else directory != b""
            if differs:
                self._count += 1
                if self._span is None:
                    self._span = span or Span(start, end)
                    reference = _reference_at(text, start)
                    both = self._both(reference, link, resolve)
                    to = f", {reference[:200]!r}, to {both[1][:200]!r}" if both else ""
                    self._first = f"the first{to or f' is {reference[:200]!r}'}"

    def _both(self, reference: str, link: str, resolve: Resolve) -> tuple[str, str] | None:
        """Resolve a reference against the base and against a link; None if that fails."""
        try:
            own, on_link = resolve(reference), resolver(resolve(link), *self._how)
            return own, own if on_link is None else on_link(reference)
        except ValueError:  # `_reference_at` decodes text twice that may be escaped once
            return None

    def notes(self, part: str) -> Iterator[Note]:
        if self._count:
            links = f"{self._count} links in items" if self._count > 1 else "a link in an item"
            text = (
                f"some feed readers resolve {links} against the item's own link ({self._first}): "
                "policy=Policy(item_links=True) does the same"
            )
            yield Note(Reason.ITEM_LINK, part, self._span, text)


# In characters; nobody writes a longer one.
_LONGEST_LINK: Final = 1 << 11

# A link for which the result is known without resolving: `name` follows the link's directory, and
# `/name` its root. If the link itself is relative, it extends the directory of the base.
_simple: Final = regex(
    rb"((%b/)?+(?:[%b]++/)*+)" % (NET_LOC.encode(), UNRESERVED.encode())
    + rb"(?:(?!%2[Ee])[^\x00-\x20./\\:?#][^\x00-\x20/\\:?#]*+)?+(?:[?#].*+)?+"
).fullmatch


def _reference_at(text: bytes, start: int) -> str:
    match = _reference(text, start)
    return unescape(unescape(match[0].decode("utf-8", "replace"))) if match else ""


# A reference up to its end, which may be a quote written as a character reference.
_reference: Final = regex(
    rb"(?:[^\"'<>\s&,()\\]|&(?!(?:quot|apos|lt|gt|#39|#x27);)){0,2000}+"
).match


class Items:
    """The current item of a feed, and what the links of items would change in their HTML."""

    def __init__(self, text: bytes, document: Context) -> None:
        self.links = ItemLinks(document)
        self._text = text
        self._lines = Lines(text, document.encoding)
        self._item: structure.FeedItem | None = None
        self._link: Attribute | None = None
        self._end = -1
        self._linked: tuple[Context | None, Context | None] = None, None

    def enter(self, item: structure.FeedItem) -> None:
        """Enter an item, which lasts until it ends or the next one begins."""
        self._item = item
        self._end = -1
        self._linked = None, None

    def visit(
        self,
        slot: Slot,
        context: Context,
        visit: Callable[[Slot, Context], Iterable[Outcome]],
        stated_at: int,
    ) -> Iterable[Outcome]:
        """Visit HTML in a feed, against the link of its item if the policy says so."""
        item, task = self._item, context.task
        # An `xml:base` in the item, on the content itself or inside, overrides its link.
        if item is not None and stated_at <= item.end:
            if task.policy.item_links:
                return visit(slot, self._on_link(item, slot, context))
            if context.wanted.edits_only:
                return self._compared(slot, context, visit)
        return visit(slot, context)

    def _compared(
        self, slot: Slot, context: Context, visit: Callable[[Slot, Context], Iterable[Outcome]]
    ) -> Iterator[Outcome]:
        edits, items = PackedEdits(), iter(visit(slot, context))  # there may be millions
        while batch := list(islice(items, _BATCH)):
            edits.extend([item for item in batch if isinstance(item, Edit)])
            yield from batch
        self.compare(slot.value.start, context.resolve, -1, edits)

    def compare(
        self, start: int, resolve: Resolve | None, stated_at: int, edits: Sequence[Edit]
    ) -> None:
        """Count the edits that an item's link would change in its HTML, which begins at `start`."""
        item = self._item
        if not edits or resolve is None or item is None or stated_at > item.end:
            return
        if (link := self._around(item, start)) is not None:
            self.links.compare(self._text, edits, url_of(self._text, link), resolve)

    def _around(self, item: structure.FeedItem, start: int) -> Attribute | None:
        if self._end < 0:
            self._end, self._link = structure.item_link(self._text, item)
        return self._link if start < self._end else None

    def _on_link(self, item: structure.FeedItem, slot: Slot, context: Context) -> Context:
        """The context for HTML in an item: its base is the item's link, if there is one."""
        link = self._around(item, slot.value.start)
        if link is None:
            return context
        last, linked = self._linked
        if linked is None or last is not context:
            source = f"link of <{shown(item.name)}> at {self._lines.of(item.start)}"
            linked = context
            if stated := statement_of(self._text, link, source):
                linked = context.on_item_link(stated)
            self._linked = context, linked
        return linked


_BATCH: Final = 1024


# ---- JSON Feed 1.0 and 1.1: its URLs, and the HTML of its items as nested documents. The text is
# read twice, because all of it has to be JSON, and an item's URL may follow its HTML.

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
_MARK: Final = b"\xef\xbb\xbf"


def visit_json_feed(text: bytes, context: Context) -> Iterator[Outcome]:
    start = len(_MARK) if text.startswith(_MARK) else 0
    feed = text[start:]
    urls = _item_urls(feed)
    if urls is None:
        words = "it is not JSON, or its version is not that of a JSON Feed: left unchanged"
        yield Note(Reason.JSON_UNSOUND, context.part, None, words)
        return
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
            yield from shift(lower(items, view, string.start), start)
    yield from shift(links.notes(context.part), start)


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


def _item_urls(text: bytes) -> _Urls | None:
    """Where the URLs of the items are; None if the text is not a JSON Feed."""
    urls = _Urls(array("Q"), array("Q"), array("Q"))
    has_version = False
    for string in json_text.strings(text):
        if string.kind is JsonKind.END:
            return urls if has_version and string.end == len(text) else None
        if string.kind is JsonKind.MEMBER:
            if string.names == [*_ITEM, b"url"]:
                for column, value in zip(
                    urls, (string.places[1], string.start, string.end), strict=True
                ):
                    column.append(value)
            elif string.names == [b"version"]:
                has_version = has_version or _value(text, string).startswith(_VERSION)
    return None


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
