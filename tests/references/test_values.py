"""The grammars inside one attribute value."""

from __future__ import annotations

from itertools import cycle
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relbase.edit import Edit, Span, splice
from relbase.references.values import SYNTAXES, Syntax, clean, spell, url

T = TypeVar("T")

URL, SPACES, COMMAS = Syntax.URL, Syntax.SPACE_LIST, Syntax.COMMA_LIST
SRCSET, REFRESH = Syntax.SRCSET, Syntax.REFRESH
SEMICOLONS, LINK = Syntax.SEMICOLON_LIST, Syntax.LINK


def found(syntax: Syntax, value: bytes) -> list[bytes]:
    return [value[start:end] for start, end in SYNTAXES[syntax](value)]


@pytest.mark.parametrize(
    ("syntax", "value", "urls"),
    [
        # Rule 6: U+0000 to U+0020 at both ends are not part of the value.
        (URL, b"x", [b"x"]),
        (URL, b" \t\n\f\r\0\x1fx y\x0b\x01 ", [b"x y"]),
        (URL, b"x\t\ny", [b"x\t\ny"]),
        (URL, b"\x7fx\xc2\xa0", [b"\x7fx\xc2\xa0"]),
        (URL, b"", [b""]),
        (URL, b" \n ", [b""]),
        # HTML 4.6.2 ping: a set of space-separated tokens; HTML 4.01 §13.3.2 archive of object.
        (SPACES, b"a b\tc\nd\fe\rf", [b"a", b"b", b"c", b"d", b"e", b"f"]),
        (SPACES, b" a,b ", [b"a,b"]),
        (SPACES, b"a\x0bb \x0bc\x01", [b"a\x0bb", b"c"]),
        (SPACES, b"\x01 a", [b"a"]),
        (SPACES, b" \t ", []),
        # HTML 4.01 §13.4 archive of applet: a comma-separated list of URIs.
        (COMMAS, b"a,b", [b"a", b"b"]),
        (COMMAS, b" a b , c\t,,\n, d", [b"a b", b"c", b"d"]),
        (COMMAS, b",", []),
        (COMMAS, b"", []),
        # HTML "parse a srcset attribute".
        (SRCSET, b"", []),  # step 5
        (SRCSET, b" ,\t, ", []),  # step 4
        (SRCSET, b", a", [b"a"]),  # step 4
        (SRCSET, b"a", [b"a"]),  # step 6
        (SRCSET, b"a\x0bb 1x", [b"a\x0bb"]),  # step 6: VT is not white space
        (SRCSET, b"a,b 1x", [b"a,b"]),  # step 6: a comma inside
        (SRCSET, b"data:,x 1x, b 2x", [b"data:,x", b"b"]),  # step 6
        (SRCSET, b"a, b", [b"a", b"b"]),  # step 8
        (SRCSET, b"a,,, 1x, b", [b"a", b"1x", b"b"]),  # step 8: no descriptors after a comma
        (SRCSET, b"a 1x,b 2x", [b"a", b"b"]),  # step 8, in descriptor: comma
        (SRCSET, b"a 1x 2w , b", [b"a", b"b"]),  # step 8, after descriptor
        (SRCSET, b"a ,b", [b"a", b"b"]),
        (SRCSET, b"a (1,2), b", [b"a", b"b"]),  # step 8, in parens
        (SRCSET, b"a x(,y(,)z, b", [b"a", b"b"]),  # step 8, in parens: they do not nest
        (SRCSET, b"a x), b", [b"a", b"b"]),
        (SRCSET, b"a (, b", [b"a"]),  # step 8, in parens: end of input
        (SRCSET, b"a -1x, b 0w, c 1q", [b"a", b"b", b"c"]),  # steps 9-15: errors do not matter
        (SRCSET, b"\x01a\x02 1x, \x01 2x, b", [b"a", b"b"]),  # rule 6
        # HTML "shared declarative refresh steps".
        (REFRESH, b"", []),  # step 6.1
        (REFRESH, b"url=x", []),  # step 6.1
        (REFRESH, b"\x0b0;url=x", []),  # step 3: VT is not white space
        (REFRESH, b".;url=x", [b"x"]),  # step 6.1: a dot will do
        (REFRESH, b".5,x", [b"x"]),  # step 8
        (REFRESH, b"\xd9\xa5;url=x", []),  # step 5: ASCII digits
        (REFRESH, b"5", []),  # step 11
        (REFRESH, b"5x", []),  # step 10.1
        (REFRESH, b"5 ; x", [b"x"]),  # steps 10.2 to 10.4
        (REFRESH, b"5;;x", [b";x"]),  # step 10.3: one separator
        (REFRESH, b"5;\x0bx", [b"x"]),  # step 11.1, and rule 6
        (REFRESH, b"0;UrL=x", [b"x"]),  # steps 11.2 to 11.4
        (REFRESH, b"0;u'x'", [b"u'x'"]),  # step 11.3: jump to parse
        (REFRESH, b"0;ur", [b"ur"]),  # step 11.4
        (REFRESH, b"0;url 'x'", [b"url 'x'"]),  # step 11.6
        (REFRESH, b"0;url \t= \tx", [b"x"]),  # steps 11.5, 11.7
        (REFRESH, b"0;url=url=x", [b"url=x"]),
        (REFRESH, b"0;=x", [b"=x"]),
        (REFRESH, b"0;url='x\"'y", [b'x"']),  # steps 11.8, 11.10
        (REFRESH, b'0;"x', [b"x"]),  # step 11.10: no second quote
        (REFRESH, b"0;url='x", [b"x"]),
        (REFRESH, b"0;url=' x '", [b"x"]),
        (REFRESH, b"0;url=\x01'x'", [b"'x'"]),
        (REFRESH, b"0;url=", []),  # rule 6
        (REFRESH, b"0;url=' '", []),
        (REFRESH, b"0;url=''x", []),
        (REFRESH, b"0;\x0b", []),
        # SMIL 3 §12.5.2: white space around the semicolons, one may be at the end.
        (SEMICOLONS, b" a.svg ;b.svg; ", [b"a.svg", b"b.svg"]),
        (SEMICOLONS, b";;", []),
        # RFC 8288 §3, and its examples in §3.5.
        (LINK, b"<a>", [b"a"]),
        (LINK, b"</TheBook/chapter2>; rel=\"previous\"; title*=UTF-8'de'l", [b"/TheBook/chapter2"]),
        (LINK, b'<a>; rel="b, <c>", <d>;rel=e', [b"a", b"d"]),
        (LINK, b'<a>; rel="b\\", <c>", <d>', [b"a", b"d"]),
        (LINK, b" , < a >,,<b>", [b"a", b"b"]),
        (LINK, b"<>, <b>", [b"b"]),
        (LINK, b"a, <b>", []),
        (LINK, b"<a", []),
        (LINK, b'<a>; rel="b, <c>', [b"a"]),
        (LINK, b'<a>; rel="b\\', [b"a"]),
    ],
)
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


@pytest.mark.parametrize(
    ("syntax", "value", "new", "spelled"),
    [
        # Control characters are encoded everywhere.
        *(
            (
                syntax,
                b"<x>" if syntax is LINK else b"0;x",
                "h:\0\t\n\x1f\x7f!",
                "h:%00%09%0A%1F%7F!",
            )
            for syntax in Syntax
        ),
        (SEMICOLONS, b"x;y", " h:a b;c", "%20h:a b%3Bc"),
        (LINK, b"<x>", "h:a b<c>,;", "h:a%20b%3Cc%3E,;"),
        (URL, b"x", " h:a b, ", "%20h:a b,%20"),
        (URL, b"x", "h:'\"(),;", "h:'\"(),;"),
        (URL, b"x", "  ", "%20%20"),
        (URL, b"x", "h:\x80\xa0\u2028é", "h:\x80\xa0\u2028é"),
        (SPACES, b"x y", "h:a b,c ", "h:a%20b,c%20"),
        (COMMAS, b"x,y", ",h:a b,c", "%2Ch:a%20b%2Cc"),
        (SRCSET, b"x 1x", ",,h:a,b c(,,", "%2C%2Ch:a,b%20c(%2C%2C"),
        (SRCSET, b"x 1x", ", ,", "%2C%20%2C"),
        (SRCSET, b"x 1x", ",,", "%2C%2C"),
        # Refresh: by the quote that stands before the URL.
        (REFRESH, b"0;url='x'", "h:'a\" b", 'h:%27a" b'),
        (REFRESH, b'0;url=" x"', "h:'a\" b", "h:'a%22 b"),
        (REFRESH, b"0;url='x", " h:'", "%20h:%27"),
        (REFRESH, b"0;url=x", "h:'a\" ", "h:'a\"%20"),
        (REFRESH, b"0;url=x", "'h:'", "%27h:'"),
        (REFRESH, b"0;x", '"h:', "%22h:"),
        (REFRESH, b"0 x", ";h:", "%3Bh:"),
        (REFRESH, b"0 x", ",h:", "%2Ch:"),
        (REFRESH, b"0;x", "Url  =x", "Url  %3Dx"),
        (REFRESH, b"0;x", "url:=x", "url:=x"),
    ],
)
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
    for span, text in zip(SYNTAXES[syntax](value), cycle(new), strict=False):
        spelled = spell(syntax, text, value, span).encode()
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
