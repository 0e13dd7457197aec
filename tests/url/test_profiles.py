"""A profile is a row."""

import sys
from importlib import import_module
from typing import get_args

import pytest

from relbase import Profile
from relbase.url import profiles
from relbase.url.profiles import PROFILES, ProfileName, algorithm, as_profile, offered


def test_each_profile_has_a_row_and_a_module() -> None:
    assert set(PROFILES) == set(Profile)
    for profile in Profile:
        module = algorithm(profile)
        assert module.PreparedBase("http://h/d/", "utf-8").resolve("x") == "http://h/d/x"
        assert module.is_absolute("x:y", "")
        assert module.parses_alone("x:y")
        assert "h" in module.split("http://h/")


def test_a_missing_row_is_reported_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(PROFILES, Profile.RFC3986)
    with pytest.raises(TypeError, match=r"RFC3986.* has no row: .*relbase/url/profiles\.py"):
        profiles._check()  # noqa: SLF001


def test_a_missing_name_is_reported_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    assert get_args(ProfileName) == tuple(Profile)
    monkeypatch.setattr(profiles, "ProfileName", None)
    with pytest.raises(TypeError, match=r"ProfileName in relbase/url/profiles\.py is not \['rfc18"):
        profiles._check()  # noqa: SLF001


def test_a_profile_whose_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ada_url", None)
    with pytest.raises(ValueError, match=r"needs the package ada-url.*: give rfc1808 or rfc3986"):
        as_profile("whatwg")
    assert as_profile("rfc3986") is Profile.RFC3986


def test_the_help_names_each_profile() -> None:
    assert offered() == "rfc1808 (default), rfc3986 or whatwg (as browsers do)"


def test_climbs_and_the_section_that_leaves_them_agree() -> None:
    for profile, row in PROFILES.items():
        url = import_module(f"relbase.url.{row.module}").PreparedBase("http://h/").resolve("../x")
        assert ("/../" in url) == bool(row.climbs_by), profile
