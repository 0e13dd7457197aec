"""Safari's web archives, binary and in XML: their pages, and what cannot be read."""

from __future__ import annotations

import plistlib
from collections.abc import Callable
from typing import Any

import pytest
from growth import assert_linear_from_10_ms
from held import FORMS, FRAME, PAGE, PICTURE, SAVED, SHEET, archive, resource, webarchive
from hypothesis import given
from hypothesis import strategies as st

from relbase.containers.saved import Saved
from relbase.containers.warc import Fault, Trouble
from relbase.containers.webarchive import begins, saved


@pytest.mark.parametrize("form", FORMS)
def test_resources_in_order(form: str) -> None:
    data = webarchive(SAVED, form)
    assert begins.match(data)
    found = list(saved(data))
    assert all(isinstance(one, Saved) for one in found)
    assert [(one.url, one.type, bytes(one.body)) for one in found if isinstance(one, Saved)] == [
        ("http://h.example/a/page?q#f", "text/html; charset=UTF-8", PAGE),
        ("http://h.example/a/s.css", "text/css; charset=UTF-8", SHEET),
        ("http://h.example/a/i.png", "image/png", PICTURE),
        ("http://h.example/a/copy.png", "image/png", PICTURE),
        ("http://h.example/f/", "text/html; charset=UTF-8", FRAME),
        ("about:blank", "text/html", b"<a href=x>"),
        ("http://k.example/f/", "text/html; charset=UTF-8", FRAME),
    ]


def test_an_offset_is_that_of_the_body_in_a_binary_list() -> None:
    data = webarchive(SAVED)
    for one in saved(data):
        assert isinstance(one, Saved)
        assert data[one.offset : one.offset + len(one.body)] == bytes(one.body)


@pytest.mark.parametrize("form", FORMS)
def test_a_resource_without_a_url_is_one_whose_url_is_unknown(form: str) -> None:
    made = archive({"WebResourceURL": 1, "WebResourceData": b"<p>"})
    [page] = saved(webarchive(made, form))
    assert isinstance(page, Saved)
    assert (page.url, bytes(page.body)) == ("", b"<p>")


BASE64 = b"<data>%b</data>" % b"PGEgaHJlZj14Pg=="


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("made", "why"),
    [
        ({"a": "b"}, "has no WebMainResource"),
        ([1], "has no WebMainResource"),
        ("x", "has no WebMainResource"),
        (archive({"WebResourceURL": "http://h/"}), "has no WebResourceData"),
        (archive({"WebResourceURL": "http://h/", "WebResourceData": "x"}), "no WebResourceData"),
        ({"WebMainResource": [], "WebSubresources": {"a": 1}, "WebSubframeArchives": ["x"]}, ""),
    ],
)
def test_odd_lists(form: str, made: Any, why: str) -> None:
    found = list(saved(webarchive(made, form)))
    if not why:
        assert found == []
        return
    [fault] = found
    assert isinstance(fault, Fault)
    assert (fault.trouble, why in fault.text) == (Trouble.DAMAGED, True)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"x",
        b"<plist",
        b"<plist><dict><key>WebMainResource</key><data>!",
        b"bplist00" + bytes(40),
        webarchive(SAVED)[:-9],
        webarchive(SAVED, "XML")[:-40],
        b"<plist><date>x</date></plist>",
        b"<plist><integer>x</integer></plist>",
        b"<plist>" + b"<array>" * 100_000,
    ],
)
def test_what_cannot_be_read_is_a_fault(data: bytes) -> None:
    [fault] = saved(data)
    assert isinstance(fault, Fault)
    assert fault.trouble is Trouble.DAMAGED


def test_entities_are_never_expanded() -> None:
    bomb = b'<!DOCTYPE plist [<!ENTITY a "aaaaaaaaaa">]><plist><string>&a;</string></plist>'
    [fault] = saved(bomb)
    assert "cannot be read" in fault.text  # type: ignore[union-attr] # a fault


def test_resources_and_frames_that_are_shared_are_read_once() -> None:
    frame = archive(resource("http://h/f", "text/html", FRAME))
    shared = {"WebMainResource": resource("http://h/", "text/html", PAGE)}
    shared["WebSubframeArchives"] = [frame] * 40  # type: ignore[assignment] # a list
    assert [one.url for one in saved(webarchive(shared))] == ["http://h/", "http://h/f"]


@given(st.data())
def test_law_6_no_bytes_raise(data: st.DataObject) -> None:
    for sound in (webarchive(SAVED), webarchive(SAVED, "XML")):
        at = data.draw(st.integers(0, len(sound)))
        new = data.draw(st.binary(max_size=30))
        list(saved(sound[:at]))
        list(saved(sound[:at] + new + sound[at + len(new) :]))


@pytest.mark.parametrize("form", FORMS)
def test_it_begins_like_no_other_property_list(form: str) -> None:
    fmt = FORMS[form]
    assert not begins.match(plistlib.dumps({"a": "b"}, fmt=fmt))
    assert not begins.match(b"<?xml version='1.0'?><rss></rss>")


def _resources(n: int) -> list[dict[str, Any]]:
    body = b"<p>Text.</p>" * 30
    return [resource(f"http://h/{k}", "text/html", b"%b%d" % (body, k)) for k in range(n // 400)]


MAIN = resource("http://h/", "text/html", b"<p>")
HOSTILE: dict[str, Callable[[int], bytes]] = {
    "resources": lambda n: webarchive(archive(MAIN, _resources(n))),
    "frames": lambda n: webarchive(archive(MAIN, None, [archive(one) for one in _resources(n)])),
    "one resource again": lambda n: webarchive(archive(MAIN, [MAIN] * (n // 2))),
    "resources in XML": lambda n: webarchive(archive(MAIN, _resources(n // 5)), "XML"),
    "one long page": lambda n: webarchive(archive(resource("http://h/", "text/html", b"<a>" * n))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    assert_linear_from_10_ms(lambda data: sum(1 for _ in saved(data)), HOSTILE[name])
