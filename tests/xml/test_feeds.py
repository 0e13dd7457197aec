"""JSON Feed 1.1: what is a reference, what stays, and which JSON is a feed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from growth import assert_linear_from_10_ms

import relbase
from relbase import Policy

if TYPE_CHECKING:
    from collections.abc import Callable

URL: Final = "http://h.example/d/feed.json"
VERSION: Final = "https://jsonfeed.org/version/1.1"


def feed(*items: dict[str, Any], **members: Any) -> bytes:
    return json.dumps({"version": VERSION, **members, "items": items}).encode()


def reasons(data: bytes, **call: Any) -> list[str]:
    return [note.reason.value for note in relbase.rewrite(data, url=URL, **call).notes]


# `./x` is a reference, `./y` is none.
@pytest.mark.parametrize(
    "data",
    [
        feed(home_page_url="./x", feed_url="./x", next_url="./x", icon="./x", favicon="./x"),
        feed(title="./y", description="./y", user_comment="./y", id="./y", url="./y"),
        feed(author={"url": "./x", "avatar": "./x"}, authors=[{"url": "./x", "name": "./y"}]),
        feed(hubs=[{"type": "./y", "url": "./x"}], home=[{"url": "./y"}], items=[["./y"]]),
        feed({"id": "./y", "url": "./x", "external_url": "./x"}, {"image": "./x", "tags": ["./y"]}),
        feed({"banner_image": "./x", "author": {"avatar": "./x"}, "authors": [{"url": "./x"}]}),
        feed({"attachments": [{"url": "./x", "mime_type": "./y"}], "_own": {"url": "./y"}}),
        feed({"content_html": "<a href='./x'>", "content_text": "<a href='./y'>"}),
    ],
)
def test_members(data: bytes) -> None:
    found = [link.reference for link in relbase.links(data, url=URL)]
    assert found == ["./x"] * data.count(b"./x")
    result = relbase.rewrite(data, url=URL)
    assert result.data == data.replace(b"./x", b"http://h.example/d/x")


def test_order_escapes_and_white_space_stay() -> None:
    data = b'\xef\xbb\xbf{ "items":[ {"url" :"\\/\\u0061\\"",'
    data += b'"content_html":"<img src=\\"p\\"\\/>"}],\n'
    data += b'"version":"https:\\/\\/jsonfeed.org\\/version\\/1" }\n'
    written = relbase.rewrite(data, url=URL).data
    expected = data.replace(b':"\\/', b':"http://h.example\\/')
    assert written == expected.replace(b'"p\\"', b'"http://h.example/d/p\\"')
    assert relbase.rewrite(written, url=URL).data == written


@pytest.mark.parametrize(
    "call", [{"name": "f.json"}, {"headers": [("Content-Type", "application/json")]}]
)
def test_a_version_that_follows_all_items_tells(call: dict[str, Any]) -> None:
    data = b'{"items":[{"url":"/x","id":"%b"}],"version":"%b"}' % (b"1" * 100_000, VERSION.encode())
    assert relbase.rewrite(data, url=URL, **call).changed
    assert not relbase.rewrite(data.replace(b"version", b"revision"), url=URL, **call).changed


@pytest.mark.parametrize("more", [0, 1])
def test_a_version_in_the_first_16_kib_tells(more: int) -> None:
    version = b'","version":"https://jsonfeed.org/version/'
    start = b'{"icon":"/x","title":"'.ljust((16 << 10) - len(version) + more, b"1") + version
    data = start + b'1.1","items":[],"description":"%b"}' % (b"1" * (32 << 10))
    assert relbase.rewrite(data, url=URL, name="f.json").changed is not bool(more)


@pytest.mark.parametrize("link", [{"url": "/p/1/"}, {}])
def test_item_links(link: dict[str, str]) -> None:
    """The URL of an item is the base of its HTML where that is asked for, wherever it stands."""
    data = feed({"content_html": "<img src='i.png'><a href='/a'>", **link})
    own, linked = b"'http://h.example/d/i.png'", b"'http://h.example/p/1/i.png'"
    assert own in relbase.rewrite(data, url=URL).data
    on_link = relbase.rewrite(data, url=URL, policy=Policy(item_links=True)).data
    assert (linked if link else own) in on_link
    notes = relbase.rewrite(data, url=URL).notes
    told = "a link in an item against the item's own link (the first, 'i.png', to 'http://h.example"
    assert [told in note.text for note in notes] == [True] * len(link)
    html = [data[slice(*note.span)] for note in notes if note.span]
    assert html == [b"<img src='i.png'><a href='/a'>"] * len(link)


def test_the_site_of_a_json_feed_is_its_base_by_policy() -> None:
    data = feed({"content_html": "<a href=x>"}, home_page_url="https://site.example/b/")
    policy = Policy(site_links=True)
    assert (
        b"<a href=https://site.example/b/x>" in relbase.rewrite(data, url=URL, policy=policy).data
    )
    assert relbase.base(data, url=URL, policy=policy).url == "https://site.example/b/"
    assert reasons(data) == ["site-link"]
    assert reasons(data.replace(b"site.example", b"h.example")) == []
    assert reasons(data, policy=policy) == []


@pytest.mark.parametrize(
    ("url", "reference"),
    [("http://[x", "y"), ("http://h.example/p/1", "http&amp;colon;//[x")],
)
def test_an_invalid_url_of_an_item_raises_nothing(url: str, reference: str) -> None:
    data = feed({"url": url, "content_html": f"<a href={reference}>"})
    expected = f"=http://h.example/d/{reference}>".encode()
    assert expected in relbase.rewrite(data, url=URL, profile="whatwg").data


# Other JSON is never rewritten, whatever it is called.
@pytest.mark.parametrize(
    ("data", "call", "expected"),
    [
        (feed(icon="x"), {"name": "feed.json"}, []),
        (feed(icon="x"), {"headers": {"Content-Type": "application/feed+json"}}, []),
        (feed(icon="x"), {"headers": {"Content-Type": "application/json"}}, []),
        (feed(icon="x"), {"name": "feed.js"}, ["kind-unsupported"]),
        (b'{"icon": "x"}', {"name": "feed.json"}, ["kind-unsupported"]),
        (b'{"icon": "x"}', {"kind": "json"}, ["json-unsound"]),
        (
            b'{"icon": "x"}',
            {"headers": {"Content-Type": "application/feed+json"}},
            ["json-unsound"],
        ),
        (feed(icon="x")[:-1], {"name": "feed.json"}, ["json-unsound"]),
        (feed(icon="x") + b"x", {"name": "feed.json"}, ["json-unsound"]),
    ],
)
def test_which_json_is_a_feed(data: bytes, call: dict[str, Any], expected: list[str]) -> None:
    assert reasons(data, **call) == expected
    assert relbase.rewrite(data, url=URL, **call).changed is not bool(expected)


HTML: Final = b'{"version":"https://jsonfeed.org/version/1","items":[{"content_html":"'
HOSTILE: Final[dict[str, Callable[[int], bytes]]] = {
    "items": lambda n: HTML[: HTML.index(b"{", 1)] + b'{"url":"x"},' * (n // 12) + b"{}]}",
    "escapes": lambda n: HTML + b"\\u003ca href=x\\u003e" * (n // 20) + b'"}]}',
    "nested": lambda n: HTML[:-1] + b"[" * (n // 2) + b"]" * (n // 2) + b"}]}",
    "links": lambda n: HTML + b"<a href=x>" * (n // 10) + b'","url":"/p/"}]}',
    "no end": lambda n: b'{"version' * (n // 9),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    def both(data: bytes) -> None:
        relbase.rewrite(data, url=URL, kind="json")

    assert_linear_from_10_ms(both, HOSTILE[name])
