from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import given
from hypothesis import strategies as st
from rows import cases
from scanners import assert_agreed

import relbase
from relbase.css.escapes import css_view
from relbase.css.functions import Form
from relbase.css.statements import CssReference, references
from relbase.edit import Edit, splice

TABLES = Path(__file__).with_name("statements.txt")


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
@cases(TABLES, "references", text=bytes, found=list[bytes])
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
        (b"'x'", []),
    ]:
        text = loader % arguments
        assert urls(text) == [*found, b"d"]
        forms = [reference.form for reference in references(text)]
        assert forms == [*[Form.FILTER for _ in found], Form.URL]


@cases(TABLES, "custom properties", text=bytes, kinds=str)
def test_custom_properties(text: bytes, kinds: str) -> None:
    assert "".join("c" if found.custom else "n" for found in references(text)) == kinds
    assert b"".join(urls(text)).decode() == kinds


@cases(TABLES, "dropped rules", text=bytes, found=list[bytes])
def test_a_rule_like_a_custom_property_is_dropped(text: bytes, found: list[bytes]) -> None:
    sheet = references(text, is_sheet=True)
    assert [text[one.start : one.end] for one in sheet] == found
    for call in ({"kind": "css", "data": text}, {"data": b"<style>%b</style>" % text}):
        result = assert_agreed(url="http://h/i/j", **call)
        assert [link.reference for link in result.links] == [one.decode() for one in found]


@pytest.mark.parametrize("unit", [b"a{--x:y}", b"--x:y{}", b"a{--x:y;", b"--x:(", b"(--x:'"])
def test_dropped_rules_take_linear_time(unit: bytes) -> None:
    assert_linear_from_10_ms(
        lambda text: list(references(text, is_sheet=True)),
        lambda size: unit * (size // len(unit)) + b"url(x)",
    )


@cases(TABLES, "local", text=bytes, local=bool)
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


@given(st.one_of(st.binary(max_size=60), SOUP, MEAL))
def test_laws_6_and_7_any_bytes(text: bytes) -> None:
    found = list(references(text))
    bounds = [0, *(at for one in found for at in (one.start, one.end)), len(text)]
    assert bounds == sorted(bounds)
    assert all(one.start < one.end for one in found)


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
    *[b"url(a);", b'url("', b"url('\n", b"\\\n", b"\\75", b"\\75 rl(", b"((a)"],
    *[b"(]", b"a(')", b";@import", b";@\\69", b"@import 'x';", b";/**/ @import", b";--x:{"],
    *[b";--x:a((((", b";--", b";-\\-", b";<!--", b"image-set('a'", b"src(/**/"],
    *[b"--x:url(a)", b"[a", b"{(", b"url(\n'a\n"],
]
SKIPPED = [
    *[b"url(", b"url(a b", b"url(\\)", b"url(" + b" " * 50, b"/*", b"url(x)/*", b"\\", b"\\a"],
    *[b"\\:", b"}", b"{", b"(", b"[(", b"()", b"@import", b";--x:", b"<!--", b";-->", b"'", b'"\n'],
    *[b"a(", b"a(b(c(d(", b"image-set(", b"image-set(a,f("],
    *[b"a", b"*", b"a\\", b"/", b"'a\\41\n", b"@namespace ", b";--x:a(b(c));", b"url(x\\41 "],
    b"url('" + b" x" * 500 + b"')",
]


@pytest.mark.parametrize("unit", [*EVENTS, *SKIPPED])
def test_time_grows_linearly(unit: bytes) -> None:
    def rewrite(text: bytes) -> object:
        return relbase.rewrite(text, url="http://h/", kind="css")

    assert_linear_from_10_ms(rewrite, lambda n: unit * (n // len(unit)) + b" url(x)")
