"""Where the links and the HTML of a Markdown text are: CommonMark 0.31 with the tables of GFM.

markdown-it-py decides what is a link, and here each gets its place. Three things make that certain:

- The text that is parsed is as long as the source: CR becomes a space or LF, NUL U+FFFD, and front
  matter is blank. So an offset in it is one in the source.
- `parseLinkDestination` returns a `str` that knows its offsets, and the parser itself carries it
  into the token of the link, or into the table of definitions.
- The lines of a block are parts of the source's lines, and each is compared with the source.

The parser makes no tokens of blocks: their texts are collected, and read once all definitions are
known. What lies inside an image's text is not read.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import dropwhile, groupby, pairwise
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

from markdown_it import MarkdownIt, helpers
from markdown_it.common.utils import MD_TRIM_CHARS
from markdown_it.token import Token

from relbase.edit import Span
from relbase.expressions import expression

# Quotes, lists (two levels each) and brackets. No real text nests as deeply, and the parser calls
# itself for each level.
MAX_NESTED: Final = 100


class Destination(str):  # noqa: SLOT000 (these attributes have defaults)
    """A destination as the parser read it."""

    span: tuple[int, int]  # in the text that it was parsed in
    source: Span | None = None  # of a definition: in the source
    is_image = is_link = False  # how a definition is used


class Found(NamedTuple):
    """The destination of a link or an image, in characters of the text."""

    start: int
    end: int  # with its angle brackets
    meant: str
    is_image: bool
    is_link: bool  # both if a definition is used for both
    doubt: str = ""  # why some program may read it otherwise


class Places(NamedTuple):
    """What a text holds, in characters of it."""

    links: list[Found]
    blocks: list[Span]  # lines of HTML
    tags: list[Span]  # pieces of HTML in other lines
    is_deep: bool  # whether something nests too deeply to be read


class _Block(NamedTuple):
    """A block with inline content."""

    content: str
    lines: list[tuple[int, int]]  # where each line begins and ends, without its indentation
    cell: int = -1  # where the content begins if it is a cell of a table


def places(source: str) -> Places:
    """Return the places of links and HTML in a text."""
    text = source.replace("\r\n", " \n").replace("\r", "\n").replace("\0", "\ufffd")
    if front := _front_matter.match(text):
        text = _not_line_end.sub(" ", front[0]) + text[front.end() :]
    return _Reading(text).places()


# A block of YAML, which begins with a key or a comment, or of TOML.
_front_matter: Final = expression(
    r"""(?: ---[ \t]*\n (?=[\w-]+[ \t]*:|\#) .*?\n (?:---|\.\.\.) | \+\+\+[ \t]*\n .*?\n \+\+\+ )
    [ \t]*(?:\n|\Z)""",
    re.DOTALL | re.VERBOSE,
)
_not_line_end: Final = expression(r"[^\n]")


class _Reading:
    """A text while it is read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._definitions: list[Destination] = []
        self._blocks: list[_Block] = []
        self._found = Places([], [], [], is_deep=False)
        self._is_deep = False
        self._last = Destination()
        self._parser = self._made_parser()

    def places(self) -> Places:
        env: dict[str, Any] = {}
        self._parser.block.parse(self._text, self._parser, env, _Dropped())
        read = self._parser.inline.parse
        # The text of an image is its alternative text: no link in it counts.
        self._parser.inline.parse = lambda *_: []  # type: ignore[method-assign]
        for block in self._blocks:
            self._walk(block, read(block.content, self._parser, env, []))
        defined = (_defined(value) for value in self._definitions if value.source)
        links = sorted([*self._found.links, *defined])
        return self._found._replace(links=links, is_deep=self._is_deep)

    # ---- The parser

    def _made_parser(self) -> MarkdownIt:
        parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTED}).enable("table")
        own: dict[str, Any] = {
            "validateLink": lambda _url: True,
            "normalizeLink": lambda url: url,  # keeps the object
            "helpers": SimpleNamespace(**{**vars(helpers), "parseLinkDestination": self._parsed}),
        }
        for name, value in own.items():
            setattr(parser, name, value)
        wraps = dict.fromkeys(("paragraph", "heading", "lheading", "html_block"), self._placing)
        wraps |= {"table": self._placing, "reference": self._defining}
        for rule in parser.block.ruler.__rules__:
            if rule.name in wraps:
                parser.block.ruler.at(rule.name, wraps[rule.name](rule.fn), {"alt": rule.alt})
        for rule_ in parser.inline.ruler.__rules__:
            if rule_.name == "html_inline":
                parser.inline.ruler.at(rule_.name, _beginning(rule_.fn))
        for part, name in ((parser.block, "tokenize"), (parser.inline, "skipToken")):
            setattr(part, name, partial(self._nested, getattr(part, name)))
        return parser

    def _nested(self, read: Callable[..., None], state: Any, *lines: int) -> None:  # noqa: ANN401
        self._is_deep = self._is_deep or state.level >= MAX_NESTED
        read(state, *lines)

    def _parsed(self, string: str, pos: int, maximum: int) -> Any:  # noqa: ANN401
        result = helpers.parseLinkDestination(string, pos, maximum)
        self._last = Destination(result.str)
        self._last.span = (pos, result.pos if result.ok else pos)
        result.str = self._last
        return result

    def _placing(self, rule: Callable[..., bool]) -> Callable[..., bool]:
        """Wrap the rule of a block, to collect what it holds."""

        def run(state: Any, start: int, end: int, silent: bool) -> bool:  # noqa: ANN401, FBT001
            kept, state.tokens = state.tokens, []
            is_read = rule(state, start, end, silent)
            made, state.tokens = [each for each in state.tokens if each.type in _HELD], kept
            for row, tokens in groupby(made, key=lambda token: token.map):
                inner, lines = list(tokens), _lines(state, *row)
                if rule.__name__ == "table":
                    self._blocks += _cells(inner, self._text, *lines[0])
                elif inner[0].type == "html_block":
                    self._found.blocks.extend(Span(*line) for line in lines)
                elif "[" in inner[0].content or "<" in inner[0].content:
                    self._blocks.append(_Block(inner[0].content, lines))
            return is_read

        return run

    def _defining(self, rule: Callable[..., bool]) -> Callable[..., bool]:
        """Wrap the rule of definitions; a label that begins with `^` is that of a footnote."""

        def run(state: Any, start: int, end: int, silent: bool) -> bool:  # noqa: ANN401, FBT001
            begin = state.bMarks[start] + state.tShift[start]
            if state.src.startswith("[^", begin) or not rule(state, start, end, silent):
                return False
            value, offset = self._last, 0
            for first, last in _lines(state, start, state.line):
                if offset <= value.span[0] <= offset + last - first:
                    move = first - offset
                    value.source = Span(value.span[0] + move, value.span[1] + move)
                    self._definitions.append(value)
                    break
                offset += last + 1 - first
            return True

        return run

    # ---- What blocks hold

    def _walk(self, block: _Block, tokens: list[Token]) -> None:
        """Find the places of the links and the HTML in a block."""
        place, doubt = _Mapping(block, self._text), _Doubt(block.content)
        for token in tokens:
            doubt.follow(token)
            if token.type == "html_inline":
                at = token.meta["at"]
                self._found.tags.extend(place.pieces(at, at + len(token.content)))
                continue
            value = token.attrs.get("href" if token.type == "link_open" else "src")
            if not isinstance(value, Destination):
                continue
            value.is_image |= token.type == "image"
            value.is_link |= token.type != "image"
            if value.source is None:  # not by a definition
                pieces = place.pieces(*value.span)
                span = pieces[0] if len(pieces) == 1 else (0, 0)
                why = doubt.of(value.span[0])
                self._found.links.append(_defined(value, span)._replace(doubt=why))


def _defined(value: Destination, span: tuple[int, int] | None = None) -> Found:
    start, end = span or value.source or (0, 0)
    return Found(start, end, str(value), value.is_image, value.is_link or not value.is_image)


_HELD: Final = frozenset(("inline", "html_block"))


class _Dropped(list[Token]):
    """Takes the tokens of blocks, which nobody needs."""

    def append(self, token: Token) -> None:
        pass


def _lines(state: Any, start: int, end: int) -> list[tuple[int, int]]:  # noqa: ANN401
    return [(state.bMarks[at] + state.tShift[at], state.eMarks[at]) for at in range(start, end)]


def _beginning(rule: Callable[..., bool]) -> Callable[..., bool]:
    """Wrap an inline rule so that its token knows where it begins."""

    def run(state: Any, silent: bool) -> bool:  # noqa: ANN401, FBT001
        at = state.pos
        is_read = rule(state, silent)
        if is_read and not silent:
            state.tokens[-1].meta["at"] = at
        return is_read

    return run


_bar: Final = expression(r"(?<!\\)\|")


def _cells(tokens: Iterable[Token], source: str, start: int, end: int) -> Iterator[_Block]:
    """Yield the cells of a row of a table with their places (as `escapedSplit` divides it)."""
    start += _blank(source[start:end])
    end = start + len(source[start:end].rstrip(MD_TRIM_CHARS))
    bars = [start - 1, *(bar.start() for bar in _bar.finditer(source, start, end)), end]
    if bars[1] == start:
        del bars[0]
    for token, (bar, until) in zip(tokens, pairwise(bars), strict=False):
        at = bar + 1 + _blank(source[bar + 1 : until])
        if source.startswith(token.content.replace("|", "\\|"), at, until):
            yield _Block(token.content, [], at)


def _blank(text: str) -> int:
    return len(text) - len(text.lstrip(MD_TRIM_CHARS))


class _Mapping:
    """Maps ranges of the content of a block to ranges of the source, line by line."""

    def __init__(self, block: _Block, source: str) -> None:
        # of each line: where it begins in the content and in the source, and its length
        self._rows: list[tuple[int, int, int]] = []
        # of a cell: where there is a `|`, which the source writes as `\|`
        self._bars: list[int] = []
        if block.cell >= 0:
            self._rows.append((0, block.cell, len(block.content)))
            self._bars = [sign.start() for sign in re.finditer(r"\|", block.content)]
            return
        # The content is stripped, also of lines of other white space than that of Markdown.
        lines = dropwhile(lambda line: not source[slice(*line)].strip(), block.lines)
        offset = 0
        for (start, end), line in zip(lines, block.content.split("\n"), strict=False):
            text = line.lstrip(" \t")
            at = source.find(text, start, end)
            # The text of a paragraph reaches the end of its line; a heading's is between `#`s.
            rest = source[start:at] + source[at + len(text) : end]
            if at >= 0 and not rest.replace("#", "").strip():
                self._rows.append((offset + len(line) - len(text), at, len(text)))
            offset += len(line) + 1

    def pieces(self, start: int, end: int) -> list[Span]:
        """Return the ranges of the source that a range of the content is in."""
        spans = []
        row = max(0, bisect_right(self._rows, start, key=itemgetter(0)) - 1)
        while row < len(self._rows) and self._rows[row][0] <= end:
            inner, outer, length = self._rows[row]
            first, last = max(start, inner), min(end, inner + length)
            if first < last or first == last == start == end:
                ends = (at + outer - inner + bisect_left(self._bars, at) for at in (first, last))
                spans.append(Span(*ends))
            row += 1
        return spans


class _Doubt:
    """Says which links of a block GitHub may read otherwise."""

    def __init__(self, content: str) -> None:
        self._math = [sign.start() for sign in re.finditer(r"\$\$", content)]
        self._level = 0  # of links
        self._is_url = False  # whether a bare URL goes on so far
        self._follows_url = False

    def follow(self, token: Token) -> None:
        """Go on to the next token of the content."""
        self._follows_url = self._is_url
        self._level += token.nesting if token.type.startswith("link_") else 0
        text = token.content
        if token.markup == "autolink" or token.type in {"html_inline", "softbreak", "hardbreak"}:
            self._is_url = False
        elif text and token.type == "text":
            last = _space.split(text)[-1]
            is_url = _url.search(last) is not None and not self._level
            self._is_url = is_url or (self._is_url and len(last) == len(text))

    def of(self, at: int) -> str:
        """Return why a link with a destination at an offset may be read otherwise, or ""."""
        before = bisect_left(self._math, at)
        if before % 2 and before < len(self._math):
            return "between $$ and $$, a formula on GitHub"
        return "directly behind a bare URL, a part of it on GitHub" if self._follows_url else ""


_space: Final = expression(r"[\t-\r <]")
_url: Final = expression(r"(?:https?|ftp)://|www\.", re.IGNORECASE)
