"""The text and the `rel` of the element that each link is on, for `links(texts=True)`.

The first link that asks starts one walk over the document. The tree construction says where each
element ends. All text is appended to one stream, of which the text of an element is a slice: so the
time is linear however elements nest. Text that no open element needs is not even decoded.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final, TypeAlias, cast

from relbase.html import tags
from relbase.html.construction import Construction
from relbase.html.foreign import HTML
from relbase.html.in_body import Tag
from relbase.html.stack import Open, Unsure, element
from relbase.html.tags import CDATA, COMMENT, START_TAG, Token, conditional_content
from relbase.html.tree import Tree
from relbase.rewriting.outcomes import Anchor, Batch, Outcome, Reference
from relbase.view.characters import decode_inner, scalar_values
from relbase.view.charrefs import TEXT, attribute_view, needs_view

# The most characters of a text that a link gets.
MAX_TEXT: Final = 200
_LEFT_OUT: Final = frozenset((b"script", b"style"))
_XML: Final = "xml"
# What may be moved in the middle of what is open, beyond what each token allows.
_FREE_WORK: Final = 100_000

# Where a part of a document begins and ends, whether it is in a noscript, and in a comment.
_Part: TypeAlias = tuple[int, int, bool, bool]


def with_anchors(
    text: bytes, charset: str, batches: Iterator[Batch], *, is_xml: bool = False
) -> Iterator[Batch]:
    """Yield what a visit yields; its references know the text and the `rel` of their elements."""
    levels: list[Texts] = []

    def known(item: Outcome) -> Outcome:
        if not isinstance(item, Reference) or item.anchor is not None:
            return item
        if not levels:
            levels.extend(_read(text, charset, is_xml=is_xml))
        anchors = (texts.anchor(item.span.start) for texts in reversed(levels))
        return item._replace(anchor=next(filter(None, anchors), Anchor()))

    for batch in batches:
        is_mixed = type(batch) is tuple
        yield tuple(map(known, cast("tuple[Outcome, ...]", batch))) if is_mixed else batch


class Texts:
    """The elements of a document that have attributes, in order, and the text in them."""

    def __init__(self, document: bytes, charset: str) -> None:
        self._document, self._charset = document, charset
        # Of each element, where it begins, where its text begins and ends in the stream, and how
        # many elements begin before its end.
        self._starts, self._begins, self._stops, self._lasts = (array("Q") for _ in range(4))
        self._images = array("Q")  # the elements that are images with a text
        self._stream: list[str] = []
        self._size = self._needed = 0
        self._text = ""
        self._latest: tuple[int, int, Anchor] = (-1, 0, Anchor())  # an element may have many links

    def begin(self, token: Token) -> int:
        """Return the number of the element that a start tag begins; it is empty so far."""
        number = len(self._starts)
        self._starts.append(token.start)
        self._begins.append(self._size)
        self._stops.append(self._size)
        self._lasts.append(number + 1)
        if token.name == b"img" and self._stated(token, b"alt"):
            self._images.append(number)
        self._needed = self._size + MAX_TEXT + 1  # a space may precede it
        return number

    def stop(self, number: int) -> None:
        """End an element."""
        self._stops[number], self._lasts[number] = self._size, len(self._starts)

    def add(self, start: int, end: int) -> None:
        if start == end or self._size >= self._needed:
            return
        text = self._decoded(self._document[start:end].replace(b"\0", b""), TEXT)
        words = " ".join(text.split())
        is_begun = self._stream and not self._stream[-1].endswith(" ")
        before = " " if text[:1].isspace() and is_begun else ""
        after = " " if words and text[-1:].isspace() else ""
        if added := before + words + after:
            self._stream.append(added)
            self._size += len(added)

    def anchor(self, offset: int) -> Anchor | None:
        """Return what is known of the element in whose start tag an offset is."""
        number = bisect_right(self._starts, offset) - 1
        if number < 0:
            return None
        if number != self._latest[0]:
            tag = tags.read(self._document, self._starts[number], len(self._document))
            assert tag is not None
            self._latest = number, tag.end, self._anchor(number, tag)
        return self._latest[2] if offset < self._latest[1] else None

    def _anchor(self, number: int, tag: Token) -> Anchor:
        self._text = self._text or "".join(self._stream)
        begin, name = self._begins[number], tag.name.rpartition(b":")[2]
        text = self._text[begin : min(self._stops[number], begin + MAX_TEXT + 1)].strip()
        if name == b"area":
            text = self._stated(tag, b"alt")
        elif name == b"a" and not text:
            image = bisect_left(self._images, number)
            if image < len(self._images) and self._images[image] < self._lasts[number]:
                at = self._starts[self._images[image]]
                img = tags.read(self._document, at, len(self._document))
                text = "" if img is None else self._stated(img, b"alt")
        return Anchor(text[:MAX_TEXT].rstrip(), self._stated(tag, b"rel"))

    def _stated(self, tag: Token, name: bytes) -> str:
        stated = tags.attributes(self._document, tag.inside, tag.end, {name}).get(name)
        if stated is None:
            return ""
        return " ".join(self._decoded(self._document[stated.start : stated.end], b"").split())

    def _decoded(self, raw: bytes, quote: bytes) -> str:
        if not needs_view(raw):
            return raw.decode("ascii")
        inner = attribute_view(raw, quote, self._charset).inner
        return scalar_values(decode_inner(inner), self._charset)


def _read(text: bytes, charset: str, *, is_xml: bool) -> Iterator[Texts]:
    """Yield the elements of a document, then those in its conditional comments and noscript."""
    parts: list[_Part] = [(0, len(text), False, False)]
    while parts:
        texts, inside = Texts(text, charset), list[_Part]()
        for part in parts:
            _Walk(text, part, texts, inside, _OfXML if is_xml else _Numbered).read()
        yield texts
        parts = inside


class _Numbered(Construction):
    """What is open in HTML, with the number that `Texts` gave to each element, or -1."""

    __slots__ = ("_numbers", "_texts")

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._numbers: list[int] = []
        super().__init__(is_quirky=False)

    def number(self, name: bytes, number: int) -> None:
        """Give an element its number if its start tag, which has been read, opened it."""
        at = 0 if name == b"body" else -1
        if self._numbers[at] < 0 and self.elements[at].name == name:
            self._numbers[at] = number

    def push(self, opened: Open) -> None:
        super().push(opened)
        self._numbers.append(-1)

    def cut(self, at: int) -> list[Open]:
        for number in self._numbers[at:]:
            if number >= 0:
                self._texts.stop(number)
        del self._numbers[at:]
        return super().cut(at)

    def replace(self, at: int, until: int, *opened: Open) -> None:
        kept = self._numbers[until:]  # these stay open
        super().replace(at, until, *opened)
        self._numbers[len(self._numbers) - len(kept) :] = kept


class _OfXML(_Numbered):
    """What is open in XML, where each tag means what it says."""

    __slots__ = ()
    is_foreign = True  # a CDATA section is text

    def start_tag(self, name: bytes, tag: Tag) -> str:
        if not tag.is_self_closing:
            self.push(element(name))
        return _XML

    def end_tag(self, _name: bytes) -> None:
        if len(self.elements) > 1:
            self.pop()

    def characters(self, *, are_space: bool) -> None:
        """Open nothing."""


class _Walk(Tree):
    """A walk over a part of a document, to its end."""

    __slots__ = ("_in_comment", "_inside", "_made", "_texts")

    def __init__(
        self, text: bytes, part: _Part, texts: Texts, inside: list[_Part], made: type[_Numbered]
    ) -> None:
        begin, end, in_noscript, self._in_comment = part
        super().__init__(text, begin, end, hidden=True, in_noscript=in_noscript)
        self._texts, self._inside, self._made = texts, inside, made

    def read(self) -> None:
        self._construction = built = self._made(self._texts)
        built.allow(_FREE_WORK)
        is_read = False
        while not is_read:
            try:
                self._construct(self._end)
                is_read = True
                self._texts.add(self._constructed, self._end)
            except Unsure:  # hostile: all that is open ends here
                pass
            built.cut(0)
            self._construction = built = self._made(self._texts)

    def _construct_one(self, token: Token) -> str:
        kind, name, start, inside, end = token
        built = self._construction
        assert isinstance(built, _Numbered)
        if built.current.name not in _LEFT_OUT:
            self._texts.add(self._constructed, start)
        namespace = super()._construct_one(token)
        if kind == START_TAG and end - inside > len(">"):
            built.number(name, self._texts.begin(token))
        if kind == COMMENT and not self._in_comment:
            if content := conditional_content(self._text, token):
                self._inside.append((*content, self.in_noscript, True))
        elif (name, namespace) == (b"noscript", HTML) and not self.in_noscript:
            self._inside.append((end, self._raw_end(token), True, self._in_comment))
        elif self._text.startswith(CDATA, start) and built.is_foreign:
            self._texts.add(start + len(CDATA), end - len("]]>"))
        return namespace
