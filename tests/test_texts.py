"""Text that a program holds: what `rewrite` makes of its UTF-8, and nothing guessed."""

import re
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
import yarl
from hypothesis import example, given
from hypothesis import strategies as st
from rows import cases, rows

from relbase import Kind, Policy, Profile, rewrite, rewrite_text

URL: Final = "http://h.example/d/p.html"
TABLES: Final = Path(__file__).with_name("texts.txt")

FEED: Final = '{{"version": "https://jsonfeed.org/version/1.1", "items": [{{"url": "{}"}}]}}'

# (text, what it becomes, arguments)
ROWS: Final[list[tuple[str, str, dict[str, Any]]]] = [
    *((*row, {}) for row in rows(TABLES, "texts", str, str)),
    ("", "", {}),
    (
        "<meta charset=gbk><a href='?é'>",
        "<meta charset=gbk><a href='http://h.example/d/p.html?%C3%A9'>",
        {"profile": "whatwg"},
    ),
    ("<a href=x>", "<a href=http://o.example/x>", {"redirects": ["/e/", "http://o.example/"]}),
    ("<a href='#s'>", "<a href='#s'>", {"policy": Policy(keep_fragments=True)}),
    ("<a href=x>", "<a href=http://b/x>", {"headers": {"Content-Base": "http://b/"}}),
    ("a{b:url(x)}", "a{b:url(http://h.example/d/x)}", {"kind": "css"}),
    (FEED.format("é/x"), FEED.format("http://h.example/d/é/x"), {"kind": "json"}),
    (FEED[1:], FEED[1:], {"kind": Kind.JSON}),
    ("<a href=x>", "<a href=x>", {"kind": Kind.CSS}),
    ("<a href=x>", "<a href=http://h.example/d/x>", {"url": yarl.URL(URL)}),
    ("<a href=x>", "<a href=http://h.example/d/x>", {"url": httpx.URL(URL)}),
]


# (a piece of a page, what it becomes on the base http://h.example/s/, arguments)
PIECES_ON_A_BASE: Final[list[tuple[str, str, dict[str, Any]]]] = [
    *((*row, {}) for row in rows(TABLES, "pieces", str, str)),
    ("<a href=x>", "<a href=http://h.example/d/x>", {"base": 'http://h.example/d/?a=1"&amp;<>'}),
    ("a{b:url(x)}", "a{b:url(http://h.example/s/x)}", {"kind": "css"}),
    (FEED.format("x"), FEED.format("http://h.example/s/x"), {"kind": "json"}),
    ('<a xml:base="t/"/>', '<a xml:base="http://h.example/s/t/"/>', {"kind": "xml"}),
    ("<a href=x>", "<a href=http://h.example/s/x>", {"base": yarl.URL("http://h.example/s/")}),
]


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize(("text", "becomes", "arguments"), PIECES_ON_A_BASE)
def test_what_a_piece_becomes_on_a_base(
    text: str, becomes: str, arguments: dict[str, Any], profile: Profile
) -> None:
    given = {"base": "http://h.example/s/", "profile": profile, **arguments}
    result = rewrite_text(text, **given)
    assert result == becomes
    assert (result is text) == (text == becomes)


@pytest.mark.parametrize("more", [{"url": URL}, {"redirects": [URL]}, {"headers": {"Base": URL}}])
def test_a_base_is_given_alone(more: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match="base cannot be combined with url, redirects or headers"):
        rewrite_text("", base=URL, **more)


def test_a_base_is_absolute() -> None:
    with pytest.raises(ValueError, match="base is not absolute: '/s/'"):
        rewrite_text("", base="/s/")
    with pytest.raises(ValueError, match="base is not valid by the WHATWG URL Standard: 'http:'"):
        rewrite_text("", base="http:", profile="whatwg")
    with pytest.raises(TypeError, match=r"states none: give url=, or base= for a piece"):
        rewrite_text("", base="")


@pytest.mark.parametrize(("text", "becomes", "arguments"), ROWS)
def test_what_a_text_becomes(text: str, becomes: str, arguments: dict[str, Any]) -> None:
    result = rewrite_text(text, **{"url": URL, **arguments})
    assert result == becomes
    assert (result is text) == (text == becomes)


PIECES: Final = st.sampled_from(
    ["<a href=", "'x é'", ' ""', "<img srcset='a, ☃ 2x'>", "<base href=../>", "<meta charset=gbk>",
     "<style>a{b:url(é)}</style>", "\ud800", "&eacute;", "\0", "\ufeff", "<!--", "-->", "日"]
) | st.text(max_size=4)  # fmt: skip


@given(st.lists(PIECES, max_size=8).map("".join), st.sampled_from(Profile))
@example("<a href='x'>é", Profile.RFC1808)
def test_a_text_is_its_utf_8(text: str, profile: Profile) -> None:
    result = rewrite_text(text, url=URL, profile=profile)
    data = text.encode("utf-8", "surrogatepass")
    rewritten = rewrite(data, url=URL, profile=profile, kind="html", charset="utf-8").data
    assert result.encode("utf-8", "surrogatepass") == rewritten
    assert rewrite_text(result, url=URL, profile=profile) is result  # law 3


BAD: Final[list[tuple[Any, dict[str, Any], type[Exception], str]]] = [
    (b"<p>", {}, TypeError, "text must be a str, not bytes: give a str, or bytes to rewrite"),
    (None, {}, TypeError, "text must be a str, not NoneType"),
    ("", {"url": None}, TypeError, "the text needs its URL, and states none: give url="),
    ("", {"url": ""}, TypeError, "the text needs its URL, and states none: give url="),
    ("", {"url": "/d/"}, ValueError, "not absolute"),
    ("", {"url": b"http://h/"}, TypeError, "decode it first"),
    ("", {"kind": "mail"}, ValueError, "text of kind 'mail' is not read: give bytes"),
    ("", {"kind": Kind.OTHER}, ValueError, "give bytes"),
    ("", {"kind": "htm"}, ValueError, "one of html, css"),
    ("", {"profile": "x"}, ValueError, "one of rfc1808"),
    ("", {"policy": re.compile("x")}, TypeError, r"give Policy\(\.\.\.\)"),
    ("", {"redirects": "x"}, TypeError, r"give \[redirect\]"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "arguments", "error", "fix"), BAD)
def test_a_bad_call_names_the_fix(
    text: Any, arguments: dict[str, Any], error: type[Exception], fix: str
) -> None:
    with pytest.raises(error, match=fix):
        rewrite_text(text, **{"url": URL, **arguments})


@cases(TABLES, "pieces of pages", text=str)
@pytest.mark.parametrize(
    "base", [URL, f"{URL}#f", "http://u:p@h/d/", "http://h/\xe9/", "http://h/a\nb/", "mailto:a"]
)
@pytest.mark.parametrize("profile", list(Profile))
def test_a_piece_becomes_the_same_by_either_walk(
    text: str, base: str, profile: Profile, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = rewrite_text(text, base=base, profile=profile)
    monkeypatch.setattr("relbase.scan.binding.compiled", None)
    assert found == rewrite_text(text, base=base, profile=profile)


@cases(TABLES, "pieces of pages", text=str)
@pytest.mark.parametrize(
    "base", [URL, f"{URL}#f", "http://u:p@h/d/", "http://h/\xe9/", "http://h/a\nb/", "mailto:a"]
)
@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("policy", [Policy(), Policy(keep_templates=True)])
def test_a_base_that_does_not_count_changes_nothing(
    text: str, base: str, profile: Profile, policy: Policy
) -> None:
    more = "<template><base ></template>"
    found = rewrite_text(text + more, base=base, profile=profile, policy=policy)
    assert found == rewrite_text(text, base=base, profile=profile, policy=policy) + more
