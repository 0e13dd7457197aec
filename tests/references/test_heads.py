"""The tokens of a head: comments and tags before the body, none of them in raw text."""

from __future__ import annotations

import pytest
from scanners import SCANNERS, scanning

from relbase.references.scanner import head
from relbase.references.tags import head_tokens


@pytest.mark.parametrize(
    ("page", "tokens"),
    [
        (
            b"<!doctype html><!--a--><html x><head>",
            [(b"", b"a"), (b"html", b" x>"), (b"head", b">")],
        ),
        (b"<title><!--a--></title><!--b-->", [(b"title", b">"), (b"", b"b")]),
        (b"<script>'<!--a-->'</script><!--b--!>", [(b"script", b">"), (b"", b"b-")]),
        (b"<?x?></p ><!--a", [(b"", b"")]),
        (b"<!--a--><body><!--b-->", [(b"", b"a")]),
        (b"<meta <!--a-->", [(b"meta", b" <!--a-->")]),
        (b"<meta a=1><p><meta b>", [(b"meta", b" a=1>")]),
    ],
)
def test_head_tokens(page: bytes, tokens: list[tuple[bytes, bytes]]) -> None:
    found = [(token.name, page[token.start : token.end]) for token in head_tokens(page)]
    assert [name for name, _ in found] == [name for name, _ in tokens]
    assert all(
        text.startswith(inside[:1]) for (_, text), (_, inside) in zip(found, tokens, strict=True)
    )


HEADS = [
    *(b"", b"x"),
    b"<!doctype html>\n<html lang=en><head><!-- a --><meta a='>'>x<title>y</title> z</head> <body>",
    b"<html><!--><!---><!-- a --!><link><base href=x></head ><? x ><!x>",
    b"<html>a < b <1 <script>'<!--<script></script>'</script><meta><style>p</style><p><meta>",
    *(b"<HTML><Meta\n/a = b/><metal><meta>", b"<html><!-- a", b"<html><meta a", b"<html></x"),
    *(b"<html><!x", b"<html><noscript><link></noscript><link/><title>"),
]


@pytest.mark.parametrize("page", HEADS)
@pytest.mark.parametrize("name", SCANNERS)
def test_head(page: bytes, name: str) -> None:
    page = b" " * (1 << 14) + page  # a shorter one is looked through as a whole
    tokens = [*head_tokens(page)]
    end = tokens[-1].raw_end if tokens else 0
    without = bytearray(page[:end])
    for token in reversed(tokens):
        del without[token.after : token.raw_end]
    with scanning(name):
        assert head(page) == (end, bytes(without))
