"""urls.txt: URLs that match and that fail, each at its place; their parts; recommended practice."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases, lines, rows

from relbase.grammar.characters import CharacterClass, Severity
from relbase.grammar.urls import (
    Grammar,
    GrammarName,
    Url,
    base_violations,
    parse_url,
    verdicts,
    violations,
)
from relbase.url.resolver import resolve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from relbase.grammar.characters import Violation

URLS: Final = Path(__file__).with_name("urls.txt")
BASE: Final = "http://a/b/c/d;p?q#f"


def of_kind(kind: Severity, found: Iterable[Violation]) -> list[Violation]:
    return [one for one in found if one.kind is kind]


def failing(text: str, grammar: GrammarName | None = None) -> list[Violation]:
    return of_kind(Severity.VIOLATION, violations(text, grammar=grammar))


@pytest.mark.parametrize("grammar", ["rfc9", "", 5])
def test_a_grammar_is_one_of_two(grammar: Any) -> None:
    assert list(get_args(GrammarName)) == list(Grammar)
    with pytest.raises(ValueError, match=f"{grammar!r} is not a grammar: give one of rfc1808, rfc"):
        violations("a", grammar=grammar)


def remarks(text: str, base: str | None = None) -> list[Violation]:
    return of_kind(Severity.PRACTICE, violations(text, base))


def places(found: Iterable[Violation]) -> str:
    return " ".join(f"{one.start}-{one.end}" for one in found)


@pytest.mark.parametrize("text", [*" ".join(lines(URLS, "examples")).split(), ""])
def test_the_examples(text: str) -> None:
    for base in (None, BASE):
        assert of_kind(Severity.VIOLATION, violations(text, base)) == []
    assert parse_url(text).production


@cases(URLS, "parts", text=str, production=str, parts=str)
def test_parts(text: str, production: str, parts: str) -> None:
    fields: dict[str, Any] = dict(part.split("=", 1) for part in parts.split())
    assert parse_url(text) == Url(production, **fields)


def test_fieldspecs_are_pairs_and_nothing_is_a_relative_path() -> None:
    found = parse_url("prospero://h/a/b;c=d;=")
    assert (found.ppath, found.fieldspecs) == ("a/b", (("c", "d"), ("", "")))
    assert parse_url("prospero://h/").fieldspecs == ()
    assert parse_url("") == Url("rel_path")


def test_an_error_of_parse_url_names_place_production_and_section() -> None:
    with pytest.raises(ValueError, match=r"at character 10 .*hsegment, RFC 1738 §5") as raised:
        parse_url("http://h/~a")
    assert '"~" is national' in str(raised.value)


FAILING: Final = rows(URLS, "failing", str, int, str, str)
RELATIVE: Final = rows(URLS, "failing by RFC 1808", str, int, str, str)


@pytest.mark.parametrize(("text", "place", "production", "character_class"), [*FAILING, *RELATIVE])
def test_failing(text: str, place: int, production: str, character_class: str) -> None:
    found = failing(text)[0]
    assert (found.start, found.production) == (place, production)
    assert found.character_class is CharacterClass(character_class)


@pytest.mark.parametrize("row", RELATIVE)
def test_relative_urls_fail_by_rfc_1808(row: tuple[str, ...]) -> None:
    assert failing(row[0])[0].section == "RFC 1808 §2.2"


def test_failing_by_the_generic_syntax_alone() -> None:
    assert [one.start for one in failing("x:^", "rfc1808")] == [2]
    shown = [(one.grammar.value, one.production) for one in verdicts("x:y")]
    assert shown == [("rfc1808", "generic-RL"), ("rfc1738", "otherurl")]
    assert [one.is_url for one in verdicts("x:y")] == [True, True]
    assert [one.is_url for one in verdicts("y")] == [True, False]


@cases(URLS, "by RFC 1738 alone", text=str, expected=str)
def test_findings_of_rfc_1738_alone(text: str, expected: str | None) -> None:
    found = violations(text, grammar="rfc1738")
    shown = [f"{one.kind.value} {one.start} {one.section} {one.message}" for one in found]
    assert len(shown) == (expected is not None)
    assert expected is None or shown[0].startswith(expected)


@pytest.mark.parametrize(
    ("text", "least"), [("news:@h", "a uchar"), ("mailto:", "an xchar"), ("http://h:/", "a digit")]
)
def test_what_there_is_at_least_is_named(text: str, least: str) -> None:
    assert violations(text)[0].message.startswith(f"{least} is expected, ")


@cases(URLS, "going on", text=str, starts=str)
def test_the_search_goes_on_behind_a_violation(text: str, starts: str) -> None:
    assert " ".join(str(one.start) for one in failing(text)) == starts


@cases(URLS, "differing", text=str, place=str, production=str, section=str, replacement=str)
def test_where_the_rfcs_differ_rfc_1808_decides(
    text: str, place: str, production: str, section: str, replacement: str | None
) -> None:
    [found] = violations(text)
    assert found.kind is Severity.REMARK
    assert (places([found]), found.production, found.section) == (place, production, section)
    assert found.replacement == replacement
    assert parse_url(text).scheme


def test_a_tilde_is_reported_with_the_remark_of_rfc_2396() -> None:
    [found] = violations("http://h/~u")
    assert found.kind is Severity.VIOLATION
    assert found.character_class is CharacterClass.NATIONAL
    assert found.replacement == "%7E"
    assert "RFC 2396 §2.3" in found.message


@cases(URLS, "replacements", text=str, replacement=str)
def test_replacements(text: str, replacement: str | None) -> None:
    assert [found.replacement for found in violations(text)] == [replacement]


def test_the_address_in_brackets_is_one_place() -> None:
    [found] = violations("http://[2001:db8::1]:80/")
    assert (found.start, found.end) == (7, 20)
    assert "RFC 3986 §3.2.2" in found.message


# ---- what is around a URL (RFC 1738 Appendix)


@cases(URLS, "around", text=str, found=str)
def test_what_is_around_a_url(text: str, found: str) -> None:
    assert places(failing(text)) == found


def test_a_url_broken_across_lines_is_mended_by_dropping_the_break() -> None:
    # RFC 1738 Appendix, the example
    text = "<URL:ftp://info.cern.ch/pub/www/doc;\n      type=d>"
    found = failing(text)
    assert [text[one.start : one.end] for one in found] == ["<URL:", "\n      ", ">"]
    assert [one.replacement for one in found] == ["", "", ""]
    bad = text.replace("type=d", "type~=d")
    assert [bad[one.start : one.end] for one in failing(bad)][2] == "~"


# ---- recommended practice: RFC 1808 §5.3, §5.2 and §2.3


@cases(URLS, "practice", text=str, base=str, remedies=str)
def test_remedies(text: str, base: str | None, remedies: str) -> None:
    """The text with the remedy of each remark put in its place, one at a time."""
    replaced = [
        text[: found.start] + remedy + text[found.end :]
        for found in remarks(text, base)
        for remedy in (found.replacement, found.alternative)
        if remedy is not None
    ]
    assert replaced == [remedy.replace('""', "") for remedy in remedies.split()]


@given(st.lists(st.sampled_from("ab:._%41/"), min_size=1).map("".join))
def test_the_preferred_remedy_makes_a_relative_path_that_is_remarked_on_no_more(text: str) -> None:
    listed = [found for found in violations(text) if found.section == "RFC 1808 §5.3"]
    for found in listed:
        for remedy in (found.replacement, found.alternative):
            assert remedy is not None
            again = remedy + text[found.end :]
            assert [one for one in violations(again) if one.section == "RFC 1808 §5.3"] == []


_SEGMENTS: Final = st.lists(st.sampled_from(("..", ".", "a", "")), max_size=7).map("/".join)


@given(_SEGMENTS, _SEGMENTS)
def test_dots_are_remarked_on_when_resolving_keeps_them(base_path: str, text: str) -> None:
    base = "http://h/" + base_path
    # A base that climbs above its own root has ".." where a level could be.
    if "/.." in resolve(base, ".") or text.startswith("/"):
        return
    kept = ".." in resolve(base, text or ".").split("/")
    assert bool(remarks(text, base)) == kept


@cases(URLS, "bases", base=str, expected=str)
def test_bases(base: str, expected: str) -> None:
    found = of_kind(Severity.PRACTICE, base_violations(base))
    listed = [f"{places([one])} {one.section} {one.replacement}" for one in found]
    assert "; ".join(listed) == expected


def test_remarks_are_moved_to_where_the_url_stands() -> None:
    assert places(remarks(" <URL:this:that>")) == "6-11"


def test_messages_stay_short() -> None:
    for text in ("a" * 100_000 + ":b", "a_" * 100_000 + ":b", "../" * 100_000):
        assert all(len(one.message) < 200 for one in violations(text, BASE))
    for size, more in ((40, ""), (41, "...")):
        [found] = violations("x" * size + ":y")
        assert found.message.startswith(f'"{"x" * 40}{more}" reads as a scheme')
