"""The three profiles side by side, and the one door to them."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

import pytest
from rows import cases

from relbase import rewrite
from relbase.url.profiles import Profile, as_profile
from relbase.url.resolver import Resolver, resolve

BASE = "http://a/b/c/d;p?q#f"  # RFC 1808 §5


@cases(
    Path(__file__).with_name("resolving.txt"),
    "profiles",
    base=str,
    reference=str,
    rfc1808=str,
    rfc3986=str,
    whatwg=str,
)
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


def test_none_is_an_unknown_base() -> None:
    assert resolve(None, "x") == Resolver(None).resolve("x") == "x"
    assert Resolver(None) == Resolver("")


def test_what_is_no_base_is_refused_with_what_to_give() -> None:
    with pytest.raises(TypeError, match="the base must be a str"):
        Resolver(b"http://a/")  # type: ignore[arg-type]
    with pytest.raises(
        ValueError, match=r"the base '/no/scheme' is not a valid absolute URL .*: give"
    ):
        Resolver("/no/scheme", Profile.WHATWG)
    with pytest.raises(TypeError, match="the charset must be a str"):
        Resolver("http://a/", "whatwg", None)  # type: ignore[arg-type]


def test_a_charset_that_is_not_known_is_refused() -> None:
    for profile in Profile:
        with pytest.raises(ValueError, match="'klingon' is not a charset label: give 'utf-8'"):
            Resolver(BASE, profile, "klingon")


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
