"""Many documents by one call, or in many threads: the same as each by its own."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from rows import rows
from scanners import seen

import relbase
from relbase import Kind, Policy, Profile, Resolver, Rewriter, links, resolve, rewrite, rewrite_text
from relbase.scan import binding

URL = "http://h/d/p?q"

PAGES = [b"", *(page for (page,) in rows(Path(__file__).with_name("rewriter.txt"), "pages", bytes))]
CALLS = [
    {},
    {"profile": Profile.WHATWG},
    {"profile": "rfc3986", "charset": "utf-8"},
    {"charset": "windows-1252", "detect": False},
    {"policy": Policy(keep_fragments=True, extended=True)},
]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("url", [URL, "http://u:p@h/", "http://h/\xe9", "mailto:a", None])
def test_the_same_by_one_call(
    page: bytes, call: dict[str, object], url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    rewriter = Rewriter(url, kind="html", **call)  # type: ignore[arg-type]
    results = [rewriter.rewrite(page), relbase.rewrite(page, url=url, kind="html", **call)]  # type: ignore[arg-type]
    assert list(rewriter.links(page)) == list(results[0].links)
    monkeypatch.setattr(binding, "compiled", None)
    results.append(relbase.rewrite(page, url=url, kind="html", **call))  # type: ignore[arg-type]
    for result in results:
        assert seen(result) == seen(results[-1])
        assert (result.data is page) == (not result.edits)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("name", [None, "a.html", "a.txt", "a.css"])
def test_of_no_given_kind(page: bytes, name: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    found = relbase.rewrite(page, url=URL, name=name)
    monkeypatch.setattr(binding, "compiled", None)
    assert seen(found) == seen(relbase.rewrite(page, url=URL, name=name))


def test_each_document_on_its_own_url() -> None:
    rewriter = Rewriter(URL, policy=Policy(keep_fragments=True))
    assert rewriter.rewrite(b"<html><a href=x>").data == b"<html><a href=http://h/d/x>"
    changed = rewriter.rewrite(b"<html><a href=x><a href=#y>", url="http://other/")
    assert changed.data == b"<html><a href=http://other/x><a href=#y>"
    assert [link.url for link in rewriter.links(b"<html><a href=x>", url="http://o/")] == [
        "http://o/x"
    ]
    assert Rewriter(kind="css").rewrite_text("a{b:url(c)}", url=URL) == "a{b:url(http://h/d/c)}"
    text = "<p>"
    assert rewriter.rewrite_text(text) is text


def test_mistakes() -> None:
    with pytest.raises(ValueError, match="absolute"):
        Rewriter("x")
    with pytest.raises(ValueError, match="absolute"):
        Rewriter().rewrite(b"", url="x")
    with pytest.raises(
        ValueError, match="url is not valid by the WHATWG URL Standard: 'http://\\['"
    ):
        Rewriter(profile="whatwg").rewrite(b"", url="http://[")
    with pytest.raises(TypeError, match="give text to rewrite_text"):
        Rewriter().rewrite("")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"text must be a str, not bytes: .* bytes to rewrite"):
        Rewriter(URL).rewrite_text(b"")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not bytearray: give bytes\(data\)"):
        Rewriter().rewrite(bytearray())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not bytearray: .* bytes to rewrite"):
        Rewriter(URL).rewrite_text(bytearray())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs its URL"):
        Rewriter().rewrite_text("")
    with pytest.raises(ValueError, match="text of kind 'mail'"):
        Rewriter(URL, kind="mail").rewrite_text("")


def test_every_kind_can_be_held() -> None:
    for kind in Kind:
        rewriter = Rewriter(URL, kind=kind)
        for data in (b"Content-Type: text/html\n\n<a href=x>", b"<a href=x>", b"[a](x)"):
            expected = relbase.rewrite(data, url=URL, kind=kind)
            assert rewriter.rewrite(data) == expected
            assert [*rewriter.links(data)] == [*expected.links]
            assert rewriter.base(data) == expected.base


# ---- all functions may be called from many threads at once, with what they remember in common

DOCUMENTS = [
    b"<base href=/s/><a href=x><img srcset='a, b 2x'><style>a{b:url(c)}</style>",
    b"a{background:url(x.png)} @import 'y';",
    b"Content-Base: http://b.example/\nContent-Type: text/html\n\n<a href=x>",
    "<meta charset=gbk><a href='é?é'>".encode("gbk", "replace"),
    b"<svg><a xlink:href=x /></svg><iframe srcdoc='<a href=y>'>",
]


def work(number: int) -> list[object]:
    document, profile = DOCUMENTS[number % 5], list(Profile)[number % 3]
    url = f"http://h{number % 7}.example/d/p.html"
    result = rewrite(document, url=url, profile=profile)
    return [
        result,
        result.links,
        *links(document, url=url, profile=profile),
        rewrite_text("<a href='é'>", url=url, profile=profile),
        resolve(url, "../x?y", profile),
    ]


def test_threads_get_what_one_alone_gets() -> None:
    alone = [work(number) for number in range(105)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(105))) == alone


def test_one_resolver_serves_many_threads() -> None:
    for profile in Profile:
        shared = Resolver("http://h.example/d/p", profile)
        references = [f"../{number}/x?y={number}#z" for number in range(500)]
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(shared.resolve, references)) == [*map(shared.resolve, references)]
