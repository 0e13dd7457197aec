"""Tests of relbase.view.charrefs; html5lib's tokenizer says what a value means."""

from __future__ import annotations

import re
from html.entities import html5
from itertools import cycle
from pathlib import Path

import pytest
from html5lib import HTMLParser
from hypothesis import given
from hypothesis import strategies as st
from rows import cases, edits
from view_laws import assert_law, check_law, edits_of

from relbase.edit import Edit, splice
from relbase.view.charrefs import attribute_view, needs_view, spell

TABLES = Path(__file__).with_name("charrefs.txt")
QUOTES = (b'"', b"'", b"")
FORBIDDEN = {b'"': b'"', b"'": b"'", b"": b"\t\n\f\r >\"'=<`"}


def tokenized(raw: bytes, quote: bytes, charset: str = "utf-8") -> bytes:
    """Return what html5lib reads; undecodable bytes pass it as private characters."""
    source = (b"<a x=" + quote + raw + quote + b">").decode(charset, "surrogateescape")
    hidden = re.sub("[\udc80-\udcff]", lambda bad: chr(ord(bad[0]) + 0x1000 + 0x1000), source)
    tree = HTMLParser().parseFragment(hidden)
    assert len(tree) == 1
    assert [*tree[0].keys()] == ["x"]
    value = re.sub("[\ufc80-\ufcff]", lambda bad: chr(ord(bad[0]) - 0x2000), tree[0].get("x"))
    return value.encode("utf-8", "surrogatepass")


@cases(TABLES, "meanings", raw=bytes, meaning=str)
def test_meaning(raw: bytes, meaning: str) -> None:
    inner = attribute_view(raw, b'"', "utf-8").inner
    assert inner == meaning.encode("utf-8", "surrogatepass")
    assert inner == tokenized(raw, b'"')


def test_every_name() -> None:
    for name, meaning in html5.items():
        raw = b"&" + name.encode("ascii")
        for tail in (b"", b"=", b"z", b"/", b"&"):
            is_plain = not name.endswith(";") and tail in (b"=", b"z")
            expected = raw + tail if is_plain else meaning.encode() + tail
            assert attribute_view(raw + tail, b'"', "utf-8").inner == expected, (name, tail)


@pytest.mark.parametrize(
    ("raw", "needs"),
    [(b"../x?a=1", False), (b"a\tb\nc", False), (b"a&b", True), (b"a\rb", True), (b"a\0", True),
     (b"\xe9", True), (b"", False)],
)  # fmt: skip
def test_needs_view(raw: bytes, *, needs: bool) -> None:
    assert bool(needs_view(raw)) is needs
    if not needs:
        assert attribute_view(raw, b'"', "windows-1252").inner is raw


@cases(TABLES, "spelled", new=bytes, quote=bytes, charset=str, expected=bytes)
def test_spell(new: bytes, quote: bytes, charset: str, expected: bytes) -> None:
    assert spell(new, quote, charset) == expected


@cases(TABLES, "lowered", raw=bytes, changes=edits, expected=bytes)
def test_lower(raw: bytes, changes: list[Edit], expected: bytes) -> None:
    view = attribute_view(raw, b'"', "utf-8")
    edited = check_law(raw, view, changes, lambda text: tokenized(text, b'"'))
    assert edited == expected


def test_an_undecodable_byte_takes_no_text_along() -> None:
    view = attribute_view(b"\x81!x", b'"', "shift_jis")
    assert view.lower([Edit(3, 4, b"http")]) == [Edit(0, 2, b"\x81&#104;ttp")]


PARTS = [
    *(b"&", b"&", b"&amp", b"&amp;", b"&#", b"&#x", b"&#38", b"&#x26;", b"&not", b"&notin"),
    *(b"&fjlig;", b"amp", b"in;", b";", b"=", b"#", b"x", b"1", b"A", b"\r", b"\n", b"\r\n", b"\t"),
    *(b"\0", b" ", b"'", b'"', b">", b"<", b"/", b"&#128;", b"&#xD800", b"&#99999999999;"),
    *(b"&#13;", b"`", b"a" * 33),
]
BY_CHARSET = {
    # charset: how Python reads it, and bytes that both read alike
    "utf-8": ("utf-8", [b"\xc3\xa9", b"\xe9", b"\xe2\x82", b"\xf0\x9f\x98\x80", b"\x80"]),
    "windows-1252": ("cp1252", [b"\xe9", b"\x80", b"\xff"]),
    "koi8-r": ("koi8-r", [b"\xe9", b"\x80", b"\xff"]),
    "shift_jis": ("cp932", [b"\x95\\", b"\x83a", b"\xb1", b"\x82\xa0"]),
    "gb18030": ("gb18030", [b"\x81\x30\x81\x30", b"\xb0\xa1", b"\x81\\"]),
    "euc-jp": ("euc_jp", [b"\xa4\xa2", b"\x8e\xb1", b"\x8f\xb0\xa1"]),
    "euc-kr": ("cp949", [b"\xb0\xa1", b"\x81A"]),
    "big5": ("big5hkscs", [b"\xa4\x40", b"\xb3\\"]),
}
# Where Python reads a charset, only characters that it and the standard have at the same place.
SOME = st.sampled_from("&#x;=1amp<>\"'`\r\n\t \f/éあ表😀€")
UNLIKE = {"big5": "€"}  # Python's has none
ANY = SOME | st.characters(codec="utf-8", exclude_categories=["Cc"])


# The quotes differ in what is safe, the charsets in their units: each pair of them says no more.
LAWS = [(quote, charset) for charset in ("utf-8", "shift_jis") for quote in QUOTES] + [
    (quote, charset)
    for quote, charset in zip(cycle(QUOTES), BY_CHARSET, strict=False)
    if charset not in ("utf-8", "shift_jis")
]


@pytest.mark.parametrize(("quote", "charset"), LAWS)
def test_law(quote: bytes, charset: str) -> None:
    codec, characters = BY_CHARSET[charset]
    some = st.text(ANY if charset == "utf-8" else SOME, max_size=6)
    new = some.filter(set(UNLIKE.get(charset, "")).isdisjoint).map(str.encode)
    parts = [part for part in PARTS + 3 * characters if not set(part) & set(FORBIDDEN[quote])]
    assert_law(
        st.lists(st.sampled_from(parts), min_size=1, max_size=8).map(b"".join),
        lambda raw: attribute_view(raw, quote, charset),
        lambda text: tokenized(text, quote, codec),
        new,
        as_bytes,
    )


def as_bytes(inner: bytes) -> bytes:
    """What stays of undecodable bytes that come to stand beside others: the bytes."""
    return inner.decode("utf-8", "surrogatepass").encode("utf-8", "surrogateescape")


@given(st.binary(max_size=40), st.sampled_from(QUOTES), st.data())
def test_any_bytes_in_any_charset(raw: bytes, quote: bytes, data: st.DataObject) -> None:
    for charset in (*BY_CHARSET, "gbk", "x-user-defined", "windows-1253"):
        view = attribute_view(raw, quote, charset)
        changes = data.draw(edits_of(view.inner, st.just(b"http://h/&copy=") | st.just(b"")))
        edited = splice(raw, view.lower(changes))
        if not changes:
            assert edited is raw
        # Whatever was and came there: no new white space, quote or `>`.
        for byte in FORBIDDEN[quote].replace(b"<", b"").replace(b"=", b""):
            assert edited.count(byte) <= raw.count(byte)
