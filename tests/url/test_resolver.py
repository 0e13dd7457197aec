"""The three profiles side by side: one row a rule, one column a profile; and the one door to them.

Expected values come from the rules named beside them; those of whatwg were compared with Chromium.
None is a failure (ValueError).
"""

from __future__ import annotations

import pickle
import sys

import pytest

from relbase import rewrite
from relbase.url.resolver import Profile, Resolver, as_profile, resolve

BASE = "http://a/b/c/d;p?q#f"  # RFC 1808 §5

# base, reference, rfc1808, rfc3986, whatwg
Row = tuple[str, str, str | None, str | None, str | None]

RULES: dict[str, list[Row]] = {
    # RFC 1808 §4 step 6 keeps them; RFC 3986 §5.2.4 and the standard ("shorten") drop them
    "`..` beyond the root": [
        (BASE, "../../../g", "http://a/../g", "http://a/g", "http://a/g"),
        (BASE, "../../..", "http://a/..", "http://a/", "http://a/"),
        (BASE, "../../../..", "http://a/../..", "http://a/", "http://a/"),
        (BASE, "../../../g/..", "http://a/../", "http://a/", "http://a/"),
    ],
    # RFC 1808 §4 step 4: a path after a slash is not looked into
    "dot segments in an absolute path": [
        (BASE, "/./g", "http://a/./g", "http://a/g", "http://a/g"),
        (BASE, "/../g", "http://a/../g", "http://a/g", "http://a/g"),
        (BASE, "/b/../g/.", "http://a/b/../g/.", "http://a/g/", "http://a/g/"),
        (BASE, "//h/./g", "http://h/./g", "http://h/g", "http://h/g"),
        (BASE, "http://h/../g", "http://h/../g", "http://h/g", "http://h/g"),
    ],
    "dot segments that are percent-encoded": [
        (BASE, "%2e%2E/g", "http://a/b/c/%2e%2E/g", "http://a/b/c/%2e%2E/g", "http://a/b/g"),
    ],
    "dot segments of the base": [
        ("http://a/b/../c/d", "g", "http://a/c/g", "http://a/c/g", "http://a/c/g"),
        ("http://a/b/../c/d", "?y", "http://a/b/../c/d?y", "http://a/b/../c/d?y", "http://a/c/d?y"),
        ("http://a/b/../c/d", "#s", "http://a/b/../c/d#s", "http://a/b/../c/d#s", "http://a/c/d#s"),
    ],
    # RFC 1808 §2.4.5, §4 step 5a: params are a component, and are inherited
    "params": [
        (BASE, ";x", "http://a/b/c/d;x", "http://a/b/c/;x", "http://a/b/c/;x"),
        (BASE, ";x?y", "http://a/b/c/d;x?y", "http://a/b/c/;x?y", "http://a/b/c/;x?y"),
        (BASE, "?y", "http://a/b/c/d;p?y", "http://a/b/c/d;p?y", "http://a/b/c/d;p?y"),
        (BASE, "g;x/../y", "http://a/b/c/g;x/../y", "http://a/b/c/y", "http://a/b/c/y"),
        ("http://a/b;p/c", "g", "http://a/g", "http://a/b;p/g", "http://a/b;p/g"),
    ],
    # RFC 1808 §4 step 5a, 5b: an empty component inherits
    "a lone delimiter, of what is inherited": [
        (BASE, ";", "http://a/b/c/d;p?q", "http://a/b/c/;", "http://a/b/c/;"),
        (BASE, ";?y", "http://a/b/c/d;p?y", "http://a/b/c/;?y", "http://a/b/c/;?y"),
        (BASE, "?", "http://a/b/c/d;p?q", "http://a/b/c/d;p?", "http://a/b/c/d;p?"),
        (BASE, "?#s", "http://a/b/c/d;p?q#s", "http://a/b/c/d;p?#s", "http://a/b/c/d;p?#s"),
        ("http://a/b", "?", "http://a/b?", "http://a/b?", "http://a/b?"),
        ("http://a/b", ";", "http://a/b;", "http://a/;", "http://a/;"),
    ],
    # rule 7: a delimiter that the author wrote stays
    "a lone delimiter, of what is not inherited": [
        (BASE, "#", "http://a/b/c/d;p?q#", "http://a/b/c/d;p?q#", "http://a/b/c/d;p?q#"),
        (BASE, "g?", "http://a/b/c/g?", "http://a/b/c/g?", "http://a/b/c/g?"),
        (BASE, "g;", "http://a/b/c/g;", "http://a/b/c/g;", "http://a/b/c/g;"),
        (BASE, "g#", "http://a/b/c/g#", "http://a/b/c/g#", "http://a/b/c/g#"),
        (BASE, "g;?#", "http://a/b/c/g;?#", "http://a/b/c/g;?#", "http://a/b/c/g;?#"),
        (BASE, "/?", "http://a/?", "http://a/?", "http://a/?"),
    ],
    # RFC 1808 §4 step 2a the entire base; RFC 3986 §5.2.2 without its fragment
    "the empty reference": [
        (BASE, "", "http://a/b/c/d;p?q#f", "http://a/b/c/d;p?q", "http://a/b/c/d;p?q"),
        ("http://a/b#", "", "http://a/b#", "http://a/b", "http://a/b"),
    ],
    # RFC 1808 §5.2, RFC 3986 §5.4.2: the loophole of older parsers, which browsers keep
    "the scheme of the base, and no net_loc": [
        (BASE, "http:g", "http:g", "http:g", "http://a/b/c/g"),
        (BASE, "HTTP:g", "HTTP:g", "HTTP:g", "http://a/b/c/g"),
        (BASE, "http:/g", "http:/g", "http:/g", "http://a/g"),
        (BASE, "http:?y", "http:?y", "http:?y", "http://a/b/c/d;p?y"),
        (BASE, "http:", "http:", "http:", "http://a/b/c/d;p?q"),
        (BASE, "https:g", "https:g", "https:g", "https://g/"),
    ],
    "a net_loc": [
        (BASE, "//h", "http://h", "http://h", "http://h/"),
        (BASE, "//h/g", "http://h/g", "http://h/g", "http://h/g"),
        # RFC 1808 §2.4.3: only a slash ends it, so that `?y` is a part of it
        (BASE, "//h?y", "http://h?y", "http://h?y", "http://h/?y"),
        (BASE, "//h#s", "http://h#s", "http://h#s", "http://h/#s"),
    ],
    # RFC 1808 §4 step 3 inherits for an empty one; RFC 3986 has it defined, and empty
    "an empty net_loc": [
        (BASE, "//", "http://a/b/c/d;p?q", "http://", None),
        (BASE, "//#s", "http://a/b/c/d;p?q#s", "http://#s", None),
        (BASE, "///x", "http://a/x", "http:///x", "http://x/"),
        (BASE, "////x", "http://a//x", "http:////x", "http://x/"),
    ],
    # RFC 1808 §4 step 7 and §2.2; RFC 3986 §5.2.3, first case
    "a base without a path": [
        ("http://a", "g", "http://a/g", "http://a/g", "http://a/g"),
        ("http://a", "?y", "http://a/?y", "http://a?y", "http://a/?y"),
        ("http://a", ";x", "http://a/;x", "http://a/;x", "http://a/;x"),
        ("http://a", "#f", "http://a#f", "http://a#f", "http://a/#f"),
        ("http://a", "", "http://a", "http://a", "http://a/"),
        ("http://a", "./g", "http://a/g", "http://a/g", "http://a/g"),
        ("http://a", "../g", "http://a/../g", "http://a/g", "http://a/g"),
    ],
    # The algorithm alone. As the base of a document it gets `/` first: rule 5.
    "a base with `?` after its authority": [
        ("http://a?q", "g", "http://a?q/g", "http://a/g", "http://a/g"),
        ("http://a?q", "?y", "http://a?q/?y", "http://a?y", "http://a/?y"),
        ("http://a?q", "#s", "http://a?q#s", "http://a?q#s", "http://a/?q#s"),
        ("http://a/?q", "g", "http://a/g", "http://a/g", "http://a/g"),
    ],
    "a base without a net_loc": [
        ("x:/b/c", "g", "x:/b/g", "x:/b/g", "x:/b/g"),
        ("x:/b/c", "/g", "x:/g", "x:/g", "x:/g"),
        ("x:/b/c", "//h/g", "x://h/g", "x://h/g", "x://h/g"),
        ("x:/b/c", "../../g", "x:/../g", "x:/g", "x:/g"),
        ("x:/b/c", "?y", "x:/b/c?y", "x:/b/c?y", "x:/b/c?y"),
        ("file:///b/c", "g", "file:///b/g", "file:///b/g", "file:///b/g"),
        ("file:///b/c", "/g", "file:///g", "file:///g", "file:///g"),
        ("file:///b/c", "//h/g", "file://h/g", "file://h/g", "file://h/g"),
    ],
    # Whether such a base is suitable (RFC 1808 §2.3) is not asked here
    "a base without a slash": [
        ("mailto:x", "g", "mailto:g", "mailto:g", None),
        ("mailto:x", "#s", "mailto:x#s", "mailto:x#s", "mailto:x#s"),
    ],
    # RFC 1808 §4 step 1
    "an unknown base": [
        ("", "g", "g", "g", None),
        ("", "", "", "", None),
        ("", "http://h/../g", "http://h/../g", "http://h/../g", "http://h/g"),
    ],
    # RFC 1808 §2.4.2 any alphanumerics; RFC 3986 §3.1 and the standard: a letter first
    "what looks like a scheme": [
        (BASE, "1.2:8/x", "1.2:8/x", "http://a/b/c/1.2:8/x", "http://a/b/c/1.2:8/x"),
        (BASE, r"C:\x", r"C:\x", r"C:\x", r"c:\x"),
        (BASE, "this:that", "this:that", "this:that", "this:that"),
        (BASE, "./t:h", "http://a/b/c/t:h", "http://a/b/c/t:h", "http://a/b/c/t:h"),
        (BASE, ":g", "http://a/b/c/:g", "http://a/b/c/:g", "http://a/b/c/:g"),
        (BASE, "a_b:g", "http://a/b/c/a_b:g", "http://a/b/c/a_b:g", "http://a/b/c/a_b:g"),
    ],
    # The standard: special URLs take `\` for `/`
    "backslashes": [
        (BASE, r"\g", r"http://a/b/c/\g", r"http://a/b/c/\g", "http://a/g"),
        (BASE, r"\\h\g", r"http://a/b/c/\\h\g", r"http://a/b/c/\\h\g", "http://h/g"),
    ],
    # The standard strips, removes and encodes; white space around a value is rule 6
    "characters that no URL has": [
        (BASE, " g ", "http://a/b/c/ g ", "http://a/b/c/ g ", "http://a/b/c/g"),
        (BASE, "g\nh", "http://a/b/c/g\nh", "http://a/b/c/g\nh", "http://a/b/c/gh"),
        (BASE, "g h", "http://a/b/c/g h", "http://a/b/c/g h", "http://a/b/c/g%20h"),
        (BASE, "\u00e9", "http://a/b/c/\u00e9", "http://a/b/c/\u00e9", "http://a/b/c/%C3%A9"),
        (BASE, "//[", "http://[", "http://[", None),
    ],
}

ROWS = [row for rows in RULES.values() for row in rows]
BY_NAME = [
    pytest.param(*row, id=f"{name}: {row[1]!r}") for name, rows in RULES.items() for row in rows
]


@pytest.mark.parametrize(("base", "reference", "rfc1808", "rfc3986", "whatwg"), BY_NAME)
def test_the_three_profiles(
    base: str, reference: str, rfc1808: str | None, rfc3986: str | None, whatwg: str | None
) -> None:
    expected = dict(zip(Profile, (rfc1808, rfc3986, whatwg), strict=True))
    for profile, url in expected.items():
        if url is None:
            with pytest.raises(ValueError, match="WHATWG URL Standard"):
                resolve(base, reference, profile)
        else:
            assert resolve(base, reference, profile) == url
            assert Resolver(base, profile).resolve(reference) == url


def test_the_charset_is_that_of_the_query_in_whatwg_alone() -> None:
    urls = [Resolver(BASE, profile, "windows-1252").resolve("\u00e9?\u00e9") for profile in Profile]
    assert urls == ["http://a/b/c/\u00e9?\u00e9"] * 2 + ["http://a/b/c/%C3%A9?%E9"]


@pytest.mark.parametrize("profile", Profile)
def test_a_profile_is_a_member_or_its_value(profile: Profile) -> None:
    assert as_profile(profile) is as_profile(profile.value) is profile


@pytest.mark.parametrize("profile", ["RFC1808", "", None, []])
def test_what_is_no_profile_is_refused_with_the_values(profile: object) -> None:
    with pytest.raises(ValueError, match="give one of rfc1808, rfc3986, whatwg"):
        as_profile(profile)  # type: ignore[arg-type]


def test_what_is_no_base_is_refused_with_what_to_give() -> None:
    with pytest.raises(TypeError, match="the base is a str"):
        Resolver(b"http://a/")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="give a base with a scheme"):
        Resolver("/no/scheme", Profile.WHATWG)


def test_a_charset_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="not a charset label"):
        Resolver(BASE, Profile.WHATWG, "no-such-charset")


def test_without_its_library_whatwg_is_a_bad_call(monkeypatch: pytest.MonkeyPatch) -> None:
    # As in a browser: nothing resolves by another profile instead, and no document is blamed.
    monkeypatch.setitem(sys.modules, "ada_url", None)
    with pytest.raises(ValueError, match="profile whatwg needs the package ada-url"):
        Resolver("http://h/", "whatwg")
    with pytest.raises(ValueError, match="ada-url"):
        rewrite(b"<a href=x>", url="http://h/", profile="whatwg")
    assert resolve("http://h/", "x") == "http://h/x"


def test_a_resolver_is_a_value() -> None:
    resolver = Resolver(BASE, "whatwg", "koi8-r")
    assert pickle.loads(pickle.dumps(resolver)) == resolver
    assert len({resolver, Resolver(BASE, "whatwg", "koi8-r"), Resolver(BASE)}) == 2
    assert repr(resolver) == f"Resolver({BASE!r}, 'whatwg', 'koi8-r')"
    assert resolver != BASE
    assert (Resolver(BASE).profile, resolver.charset) == (Profile.RFC1808, "koi8-r")


class _Refusing:
    """As importlib finds what a sub-interpreter of CPython 3.12 refuses to load."""

    def find_spec(self, name: str, *_rest: object) -> None:
        if name == "ada_url":
            raise ImportError("module _cffi_backend does not support loading in subinterpreters")


def test_where_its_library_refuses_to_load_whatwg_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ada_url", raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Refusing(), *sys.meta_path])
    with pytest.raises(ValueError, match=r"in this interpreter .*subinterpreters.*: give rfc1808"):
        Resolver("http://h/", "whatwg")
