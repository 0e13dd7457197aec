from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from html5lib._tokenizer import HTMLTokenizer
from hypothesis import given, settings
from hypothesis import strategies as st
from rows import cases, pairs
from scanners import SCANNERS, scanning

from relbase.html import tags, tokens
from relbase.scan.binding import COMPILED, Marks, head, marked

if TYPE_CHECKING:
    from relbase.html.tags import Attribute

TABLES = Path(__file__).with_name("tags.txt")


def _shown(text: bytes, found: Attribute) -> tuple[bytes, bytes, bytes | None, bool]:
    if found.quote:
        assert text[found.start - 1 : found.start] == found.quote == text[found.end : found.end + 1]
    return found.name, text[found.start : found.end], found.quote, found.equals


@pytest.mark.parametrize(
    ("text", "at"), [(b" a>", 2), (b" a =>", 4), (b" a= >", 4), (b"/a/b>", 2), (b" a=\n>", 4)]
)
def test_where_a_missing_value_would_be_written(text: bytes, at: int) -> None:
    found = next(iter(tags.attributes(text, 0, len(text)).values()))
    assert (found.quote, found.start, found.end) == (None, found.end, found.end)
    written = text[: found.start] + (b"" if found.equals else b"=") + b"'v'" + text[found.end :]
    assert _shown(written, next(iter(tags.attributes(written, 0, len(written)).values())))[:2] == (
        b"a",
        b"v",
    )
    assert found.start <= at


@cases(TABLES, "raw text", element=bytes, text=bytes, rest=bytes)
def test_raw_text(element: bytes, text: bytes, rest: bytes) -> None:
    assert text[tags.raw_text_end(element, text, 0, len(text)) :] == rest


_PIECES = [
    *(b"<a", b"<b", b"</a", b"</", b"<", b">", b"<!--", b"-->", b"--!>", b"-", b"!", b"<!", b"<?"),
    *(b" ", b"\n", b"/", b"=", b"'", b'"', b"x", b"y", b" href", b"X", b"\xe9", b"\x0b", b"`"),
]
_inside = st.lists(st.sampled_from([*_PIECES[13:], b" x=y", b" y='>'"]), max_size=6).map(b"".join)
_tag = _inside.map(b"<a x%b>".__mod__)
soup = st.lists(st.one_of(_tag, _tag, st.sampled_from(_PIECES)), max_size=12).map(b"".join)

Tag = tuple[str, dict[str, str]]


def start_tags(text: str) -> list[Tag]:
    """Return the start tags as html5lib's tokenizer has them in the data state."""
    start_tag = 3
    return [
        (token["name"], dict(token["data"]))
        for token in HTMLTokenizer(text)
        if token["type"] == start_tag
    ]


def seen(text: bytes) -> list[Tag]:
    """Return the start tags as relbase has them."""
    return [
        (
            element.name.decode("latin-1"),
            {
                found.name.decode("latin-1"): text[found.start : found.end].decode("latin-1")
                for found in tags.attributes(text, element.attributes, element.end).values()
            },
        )
        for element in tokens.elements(text, 0, len(text))
        if isinstance(element, tokens.Element)
    ]


def test_start_tags_are_those_of_another_tokenizer() -> None:
    counts: Counter[bool] = Counter()

    @settings(max_examples=400)
    @given(soup)
    def law(text: bytes) -> None:
        found = seen(text)
        counts[any(attributes for _, attributes in found)] += 1
        assert found == start_tags(text.decode("latin-1"))

    law()
    assert counts[True] >= 0.3 * counts.total(), counts


@pytest.mark.parametrize("excluded", [b"", b'"', b'"<', b"\0", b"\xff", b"\0\xff", b"ab]^\\-"])
def test_a_set_of_all_bytes_but_some(excluded: bytes) -> None:
    found = re.findall(tags.all_but(excluded), bytes(range(0x100)))
    assert b"".join(found) == bytes(set(range(0x100)) - set(excluded))


# The tokens of a head: comments and tags before the body, none of them in raw text.


@cases(TABLES, "heads", page=bytes, tokens=pairs)
def test_head_tokens(page: bytes, tokens: list[tuple[str, str]]) -> None:
    found = [(token.name, page[token.start : token.end]) for token in tags.head_tokens(page)]
    assert [(name.decode(), text.decode()) for name, text in found] == tokens


HEADS = [
    *(b"", b"x"),
    b"<!doctype html>\n<html lang=en><head><!-- a --><meta a='>'>x<title>y</title> z</head> <body>",
    b"<html><!--><!---><!-- a --!><link><base href=x></head ><? x ><!x>",
    b"<html>a < b <1 <script>'<!--<script></script>'</script><meta><style>p</style><p><meta>",
    *(b"<HTML><Meta\n/a = b/><metal><meta>", b"<html><!-- a", b"<html><meta a", b"<html></x"),
    *(b"<html></p a='>'><meta></p/><link>", b"<html></p a='><meta>"),
    *(b"<html><!x", b"<html><noscript><link></noscript><link/><title>"),
]


@pytest.mark.parametrize("page", HEADS)
@pytest.mark.parametrize("name", SCANNERS)
def test_head(page: bytes, name: str) -> None:
    page = b" " * (1 << 14) + page  # a shorter one is looked through as a whole
    tokens = [*tags.head_tokens(page)]
    end = tokens[-1].raw_end if tokens else 0
    without = bytearray(page[:end])
    for token in reversed(tokens):
        del without[token.after : token.raw_end]
    with scanning(name):
        assert head(page) == (end, bytes(without))


MARKS = Marks((b"<!--<base", b"( a"), (b"a-b",), (b"__x(",), ())
MARKED = (
    b"<!doctype html><!--( a --><html A-B=c><!--<base>--><meta a-c><script>__x(</script><Meta a-b"
)


@pytest.mark.parametrize("page", [*HEADS, MARKED, MARKED + b">", MARKED + b"><p><!--( a-->"])
@pytest.mark.parametrize("name", SCANNERS)
def test_the_tokens_that_may_hold_a_mark(page: bytes, name: str) -> None:
    may_hold = [
        token
        for token in tags.head_tokens(page)
        if any(word in page[token.start - 4 : token.after] for word in MARKS.in_comments)
        or (token.name and b"a-b" in page[token.start : token.after].lower())
        or b"__x(" in page[token.after : token.raw_end]
    ]
    with scanning(name):
        tokens = [*marked(MARKS, page)]
    assert [token for token in tokens if token in may_hold] == may_hold
    if name == COMPILED:
        assert tokens == may_hold
