"""What the inline content of a block holds: links, images and pieces of HTML, with their places.

The parser makes tokens, which are dropped as they are read: a text may be nothing but links.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from itertools import dropwhile, pairwise
from typing import Any, Final, NamedTuple

from markdown_it.common.utils import MD_TRIM_CHARS
from markdown_it.token import Token

from relbase.edit import Span
from relbase.expressions import expression


class Destination(str):
    """A destination as the parser read it."""

    __slots__ = ("is_defined", "is_image", "is_link", "span")

    def __init__(self, _value: str) -> None:
        self.span = (0, 0)  # in the text that it was parsed in
        self.is_defined = self.is_image = self.is_link = False  # and how a definition is used


class Found(NamedTuple):
    """The destination of a link or an image, in characters of the text."""

    start: int
    end: int  # with its angle brackets
    is_image: bool
    is_link: bool  # both if a definition is used for both
    meant: str | None = None  # None: as it is written
    doubt: str = ""  # why some program may read it otherwise


class Places(NamedTuple):
    """What a text holds, in characters of it."""

    links: list[Found]
    blocks: list[Span]  # lines of HTML
    tags: list[Span]  # pieces of HTML in other lines
    is_deep: bool  # whether something nests too deeply to be read


class Block(NamedTuple):
    """A block with inline content."""

    content: str
    lines: array[int]  # where each line begins and ends, without its indentation
    cell: int = -1  # where the content begins if it is a cell of a table


_bar: Final = expression(r"(?<!\\)\|")


def cells(tokens: Iterable[Token], source: str, start: int, end: int) -> Iterator[Block]:
    """Yield the cells of a row of a table with their places (as `escapedSplit` divides it)."""
    start += _blank(source[start:end])
    end = start + len(source[start:end].rstrip(MD_TRIM_CHARS))
    bars = [start - 1, *(bar.start() for bar in _bar.finditer(source, start, end)), end]
    if bars[1] == start:
        del bars[0]
    for token, (bar, until) in zip(tokens, pairwise(bars), strict=False):
        at = bar + 1 + _blank(source[bar + 1 : until])
        if source.startswith(token.content.replace("|", "\\|"), at, until):
            yield Block(token.content, array("q"), at)


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip(MD_TRIM_CHARS))


class _Mapping:
    """Maps ranges of the content of a block to ranges of the source, line by line."""

    def __init__(self, block: Block, source: str) -> None:
        # Of each line: where it begins in the content and in the source, and its length.
        self._columns = array("q"), array("q"), array("q")
        # of a cell: where there is a `|`, which the source writes as `\|`
        self._bars: list[int] = []
        if block.cell >= 0:
            self._add(0, block.cell, len(block.content))
            self._bars = [sign.start() for sign in re.finditer(r"\|", block.content)]
            return
        # The content is stripped, also of lines of other white space than that of Markdown.
        numbers = iter(block.lines)
        pairs = zip(numbers, numbers, strict=True)
        lines = dropwhile(lambda line: not source[slice(*line)].strip(), pairs)
        offset = 0
        for (start, end), line in zip(lines, block.content.split("\n"), strict=False):
            text = line.lstrip(" \t")
            at = source.find(text, start, end)
            # The text of a paragraph reaches the end of its line; a heading's is between `#`s.
            rest = source[start:at] + source[at + len(text) : end]
            if at >= 0 and not rest.replace("#", "").strip():
                self._add(offset + len(line) - len(text), at, len(text))
            offset += len(line) + 1

    def _add(self, *row: int) -> None:
        for column, number in zip(self._columns, row, strict=True):
            column.append(number)

    def pieces(self, start: int, end: int) -> list[Span]:
        """Return the ranges of the source that a range of the content is in."""
        spans = []
        row = max(0, bisect_right(self._columns[0], start) - 1)
        while row < len(self._columns[0]) and self._columns[0][row] <= end:
            inner, outer, length = (column[row] for column in self._columns)
            first, last = max(start, inner), min(end, inner + length)
            if first < last or first == last == start == end:
                ends = (at + outer - inner + bisect_left(self._bars, at) for at in (first, last))
                spans.append(Span(*ends))
            row += 1
        return spans


class Content(list[Token]):
    """Takes the tokens of a block, each when the next one comes: then it is complete."""

    def __init__(self, block: Block, source: str, found: Places) -> None:
        super().__init__()
        self._place, self._source, self._found = _Mapping(block, source), source, found
        self._math = [math.start() for math in re.finditer(r"\$\$", block.content)]
        self._level = 0  # of links
        self._is_url = False  # whether a bare URL goes on so far
        self._follows_url = False
        self.state: Any = None  # of the parser
        self._at = 0  # where the last token begins

    def append(self, token: Token) -> None:
        self.take_last()
        super().append(token)
        self._at = self.state.pos if self.state else 0

    def take_last(self) -> None:
        if not self:
            return
        token = self.pop()
        self._follow(token)
        if token.type == "html_inline":
            pieces = self._place.pieces(self._at, self._at + len(token.content))
            self._found.tags.extend(pieces)
            return
        is_image = token.type == "image"
        value = token.attrs.get("src" if is_image else "href")
        if isinstance(value, Destination):
            value.is_image |= is_image
            value.is_link |= not is_image
            if not value.is_defined:
                self._take(str(value), value.span, is_image=is_image)

    def take_plain(self, link: re.Match[str]) -> None:
        """Take a link or an image that the parser makes no tokens of."""
        self.take_last()
        self._follows_url = self._is_url
        if not link[1]:
            self._is_url = self._is_url and _space.search(link[2]) is None
        # In a cell, the source writes `\|` for `|`.
        meant = link[3].strip("<>") if "|" in link[3] else None
        self._take(meant, link.span(3), is_image=bool(link[1]))

    def _take(self, meant: str | None, at: tuple[int, ...], *, is_image: bool) -> None:
        pieces = self._place.pieces(*at)
        span = pieces[0] if len(pieces) == 1 else (0, 0)
        if meant == self._source[slice(*span)] and "\ufffd" not in meant:
            meant = None
        doubt = self._doubt(at[0])
        self._found.links.append(Found(*span, is_image, not is_image, meant, doubt))

    def _follow(self, token: Token) -> None:
        self._follows_url = self._is_url
        self._level += token.nesting if token.type.startswith("link_") else 0
        text = token.content
        if token.markup == "autolink" or token.type in {"html_inline", "hardbreak"}:
            self._is_url = False
        elif text and token.type == "text":
            last = _space.split(text)[-1]
            is_url = _url.search(last) is not None and not self._level
            self._is_url = is_url or (self._is_url and len(last) == len(text))

    def _doubt(self, at: int) -> str:
        """Return why a link with a destination at an offset may be read otherwise, or ""."""
        before = bisect_left(self._math, at)
        if before % 2 and before < len(self._math):
            return "between $$ and $$, a formula on GitHub"
        return "directly behind a bare URL, a part of it on GitHub" if self._follows_url else ""


_space: Final = expression(r"[\t-\r <]")
_url: Final = expression(r"(?:https?|ftp)://|www\.", re.IGNORECASE)
