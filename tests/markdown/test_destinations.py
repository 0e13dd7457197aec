"""Destinations: what escapes mean, and how new text is written (CommonMark §2.4, §2.5, §6.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from markdown_it.common.utils import unescapeAll

from relbase.edit import Edit, splice
from relbase.markdown.destinations import destination_view, in_tag

MEANT = [
    (rb"a\(b\)", b"a(b)"),
    (rb"a\\b", rb"a\b"),
    (rb"a\b", rb"a\b"),  # no punctuation: the backslash means itself
    (b"a&amp;b", b"a&b"),
    (b"a&ampb", b"a&ampb"),  # without a semicolon: text
    (b"&auml;&#228;&#xe4;", "äää".encode()),
    (b"&#0;&nix;", b"&#0;&nix;"),  # as markdown-it-py reads them
    (b"a\0b", "a\ufffdb".encode()),
]


@pytest.mark.parametrize(("raw", "meant"), MEANT)
def test_what_a_destination_means(raw: bytes, meant: bytes) -> None:
    assert destination_view(raw, in_brackets=False).inner == meant
    assert unescapeAll(raw.decode().replace("\0", "\ufffd")).encode() == meant


WRITTEN = [
    (b"http://h/a(b)/", rb"http://h/a\(b\)/x", b"http://h/a(b)/x"),
    (b'http://h/a b|c"d/', b"http://h/a%20b&#124;c%22d/x", b"http://h/a%20b&#124;c%22d/x"),
    (b"http://h/`<'>/", b"http://h/&#96;&#60;&#39;&#62;/x", b"http://h/&#96;&#60;&#39;&#62;/x"),
    (b"http://h/\n\t\0\x7f/", b"http://h/%0A%09%00%7F/x", b"http://h/%0A%09%00%7F/x"),
    (b"http://h/?a&lt;b&c=", b"http://h/?a&#38;lt;b&c=x", b"http://h/?a&#38;lt;b&c=x"),
    (b"http://h/?a&", b"http://h/?a&#38;x", b"http://h/?a&#38;x"),
    (b"a\\b", rb"a\\bx", rb"a\\bx"),
]


@pytest.mark.parametrize(("new", "bare", "in_brackets"), WRITTEN)
def test_new_text_before_what_stays(new: bytes, bare: bytes, in_brackets: bytes) -> None:
    for expected, brackets in ((bare, False), (in_brackets, True)):
        view = destination_view(b"x", in_brackets=brackets)
        assert splice(b"x", view.lower([Edit(0, 0, new)])) == expected


@pytest.mark.parametrize(
    ("raw", "at", "new", "edited"),
    [
        (b"a\\b", 2, b"(", rb"a\\\(b"),  # the backslash does not escape what comes
        (b"&am;", 3, b"p", b"&#38;amp;"),
        (rb"\(a", 0, b"b", rb"b\(a"),
        (b"&amp;a", 1, b"b", b"&amp;ba"),
    ],
)
def test_text_before_an_edit_does_not_combine_with_it(
    raw: bytes, at: int, new: bytes, edited: bytes
) -> None:
    view = destination_view(raw, in_brackets=False)
    assert splice(raw, view.lower([Edit(at, at, new)])) == edited


def test_new_text_in_a_tag() -> None:
    assert in_tag(b"http://h/a|b`c'd/") == b"http://h/a&#124;b&#96;c&#39;d/"


_RAW = st.text("a&mp;#1\\()<>`b", max_size=12).map(str.encode)
_NEW = st.text("a&mp;#1\\()<>`'b", max_size=6).map(str.encode)


@examples(300)
@given(_RAW, _NEW, st.integers(0, 12), st.integers(0, 12))
def test_law_5_what_is_lowered_decodes_to_the_edited_text(
    raw: bytes, new: bytes, first: int, last: int
) -> None:
    view = destination_view(raw, in_brackets=True)
    start, end = sorted((min(first, len(view.inner)), min(last, len(view.inner))))
    edits = [Edit(start, end, new)]
    edited = splice(raw, view.lower(edits))
    assert destination_view(edited, in_brackets=True).inner == splice(view.inner, edits)
