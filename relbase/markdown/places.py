"""Where the links and the HTML of a Markdown text are: CommonMark 0.31 with the tables of GFM.

markdown-it-py decides what is a link, and here each gets its place. Three things make that certain:

- The text that is parsed is as long as the source: CR becomes a space or LF, NUL U+FFFD, and front
  matter is blank. So an offset in it is one in the source.
- `parseLinkDestination` returns a `str` that knows its offsets, and the parser itself carries it
  into the token of the link, or into the table of definitions.
- The lines of a block are parts of the source's lines, and each is compared with the source.

The parser keeps no tokens: the texts of blocks are collected, and read once all definitions are
known, without what is no link (emphasis, entities). What lies inside an image's text is not read.
A text may be nothing but links, so they are kept as numbers.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable
from functools import partial
from itertools import groupby
from operator import itemgetter
from types import SimpleNamespace
from typing import Any, Final

from markdown_it import MarkdownIt, helpers
from markdown_it.rules_inline import StateInline

from relbase.edit import Span
from relbase.expressions import expression
from relbase.markdown.content import Block, Content, Destination, Found, Places, cells

# Quotes, lists (two levels each) and brackets. No real text nests as deeply, and the parser calls
# itself for each level.
MAX_NESTED: Final = 100


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
        self._blocks: list[Block] = []
        self._definitions: list[tuple[Destination, Span]] = []
        self._found = Places([], [], [], is_deep=False)
        self._is_deep = self._is_block_deep = False
        self._labels: dict[int, int] = {}
        self._room = _ROOM
        self._last = Destination("")
        self._parser = self._made_parser()

    def places(self) -> Places:
        env: dict[str, Any] = {"duplicate_refs": _Dropped()}
        self._parser.block.parse(self._text, self._parser, env, _Dropped())
        # The text of an image is its alternative text: no link in it counts.
        self._parser.inline.parse = lambda *_: []  # type: ignore[method-assign]
        for block in self._blocks:
            self._is_block_deep = False
            self._labels, self._room = {}, _ROOM
            tokens = Content(block, self._text, self._found)
            state = tokens.state = StateInline(block.content, self._parser, env, tokens)
            state.tokens_meta = _Dropped()
            self._parser.inline.tokenize(state)
            tokens.take_last()
        links = self._found.links
        for value, source in self._definitions:
            is_link = value.is_link or not value.is_image
            links.append(Found(*source, value.is_image, is_link, str(value)))
        links.sort(key=itemgetter(0))
        return self._found._replace(is_deep=self._is_deep)

    # ---- The parser

    def _made_parser(self) -> MarkdownIt:
        parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTED}).enable("table")
        parser.disable(["newline", "emphasis", "entity"])
        parser.inline.terminator_re = _special
        read = {"parseLinkDestination": self._parsed, "parseLinkLabel": self._label_end}
        vars(parser).update(
            validateLink=lambda _url: True,
            normalizeLink=lambda url: url,  # keeps the object
            helpers=SimpleNamespace(**{**vars(helpers), **read}),
        )
        wraps = dict.fromkeys(("paragraph", "heading", "lheading", "html_block"), self._placing)
        wraps |= {"table": self._placing, "reference": self._defining}
        for rule in parser.block.ruler.__rules__:
            if rule.name in wraps:
                parser.block.ruler.at(rule.name, wraps[rule.name](rule.fn), {"alt": rule.alt})
        for rule_ in parser.inline.ruler.__rules__:
            if rule_.name in {"link", "image"}:
                parser.inline.ruler.at(rule_.name, self._plain(rule_.fn))
        for part, name in ((parser.block, "tokenize"), (parser.inline, "skipToken")):
            setattr(part, name, partial(self._nested, getattr(part, name)))
        return parser

    def _nested(self, read: Callable[..., None], state: Any, *lines: int) -> None:  # noqa: ANN401
        if state.level >= MAX_NESTED:
            self._is_deep = self._is_block_deep = True
        read(state, *lines)

    def _parsed(self, string: str, pos: int, maximum: int) -> Any:  # noqa: ANN401
        result = helpers.parseLinkDestination(string, pos, maximum)
        self._last = Destination(result.str)
        self._last.span = (pos, result.pos if result.ok else pos)
        result.str = self._last
        return result

    def _plain(self, rule: Callable[..., bool]) -> Callable[..., bool]:
        """Wrap the rule of links or images, which takes long: most are of one simple form."""

        def run(state: Any, silent: bool) -> bool:  # noqa: ANN401, FBT001
            if not silent and len(state.cache) + len(self._labels) > self._room:
                self._forget_before(state)
            link = _plain_link.match(state.src, state.pos, state.posMax)
            if link is None or state.level >= MAX_NESTED:
                return not self._is_block_deep and rule(state, silent)
            if not silent:
                if state.pending:
                    state.pushPending()
                state.tokens.take_plain(link)
            state.pos = link.end()
            return True

        return run

    def _forget_before(self, state: Any) -> None:  # noqa: ANN401
        """Forget what was read of brackets that are passed: there may be very many."""
        for known in (state.cache, self._labels):
            for at in [at for at in known if at < state.pos]:
                del known[at]
        self._room = max(_ROOM, 2 * (len(state.cache) + len(self._labels)))

    def _label_end(self, state: Any, start: int, disableNested: bool = False) -> int:  # noqa: ANN401, FBT001, FBT002, N803
        """Do what `parseLinkLabel` does, but read what is in brackets once, not for each level."""
        if disableNested and start in self._labels:
            return self._labels[start]
        begun, level, end = state.pos, 1, -1
        state.pos = start + 1
        while state.pos < state.posMax:
            at, marker = state.pos, state.src[state.pos]
            if marker == "]":
                level -= 1
                if level == 0:
                    end = at
                    break
            state.md.inline.skipToken(state)
            if marker == "[" and state.pos == at + 1:  # no link begins here
                inner = self._labels.get(at, -1)
                if inner >= 0:
                    state.pos = inner + 1
                elif disableNested:  # it has no end, or a link in it
                    break
                else:
                    level += 1
            elif marker == "[" and disableNested:
                break
        state.pos = begun
        if disableNested:
            self._labels[start] = end
        return end

    def _placing(self, rule: Callable[..., bool]) -> Callable[..., bool]:
        """Wrap the rule of a block, to collect what it holds."""

        def run(state: Any, start: int, end: int, silent: bool) -> bool:  # noqa: ANN401, FBT001
            kept, state.tokens = state.tokens, []
            is_read = rule(state, start, end, silent)
            made, state.tokens = [each for each in state.tokens if each.type in _HELD], kept
            for row, tokens in groupby(made, key=lambda token: token.map):
                inner, lines = list(tokens), _lines(state, *row)
                if rule.__name__ == "table":
                    self._blocks += cells(inner, self._text, *lines[:2])
                elif inner[0].type == "html_block":
                    self._found.blocks.extend(map(Span, lines[::2], lines[1::2]))
                elif "[" in inner[0].content or "<" in inner[0].content:
                    self._blocks.append(Block(inner[0].content, lines))
            return is_read

        return run

    def _defining(self, rule: Callable[..., bool]) -> Callable[..., bool]:
        """Wrap the rule of definitions; a label that begins with `^` is that of a footnote."""

        def run(state: Any, start: int, end: int, silent: bool) -> bool:  # noqa: ANN401, FBT001
            begin = state.bMarks[start] + state.tShift[start]
            if state.src.startswith("[^", begin) or not rule(state, start, end, silent):
                return False
            value, offset = self._last, 0
            lines = iter(_lines(state, start, state.line))
            for first, last in zip(lines, lines, strict=True):
                if offset <= value.span[0] <= offset + last - first:
                    move = first - offset
                    source = Span(value.span[0] + move, value.span[1] + move)
                    self._definitions.append((value, source))
                    value.is_defined = True
                    break
                offset += last + 1 - first
            return True

        return run


_HELD: Final = frozenset(("inline", "html_block"))


class _Dropped(list[Any]):
    """Takes what nobody needs: the tokens of blocks, definitions that do not count."""

    def append(self, _item: object) -> None:
        pass


def _lines(state: Any, start: int, end: int) -> array[int]:  # noqa: ANN401
    lines = array("q")
    for at in range(start, end):
        lines.extend((state.bMarks[at] + state.tShift[at], state.eMarks[at]))
    return lines


_ROOM: Final = 4096

# No escape, entity, code or other markup, no title and no parentheses: it means what is written.
_plain_link: Final = expression(
    r"(!?)\[ ([^\[\]\\`<]*+) \]"
    r"\( ( [^\0-\x20()<>\\&\x7f\ufffd]++ | < [^\n<>\\&\ufffd]*+ > ) \)",
    re.VERBOSE,
)
_special: Final = expression(r"[\[\]\\`<]|!\[")  # where a token may begin
