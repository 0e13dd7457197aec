from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from view_laws import check_law, edits_of

from relbase.edit import Edit, splice
from relbase.references.css_escapes import css_view, unescape

QUOTES = [b'"', b"'", b""]
MEANINGS = [
    # css-syntax §4.3.7: up to six digits, then one white space
    (rb"\41 b", "Ab"),
    (rb"\41b", "\u041b"),
    (rb"\000041b", "Ab"),
    (rb"\0000411", "A1"),
    (b"\\41\t\tb", "A\tb"),
    (b"\\41\r\nb", "Ab"),
    (b"\\41\nb", "Ab"),
    (b"\\41\fb", "Ab"),
    (rb"\e9", "é"),
    (rb"\1F600", "\U0001f600"),
    # §4.3.7: zero, surrogates and what is beyond U+10FFFF
    (rb"\0", "\ufffd"),
    (rb"\d800 x", "\ufffdx"),
    (rb"\DFFF x", "\ufffdx"),
    (rb"\110000 x", "\ufffdx"),
    (rb"\10ffff x", "\U0010ffffx"),
    # §4.3.7: anything else stands for itself
    (rb"\\41", "\\41"),
    (rb"\"\'\(\)\g", "\"'()g"),
    ("\\é".encode(), "é"),
    # §3.3: NUL is U+FFFD, escaped too
    (b"a\0b", "a\ufffdb"),
    (b"a\\\0b", "a\ufffdb"),
]


@pytest.mark.parametrize(("raw", "expected"), MEANINGS)
@pytest.mark.parametrize("quote", QUOTES)
def test_escapes_mean_what_the_specification_says(quote: bytes, raw: bytes, expected: str) -> None:
    assert css_view(raw, quote).inner == unescape(raw, quote) == expected.encode()


def test_an_unknown_quote_is_refused() -> None:
    with pytest.raises(ValueError, match="quote"):
        css_view(b"x", b"`")


SPELLINGS = [
    # (quote, raw, edit of what it means, written)
    (b'"', b"x", Edit(0, 0, b'http://h/a"b/'), rb"http://h/a\22 b/x"),
    (b"'", b"x", Edit(0, 0, b"http://h/a\"b'/"), rb"http://h/a" + b'"' + rb"b\27 /x"),
    (b"", b"x", Edit(0, 0, b"a b(c)'\""), rb"a\20 b\28 c\29 \27 \22 x"),
    (b'"', b"x", Edit(0, 0, b"a b(c)"), b"a b(c)x"),
    (b'"', b"x", Edit(0, 0, b"\\\n\x7f"), rb"\5c \a \7f x"),
    # rule 10: no end tag may come about, out of new text or old
    (b"", b"x", Edit(0, 1, b"</style>"), rb"\3c /style\3e "),
    (b'"', b"a<b/style", Edit(2, 3, b""), rb"a\3c /style"),
    (b'"', b"a</STxyle>", Edit(5, 6, b""), rb"a\3c /STyle>"),
    (b'"', rb"a\<b/style", Edit(2, 3, b""), rb"a\3c /style"),
    # an escape without its space must not read on into what follows
    (b'"', rb"\41", Edit(1, 1, b"b"), b"Ab"),
    (b'"', rb"\41 ", Edit(1, 1, b"b"), rb"\41 b"),
    (b'"', rb"\41xb", Edit(1, 2, b""), b"Ab"),
    (b'"', rb"\000041xb", Edit(1, 2, b" "), b"A b"),
    (b'"', rb"\41\42\43", Edit(3, 3, b"d"), b"ABCd"),
    (b'"', b"\\41\\\n\\42", Edit(2, 2, b"c"), b"ABc"),
    (b"", b"x\\", Edit(4, 4, b"n"), "x\ufffdn".encode()),
]


@pytest.mark.parametrize(("quote", "raw", "edit", "written"), SPELLINGS)
def test_new_text_is_spelled_for_its_quote(
    quote: bytes, raw: bytes, edit: Edit, written: bytes
) -> None:
    assert splice(raw, css_view(raw, quote).lower([edit])) == written


ATOMS = [*'aAfFgG09/<>".', *"'() \t", "</st", "yle", "é", "\U0001f600"]
WRITTEN = [
    *["a", "f", "0", "G", "<", "/", "style", "</st", "é", "\0", "\\41", "\\41 ", "\\000041"],
    *["\\0", "\\3c", "\\3c ", "\\e9", "\\g", "\\\\", '\\"', "\\'", "\\<", "\\é", "\\d800"],
]
IN_STRING = [*WRITTEN, "\\\n", "\\\r\n", " ", "(", "\\a\r\n", "\\a\t"]


NEWS = st.lists(st.sampled_from(ATOMS), max_size=4).map("".join).map(str.encode)


@st.composite
def quoted(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Draw a quote, and raw text that may stand in it."""
    quote = draw(st.sampled_from(QUOTES))
    raw = "".join(draw(st.lists(st.sampled_from(IN_STRING if quote else WRITTEN), max_size=8)))
    return quote, raw.encode() + b"\\" * (draw(st.integers(0, 9)) == 0 and raw[-1:] != "\\")


def test_law_5_what_is_lowered_means_what_was_edited() -> None:
    joined = []

    @given(st.data(), quoted())
    def law(data: st.DataObject, case: tuple[bytes, bytes]) -> None:
        quote, raw = case
        view = css_view(raw, quote)
        edits = data.draw(edits_of(view.inner, NEWS))
        lowered = view.lower(edits)
        joined.append([edit.new for edit in edits] != [edit.new for edit in lowered])
        written = check_law(raw, view, edits, lambda text: meaning(text, quote))
        assert b"</style" in raw or b"</style" not in written
        assert not any(re.search(rb"[<\x00-\x08\n\r]", new) for _, _, new in lowered)

    law()
    assert sum(joined) >= len(joined) * 0.3


def meaning(raw: bytes, quote: bytes) -> bytes:
    """Read css-syntax §4.3.7 to the letter, one code point after the other."""
    text, out, i = raw.decode().replace("\r\n", "\n").replace("\0", "\ufffd"), "", 0
    text = text.replace("\r", "\n").replace("\f", "\n")
    while i < len(text):
        character, i = text[i], i + 1
        if character != "\\":
            out += character
        elif i == len(text):
            out += "" if quote else "\ufffd"
        elif text[i] not in "0123456789abcdefABCDEF":
            out += "" if text[i] == "\n" else text[i]
            i += 1
        else:
            digits = ""
            while i < len(text) and len(digits) < 6 and text[i] in "0123456789abcdefABCDEF":
                digits, i = digits + text[i], i + 1
            i += i < len(text) and text[i] in " \t\n"
            code = int(digits, 16)
            bad = code == 0 or code > 0x10FFFF or 0xD800 <= code < 0xE000
            out += "\ufffd" if bad else chr(code)
    return out.encode()


@given(st.binary(max_size=30), st.sampled_from(QUOTES))
def test_law_6_no_bytes_raise(raw: bytes, quote: bytes) -> None:
    view = css_view(raw, quote)
    assert splice(raw, view.lower([Edit(0, len(view.inner), b"x")])).count(b"x") >= 1
