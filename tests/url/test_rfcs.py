"""The laws of the algorithms of RFC 1808 and RFC 3986, each against its own text transcribed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import pytest
import test_rfc1808
import test_rfc3986
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rfc1808_examples import BASE

from relbase.url import rfc1808, rfc3986

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


class Rfc(NamedTuple):
    module: ModuleType
    literally_split: Callable[[str], object]
    literally_resolved: Callable[[str, str], str]
    normal: Callable[[str], str]  # what is left of a URL that is resolved once more

    def resolve(self, base: str, reference: str) -> str:
        resolved: str = self.module.PreparedBase(base).resolve(reference)
        return resolved


def without_dots(uri: str) -> str:
    """RFC 3986 leaves the dot segments of a path that is inherited whole."""
    parts = rfc3986.split(uri)
    return rfc3986.unsplit(parts._replace(path=rfc3986.remove_dot_segments(parts.path)))


RFCS: Final = [
    Rfc(
        rfc1808,
        lambda url: tuple(test_rfc1808.literally_split(url).values()),
        test_rfc1808.literally_resolved,
        str,
    ),
    Rfc(
        rfc3986,
        test_rfc3986.literally_parsed,
        test_rfc3986.literally_resolved,
        without_dots,
    ),
]
both = pytest.mark.parametrize("rfc", RFCS, ids=["1808", "3986"])

# What may matter to a parser: delimiters, dot segments whole and as parts of names, and names.
PIECES = ["/", "//", ".", "..", "./", "../", "/..", "g", "h/", "..g", "g.", ":", ";", "?", "#"]
PIECES += ["http:", "a1+", "\u00e9", " ", "\n", "\\", "%2e", "\udc80"]
STARTS = ["", "/", "//", "#", "?", ";", ".", "g", "http:", "http:."]
tails = st.lists(st.sampled_from(PIECES), max_size=9).map("".join)
references = st.builds("{}{}".format, st.sampled_from(STARTS), tails)
# Paths of little else than dot segments.
dotted = st.lists(st.sampled_from(["../", "../", "./", "g/", "/"]), max_size=6).map("".join)
dotted = st.builds("{}{}".format, dotted, st.sampled_from(["", ".", "..", "..", "g"]))
bases = st.builds(
    "{}:{}{}".format,
    st.sampled_from(["http", "ftp", "x", "x1.2"]),
    st.sampled_from(["", "//a", "//u:p@a:8", "//", "//a/b/c/d;p?q#f"]),
    st.one_of(tails, dotted.map("/{}".format)),
)


@both
def test_every_string_is_its_components_put_together(rfc: Rfc) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=500)
    @given(st.one_of(references, bases, st.text()))
    @example("g#s#t?y;x//h:z")
    @example("10.0.0.7:80/x")
    @example("+-.:x")
    @example(":g")
    @example("//u:p@h:1?y;x")
    @example("////x")
    @example("g;x;y/z?y?z;x")
    @example(";?#")
    def law(url: str) -> None:
        components = rfc.module.split(url)
        seen.update(name for name, value in components._asdict().items() if value)
        assert components == rfc.literally_split(url)
        assert rfc.module.unsplit(components) == url

    law()
    assert min(seen[name] for name in rfc.module.Components._fields) > 0, seen


@both
def test_every_answer_is_that_of_the_text(rfc: Rfc) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=500)
    @given(st.one_of(bases, st.just(BASE)), st.one_of(references, dotted))
    @example("x:a/b", "..//../../g")
    @example("http://a", "g")
    @example("http://a", "?y")
    @example("x:", "../g")
    @example("x:./", ".")
    @example("x:/a/..//b/c", "../g")
    @example("http://a/../b/", "../../g")
    def law(base: str, reference: str) -> None:
        shape = "absolute" if rfc.module.is_absolute(reference) else reference[:1]
        seen[shape] += 1
        seen["dots"] += "/." in reference
        assert rfc.resolve(base, reference) == rfc.literally_resolved(base, reference)

    law()
    shapes = ("absolute", "", "/", "#", "?", ";", ".", "g", "dots")
    assert all(seen[shape] for shape in shapes), seen


@both
def test_the_result_is_absolute_and_resolving_it_again_changes_nothing(rfc: Rfc) -> None:
    relative = 0

    @settings(max_examples=100)
    @given(bases, references, bases)
    def law(base: str, reference: str, other: str) -> None:
        nonlocal relative
        relative += not rfc.module.is_absolute(reference)
        result = rfc.resolve(base, reference)
        assert rfc.module.is_absolute(result)
        assert rfc.resolve(other, result) == rfc.normal(result)
        assert rfc.resolve("", reference) == reference  # RFC 1808 §4 step 1

    law()
    assert relative > 20


def test_following_is_resolving_again_and_again() -> None:
    assert rfc3986.follow("", ["./a"]) == "./a"
    merged = 0

    @settings(max_examples=300)
    @given(bases, st.lists(st.one_of(references, dotted), max_size=5))
    @example("x:./a", ["./b", "../c"])
    @example("x:/..", ["..//", "../", "?q../#f?q"])
    def law(base: str, chain: list[str]) -> None:
        nonlocal merged
        expected = base
        for reference in chain:
            expected = rfc3986.PreparedBase(expected).resolve(reference)
        assert rfc3986.follow(base, chain) == expected
        merged += len(chain) > 1 and not any(map(rfc3986.is_absolute, chain))

    law()
    assert merged > 50
