from __future__ import annotations

from itertools import pairwise

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from scanners import assert_agreed

import relbase
from relbase.edit import Edit, splice
from relbase.references.css import CssReference, references
from relbase.references.css_escapes import css_view
from relbase.references.css_functions import Form


def urls(text: bytes) -> list[bytes]:
    """Return the references as they are written."""
    return [text[found.start : found.end] for found in references(text)]


def meanings(text: bytes) -> list[str]:
    """Return the references as they are meant."""
    return [
        css_view(text[found.start : found.end], found.quote).inner.decode("utf-8", "replace")
        for found in references(text)
    ]


# [C]: Chromium 156 does so, seen in `cssRules`, `style.cssText` and computed styles.
ROWS = [
    # css-syntax §4.3.6: url tokens
    (b"a{b:url(x)}", [b"x"]),
    (b"URL(x)uRl(y)", [b"x", b"y"]),
    (b"url( \t\r\n\fx \f)", [b"x"]),  # [C]
    (b"url(a b) url(c)", [b"c"]),  # bad url [C]
    (b"url(a(b) ; x url(n)", [b"n"]),  # the remnants end at the first ) [C]
    (b"url(a\"b)url(a'b)url(c)", [b"c"]),
    (rb"url(a\)b)", [rb"a\)b"]),  # [C]
    (rb"url(a b\) url(n)) url(c)", [b"c"]),
    (b"url(a\\\nb) url(c)", [b"c"]),  # [C]
    (b"url(a\x01b)url(a\x7fb)url(c)", [b"c"]),  # [C]
    (b"url(a\0b)", [b"a\0b"]),  # read as U+FFFD [C]
    (b"url(/**/x)", [b"/**/x"]),  # no comment [C]
    (b"url(data:a;b,c) url(d)", [b"data:a;b,c", b"d"]),
    # §4.3.4: a url function; white space, but no comment, before its string
    (b"url('x') url( \n\"y\" )", [b"x", b"y"]),
    (b"url('x'/**/)", [b"x"]),  # [C]
    (b"url(/**/'x') url(c)", [b"c"]),  # [C]
    (b"url('x' y) url('z'", [b"x", b"z"]),  # modifiers: css-values-4 §4.5.4
    (b"url('a)b')", [b"a)b"]),
    (b"url(' x\t')", [b"x"]),  # [C]: the URL parser drops it
    # §4.3.5: strings
    (b"url('a\\\nb')", [b"a\\\nb"]),  # [C]
    (b"url('a\nb) url(c)", [b"c"]),  # [C]: a bad string
    (b"url('\\41\nb')", [b"\\41\nb"]),  # the escape takes the newline [C]
    (b"url('\\41 ')url('b\\ ')", [b"\\41 ", b"b\\ "]),  # the space is the escape's
    (rb"""url("a\"b")""", [rb"a\"b"]),
    # §4.3.6 and §4.3.5 at the end of the text: a parse error, but a url
    (b"url(x", [b"x"]),  # [C]
    (b"url(x ", [b"x"]),
    (b"url('x", [b"x"]),  # [C]
    (b'a:url(")', [b")"]),  # [C]: a string, to the end
    (b"url('x'", [b"x"]),  # [C]
    (b"url('x\\", [b"x\\"]),  # [C]
    (b"url(x\\", [b"x\\"]),  # [C]
    (b"url(x /* ", []),  # [C]
    (b"@import 'x", [b"x"]),  # [C]
    (b"@import url(x", [b"x"]),  # [C]
    # rule 6: what is empty is not a reference
    (b"url()url( )url('')url(' ')url(", []),
    (rb"url('\20 ')", []),
    (b"url('\\\n')", []),
    (b"@import ''; @import url()", []),
    # §4.3.7: escapes in names
    (rb"\75rl(x) u\72l(x) ur\6c (x) \url(x) U\Rl(x) \000075 rl(x)", [b"x"] * 6),  # [C]
    (b"\\75\nrl(x) \\75\r\nrl('y')", [b"x", b"y"]),
    (rb"\75  rl(x) u\ rl(x) \7 url(x) \:url(x)", []),
    (rb"\00075rl(x) \0000075rl(x)", [b"x"]),
    (b"\\\nurl(x)", [b"x"]),  # a delimiter
    (rb"ima\67 e-set('x') ima\000067e-set('y')", [b"x", b"y"]),
    (rb"\1f600 url(x)\31 url(x)\41url(x)", []),
    # §4.3.11, §4.3.3, §4.3.1: names and numbers that end in url, hashes and at-keywords
    (b"xurl(a)-url(a)_url(a)1url(a)1e3url(a)#url(a)@url(a)\xc3\xa9url(a)\0url(a)--url(a)", []),
    (b"1.url(a)+url(b),url(c)!url(d)%url(e)/url(f)>url(g)", [*map(bytes, zip(b"abcdefg"))]),
    (rb"#\75rl(a)@\75rl(a)1\75rl(a)", []),
    (b"url (x) ur l(x) url/**/(x)", []),
    (b"<!--url(x) <!-url(y)", [b"x"]),  # a CDO; a name
    (b"-->url(x)", [b"x"]),
    # comments and other strings
    (b"/* url(x) */ url(y) /* url(z)", [b"y"]),
    (b"'url(x)' \"url(y)\" 'a\\'url(z)'", []),
    (b"'a\nurl(x)'url(y)", [b"x"]),
    (b"/**/url(x)/***/url(y)/*/url(z)/*/", [b"x", b"y"]),
    # css-values-4 §4.5: src() takes a string only
    (b"src('x') SRC( /**/ \"y\") src(z) src(var(--s))", [b"x", b"y"]),
    # css-cascade-5 §2: @import
    (b"@import 'x';@IMPORT \"y\" print;@import url(z);@import src('w')", [b"x", b"y", b"z", b"w"]),
    (b"@import/**/'x';@import'y'", [b"x", b"y"]),  # [C]
    (rb"@\69mport 'x';@im\70ort \75rl(y)", [b"x", b"y"]),  # [C]
    (b"<!-- @import 'x'; --> @import 'y';", [b"x", b"y"]),  # [C]
    (b"\xef\xbb\xbf@import 'x'", [b"x"]),
    (b"@charset 'n'; @layer a; @import 'x';", [b"x"]),  # [C]
    (b"@import 'x' layer(a) supports(b: url(c)) 'n';", [b"x", b"c"]),
    (b"@import 'a\nb; @import 'x'", [b"x"]),
    (b"@import n 'x'; @import (;) 'x'; @importx 'x'; @import;'x'", []),
    (b"a @import 'x'; b: @import 'x'; @media @import 'x';", []),
    (b"(; @import 'x'; ) [; @import 'x' ]; @import 'y'", [b"y"]),
    (b"(; @import 'x'", []),  # [C]
    (b"a { c: d; @import 'x' } @import 'y'", [b"x", b"y"]),
    # rule 9: @namespace never
    (b"@namespace 'n'; @namespace p url(n); @\\6e amespace url(n); a{b:url(x)}", [b"x"]),  # [C]
    (b"@namespace (;) url(n)}url(x); @namespace url(n){url(y)}", [b"x", b"y"]),
    (b"@namespaces url(x)", [b"x"]),
    # css-images-4 §2.4: image-set()
    (b"image-set('x' 1x, url(y) 2x, \"z\" type('image/png'))", [b"x", b"y", b"z"]),  # [C]
    (b"-webkit-image-set('x' 1x)-moz-image-set('n' 1x)", [b"x"]),  # [C]
    (b"image-set(;'x' 1x)", [b"x"]),
    (b"image-set(('n') 1x, [ 'n' ], {'n'}, f('n'), 'x') 'n'", [b"x"]),  # [C]
    (b"image-set(/*'n'*/'x' 1x, image-set('b'))", [b"x", b"b"]),
    (b"image-set('x'", [b"x"]),
    # strings that are not URLs
    (b"@font-face{src:local('n'),url(x) format('n') tech(n),url('y')}", [b"x", b"y"]),  # [C]
    (b"@supports (b: url(x)) and selector('n') {}", [b"x"]),
    (b"a[b='url(n)'] { content: attr(c, 'n') 'n' }", []),
    (b"@document url(x), url-prefix('n'), domain(n) {}", [b"x"]),
    # brackets in disorder
    (b"}}}a{b:url(x)}}}{{url(y)", [b"x", b"y"]),
    (b"a{b:(]}url(x)", [b"x"]),
    (b"foo(bar(url(x), (1 + (2 * (3 + (4))))), url(y))", [b"x", b"y"]),
    (b"filter:progid:A.B(src='n',m='s') url(x)", [b"x"]),
]


@pytest.mark.parametrize(("text", "found"), ROWS)
def test_references(text: bytes, found: list[bytes]) -> None:
    assert urls(text) == found
    for around in (b"%b", b"a{b:url(c)}%b", b"%b\n;d{e:url('../f')}"):
        assert_agreed(around % text, url="http://h/i/j", kind="css")


def test_filters_of_internet_explorer() -> None:
    loader = b"a{filter:progid:DXImageTransform.Microsoft.AlphaImageLoader(%b)} b{c:url(d)}"
    for arguments, found in [
        (b"src='x.png',sizingMethod='scale'", [b"x.png"]),
        (b'enabled=true, sizingMethod=scale , SRC = "x" ', [b"x"]),
        (b"sizingMethod='src=(', src='x'", [b"x"]),
        (b"xsrc='x'", []),
        (b"src=''", []),
        (b"src=x", []),
    ]:
        text = loader % arguments
        assert urls(text) == [*found, b"d"]
        forms = [reference.form for reference in references(text)]
        assert forms == [*[Form.FILTER for _ in found], Form.URL]


CUSTOM = [
    # css-syntax §5.4.6, rule 9; [C] for each
    (b"--x:url(c)", "c"),
    (b"--x : url(c); d: url(n); --y/**/:url(c)", "cnc"),
    (b":root{--x:{a:b;c:d} url(c);e:url(n)}", "cn"),
    (b"a{--x:url(c)}b{c:url(n)}", "cn"),
    (b"a{--x:(;url(c);}) url(c);e:url(n)}", "ccn"),
    (b"a{--x:rgba(1,2,3);b:url(n);--y:'url(z)';c:url(n);--z:b(c(d(e(url(c)))))}", "nnc"),
    (rb"\--x:url(c);-\-x:url(c);\2d-x:url(c);\2d\2D x:url(c);-\x:url(n)", "ccccn"),
    (b"a{b:--x url(n);c:(;--x:url(n));d:[;--x:url(n)]}", "nnn"),
    (b"a{b:var(--x,url(n));-x:url(n)}", "nn"),
    (b"a{--x;b:url(n);--y{c:url(n)}}", "nn"),
    (b"<!-- --x:url(c) -->;/* */ --y:url(c)", "cc"),
    (b"a{--x:image-set('c');--y:src('c')}", "cc"),
    (b"a{--x:url(c)", "c"),
    # css-conditional-5 §4.3 style queries: compared with a declaration, as it is written
    (b"@container style(--x:url(c)){a{b:url(n)}}b{c:url(n)}", "cnn"),
    (b"@Container n (min-width:1px) and style(--x:url(c) ) { a{--y:url(c)} }", "cc"),
    (rb"a{b:c}@c\6fntainer style(--x:url('c'));b{c:url(n)}", "cn"),
    (b"@supports (b:url(n)){}@containers style(--x:url(n)){}", "nn"),
]


@pytest.mark.parametrize(("text", "kinds"), CUSTOM)
def test_custom_properties(text: bytes, kinds: str) -> None:
    assert "".join("c" if found.custom else "n" for found in references(text)) == kinds
    assert b"".join(urls(text)).decode() == kinds


LOCAL = [
    # css-values-4 §4.5.2, rule 8
    (b"url(#a)", True),  # [C]
    (b"url( '#a' )", True),  # [C]
    (rb"url(\#a)", True),  # [C]
    (rb"url('\23 a')", True),
    (b"url(' #a')", False),  # [C]: resolved, it names the document around it
    (b"url(a#b)", False),
    (b"url(?#a)", False),
]


@pytest.mark.parametrize(("text", "local"), LOCAL)
def test_local_references(text: bytes, local: bool) -> None:  # noqa: FBT001
    assert [found.local for found in references(text)] == [local]


def test_what_a_reference_says_about_itself() -> None:
    text = b"@import 'a';@import url(b);@import src(\"c\");d{e:url(f)image-set(\"g\" 1x)src('h')}"
    assert [(text[start:end], quote, form) for start, end, quote, form, *_ in references(text)] == [
        (b"a", b"'", Form.IMPORT),
        (b"b", b"", Form.IMPORT),
        (b"c", b'"', Form.IMPORT),
        (b"f", b"", Form.URL),
        (b"g", b'"', Form.IMAGE_SET),
        (b"h", b"'", Form.SRC),
    ]


# --- Laws ---

PIECES = [
    *("url(", "URL( ", 'url("', "url('", "src(", "src('", "image-set(", "-webkit-image-set(", "f("),
    *("@import ", "@im\\70ort ", "@namespace ", "@media ", "--x:", "--x", "\\75 rl(", "u\\72l("),
    *("x", "a.b", "#i", ")", "(", "[", "]", "{", "}", ";", ":", ",", '"', "'", '"s"', "'t'", "/*"),
    *("*/", "/", "*", "\\", "\\\n", "\\41 ", "\\41", "\\:", "\n", "\r\n", "\f", " ", "\0", "\x01"),
    *("<!--", "-->", "<", "-", "1", ".", "@", "#", "é", "</style", "type('y')", "url(x)"),
    "url('y')",
]
WHOLE = [
    *["url(x)", "url( y )", "url('z')", 'url(" z ")', "src('x')", "image-set('a' 1x, \"b\")"],
    *["a{b:url(x);", "--x:url(y);", ";@import 'x';", ";@import url(y);", "}", ";", "url(\\41)"],
]
MEAL = st.lists(st.sampled_from([*PIECES, *WHOLE * 6]), max_size=12).map("".join).map(str.encode)
SOUP = st.lists(st.sampled_from(PIECES), max_size=14).map("".join).map(str.encode)
HOSTILE = [
    *["http://h/", "a", "</style>", '"', "'", ")", "(", "\\", "\n", "\r", "\f", "\t", " ", "<!--"],
    *["/*", "*/", "{", "}", ";", "url(", "@import", "4", "é", "\x01", "\x7f", "#", ","],
]
HOSTILE_URLS = st.lists(st.sampled_from(HOSTILE), max_size=6).map(
    lambda pieces: "h" + "".join(pieces)
)


@given(st.one_of(st.binary(max_size=60), SOUP, MEAL), st.integers(0, 20), st.integers(0, 60))
def test_laws_6_and_7_any_bytes(text: bytes, start: int, length: int) -> None:
    end = min(len(text), start + length)
    for low, high in ((0, len(text)), (min(start, end), end)):
        found = list(references(text, low, high))
        bounds = [low, *(at for one in found for at in (one.start, one.end)), high]
        assert bounds == sorted(bounds)
        assert all(one.start < one.end for one in found)
        moved = [one._replace(start=one.start - low, end=one.end - low) for one in found]
        assert moved == list(references(text[low:high]))


def test_law_8_hostile_urls_leave_the_structure_as_it_was() -> None:
    counts = []

    @given(MEAL, st.data())
    def law(text: bytes, data: st.DataObject) -> None:
        before = list(references(text))
        counts.append(len(before))
        edits, texts = [], []
        for found in before:
            view = css_view(text[found.start : found.end], found.quote)
            texts.append(data.draw(HOSTILE_URLS).encode())
            lowered = view.lower([Edit(0, len(view.inner), texts[-1])])
            edits += [Edit(found.start + a, found.start + b, new) for a, b, new in lowered]
        written = splice(text, edits)
        after = list(references(written))
        assert [kept(found) for found in after] == [kept(found) for found in before]
        assert around(written, after) == around(text, before)
        # White space at the ends is not part of a URL: rule 6.
        assert [url.encode().strip() for url in meanings(written)] == [t.strip() for t in texts]

    law()
    assert sum(map(bool, counts)) >= len(counts) * 0.3


def kept(found: CssReference) -> tuple[object, ...]:
    return found.quote, found.form, found.custom


def around(text: bytes, found: list[CssReference]) -> list[bytes]:
    """Return what is between the references, but for white space that a URL may end with."""
    cuts = [0, *(at for one in found for at in (one.start, one.end)), len(text)]
    return [text[a:b].strip(b" \t") for a, b in pairwise(cuts)][::2]


# --- Time ---

# A byte or a few of each are an event of their own, or else skipped by one expression.
EVENTS = [
    *[b"url(a);", b'url("', b"url('\n", b"\\\n", b"\\75", b"\\75 rl(", b"((a)", b"a(", b"a(b(c(d("],
    *[b"(]", b"a(')", b";@import", b";@\\69", b"@import 'x';", b";/**/ @import", b";--x:{"],
    *[b";--x:a((((", b";--", b";-\\-", b";<!--", b"image-set(", b"image-set('a'", b"src(/**/"],
    *[b"--x:url(a)", b"[a", b"{(", b"url(\n'a\n"],
]
SKIPPED = [
    *[b"url(", b"url(a b", b"url(\\)", b"url(" + b" " * 50, b"/*", b"url(x)/*", b"\\", b"\\a"],
    *[b"\\:", b"}", b"{", b"(", b"[(", b"()", b"@import", b";--x:", b"<!--", b";-->", b"'", b'"\n'],
    *[b"a", b"*", b"a\\", b"/", b"'a\\41\n", b"@namespace ", b";--x:a(b(c));", b"url(x\\41 "],
    b"url('" + b" x" * 500 + b"')",
]


@pytest.mark.parametrize("unit", [*EVENTS, *SKIPPED])
def test_time_grows_linearly(unit: bytes) -> None:
    def rewrite(text: bytes) -> object:
        return relbase.rewrite(text, url="http://h/", kind="css")

    assert_linear_from_10_ms(rewrite, lambda n: unit * (n // len(unit)) + b" url(x)")
