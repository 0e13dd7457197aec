"""XML 1.0 §2.5 to §2.7: text in CDATA sections, between comments, compared with expat."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import strategies as st
from test_xml_values import text_of
from view_laws import assert_law

from relbase.edit import Edit, Span, splice
from relbase.view.runs import pieces
from relbase.view.xml_values import pieces_view

PIECES: Final = st.sampled_from(
    [
        *(b"<![CDATA[x&y<]]>", b"<![CDATA[]]>", b"<![CDATA[]]]]><![CDATA[>]]>", b"<!-- -x -->"),
        *(b"<?p x?>", b"&lt;", b"&amp;", b"ab", b"\n", "é".encode(), b"]"),
    ]
)
TEXTS: Final = st.lists(PIECES, max_size=8).map(b"".join)
NEW: Final = st.sampled_from([b"", b"http://h/", b"&<\"'", "é".encode()])


def outside(raw: bytes) -> bytes:
    return raw.replace(b"<![CDATA[", b"\0").replace(b"]]>", b"\0", raw.count(b"[C"))


def test_law() -> None:
    raws = TEXTS.filter(lambda raw: pieces(raw) and b"]]>" not in outside(raw))
    assert_law(raws, pieces_view, text_of, NEW)


# What is in a section stays in it, so that readers who cut sections out by hand find it whole.
@pytest.mark.parametrize(
    ("raw", "edit", "expected"),
    [
        (b"<![CDATA[/x]]>", Edit(0, 0, b"http://h"), b"<![CDATA[http://h/x]]>"),
        (b"\n <![CDATA[/x]]>\n", Edit(2, 2, b"http://h"), b"\n <![CDATA[http://h/x]]>\n"),
        (b"<![CDATA[../x]]>", Edit(0, 2, b"http://h"), b"<![CDATA[http://h/x]]>"),
        (b"<!-- c -->/x", Edit(0, 0, b"http://h"), b"<!-- c -->http://h/x"),
        (b"a<!-- c -->b", Edit(0, 2, b"&"), b"&amp;<!-- c -->"),
    ],
)
def test_where_it_is_written(raw: bytes, edit: Edit, expected: bytes) -> None:
    assert splice(raw, pieces_view(raw).lower([edit])) == expected


# What is written into a section never closes it, with what stands beside it neither.
@pytest.mark.parametrize(
    ("raw", "edit", "expected"),
    [
        (b"x", Edit(0, 0, b"a]]>b"), b"a]]%3Ebx"),
        (b"x>", Edit(0, 1, b"a]]"), b"a]%5D>"),
        (b"x]>", Edit(0, 1, b"a]"), b"a%5D]>"),
        (b"]]x", Edit(2, 2, b">a"), b"]]%3Eax"),
        (b"]x", Edit(1, 1, b"]>a"), b"]]%3Eax"),
        (b"x]", Edit(0, 0, b"a]"), b"a]x]"),
    ],
)
def test_sections_stay_open(raw: bytes, edit: Edit, expected: bytes) -> None:
    section = b"<![CDATA[" + raw + b"]]>"
    edited = splice(section, pieces_view(section).lower([edit]))
    assert edited == b"<![CDATA[" + expected + b"]]>"


def test_places() -> None:
    raw = b"a<![CDATA[bc]]>d<!-- -->e"
    view = pieces_view(raw)
    assert view.inner == b"abcde"
    found = view.locate([Span(0, 1), Span(2, 4), Span(4, 5)])
    assert found == [Span(0, 1), Span(11, 16), Span(24, 25)]
    assert view.locate([Span(0, 5)]) == [Span(0, 25)]
