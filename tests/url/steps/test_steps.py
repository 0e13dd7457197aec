"""The steps: their results are those of the resolvers, and of RFC 1808 §5."""

from __future__ import annotations

import random
from typing import Final
from urllib.parse import urlsplit

import pytest
from growth import assert_linear_from_10_ms
from rfc1808_examples import ABNORMAL, BASE, NORMAL, RECOMMENDED

from relbase.url.resolver import Profile, Resolver
from relbase.url.steps.step import MAX_REPEATED, MAX_STACK, Step

EXAMPLES = [*NORMAL, *ABNORMAL, *RECOMMENDED]


def shown(steps: list[Step]) -> str:
    lines = []
    for step in steps:
        stack = "" if step.stack is None else f"  [{' | '.join(step.stack)}]"
        value = "" if step.value is None else f"  -> {step.value}"
        lines.append(f"  {step.number:4} {step.text}{stack}{value}")
    return "\n".join(lines)


def test_there_are_42_examples_in_the_rfc() -> None:
    assert len(EXAMPLES) == 42


@pytest.mark.parametrize(("reference", "expected"), EXAMPLES)
def test_the_steps_of_the_examples_of_rfc_1808(reference: str, expected: str) -> None:
    steps = list(Resolver(BASE).steps(reference))
    print(f"<{reference}>", shown(steps), sep="\n")  # noqa: T201 (pytest -s shows all 42)
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
  2a   the reference is not empty
  2b   it starts with no scheme name
  2c   it inherits the scheme "http"
  3    its net_loc is empty: it inherits "a"
  4    its path is not preceded by a slash
  5    its path is not empty
  6    the last segment of the base's path, "d", gives way to the reference's  \
[b | c | . | .. | g | x | .. | ]  -> /b/c/./../g/x/../
  6a   1 x "./" is removed  [b | c | .. | g | x | .. | ]  -> /b/c/../g/x/../
  6b   the path does not end with "."
  6c   "c/../" is removed  [b]
  6c   "x/../" is removed  [b | g]
  6d   the path does not end with "<segment>/.."
  7    the components are recombined  -> http://a/b/g/;y"""
    )


def test_the_loop_of_rfc_3986_has_its_buffers() -> None:
    # §5.2.4 has this table: the input and the output buffer after each turn
    steps = list(Resolver("http://a/", "rfc3986").steps("/a/b/c/./../../g"))
    turns = [(step.number, step.stack) for step in steps if step.number.startswith("5.2.4 2")]
    assert turns == [
        ("5.2.4 2E", ("/a",)),
        ("5.2.4 2E", ("/a", "/b")),
        ("5.2.4 2E", ("/a", "/b", "/c")),
        ("5.2.4 2B", ("/a", "/b", "/c")),
        ("5.2.4 2C", ("/a", "/b")),
        ("5.2.4 2C", ("/a",)),
        ("5.2.4 2E", ("/a", "/g")),
    ]


# (base, reference, the states that the parser goes through)
STATES = [
    ("http://a/b/c", "../g?y#s", "no scheme|relative|relative|path|path|query|fragment"),
    ("http://a/b/c", "http:g", "scheme|special relative or authority|relative|relative|path"),
    ("http://a/b/c", "https:g", "scheme|special authority slashes|authority|host|path start|path"),
    (
        "http://a/b/c",
        "\\\\h\\x",
        "no scheme|relative|relative slash|authority|host|path start|path",
    ),
    ("http://a/b/c", "?y", "no scheme|relative|query"),
    ("http://a/b/c?q", "#s", "no scheme|relative|relative|fragment"),
    ("http://a/b/c", "x:y", "scheme|opaque path"),
    ("x:/a/b", "//h", "no scheme|relative|relative slash|authority|host"),
    ("file:///a/b", "/c", "no scheme|file|file slash|path"),
    ("mailto:x", "#s", "no scheme|fragment"),
    ("", "http://h/", "scheme|special authority slashes|authority|host|path start|path"),
]


@pytest.mark.parametrize(("base", "reference", "states"), STATES)
def test_the_states_of_the_whatwg_parser(base: str, reference: str, states: str) -> None:
    numbers = [step.number for step in Resolver(base, "whatwg").steps(reference)]
    assert numbers[:2] == ["basic URL parser", "scheme start state"]
    assert numbers[-1] == "URL serializer"
    passed = [number.removesuffix(" state") for number in numbers[2:-1]]
    assert [state for state in passed if state] == states.split("|")


@pytest.mark.parametrize(("base", "reference"), [("http://a/", "http://["), ("mailto:x", "y")])
def test_a_failure_has_no_result(base: str, reference: str) -> None:
    last = list(Resolver(base, "whatwg").steps(reference))[-1]
    assert (last.number, last.value) == ("failure", None)


PIECES: Final = ["/", "//", ".", "..", "./", "../", "/..", "g", "h/", "a:", "?y", "#f", ";x", "%2e"]
PIECES_MORE: Final = ["http:", "//h", "foo:", "\\", "\t", " ", "\u00e9", ""]
BASES: Final = [
    "http://a/b/c/d;p?q#f",
    "http://a",
    "file:/a/b",
    "x:a/b",
    "foo:/.//h",
    "http://a//b/../",
]


def test_the_results_are_those_of_the_resolvers() -> None:
    chosen = random.Random(7)
    merged = 0
    for _ in range(2_000):
        base = chosen.choice(BASES)
        reference = "".join(chosen.choices([*PIECES, *PIECES_MORE], k=chosen.randint(0, 6)))
        for profile in Profile:
            resolver = Resolver(base, profile)
            try:
                expected = resolver.resolve(reference)
            except ValueError:
                expected = None
            steps = list(resolver.steps(reference))
            merged += any(step.stack for step in steps)
            assert steps[-1].value == expected, (base, reference, profile)
    assert merged > 1_000


def test_the_stack_of_the_path_state_is_the_path_of_the_parser() -> None:
    chosen = random.Random(8)
    compared = 0
    for _ in range(2_000):
        pieces = [piece for piece in PIECES if ":" not in piece]
        reference = "".join(chosen.choices(pieces, k=chosen.randint(1, 6)))
        base = chosen.choice(["http://a/b/c/d;p?q", "foo://h/a//b/../c", "https://a/"])
        steps = list(Resolver(base, "whatwg").steps(reference))
        last = [step.stack for step in steps if step.number == "path state"]
        if not last or last[-1] is None or steps[-1].value is None:
            continue
        compared += 1
        assert "/" + "/".join(last[-1]) == urlsplit(steps[-1].value or "").path, (base, reference)
    assert compared > 500


@pytest.mark.parametrize("base", ["file:///C:/x/y", "file:///C:/", "file://h/C:/x", "file:///a/b"])
def test_drive_letters_are_kept_as_the_parser_keeps_them(base: str) -> None:
    # "shorten a url's path", "file state", "file slash state", "file host state", "path state"
    pieces = ["g", "..", "../", "/", "//", "C|", "d:", "?q", "file:", "\\", "h"]
    chosen = random.Random(8)
    resolver = Resolver(base, "whatwg")
    compared = 0
    for _ in range(500):
        reference = "".join(chosen.choices(pieces, k=chosen.randint(1, 4)))
        try:
            url = resolver.resolve(reference)
        except ValueError:
            continue
        last = [step.stack for step in resolver.steps(reference) if step.stack is not None]
        if last:
            compared += 1
            path = urlsplit(url).path
            assert "/" + "/".join(last[-1]) == path, reference
    assert compared > 250


@pytest.mark.parametrize("reference", ["http://[", "http://h:99999/x", "//a b/x", "file://[/x"])
def test_a_host_that_fails_ends_the_steps(reference: str) -> None:
    numbers = [step.number for step in Resolver("http://a/b", "whatwg").steps(reference)]
    assert numbers[-1] == "failure"
    assert numbers[-2].endswith("host state")


@pytest.mark.parametrize("profile", list(Profile))
def test_hostile_paths_have_few_steps_in_linear_time(profile: Profile) -> None:
    resolver = Resolver(BASE, profile)

    def take(reference: str) -> list[Step]:
        return list(resolver.steps(reference))

    long = "g" * 10_000
    for hostile in ("a/../" * 5_000, "./" * 5_000, "../" * 5_000, "a/" * 5_000, f"{long}/.."):
        steps = take(hostile)
        assert len(steps) <= MAX_REPEATED + 20
        assert all(len(step.stack or ()) <= MAX_STACK + 1 for step in steps)
        assert all(len(step.text) < 700 for step in steps)
    assert_linear_from_10_ms(take, lambda size: "a/../b/" * size)


def test_what_is_no_string_is_refused() -> None:
    with pytest.raises(TypeError, match="decode it first"):
        Resolver(BASE).steps(b"x")  # type: ignore[arg-type]
