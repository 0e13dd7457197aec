"""Rule 16: the URL of each message of a mailbox, by a map, a function or a field of its header."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Final

import pytest
from growth import assert_linear_from_10_ms
from rows import cases

import relbase
from relbase.bases.headers import MessageUrlTable

TABLES: Final = Path(__file__).with_name("message_urls.txt")

HTML: Final = b"Content-Type: text/html\n\n<a href=x>"


def found(header: bytes, urls: Any, **call: Any) -> str | None:
    """What `x` in a message resolves to."""
    arguments = {"url": "http://given/", "kind": "mail", "message_urls": urls} | call
    *_, link = relbase.links(header + HTML, **arguments)
    return link.url


ALL: Final = {
    " <1@id.example> ": "http://id/",
    "List.example.org": "http://list/",
    "news@Example.org": "http://address/",
    "@example.org": "http://domain/",
    "@.example.net": "http://below/",
    "@.a.example.net": "http://deeper/",
}


@cases(TABLES, "by a map", header=str, url=str)
def test_by_a_map(header: str, url: str) -> None:
    assert found(header.encode() + b"\n", ALL) == url


def test_a_host_of_255_characters_selects_a_message() -> None:
    """RFC 1035 §2.3.4: no host is longer, and of a longer one only its end is looked up."""
    host = ".".join(["h" * 63] * 3 + ["h" * 55, "example"])
    assert len(host) == 255
    urls = {f"@{host}": "http://whole/", "@.example": "http://end/"}
    assert found(f"From: a@{host}\n".encode(), urls) == "http://whole/x"
    assert found(f"From: a@h{host}\n".encode(), urls) == "http://whole/x"
    assert found(f"From: a@g{host[1:]}\n".encode(), urls) == "http://end/x"


FIELDS: Final = MessageUrlTable({"a@h.example": "http://map/"}, ("x-rss-url", "list-archive"))


@cases(TABLES, "by a field", header=str, url=str)
def test_by_a_field(header: str, url: str) -> None:
    assert found(header.encode() + b"\n", FIELDS) == url


def test_by_a_function_of_the_decoded_header() -> None:
    asked = []

    def url_of(header: list[tuple[str, str]]) -> str | None:
        asked.append(header)
        return dict(header).get("x-url")

    subject = "Subject: =?utf-8?q?caf=C3=A9?=\n"
    assert found(f"{subject}X-Url: http://f/\n".encode(), url_of) == "http://f/x"
    assert ("subject", "café") in asked[0]
    assert found(subject.encode(), url_of) == "http://given/x"
    with pytest.raises(ValueError, match="what message_urls returns is not absolute"):
        found(b"X-Url: f/\n", url_of)


def test_a_message_inside_a_message_has_its_own() -> None:
    inner = b"Content-Type: message/rfc822\n\nFrom: b@h.example\n" + HTML
    urls = {"a@h.example": "http://a/", "b@h.example": "http://b/"}
    for header, url in [
        (b"From: a@h.example\n", "http://b/x"),
        (b"From: a@h.example\nContent-Base: http://stated/\n", "http://stated/x"),  # §3.2
    ]:
        [*_, link] = relbase.links(header + inner, kind="mail", message_urls=urls)
        assert link.url == url
    del urls["b@h.example"]
    [link] = relbase.links(b"From: a@h.example\n" + inner, kind="mail", message_urls=urls)
    assert link.url == "http://a/x"


def test_each_message_of_an_mbox_has_its_own_and_a_mark_is_weaker() -> None:
    from_line = b"From a@b Thu Nov 29 22:33:52 2001\n"
    data = b"".join(from_line + b"From: %b@h\n%b\n\n" % (name, HTML) for name in (b"a", b"b", b"c"))
    urls = {"a@h": "http://a/", "b@h": "http://b/"}
    result = relbase.rewrite(data, message_urls=urls)
    assert [link.url for link in result.links] == ["http://a/x", "http://b/x", None]
    assert pickle.loads(pickle.dumps(result)).links == result.links
    mark = b"From: a@h\nSnapshot-Content-Location: http://mark/\n"
    assert relbase.base(mark + HTML, kind="mail", message_urls=urls).url == "http://a/"


def test_the_chain_names_what_decided() -> None:
    base = relbase.base(b"From: news@example.org\n" + HTML, kind="mail", message_urls=ALL)
    assert (base.layer.value, base.source) == ("retrieval", "message map, news@example.org")


@pytest.mark.parametrize("selector", ["", "a b", "*@b", "<a@b", "a@", "<>", "a@b, c@d", "@"])
def test_what_selects_nothing_is_an_error(selector: str) -> None:
    with pytest.raises(ValueError, match="selects no message: give a Message-ID"):
        relbase.rewrite(b"", message_urls={selector: "http://h/"})


def test_bad_arguments_are_errors() -> None:
    with pytest.raises(ValueError, match=r"message_urls\['a@b'\] is not absolute"):
        relbase.rewrite(b"", message_urls={"a@b": "h/"})
    with pytest.raises(TypeError, match="a function, not list: give a mapping of selectors"):
        relbase.rewrite(b"", message_urls=["a@b"])  # type: ignore[arg-type]


@pytest.mark.parametrize("unit", ["a@", "<", '"', "(", '\\"', "a.", "x", "<a@b"])
def test_hostile_senders_take_linear_time(unit: str) -> None:
    table = MessageUrlTable({"a@b": "http://h/"})
    assert_linear_from_10_ms(
        lambda size: [table.find([("from", unit * size), ("list-id", unit * size)])],
        lambda size: size,
    )
