"""The whole of the grammar: against the BNF of the RFCs themselves, and the laws.

productions.txt has the productions as the RFCs print them. A reader of that notation turns each
into a regular expression, which says what matches, and into a strategy, which generates what must
match. Neither shares anything with the package.
"""

from __future__ import annotations

import re
import string
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from growth import assert_linear_from_10_ms
from hypothesis import example, given
from hypothesis import strategies as st
from rows import lines
from tables import load_table

from relbase.grammar.characters import CharacterClass, Severity
from relbase.grammar.urls import (
    MAX_VIOLATIONS,
    base_violations,
    parse_url,
    violations,
)
from relbase.url.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase.grammar.characters import Violation

_PRODUCTIONS: Final = Path(__file__).with_name("productions.txt")
_SETS: Final = {
    "lowalpha": string.ascii_lowercase,
    "alpha": string.ascii_letters,
    "digit": string.digits,
    "hexletter": "ABCDEFabcdef",
}

_URLS_1738: Final = [
    f"{scheme}url"
    for scheme in (
        *("http", "ftp", "news", "nntp", "telnet", "gopher", "wais", "mailto", "file", "prospero"),
    )
]


class _Grammar:
    """A reader of the notation: of each production a pattern and a strategy."""

    def __init__(self, title: str, *more: str) -> None:
        bnf = (*lines(_PRODUCTIONS, "both"), *lines(_PRODUCTIONS, title), *more)
        self.rules = {
            name.strip(): rule.strip() for name, _, rule in (line.partition("=") for line in bnf)
        }
        self.patterns = {name: "[" + letters + "]" for name, letters in _SETS.items()}
        self.strategies: dict[str, st.SearchStrategy[str]] = {
            name: st.sampled_from(letters) for name, letters in _SETS.items()
        }

    def pattern(self, name: str) -> str:
        if name not in self.patterns:
            self.patterns[name], self.strategies[name] = self._read(name)
        return self.patterns[name]

    def strategy(self, name: str) -> st.SearchStrategy[str]:
        self.pattern(name)
        return self.strategies[name]

    def _read(self, name: str) -> tuple[str, st.SearchStrategy[str]]:
        tokens = re.findall(r'"[^"]*"|[\w+-]*[A-Za-z][\w+-]*|\d*\*|[()\[\]|]', self.rules[name])
        pattern, strategy, rest = self._alternatives(tokens)
        assert not rest, (name, rest)
        return pattern, strategy

    def _alternatives(self, tokens: list[str]) -> tuple[str, Any, list[str]]:
        patterns, strategies = [], []
        while True:
            pattern, strategy, tokens = self._sequence(tokens)
            patterns.append(pattern)
            strategies.append(strategy)
            if tokens[:1] != ["|"]:
                return f"(?:{'|'.join(patterns)})", st.one_of(strategies), tokens
            tokens = tokens[1:]

    def _sequence(self, tokens: list[str]) -> tuple[str, Any, list[str]]:
        patterns, strategies = [], []
        while tokens and tokens[0] not in {"|", ")", "]"}:
            pattern, strategy, tokens = self._element(tokens)
            patterns.append(pattern)
            strategies.append(strategy)
        return "".join(patterns), st.tuples(*strategies).map("".join), tokens

    def _element(self, tokens: list[str]) -> tuple[str, Any, list[str]]:
        token, *rest = tokens
        if token.endswith("*"):
            at_least = int(token[:-1] or 0)
            pattern, strategy, rest = self._repeated(rest)
            several = st.lists(strategy, min_size=at_least, max_size=5).map("".join)
            return f"(?:{pattern}){{{at_least},}}", several, rest
        if token in {"(", "["}:
            pattern, strategy, rest = self._alternatives(rest)
            if token == "(":
                return pattern, strategy, rest[1:]
            return f"(?:{pattern})?", st.one_of(st.just(""), strategy), rest[1:]
        if token[0] == '"':
            return re.escape(token[1:-1]), st.just(token[1:-1]), rest
        return self.pattern(token), self.strategies[token], rest

    def _repeated(self, tokens: list[str]) -> tuple[str, Any, list[str]]:
        # In RFC 1738 the brackets after "*" only group.
        if tokens[0] in {"(", "["}:
            pattern, strategy, rest = self._alternatives(tokens[1:])
            return pattern, strategy, rest[1:]
        return self._element(tokens)


_RFC_1808: Final = _Grammar("RFC 1808 §2.2")
_RFC_1738: Final = _Grammar("RFC 1738 §5")

# RFC 1808 decides where the two differ: its query takes "/" and "?" (§2.2, §5.1 `g?y/./x`).
_DECIDED: Final = _Grammar("RFC 1738 §5", "search = *xchar")


def _violating(text: str) -> list[Violation]:
    return [found for found in violations(text) if found.kind is Severity.VIOLATION]


def _matcher(grammar: _Grammar, production: str) -> Callable[[str], re.Match[str] | None]:
    return re.compile(grammar.pattern(production), re.IGNORECASE).fullmatch


_OF_SCHEME: Final = {name.removesuffix("url"): _matcher(_DECIDED, name) for name in _URLS_1738}
_RELATIVE: Final = _matcher(_RFC_1808, "relativeURL")
_FRAGMENT: Final = _matcher(_RFC_1808, "fragment")
_OTHER: Final = _matcher(_RFC_1738, "otherurl")
_ABSOLUTE: Final = _matcher(_RFC_1808, "absoluteURL")


def _is_url(text: str) -> bool:
    """What the RFCs' own productions say."""
    url, crosshatch, fragment = text.partition("#")
    if crosshatch and not _FRAGMENT(fragment):
        return False
    scheme = re.match(r"([A-Za-z0-9+.-]+):", url)  # RFC 1808 §2.4.2
    if scheme is None:
        return bool(_RELATIVE(url))
    own = _OF_SCHEME.get(scheme[1].lower())
    if own is not None:
        return bool(own(url))
    assert bool(_OTHER(url)) == bool(_ABSOLUTE(url))
    return bool(_OTHER(url))


# What is generated from the grammar passes


@pytest.mark.parametrize("production", [*_URLS_1738, "otherurl", "URL"])
def test_what_a_production_generates_is_a_url(production: str) -> None:
    grammar = _RFC_1808 if production == "URL" else _RFC_1738
    seen: set[str] = set()

    @given(grammar.strategy(production))
    def passes(text: str) -> None:
        if production in {"otherurl", "URL"} and text.partition(":")[0].lower() in _OF_SCHEME:
            return
        assert _violating(text) == []
        found = parse_url(text).production
        assert production in {found, "URL"} or (production, found[:4]) == ("waisurl", "wais")
        seen.add(text)

    passes()
    assert len(seen) > 20


# What is corrupted fails where it was corrupted

_BAD: Final = '{}|\\^~[]`<>" \t\n\0\x7f\x1b\xe9\u202e\U0001f600\ud800\udcff'
_ANY_URL: Final = st.one_of(
    *(_RFC_1738.strategy(name) for name in _URLS_1738),
    _RFC_1738.strategy("otherurl"),
    _RFC_1808.strategy("URL"),
)


@given(_ANY_URL, st.data())
def test_a_character_that_is_in_no_url_is_found_wherever_it_stands(
    text: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(text)))
    bad = data.draw(st.sampled_from(_BAD))
    corrupted = text[:at] + bad + text[at:]
    found = {one.start: one for one in _violating(corrupted)}
    assert at in found
    assert found[at].character == bad
    with pytest.raises(ValueError, match="not a URL: at character"):
        parse_url(corrupted)


# What matches is what the RFCs' productions match

_PREFIXES: Final = st.sampled_from(
    (
        *("", "http://", "ftp://", "ftp://h/", "news:", "nntp://h/", "telnet://", "mailto:"),
        *("wais://h/", "file://", "prospero://h/", "gopher://h/", "x:", "x://", "//", "/"),
        *("http:", "http:/", "ftp://h/a;type=", "HTTP://h/", "prospero://h/a;", "http://h"),
    )
)
_SOUP: Final = st.text(st.sampled_from("ahi19.-_+/:;?@&=%#*~{ \xe9,$A"), max_size=14)
_verdicts: set[bool] = set()


@given(_PREFIXES, _SOUP)
@example("http://", "a-.b")
@example("http://", "1.2.3.4.5")
@example("http://", "h?x@y")
@example("http://", "a:80@h")
@example("ftp://", "u:p:q@h")
@example("ftp://", "u@v@h")
@example("", "//h//x")
@example("news:", "*@h")
@example("news:", "**")
@example("wais://h/", "a?b/c?d")
@example("wais://h/", "a/b?/c")
@example("gopher://h/", "%09%09%09")
@example("ftp://", "h;type=a")
@example("ftp://h/", ";TYPE=I")
@example("prospero://h/", "a;b;c=d")
def test_a_text_is_a_url_when_the_productions_match_it(prefix: str, soup: str) -> None:
    text = prefix + soup
    verdict = _is_url(text.strip(" "))
    if text != text.strip(" "):
        assert _violating(text)
        return
    _verdicts.add(verdict)
    assert verdict == (not _violating(text))


def test_every_short_host_is_judged_as_the_productions_judge_it() -> None:
    host = _matcher(_RFC_1738, "host")
    letters = "a1-._"
    for length in range(1, 7):
        for letters_of_one in product(letters, repeat=length):
            text = "".join(letters_of_one)
            assert bool(host(text)) == (not _violating(f"http://{text}/")), text


def test_other_peoples_urls_are_judged_as_the_productions_judge_them(data: Path) -> None:
    judged: list[bool] = []
    for profile in Profile:
        rows = load_table(data / "url-vectors" / f"{profile.value}.json")
        urls = {value for row in rows for value in row.values() if isinstance(value, str)}
        # The expression of the productions backtracks over long texts; white space is taken off.
        for url in urls - {url for url in urls if len(url) > 200 or re.search(r"[ \t\n\f\r]", url)}:
            assert (not _violating(url)) == _is_url(url), url
            judged.append(_is_url(url))
    assert len(judged) > 2000
    assert judged.count(False) > 300


# Remedies

_MENDABLE: Final = st.text(st.sampled_from("ab/:;?@&=%#~{}<>^ \t\n\0\xe9\udcff1"), max_size=20)


@given(_PREFIXES, _MENDABLE)
def test_where_every_violation_has_a_replacement_replacing_mends_the_url(
    prefix: str, soup: str
) -> None:
    text = prefix + soup
    mended, at = "", 0
    for found in _violating(text):
        if found.replacement is None:
            return
        mended += text[at : found.start] + found.replacement
        at = found.end
    assert _violating(mended + text[at:]) == []


@given(_PREFIXES, st.one_of(_SOUP, st.text()), st.sampled_from(["http://a/b", "\udc80", ""]))
def test_findings_are_sorted_in_range_and_say_what_stands_there(
    prefix: str, soup: str, base: str
) -> None:
    text = prefix + soup
    base_violations(text)
    listed = violations(text, base)
    assert [one.start for one in listed] == sorted(one.start for one in listed)
    for one in listed:
        assert 0 <= one.start <= one.end <= len(text)
        assert one.character in {"", text[one.start : one.start + 1]}
        assert (one.character_class is CharacterClass.END) == (one.character == "")
        assert one.message.isascii() or one.message.replace("§", "").isascii()


# Limits and time


@pytest.mark.parametrize("count", [MAX_VIOLATIONS - 1, MAX_VIOLATIONS, MAX_VIOLATIONS + 1])
def test_the_limit_of_violations(count: int) -> None:
    listed = violations("http://h/" + "~" * count + ";a")
    kinds = [one.kind for one in listed]
    assert kinds.count(Severity.VIOLATION) == min(count, MAX_VIOLATIONS)
    assert (kinds[-1] is Severity.LIMIT) == (count > MAX_VIOLATIONS)
    if count > MAX_VIOLATIONS:
        assert listed[-1].start == 9 + MAX_VIOLATIONS


def test_remarks_do_not_count_towards_the_limit() -> None:
    kinds = [one.kind for one in violations("http://h/;" + "~" * (MAX_VIOLATIONS + 1))]
    assert kinds == [Severity.REMARK] + [Severity.VIOLATION] * MAX_VIOLATIONS + [Severity.LIMIT]


@pytest.mark.parametrize(
    "make",
    [
        lambda n: "http://h/" + "%41" * n,
        lambda n: "http://" + "a." * n + "com/",
        lambda n: "http://" + "a." * n + "c{",
        lambda n: "http://a" + "-" * n,
        lambda n: "http://" + "1." * n,
        lambda n: "prospero://h/p" + ";a=b" * n,
        lambda n: "../" * n,
        lambda n: "http://h" + "/.." * n,
        lambda n: "http://h/" + ";" * n,
        lambda n: "gopher://h/1" + "%09" * n,
        lambda n: "x://" + "a." * n + "1/",
        lambda n: ":" * n,
        lambda n: "<URL:" + " " * n + "x" + " " * n + ">",
    ],
)
def test_time_grows_linearly(make: Callable[[int], str]) -> None:
    assert_linear_from_10_ms(lambda text: violations(text, "http://a/b/c"), make)
