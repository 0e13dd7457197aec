"""XML 1.0 §2.11, §3.3.3, §4.1 and §4.6: what values and text mean, compared with expat."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from xml.parsers import expat

import pytest
from hypothesis import strategies as st
from rows import cases, edits
from view_laws import assert_law

from relbase.edit import Edit, Span, splice
from relbase.view.runs import pieces
from relbase.xml.escapes import needs_xml_view, pieces_view, spell_text, text_view, value_view

TABLES: Final = Path(__file__).with_name("escapes.txt")


def text_of(raw: bytes) -> bytes:
    """What expat reads as the text of an element; line ends as they are."""
    pieces: list[str] = []
    parser = expat.ParserCreate("utf-8")
    parser.CharacterDataHandler = pieces.append
    parser.Parse(b"<a>" + raw.replace(b"\r", b"&#13;") + b"</a>", True)
    return "".join(pieces).encode()


def value_of(raw: bytes, quote: bytes) -> bytes:
    """What expat reads as the value of an attribute."""
    found: dict[str, str] = {}
    parser = expat.ParserCreate("utf-8")
    parser.StartElementHandler = lambda _name, attributes: found.update(attributes)
    parser.Parse(b"<a b=" + quote + raw + quote + b"/>", True)
    return found["b"].encode()


PIECES: Final = st.sampled_from(
    [
        *(b"&lt;", b"&gt;", b"&amp;", b"&quot;", b"&apos;", b"&#38;", b"&#x3C;", b"&#8217;"),
        *(b"x", b"lt;", b"#38;", b"amp;", b" ", b"\n", b"\t", b"\r\n", b"\r", b">", b"'", b"]"),
        *("é".encode(), "’".encode(), b"/"),
    ]
)
TEXTS: Final = st.lists(PIECES, max_size=12).map(b"".join)
NEW: Final = st.sampled_from([b"", b"http://h/", b"&<>\"'", b"]]", b"]]>", "é".encode(), b"a\n\tb"])


def test_text_law() -> None:
    assert_law(TEXTS.filter(lambda raw: b"]]>" not in raw), text_view, text_of, NEW)


@pytest.mark.parametrize("quote", [b'"', b"'"])
def test_value_law(quote: bytes) -> None:
    raws = TEXTS.map(lambda raw: raw.replace(quote, b""))
    assert_law(raws, lambda raw: value_view(raw, quote), lambda raw: value_of(raw, quote), NEW)


def test_plain_values_mean_themselves() -> None:
    raw = bytes(byte for byte in range(0x20, 0x7F) if byte not in b"&<\"'")
    assert not needs_xml_view(raw)
    assert value_of(raw, b'"') == raw


@pytest.mark.parametrize("raw", [b"&", b"\t", b"\n", b"\r"])
def test_others_need_a_view(raw: bytes) -> None:
    assert needs_xml_view(raw)


def test_an_escaped_ampersand_is_read_once() -> None:
    assert text_view(b"&amp;lt;&lt;&amp;#39;").inner == b"&lt;<&#39;"


# A flaw is masked by U+007F, which a reference may mean, too.
@pytest.mark.parametrize("flaw", [b"&", b"&d;", b"&#0;", b"\x01"])
def test_a_flaw_beside_a_reference_to_the_mask(flaw: bytes) -> None:
    assert text_view(b"&#127;" + flaw + b"\x7f").inner == b"\x7f" + flaw + b"\x7f"


@pytest.mark.parametrize("before", range(4))
def test_a_character_of_several_bytes_is_counted_wherever_it_stands(before: int) -> None:
    raw = b"x" * before + b"&#8217;" * 50_000 + b"y"
    view = text_view(raw)
    at = len(view.inner) - 1
    assert view.lower([Edit(at, at, b"/")]) == [Edit(len(raw) - 1, len(raw) - 1, b"/")]


# The author's `>` may follow what is written.
def test_text_never_gets_an_end_of_section() -> None:
    assert spell_text(b"a]]>b]]") == b"a]]&gt;b]&#93;"
    view = text_view(b"a>")
    assert splice(b"a>", view.lower([Edit(0, 1, b"]]")])) == b"]&#93;>"


# ---- text in CDATA sections, between comments: XML 1.0 §2.5 to §2.7

SECTIONS: Final = st.sampled_from(
    [
        *(b"<![CDATA[x&y<]]>", b"<![CDATA[]]>", b"<![CDATA[]]]]><![CDATA[>]]>", b"<!-- -x -->"),
        *(b"<?p x?>", b"&lt;", b"&amp;", b"ab", b"\n", "é".encode(), b"]"),
    ]
)
IN_SECTIONS: Final = st.lists(SECTIONS, max_size=8).map(b"".join)
NEW_IN_SECTIONS: Final = st.sampled_from([b"", b"http://h/", b"&<\"'", "é".encode()])


def outside(raw: bytes) -> bytes:
    return raw.replace(b"<![CDATA[", b"\0").replace(b"]]>", b"\0", raw.count(b"[C"))


def test_law_of_sections() -> None:
    raws = IN_SECTIONS.filter(lambda raw: any(pieces(raw)) and b"]]>" not in outside(raw))
    assert_law(raws, pieces_view, text_of, NEW_IN_SECTIONS)


# What is in a section stays in it, so that readers who cut sections out by hand find it whole.
@cases(TABLES, "written", raw=bytes, changes=edits, expected=bytes)
def test_where_it_is_written(raw: bytes, changes: list[Edit], expected: bytes) -> None:
    assert splice(raw, pieces_view(raw).lower(changes)) == expected


# What is written into a section never closes it, with what stands beside it neither.
@cases(TABLES, "sections", raw=bytes, changes=edits, expected=bytes)
def test_sections_stay_open(raw: bytes, changes: list[Edit], expected: bytes) -> None:
    section = b"<![CDATA[" + raw + b"]]>"
    edited = splice(section, pieces_view(section).lower(changes))
    assert edited == b"<![CDATA[" + expected + b"]]>"


def test_places() -> None:
    raw = b"a<![CDATA[bc]]>d<!-- -->e"
    view = pieces_view(raw)
    assert view.inner == b"abcde"
    found = [*map(view.places(), [Span(0, 1), Span(2, 4), Span(4, 5)])]
    assert found == [Span(0, 1), Span(11, 16), Span(24, 25)]
    assert view.places()(Span(0, 5)) == Span(0, 25)
