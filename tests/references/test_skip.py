"""What the exact walk passes over: nothing that `html.elements` would have to tell."""

from __future__ import annotations

import pytest

from relbase.references.skip import skipping

TOKENS = [
    b'<p class="a">',
    b"text </a > text < text",
    b"<P CLASS=a ID='b' c>",
    b"<br/>",
    b'<p title="<a href=x>">',
    b"<!-- <a href=x> --><!-- - -- -->",
    b'<p style="a:b; c:#fff">',
    b"<svgs><titles><templated></templated>",
]


@pytest.mark.parametrize("text", TOKENS)
@pytest.mark.parametrize("absolute", [False, True])
def test_what_is_passed_over(text: bytes, *, absolute: bool) -> None:
    # A `<` that begins no markup is for the tokenizer.
    end = text.rfind(b"< ") if b"< " in text else len(text)
    for scan in (skipping(extended=extended, absolute=absolute) for extended in (False, True)):
        assert scan(text, 0, len(text), False, False) == ([], end)


LOOKED_AT = [
    b"<a href=x>",
    b"<A ID=b HREF=x>",
    b'<p style="a:url(x)">',
    b'<p style="a:u\\72l&#40;x)">',
    b"<p STYLE=a>",
    b"<script>",
    b"<style>",
    b"<svg>",
    b"<math/>",
    b"<template>",
    b"</template>",
    b"</Template >",
    b"<frameset>",
    b"<base>",
    b"<noscript>",
    b"<!--[if IE]>-->",
    b"<!-->",
    b"<!--->",
    b"<!doctype html>",
    b"<a b",
    b"<a b='",
    b"<!-- ",
]


@pytest.mark.parametrize("text", LOOKED_AT)
def test_what_is_looked_at(text: bytes) -> None:
    for absolute in (False, True):
        scan = skipping(extended=False, absolute=absolute)
        assert scan(b"<p>" + text, 0, len(text) + 3, False, False) == ([], 3)


def test_absolute_references_are_passed_over_where_none_is_listed() -> None:
    text = b'<a id=b href="http://a/"><img src="https://a/b?c&amp;d" alt=""><p>'
    assert skipping(extended=False, absolute=True)(text, 0, len(text), False, False) == (
        [],
        len(text),
    )
    assert skipping(extended=False, absolute=False)(text, 0, len(text), False, False) == ([], 0)


def test_rows_of_the_policy_extended() -> None:
    text = b"<p data-src=x>"
    assert skipping(extended=False, absolute=False)(text, 0, 14, False, False) == ([], 14)
    assert skipping(extended=True, absolute=False)(text, 0, 14, False, False) == ([], 0)


def test_nothing_beyond_the_end_is_passed_over() -> None:
    text = b"<p><b class=x>"
    for end in range(4, 13):
        assert skipping(extended=False, absolute=True)(text, 0, end, False, False) == ([], 3)
