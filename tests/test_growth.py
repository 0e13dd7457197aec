"""Hostile documents through `relbase.rewrite`: the time grows with the document, no faster.

The rows are those of the threat model for HTML (H1 to H8, H13) and for what is inside of attributes
(A1 to A3, A8). Sizes are small so that the whole file is quick; quadratic time shows at any size.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

import growth
import pytest
from growth import assert_linear, assert_linear_from_10_ms
from memory import SLACK, memory_of, needs_status

import relbase

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

URL: Final = "http://h.example/d/p.html"


def repeated(unit: bytes, before: bytes = b"", after: bytes = b"") -> Callable[[int], bytes]:
    """Return a maker of documents that repeat a unit up to a size."""
    return lambda size: before + unit * (size // len(unit)) + after


def numbered(unit: bytes, before: bytes = b"", after: bytes = b"") -> Callable[[int], bytes]:
    """Return a maker of documents that repeat a unit with ever another number in it."""
    length = len(unit) + 4
    return lambda size: before + b"".join(unit % i for i in range(size // length)) + after


def srcdocs(size: int) -> bytes:
    """Nest srcdoc attributes, each of which escapes the ones inside it."""
    text = b"<a href=x>"
    while len(text) < size:
        inside = text.replace(b"&", b"&amp;").replace(b'"', b"&quot;")
        text = b'<iframe srcdoc="' + inside + b'"></iframe>'
    return text


_RAW_TEXT: Final = (
    *("title", "textarea", "script", "style", "xmp", "iframe", "noembed", "noframes", "noscript"),
)

ROWS: Final[dict[str, Callable[[int], bytes]]] = {
    # H1: one tag that never ends
    "H1 <a <a": repeated(b"<a "),
    "H1 <a": repeated(b"<a"),
    # H2: what is not closed is a comment to the end, or closes at once
    "H2 <!--": repeated(b"<!--"),
    "H2 <!": repeated(b"<!"),
    "H2 <?": repeated(b"<?"),
    "H2 </": repeated(b"</"),
    "H2 </$": repeated(b"</$"),
    "H2 <![CDATA[": repeated(b"<![CDATA["),
    "H2 <svg><![CDATA[": repeated(b"<![CDATA[", b"<svg>"),
    "H2 <![CDATA[]]>": repeated(b"<![CDATA[]]>", b"<svg>"),
    "H2 <!doctype": repeated(b"<!doctype"),
    "H2 <!---->": repeated(b"<!---->"),
    "H2 <!--[if IE]>": repeated(b"<!--[if IE]>"),
    "H2 <!--[if IE]><a href=x>-->": repeated(b"<!--[if IE]><a href=x>-->"),
    "H2 <!-- - -": repeated(b"- -!", b"<!--"),
    # H3: attributes
    "H3 one attribute": repeated(b"b ", b"<a ", b">"),
    "H3 one attribute, unclosed": repeated(b"b ", b"<a "),
    "H3 distinct attributes": numbered(b"b%d=1 ", b"<a ", b" href=x>"),
    "H3 href again": repeated(b"href=x ", b"<a ", b">"),
    "H3 equals signs": repeated(b"=", b"<a ", b">"),
    "H3 slashes": repeated(b"/", b"<a ", b">"),
    "H3 quotes": repeated(b"a=\"'\" b='\"'", b"<a ", b" href=x>"),
    # H4: raw text
    **{
        f"H4 {name}": repeated(f"</{name[:-1]}".encode(), f"<{name}>".encode())
        for name in _RAW_TEXT
    },
    "H4 plaintext": repeated(b"<a href=x>", b"<plaintext>"),
    "H4 raw text elements": repeated(b"<title></title><xmp><a></xmp><script></script>"),
    "H4 unclosed titles": repeated(b"<title>"),
    "H4 unclosed noscripts": repeated(b"<noscript><a href=x>"),
    "H4 noscripts": repeated(b"<noscript><a href=x></noscript>"),
    "H4 script escapes": repeated(b"<script", b"<script><!--"),
    "H4 double escapes": repeated(b"<script> </script> ", b"<script><!--"),
    "H4 escapes that end": repeated(b"<!--<script>-->", b"<script>"),
    "H4 unescaped": repeated(b"<!--", b"<script>"),
    # H5, H6: deep trees
    "H5 div": repeated(b"<div>"),
    "H5 misnested": numbered(b"<b %d><i></b>"),
    "H5 a div": repeated(b"<a><div>"),
    "H5 table": repeated(b"<table>"),
    "H5 font": repeated(b"<font>"),
    "H5 svg": repeated(b"<svg>"),
    "H5 svg g": repeated(b"<g>", b"<svg>"),
    "H5 svg g /g": repeated(b"<g></g>", b"<svg>"),
    "H5 stray end tags": repeated(b"</x>", b"<svg>" + b"<g>" * 1000),
    "H5 stray HTML end tags": repeated(b"</b>", b"<svg>" + b"<foreignObject>" * 1000),
    "H5 foreignObject": repeated(b"<svg><foreignObject><p>"),
    "H5 breakouts": repeated(b"<svg><g><p>"),
    "H5 integration points": repeated(b"<foreignObject><div></foreignObject>", b"<svg>"),
    "H5 svg style": repeated(b"<style>a{b:url(x)}</style>", b"<svg>"),
    "H5 svg style, CDATA": repeated(b"<![CDATA[a{b:url(x)}]]>", b"<svg><style>"),
    "H5 math": repeated(b"<mi><mglyph></mi>", b"<math>"),
    "H5 end tags from outside": repeated(b"<div><svg></div>"),
    "H5 end tags from nowhere": repeated(b"<svg></div>"),
    "H5 end tags inside": repeated(b"<desc><b></desc>", b"<b><svg>"),
    "H5 template": repeated(b"<template><svg></template>"),
    "H5 frameset": repeated(b"<p>", after=b"<frameset>"),
    "H5 framesets": repeated(b"<frameset>"),
    "H5 framesets in noscripts": repeated(b"<noscript><frameset></noscript>"),
    "H5 framesets in comments": repeated(b"<!--[if IE]><frameset><![endif]-->"),
    "H5 text before framesets": repeated(b"<frameset>", b"x"),
    "H5 comments before a frameset": repeated(b"<!-- - -->", after=b"<frameset>"),
    "H6 a link in the deep": repeated(b"<div>", after=b"<a href=x>"),
    # H7: character references
    "H7 &": repeated(b"&", b'<a href="', b'">'),
    "H7 digits": repeated(b"1", b'<a href="&#', b'">'),
    "H7 hex digits": repeated(b"F", b'<a href="&#x', b';">'),
    "H7 &#0;": repeated(b"&#0;", b'<a href="', b'">'),
    "H7 &#xD800;": repeated(b"&#xD800;", b'<a href="', b'">'),
    "H7 &notit;": repeated(b"&notit;", b'<a href="', b'">'),
    "H7 &amp;": repeated(b"&amp;", b'<a href="', b'">'),
    "H7 many values": repeated(b'<a href="?a=1&amp;b=2">'),
    # H8: long values
    "H8 unclosed": repeated(b"x", b'<a href="'),
    "H8 closed": repeated(b"x", b'<a href="', b'">'),
    "H8 dots": repeated(b"../", b'<a href="', b'">'),
    "H8 segments and dots": repeated(b"a/../", b'<a href="', b'">'),
    "H8 quoted": repeated(b"<a href='x'>"),
    "H8 many": repeated(b"<a href=x>"),
    "H8 empty": repeated(b"<a href>"),
    "H8 bases": repeated(b"<base href=x>"),
    "H8 late base": repeated(b"<a href=x>", after=b"<base href=/>"),
    # H13
    "H13 srcdoc": srcdocs,
    "H13 many srcdocs": repeated(b'<iframe srcdoc="&lt;a href=x>"></iframe>'),
    "H13 one srcdoc": repeated(b"&lt;a href=x>", b'<iframe srcdoc="', b'">'),
    # A1: srcset
    "A1 candidates": repeated(b"a 1x,", b'<img srcset="', b'">'),
    "A1 escaped candidates": repeated(b"a&#32;1x,", b'<img srcset="', b'">'),
    "A1 commas": repeated(b",", b'<img srcset="', b'">'),
    "A1 spaces": repeated(b" ", b'<img srcset="', b'">'),
    "A1 parentheses": repeated(b"(", b'<img srcset="a ', b'">'),
    "A1 digits": repeated(b"9", b'<img srcset="a ', b'w">'),
    "A1 data": repeated(b"data:,x,y 1x, ", b'<img srcset="', b'">'),
    "A1 parentheses that close": repeated(b"(a)", b'<img srcset="a ', b'">'),
    "A1 descriptors": repeated(b"1 ", b'<img srcset="a ', b'">'),
    "A1 commas at the end": repeated(b",", b'<img srcset="a', b'">'),
    "A1 controls": repeated(b"\x01", b'<img srcset="', b'a">'),
    "A1 archive": repeated(b" ,", b'<applet archive="', b'">'),
    "A1 ping": repeated(b"x ", b'<a ping="', b'">'),
    # A2: CSS
    "A2 url(": repeated(b"url(", b"<style>", b"</style>"),
    "A2 url('": repeated(b"url('", b"<style>", b"</style>"),
    "A2 spaces": repeated(b" ", b"<style>url('", b"</style>"),
    "A2 escapes": repeated(rb"\75rl(x) ", b"<style>", b"</style>"),
    "A2 backslashes": repeated(b"\\", b"<style>url(", b"</style>"),
    "A2 comments": repeated(b"/*", b"<style>", b"url(x)</style>"),
    "A2 imports": repeated(b"@import 'x';", b"<style>", b"</style>"),
    "A2 image-set": repeated(b"image-set(", b"<style>", b"'x'</style>"),
    "A2 braces": repeated(b"{}", b"<style>", b"url(x)</style>"),
    "A2 urls": repeated(b"a{b:url(x)}", b"<style>", b"</style>"),
    "A2 style attributes": repeated(b"<p style='b:url(x)'>"),
    "A2 one style attribute": repeated(b"b:url(&quot;x&quot;);", b'<p style="', b'">'),
    "A2 style elements": repeated(b"<style>@import 'x'</style>"),
    "A2 unclosed strings": repeated(b"'\n", b"<style>", b"url(x)</style>"),
    # A3: refresh
    "A3 spaces": repeated(b" ", b'<meta http-equiv=refresh content="0;url=', b'x">'),
    "A3 spaces before url": repeated(b" ", b'<meta http-equiv=refresh content="0', b'url=x">'),
    "A3 digits": repeated(b"1", b'<meta http-equiv=refresh content="', b';url=x">'),
    "A3 dots": repeated(b".", b'<meta http-equiv=refresh content="0', b';url=x">'),
    "A3 spaces after url": repeated(b" ", b'<meta http-equiv=refresh content="0;url', b'=x">'),
    "A3 quotes": repeated(b"'\"", b'<meta http-equiv=refresh content="0;url=', b'">'),
    "A3 many": repeated(b"<meta http-equiv=refresh content='0;url=x'>"),
}


def rewrite(data: bytes, url: str = URL) -> relbase.Result:
    return relbase.rewrite(data, url=url, kind="html")


@pytest.mark.parametrize("name", ROWS)
def test_time_is_linear(name: str) -> None:
    assert_linear_from_10_ms(rewrite, ROWS[name])


# The measure itself: by a clock that functions put on, from a cost of 1 µs each.
@pytest.mark.parametrize(
    ("cost", "passes"),
    [
        (lambda size: size, True),
        (lambda size: size + 20_000, True),  # what is loaded
        (lambda size: size * size.bit_length(), True),
        (lambda size: size * size / 256, False),
        (lambda size: size + size * size / 8192, False),  # what is linear hides the rest at first
    ],
)
def test_what_is_quadratic_is_seen(
    cost: Callable[[int], float],
    passes: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]

    def run(size: int) -> None:
        clock[0] += cost(size) / 1_000_000

    monkeypatch.setattr(growth, "process_time", lambda: clock[0])
    expected = nullcontext() if passes else pytest.raises(AssertionError, match="the time grows by")
    with expected:
        assert_linear_from_10_ms(run, int)
    with expected:
        assert_linear(run, int, (20_000, 40_000))


# N1: a base that is as long as all of the references on it.
BASES: Final = {"a/../": "../x", "./": "../x", "aaaa": "../x", "../": "/x", "a/": "/x"}


@pytest.mark.parametrize("profile", list(relbase.Profile))
@pytest.mark.parametrize("repeated_in_base", BASES)
def test_n1_time_is_linear_with_dot_segments_in_the_base(
    repeated_in_base: str, profile: relbase.Profile
) -> None:
    def make(size: int) -> bytes:
        base = repeated_in_base * (size // 2 // len(repeated_in_base))
        links = f'<a href="{BASES[repeated_in_base]}">' * (size // 30)
        return f'<base href="http://h.example/{base}/">{links}'.encode()

    def rewrite_it(data: bytes) -> None:
        relbase.rewrite(data, kind="html", profile=profile)

    # Of shorter ones the output, of references as long as the base, is within the limit of growth.
    assert_linear_from_10_ms(rewrite_it, make, 1 << 17)


def test_n9_time_is_linear_with_redirects() -> None:
    def base(redirects: list[str]) -> None:
        relbase.base(b"", url="http://h.example/", redirects=redirects)

    assert_linear_from_10_ms(base, lambda size: ["a/"] * size)


@pytest.mark.parametrize("length", [1 << 10, 1 << 16, 1 << 20])
def test_a8_time_is_linear_with_a_long_base(length: int) -> None:
    url = f"http://h.example/{'d' * length}/"
    assert_linear(lambda data: rewrite(data, url), ROWS["H8 quoted"], (1 << 14, 1 << 15), 3)


@pytest.mark.parametrize("call", [relbase.rewrite, lambda *a, **k: [*relbase.links(*a, **k)]])
def test_a8_past_the_budget_nothing_more_is_resolved(call: Callable[..., object]) -> None:
    """A base as long as the document, and many references: kept ones are not resolved either."""

    def make(size: int) -> bytes:
        base = b"<base href='http://h.example/" + b"d" * (size // 2) + b"/'>"
        return base + b"<a href='x'><a href='#k'>" * (size // 50)

    policy = relbase.Policy(keep_fragments=True)
    assert_linear(lambda data: call(data, kind="html", policy=policy), make, (1 << 20, 1 << 21), 3)


_LONG: Final = f"http://h.example/{'d' * (1 << 19)}/"

# name: maker, MB, URL. What takes long is smaller.
MEMORY: Final[dict[str, tuple[Callable[[int], bytes], float, str]]] = {
    **{
        name: (ROWS[name], 2, URL)
        for name in (
            *("H1 <a <a", "H2 <!--", "H3 one attribute", "H4 script escapes", "H5 div"),
            *("H7 &", "H7 &amp;", "H8 closed", "H8 dots", "H8 quoted", "A1 spaces"),
        )
    },
    **{
        name: (ROWS[name], 0.5, URL)
        for name in ("H5 svg g", "A1 candidates", "A2 urls", "H13 one srcdoc")
    },
    "A8 quoted": (ROWS["H8 quoted"], 2, _LONG),
    "A8 unquoted": (ROWS["H8 many"], 0.5, _LONG),
    "benign": (repeated(b"<div class='a'>text <a href='/x/y'>text</a></div>\n" * 10), 2, URL),
}


@needs_status
@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_bounded(name: str, tmp_path: Path) -> None:
    """Law 9: at most 6 times what comes in and goes out, and what does not grow."""
    make, megabytes, url = MEMORY[name]
    used = memory_of(tmp_path, make(int(megabytes * (1 << 20))), url, "html")
    assert used.taken > 1 << 18
    assert used.grown <= 6 * (used.taken + used.given) + SLACK


# What one element, rule or field holds many of: (maker, kind).
LISTED: Final = {
    "srcset": (ROWS["A1 candidates"], "html"),
    "ping": (ROWS["A1 ping"], "html"),
    "style": (ROWS["A2 urls"], "html"),
    "speculation rules": (
        repeated(
            b'"x",', b'<script type=speculationrules>{"prefetch":[{"urls":[', b'"y"]}]}</script>'
        ),
        "html",
    ),
    "Link": (repeated(b"<x>;rel=a,", b"HTTP/1.1 200 OK\r\nLink: ", b"<x>\r\n\r\n<p>"), "http"),
    "ISO-2022-JP": (
        repeated(b'<a href="x">\x1b$B$"\x1b(B</a>', b"<meta charset=iso-2022-jp>"),
        "html",
    ),
    "List-Help": (repeated(b"<x>,", b"From: a@b.example\nList-Help: ", b"<x>\n\nx"), "mail"),
}


@needs_status
@pytest.mark.parametrize("name", LISTED)
def test_memory_is_bounded_where_links_are_listed(name: str, tmp_path: Path) -> None:
    """Law 9 by its slope: what one element or field holds is handed on as it is found."""
    make, kind = LISTED[name]
    small, large = (memory_of(tmp_path, make(size << 19), URL, kind, "links") for size in (1, 3))
    assert 0 < large.grown <= 6 * large.taken + SLACK
    assert large.grown - small.grown <= 6 * (large.taken - small.taken)
