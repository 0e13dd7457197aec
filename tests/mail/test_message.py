"""Messages: bases down the tree, limits, and what is around messages of Apple Mail."""

from __future__ import annotations

import plistlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
from rows import cases

import relbase
from relbase.bases.layers import MAX_BASE
from relbase.containers import fields, mail
from relbase.mail.message import read_envelope
from relbase.mail.parts import MAX_OUTER_BASE

if TYPE_CHECKING:
    from collections.abc import Callable

    from relbase import Result

TABLES: Final = Path(__file__).with_name("message.txt")

URL: Final = "http://h.example/d/p.html"
HTML: Final = b"Content-Type: text/html\n"
LINK: Final = b"<a href=x>"
DONE: Final = b"<a href=http://h.example/d/x>"


def rewrite(data: bytes, **call: Any) -> Result:
    return relbase.rewrite(data, **({"url": URL, "kind": "mail"} | call))


def reasons(result: Result) -> list[str]:
    return [note.reason.value for note in result.notes]


# ---- Bases


def test_the_tree_of_entities() -> None:
    data = (
        b"Base: <URL:http://a.example/>\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\nContent-Type: message/rfc822\nContent-Base: http://b.example/\n\n"
        b"Content-Type: multipart/mixed; boundary=c\n\n"
        b"--c\nContent-Type: text/html\n\n<base href=c/>\n--c--\n"
        b"--b\nContent-Location: y/z\nContent-Type: text/css\n\n"
        b"--b\nContent-Base: mailto:x\n\n--b--"
    )
    found = list(relbase.entities(data, kind="mail"))
    assert [(one.part, one.type, one.base.url, one.base.source) for one in found] == [
        ("", "message/rfc822", "http://a.example/", "Base of the message"),
        ("1", "message/rfc822", "http://b.example/", "Content-Base of part 1"),
        ("1", "multipart/mixed", "http://b.example/", "Content-Base of part 1"),
        ("1.1", "text/html", "http://b.example/c/", "<base href> at 1:12 of part 1.1"),
        ("2", "text/css", "http://a.example/y/z", "Content-Location of part 2"),
        ("3", "text/plain", "http://a.example/", "Base of the message"),
    ]
    layers = ["embedded", "embedded", "entity", "embedded", "entity", "entity"]
    assert [one.base.layer.value for one in found] == layers
    assert found[3].base.outer == found[2].base
    assert [note.reason.value for note in found[5].base.refused] == ["base-unsuitable"]
    for one in found[1:]:
        assert found[0].span.start <= one.span.start <= one.span.end <= found[0].span.end


def test_for_references_in_a_header_its_own_base_is_embedded() -> None:
    """RFC 1808 §3.1: the message is the document, and its header a part of that."""
    data = (
        b"Base: <URL:http://a.example/>\nLink: <x>\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\nLink: <x>\n\n--b\nContent-Location: y/\nLink: <x>\n\n--b--"
    )
    found = list(relbase.links(data, kind="mail"))
    assert [(one.part, one.attribute, one.url, one.base.layer.value) for one in found] == [
        ("", "base", "http://a.example/", "none"),
        ("", "link", "http://a.example/x", "embedded"),
        ("1", "link", "http://a.example/x", "entity"),
        ("2", "content-location", "http://a.example/y/", "entity"),
        ("2", "link", "http://a.example/y/x", "embedded"),
    ]


@cases(TABLES, "bases", fields=bytes, expected=bytes)
def test_a_relative_base_is_made_absolute(fields: bytes, expected: bytes) -> None:
    message = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n%b\ntext\n--b--\n"
    assert rewrite(message % fields).data == message % expected


def test_a_base_that_is_not_a_url_is_refused_with_a_note() -> None:
    result = rewrite(b"Base: <URL:http://a.example/\n" + HTML + b"\n" + LINK)
    assert result.base.url == URL
    assert reasons(result) == ["base-unparsable"]
    assert "'<URL:http://a.example/' is not one URL" in result.notes[0].text


def test_the_base_of_a_message_in_a_message_is_not_its_own() -> None:
    """Both have the same number: IMAP counts a multipart as the text of its message."""
    data = (
        b"Content-Type: message/rfc822\nContent-Base: http://a.example/\n\n"
        b"Content-Type: multipart/mixed; boundary=b\nLink: <x>\n\n--b--"
    )
    stated, link = relbase.links(data, kind="mail")
    assert (stated.attribute, stated.status.value) == ("content-base", "absolute")
    assert (link.url, link.base.layer.value) == ("http://a.example/x", "entity")


SNAPSHOT: Final = b"Snapshot-Content-Location: http://s.example/p\n" + HTML + b"\n" + LINK

# (call, the base): what the caller says counts before a mark in the file
SNAPSHOTS: Final = [
    ({"url": None}, "http://s.example/p"),
    ({"url": URL}, URL),
    ({"url": None, "detect": False}, ""),
    ({"url": None, "headers": {"Content-Base": "http://t.example/"}}, "http://t.example/"),
]


@pytest.mark.parametrize(("call", "base"), SNAPSHOTS)
def test_a_mark_of_chromium_is_a_retrieval_url(call: dict[str, Any], base: str) -> None:
    assert rewrite(SNAPSHOT, **call).base.url == base


def test_a_mark_that_names_a_file_is_refused() -> None:
    """Threat A7: a link must not tell where the page was saved."""
    data = b"Snapshot-Content-Location: file:///home/alice/p.html\n" + HTML + b"\n" + LINK
    result = rewrite(data, url=None)
    assert result.data is data
    assert sorted(reasons(result)) == ["base-none", "base-unsuitable"]
    assert [note.reason.value for note in result.base.refused] == ["base-unsuitable"]


def test_a_mark_counts_in_the_outermost_header_only() -> None:
    data = b"Content-Type: message/rfc822\n\n" + SNAPSHOT
    assert rewrite(data, url=None).data is data


@pytest.mark.parametrize("length", [-1, 0, 1])
def test_bases_have_a_greatest_length(length: int) -> None:
    """That of a base that is stated, and of one that another may be relative to."""
    base = "http://b.example/".ljust(MAX_BASE + length - 1, "d") + "/"
    result = rewrite(b"Base: %b\n%b\n%b" % (base.encode(), HTML, LINK))
    assert result.base.url == (URL if length > 0 else base)
    assert ("base-unsuitable" in reasons(result)) == (length > 0)
    url = "http://b.example/".ljust(MAX_OUTER_BASE + length - 1, "d") + "/"
    result = rewrite(b"Content-Base: sub/\n%b\n%b" % (HTML, LINK), url=url)
    assert result.base.url == (url if length > 0 else url + "sub/")
    assert ("base-unsuitable" in reasons(result)) == (length > 0)
    assert ("base-relative" in reasons(result)) == (length <= 0)


# ---- Limits at N-1, N, N+1


def test_notes_have_the_number_of_their_part() -> None:
    data = (
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/xhtml+xml\n\n"
        b"<p xml:base='x'>\n--b\nContent-Type: text/html\n"
        b"Content-Transfer-Encoding: x\n\n<p>\n--b\n"
        b"Content-Type: message/rfc822\n\nLink: <%b>\nContent-Type: text/xml\n\n"
        b"<p xml:base='x'>\n--b--\n" % (b"x" * 990)
    )
    noted = [
        (note.part, note.reason.value)
        for note in relbase.rewrite(data, url="http://h/", kind="mail").notes
    ]
    assert noted == [
        ("1", "kind-doubtful"),
        ("1", "xml-unsound"),
        ("2", "encoding-unsupported"),
        ("3.1", "line-length"),
        ("3.1", "kind-doubtful"),
        ("3.1", "xml-unsound"),
    ]
    mbox = b"From a@b Sat Nov 21 12:00:00 2026\n" + data
    parts = [note.part for note in relbase.rewrite(mbox, url="http://h/", kind="mbox").notes]
    assert parts == [f"1/{part}" for part, _ in noted]


def test_what_a_line_has_no_room_for_is_not_listed_as_rewritten() -> None:
    """`--<a href=x>` would become the delimiter of the multipart around it."""
    boundary = b"<a href=http://h/x>"
    data = (
        b'Content-Type: multipart/mixed; boundary="%b"\n\n--%b\nContent-Type: text/html\n\n'
        b"<a href=v>\n--<a href=x>\n<a href=y>\n--%b--\n" % (boundary, boundary, boundary)
    )
    result = relbase.rewrite(data, url="http://h/", kind="mail")
    assert b"<a href=http://h/v>\n--<a href=x>\n<a href=http://h/y>\n" in result.data
    listed = [(link.reference, link.status.value) for link in result.links]
    assert listed == [("v", "rewritten"), ("x", "kept"), ("y", "rewritten")]
    assert [note.reason.value for note in result.notes] == ["mime-boundary"]


def multiparts(depth: int) -> bytes:
    heads = (b"Content-Type: multipart/x; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(depth))
    return b"".join(heads) + HTML + b"\n" + LINK


def parts(count: int) -> bytes:
    """The message itself is one of them."""
    end = b"--b\n" + HTML + b"\n" + LINK + b"\n--b--\n"
    return b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\n\n" * (count - 2) + end


class Limit(NamedTuple):
    make: Callable[[int], bytes]  # a message of a size
    module: Any
    name: str
    reason: str
    lowered: int | None = None  # for the test


LIMITS: Final = [
    Limit(multiparts, mail, "MAX_DEPTH", "limit-mime-depth"),
    Limit(
        lambda depth: b"Content-Type: message/rfc822\n\n" * depth + HTML + b"\n" + LINK,
        *(mail, "MAX_DEPTH", "limit-mime-depth"),
    ),
    Limit(parts, mail, "MAX_PARTS", "limit-mime-parts"),
    Limit(
        lambda size: b"Content-ID: ".ljust(size - 1, b"x") + b"\n" + HTML + b"\n" + LINK,
        *(fields, "MAX_FIELD", "limit-header", 200),
    ),
    Limit(
        lambda size: HTML + b"X: ".ljust(size - len(HTML) - 1, b"x") + b"\n\n" + LINK,
        *(fields, "MAX_HEADER", "limit-header", 300),
    ),
    Limit(
        lambda count: HTML + b"Content-ID: y\n" * (count - 1) + b"\n" + LINK,
        *(fields, "MAX_FIELDS", "limit-header"),
    ),
]


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_limits(limit: Limit, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if limit.lowered is not None:
        monkeypatch.setattr(limit.module, limit.name, limit.lowered)
    data = limit.make(getattr(limit.module, limit.name) + more)
    result = rewrite(data)
    assert result.data == (data if more > 0 else data.replace(LINK, DONE))
    assert reasons(result) == [limit.reason] * (more > 0)


def test_a_page_beyond_a_limit_states_no_base() -> None:
    page = HTML + b"Content-ID: y\n" * fields.MAX_FIELDS + b"\n<base href=/b/>" + LINK
    (entity,) = relbase.entities(page, url=URL)
    assert entity.base.url == URL


# ---- Apple Mail: the first line counts the message, and the property list is not of it

PLIST = plistlib.dumps({"flags": 8623750145, "subject": "<a href=z>"})
COUNTED = b"Content-Type: text/html\n\n<a href=x>\n"
COUNTED_DONE = COUNTED.replace(b"=x", b"=http://h.example/d/x")


def emlx(message: bytes, after: bytes = PLIST, width: int = 11) -> bytes:
    return (
        b"%d" % len(message) + b" " * (width - len(b"%d" % len(message))) + b"\n" + message + after
    )


@pytest.mark.parametrize("after", [PLIST, b"\n" + PLIST, b"", b"\n", b"<plist/>"])
@pytest.mark.parametrize("width", [0, 3, 11])
def test_the_count_follows_and_the_property_list_stays(after: bytes, width: int) -> None:
    data = emlx(COUNTED, after, width)
    result = relbase.rewrite(data, kind="mail", url=URL)
    assert result.data == emlx(COUNTED_DONE, after, width)
    assert not result.notes
    (link,) = result.links
    assert data[slice(*link.span)] == b"x"
    assert not relbase.rewrite(result.data, kind="mail", url=URL).changed
    (entity,) = relbase.entities(data, kind="mail", url=URL)
    assert data[slice(*entity.span)] == COUNTED
    assert result.base.url == URL


def test_one_digit_more() -> None:
    message = COUNTED + b"y" * (99 - len(COUNTED))
    data = emlx(message, width=0)
    output = relbase.rewrite(data, kind="mail", url=URL).data
    assert output == emlx(message.replace(COUNTED, COUNTED_DONE), width=0)


def test_a_message_in_which_nothing_is_relative_is_the_same() -> None:
    data = emlx(COUNTED_DONE)
    assert relbase.rewrite(data, kind="mail", url=URL).data is data


@pytest.mark.parametrize("more", [-2, 1, 10**6])
def test_a_wrong_count_is_noted(more: int) -> None:
    data = emlx(COUNTED).replace(b"%d" % len(COUNTED), b"%d" % (len(COUNTED) + more), 1)
    result = relbase.rewrite(data, kind="mail", url=URL)
    assert result.data is data
    assert [note.reason.value for note in result.notes] == ["field-stale"]


@pytest.mark.parametrize(
    "data", [b"", b"12\n", b"12\n\nA: b", b"A: b\n\n", b"x12\nA: b\n", COUNTED]
)
def test_what_is_not_one(data: bytes) -> None:
    assert read_envelope(data) == (None, (0, len(data)))
