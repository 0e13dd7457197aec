"""Where links and HTML are: the blocks and inlines of CommonMark 0.31 and the tables of GFM."""

import pytest

from relbase.markdown.content import pairs
from relbase.markdown.places import MAX_NESTED, places

LINKS = [
    # §6.3, §6.4: inline links and images
    ("[a](b)", ["b"]),
    ("[a](<b c> 't')", ["<b c>"]),
    ("![a](b) [c](d)", ["b", "d"]),
    ("[![a](b)](c)", ["b", "c"]),
    ("![[a](b)](c)", ["c"]),  # alternative text
    ("[a]() [b](<>)", ["<>"]),
    ("[a](\n  b\n  't')", ["b"]),
    ("[a\nb](c)\n[d](e)", ["c", "e"]),
    ("`[a](b)` [c](d)", ["d"]),
    ("<http://h.example/[a](b)>", []),
    ("\\[a](b)", []),
    ("[a]({{b}}) [c]({{ d }})", ["{{b}}"]),
    ("[[a]] ![[b]] {{< c >}} {d}`e`", []),
    # §4.7: definitions, used or not, repeated or not
    ("[a]: b", ["b"]),
    ("[a]: <b> 't'\n[a]: c\n\n[a]", ["<b>", "c"]),
    ("[a]:\n  b", ["b"]),
    ("> [a]:\n> b\n> 't", ["b"]),
    ("[^a]: b", []),
    ("[^a]: [b](c)", ["c"]),
    ("a\n[b]: c", []),  # a definition does not interrupt a paragraph
    # §4, §5: blocks
    ("    [a](b)\n\n[c](d)", ["d"]),
    ("```\n[a](b)\n```\n[c](d)", ["d"]),
    ("# [a](b) #\n## [c](d)", ["b", "d"]),
    ("[a](b)\n===\n[c](d)\n---", ["b", "d"]),
    ("> - [a](b)\n>   [c](d)\n[e](f)", ["b", "d", "f"]),
    ("1.\t[a](b)\n\n\t> [c](d)", ["b", "d"]),
    ("<!-- [a](b) -->\n\n[c](d)", ["d"]),
    ("<div>\n[a](b)\n\n[c](d)\n</div>", ["d"]),
    # GFM §4.10: tables
    ("| a | [b](c) |\n|--|--|\n| [d](e\\|f) | [g](h) |\n[i](j)", ["c", "e\\|f", "h", "j"]),
    ("a|[b](c)\n-|-\n\\| | `|` [d](e)", ["c"]),  # a cell too many
    ("> |[a](b)|\n> |-|\n> |\x0c[c](d)|", ["b", "d"]),
    # front matter
    ("---\na: [b](c)\n---\n[d](e)", ["e"]),
    ("---\n# [b](c)\n...\n[d](e)", ["e"]),
    ("+++\na = '[b](c)'\n+++\n[d](e)", ["e"]),
    ("---\n[b](c)\n\n---\n[d](e)", ["c", "e"]),  # a thematic break
    ("a\n\n---\nb: [c](d)\n---", ["d"]),
    # other white space than that of Markdown
    ("\x0c\n[a](b)", ["b"]),
    ("\u3000[a](b)\u3000\n\xa0[c](d)", ["b", "d"]),
    ("[a](b)\r[c](d)\r\n[e](f)", ["b", "d", "f"]),
    ("é\U0001f600 [ä](ö)", ["ö"]),
]


@pytest.mark.parametrize(("text", "found"), LINKS)
def test_destinations(text: str, found: list[str]) -> None:
    for end in ("\n", "\r\n"):
        source = text.replace("\n", end)
        assert [source[link.start : link.end] for link in places(source).links] == found


@pytest.mark.parametrize(
    ("text", "is_image"),
    [
        ("[a](b)", False),
        ("![a](b)", True),
        ("[a]: b", False),
        ("[a]: b\n\n![a]", True),
        ("[a]: b\n\n![a] [c][a]", False),
        ("[a]: b\n\n![c][a] ![A][]", True),
    ],
)
def test_a_definition_is_what_uses_it(text: str, *, is_image: bool) -> None:
    (link,) = places(text).links
    assert link.is_link != is_image


HTML = [
    ("a <b>c</b> [d](<e>)", ["<b>", "</b>"], []),
    ("<p>\n<b>\n\n[c](d)", [], ["<p>\n<b>"]),
    ("> a <b\n> c>", ["<b", "c>"], []),
    ("`<a>` \\<b>", [], []),
    ("- <div>\n  <p>\n", [], ["<div>", "<p>"]),
    ("|a <b> \\||\n|-|", ["<b>"], []),
    ("![<a>](b)", [], []),  # alternative text
]


@pytest.mark.parametrize(("text", "tags", "lines"), HTML)
def test_html(text: str, tags: list[str], lines: list[str]) -> None:
    found = places(text)
    assert [text[start:end] for start, end in pairs(found.tags)] == tags
    assert [text[start:end] for start, end in pairs(found.blocks)] == lines


DOUBTS = [
    ("https://x.example/foo[1](2)bar", True),
    ("www.x.example[1](2)", True),
    ("ftp://x/a`b`[1](2)", True),
    ("https://x.example/\xa0[1](2)", True),  # no white space to GFM
    ("https://x.example [1](2)", False),
    ("https://x.example\n[1](2)", False),
    ("<https://x.example>[1](2)", False),
    ("[https://x.example](2)", False),
    ("$$ a [1](2) $$", True),
    ("$$ a $$ [1](2)", False),
    ("$$ a [1](2)", False),
]


@pytest.mark.parametrize(("text", "is_doubtful"), DOUBTS)
def test_links_that_github_reads_otherwise(text: str, *, is_doubtful: bool) -> None:
    (link,) = places(text).links
    assert bool(link.doubt) == is_doubtful


@pytest.mark.parametrize("make", ["> {}", "- {}", "[{}](b)", "![{}](b)"])
def test_what_nests_too_deeply_is_said(make: str) -> None:
    text = "[a](b)"
    for _ in range(10):
        text = make.format(text)
    assert not places(text).is_deep
    before, after = make.split("{}")
    deep = before * (MAX_NESTED + 2) + "a" + after * (MAX_NESTED + 2)
    assert places(deep).is_deep


def test_many_lines() -> None:
    """The numbers of lines are worked out some hundred at a time."""
    quote = "> - [a](b)\n>   [c](d)\n" * 3000
    text = f"{quote}\n- [e](f)\n" + "  x\n" * 9000 + f"  [g](h)\n\n{quote}"
    assert [text[link.start] for link in places(text).links] == [
        *["b", "d"] * 3000,
        *["f", "h"],
        *["b", "d"] * 3000,
    ]
