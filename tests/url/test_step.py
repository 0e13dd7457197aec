"""The steps: their results are those of the resolvers, and of RFC 1808 §5."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from rfc1808_examples import ABNORMAL, BASE, NORMAL, RECOMMENDED
from rows import cases

from relbase.url.profiles import Profile
from relbase.url.resolver import Resolver
from relbase.url.step import MAX_REPEATED, Step

EXAMPLES = [*NORMAL, *ABNORMAL, *RECOMMENDED]


def shown(steps: list[Step]) -> str:
    lines = []
    for step in steps:
        value = "" if step.value is None else f"  -> {step.value}"
        lines.append(f"  {step.number:4} {step.text}{value}")
    return "\n".join(lines)


@pytest.mark.parametrize(("reference", "expected"), EXAMPLES)
def test_the_steps_of_the_examples_of_rfc_1808(reference: str, expected: str) -> None:
    steps = list(Resolver(BASE).steps(reference))
    print(f"<{reference}>", shown(steps), sep="\n")  # noqa: T201 (pytest -s shows all 42)
    assert len(EXAMPLES) == 42  # in the RFC
    assert steps[-1].value == expected
    assert [step.number for step in steps] == sorted(step.number for step in steps)
    assert steps[-1].number in {"2a", "2b", "7"}


def test_one_example_in_full() -> None:
    assert (
        shown(list(Resolver(BASE).steps("./../g/x/../;y")))
        == """\
  1    the base is established (section 3)  -> http://a/b/c/d;p?q#f
  2    the base has scheme "http", net_loc "a", path "/b/c/d", params "p", query "q", \
fragment "f"; the reference has path "./../g/x/../", params "y"
  2c   it starts with no scheme name: it inherits the scheme "http"
  3    its net_loc is empty: it inherits "a"
  6    the last segment of the base's path, "d", is removed  -> /b/c/./../g/x/../
  6a   no "./" is left  -> /b/c/../g/x/../
  6b   no "." is left at the end  -> /b/c/../g/x/../
  6c   "c/../" is removed
  6c   "x/../" is removed
  6d   no "<segment>/.." is left at the end  -> /b/g/
  7    the components are recombined  -> http://a/b/g/;y"""
    )


def test_the_loop_of_rfc_3986_has_its_output() -> None:
    # §5.2.4 has this table: the output buffer after each turn
    steps = Resolver("http://a/", "rfc3986").steps("/a/b/c/./../../g")
    turns = [(step.number, step.value) for step in steps if step.number.startswith("5.2.4 2")]
    assert turns == [
        ("5.2.4 2E", "/a"),
        ("5.2.4 2E", "/a/b"),
        ("5.2.4 2E", "/a/b/c"),
        ("5.2.4 2B", "/a/b/c"),
        ("5.2.4 2C", "/a/b"),
        ("5.2.4 2C", "/a"),
        ("5.2.4 2E", "/a/g"),
    ]


@cases(
    Path(__file__).with_name("resolving.txt"), "inherited", base=str, reference=str, inherited=str
)
def test_what_the_whatwg_parser_takes_from_the_base(
    base: str, reference: str, inherited: str
) -> None:
    steps = {step.number: step for step in Resolver(base, "whatwg").steps(reference)}
    assert list(steps) == ["basic URL parser", "base", "URL record", "inherited", "URL serializer"]
    assert steps["inherited"].text == f"as in the base: {inherited}"


def test_without_a_base_nothing_is_inherited() -> None:
    numbers = [step.number for step in Resolver("", "whatwg").steps(" http://h/")]
    assert numbers == ["basic URL parser", "URL record", "URL serializer"]


@pytest.mark.parametrize(("base", "reference"), [("http://a/", "http://["), ("mailto:x", "y")])
def test_a_failure_has_no_result(base: str, reference: str) -> None:
    last = list(Resolver(base, "whatwg").steps(reference))[-1]
    assert (last.number, last.value) == ("failure", None)


PIECES: Final = ["/", "//", ".", "..", "./", "../", "/..", "g", "h/", "a:", "?y", "#f", ";x", "%2e"]
PIECES_MORE: Final = ["http:", "//h", "foo:", "\\", "\t", " ", "\u00e9", ""]
BASES: Final = [BASE, "http://a", "file:/a/b", "x:a/b", "foo:/.//h", "http://a//b/../"]


def test_the_results_are_those_of_the_resolvers() -> None:
    chosen = random.Random(7)
    for _ in range(2_000):
        base = chosen.choice(BASES)
        reference = "".join(chosen.choices([*PIECES, *PIECES_MORE], k=chosen.randint(0, 6)))
        for profile in Profile:
            resolver = Resolver(base, profile)
            try:
                expected = resolver.resolve(reference)
            except ValueError:
                expected = None
            steps = resolver.steps(reference)
            assert steps[-1].value == expected, (base, reference, profile)


@pytest.mark.parametrize("profile", list(Profile))
def test_hostile_paths_have_few_steps_in_linear_time(profile: Profile) -> None:
    resolver = Resolver(BASE, profile)

    def take(reference: str) -> list[Step]:
        return list(resolver.steps(reference))

    long = "g" * 10_000
    for hostile in ("a/../" * 5_000, "./" * 5_000, "../" * 5_000, "a/" * 5_000, f"{long}/.."):
        steps = take(hostile)
        assert len(steps) <= 2 * MAX_REPEATED + 20
        assert all(len(step.text) < 700 for step in steps)
    assert_linear_from_10_ms(take, lambda size: "a/../b/" * size)
