from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases, edits
from view_laws import check_law, edits_of

from relbase.css.escapes import css_view, unescape
from relbase.edit import Edit, splice

TABLES = Path(__file__).with_name("css_escapes.txt")

QUOTES = [b'"', b"'", b""]


@cases(TABLES, "meanings", raw=bytes, expected=str)
@pytest.mark.parametrize("quote", QUOTES)
def test_escapes_mean_what_the_specification_says(quote: bytes, raw: bytes, expected: str) -> None:
    assert css_view(raw, quote).inner == unescape(raw, quote) == expected.encode()


def test_an_unknown_quote_is_refused() -> None:
    with pytest.raises(ValueError, match="quote"):
        css_view(b"x", b"`")


@cases(TABLES, "spellings", quote=bytes, raw=bytes, edits=edits, written=bytes)
def test_new_text_is_spelled_for_its_quote(
    quote: bytes, raw: bytes, edits: list[Edit], written: bytes
) -> None:
    assert splice(raw, css_view(raw, quote).lower(edits)) == written


ATOMS = [*'aAfFgG09/<>".', *"'() \t", "</st", "yle", "é", "\U0001f600"]
WRITTEN = [
    *["a", "f", "0", "G", "<", "/", "style", "</st", "é", "\0", "\\41", "\\41 ", "\\000041"],
    *["\\0", "\\a", "\\3c", "\\3c ", "\\e9", "\\g", "\\\\", '\\"', "\\'", "\\<", "\\é", "\\d800"],
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
