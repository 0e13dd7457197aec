"""HAR: the documents in it, redirects, charsets, and what cannot be read."""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable
from typing import Any

import pytest
from growth import assert_linear_from_10_ms
from held import entry, firefox_entry, har
from hypothesis import given
from hypothesis import strategies as st

from relbase.containers.har import begins, saved
from relbase.containers.saved import Saved
from relbase.containers.warc import Fault, Trouble

URL = "http://h.example/a"


def documents(data: bytes) -> list[Saved]:
    found = list(saved(data))
    assert all(isinstance(one, Saved) for one in found)
    return [one for one in found if isinstance(one, Saved) and (one.status or 0) // 100 == 2]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_documents(indent: int | None, mark: bytes) -> None:
    made = [
        entry(URL, "<a href=x>"),
        entry(f"{URL}.png", b"\x89PNG", "image/png"),
        entry(f"{URL}.css", b"a{}", "text/css"),
        entry(f"{URL}/no", "<a href=no>", status=404),
        entry(f"{URL}/empty", "", status=204),
        firefox_entry(f"{URL}/f", "<a href=é>"),
    ]
    data = mark + har(*made, indent=indent)
    assert begins.match(data)
    found = documents(data)
    assert [(one.url, one.status, bytes(one.body)) for one in found] == [
        (URL, 200, b"<a href=x>"),
        (f"{URL}.png", 200, b"\x89PNG"),
        (f"{URL}.css", 200, b"a{}"),
        (f"{URL}/empty", 204, b""),
        (f"{URL}/f", 200, "<a href=é>".encode()),
    ]
    assert found[0].type == "text/html; charset=utf-8"
    assert found[0].date == "2026-01-02T03:04:05.006Z"
    assert found == sorted(found, key=lambda one: one.offset)
    assert len({one.offset for one in found}) == len(found)


def test_redirects_lead_to_the_next_entry_with_their_url() -> None:
    made = [
        entry("http://h/1", "", status=301, to="/2"),
        entry("http://k/x", "<p>"),
        entry("http://h/2", "", status=302, to="http://h/3"),
        entry("http://h/3", "<a href=x>"),
        entry("http://h/3", "<a href=y>"),
    ]
    assert [(one.url, one.redirects) for one in documents(har(*made))] == [
        ("http://k/x", ()),
        ("http://h/3", ("http://h/2", "http://h/3")),
        ("http://h/3", ()),
    ]


def test_header_fields_that_decide_about_the_base() -> None:
    headers = (("Set-Cookie", "x"), ("Content-Base", "http://k/"), ("BASE", "http://l/"))
    [one] = documents(har(entry(URL, "<p>", headers=headers)))
    assert one.fields == (("content-base", "http://k/"), ("base", "http://l/"))


@pytest.mark.parametrize(
    ("text", "type_", "body"),
    [
        ("é", "text/html; charset=utf-8", "é".encode()),
        ("é", "text/html; charset=ISO-8859-1", b"\xe9"),
        ("я", "text/html; charset=windows-1251", b"\xff"),
        ("<meta charset=windows-1251>я", "text/html", b"<meta charset=windows-1251>\xff"),
        ("<meta charset=utf-8>я", "text/html", "<meta charset=utf-8>я".encode()),
        ("x", "text/html; charset=utf-16", b"x"),
        # what the charset lacks, or nothing states: a byte order mark states UTF-8
        ("я", "text/html; charset=ISO-8859-1", "\ufeffя".encode()),
        ("я", "text/html", "\ufeffя".encode()),
        ("я", "text/html; charset=utf-16", "\ufeffя".encode()),
        ("я", "", "\ufeffя".encode()),
        ("\ufeffя", "text/html", "\ufeffя".encode()),
        ("\ud800é", "text/html; charset=utf-8", "\ufffdé".encode()),
    ],
)
def test_text_is_encoded_as_the_page_states(text: str, type_: str, body: bytes) -> None:
    made = json.dumps(json.loads(har(entry(URL, "", type_))))
    data = made.replace('"text": ""', f'"text": {json.dumps(text)}').encode()
    assert [bytes(one.body) for one in documents(data)] == [body]


def test_text_that_is_not_utf_8_stays() -> None:
    data = har(entry(URL, "<p>~", "text/html; charset=iso-8859-1")).replace(b"~", b"\xe9 \xc3\xa9")
    [page] = documents(data)
    assert page.body == codecs.BOM_UTF8 + b"<p>\xe9 \xc3\xa9"


@pytest.mark.parametrize("text", ["x", "!!!!", "<a href=x>", "PGE+PGE=PGE+"])
def test_a_body_that_is_missing_or_not_base64_is_told(text: str) -> None:
    not_base64 = entry(URL, b"x")
    not_base64["response"]["content"]["text"] = text
    [missing, broken] = documents(har(entry(URL, None, size=9), not_base64))
    assert "export the HAR with content" in missing.fault
    assert "not base64" in broken.fault


@pytest.mark.parametrize("data", [b"", b"x", b"{", har(entry(URL, "<p>"))[:-2], har() + b"x"])
def test_what_is_not_json_is_a_fault(data: bytes) -> None:
    *_, fault = saved(data)
    assert isinstance(fault, Fault)
    assert fault.trouble is Trouble.DAMAGED


@pytest.mark.parametrize("data", [b"{}", b"[]", b"1", b'{"log":1}', b'{"entries":[]}'])
def test_json_without_a_log_is_a_fault(data: bytes) -> None:
    (fault,) = saved(data)
    assert isinstance(fault, Fault)
    assert "log.entries" in fault.text


def test_entries_of_another_shape_hold_nothing() -> None:
    assert documents(b'{"log":{"entries":[[],1,{"request":"x"},{"response":[]}]}}') == []


@given(st.data())
def test_law_6_no_bytes_raise(data: st.DataObject) -> None:
    sound = har(entry(URL, "é<a href=x>"), entry(URL, b"x"), indent=None)
    at, new = data.draw(st.integers(0, len(sound))), data.draw(st.binary(max_size=20))
    list(saved(sound[:at]))
    list(saved(sound[:at] + new + sound[at + len(new) :]))


HEADERS = b'{"log":{"entries":[{"response":{"headers":['


def _entries(one: dict[str, Any]) -> Callable[[int], bytes]:
    made = json.dumps(one).encode() + b","
    return lambda n: b'{"log":{"entries":[' + made * (n // len(made)) + b"0]}}"


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "pages": _entries(entry(URL, "<a href=x>")),
    "redirects to another URL": _entries(entry(URL, "", status=301, to="b")),
    "redirects to themselves": _entries(entry(URL, "", status=301, to="a")),
    "requests without a response": _entries({"request": {"url": "x"}}),
    "header fields": lambda n: HEADERS + b'{"name":"base","value":"x"},' * (n // 28),
    "nested": lambda n: b'{"log":{"entries":[' + b'{"a":[' * (n // 6),
    "text in Latin-1": lambda n: har(entry(URL, "é" * (n // 2), "text/html; charset=iso-8859-1")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    assert_linear_from_10_ms(lambda data: sum(1 for _ in saved(data)), HOSTILE[name])
