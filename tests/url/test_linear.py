"""Long and hostile references and bases take linear time in the three algorithms."""

from __future__ import annotations

from contextlib import suppress
from itertools import product
from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from rfc1808_examples import BASE

from relbase.url.profiles import Profile
from relbase.url.resolver import Resolver

PROFILES: Final = pytest.mark.parametrize("profile", list(Profile))


# Each of these is quadratic when patterns are removed one by one.
@PROFILES
@pytest.mark.parametrize(
    "repeated",
    ["../", "a/../", "./", "a/b/../../", "/../", "//", "../a/", "a/..//", "/.", "..;/"],
)
def test_many_segments(repeated: str, profile: Profile) -> None:
    resolver = Resolver(BASE, profile)

    def resolve_each(size: int) -> None:
        for prefix in ("", "x/", "/", "http:"):
            with suppress(ValueError):
                resolver.resolve(prefix + repeated * size)

    assert_linear_from_10_ms(resolve_each, int)


# threat N1: the base is merged with each reference, and what it has is looked at once
@pytest.mark.parametrize(
    ("repeated", "profile"),
    [*product(("a/../", "./", "../"), list(Profile)[:2]), ("a" * 30, Profile.WHATWG)],
)
def test_many_references_on_a_long_base(repeated: str, profile: Profile) -> None:
    # "../" is kept above the root in RFC 1808, so that each result is as long as the base.
    is_kept = repeated == "../" and profile is Profile.RFC1808

    def resolve_all(size: int) -> None:
        resolver = Resolver(f"http://a/{repeated * size}/x", profile)
        for number in range(size):
            for form in ("../{}", "./../{}", "{}/../../g", "/{}", "http://i/{}", "//i/{}"):
                if not is_kept or number < 10 or form[0] == "/":
                    resolver.resolve(form.format(f"\u00e9{number}"))

    assert_linear_from_10_ms(resolve_all, int, 1 << 8)


@pytest.mark.parametrize("charset", ["utf-8", "iso-2022-jp"])
@PROFILES
def test_long_references(profile: Profile, charset: str) -> None:
    # What a parser looks for and what it passes over. All of them at once: one that is quadratic
    # outweighs the rest, and alone most take no time that could be measured.
    resolver = Resolver(BASE, profile, charset)

    def make(size: int) -> list[str]:
        repeated = (*"a:/?;#.\u00e9\u2603 \t%@", "a:", "a\u3042", "%2e%2e/", "..\\")
        return [prefix + one * size for prefix in ("", "./", "//", "?", "g") for one in repeated]

    def resolve_each(references: list[str]) -> None:
        for reference in references:
            with suppress(ValueError):
                resolver.resolve(reference)

    assert_linear_from_10_ms(resolve_each, make)
