"""The grammars inside one attribute value."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases

from relbase.edit import Edit, Span, splice
from relbase.values import syntaxes
from relbase.values.syntaxes import SYNTAXES, Syntax, clean, spell, url

TABLES = Path(__file__).with_name("syntaxes.txt")

T = TypeVar("T")

URL, SPACES, COMMAS = Syntax.URL, Syntax.SPACE_LIST, Syntax.COMMA_LIST
SRCSET, REFRESH = Syntax.SRCSET, Syntax.REFRESH
SEMICOLONS, LINK = Syntax.SEMICOLON_LIST, Syntax.LINK


def found(syntax: Syntax, value: bytes) -> list[bytes]:
    return [value[start:end] for start, end in SYNTAXES[syntax](value)]


@cases(TABLES, "urls", syntax=Syntax, value=bytes, urls=list[bytes])
def test_urls_of_a_value(syntax: Syntax, value: bytes, urls: list[bytes]) -> None:
    assert found(syntax, value) == urls


@pytest.mark.parametrize(
    ("value", "span"),
    [(b"", (0, 0)), (b"  ", (2, 2)), (b" x ", (1, 2))],
)
def test_span_of_a_single_url(value: bytes, span: tuple[int, int]) -> None:
    assert list(url(value)) == [span]


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [("a\tb\r\nc", "abc"), ("\n", ""), ("a \f\x0b\0b", "a \f\x0b\0b"), ("", "")],
)
def test_clean(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@cases(TABLES, "spelling", syntax=Syntax, value=bytes, new=str, spelled=str)
def test_spelling(syntax: Syntax, value: bytes, new: str, spelled: str) -> None:
    (span, *_) = SYNTAXES[syntax](value)
    assert spell(syntax, new, value, span) == spelled


SPECIAL = [*"uUrRlL=;,'\"() \t\n\f\r\x0b\0.01xw:/é", "url=", "0;", "a 1x, "]
VALUES = st.lists(st.sampled_from(SPECIAL), max_size=14).map("".join)
NEW_URLS = st.lists(st.sampled_from([*SPECIAL, "http://h/", "\x7f"]), min_size=1, max_size=9).map(
    "".join
)


PREFIXES = st.sampled_from(["0;", "0 ", "0 url=", "0 '", '0,url="'])


def respelled(syntax: Syntax, value: bytes, new: list[str]) -> tuple[bytes, list[Span]]:
    """Put new URLs at all spans of the value; return it and where the new URLs are."""
    edits: list[Edit] = []
    expected: list[Span] = []
    shift = 0
    for span, one in zip(SYNTAXES[syntax](value), cycle(new), strict=False):
        spelled = spell(syntax, one, value, span).encode()
        edits.append(Edit(*span, spelled))
        expected.append(Span(span.start + shift, span.start + shift + len(spelled)))
        shift += len(spelled) - (span.end - span.start)
    return splice(value, edits), expected


@pytest.mark.parametrize("syntax", Syntax)
def test_law_8_new_urls_stand_where_the_old_ones_stood(syntax: Syntax) -> None:
    counts = {"examples": 0, "with URLs": 0, "spelled": 0}

    @given(PREFIXES, VALUES, st.lists(NEW_URLS, min_size=1, max_size=3))
    def law(prefix: str, rest: str, new: list[str]) -> None:
        frame = {REFRESH: (prefix, ""), LINK: ("<", ">, <x>")}.get(syntax, ("", ""))
        value = rest.join(frame).encode()
        changed, expected = respelled(syntax, value, new)
        assert list(SYNTAXES[syntax](changed)) == expected
        assert all(clean(text) == text for text in map(bytes.decode, found(syntax, changed)))
        counts["examples"] += 1
        counts["with URLs"] += bool(expected)
        counts["spelled"] += not any(text in changed.decode() for text in new)

    law()
    assert counts["with URLs"] >= 0.3 * counts["examples"]
    assert counts["spelled"] > 0


@given(st.sampled_from(Syntax), st.binary())
def test_law_7_any_bytes_give_sorted_spans_in_range(syntax: Syntax, value: bytes) -> None:
    ends = [offset for span in SYNTAXES[syntax](value) for offset in span]
    assert ends == sorted(ends)
    assert all(0 <= offset <= len(value) for offset in ends)


def test_a_missing_row_is_reported_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(syntaxes._ROWS, Syntax.LINK)  # noqa: SLF001
    with pytest.raises(TypeError, match=r"LINK.* has no row: .*relbase/values/syntaxes\.py"):
        syntaxes._check()  # noqa: SLF001


def test_each_syntax_has_a_grammar_and_escapes() -> None:
    assert list(SYNTAXES) == list(Syntax)
    for syntax in Syntax:
        assert spell(syntax, "http://h/\0", b"", Span(0, 0)) == "http://h/%00"
