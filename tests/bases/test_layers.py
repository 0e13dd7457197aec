"""RFC 1808 §3: the four layers, one row a rule (rules 1, 4 and 5)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases

import relbase
from relbase.bases.layers import (
    UNKNOWN,
    Base,
    Layer,
    Statement,
    establish,
    retrieval,
    unsuitable,
    with_path,
)
from relbase.edit import Span
from relbase.notes import Reason
from relbase.url.profiles import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

TABLES = Path(__file__).with_name("layers.txt")

AROUND = Base("http://h.example/d/p.html", Layer.RETRIEVAL, "retrieval URL", UNKNOWN)
PROFILES = pytest.mark.parametrize("profile", list(Profile))


def entity(value: str) -> Statement:
    return Statement(Layer.ENTITY, value, "Base")


def embedded(value: str) -> Statement:
    return Statement(Layer.EMBEDDED, value, "<base href> at 1:1", Span(12, 20))


def reasons(base: Base) -> list[Reason]:
    return [note.reason for note in base.refused]


@PROFILES
def test_the_first_statement_that_holds_counts(profile: Profile) -> None:
    assert establish([], AROUND, profile=profile) == (AROUND, [])
    assert establish([], UNKNOWN, profile=profile) == (UNKNOWN, [])
    statements = [entity("http://first.example/a"), entity("http://second.example/")]
    base, notes = establish(statements, AROUND, profile=profile)
    assert (base.url, base.layer, base.source) == ("http://first.example/a", Layer.ENTITY, "Base")
    assert (base.outer, base.refused, notes) == (AROUND, (), [])


@PROFILES
def test_the_chain_goes_outward_to_none(profile: Profile) -> None:
    outer, _ = establish(
        [Statement(Layer.RETRIEVAL, "http://r.example/a/", "retrieval URL")],
        UNKNOWN,
        profile=profile,
    )
    middle, _ = establish([entity("b/")], outer, profile=profile)
    inner, _ = establish([embedded("c/")], middle, profile=profile)
    chain = [inner, inner.outer, middle.outer, outer.outer]
    assert [base and (base.layer, base.url) for base in chain] == [
        (Layer.EMBEDDED, "http://r.example/a/b/c/"),
        (Layer.ENTITY, "http://r.example/a/b/"),
        (Layer.RETRIEVAL, "http://r.example/a/"),
        (Layer.NONE, ""),
    ]
    assert UNKNOWN.outer is None


# --- §2.3: (candidate, why it is unsuitable; None when it is suitable). The same in each profile.
SUITABLE = [
    *(
        (url, None)
        for url in (
            *("http://h.example/", "HTTPS://H.example/a?b#c", "ftp://u:p@h.example/", "foo://h"),
            *("file:///etc/", "gopher://h.example/", "x-y.z+1:/a", "thismessage:/"),
        )
    ),
    *(
        (url, "never used with relative URLs")
        for url in (
            *("mailto:a@b.example", "news:a.b", "news:/a/b", "telnet://h.example/", "DATA:/x"),
            *("data:text/html,x", "javascript:/x", "cid:a@b", "mid:a@b/c@d", "about:blank"),
            "blob:http://h.example/1",
        )
    ),
    ("C:\\docs\\x", "drive letter"),
    ("c:/docs/x", "drive letter"),
    ("http:g", "needs a network location"),
    ("http:/g", "needs a network location"),
    ("https:///g", "needs a network location"),
    ("ftp:/g", "needs a network location"),
    ("foo:bar", "no slash follows foo, as"),
    ("foo:", "no slash follows foo, as"),
    ("10.0.0.7:80/x", "no scheme"),
    ("//h.example/", "no scheme"),
    ("/x", "no scheme"),
    ("x" * 10_000 + ":y", "no slash follows " + "x" * 40 + "..., as"),
    ("x" * 10_000, "no scheme"),
    # an empty base is not a URL that §2.3 could be asked about: it is unknown
    ("", "RFC 1808 §3.4"),
]


@pytest.mark.parametrize(("url", "why"), SUITABLE)
def test_which_bases_are_suitable(url: str, why: str | None) -> None:
    found = unsuitable(url)
    assert (found is None) == (why is None)
    assert Base(url, Layer.ENTITY, "x").usable == (why is None)
    if why is not None:
        assert found is not None
        assert why in found
        assert found.endswith("(RFC 1808 §2.3)" if url else "(RFC 1808 §3.4)")


REFUSED = [url for url, why in SUITABLE if why is not None and ":" in url and url[0].isalpha()]


@pytest.mark.parametrize("layer", [Layer.ENTITY, Layer.RETRIEVAL])
@pytest.mark.parametrize("url", REFUSED)
def test_an_unsuitable_header_or_url_is_refused_and_the_next_counts(url: str, layer: Layer) -> None:
    statements = [Statement(layer, url, "it"), Statement(layer, "http://next.example/", "next")]
    base, notes = establish(statements, AROUND, profile=Profile.RFC1808)
    assert base.url == "http://next.example/"
    assert reasons(base) == [Reason.BASE_UNSUITABLE]
    assert notes == list(base.refused)
    assert "does not count" in notes[0].text
    assert ("RFC 1738 §2.2" if "\\" in url else "RFC 1808 §2.3") in notes[0].text
    # ... and without a next one that around
    base, notes = establish(statements[:1], AROUND, profile=Profile.RFC1808)
    assert (base.url, base.layer) == (AROUND.url, AROUND.layer)
    assert base.refused == tuple(notes)


_FALLS_BACK = ("data:", "javascript:", "about:")  # and a backslash, in the RFC profiles
DECIDING = [url for url in REFUSED if not (url.lower().startswith(_FALLS_BACK) or "\\" in url)]


@pytest.mark.parametrize("url", DECIDING)
def test_an_unsuitable_base_element_decides(url: str) -> None:
    statements = [embedded(url), embedded("http://next.example/")]
    base, notes = establish(statements, AROUND, profile=Profile.RFC1808)
    assert (base.url, base.layer, base.usable) == (url, Layer.EMBEDDED, False)
    assert [note.reason for note in notes] == [Reason.BASE_UNSUITABLE]
    assert "no reference can be resolved" in notes[0].text
    assert notes[0].span == Span(12, 20)


# WHATWG HTML, frozen base URL: (base element, profile)
FALLING_BACK = [
    *[("data:text/html,x", profile) for profile in Profile],
    *[("JavaScript:void(0)", profile) for profile in Profile],
    ("http://[bad", Profile.WHATWG),
    ("http://a b/", Profile.WHATWG),
    ("http://h.example:99999/", Profile.WHATWG),
]


@pytest.mark.parametrize(("value", "profile"), FALLING_BACK)
def test_a_base_element_that_falls_back_hides_the_later_ones(value: str, profile: Profile) -> None:
    statements = [embedded(value), embedded("http://later.example/"), entity("http://e.example/")]
    base, notes = establish(statements, AROUND, profile=profile)
    assert (base.url, base.layer, base.outer) == (AROUND.url, Layer.RETRIEVAL, UNKNOWN)
    assert len(notes) == 1
    assert base.refused == tuple(notes)


@pytest.mark.parametrize("state", [entity, embedded])
@cases(TABLES, "relative", value=str, profile=Profile, url=str)
def test_a_relative_statement_is_resolved_with_a_note(
    value: str, profile: Profile, url: str, state: Callable[[str], Statement]
) -> None:
    base, notes = establish([state(value)], AROUND, profile=profile)
    assert base.url == url
    assert [note.reason for note in notes] == [Reason.BASE_RELATIVE]
    assert url in notes[0].text
    assert base.refused == ()


@PROFILES
@pytest.mark.parametrize("around", [UNKNOWN, Base("mailto:a@b", Layer.EMBEDDED, "x", UNKNOWN)])
def test_a_relative_statement_with_no_usable_base_around_is_refused(
    profile: Profile, around: Base
) -> None:
    base, notes = establish([entity("sub/")], around, profile=profile)
    assert (base.url, base.layer) == (around.url, around.layer)
    assert reasons(base) == [Reason.BASE_RELATIVE] == [note.reason for note in notes]


def test_what_was_refused_further_out_stays_behind_what_was_refused_here() -> None:
    outer, _ = establish([entity("mailto:a@b")], AROUND, profile=Profile.RFC1808)
    base, notes = establish([entity("news:a")], outer, profile=Profile.RFC1808)
    assert ["news:" in note.text for note in base.refused] == [True, False]
    assert len(notes) == 1  # the outer one has been reported


# --- rule 5: RFC 1738 §3.1 wants a path before what follows the authority
@cases(TABLES, "paths", url=str, expected=str)
def test_a_path_before_query_and_params(url: str, expected: str) -> None:
    assert with_path(url) == expected
    assert with_path(expected) == expected


# --- rule 5: (value, layer, what it is alone in whatwg)
ALONE = [
    ("file:/a/b", Layer.EMBEDDED, "file:///a/b"),
    ("file:/a/b", Layer.ENTITY, "file:///a/b"),
    ("file:/a/b", Layer.RETRIEVAL, "file:///a/b"),
    ("http:/h.example/x", Layer.EMBEDDED, "http://h.example/x"),
]


@pytest.mark.parametrize(("value", "layer", "url"), ALONE)
def test_what_the_parser_takes_alone_is_absolute(value: str, layer: Layer, url: str) -> None:
    base, notes = establish([Statement(layer, value, "it")], UNKNOWN, profile=Profile.WHATWG)
    assert (base.url, base.layer) == (url, layer)
    # ... which is a guess where a document might be around it, and told
    told = [] if layer is Layer.RETRIEVAL else [Reason.BASE_RELATIVE]
    assert [note.reason for note in notes] == told
    # On a base of its own scheme it is relative, as in a browser.
    around = Base("http://o.example/d/", Layer.RETRIEVAL, "x", UNKNOWN)
    base, _ = establish([Statement(layer, value, "it")], around, profile=Profile.WHATWG)
    assert base.url == ("http://o.example/h.example/x" if value.startswith("http") else url)


# --- rule 10: characters of a base from outside that no document could hold as they are
@cases(TABLES, "encoded", value=str, outside=str, inside=str)
def test_what_is_percent_encoded_in_a_base(value: str, outside: str, inside: str) -> None:
    assert establish([entity(value)], UNKNOWN, profile=Profile.RFC1808)[0].url == outside
    assert establish([embedded(value)], UNKNOWN, profile=Profile.RFC1808)[0].url == inside


def test_whatwg_encodes_the_query_of_a_base_in_the_charset_of_its_document() -> None:
    base, _ = establish(
        [embedded("http://h.example/é?é")], UNKNOWN, profile=Profile.WHATWG, charset="windows-1252"
    )
    assert base.url == "http://h.example/%C3%A9?%E9"


def test_notes_are_printable_and_short() -> None:
    """Threat A9: a document must not talk to the terminal."""
    value = "mailto:\x1b[31m\u202e" + "x" * 10_000
    _, (note,) = establish([entity(value)], UNKNOWN, profile=Profile.RFC1808, part="1.2")
    assert note.part == "1.2"
    assert note.text.startswith("Base: 'mailto:")
    assert note.text.replace("§", "").isprintable()
    assert "\u202e" not in note.text
    assert len(note.text) < 1000


@given(
    st.lists(st.tuples(st.sampled_from(Layer), st.text(max_size=30)), max_size=4),
    st.sampled_from(["", "http://h.example/d/", "mailto:a@b", "x:/y"]),
    st.sampled_from(Profile),
)
def test_no_statement_raises_and_what_counts_is_in_the_chain(
    stated: list[tuple[Layer, str]], around: str, profile: Profile
) -> None:
    outer = Base(around, Layer.RETRIEVAL, "x", UNKNOWN) if around else UNKNOWN
    statements = [Statement(layer, value, "it") for layer, value in stated]
    base, notes = establish(statements, outer, profile=profile)
    if base.outer is outer:
        assert base.url
    else:
        assert (base.url, base.layer) == (outer.url, outer.layer)
    assert len(notes) <= len(statements)


# --- RFC 1808 §3.3: the retrieval URL after its redirects
@cases(TABLES, "retrieved", url=str, redirects=list[str], expected=str, source=str)
def test_the_last_url_is_stated(
    url: str | None, redirects: list[str], expected: str, source: str
) -> None:
    for nothing in (None, "", " \n"):
        assert retrieval(nothing, [" "] * (nothing is None), Profile.RFC1808) == ([], [])
    (stated,), notes = retrieval(url, redirects, Profile.RFC1808)
    assert (stated.layer, stated.value, stated.source) == (Layer.RETRIEVAL, expected, source)
    assert notes == []


@pytest.mark.parametrize("profile", Profile)
@cases(TABLES, "credentials", url=str, redirects=list[str], expected=str)
def test_credentials_are_removed_with_a_note(
    url: str, redirects: list[str], expected: str, profile: Profile
) -> None:
    (stated,), (note,) = retrieval(url, redirects, profile)
    assert stated.value == expected
    assert note.reason is Reason.CREDENTIALS_REMOVED
    assert "secret" not in note.text
    assert note.text.startswith(stated.source)
    assert note.text.endswith("removed from the base, and stay where they are stated")


@cases(TABLES, "credentials of one profile", url=str, profile=Profile, expected=str)
def test_credentials_are_what_the_parser_of_the_profile_takes_for_them(
    url: str, profile: Profile, expected: str
) -> None:
    (stated,), notes = retrieval(url, [], profile)
    assert stated.value == expected
    assert [note.reason for note in notes] == [Reason.CREDENTIALS_REMOVED] * (expected != url)


@cases(TABLES, "credentials of one profile", url=str, profile=Profile, expected=str)
def test_no_result_repeats_a_password(url: str, profile: Profile, expected: str) -> None:
    for stated, redirects in ((url, ()), ("http://i.example/", [url])):
        result = relbase.rewrite(b"<a href=x>", url=stated, redirects=redirects, profile=profile)
        reported = (result.data, result.base.as_dict(), result.notes, result.links)
        assert ("secret" in repr(reported)) == ("secret" in expected)


MALFORMED = [
    *("user:secret@h.example/", "http://user:secret@h.example:99999/", "//user:secret@h.example/"),
    *("http:\\\\user:secret@h.example:x/", "\\\\user:secret@h.example/"),
]


@pytest.mark.parametrize("url", MALFORMED)
def test_no_error_repeats_the_password_of_a_malformed_url(url: str) -> None:
    reported = ""
    for profile in Profile:
        try:
            result = relbase.rewrite(b"<a href=x>", url=url, profile=profile)
            reported += repr((result.data, result.base, result.notes))
        except ValueError as error:
            reported += str(error)
    assert reported
    assert "secret" not in reported
