"""Bases that only one program can use, in every way in which a document comes (rules 4 and 5)."""

from __future__ import annotations

from typing import Any

import lxml.html
import pytest

import relbase
from relbase import Policy, Profile, rewrite
from relbase.bases.private import PRIVATE
from relbase.scan import binding
from relbase.trees import make_links_absolute
from relbase.warc import Page, conversion, pages

URL = "http://h.example/d/p.html"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
RECORD = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:x>\r\nWARC-Target-URI: %b\r\n"
    b"WARC-Date: 2026-01-02T03:04:05Z\r\nContent-Type: application/http; msgtype=response\r\n"
    b"Content-Length: %d\r\n\r\n%b\r\n\r\n"
)

BASES = [
    *("x-msg://38/", "X-MSG://38/a/", "outbind://1-AB/", "applewebdata://5D6E-0/", "notes://s/x/y"),
    *("wysiwyg://12/http://h/", "mailbox:///C|/x?number=1", "imap://h/INBOX/;UID=1"),
    *("res://ieframe.dll/", "safari-reader://h/x", "chrome-extension://abc/x.html", "about:blank"),
    *("ms-appx://x/y/", "ms-appx-web:///y/", "moz-extension://abc/", "webkit-fake-url://x/y"),
    *("safari-web-extension://x/", "imaps://h/x", "mailbox-message://h/x", "imap-message://h/x"),
]
FILES = ["file:///C:/Users/A/v.htm", "FILE://localhost/home/a/", "file:///x/y"]


def page(base: str) -> bytes:
    return f'<base href="{base}"><a href="x"></a><a href="#top"></a>'.encode()


def reasons(result: Any) -> list[str]:
    return [note.reason.value for note in result.notes]


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("base", [*BASES, *FILES])
@pytest.mark.parametrize("scanner", ["compiled", "exact"])
def test_the_next_layer_out_decides(
    base: str, profile: Profile, scanner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scanner == "exact":
        monkeypatch.setattr(binding, "compiled", None)
    data = page(base)
    made = data.replace(b'"x"', b'"http://h.example/d/x"').replace(
        b'"#top"', b'"http://h.example/d/p.html#top"'
    )
    result = rewrite(data, url=URL, profile=profile)
    assert (result.data, reasons(result)) == (made, ["base-private"])
    assert result.notes[0].text.endswith(f"it does not count, '{URL}' does")
    assert result.base.url == URL
    assert [link.url for link in relbase.links(data, url=URL, profile=profile)][1] == (
        "http://h.example/d/x"
    )
    assert relbase.rewrite_text(data.decode(), url=URL, profile=profile) == made.decode()
    tree = lxml.html.fromstring(data)
    make_links_absolute(tree, base_url=URL, profile=profile)
    assert next(one.get("href") for one in tree.iter("a")) == "http://h.example/d/x"
    mail = b"Content-Type: text/html\nContent-Location: %b\n\n" % URL.encode()
    assert rewrite(mail + data, profile=profile).data == mail + made
    http = rewrite(HEAD + data, url=URL, profile=profile)
    assert (http.data, reasons(http)) == (HEAD + made, ["base-private"])
    record = RECORD % (URL.encode(), len(HEAD + data), HEAD + data)
    [one] = pages([record])
    assert isinstance(one, Page)
    assert made in (conversion(one, date="2026-01-02T03:04:05Z", profile=profile).record or b"")


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("base", BASES)
def test_without_another_layer_the_references_stay(base: str, profile: Profile) -> None:
    result = rewrite(page(base), kind="html", profile=profile)
    assert not result.changed
    assert reasons(result) == ["base-private", "base-none"]
    assert result.notes[0].text.endswith("it does not count, no other base is known")


@pytest.mark.parametrize("base", BASES[:11])
def test_the_letter_may_be_asked_for(base: str) -> None:
    policy = Policy(private_bases=True)
    result = rewrite(page(base), url=URL, policy=policy, profile="rfc3986")
    assert result.base.url == base
    assert result.data.count(base.partition(":")[0].encode()) == 3
    tree = lxml.html.fromstring(page(base))
    make_links_absolute(tree, base_url=URL, policy=policy, profile="rfc3986")
    assert next(one.get("href") for one in tree.iter("a")) == result.links[1].url


@pytest.mark.parametrize("base", BASES)
def test_such_a_base_counts_nowhere(base: str) -> None:
    """In headers, `xml:base`, a feed, and as the URL of the document."""
    field = base.encode()
    # about: is never a base outside of a document anyway
    reason = "base-unsuitable" if base.startswith("about:") else "base-private"
    for name in (b"Base", b"Content-Base", b"Content-Location"):
        mail = b"Content-Type: text/html\n%b: %b\n\n<a href='x'>" % (name, field)
        result = rewrite(mail, url=URL)
        assert result.data.endswith(b"<a href='http://h.example/d/x'>")
        assert reasons(result) == [reason]
    feed = b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="%b"><link href="x"/></feed>'
    result = rewrite(feed % field, url=URL)
    assert b'"http://h.example/d/x"' in result.data
    assert reasons(result) == ["base-private"]
    result = rewrite(b"<a href=x>", url=base)
    assert reasons(result) == [reason, "base-none"]


@pytest.mark.parametrize("base", FILES)
def test_a_file_is_private_only_in_a_base_of_a_page_from_elsewhere(base: str) -> None:
    assert rewrite(page(base), kind="html", profile="rfc3986").base.url == base
    inside = rewrite(page(base), url="file:///C:/x/y.htm", profile="rfc3986")
    assert inside.base.url == base
    assert reasons(inside) == []
    mail = f"Content-Type: text/html\nContent-Location: {base}\n\n<a href='x'>".encode()
    assert rewrite(mail, url=URL, profile="rfc3986").base.url == base


def test_other_unsuitable_bases_still_decide() -> None:
    for base in ("mailto:a@b", "news:x", "urn:x:y", "blob:http://h/x"):
        assert reasons(rewrite(page(base), url=URL)) == ["base-unsuitable", "base-none"]


def test_every_scheme_is_one_of_the_rows() -> None:
    assert {base.partition(":")[0].lower() for base in BASES} == set(PRIVATE)


# ---- a backslash is no character of a URL (RFC 1738 §2.2)


@pytest.mark.parametrize(
    ("base", "read"),
    [
        (r"file://C:\Users\A\v.htm", "'file:///C:/Users/A/v.htm'"),
        (r"file:C:\a_b\v.htm", "'file:///C:/a_b/v.htm'"),
        (r"file:\\server\share\v.htm", "'file://server/share/v.htm'"),
        (r"http://h.example\d\x", ""),
        (r"\sub\x", ""),
    ],
)
@pytest.mark.parametrize("profile", ["rfc1808", "rfc3986"])
def test_a_base_with_a_backslash_is_refused(base: str, read: str, profile: Any) -> None:
    at = b"<a href='http://h.example/d/x'>"
    for where in ("<base href='{}'><a href='x'>", "Content-Location: {}\n\n<a href='x'>"):
        data = where.format(base).encode()
        if where.startswith("C"):
            data = b"Content-Type: text/html\n" + data
        result = rewrite(data, url=URL, profile=profile)
        assert result.data.endswith(at)
        assert reasons(result)[:1] == ["base-unsuitable"]
        assert result.notes[0].text.endswith(f"browsers read {read}" if read else "not count")
    if base[:5] in {"file:", "http:"}:
        result = rewrite(b"<a href=x>", url=base, kind="html", profile=profile)
        assert reasons(result) == ["base-unsuitable", "base-none"]


def test_to_browsers_a_backslash_is_a_slash() -> None:
    data = b"<base href='http:\\\\i.example\\d\\'><a href='x\\y'>"
    result = rewrite(data, url=URL, profile="whatwg")
    assert result.data == data.replace(b"x\\y", b"http://i.example/d/x/y")
    assert reasons(result) == []


@pytest.mark.parametrize(
    ("data", "count"),
    [
        (b"<img src='img\\a.png'>", 1),
        (b"<img srcset='a\\b.png 1x, \\c.png 2x'><a href='x?\\'>", 3),
        (b"<style>a{b:url('i\\\\x.png')}</style>", 1),
        (b"<feed xmlns='http://www.w3.org/2005/Atom'><link href='a\\b'/></feed>", 1),
        (b"Content-Type: text/html\n\n<a href='a\\b'><a href='c\\d'>", 2),
    ],
)
@pytest.mark.parametrize("scanner", ["compiled", "exact"])
def test_one_note_counts_references_with_a_backslash(
    data: bytes, count: int, scanner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scanner == "exact":
        monkeypatch.setattr(binding, "compiled", None)
    result = rewrite(data, url=URL)
    [note] = result.notes
    assert note.reason.value == "reference-backslash"
    assert note.text.startswith(f"{count} reference")
    assert sum("\\" in (link.url or "") for link in result.links) == count
    assert rewrite(data, url=URL, profile="whatwg").notes == ()


# ---- `ignore_base`


@pytest.mark.parametrize("base", ["http://i.example/", "sub/", "/x", "x-msg://1/", "mailto:x", ""])
@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("scanner", ["compiled", "exact"])
def test_without_its_base_a_page_is_resolved_like_any_other(
    base: str, profile: Profile, scanner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scanner == "exact":
        monkeypatch.setattr(binding, "compiled", None)
    call: Any = {"url": URL, "policy": Policy(ignore_base=True), "profile": profile}
    for data in (
        b"<a href='x'></a><base href='%b'><img srcset='y'><p style='a:url(z)'>" % base.encode(),
        b"<html xmlns='http://www.w3.org/1999/xhtml'><head><base href='%b'/></head>"
        b"<a href='x'/><img srcset='y'/><p style='a:url(z)'/></html>" % base.encode(),
    ):
        result = rewrite(data, **call)
        made = data
        for old in (b"x'", b"y'", b"z)"):
            made = made.replace(b"'" + old, b"'http://h.example/d/" + old)
            made = made.replace(b"url(" + old, b"url(http://h.example/d/" + old)
        if base == "/x":
            assert b"<base href='/x'" in result.data
            made = made.replace(b"<base href='http://h.example/d//x'", b"<base href='/x'")
        assert (result.data, result.notes, result.base.url) == (made, (), URL)
        assert rewrite(result.data, **call).data is result.data
        assert [link.url for link in relbase.links(data, **call) if link.element != "base"] == [
            f"http://h.example/d/{name}" for name in "xyz"
        ]
    tree = lxml.html.fromstring("<base href='http://i.example/'><a href='x'></a>")
    make_links_absolute(tree, base_url=URL, policy=Policy(ignore_base=True))
    assert [one.get("href") for one in tree.iter("a")] == ["http://h.example/d/x"]


def test_nested_pages_lose_their_base_too() -> None:
    data = b"<iframe srcdoc=\"<base href='http://i.example/'><a href='x'>\"></iframe>"
    made = data.replace(b"'x'", b"'http://h.example/d/x'")
    assert rewrite(data, url=URL, policy=Policy(ignore_base=True)).data == made
    mail = b"Content-Type: text/html\n\n" + data
    assert rewrite(mail, url=URL, policy=Policy(ignore_base=True)).data.endswith(made)
