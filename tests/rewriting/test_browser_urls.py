"""Links as browsers see them: profile whatwg (rule 6, WHATWG URL Standard)."""

from __future__ import annotations

from typing import Any

import lxml.html
import pytest
from scanners import assert_agreed

import relbase
from relbase import Status, links, rewrite
from relbase.scan import binding
from relbase.trees import make_links_absolute, tree_links

URL = "https://h.example/d/p"

# What an author wrote, and the URL that a browser makes of it; None if it makes none.
ABSOLUTE = [
    ("https://site.example", "https://site.example/"),
    ("https://site.example/d/../e f", "https://site.example/e%20f"),
    ("HTTPS://Site.Example:443/x", "https://site.example/x"),
    ("https://site.example/x?a b#c d", "https://site.example/x?a%20b#c%20d"),
    ("http:\\\\i.example\\x", "http://i.example/x"),
    ("https://site.example/%7Ex/./y", "https://site.example/%7Ex/y"),
    ("http://0x7f.1/x", "http://127.0.0.1/x"),
    ("https://b\u00fccher.example/", "https://xn--bcher-kva.example/"),
    ("mailto:a@b", "mailto:a@b"),
    ("data:text/plain,x y", "data:text/plain,x y"),
    ("javascript:void(0)", "javascript:void(0)"),
    ("http://i.example:80/", "http://i.example/"),
    ("https://i.example/x/y.html?z=1&w=2#v", "https://i.example/x/y.html?z=1&w=2#v"),
    ("http://[bad", None),
    ("https://exa mple.org/", None),
    ("http://h:99999/", None),
]
SCANNERS = pytest.mark.parametrize("scanner", ["compiled", "exact"])


@pytest.mark.parametrize(("reference", "url"), ABSOLUTE)
@SCANNERS
def test_the_url_of_an_absolute_reference(
    reference: str, url: str | None, scanner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if scanner == "exact":
        monkeypatch.setattr(binding, "compiled", None)
    status = Status.KEPT if url is None else Status.ABSOLUTE
    escaped = reference.replace("&", "&amp;")
    data = f'<a href="{escaped}"></a><img srcset="/x">'.encode()
    call: Any = {"url": URL, "profile": "whatwg", "charset": "utf-8"}
    for known in (call, call | {"url": None}):
        [link, _] = links(data, kind="html", **known)
        assert (link.reference, link.url, link.status) == (reference, url, status)
    result = rewrite(data, kind="html", **call)
    made = b'srcset="https://h.example/x"'
    assert result.data == data.replace(b'srcset="/x"', made)
    assert result.links[0].url == url
    [old, _] = links(data, kind="html", url=URL, charset="utf-8")
    if reference[:2] != "10" and "\\" not in reference:
        assert (old.url, old.status) == (reference, Status.ABSOLUTE)
    mail = b"Content-Type: text/html; charset=utf-8\n\n" + data
    assert next(iter(links(mail, url=URL, profile="whatwg"))).url == url
    feed = f"<feed xmlns='http://www.w3.org/2005/Atom'><link href=\"{escaped}\"/></feed>"
    [fed] = links(feed.encode(), url=URL, profile="whatwg")
    assert (fed.url, fed.status) == (url, status)
    tree = lxml.html.fromstring(f'<p><a href="{escaped}"></a></p>')
    [found] = tree_links(tree, base_url=URL, profile="whatwg")
    assert (found.url, found.status) == (url, status)


@pytest.mark.parametrize(
    ("reference", "url"),
    [
        ("http:/i.example/x", "http://i.example/x"),
        ("http:i.example/x", "http://i.example/x"),
        ("HTTP:///i.example", None),
        ("ftp:/i.example/x", "ftp://i.example/x"),
        ("ws:i.example", "ws://i.example/"),
        ("file:/x/y", "file:///x/y"),
        ("https:/x", "https://h.example/x"),
        ("https:x", "https://h.example/d/x"),
    ],
)
def test_a_special_scheme_without_slashes_is_written_with_them(
    reference: str, url: str | None
) -> None:
    data = f"<a href='{reference}'><p style='a:url({reference})'>".encode()
    result = assert_agreed(data, url=URL, kind="html", profile="whatwg")
    made = data if url is None else data.replace(reference.encode(), url.encode())
    assert result.data == made
    assert rewrite(made, url=URL, kind="html", profile="whatwg").data is made
    tree = lxml.html.fromstring(f"<p><a href='{reference}'></a></p>")
    make_links_absolute(tree, base_url=URL, profile="whatwg")
    assert [one.get("href") for one in tree.iter("a")] == [url or reference]
    for profile in ("rfc1808", "rfc3986"):
        assert not rewrite(data, url=URL, kind="html", profile=profile).changed


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org",
        "http://EXAMPLE.org:80/a/../b",
        "https://example.org/x y",
        "https://h/%7e",
    ],
)
def test_the_base_is_the_url_as_it_was_given(url: str) -> None:
    for data in (b"<p>", b"<feed xmlns='http://www.w3.org/2005/Atom'/>", b"a{b:c}"):
        assert relbase.base(data, url=url, profile="whatwg").url == url
        assert rewrite(data, url=url, profile="whatwg").base.url == url
    data = (
        b"<a href='x'></a><a href='/y'></a><a href=''></a><a href='#f'></a><form action=''></form>"
    )
    result = assert_agreed(data, url=url, kind="html", profile="whatwg")
    expected = [relbase.resolve(url, one, profile="whatwg") for one in ("x", "/y", "", "#f", "")]
    assert [link.url for link in result.links] == expected
    assert relbase.base(b"<base href='https://i.example'>", url=url, profile="whatwg").url == (
        "https://i.example/"
    )
