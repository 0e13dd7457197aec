"""Feeds: the base of the HTML in items, which is the item's link under the policy `item_links`.

Some readers resolve an item's HTML against the item's link, as bloggers expect who write
`<img src="picture.png">` in a post. If that would give other URLs, one note says how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from html import unescape
from typing import TYPE_CHECKING, Final

from relbase.bases.layers import Layer, Statement, found_url
from relbase.edit import Edit, Span
from relbase.expressions import regex
from relbase.html.visit import visit_value
from relbase.notes import Note, Reason
from relbase.rewriting.context import Context, resolver
from relbase.rewriting.outcomes import Batch, Outcome, lower
from relbase.rewriting.reference import Place
from relbase.url import rfc3986
from relbase.url.credentials import quoted
from relbase.url.plain import NET_LOC, UNRESERVED
from relbase.view.base64 import base64_view
from relbase.view.charset import Lines, is_utf_8
from relbase.xml.bases import Resolve, statement_of, url_of
from relbase.xml.item_link import feed_link, item_at, item_link

if TYPE_CHECKING:
    from relbase.html.tags import Attribute
    from relbase.html.vocabulary import Slot
    from relbase.view.runs import View
    from relbase.xml import structure


class ItemLinks:
    """Counts the references in items that resolve differently against the item's link."""

    def __init__(self, document: Context) -> None:
        self._how = document.task.profile, document.encoding
        self.count = 0
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
                self.count += 1
                if self._span is None:
                    self._span = span or Span(start, end)
                    reference = _reference_at(text, start)
                    both = self._both(reference, link, resolve)
                    to = f", {quoted(reference)}, to {quoted(both[1])}" if both else ""
                    self._first = f"the first{to or f' is {quoted(reference)}'}"

    def _both(self, reference: str, link: str, resolve: Resolve) -> tuple[str, str] | None:
        """Resolve a reference against the base and against a link; None if that fails."""
        try:
            own, on_link = resolve(reference), resolver(resolve(link), *self._how)
            return own, own if on_link is None else on_link(reference)
        except ValueError:  # `_reference_at` decodes text twice that may be escaped once
            return None

    def note(self, part: str) -> Note:
        links = f"{self.count} links in items" if self.count > 1 else "a link in an item"
        text = (
            f"some feed readers resolve {links} against the item's own link ({self._first}): "
            "policy=Policy(item_links=True) does the same"
        )
        return Note(Reason.ITEM_LINK, part, self._span, text)


# In characters; nobody writes a longer one.
_LONGEST_LINK: Final = 1 << 11

# A link for which the result is known without resolving: `name` follows the link's directory, and
# `/name` its root. If the link itself is relative, it extends the directory of the base.
_simple: Final = regex(
    rb"((%b/)?+(?:[%b]++/)*+)" % (NET_LOC.encode(), UNRESERVED.encode())
    + rb"(?:(?!%2[Ee])[^\x00-\x20./\\:?#][^\x00-\x20/\\:?#]*+)?+(?:[?#].*+)?+"
).fullmatch


def _reference_at(text: bytes, start: int) -> str:
    """A reference up to its end, which may be a quote written as a character reference."""
    # What follows a quote that is written as usual need not be decoded.
    raw = _undecoded(text[start : start + _LONGEST_LINK])
    match = _reference(unescape(raw[0].decode("utf-8", "replace"))) if raw else None
    return unescape(match[0]) if match else ""


_undecoded: Final = regex(rb"(?:[^\"'<>\s&,()\\]|&(?!(?:quot|apos|lt|gt|#39);))*+").match
_reference: Final = regex(r"[^\"'<>\s,()\\]*+").match


class Items:
    """The current item of a feed, and what the links of items would change in their HTML."""

    def __init__(self, text: bytes, document: Context) -> None:
        self.links = ItemLinks(document)
        self._text = text
        self._lines: Lines | None = None
        self.item: structure.FeedItem | None = None  # which lasts until it ends or the next begins
        self._read: structure.FeedItem | None = None
        self._link: Attribute | None = None
        self._end, self._is_whole = -1, False  # how far it was read
        self._linked: tuple[Context | None, Context | None] = None, None

    def in_base64(self, slot: Slot, context: Context, stated_at: int) -> Iterable[Outcome] | None:
        """Visit HTML of Atom 0.3 in base64; None if that is not what a value holds."""
        if slot.row.stays is not Reason.XML_BASE64:
            return None
        view = html_in_base64(self._text[slot.value.start : slot.value.end])
        if view is None:
            return None
        if context.task.policy.item_links:
            context = self.on_link(slot, context, stated_at)
        place = Place(slot.element.decode("utf-8", "replace"), "", slot.row)
        items = visit_value(view.inner, context.inside(slot.value.start), place)
        return lower(items, view, slot.value.start)

    def compare(
        self, start: int, resolve: Resolve | None, stated_at: int, edits: Sequence[Edit]
    ) -> None:
        """Count the edits that an item's link would change in its HTML, which begins at `start`."""
        item = self.item
        if not edits or resolve is None or item is None or stated_at > item.end:
            return
        if (link := self._around(item, start)) is not None:
            self.links.compare(self._text, edits, url_of(self._text, link), resolve)

    def _around(self, item: structure.FeedItem, start: int) -> Attribute | None:
        if item is not self._read:
            self._read, self._end, self._is_whole, self._linked = item, -1, False, (None, None)
        if start >= self._end and not self._is_whole:
            until = start if self._end < 0 else -1
            if until < 0 and item_at(self._text, self._end - 1, start) < 0:
                self._end = start + 1
            else:
                self._end, self._link, self._is_whole = item_link(self._text, item, until=until)
        return self._link if start < self._end else None

    def on_link(self, slot: Slot, context: Context, stated_at: int) -> Context:
        """The context for HTML in an item: its base is the item's link, if there is one."""
        item = self.item
        # An `xml:base` in the item, on the content itself or inside, overrides its link.
        if item is None or stated_at > item.end:
            return context
        link = self._around(item, slot.value.start)
        if link is None:
            return context
        last, linked = self._linked
        if linked is None or last is not context:
            name = item.name.decode("utf-8", "replace")
            self._lines = self._lines or Lines(self._text, context.encoding)
            source = f"link of <{name}> at {self._lines.of(item.start)}"
            linked = context
            if stated := statement_of(self._text, link, source):
                linked = context.on_item_link(stated)
            self._linked = context, linked
        return linked


def html_in_base64(raw: bytes) -> View | None:
    """Return the view of HTML in Atom 0.3 that is encoded; None if it is not UTF-8."""
    view = base64_view(raw, b"\n")
    return view if view is not None and is_utf_8(view.inner) else None


# ---- The site of a feed, which may be on another host than the feed.


def feed_site(text: bytes, around: Context) -> Statement | None:
    """Return the URL of the site as a feed states it, if it is one of the web."""
    link = feed_link(text, is_own=False)
    if link is None:
        return None
    source = f"the feed's link at {Lines(text, around.encoding).of(link.start)}"
    return site_of(url_of(text, link), source, Span(link.start, link.end))


def site_of(url: str, source: str, span: Span | None) -> Statement | None:
    url = found_url(url, source)[0]
    return Statement(Layer.RETRIEVAL, url, source, span) if url else None


def on_site(stated: Callable[[], Statement | None], around: Context) -> Context:
    """Return the context of a feed: by the policy `site_links`, its site's URL is the base."""
    site = stated() if around.task.policy.site_links and not around.depth else None
    return around if site is None else around.with_base(around.established(site)[0])


def with_site_noted(
    text: bytes,
    batches: Iterable[Batch],
    stated: Callable[[], Statement | None],
    around: Context,
) -> Iterator[Batch]:
    """Return the batches, and a note if the site is on another host and a link differs by that."""
    policy, resolve = around.task.policy, around.resolve
    is_certain = not (policy.site_links or policy.item_links or b"xml:base" in text)
    if resolve is None or not is_certain:
        return iter(batches)

    def noted() -> Iterator[Batch]:
        first: Edit | None = None
        for batch in batches:
            for item in () if first else batch:
                if type(item) is Edit:
                    first = item
                    break
            yield batch
        site = None if first is None else stated()
        if first is None or site is None:
            return
        with suppress(ValueError):
            reference = _reference_at(text, first.start)
            own, on_link = resolve(reference), around.with_base(around.established(site)[0]).resolve
            other = on_link and on_link(reference)
            if other and rfc3986.split(own)[1] != rfc3986.split(other)[1]:
                words = (
                    f"{site.source} leads to another host: {quoted(reference)} became "
                    f"{quoted(own)}, and would be {quoted(other)} there: "
                    "policy=Policy(site_links=True) does that"
                )
                yield (Note(Reason.SITE_LINK, around.part, Span(first.start, first.end), words),)

    return noted()
