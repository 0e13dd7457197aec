"""Markdown through the public functions: links, HTML, charsets, budget, placeholders, notes."""

import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest
from growth import assert_linear
from hypothesis import strategies as st
from laws import assert_laws, check
from markdown_pieces import LAWS, PIECES, law_8_the_tokens_are_the_same
from memory import SLACK, memory_of, needs_status
from strategies import HOSTILE as BASES
from strategies import bases
from test_growth import repeated

import relbase
from relbase.rewriting import budget

URL: Final = "http://h.example/d/p"


def rewritten(text: str, **call: Any) -> str:
    given, data = {"url": URL, **call}, text.encode()
    result = relbase.rewrite(data, kind="markdown", **given)
    assert_laws(data, result, kind="markdown", **given)
    return result.data.decode()


def reasons(text: str | bytes, **call: Any) -> list[str]:
    data = text.encode() if isinstance(text, str) else text
    notes = relbase.rewrite(data, **{"url": URL, "kind": "markdown", **call}).notes
    return [note.reason.value for note in notes]


ROWS: Final = [
    ("[a](b 'b') ![b](../b)\n", "[a](http://h.example/d/b 'b') ![b](http://h.example/b)\n"),
    ("[a](#b)", "[a](http://h.example/d/p#b)"),
    ("[a](<b c>)", "[a](<http://h.example/d/b c>)"),
    ("[a](b\\)&amp;c)", "[a](http://h.example/d/b\\)&amp;c)"),
    ("[a]() [b](<>) [c]( )", "[a]() [b](<>) [c]( )"),  # somebody has yet to fill it in
    ("[a](http://b/) <x@y.example>", "[a](http://b/) <x@y.example>"),
    ("[a]: b\r\n\r\n![a]", "[a]: http://h.example/d/b\r\n\r\n![a]"),
    ("\ufeff[a]: b", "\ufeff[a]: http://h.example/d/b"),
    ("ä [a](b)", "ä [a](http://h.example/d/b)"),
    # HTML, as one document: `<base>` decides for it alone
    ('<p>\n<img src="b">', '<p>\n<img src="http://h.example/d/b">'),
    (
        "<base href=e/>\n\n[a](b) <a href=c>",
        """<base href=http://h.example/d/e/>

[a](http://h.example/d/b) <a href=http://h.example/d/e/c>""",
    ),
    (
        "<style>\na{b:url(c)}\n</style>\n`url(d)`",
        "<style>\na{b:url(http://h.example/d/c)}\n</style>\n`url(d)`",
    ),
    ("<!--\n<a href=b>\n-->\n<a href=c>", "<!--\n<a href=b>\n-->\n<a href=http://h.example/d/c>"),
    ("<svg>\n<a href=b>", "<svg>\n<a href=http://h.example/d/b>"),
    (
        "<img srcset='a 1x,\nb 2x'>",
        "<img srcset='http://h.example/d/a 1x,\nhttp://h.example/d/b 2x'>",
    ),
    # a line end in a reference could begin or end a block
    ('<a\nhref="b\nc">', '<a\nhref="b\nc">'),
]


@pytest.mark.parametrize(("text", "output"), ROWS)
def test_rewrite(text: str, output: str) -> None:
    assert rewritten(text) == output


@pytest.mark.parametrize(
    ("url", "text", "output"),
    [
        ("http://h/a(b/", "[a](c)", "[a](http://h/a\\(b/c)"),
        ("http://h/a`/", "`[a](c) <a href=d>", "`[a](http://h/a&#96;/c) <a href=http://h/a&#96;/d>"),
        ("http://h/a|/", "|[a](c)<a href=d>|\n|-|", "|[a](http://h/a&#124;/c)<a href=http://h/a&#124;/d>|\n|-|"),
        ("http://h/a'/", "<a b='[a](c)", "<a b='[a](http://h/a&#39;/c)"),
        ("http://h/?x&", "[a](#123;)", "[a](http://h/?x&#38;#123;)"),
    ],
)  # fmt: skip
def test_a_base_ends_nothing_that_surrounds_a_link(url: str, text: str, output: str) -> None:
    assert rewritten(text, url=url, profile="rfc3986") == output


@pytest.mark.parametrize("profile", relbase.Profile)
def test_links_and_value_spans(profile: relbase.Profile) -> None:
    text = "é [a](b) ![c](<d e>) <img src=f>\n\n[g]: h"
    listed = list(relbase.links(text, url=URL, kind="markdown", profile=profile))
    assert [text[slice(*link.span)] for link in listed] == ["b", "d e", "f", "h"]
    assert [(link.element, link.attribute, link.line) for link in listed] == [
        *(("a", "href", 1), ("img", "src", 1), ("img", "src", 1), ("a", "href", 3)),
    ]
    assert [link.column for link in listed] == [7, 16, 31, 6]
    assert relbase.rewrite_text("[a](b)", url=URL, kind="markdown") == f"[a]({URL[:-1]}b)"
    assert relbase.rewrite_text("[a](b)", base=URL, kind="markdown") == f"[a]({URL[:-1]}b)"
    assert relbase.base("[a](b) <base href=/e/>", url=URL, kind="markdown").url == URL
    assert "markdown" in relbase.explain(b"[a](b)", url=URL, kind="markdown")


@pytest.mark.parametrize("profile", relbase.Profile)
def test_an_escaped_bar_in_a_cell_is_no_backslash(profile: relbase.Profile) -> None:
    text = "|a|\n|-|\n|[b](c\\|d)|\n|![b](<c\\|d>)|\n|[b](c\\|d 't')|\n"
    result = relbase.rewrite_text(text, url="http://h/", kind="markdown", profile=profile)
    assert result == text.replace("c", "http://h/c")
    listed = relbase.links(text, url="http://h/", kind="markdown", profile=profile)
    assert {(link.reference, link.url) for link in listed} == {("c|d", "http://h/c|d")}


@pytest.mark.parametrize("profile", relbase.Profile)
def test_a_bar_of_the_base_is_listed_as_it_is_written(profile: relbase.Profile) -> None:
    call: Any = {"url": "http://h/a|/", "kind": "markdown", "profile": profile}
    text = "|[b](c)|\n|-|\n\n[e](f|g)"
    output = relbase.rewrite_text(text, **call)
    assert output == "|[b](http://h/a&#124;/c)|\n|-|\n\n[e](http://h/a&#124;/f|g)"
    for markdown in (text, output):
        urls = [link.url for link in relbase.links(markdown, **call)]
        assert urls == ["http://h/a|/c", "http://h/a|/f|g"]


def test_replace_is_asked_in_document_order() -> None:
    asked: list[str] = []

    def replace(link: relbase.Link) -> str:
        asked.append(link.reference)
        return f"x:{link.reference}"

    data = b"[a](b)\n<img src=c>\n[d](http://e/)\n\n[f]: g"
    result = relbase.rewrite(data, url=URL, kind="markdown", replace=replace)
    assert asked == ["b", "c", "http://e/", "g"]
    assert result.data == b"[a](x:b)\n<img src=x:c>\n[d](x:http://e/)\n\n[f]: x:g"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("[a]({{b}}/c)", "[a]({{b}}/c)"),
        ("[a](<{{ b }}/c>)", "[a](<{{ b }}/c>)"),
        ("[a](c/{{b}})", "[a](http://h.example/d/c/{{b}})"),
        ("[a]({{ b }}) [c](d)", "[a]({{ b }}) [c](http://h.example/d/d)"),  # text, and a link
    ],
)
def test_placeholders(text: str, output: str) -> None:
    assert rewritten(text, policy=relbase.Policy(keep_templates=True)) == output


def test_policies_choose_places() -> None:
    only = relbase.Policy(only=("img@src",))
    output = "[a](b) ![c](http://h.example/d/d) <img src=http://h.example/d/e>"
    assert rewritten("[a](b) ![c](d) <img src=e>", policy=only) == output


@pytest.mark.parametrize(
    ("data", "charset", "output"),
    [
        ("ä [a](b)".encode("latin-1"), None, "ä [a](http://h.example/d/b)".encode("latin-1")),
        ("ä [ö](ü)".encode("latin-1"), "latin1", "ä [ö](http://h.example/d/ü)".encode("latin-1")),
        ("ä [a](b)".encode("utf-16"), None, "ä [a](http://h.example/d/b)".encode("utf-16")),
        ("表 [表](b)".encode("shift_jis"), "sjis", "表 [表](http://h.example/d/b)".encode("shift_jis")),
        (b"\xff [a](b\xff)", "utf-8", b"\xff [a](http://h.example/d/b\xff)"),
    ],
)  # fmt: skip
def test_charsets(data: bytes, charset: str | None, output: bytes) -> None:
    result = relbase.rewrite(data, url=URL, kind="markdown", charset=charset)
    assert result.data == output
    assert_laws(data, result, url=URL, kind="markdown", charset=charset)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("https://x.example/foo[1](2)bar", "markdown-unsure"),
        ("$$ [1](2) $$", "markdown-unsure"),
        ('<a\nhref="b\nc">', "markdown-unsure"),
        ("[a](b\\\nc)", "markdown-unsure"),  # a link to markdown-it-py only
        ("\x1c\n[a](b)", "markdown-unsure"),  # its place is not certain
        ("> " * 101 + "[a](b)", "limit-markdown"),
        ("<base href=e>\n\n<img src=f>", "base-relative"),
    ],
)
def test_notes(text: str | bytes, reason: str) -> None:
    assert reason in reasons(text, charset="utf-8")


def test_an_unsure_link_is_listed_as_kept() -> None:
    (link,) = relbase.links(b"www.x.example[1](2)", url=URL, kind="markdown")
    assert (link.reference, link.status) == ("2", relbase.Status.KEPT)


def test_without_a_base_a_note_counts_the_links() -> None:
    assert reasons("[a](b) <a href=c>", url=None) == ["base-none"]


def test_the_budget_is_spent_in_document_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_GROWTH", 1)
    monkeypatch.setattr(budget, "MAX_GROWTH_BYTES", 2 * len("http://h.example/d/"))
    data = b"[a](b)\n\n<img src=c>\n\n[d](e)\n\n<img src=f>"
    result = relbase.rewrite(data, url=URL, kind="markdown")
    before, changed = b"[a](http://h.example/d/b)\n\n<img src=http://h.example/d/c>", data[21:]
    assert result.data == before + b"\n\n[d](e)\n\n<img src=f>", changed
    assert [link.status.value for link in result.links] == [*["rewritten"] * 2, *["kept"] * 2]
    (note,) = result.notes
    assert note.reason.value == "limit-growth"
    assert note.text.startswith("2 relative links")


RAW: Final = "http://raw.example/d/p"


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("[![a](b)](c)", "[![a](http://raw.example/d/b)](http://h.example/d/c)"),
        ("[a]: b\n\n![a]", "[a]: http://raw.example/d/b\n\n![a]"),
        ("[a]: b", "[a]: http://h.example/d/b"),
        ("[a]: b\n\n![a] [a]", "[a]: http://h.example/d/b\n\n![a] [a]"),
        (
            "<img src=a srcset='/b 2x' longdesc=c><video poster=d><source src=e>",
            """<img src=http://raw.example/d/a srcset='http://raw.example/b 2x' \
longdesc=http://h.example/d/c><video poster=http://h.example/d/d><source src=http://raw.example/d/e>""",
        ),
        ("<base href=http://b/>\n\n<img src=c> ![d](e)",
         "<base href=http://b/>\n\n<img src=http://b/c> ![d](http://raw.example/d/e)"),
    ],
)  # fmt: skip
def test_images_have_their_own_base(text: str, output: str) -> None:
    assert rewritten(text, images_url=RAW) == output
    listed = relbase.links(text.encode(), url=URL, kind="markdown", images_url=RAW)
    assert all(link.url is not None and link.url in output for link in listed)
    assert relbase.rewrite_text(text, url=URL, kind="markdown", images_url=RAW) == output
    assert relbase.Rewriter(URL, kind="markdown", images_url=RAW).rewrite_text(text) == output


def test_a_definition_that_links_and_images_use_is_noted_if_their_bases_differ() -> None:
    text = "[a]: b\n\n![a] [a]"
    assert reasons(text, images_url=RAW) == ["markdown-unsure"]
    assert reasons(text, images_url=URL) == reasons(text) == []
    assert reasons("[a]: http://b/\n\n![a] [a]", images_url=RAW) == []


@pytest.mark.parametrize(
    "text", ["[r]: x\\\n[s](http://h/)\n[r]", "[a](x\\\ny)", "[a](<x\\\ny>)", "![a](x\\\ty)"]
)
def test_a_control_character_behind_a_backslash_is_never_in_a_link(text: str) -> None:
    assert rewritten(text) == text
    assert reasons(text) == ["markdown-unsure"]


@pytest.mark.parametrize("profile", ["rfc1808", "whatwg"])
def test_an_escaped_bar_in_a_tag_stays_in_its_cell(profile: str) -> None:
    table = "| a | b |\n|---|---|\n| <img srcset='x\\|y 1x, %sz 2x'> | [l](%sa\\|b) |"
    text, output = table % ("", ""), table % (("http://h/d/",) * 2)
    assert rewritten(text, url="http://h/d/", profile=profile) == output
    assert "markdown-unsure" in reasons(text, profile=profile)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        # An edit of one of a pair replaces both: those in new text have a backslash.
        ("[a](x(\u202ey))", r"[a](http://h/d/x\(%E2%80%AEy\))"),
        ("[r]: [a](\u202e)\n\n[r]", "[r]: http://h/d/[a]\\(%E2%80%AE\\)\n\n[r]"),
        ("[a](\\(\u202e(y))", r"[a](http://h/d/\(%E2%80%AE\(y\))"),
        ("![a](<(\u202e)>)", "![a](<http://h/d/(%E2%80%AE)>)"),
        ("[a](x(y)z)", "[a](http://h/d/x(y)z)"),
    ],
)
def test_parentheses_stay_in_pairs(text: str, output: str) -> None:
    assert rewritten(text, url="http://h/d/", profile="whatwg") == output


def test_credentials_of_the_base_of_images_are_removed_with_a_note() -> None:
    given = {"images_url": "http://u:p@raw.example/d/"}
    assert rewritten("![a](b)", **given) == "![a](http://raw.example/d/b)"
    assert reasons("![a](b)", **given) == ["credentials-removed"]


def test_only_markdown_has_a_base_of_images() -> None:
    assert relbase.rewrite(b"<img src=a>", url=URL, images_url=RAW).data.endswith(
        b"=http://h.example/d/a>"
    )


def test_kind_by_type_and_name() -> None:
    for call in ({"name": "README.md"}, {"headers": {"Content-Type": "text/markdown"}}):
        arguments: Any = call
        assert relbase.rewrite(b"[a](b)", url=URL, **arguments).changed
        assert not relbase.rewrite(b"<h1>a</h1>\n\nFrom: b", url=URL, **arguments).notes
    assert not relbase.rewrite(b"[a](b)", url=URL, name="a.mdx").changed


def test_a_part_of_a_message() -> None:
    mail = b"Content-Type: text/markdown; charset=utf-8\nContent-Base: http://b/\n\n[a](b)\n"
    assert relbase.rewrite(mail, kind="mail").data.endswith(b"\n[a](http://b/b)\n")


# ---- Laws


def _text(seed: int) -> bytes:
    random = Random(seed)
    return b"".join(random.choices(PIECES, k=random.randint(1, 25)))


texts: Final = st.integers(0, (1 << 32) - 1).map(_text)
calls: Final = st.fixed_dictionaries(
    {"url": bases, "kind": st.just("markdown"), "profile": st.sampled_from(relbase.Profile)}
)


def test_laws() -> None:
    check(LAWS, texts, calls, 150)


def test_hostile_bases_change_no_structure() -> None:
    for url in BASES:
        data = b"`[a](b)` `[a](b) | <a href=c> <a b='[d](e) [![f](g)](<h>)\n\n[i]: j\n\n"
        data += b"|[k](l)|\n|-|\n"
        result = relbase.rewrite(data, url=url, kind="markdown")
        law_8_the_tokens_are_the_same(data, {"url": url}, result)


# ---- Time


def _square(unit: str, end: str) -> Callable[[int], bytes]:
    return lambda size: ((unit * int(size**0.5) + end) * int(size**0.5)).encode()


HOSTILE: Final[dict[str, Callable[[int], bytes]]] = {
    **{
        json.dumps(unit): repeated(unit.encode())
        for unit in (
            *(
                "[",
                "![",
                "[a](",
                "[a](<b",
                '[a](b "',
                "[a](b 'c \"d ",
                "[a](b (c ",
                "[]",
                "]",
                "![",
            ),
            *("[a](b)", "[![a](b)](c)\n", "<", "<a ", "<a b='", "a <!--", "a<?", "a<!x", "x </a "),
            *("a <b href=c>", "a <script>", "a <svg>", "`", "` `` ", "*a ", "*a _b ", "**a", "\\"),
            *("&", "&am", ">", "> ", "> [a](b)\n", "- ", "- [a](b)\n", "> - > - a\n", "[a]: b\n"),
            *(
                "[a\n",
                "[a]: b 'c\n",
                "[a]:\n",
                '[a]: b "c\n\n',
                "a\n",
                "a\n\n",
                "# [a](b)\n",
                "```\n",
            ),
            *(
                "|a|\n",
                "a|b\n-|-\n\n",
                "<p>\n\n",
                "<base href=x>\n\n",
                "$$ [a](b) ",
                "$",
                "\0",
                "\r",
            ),
            *(
                "http://x[a](b)",
                "www.",
                "\t",
                "\u3000[a](b)\n",
                "[a\nb](c)\n",
                "a\\\n",
                "<!-- a -->\n",
            ),
        )
    },
    "table": lambda size: b"|a|b|\n|-|-|\n" + b"|[a](b)|c\\|d|\n" * (size // 14),
    "wide table": lambda size: b"|a" * (size // 4) + b"|\n" + b"|-" * (size // 4) + b"|\n",
    "cell": lambda size: b"|a|\n|-|\n|" + b"[a](b\\|c) " * (size // 10),
    "destination": lambda size: b"[a](" + b"&amp;\\(" * (size // 7) + b")",
    "attributes": lambda size: b"x <a" + b" b=c" * (size // 4) + b"!>",
    "definition": lambda size: b"[a]: b\n\n" + b"[a] " * (size // 4),
    "definitions": lambda size: b"".join(b"[%d]: b\n" % at for at in range(size // 10)),
    "front matter": lambda size: b"---\na: b\n" + b"---x\n" * (size // 5),
    "ticks": lambda size: b" ".join(b"`" * at for at in range(int((2 * size) ** 0.5))),
    "nested links": lambda size: b"[" * (size // 5) + b"a" + b"](b)" * (size // 5),
    "quotes of quotes": _square(">", "\n"),
    "lists of lists": _square("- ", "\n"),
    "brackets": _square("[", "\n\n"),
    "ticks and ticks": _square("`", "a"),
    "tags in tags": _square("<a b=", "\n\n"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    def rewrite(data: bytes) -> None:
        relbase.rewrite(data, url=URL, kind="markdown")

    assert_linear(rewrite, HOSTILE[name], (1 << 13, 1 << 14), 2)


@needs_status
@pytest.mark.parametrize(
    "unit", ["[a](b)", "[a](b)\n", "[a](<b c>)", '[a](b "c")', "<img src=a>[a](b)", "é [a](b)"]
)
def test_memory_is_bounded_where_all_is_links(unit: str, tmp_path: Path) -> None:
    """Law 9."""
    used = memory_of(tmp_path, repeated(unit.encode())(1 << 19), URL, "markdown")
    assert used.given > used.taken
    # The modules that only Markdown needs are loaded by it.
    assert used.grown <= 6 * (used.taken + used.given) + 2 * SLACK, used


@needs_status
@pytest.mark.parametrize(
    "unit",
    [
        *("x\n", "a\n\n", "- a\n", "<a>", "<a ", "<a!x", "[a](b:) ", "[a\n", "[a]\n\n"),
        "|a|b|\n|-|-|\n\n",
    ],
)
def test_memory_is_bounded_where_nothing_changes(unit: str, tmp_path: Path) -> None:
    """Law 9 by its slope: of lines, blocks, tags, text and links little is kept."""
    make = repeated(unit.encode())
    small, large = (memory_of(tmp_path, make(1 << size), URL, "markdown") for size in (16, 18))
    assert large.given == 0
    assert large.grown - small.grown <= 6 * (large.taken - small.taken) + (1 << 19), large
