"""What the inline content of a block holds: links, images and pieces of HTML, with their places.

The parser makes tokens, which are dropped as they are read: a text may be nothing but links. What
they hold comes in the order of the text, a link at its end, where its destination is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import chain, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from markdown_it.common.utils import MD_TRIM_CHARS, unescapeAll
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from relbase.edit import Span
from relbase.expressions import expression

if TYPE_CHECKING:
    from array import array

IMAGE, LINK, ESCAPED, UNSURE, IN_FORMULA, BEHIND_URL = (1 << bit for bit in range(6))


class Destination(str):
    """A destination as the parser read it; that of a definition has its number."""

    __slots__ = ("number", "span")

    def __init__(self, _value: str) -> None:
        self.span = (0, 0)  # in the text that it was parsed in
        self.number: int | None = None


class Found(NamedTuple):
    """The destination of a link or an image; the end is 0 if its place is not certain."""

    start: int
    end: int  # with its angle brackets
    traits: int

    @property
    def is_image(self) -> bool:
        return bool(self.traits & IMAGE)

    @property
    def is_link(self) -> bool:
        """Whether it is that of a link; a definition may be both."""
        return bool(self.traits & LINK)

    @property
    def doubt(self) -> str:
        """Why some program may read it otherwise, or ""."""
        if self.traits & IN_FORMULA:
            return "between $$ and $$, a formula on GitHub"
        is_behind = self.traits & BEHIND_URL
        return "directly behind a bare URL, a part of it on GitHub" if is_behind else ""


class Links:
    """Destinations in the order of the text, as numbers: a text may be nothing but links."""

    def __init__(self, spans: array[int]) -> None:
        self.spans, self.traits = spans, bytearray()

    def add(self, span: Iterable[int], traits: int) -> None:
        self.spans.extend(span)
        self.traits.append(traits)

    def __iter__(self) -> Iterator[Found]:
        return map(Found, self.spans[::2], self.spans[1::2], self.traits)


class Places(NamedTuple):
    """What a text holds, in characters of it: where each begins and ends, in its order."""

    inline: Links
    definitions: Links
    blocks: array[int]  # lines of HTML
    tags: array[int]  # pieces of HTML in other lines
    is_deep: bool = False  # whether something nests too deeply to be read

    @property
    def links(self) -> Iterator[Found]:
        """The destinations of links, images and definitions, in order."""
        return merge(self.inline, self.definitions, key=itemgetter(0))


def pairs(offsets: array[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges between offsets."""
    numbers = iter(offsets)
    return zip(numbers, numbers, strict=True)


class Block(NamedTuple):
    """A block with inline content, and the range of the source that it is in."""

    content: str
    start: int
    end: int
    is_cell: bool = False  # of a table: the content begins at the start
    level: int = 0


_bar: Final = expression(r"(?<!\\)\|")


def cells(source: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of the cells of a row of a table (as `escapedSplit` divides it)."""
    start += _blank(source[start:end])
    end = start + len(source[start:end].rstrip(MD_TRIM_CHARS))
    bars = (bar.start() for bar in _bar.finditer(source, start, end))
    before = () if source.startswith("|", start) else (start - 1,)
    for bar, until in pairwise(chain(before, bars, (end,))):
        yield bar + 1 + _blank(source[bar + 1 : until]), until


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip(MD_TRIM_CHARS))


class _Mapping:
    """Maps ranges of the content of a block, in its order, to ranges of the source."""

    def __init__(self, block: Block, source: str) -> None:
        self._block, self._source = block, source
        self._line = self._bars = self._at = 0
        self._start = block.start  # of the line of the source
        if not block.is_cell:
            self._pass_blank()
            self._place()

    def _pass_blank(self) -> None:
        """Pass lines of other white space than that of Markdown: the content is stripped."""
        end = self._source.find("\n", self._start, self._block.end)
        while end >= 0 and not self._source[self._start : end].strip():
            self._start = end + 1
            end = self._source.find("\n", self._start, self._block.end)

    def _place(self) -> None:
        """Find the text of a line of the content (from `_line` on) at the end of the source's."""
        content, source = self._block.content, self._source
        self._end = _end(content, self._line, len(content))
        text = content[self._line : self._end].lstrip(" \t")
        end = _end(source, self._start, self._block.end)
        line = source[self._start : end]
        # A heading's is between `#`s.
        core = text.rstrip(_TRAILING)
        at = self._start + len(line.rstrip(_TRAILING) if core else line) - len(core or text)
        self._inner = self._end - len(text)
        rest = source[at + len(text) : end]
        is_there = at >= self._start and source.startswith(text, at)
        self._outer = at if is_there and not rest.replace("#", "").strip() else None

    def _step(self) -> None:
        self._start = _end(self._source, self._start, self._block.end) + 1
        self._line = self._end + 1
        self._place()

    def pieces(self, start: int, end: int) -> Iterator[Span]:
        """Yield the ranges of the source that a range of the content is in."""
        if self._block.is_cell:
            yield Span(*map(self._in_cell, (start, end)))
            return
        while self._end < start:
            self._step()
        while True:
            first, last = max(start, self._inner), min(end, self._end)
            if self._outer is not None and (first < last or first == last == start == end):
                move = self._outer - self._inner
                yield Span(first + move, last + move)
            if self._end >= end:
                break
            self._step()

    def _in_cell(self, at: int) -> int:
        """Return where a character of a cell is; the source writes a backslash before `|`."""
        self._bars += self._block.content.count("|", self._at, at)
        self._at = at
        return self._block.start + at + self._bars


_TRAILING: Final = MD_TRIM_CHARS + "#"


def _end(text: str, start: int, end: int) -> int:
    at = text.find("\n", start, end)
    return end if at < 0 else at


class Content(list[Token]):
    """Takes the tokens of a block, each when the next one comes: then it is complete."""

    def __init__(self, block: Block, source: str, found: Places, state: InlineState) -> None:
        super().__init__()
        self._place, self._source, self._found = _Mapping(block, source), source, found
        self._math = re.finditer(r"\$\$", block.content) if "$$" in block.content else iter(())
        self._next_math = next(self._math, None)
        self._is_formula = False
        self._opened: list[tuple[object, int]] = []  # links: their destinations and traits
        self._is_url = False  # whether a bare URL goes on so far
        self._follows_url = False
        self._state = state
        self._at = 0  # where the last token begins

    def append(self, token: Token) -> None:
        self.take_last()
        super().append(token)
        self._at = self._state.pos

    def take_last(self) -> None:
        if not self:
            return
        token = self.pop()
        self._follow(token)
        match token.type:
            case "html_inline":
                for piece in self._place.pieces(self._at, self._at + len(token.content)):
                    self._found.tags.extend(piece)
            case "link_open":
                self._opened.append((token.attrs.get("href"), self._behind_url()))
            case "link_close":
                value, behind = self._opened.pop()
                self._take_value(value, LINK | behind)
            case "image":
                self._take_value(token.attrs.get("src"), IMAGE | self._behind_url())

    def _take_value(self, value: object, traits: int) -> None:
        if not isinstance(value, Destination):  # that of an autolink
            return
        if value.number is None:
            self._take(str(value), value.span, traits)
        else:
            self._found.definitions.traits[value.number] |= traits & (LINK | IMAGE)

    def take_plain(self, link: re.Match[str]) -> None:
        """Take a link or an image that the parser makes no tokens of."""
        self.take_last()
        self._follows_url = self._is_url
        if not link[1]:
            self._is_url = self._is_url and _space.search(link[2]) is None
        traits = (IMAGE if link[1] else LINK) | self._behind_url()
        # In a cell, the source writes `\|` for `|`.
        meant = link[3].strip("<>") if "|" in link[3] else None
        self._take(meant, link.span(3), traits)

    def _take(self, meant: str | None, at: tuple[int, int], traits: int) -> None:
        pieces = list(self._place.pieces(*at))
        span = pieces[0] if len(pieces) == 1 else Span(0, 0)
        traits |= spelling(self._source[slice(*span)], meant) | self._formula(at[0])
        self._found.inline.add(span, traits)

    def _follow(self, token: Token) -> None:
        self._follows_url = self._is_url
        text = token.content
        if token.markup == "autolink" or token.type in {"html_inline", "hardbreak"}:
            self._is_url = False
        elif text and token.type == "text":
            start = 1 + max(map(text.rfind, _SPACES))  # of what is behind the last one
            is_url = _url.search(text, start) is not None and not self._opened
            self._is_url = is_url or (self._is_url and start == 0)

    def _behind_url(self) -> int:
        return BEHIND_URL if self._follows_url else 0

    def _formula(self, at: int) -> int:
        """Return the trait of a link with a destination at an offset between two `$$`."""
        while self._next_math is not None and self._next_math.start() < at:
            self._is_formula = not self._is_formula
            self._next_math = next(self._math, None)
        return IN_FORMULA if self._is_formula and self._next_math is not None else 0


_SPACES: Final = "\t\n\v\f\r <"
_space: Final = expression(f"[{_SPACES}]")
_url: Final = expression(r"(?:https?|ftp)://|www\.", re.IGNORECASE)


def spelling(text: str, meant: str | None) -> int:
    """Return the trait of a destination by its text in the source, with angle brackets.

    `meant` is None if it is as it is written.
    """
    if meant is None:
        return 0
    text = text[1:-1] if text.startswith("<") else text
    # Behind a backslash, markdown-it-py takes one into a destination, and cmark ends it there.
    if _escaped_control.search(text):
        return UNSURE
    if text == meant and "\ufffd" not in meant:
        return 0
    return ESCAPED if unescapeAll(text) == meant else UNSURE


_escaped_control: Final = expression(r"\\[\0-\x1F\x7F]")


class InlineState(StateInline):
    """The state of the parser of what is in a block."""

    def append_pending(self, text: str) -> None:
        super().append_pending(text)
        if len(self._pending_buffer) > _PENDING:
            self.pending  # noqa: B018 (joins it)


_PENDING: Final = 4096
