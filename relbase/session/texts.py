"""Text that a program holds: it is read as UTF-8, and offsets are those of its characters."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from relbase.bases.layers import Layer, Statement, outward
from relbase.edit import Span
from relbase.formats.rows import FORMATS
from relbase.html.foreign import base_tag
from relbase.kind import Kind
from relbase.session import run
from relbase.values.syntaxes import trimmed
from relbase.view.characters import encode_inner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.bases.layers import Base
    from relbase.results import Link
    from relbase.session.session import Call


def text_call(call: Call) -> Call:
    """Return a call for text: HTML if no kind is given, no charset and no marks are looked for."""
    given = call.session.options
    kind = given.kind or Kind.HTML
    if FORMATS[kind].charset is None:
        raise ValueError(f"text of kind {kind.value!r} is not read: give bytes")
    if (given.kind, given.charset, given.detect) == (kind, "utf-8", False):
        return call
    return call.with_options(kind=kind, charset="utf-8", detect=False)


def rewrite_text(text: str, call: Call, base: str = "") -> str:
    """Return a text with absolute links, as a whole document or as a piece with a known base."""
    kind = call.session.options.kind
    assert kind is not None
    data, before, stating = encode_inner(text), b"", FORMATS[kind].stating
    if base and not stating:
        call = call._replace(url=base)
    elif base and (base_tag.search(data) or call.options.policy.keep_templates):
        # The first `<base>` decides, so put this one before all others.
        before, call = stating.format(escape(base)).encode(), call._replace(url=None)
    elif base:
        stated = Statement(Layer.EMBEDDED, trimmed(base), "the base that was given")
        call = call._replace(url=None, stated=(stated,))
    elif call.url is None and call.base(data).layer is Layer.NONE:
        raise TypeError("the text needs its URL, and states none: give url=, or base= for a piece")
    output, edits, _ = run.rewritten(call.opened(before + data))
    return output[len(before) :].decode("utf-8", "surrogatepass") if edits else text


def text_links(text: str, call: Call, *, texts: bool = False) -> Iterator[Link]:
    """Return an iterator over the links of a text, with spans and columns in characters."""
    data = encode_inner(text)
    return Characters(data).links(run.links(call.opened(data), texts=texts))


def text_base(text: str, call: Call) -> Base:
    """Return the base of a text, with spans in characters."""
    data = encode_inner(text)
    base = call.base(data)
    return base if text.isascii() else Characters(data).base(base)


class Characters:
    """Counts the characters before offsets of a text; linear if they are asked for in order."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._is_ascii = text.isascii()
        self._at = self._count = 0
        self._line = 0, 0  # the offset at which the line begins, and the characters before it

    def of(self, offset: int) -> int:
        """Return how many characters precede an offset."""
        if offset < self._at:
            self._at = self._count = 0
        self._count += self._between(self._at, offset)
        self._at = offset
        return self._count

    def _between(self, start: int, end: int) -> int:
        return len(self._text[start:end].decode("utf-8", "surrogatepass"))

    def span(self, span: Span) -> Span:
        start = self.of(span.start)
        return Span(start, start + self._between(*span))

    def link(self, link: Link) -> Link:
        """Return a link with its span and column in characters."""
        if self._is_ascii:
            return link
        line_start = link.span.start - link.column + 1
        if line_start != self._line[0]:
            self._line = line_start, self.of(line_start)
        span = self.span(link.span)
        return link._replace(span=span, column=span.start - self._line[1] + 1)

    def links(self, links: Iterator[Link]) -> Iterator[Link]:
        return links if self._is_ascii else map(self.link, links)

    def base(self, base: Base) -> Base:
        """Return a base whose notes have their spans in characters."""
        if self._is_ascii or not any(around.refused for around in outward(base)):
            return base
        refused = tuple(
            note._replace(span=note.span and self.span(note.span)) for note in base.refused
        )
        outer = None if base.outer is None else self.base(base.outer)
        return replace(base, refused=refused, outer=outer)
