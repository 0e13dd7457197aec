"""`relbase check`: what it prints, in which order, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import run

from relbase.url.grammar import MAX_VIOLATIONS

if TYPE_CHECKING:
    from click.testing import Result


def _run(*arguments: str, stdin: bytes = b"") -> Result:
    return run("check", *arguments, stdin=stdin)


def _objects(result: Result) -> list[Any]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_text_with_a_caret_under_the_place() -> None:
    result = _run("http://a/~b/{c}")
    assert result.exit_code == 1
    assert result.stdout == (
        "http://a/~b/{c}\n"
        "         ^\n"
        '    violation at character 10: "~" is national: hsegment does not allow it;'
        ' RFC 2396 §2.3 allows it (hsegment, RFC 1738 §5); write "%7E"\n'
        "            ^\n"
        '    violation at character 13: "{" is national: hsegment does not allow it'
        ' (hsegment, RFC 1738 §5); write "%7B"\n'
        "              ^\n"
        '    violation at character 15: "}" is national: hsegment does not allow it'
        ' (hsegment, RFC 1738 §5); write "%7D"\n'
    )


def test_both_remedies_of_a_colon_the_preferred_one_first() -> None:
    result = _run("this:that")
    assert result.exit_code == 0
    assert result.stdout.startswith("this:that\n^~~~~\n    practice at character 1: ")
    assert result.stdout.endswith('RFC 1808 §5.3); write "./this:", or write "this%3A"\n')


def test_what_is_to_be_left_out() -> None:
    assert _run(" a").stdout.endswith("(URL, RFC 1738 Appendix); leave it out\n")


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("http://a/",), 0),
        (("this:that",), 0),
        (("../g", "--base", "http://a/"), 0),
        (("http://a/{",), 1),
        (("http:g", "--base", "http://a/"), 1),
        (("g", "--base", "http://{/"), 1),
        (("http://a/", "http://a/{", "http://a/"), 1),
        (("http://a/{", "--json"), 1),
        (("--nonsense",), 2),
        (("--strict", "this:that"), 1),
        (("--strict", "http://a/b"), 0),
    ],
)
def test_the_exit_status(arguments: tuple[str, ...], status: int) -> None:
    assert _run(*arguments).exit_code == status


def test_the_base_is_judged_first_and_then_on_it() -> None:
    result = _run("../g", "http:g", "--base", "http://a", "--json")
    base, dots, scheme = _objects(result)
    assert (base["url"], base["base"]) == ("http://a", None)
    assert [one["section"] for one in base["violations"]] == ["RFC 1808 §4"]
    assert (dots["url"], dots["base"]) == ("../g", "http://a")
    assert [one["section"] for one in dots["violations"]] == ["RFC 1808 §5.2"]
    assert [one["kind"] for one in scheme["violations"]] == ["practice", "violation"]


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_a_list_from_standard_input(arguments: tuple[str, ...]) -> None:
    result = _run(*arguments, stdin=b"http://a/\r\n\nb c\n\xff")
    assert result.exit_code == 1
    assert [line for line in result.stdout.splitlines() if line[0] not in " ^"] == [
        "http://a/",
        "b c",
        "\\udcff",
    ]
    assert 'lone surrogate: segment does not allow it (segment, RFC 1808 §2.2); write "%FF"' in (
        result.stdout
    )


def test_standard_input_stands_where_the_hyphen_stands() -> None:
    result = _run("a", "-", "b", "--json", stdin=b"1\n2\n")
    assert [one["url"] for one in _objects(result)] == ["a", "1", "2", "b"]


def test_an_empty_list_is_no_violation() -> None:
    result = _run(stdin=b"")
    assert (result.exit_code, result.stdout) == (0, "")


@given(st.text())
def test_nothing_that_a_terminal_obeys_is_printed(text: str) -> None:
    for shown in (_run("--", text), _run("--json", "--", text)):
        lines = shown.stdout.replace("§", "")
        assert all(" " <= character <= "~" for character in lines.replace("\n", ""))


@pytest.mark.parametrize(
    ("text", "shown", "caret"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb", " ^~~~"),
        ("a\u202eb", "a\\u202eb", " ^~~~~~"),
        ("a\ud800", "a\\ud800", " ^~~~~~"),
        ("\x00\x00~", "\\x00\\x00~", "^~~~"),
        ("a\U0001f600", "a\\U0001f600", " ^~~~~~~~~~"),
    ],
)
def test_characters_that_are_not_printable_are_escaped(text: str, shown: str, caret: str) -> None:
    assert _run(text).stdout.splitlines()[:2] == [shown, caret]


def test_a_long_url_is_shown_around_the_place() -> None:
    result = _run("http://a/" + "b" * 1_000_000 + "{" + "c" * 1_000_000, "x" * 1_000_000)
    shown, caret, sentence, other, ok = result.stdout.splitlines()
    assert shown == "..." + "b" * 40 + "{" + "c" * 31 + "..."
    assert shown[caret.index("^")] == "{"
    assert "character 1000010" in sentence
    assert other == "x" * 32 + "..."
    assert ok == "    ok: rel_path"


def test_a_long_place_and_a_long_remedy_are_cut() -> None:
    result = _run("<" + " " * 1_000_000 + "a>", "a" * 1_000_000 + "_:b")
    assert all(len(line) < 400 for line in result.stdout.splitlines())


def test_many_violations_are_limited() -> None:
    result = _run("http://a/" + "~" * 1000)
    assert result.stdout.count("violation at character") == MAX_VIOLATIONS
    assert f"the first {MAX_VIOLATIONS} violations are reported" in result.stdout


def test_a_file_is_not_a_url() -> None:
    Path("my page.html").touch()
    result = _run("my page.html", "other.html")
    fix = "to check its links: relbase rewrite --check 'my page.html'"
    assert result.stderr == f"warning: 'my page.html' is a file; {fix}\n"


def test_the_advice_stands_once() -> None:
    reported = _run("http:g").stdout
    assert 'not needed where the base is of scheme "http" too' in reported
    assert reported.count("leave it out") == 1


# (URL, production by RFC 1808 §2.2, production by RFC 1738 §5; None: no URL)
VERDICTS = [
    ("http:g", "generic-RL", None),
    ("file:/etc/passwd", "generic-RL", None),
    ("http://u:p@h/", "generic-RL", None),
    ("http://h/", "generic-RL", "httpurl"),
    ("news:a@b.c", "generic-RL", "newsurl"),
    ("x:a//b", "generic-RL", "otherurl"),
    ("x:////a", "absoluteURL", "otherurl"),
    ("http://h/?a/b", "generic-RL", None),
    ("http://h/~", None, None),
    ("../g", "rel_path", None),
]


@pytest.mark.parametrize(("url", "generic", "own"), VERDICTS)
def test_both_grammars_are_asked(url: str, generic: str | None, own: str | None) -> None:
    [found] = _objects(_run("--json", url))
    assert (found["rfc1808"], found["rfc1738"]) == (generic, own)
    for grammar, production in (("rfc1808", generic), ("rfc1738", own)):
        result = _run("--grammar", grammar, url)
        assert result.exit_code == (production is None)
        assert f"ok: {production}\n" in result.stdout or "character" in result.stdout


def test_verdicts_that_differ_are_shown_with_what_they_come_from() -> None:
    result = _run("http:g")
    assert result.exit_code == 1
    assert result.stdout.endswith(
        "    verdicts: a URL by RFC 1808 §2.2 (generic-RL), not a URL by RFC 1738 §5 (httpurl)\n"
    )
    for url in ("http://h/", "http://h/~", "../g"):
        assert "verdicts" not in _run(url).stdout
