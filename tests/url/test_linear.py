"""Long and hostile references and bases take linear time in the two algorithms of RFCs."""

from __future__ import annotations

from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from rfc1808_examples import BASE

from relbase.url.resolver import Profile, Resolver, resolve

RFCS: Final = (Profile.RFC1808, Profile.RFC3986)
SEGMENTS: Final = (
    *("../", "a/../", "./", "a/b/../../", "/../", "//", "../a/", "a/..//", "/.", "..;/"),
)


# Each of these is quadratic when patterns are removed one by one.
@pytest.mark.parametrize("profile", RFCS)
@pytest.mark.parametrize("repeated", SEGMENTS)
def test_many_segments(repeated: str, profile: Profile) -> None:
    resolver = Resolver(BASE, profile)

    def resolve_each(size: int) -> None:
        for prefix in ("", "x/", "/", "http:"):
            resolver.resolve(prefix + repeated * size)

    assert_linear_from_10_ms(resolve_each, int)


@pytest.mark.parametrize("profile", RFCS)
@pytest.mark.parametrize("repeated", ["../", "a/../", "./"])
def test_many_segments_in_the_base(repeated: str, profile: Profile) -> None:
    assert_linear_from_10_ms(
        lambda base: resolve(base, "../g", profile), lambda size: "http://a/" + repeated * size
    )


# threat N1: the base is merged with each reference, and what it has is looked at once
@pytest.mark.parametrize("profile", RFCS)
@pytest.mark.parametrize("repeated", ["a/../", "./", "../"])
def test_many_references_on_a_base_of_dot_segments(repeated: str, profile: Profile) -> None:
    # "../" is kept above the root in RFC 1808, so that each result is as long as the base.
    is_kept = repeated == "../" and profile is Profile.RFC1808

    def resolve_all(size: int) -> None:
        resolver = Resolver(f"http://a/{repeated * size}", profile)
        for number in range(size):
            for form in ("../{}", "./../{}", "{}/../../g", "{}", "/{}"):
                if not is_kept or number < 10 or form == "/{}":
                    resolver.resolve(form.format(number))

    assert_linear_from_10_ms(resolve_all, int, 1 << 8)


@pytest.mark.parametrize("profile", RFCS)
def test_long_references(profile: Profile) -> None:
    # What a parser looks for and what it passes over. All of them at once: one that is quadratic
    # outweighs the rest, and alone most take no time that could be measured.
    resolver = Resolver(BASE, profile)

    def make(size: int) -> list[str]:
        repeated = ("a", ":", "a:", "/", "?", ";", "#", ".", "\u00e9", " ")
        return [prefix + one * size for prefix in ("", "./", "//", "g") for one in repeated]

    def resolve_each(references: list[str]) -> None:
        for reference in references:
            resolver.resolve(reference)

    assert_linear_from_10_ms(resolve_each, make)
