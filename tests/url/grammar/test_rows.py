"""RFC 1738 §5 and RFC 1808 §2.2: rows that match and that fail, each at its place; examples."""

from __future__ import annotations

import pytest

from relbase.url.grammar import CharacterClass, Severity, parse_url, violations

# RFC 1738 §3.1, §3.2.2, §3.10, §3.11, the Appendix and the references. RFC 1808 §5.1 and §5.2, with
# what they resolve to; "http:g" and "http:", which §5.2 calls a loophole, fail as URLs of their
# scheme: test_practice.py.
_EXAMPLES = """
    ftp://@host.com/ ftp://host.com/ ftp://foo:@host.com/ ftp://myname@host.dom/%2Fetc/motd
    ftp://myname@host.dom/etc/motd ftp://myname@host.dom//etc/motd prospero://host.dom//pros/name
    file://vms.host.edu/disk$user/my/notes/note12345.txt
    http://www.acl.lanl.gov/URI/archive/uri-archive.index.html ftp://ds.internic.net/rfc
    http://ds.internic.net/instructions/overview.html#WARNING
    ftp://ds.internic.net/rfc/rfc1436.txt;type=a
    ftp://boombox.micro.umn.edu/pub/gopher/gopher_protocol/Gopher+/Gopher+.txt
    g:h g ./g g/ /g //g ?y g?y g?y/./x #s g#s g#s/./x g?y#s ;x g;x g;x?y#s . ./ .. ../ ../g ../..
    ../../ ../../g ../../../g ../../../../g /./g /../g g. .g g.. ..g ./../g ./g/. g/./h g/../h
    http://a/b/c/g http://a/b/c/g/ http://a/g http://g http://a/b/c/d;p?y http://a/b/c/g?y
    http://a/b/c/g?y/./x http://a/b/c/d;p?q#s http://a/b/c/g#s http://a/b/c/g#s/./x
    http://a/b/c/g?y#s http://a/b/c/d;x http://a/b/c/g;x http://a/b/c/g;x?y#s http://a/b/c/
    http://a/b/ http://a/b/g http://a/ http://a/../g http://a/../../g http://a/./g
    http://a/b/c/g. http://a/b/c/..g http://a/b/c/g/h ./this:that this%3Athat this:that
    http://www.ics.uci.edu/Test/a/b/c http://www.ics.uci.edu/pub/ietf/html/ ../x
    http://a/b/c/d;p?q#f
"""


@pytest.mark.parametrize("text", [*_EXAMPLES.split(), ""])
def test_the_examples(text: str) -> None:
    for base in (None, "http://a/b/c/d;p?q#f"):
        assert [one for one in violations(text, base) if one.kind is Severity.VIOLATION] == []
    assert parse_url(text).production


# text, place, production that cannot go on there, class of the character
_FAILING = [
    # httpurl
    ("http:", 5, "httpurl", "end"),
    ("http:g", 5, "httpurl", "alpha"),
    ("http://", 7, "host", "end"),
    ("http:///a", 7, "host", "reserved"),
    ("http://h?a", 8, "httpurl", "reserved"),
    ("http://h;a", 8, "httpurl", "reserved"),
    ("http://u@h/", 8, "httpurl", "reserved"),
    ("http://h/a~b", 10, "hsegment", "national"),
    ("http://h/a%4gb", 10, "hsegment", "bad escape"),
    ("http://h/a%4/1", 10, "hsegment", "bad escape"),
    ("http://h/a b", 10, "hsegment", "space"),
    ("http://h/a\x7fb", 10, "hsegment", "control"),
    ("http://h/a\xe9b", 10, "hsegment", "non-ASCII"),
    ("http://h/a\udc80b", 10, "hsegment", "lone surrogate"),
    ("http://h/#a#b", 11, "fragment", "punctuation"),
    # host, port, user, password
    ("http://a_b/", 8, "toplabel", "safe"),
    ("http://a_b.c/", 8, "domainlabel", "safe"),
    ("http://%41.c/", 7, "domainlabel", "escape"),
    ("http://%4.c/", 7, "domainlabel", "bad escape"),
    ("http://-a.c/", 7, "domainlabel", "safe"),
    ("http://a.c-/", 11, "toplabel", "reserved"),
    ("http://a..c/", 9, "domainlabel", "safe"),
    ("http://a.c./", 11, "toplabel", "reserved"),
    ("http://a.1b/", 9, "toplabel", "digit"),
    ("http://1.2.3/", 12, "hostnumber", "reserved"),
    ("http://1.2.3.4.5/", 14, "hostnumber", "safe"),
    ("http://1..3.4/", 9, "hostnumber", "safe"),
    ("http://1.2_.3.4/", 10, "hostnumber", "safe"),
    ("http://b\xfccher.de/", 8, "domainlabel", "non-ASCII"),
    ("http://[::1]/", 7, "host", "national"),
    ("http://h:/", 9, "port", "reserved"),
    ("http://h:", 9, "port", "end"),
    ("http://h:8a/", 10, "port", "alpha"),
    ("ftp://a^b@h", 7, "user", "national"),
    ("ftp://a:b^c@h", 9, "password", "national"),
    ("ftp://a:b:c@h", 9, "password", "reserved"),
    # ftpurl
    ("ftp:/", 5, "ftpurl", "end"),
    ("ftp://u@/", 8, "host", "reserved"),
    ("ftp://h/a;b", 10, "ftpurl", "alpha"),
    ("ftp://h/a;type=", 15, "ftptype", "end"),
    ("ftp://h/a;type=x", 15, "ftptype", "alpha"),
    ("ftp://h/a;type=ab", 16, "ftpurl", "alpha"),
    # newsurl
    ("news:", 5, "group", "end"),
    ("news:1a", 5, "group", "digit"),
    ("news:a/b", 6, "group", "reserved"),
    ("news:a%41", 6, "group", "escape"),
    ("news:*a", 6, "grouppart", "alpha"),
    ("news:@h", 5, "article", "reserved"),
    ("news:a@b@c", 8, "toplabel", "reserved"),
    # nntpurl
    ("nntp://h", 8, "nntpurl", "end"),
    ("nntp://h/", 9, "group", "end"),
    ("nntp://h/a/", 11, "digits", "end"),
    ("nntp://h/a/1x", 12, "digits", "alpha"),
    # telneturl
    ("telnet://h/a", 11, "telneturl", "alpha"),
    # gopherurl
    ("gopher://u@h/", 10, "gopherurl", "reserved"),
    ("gopher://h/{", 11, "selector", "national"),
    ("gopher://h/1a%09{", 16, "search", "national"),
    ("gopher://h/1a%09b%09{", 20, "gopher+_string", "national"),
    # waisurl
    ("wais://h", 8, "waisurl", "end"),
    ("wais://h/d/t", 12, "waisdoc", "end"),
    ("wais://h/d:e", 10, "database", "reserved"),
    ("wais://h/d/t?/p", 12, "wtype", "reserved"),
    ("wais://h/d/t/p/q", 14, "wpath", "reserved"),
    # mailtourl
    ("mailto:", 7, "encoded822addr", "end"),
    ("mailto:<a@b>", 7, "encoded822addr", "punctuation"),
    # fileurl
    ("file:/a", 6, "fileurl", "alpha"),
    ("file://h", 8, "fileurl", "end"),
    ("file://h:80/", 8, "toplabel", "reserved"),
    ("file:///a;b", 9, "fsegment", "reserved"),
    ("file:///C|/a", 9, "fsegment", "national"),
    # prosperourl
    ("prospero://h", 12, "prosperourl", "end"),
    ("prospero://h/a{", 14, "psegment", "national"),
    ("prospero://h/a;b", 16, "fieldspec", "end"),
    ("prospero://h/a;b;c=d", 16, "fieldspec", "reserved"),
    ("prospero://h/a;b/c=d", 16, "fieldname", "reserved"),
    ("prospero://h/a;b=c=d", 18, "fieldvalue", "reserved"),
    # otherurl
    ("x:a\\b", 3, "schemepart", "national"),
]


@pytest.mark.parametrize(("text", "place", "production", "character_class"), _FAILING)
def test_failing(text: str, place: int, production: str, character_class: str) -> None:
    found = next(one for one in violations(text) if one.kind is Severity.VIOLATION)
    assert (found.start, found.production, found.character_class) == (
        place,
        production,
        CharacterClass(character_class),
    )


def test_failing_by_the_generic_syntax_alone() -> None:
    found = violations("x:^", grammar="rfc1808")
    assert [one.start for one in found if one.kind is Severity.VIOLATION] == [2]


@pytest.mark.parametrize(
    ("text", "least"), [("news:@h", "a uchar"), ("mailto:", "an xchar"), ("http://h:/", "a digit")]
)
def test_what_there_is_at_least_is_named(text: str, least: str) -> None:
    assert violations(text)[0].message.startswith(f"{least} is expected, ")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("http://-.a-.b-", [7, 11, 14]),
        ("http://a_b.-c/{?|#^", [8, 11, 14, 16, 18]),
        ("http:g{h}", [5, 6, 8]),
        ("ftp://h/{;typ{e=}", [8, 13, 16]),
        ("news:*{}", [6, 7]),
        ("nntp://h?{", [8, 9]),
        ("wais://h;a{/b", [8, 10, 13]),
        ("http://h?a{b", [8, 10]),
        ("http://u{:p}@h", [8, 11, 12]),
    ],
)
def test_the_search_goes_on_behind_a_violation(text: str, places: list[int]) -> None:
    assert [one.start for one in violations(text) if one.kind is Severity.VIOLATION] == places


@pytest.mark.parametrize(
    ("text", "place", "production", "section", "replacement"),
    [
        # RFC 1808 §2.3 NOTE
        ("ftp://h/a?b?c", 9, "fsegment", "RFC 1808 §2.3 NOTE", "%3F"),
        ("file:///a?b", 9, "fsegment", "RFC 1808 §2.3 NOTE", "%3F"),
        ("http://h/a;b;c", 10, "hsegment", "RFC 1808 §2.3 NOTE", None),
        # RFC 1808 §2.2 query, §5.1 `g?y/./x`
        ("http://a/b/c/g?y/./x", 16, "search", "RFC 1808 §2.2", "%2F"),
        ("http://h/?a?b", 11, "search", "RFC 1808 §2.2", "%3F"),
        ("wais://h/d?a/b", 12, "search", "RFC 1808 §2.2", "%2F"),
        # RFC 1738 §2.1, and the comment on scheme in §5
        ("hTTp://h/", 0, "scheme", "RFC 1738 §5", "http"),
        # RFC 1738 §3.1, of a scheme that is not predefined
        ("https://h?a", 9, "ip-schemepart", "RFC 1738 §5", "/?"),
        ("https://a_b/", 9, "toplabel", "RFC 1738 §5", None),
        ("x:///a", 4, "host", "RFC 1738 §5", None),
    ],
)
def test_where_the_rfcs_differ_rfc_1808_decides(
    text: str, place: int, production: str, section: str, replacement: str | None
) -> None:
    [found] = violations(text)
    assert found.kind is Severity.REMARK
    assert (found.start, found.production, found.section) == (place, production, section)
    assert found.replacement == replacement
    assert parse_url(text).scheme


def test_a_tilde_is_reported_with_the_remark_of_rfc_2396() -> None:
    [found] = violations("http://h/~u")
    assert found.kind is Severity.VIOLATION
    assert found.character_class is CharacterClass.NATIONAL
    assert found.replacement == "%7E"
    assert "RFC 2396 §2.3" in found.message


@pytest.mark.parametrize(
    ("text", "replacement"),
    [
        ("http://h/%zz", "%25"),
        ("http://h/\xe9", "%C3%A9"),
        ("http://h/\udce9", "%E9"),
        ("http://h/\ud83d", "%EF%BF%BD"),
        ("http://h/\0", "%00"),
        ("http://h/a b", "%20"),
        ("http://h?a", "/?"),
        ("http://a_b/", None),
        ("http://h:8a/", None),
    ],
)
def test_replacements(text: str, replacement: str | None) -> None:
    assert [found.replacement for found in violations(text)] == [replacement]


def test_the_address_in_brackets_is_one_place() -> None:
    [found] = violations("http://[2001:db8::1]:80/")
    assert (found.start, found.end) == (7, 20)
    assert "RFC 3986 §3.2.2" in found.message


# ---- RFC 1808 §2.2: relative URLs


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
def test_failing_by_rfc_1808(text: str, place: int, production: str, character_class: str) -> None:
    found = next(one for one in violations(text) if one.kind is Severity.VIOLATION)
    assert (found.start, found.production) == (place, production)
    assert found.character_class is CharacterClass(character_class)
    assert found.section == "RFC 1808 §2.2"
