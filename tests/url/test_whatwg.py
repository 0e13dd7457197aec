"""The WHATWG URL Standard: what ada-url is not told is the document's charset, and is_absolute.

The standard's own table (urltestdata) is in tests/suites. Expected queries here were compared with
`a.href` of Chromium in a document of that charset.
"""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import ada_url
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rows import cases

from relbase.url import whatwg
from relbase.url.whatwg import PreparedBase, is_absolute, split

BASE = "http://a/b"


@cases(Path(__file__).with_name("resolving.txt"), "queries", charset=str, reference=str, url=str)
def test_the_query_is_in_the_charset_of_the_document(
    charset: str, reference: str, url: str
) -> None:
    assert PreparedBase(BASE, charset).resolve(reference) == url
    # What came out is ASCII: the charset has nothing more to say.
    assert PreparedBase("x://y/", charset).resolve(url) == url


def test_the_query_of_the_base_is_in_utf_8() -> None:
    # A base that was stated in a document was parsed there, with that document's charset.
    assert PreparedBase("http://a/b?\u00e9", "windows-1252").resolve("#s") == "http://a/b?%C3%A9#s"


@pytest.mark.parametrize("base", ["/b", "b", "//a", "http:", "http://[", "b" * 1_000_000, " "])
def test_a_base_that_does_not_parse_is_refused(base: str) -> None:
    with pytest.raises(ValueError, match="is not a valid absolute URL") as caught:
        PreparedBase(base)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("reference", ["//[", "http://a b/", "//a:99999/", "https://%00/", "//"])
def test_a_reference_that_is_a_failure_names_itself_and_the_base(reference: str) -> None:
    with pytest.raises(ValueError, match="WHATWG URL Standard") as caught:
        PreparedBase(BASE).resolve(reference)
    assert f"{reference!r} cannot be resolved against the base {BASE!r} (W" in str(caught.value)
    with pytest.raises(ValueError, match="is not a valid absolute URL, and there is no base"):
        PreparedBase("").resolve(reference)


def test_a_failure_of_any_length_has_a_short_text() -> None:
    with pytest.raises(ValueError, match="WHATWG URL Standard") as caught:
        PreparedBase("http://a/" + "b" * 1_000_000).resolve("//[" + "x" * 1_000_000)
    assert len(str(caught.value)) < 1000
    reference = "//[".ljust(200, "x")
    for more, shown in (("", ""), ("x", "\N{HORIZONTAL ELLIPSIS}")):
        with pytest.raises(ValueError, match="WHATWG URL Standard") as caught:
            PreparedBase(BASE).resolve(reference + more)
        assert repr(reference + shown) in str(caught.value)


PIECES = ["/", "//", "\\", ".", "..", "../", "g", ":", ";", "?", "#", "@", " ", "\t", "\n", "\x00"]
PIECES += ["\u00e9", "%2e", "%", "[", "C|", "\udc80", "\U0001f600"]
STARTS = ["", "/", "//", "#", "?", ";", ".", "g", "http:", "HTTP://h", "file:", "x:", "ws:", "C:"]
tails = st.lists(st.sampled_from(PIECES), max_size=7).map("".join)
references = st.builds("{}{}".format, st.sampled_from(STARTS), tails)
BASES = [
    "http://a/b/c?d#e",
    "https://u:p@h:1/",
    "file:///C:/x",
    "file://h/x",
    "x://y/z",
    "x:/",
    "ws://h/a",
]


def outcome(base: str, reference: str, charset: str = "utf-8") -> str | None:
    try:
        return PreparedBase(base, charset).resolve(reference)
    except ValueError:
        return None


def test_absolute_is_what_no_base_changes() -> None:
    seen: Counter[bool] = Counter()

    @settings(max_examples=500)
    # Basic URL parser: "scheme state", "special authority slashes state", "special relative or
    # authority state", "file state"
    @given(references)
    @example(" \x00\tHTTP://a")
    @example("ht\ntp:/\t/a")
    @example("https:\\\\a")
    @example("ws:/\\a")
    @example("http:\\g")
    @example("FILE:/g")
    @example("file:///g")
    @example("10.0.0.7:80/x")
    @example("\u00e9:g")
    @example("./a:b")
    def law(reference: str) -> None:
        absolute = is_absolute(reference)
        outcomes = {outcome(base, reference) for base in BASES}
        seen[absolute] += 1
        if absolute:
            assert outcomes == {outcome("", reference)}
        else:
            # Another base gives another URL, or it is a failure with each of them.
            assert len(outcomes) > 1 or outcomes == {None}

    law()
    assert min(seen[True], seen[False]) > 50, seen


def test_the_result_is_absolute_and_resolving_it_again_changes_nothing() -> None:
    resolved = 0

    @settings(max_examples=500)
    @given(
        st.sampled_from(BASES),
        st.one_of(references, st.text()),
        st.sampled_from(BASES),
        st.sampled_from(["utf-8", "windows-1252", "shift_jis", "gb18030", "iso-2022-jp"]),
    )
    def law(base: str, reference: str, other: str, charset: str) -> None:
        nonlocal resolved
        result = outcome(base, reference, charset)
        if result is None:
            return
        resolved += 1
        assert result.isascii()
        assert is_absolute(result)
        assert PreparedBase(other, charset).resolve(result) == result

    law()
    assert resolved > 100


# ---- what is answered without the parser is what the parser answers

_PIECES = "/ // . .. ./ ../ /.. g h/ a: ?y #f http: https:// //h.ex http://h.example/ xn-- 1.2 0x1f"
_PIECES += r""" %2e %2E %41 % \ ' " < ` { | ^ ~ _ - ;x & @ [ C: C| A com $ * ! ( ,"""
PIECES = [*_PIECES.split(), "\t", "\n", " ", "\u00e9", "\udc80", "\ufeff", "\x00"]
HEADS = ["http://h.example/", "http://h.example/a/b/c?q#f", "https://u:p@h.example:81/a/"]
HEADS += ["http://H/a"]
HEADS += ["http://h.example", "file:///a/b", "foo:/a/b", "ws://h/a/b", "http://1.2/a", "foo:a"]
HEADS += ["https://h.example/aaa//b/", f"http://h/{'a/' * 12}x"]


def by_the_parser(base: str, reference: str) -> str | None:
    try:
        return str(ada_url.join_url(base, reference.encode("utf-8", "replace").decode()))
    except ValueError:
        return None


def by_relbase(base: PreparedBase, reference: str) -> str | None:
    try:
        return base.resolve(reference)
    except ValueError:
        return None


@pytest.mark.parametrize("long", [0, 2048], ids=["each base shortened", "none"])
def test_every_answer_is_that_of_the_parser(long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whatwg, "_LONG", long)
    chosen = random.Random(5)
    needed_no_parser = 0
    for number in range(2_000):
        tail = chosen.choices(PIECES, k=chosen.randint(1, 3)) if number % 5 == 0 else []
        head = chosen.choice(HEADS) + "".join(tail).encode("utf-8", "ignore").decode()
        try:
            serialised = ada_url.normalize_url(head)
        except ValueError:
            with pytest.raises(ValueError, match="is not a valid absolute URL"):
                PreparedBase(head)
            continue
        base = PreparedBase(head)
        for _ in range(4):
            pieces = chosen.choices(PIECES, k=chosen.randint(0, 6))
            reference = "".join(pieces).replace("\udc80", "\ufffd")
            needed_no_parser += bool(base._known(reference))  # noqa: SLF001 (not vacuous)
            assert by_relbase(base, reference) == by_the_parser(serialised, reference), (
                head,
                reference,
            )
    assert needed_no_parser > 500


def test_the_parts_of_a_url_are_those_of_what_it_resolves_to() -> None:
    assert split("http://h/\ud800\udcff").path == "/%EF%BF%BD%EF%BF%BD"
