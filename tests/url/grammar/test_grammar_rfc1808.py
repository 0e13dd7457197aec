"""RFC 1808 §2.2: relative URLs that match and that fail, each at its place; §5's examples."""

from __future__ import annotations

import pytest

from relbase.url.grammar import CharacterClass, Severity, parse_url, violations

_BASE = "http://a/b/c/d;p?q#f"

# §5.1 and §5.2, with what they resolve to. "http:g" and "http:", which §5.2 calls a loophole, fail
# as URLs of their scheme: test_practice.py.
_EXAMPLES = """
    g:h g ./g g/ /g //g ?y g?y g?y/./x #s g#s g#s/./x g?y#s ;x g;x g;x?y#s . ./ .. ../ ../g ../..
    ../../ ../../g ../../../g ../../../../g /./g /../g g. .g g.. ..g ./../g ./g/. g/./h g/../h
    http://a/b/c/g http://a/b/c/g/ http://a/g http://g http://a/b/c/d;p?y http://a/b/c/g?y
    http://a/b/c/g?y/./x http://a/b/c/d;p?q#s http://a/b/c/g#s http://a/b/c/g#s/./x
    http://a/b/c/g?y#s http://a/b/c/d;x http://a/b/c/g;x http://a/b/c/g;x?y#s http://a/b/c/
    http://a/b/ http://a/b/g http://a/ http://a/../g http://a/../../g http://a/./g
    http://a/b/c/g. http://a/b/c/..g http://a/b/c/g/h ./this:that this%3Athat this:that
    http://www.ics.uci.edu/Test/a/b/c http://www.ics.uci.edu/pub/ietf/html/ ../x
"""


@pytest.mark.parametrize("text", [*_EXAMPLES.split(), "", _BASE])
def test_the_examples_of_rfc_1808(text: str) -> None:
    for base in (None, _BASE):
        assert [one for one in violations(text, base) if one.kind is Severity.VIOLATION] == []
    assert parse_url(text).production


@pytest.mark.parametrize(
    ("production", "texts"),
    [
        ("net_path", "// //h //h/ //h/a;b?c //?; //u:p@h:1&=/ ///a"),
        ("abs_path", "/ /a /a//b /;a /?a /:@&= /a;b;c/d?e?f/"),
        ("rel_path", "a a/b a// ;a ;;/ ?a ??/;: #a # a%41 a/b:c @&= a;b?c#d/?;"),
    ],
)
def test_matching(production: str, texts: str) -> None:
    for text in texts.split():
        assert [one for one in violations(text) if one.kind is Severity.VIOLATION] == [], text
        assert parse_url(text).production == production, text


@pytest.mark.parametrize(
    ("text", "place", "production", "character_class"),
    [
        ("a{b", 1, "segment", "national"),
        ("a b", 1, "segment", "space"),
        ("/a\\b", 2, "segment", "national"),
        ("a%b", 1, "segment", "bad escape"),
        ("%", 0, "segment", "bad escape"),
        ("//h{/", 3, "net_loc", "national"),
        ("//h//x", 4, "fsegment", "reserved"),
        ("////", 3, "fsegment", "reserved"),
        (";a^", 2, "param", "national"),
        ("a;b|c", 3, "param", "national"),
        ("?a`b", 2, "query", "national"),
        ("?%4", 1, "query", "bad escape"),
        ("#a#", 2, "fragment", "punctuation"),
        ("#a]", 2, "fragment", "national"),
        ("##", 1, "fragment", "punctuation"),
        # No scheme (§2.4.2): another character stands before the colon, so that it is a path.
        ("ht tp://h/", 2, "segment", "space"),
        ("\u202ehttp://h/", 0, "segment", "non-ASCII"),
        ("\x1b[31m", 0, "segment", "control"),
    ],
)
def test_failing(text: str, place: int, production: str, character_class: str) -> None:
    found = next(one for one in violations(text) if one.kind is Severity.VIOLATION)
    assert (found.start, found.production) == (place, production)
    assert found.character_class is CharacterClass(character_class)
    assert found.section == "RFC 1808 §2.2"
