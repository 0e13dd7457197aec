"""The short ways of the walk over a tree give what the long ones give."""

from __future__ import annotations

from typing import Final

import lxml.html
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relbase import Policy, Profile, Resolver
from relbase.trees import make_links_absolute

BASES: Final = (
    *("http://h.example/d/p.html", "http://h.example", "file:/a/b"),
    *("http://h.example/d;p/e?q=/r", "ftp://h/a//b", "http://h.example/a/../b"),
)
PIECES: Final = (
    *("../", "../../../../", "/", "a", ".", "..", "?", "#", ";", ":", "~b", "c.d", "-", "%20"),
    *("=", "&", " ", "a:b", "(c)", "@", "//h"),
)


@given(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join),
    st.sampled_from(BASES),
    st.sampled_from([Profile.RFC1808, Profile.RFC3986]),
)
def test_a_plain_path_becomes_what_the_resolver_says(
    reference: str, base: str, profile: Profile
) -> None:
    tree = lxml.html.Element("a", href=reference)
    links = make_links_absolute(tree, base, profile=profile)
    if links and reference.strip():
        assert links[0].url == Resolver(base, profile).resolve(reference.strip())
        assert tree.get("href") == links[0].url or " " in reference


@pytest.mark.parametrize("policy", [Policy(), Policy(keep=lambda reference: reference == "x")])
def test_a_policy_is_asked_for_plain_paths_too(policy: Policy) -> None:
    tree = lxml.html.Element("a", href="x")
    assert bool(make_links_absolute(tree, BASES[0], policy=policy)) is (policy.keep is None)
