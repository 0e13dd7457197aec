"""`explain` with all profiles: what each makes of a link, and the step where they part."""

import re
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

import relbase
from relbase.explaining.page import page
from relbase.explaining.steps import MAX_TAKEN, deciding, taken
from relbase.session.session import check
from relbase.url.profiles import Profile

URL: Final = "http://a/b/c/d;p?q"

# A reference, and of each profile the URL, and the number of the step where it parts: RFC 1808 §4,
# RFC 3986 §5.2.
PARTING: Final = [
    (";x", [("http://a/b/c/d;x", "5a"), ("http://a/b/c/;x", "5.2.3"), ("http://a/b/c/;x", None)]),
    ("../../../x", [("http://a/../x", "6d"), ("http://a/x", "5.2.4 2C"), ("http://a/x", None)]),
    ("http:x", [("http:x", "2b"), ("http:x", "5.2.2"), ("http://a/b/c/x", None)]),
    (
        "g;x=1/../y",
        [("http://a/b/c/g;x=1/../y", "6"), ("http://a/b/c/y", "5.2.3"), ("http://a/b/c/y", None)],
    ),
]


def rows(document: bytes, **call: str) -> list[list[tuple[str, str, str]]]:
    """The tables of a page about a document: profile, URL and step, as texts."""
    markup, _ = page(document, check(**call), compares=True)  # type: ignore[arg-type]
    tables = re.findall(r'<table class="profiles">(.*?)</table>', markup)
    pattern = r'<tr><th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td></tr>'
    return [
        [tuple(re.sub(r"<[^>]+>", " ", cell).strip() for cell in row) for row in cells]  # type: ignore[misc]
        for cells in (re.findall(pattern, table) for table in tables)
    ]


@pytest.mark.parametrize(("reference", "expected"), PARTING)
def test_each_profile_has_its_url_and_its_step(
    reference: str, expected: list[tuple[str, str | None]]
) -> None:
    [table] = rows(f'<title>t</title><a href="{reference}">'.encode(), url=URL)
    assert [profile for profile, _, _ in table] == [profile.value for profile in Profile]
    assert [url for _, url, _ in table] == [url for url, _ in expected]
    for (_, _, step), (_, number) in zip(table, expected, strict=True):
        named = f"§4 step {number}:" if number and "." not in number else f"§{number}:"
        assert (named if number else "URL Standard, inherited:") in step


def test_where_profiles_agree_there_is_no_table() -> None:
    markup, _ = page(b"<a href=y><a href=;x>", check(url=URL), compares=True)
    assert markup.count("The three profiles agree.") == 1
    assert 'The profiles part at 1 reference: <a href="#r2">2</a>.' in markup
    markup, _ = page(b"<a href=y>", check(url=URL), compares=True)
    assert "The profiles agree on every reference." in markup
    assert "profile all, marked by the first" in markup


def test_without_all_no_profile_is_compared() -> None:
    markup = relbase.explain(b"<a href=;x>", url=URL)
    assert "profiles agree" not in markup
    assert 'class="profiles"' not in markup


def test_bases_that_differ_are_shown() -> None:
    [_, table] = rows(b'<base href="../../../x/"><a href="y">', url=URL)
    assert [url.split() for _, url, _ in table] == [
        ["http://a/../x/y", "base", "http://a/../x/"],
        ["http://a/x/y", "base", "http://a/x/"],
        ["http://a/x/y", "base", "http://a/x/"],
    ]


def test_a_profile_that_makes_no_url_says_so() -> None:
    [table] = rows(b'<a href="http://[x">', url=URL)
    assert table[2][:2] == ("whatwg", "kept")
    assert table[2][2].endswith("returns failure")


def test_a_long_reference_has_no_steps() -> None:
    [link] = relbase.links(f"<a href=';{'x' * MAX_TAKEN}'>".encode(), url=URL)
    assert taken(link, Profile.RFC1808, "utf-8") == []
    [table] = rows(f"<a href=';{'x' * MAX_TAKEN}'>".encode(), url=URL)
    assert [step for _, _, step in table] == ["", "", ""]


@given(st.text(alphabet=";/.?#x:ahtp\\", max_size=12))
def test_the_table_says_what_each_profile_resolves(reference: str) -> None:
    document = f'<title>t</title><a href="{reference}">'.encode()
    found = [list(relbase.links(document, url=URL, profile=profile)) for profile in Profile]
    urls = [links[0].url for links in found]
    tables = rows(document, url=URL)
    assert bool(tables) == (len({*urls}) > 1)
    for table in tables:
        assert [url for _, url, _ in table] == [
            url if url is not None else links[0].status.value
            for url, links in zip(urls, found, strict=True)
        ]


def test_the_step_that_decides_is_followed_by_those_that_carry_it_out() -> None:
    [link] = relbase.links(b"<a href=../x>", url=URL)
    steps = taken(link, Profile.RFC1808, "utf-8")
    assert [step.number for step in steps[steps.index(deciding(steps, Profile.RFC1808)) :]] == [
        *("6", "6a", "6b", "6c", "6d", "7")
    ]
