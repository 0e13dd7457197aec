"""Pieces of Markdown to make documents of, and the laws of what becomes of these."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

from laws import (
    Law,
    assert_links_alike,
    law_2_outside_of_the_edits_every_byte_is_the_same,
    law_3_a_second_rewriting_changes_nothing,
)
from markdown_it import MarkdownIt

import relbase

_PIECES: Final = (
    *("[a](b)", "![i](j.png)", "[a]: r\n", "[a]", "[a][]", "![a][a]", "[b]: <c d> 't'\n", "[b]"),
    *("<img src=x>", "<a href='y z'>", "</a>", '<a href="&amp;q">', "<style>a{b:url(c)}</style>"),
    *("`", "``", "*", "_", "~~", "\n", "\n\n", "\n> ", "\n- ", "\n1. ", "\n    ", "\n\t", "# "),
    *("\n# ", "\n===\n", "\n---\n", "|", "\\", "\\|", "&amp;", "&", "<", ">", "(", ")", "[", "]"),
    *("\n| a | [b](c) |\n|---|---|\n| [d](e\\|f) | `x` |\n", "!", '"', "'", " ", "  \n", "é", "\r"),
    *("http://x.example/", "<http://h.example/y>", "<!--", "-->", "<?", "<script>", "\n<p>\n"),
    *("<base href=d/>", "```\n", "$$", "{{x}}", "[^1]: n [k](l)\n", "\u3000", "\0", "\x0c", "\r\n"),
    *("---\na: b\n---\n", "[x](<>)", "[x](\\(y\\))", "[x](\ny\n't')", "[![s](t)](u)", "[l\n](o)"),
    *('<a\nhref="m\nn">', "<img srcset='a 1x, b 2x'>", "[c(d)e](f(g)h)", "[#](#f)", "?q=1&lt;x"),
)  # fmt: skip
PIECES: Final = tuple(map(str.encode, _PIECES))


def law_4_the_links_are_absolute_or_as_they_were(
    _: bytes, call: dict[str, Any], result: relbase.Result
) -> None:
    assert_links_alike(list(result.links), list(relbase.links(result.data, **call)))


def law_8_the_lines_are_the_same(data: bytes, _: dict[str, Any], result: relbase.Result) -> None:
    for end in (b"\n", b"\r"):
        assert data.count(end) == result.data.count(end)


def law_8_the_tokens_are_the_same(data: bytes, _: dict[str, Any], result: relbase.Result) -> None:
    """markdown-it-py finds the same, but for the values of links."""
    assert list(_shape(data)) == list(_shape(result.data))


def _shape(data: bytes) -> Iterator[Any]:
    for token in _parser().parse(data.decode("utf-8", "replace")):
        yield token.type, token.level, token.map
        for child in token.children or ():
            is_fixed = child.type in {"text", "code_inline"}
            yield child.type, child.level, child.content if is_fixed else ""


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable("table")
    vars(parser)["validateLink"] = lambda _url: True  # also `file:`
    return parser


CHEAP_LAWS: Final[tuple[Law, ...]] = (
    law_2_outside_of_the_edits_every_byte_is_the_same,
    law_8_the_lines_are_the_same,
)
DEAR_LAWS: Final[tuple[Law, ...]] = (
    law_3_a_second_rewriting_changes_nothing,
    law_4_the_links_are_absolute_or_as_they_were,
    law_8_the_tokens_are_the_same,
)
LAWS: Final = CHEAP_LAWS + DEAR_LAWS
