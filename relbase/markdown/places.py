"""Where the links and the HTML of a Markdown text are: CommonMark 0.31 with the tables of GFM.

markdown-it-py decides what is a link, and here each gets its place. Three things make that certain:

- The text that is parsed is as long as the source: CR becomes a space or LF, NUL U+FFFD, and front
  matter is blank. So an offset in it is one in the source.
- `parseLinkDestination` returns a `str` that knows its offsets, and the parser itself carries it
  into the token of the link, or into the table of definitions.
- The lines of a block are parts of the source's lines, and each is compared with the source.

The parser keeps no tokens: what a block holds is read at once, without what is no link (emphasis,
entities). As links may use definitions that come later, a text that may hold some is read twice.
What lies inside an image's text is not read. A text may be nothing but links, so they are kept as
numbers.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any, Final

from markdown_it import MarkdownIt, helpers
from markdown_it.token import Token

from relbase.edit import Span
from relbase.expressions import expression
from relbase.markdown.content import (
    IMAGE,
    LINK,
    Block,
    Content,
    Destination,
    InlineState,
    Links,
    Places,
    cells,
    spelling,
)
from relbase.markdown.lines import Lines

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
        # Of bytes, which are up to four times as many as characters, and offsets in them.
        offsets = partial(array, "I" if len(text) < 1 << 30 else "Q")
        self._found = Places(Links(offsets()), Links(offsets()), offsets(), offsets())
        self._references = _References()
        self._env: dict[str, Any] = {"references": self._references, "duplicate_refs": _Dropped()}
        self._may_be_used = False  # whether all definitions are known
        self._is_deep = self._is_block_deep = False
        self._labels: dict[int, int] = {}
        self._last_end = 0  # of a label
        self._room = _ROOM
        self._last = Destination("")
        self._parser = self._made_parser()

    def places(self) -> Places:
        if "]:" in self._text:
            self._read()
        self._may_be_used = True
        self._read()
        del self._parser  # which knows this object
        traits = self._found.definitions.traits
        traits[:] = (each | LINK if not each & _USED else each for each in traits)
        return self._found._replace(is_deep=self._is_deep)

    def _read(self) -> None:
        state = Lines(self._text, self._parser, self._env, _Dropped())
        self._parser.block.tokenize(state, 0, state.lineMax)
        vars(state).clear()  # its columns know it

    def _read_inline(self, block: Block) -> None:
        if "[" not in block.content and "<" not in block.content:
            return
        self._is_block_deep = False
        self._labels, self._room = {}, _ROOM
        self._last_end = block.content.rfind("]")
        state = InlineState(block.content, self._parser, self._env, [])
        state.level = block.level
        state.tokens = content = Content(block, self._text, self._found, state)
        state.tokens_meta = _Dropped()
        self._parser.inline.tokenize(state)
        content.take_last()
        state.tokens = []  # they know it

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
        for part, name in _NESTED:
            owner = getattr(parser, part)
            setattr(owner, name, partial(self._nested, getattr(owner, name)))
        # The text of an image is its alternative text: no link in it counts.
        parser.inline.parse = lambda *_: []  # type: ignore[method-assign]
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
        if start > self._last_end:
            return -1
        if not disableNested:
            return self._label_read(state, start, is_link=False)
        if start not in self._labels:
            self._labels[start] = self._label_read(state, start, is_link=True)
        return self._labels[start]

    def _label_read(self, state: Any, start: int, *, is_link: bool) -> int:  # noqa: ANN401
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
                elif is_link:  # it has no end, or a link in it
                    break
                else:
                    level += 1
            elif marker == "[" and is_link:
                break
        state.pos = begun
        return end

    def _placing(self, rule: Callable[..., bool]) -> Callable[..., bool]:
        """Wrap the rule of a block, to read what it holds."""
        is_table = rule.__name__ == "table"

        def run(state: Any, start: int, end: int, silent: bool) -> bool:  # noqa: ANN401, FBT001
            if silent or not self._may_be_used:
                return rule(state, start, end, silent)
            blocks = self._cells_of(state) if is_table else self._block_of(state)
            kept, state.tokens = state.tokens, _Taken(blocks)
            is_read = rule(state, start, end, silent)
            state.tokens.take_last()
            state.tokens = kept
            return is_read

        return run

    def _block_of(self, state: Any) -> Callable[[Token], None]:  # noqa: ANN401
        level = state.level

        def take(token: Token) -> None:
            first, last = token.map or (0, 0)
            if token.type == "inline":
                start, end = _begin(state, first), state.eMarks[last - 1]
                self._read_inline(Block(token.content, start, end, level=level))
                return
            blocks = self._found.blocks
            for line in range(first, last):
                begin = _begin(state, line)
                if blocks and blocks[-1] + 1 == begin:  # the line goes on
                    blocks.pop()
                else:
                    blocks.append(begin)
                blocks.append(state.eMarks[line])

        return take

    def _cells_of(self, state: Any) -> Callable[[Token], None]:  # noqa: ANN401
        level, row = state.level, -1
        ranges: Iterator[tuple[int, int]] = iter(())

        def take(token: Token) -> None:
            nonlocal row, ranges
            line = (token.map or [0])[0]
            if line != row:
                row, ranges = line, cells(self._text, _begin(state, line), state.eMarks[line])
            content = token.content
            for start, end in islice(ranges, 1):
                if self._text.startswith(content.replace("|", "\\|"), start, end):
                    self._read_inline(Block(content, start, end, is_cell=True, level=level))

        return take

    def _defining(self, rule: Callable[..., bool]) -> Callable[..., bool]:
        """Wrap the rule of definitions; a label that begins with `^` is that of a footnote."""
        definitions = self._found.definitions

        def run(state: Any, start: int, end: int, silent: bool) -> bool:  # noqa: ANN401, FBT001
            if state.src.startswith("[^", _begin(state, start)):
                return False
            self._references.number = len(definitions.traits)
            if not rule(state, start, end, silent):
                return False
            if not self._may_be_used:
                span = _place(self._last, state, start)
                definitions.add(span, spelling(self._text[slice(*span)], str(self._last)))
            return True

        return run


def _begin(state: Any, line: int) -> int:  # noqa: ANN401
    begin: int = state.bMarks[line] + state.tShift[line]
    return begin


def _place(value: Destination, state: Any, start: int) -> Span:  # noqa: ANN401
    """Return where a destination is that was read in lines without what they begin with."""
    offset = 0
    for line in range(start, state.line):
        begin, end = _begin(state, line), state.eMarks[line]
        if offset <= value.span[0] <= offset + end - begin:
            move = begin - offset
            return Span(value.span[0] + move, value.span[1] + move)
        offset += end + 1 - begin
    return Span(0, 0)


_NESTED: Final = (("block", "tokenize"), ("inline", "tokenize"), ("inline", "skipToken"))
_USED: Final = LINK | IMAGE
_HELD: Final = frozenset(("inline", "html_block"))


class _Dropped(list[Any]):
    """Takes what nobody needs: the tokens of blocks, definitions that do not count."""

    def append(self, _item: object) -> None:
        pass


class _Taken(list[Token]):
    """Takes the tokens of a block, each when the next one comes: then it is complete."""

    def __init__(self, take: Callable[[Token], None]) -> None:
        super().__init__()
        self._take = take

    def append(self, token: Token) -> None:
        self.take_last()
        if token.type in _HELD:
            super().append(token)

    def take_last(self) -> None:
        if self:
            self._take(self.pop())


class _References:
    """The table of definitions, of which only their numbers are kept."""

    def __init__(self) -> None:
        self.number = 0  # of the next one
        self._numbers: dict[str, int] = {}

    def __contains__(self, label: str) -> bool:
        return label in self._numbers

    def __setitem__(self, label: str, _definition: object) -> None:
        self._numbers[label] = self.number

    def get(self, label: str, _default: None) -> dict[str, str] | None:
        if label not in self._numbers:
            return None
        value = Destination("")
        value.number = self._numbers[label]
        return {"href": value, "title": ""}


_ROOM: Final = 4096

# No escape, entity, code or other markup, no title and no parentheses: it means what is written.
_plain_link: Final = expression(
    r"(!?)\[ ([^\[\]\\`<]*+) \]"
    r"\( ( [^\0-\x20()<>\\&\x7f\ufffd]++ | < [^\n<>\\&\ufffd]*+ > ) \)",
    re.VERBOSE,
)
_special: Final = expression(r"[\[\]\\`<]|!\[")  # where a token may begin
