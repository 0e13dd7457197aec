"""Recommended practice: RFC 1808 §5.3, §5.2 and §2.3. A row each, with what it proposes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relbase.url.grammar import Severity, base_violations, violations
from relbase.url.resolver import resolve

_BASE = "http://a/b/c/d;p?q#f"


def _replaced(text: str, base: str | None = None) -> list[str]:
    """The text with the remedy of each remark on practice put in its place, one at a time."""
    return [
        text[: found.start] + remedy + text[found.end :]
        for found in violations(text, base)
        if found.kind is Severity.PRACTICE
        for remedy in (found.replacement, found.alternative)
        if remedy is not None
    ]


# (text, base, what it becomes by each remedy)
ROWS: list[tuple[str, str | None, list[str]]] = [
    # §5.3, a colon in the first segment: "The former solution is preferred"
    ("this:that", None, ["./this:that", "this%3Athat"]),
    ("a_b:c/d:e", None, ["./a_b:c/d:e", "a_b%3Ac/d:e"]),
    ("a:b:c?d", None, ["./a:b:c?d", "a%3Ab%3Ac?d"]),
    (":a", None, ["./:a", "%3Aa"]),
    ("10.0.0.7:80/x", None, ["./10.0.0.7:80/x", "10.0.0.7%3A80/x"]),
    ("this:", None, ["./this:", "this%3A"]),
    # No colon in a first segment, or a scheme indeed
    *((text, None, []) for text in ("./this:that", "a/b:c", "?a:b", "a#b:c", "/a:b", "http://a")),
    *((text, None, []) for text in ("mailto:a@b", "data:,x", "x://h/", "x:/a")),
    # §5.3, `;type=d`
    ("ftp://h/a;type=d", None, ["ftp://h/a/"]),
    ("ftp://h/a/;TYPE=D?q#f", None, ["ftp://h/a/?q#f"]),
    ("ftp://h/a;type=d#", None, ["ftp://h/a/#"]),
    ("/;type=d", "ftp://h/", ["/"]),
    # a slash alone would be the root, and nothing the whole base
    (";type=d", "ftp://h/x/", []),
    (";type=d?q", "ftp://h/x", []),
    ("a;type=d", "ftp://h/", ["a/"]),
    *((text, None, []) for text in ("ftp://h/a;type=i", "http://h/a;type=d", "a;type=d")),
    ("a;type=d", _BASE, []),
    # §5.2, the scheme of the base
    ("http:g", _BASE, ["g"]),
    ("http:", _BASE, [""]),
    ("HTTP:/g", _BASE, ["/g"]),
    ("http:g:h", _BASE, ["./g:h"]),
    ("http:g", None, ["g"]),
    ("https:g", None, ["g"]),
    ("http:g", "ftp://h/", []),
    ("http://g", _BASE, []),
    ("x:g/h", "x://h/", ["./x:g/h", "x%3Ag/h", "g/h"]),
    ("mailto:a", "mailto:b", []),
    ("news:a", None, []),
    # §5.2, more dots than levels
    ("../../../g", _BASE, ["../../g"]),
    ("../../../../g", _BASE, ["../../g"]),
    ("../../..", _BASE, ["../../"]),
    ("/../g", _BASE, ["/g"]),
    ("/../g", None, ["/g"]),
    ("http://a/../../g", None, ["http://a/g"]),
    ("a/../../../../b/../../c", _BASE, ["a/../../../b/../../c"]),
    ("//h/../a?../..", None, ["//h/a?../.."]),
    # what is left must not be read as a net_loc, an absolute path, a scheme, or as nothing
    ("/..//g", "http://h/", []),
    ("/..//g", None, []),
    ("//h/..//g", None, ["//h//g"]),
    ("../..//g", "http://h/a/b", ["..//g"]),
    ("..//g", "http://h/a", [".//g"]),
    ("../g:h", "http://h/a", ["./g:h"]),
    ("..", "http://h/a", ["./"]),
    ("../", "http://h/a", ["./"]),
    ("../?q", "http://h/a", ["./?q"]),
    ("/..", "http://h/a", ["/"]),
    ("g/../../..", "http://h/a/b", ["g/../../"]),
    ("../g", "http://h", ["g"]),
    ("../../g", "file:/a/b", ["../g"]),
    ("../g", "http://h/./a/../b", ["g"]),
    ("../../../g", "http://h/../a/b/c", ["../../g"]),
    ("../../g", "http://h/../a/b/c", []),
    *((text, _BASE, []) for text in ("../../g", "?../../../..", "g..")),
    ("../../../g", None, []),
    ("..g/...", "http://h/", []),
    ("a//../..", "http://h/", []),
]


@pytest.mark.parametrize(("text", "base", "remedies"), ROWS)
def test_remedies(text: str, base: str | None, remedies: list[str]) -> None:
    assert _replaced(text, base) == remedies


@given(st.lists(st.sampled_from("ab:._%41/"), min_size=1).map("".join))
def test_the_preferred_remedy_makes_a_relative_path_that_is_remarked_on_no_more(text: str) -> None:
    listed = [found for found in violations(text) if found.section == "RFC 1808 §5.3"]
    for found in listed:
        for remedy in (found.replacement, found.alternative):
            assert remedy is not None
            again = remedy + text[found.end :]
            assert [one for one in violations(again) if one.section == "RFC 1808 §5.3"] == []


_SEGMENTS = st.lists(st.sampled_from(("..", ".", "a", "")), max_size=7).map("/".join)


@given(_SEGMENTS, _SEGMENTS)
def test_dots_are_remarked_on_when_resolving_keeps_them(base_path: str, text: str) -> None:
    base = "http://h/" + base_path
    # A base that climbs above its own root has ".." where a level could be.
    if "/.." in resolve(base, ".") or text.startswith("/"):
        return
    kept = ".." in resolve(base, text or ".").split("/")
    listed = [one for one in violations(text, base) if one.kind is Severity.PRACTICE]
    assert bool(listed) == kept


@pytest.mark.parametrize(
    ("base", "places"),
    [
        # §2.3: mailto, news and telnet are never used with relative URLs
        ("mailto:a@b", [(0, 6, "RFC 1808 §2.3", None)]),
        ("news:a", [(0, 4, "RFC 1808 §2.3", None)]),
        ("telnet://h/", [(0, 6, "RFC 1808 §2.3", None)]),
        ("z:a", [(0, 2, "RFC 1808 §5.3", "./z:"), (2, 3, "RFC 1808 §2.3", None)]),
        # §2.2: generic-RL = scheme ":" relativeURL
        ("/a", [(0, 0, "RFC 1808 §2.2", None)]),
        # §4 step 6 has no segment to take away
        ("http://a", [(8, 8, "RFC 1808 §4", "/")]),
        # §5.3
        ("ftp://h/a;type=d", [(9, 16, "RFC 1808 §5.3", "/")]),
        *((base, []) for base in ("http://a/", "file:///a", "x:/a")),
    ],
)
def test_bases(base: str, places: list[tuple[int, int, str, str | None]]) -> None:
    found = [one for one in base_violations(base) if one.kind is Severity.PRACTICE]
    assert [(one.start, one.end, one.section, one.replacement) for one in found] == places


def test_remarks_are_moved_to_where_the_url_stands() -> None:
    found = [one for one in violations(" <URL:this:that>") if one.kind is Severity.PRACTICE]
    assert [(one.start, one.end) for one in found] == [(6, 11)]


def test_messages_stay_short() -> None:
    for text in ("a" * 100_000 + ":b", "a_" * 100_000 + ":b", "../" * 100_000):
        assert all(len(one.message) < 200 for one in violations(text, _BASE))
