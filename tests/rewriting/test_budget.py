"""Rule 12, threat A8: the budget of growth, the same for what is rewritten and what is listed."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from scanners import SCANNERS, assert_agreed, result_of_each, scanning

import relbase
from relbase import Policy, Status
from relbase.bases.layers import MAX_BASE
from relbase.rewriting import budget
from relbase.url import rfc1808

if TYPE_CHECKING:
    from collections.abc import Iterator

URL: Final = "http://h.example/d/p.html"
GROWN: Final = len("http://h.example/d/")
LINK: Final = b'<a href="x">x</a>'


def allow(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Allow documents to grow by a number of bytes."""
    monkeypatch.setattr(budget, "MAX_GROWTH_BYTES", size)
    monkeypatch.setattr(budget, "MAX_GROWTH", 1)


def statuses(data: bytes, **call: Any) -> list[str]:
    return [link.status.value for link in relbase.links(data, **call)]


def growth_notes(result: relbase.Result) -> list[relbase.Note]:
    return [note for note in result.notes if note.reason.value == "limit-growth"]


@pytest.mark.parametrize(("limit", "count"), [(-1, 9), (0, 10), (1, 10), (GROWN, 10)])
def test_the_first_reference_that_does_not_fit_stays_and_all_after_it(
    limit: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = LINK * 10 + b'<a href="http://a/"><a href="/">'
    allow(monkeypatch, 10 * GROWN + limit)
    result = assert_agreed(document, url=URL, kind="html")
    # `/` would fit where nine links do, but nothing after a reference that does not.
    last = ["absolute", "rewritten" if limit >= GROWN - 1 else "kept"]
    assert statuses(document, url=URL) == ["rewritten"] * count + ["kept"] * (10 - count) + last
    left = 10 - count + (last[1] == "kept")
    texts = [note.text for note in growth_notes(result)]
    assert len(texts) == bool(left)
    assert all(text.startswith(f"{left} relative link") for text in texts)


def test_in_multiples_of_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_GROWTH_BYTES", 0)
    assert len(LINK) < GROWN < 2 * len(LINK)
    for multiple, passes in ((4, True), (3, True), (2, False)):
        monkeypatch.setattr(budget, "MAX_GROWTH", multiple)
        assert relbase.rewrite(LINK, url=URL).changed == passes


@pytest.mark.parametrize(
    ("url", "up", "cost"),
    [("http://h/", 6, len("http://h/")), ("http://h/(/1/2/3/4/5/6/7/8/", 8, 27 + 11)],
)
def test_a_shorter_url_is_no_refund(
    url: str, up: int, cost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = b'<a href="x"><a href="%by"><a href="z">' % (b"../" * up)
    call = {"url": url, "kind": "html", "profile": "whatwg"}
    allow(monkeypatch, 2 * cost)
    assert not growth_notes(assert_agreed(document, **call))
    result = assert_agreed(document + b'<a href="z">', **call)
    assert [link.status.value for link in result.links] == ["rewritten"] * 3 + ["kept"]
    allow(monkeypatch, 2 * cost - 1)
    result = assert_agreed(document, **call)
    assert [link.status.value for link in result.links] == ["rewritten", "rewritten", "kept"]
    assert result.links[2].url is None


# Each reference once, and what its URL adds: (document, call, cost).
COSTS: Final[list[tuple[bytes, dict[str, Any], int]]] = [
    (b'<a href="#x">', {}, len(URL)),
    (b"<a href=x>", {}, GROWN),
    (b'<a href="../x">', {}, len("http://h.example") - len("..")),
    (b'<a href="./x">', {}, GROWN - len("./")),
    (b'<a href="/x/../y">', {"profile": "rfc3986"}, len("http://h.example") - len("/x/..")),
    (b"<p style='a:url(x)'>", {}, GROWN),
    (b"<style>a{b:url(x)}</style>", {}, GROWN),
    (b"<img srcset='x 1x'>", {}, GROWN),
    (b"<form action=''>", {}, len(URL)),
    (b"a{b:url(x)}", {"kind": "css"}, GROWN),
    (b"<r xmlns:x='http://www.w3.org/1999/xlink' x:href='x'/>", {"kind": "xml"}, GROWN),
    (b"Link: <x>\n\n", {"kind": "mail"}, GROWN),
    (b"Content-Type: text/html\n\n<a href=x>", {"kind": "mail"}, GROWN),
    # what an escape may lengthen, at its longest: `&` and a quote, by how deep it stands
    (b'<a href="x">', {"url": "http://h/a&b/"}, len("http://h/a&b/") + 11),
    (b'<iframe srcdoc="<a href=x>">', {"url": "http://h/'/"}, len("http://h/'/") + 11 + 4),
]


@pytest.mark.parametrize(("document", "call", "cost"), COSTS)
def test_what_a_reference_costs(
    document: bytes, call: dict[str, Any], cost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"url": URL, "kind": "html", **call}
    for allowed in (cost, cost - 1):
        allow(monkeypatch, allowed)
        result = assert_agreed(document, **call)
        assert result.changed == (allowed == cost)
        expected = Status.REWRITTEN if allowed == cost else Status.KEPT
        assert [link.status for link in result.links] == [expected]


def test_what_stays_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    document = b'<link rel=stylesheet href=http://a/><style>p{--a:url(k);}</style><a href="#k">'
    allow(monkeypatch, GROWN)
    policy = Policy(keep_fragments=True)
    result = assert_agreed(document + LINK, url=URL, kind="html", policy=policy)
    assert not growth_notes(result)
    allow(monkeypatch, GROWN - 1)
    result = assert_agreed(document + LINK, url=URL, kind="html", policy=policy)
    (note,) = growth_notes(result)
    assert note.text.startswith("1 relative link left unchanged")


def test_a_base_that_decides_for_what_stands_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is visited on the wrong base is not charged; the base itself is."""
    document = LINK * 20 + b'<base href="http://b/">' + LINK
    allow(monkeypatch, 22 * len("http://b/"))
    result = assert_agreed(document, url="http://h.example/" + "d" * 1000 + "/", kind="html")
    assert not growth_notes(result)
    allow(monkeypatch, 22 * len("http://b/") - 1)
    result = assert_agreed(document, url="http://h.example/" + "d" * 1000 + "/", kind="html")
    (note,) = growth_notes(result)
    assert note.text.startswith("1 relative link left unchanged")


def in_srcdoc(document: bytes, depth: int) -> bytes:
    for _ in range(depth):
        escaped = document.replace(b"&", b"&amp;").replace(b'"', b"&quot;")
        document = b'<iframe srcdoc="' + escaped + b'"></iframe>'
    return document


def message(body: bytes, encoding: str = "7bit") -> bytes:
    if encoding == "base64":
        body = base64.encodebytes(body)
    if encoding == "quoted-printable":
        body = body.replace(b"=", b"=3D")
    header = f"MIME-Version: 1.0\nContent-Type: text/html\nContent-Transfer-Encoding: {encoding}"
    return header.encode() + b"\n\n" + body + b"\n"


def multipart(*parts: bytes) -> bytes:
    head = b"MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
    return head + b"".join(b"--b\n" + part for part in parts) + b"--b--\n"


FEED: Final = (
    b"<rss version='2.0'><channel><item><link>x</link><description>%b</description></item>"
    b"</channel></rss>"
)
LINES: Final = (LINK + b"\n") * 10
# By name: a document with more references than the budget covers, and its kind.
NESTED: Final = {
    "srcdoc": (LINK + in_srcdoc(LINK * 8, 2) + LINK * 3, "html"),
    "sheets": (b"<style>" + b"a{b:url(x)}" * 6 + b"</style>" + LINK * 6, "html"),
    "css": (b"@import 'x';" + b"a{b:url(x)}" * 12, "css"),
    "feed": (FEED % (LINK * 10).replace(b"<", b"&lt;"), "xml"),
    "mail": (message(LINES), "mail"),
    "mail, base64": (message(LINES, "base64"), "mail"),
    "mail, quoted-printable": (message(LINES, "quoted-printable"), "mail"),
    "parts": (multipart(message(LINES), message(LINES, "base64"), message(LINES)), "mail"),
    "a message in a message": (
        b"Link: <x>\nContent-Type: message/rfc822\n\n" + message(LINES),
        "mail",
    ),
    "http": (b"HTTP/1.1 200 OK\nContent-Type: text/html\nLink: <x>\n\n" + LINES, "http"),
}


@pytest.mark.parametrize("fits", [0, 1, 5, 7])
@pytest.mark.parametrize("name", NESTED)
def test_one_budget_with_all_that_is_nested(
    name: str, fits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, kind = NESTED[name]
    call: dict[str, Any] = {"url": URL, "kind": kind}
    allow(monkeypatch, fits * GROWN + 1)
    assert len({*result_of_each(document, **call).values()}) == 1
    result = relbase.rewrite(document, **call)
    (note,) = growth_notes(result)
    assert statuses(result.data, **call).count("absolute") == fits
    listed = [link for link in result.links if link.status is not Status.ABSOLUTE]
    rewritten = [link for link in listed if link.status is Status.REWRITTEN]
    kept = [link for link in listed if link.status is Status.KEPT]
    assert len(rewritten) == fits
    assert listed == rewritten + kept
    assert note.text.startswith(f"{len(kept)} relative links left unchanged")


def test_each_message_of_a_mailbox_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    one = b"From a@b Thu Jan  1 00:00:00 1970\n" + message(LINES) + b"\n"
    allow(monkeypatch, 4 * GROWN + 1)
    result = assert_agreed(one * 3, url=URL, kind="mbox")
    notes = growth_notes(result)
    assert [note.part for note in notes] == ["1", "2", "3"]
    assert {note.text.split()[0] for note in notes} == {"6"}
    assert len(result.edits) == 12


def test_what_an_unsound_document_would_take_is_left_for_what_follows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = FEED.replace(b"</rss>", b"") % (LINK * 4).replace(b"<", b"&lt;")
    part = b"Content-Type: application/rss+xml\n\n" + broken + b"\n"
    allow(monkeypatch, 10 * GROWN)
    result = assert_agreed(multipart(part, message(LINES)), url=URL, kind="mail")
    assert not growth_notes(result)
    assert len(result.edits) == 10


@pytest.mark.parametrize("flaw", [b"&nbsp;", b"\x01", b"&#1;"])
def test_a_reference_with_a_flaw_costs_nothing(
    flaw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [(LINK.replace(b"x", b"x" + flaw, 1) + LINK).replace(b"<", b"&lt;")] * 9
    feed = FEED % b"</description><description>".join(texts)
    for fits in (2, 9, 10):
        allow(monkeypatch, fits * GROWN)
        assert len(assert_agreed(feed, url=URL, kind="xml").edits) == fits


_LONG: Final = b"http://h.example/" + b"d" * 8_000 + b"/"
_MANY: Final = b'<a ping="' + b"a " * 4_000 + b'">'


def long_bases() -> Iterator[tuple[bytes, dict[str, Any]]]:
    """Documents that state a long base, each in its own way."""
    yield _MANY, {"url": "http://h/" + "&" * 130 + "/"}
    yield b"<base href='/" + b"&" * 7_000 + b"/'>" + _MANY, {"url": URL}
    yield b'<!-- base href="' + _LONG + b'" -->' + _MANY, {"url": URL}
    escaped = _MANY.replace(b"<", b"&lt;").replace(b">", b"&gt;")
    yield FEED % (b"&lt;&#98;ase href='" + _LONG + b"'&gt;" + escaped), {"url": URL}
    linked = (FEED % escaped).replace(b"<link>x<", b"<link>" + _LONG + b"<")
    yield linked, {"url": URL, "policy": Policy(item_links=True)}
    hops = (
        b"HTTP/1.1 302 Found\r\nLocation: " + _LONG + b"\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    )
    yield hops + _MANY, {"url": URL}


@pytest.mark.parametrize(("document", "call"), [*long_bases()])
def test_a_long_base_in_many_links(
    document: bytes, call: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "MAX_GROWTH_BYTES", 1 << 20)
    result = assert_agreed(document, **call)
    (note,) = growth_notes(result)
    kept = [link for link in result.links if link.status is Status.KEPT]
    assert note.text.startswith(f"{len(kept)} relative links")
    assert len(result.data) - len(document) < 100 * len(document)


def test_no_more_is_listed_than_would_be_written() -> None:
    """A mail of 150 KB whose links would be 300 MB: past the budget they are not resolved."""
    head = b"Content-Base: http://h.example/" + b"d" * 30_000 + b"/\n"
    data = head + message(b"<a href='x'>\n" * 10_000 + b"<a href='http://a.example/'>")
    base, *links, last = relbase.links(data, kind="mail")
    assert (base.attribute, base.status) == ("content-base", Status.ABSOLUTE)
    assert (last.status, last.url) == (Status.ABSOLUTE, "http://a.example/")
    listed = [len(link.url) if link.url else 0 for link in links]
    assert len(listed) == 10_000
    assert listed[0] > 30_000
    assert listed[-1] == 0
    assert sum(listed) < 1.1 * max(99 * len(data), 64 << 20)


@pytest.mark.parametrize("name", SCANNERS)
def test_what_is_kept_is_listed_up_to_the_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_GROWTH_BYTES", 1 << 16)
    document = b'<a href="#x">' * 1_000
    with scanning(name):
        url = "http://h.example/" + "d" * 5_000 + "/"
        found = list(relbase.links(document, url=url, policy=Policy(keep_fragments=True)))
    assert {link.status for link in found} == {Status.KEPT}
    assert 200 < sum(link.url is not None for link in found) < 300


# ---- work is charged, too: what is prepared for a base that the document states

_LONG_ENOUGH: Final = "http://h.example/" + "d/" * 50

# What states a base for a text inside: `%s` is that base.
STATING: Final = {
    "srcdoc": ("html", "<iframe srcdoc='<base href=\"%s\">%s'></iframe>", "<a href=y>"),
    "atom": (
        "xml",
        '<entry xml:base="%s"><content type="html">%s</content></entry>',
        "&lt;a href='y'>",
    ),
    "svg": ("xml", '<g xml:base="%s">%s</g>', '<a x:href="y"/>'),
    "codebase": ("html", '<object codebase="%s" data="z">%s</object>', "<a href=y>"),
}
_AROUND: Final = {
    "srcdoc": "%s",
    "codebase": "%s",
    "atom": '<feed xmlns="http://www.w3.org/2005/Atom">%s</feed>',
    "svg": '<svg xmlns="http://www.w3.org/2000/svg" xmlns:x="http://www.w3.org/1999/xlink">%s</svg>',
}


def stating(name: str, bases: list[str], inside: str | None = None) -> bytes:
    _, unit, link = STATING[name]
    link = link if inside is None else inside
    return (_AROUND[name] % "".join(unit % (base, link) for base in bases)).encode()


@pytest.mark.parametrize("name", STATING)
def test_scanners_agree_wherever_the_budget_ends(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind: Any = STATING[name][0]
    document = stating(name, ["a/", "b/", "a/", "http://o.example/", "", "c&amp;d/"])
    counts = set()
    for size in (*range(0, 1500, 13), *range(300, 340)):
        allow(monkeypatch, size)
        counts.add(len(assert_agreed(document, url=_LONG_ENOUGH, kind=kind).edits))
    assert len(counts) > 5


@pytest.mark.parametrize("value", ["http://q/x", " HTTP://q/x", "&#104;ttp://q/x", "x"])
def test_a_codebase_is_charged_only_for_what_is_relative(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = f'<object codebase="http://o.example/" data="{value}"></object><a href=y>'.encode()
    allow(monkeypatch, len("http://h.example/d/"))
    result = assert_agreed(document, url=URL, kind="html")
    assert len(result.edits) == (value != "x")


@pytest.mark.parametrize("name", STATING)
def test_bases_are_charged_although_no_reference_needs_them(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What states them is not rewritten here, but each was resolved."""
    kind: Any = STATING[name][0]
    document = stating(name, ["a/"] * 50, "")
    policy = relbase.Policy(keep=re.compile("."))
    asked: list[str] = []
    original = rfc1808.PreparedBase.__init__

    def prepared(self: rfc1808.PreparedBase, base: str, *others: Any) -> None:
        asked.append(base)
        original(self, base, *others)

    monkeypatch.setattr(rfc1808.PreparedBase, "__init__", prepared)
    allow(monkeypatch, 10 * len(_LONG_ENOUGH))
    assert not relbase.rewrite(document, url=_LONG_ENOUGH, kind=kind, policy=policy).changed
    assert len(asked) < 25


@pytest.mark.parametrize(("length", "count"), [(MAX_BASE - 1, 1), (MAX_BASE, 1), (MAX_BASE + 1, 0)])
@pytest.mark.parametrize("profile", relbase.Profile)
def test_a_base_has_a_greatest_length(length: int, count: int, profile: relbase.Profile) -> None:
    url = "http://h.example/".ljust(length - 1, "d") + "/"
    feed = f"<feed xml:base='{url}' xmlns='http://www.w3.org/2005/Atom'><link href='x'/></feed>"
    for data, call in (
        (f"<base href='{url}'><a href=x>", {"kind": "html"}),
        (f"<base href='{url[16:]}'><a href=x>", {"kind": "html", "url": "http://h.example/"}),
        (LINK.decode(), {"kind": "html", "url": url}),
        (LINK.decode(), {"kind": "html", "url": "http://h.example/", "redirects": [url]}),
        (feed, {"kind": "xml"}),
    ):
        result = relbase.rewrite(data.encode(), profile=profile, **cast("Any", call))
        links = [*relbase.links(data.encode(), profile=profile, **cast("Any", call))]
        assert [link.url == f"{url}x" for link in links if link.reference == "x"] == [count == 1]
        noted = [note.reason.value for note in result.notes]
        assert ("base-unsuitable" in noted) == (count == 0)


def test_a_candidate_that_is_too_long_does_not_count_but_a_base_of_the_document_decides() -> None:
    long = "http://l.example/".ljust(MAX_BASE + 1, "d")
    fields = {"Content-Base": long, "Content-Location": "http://c.example/"}
    mail = "".join(f"{name}: {value}\n" for name, value in fields.items())
    data = f"{mail}Content-Type: text/html\n\n".encode() + LINK
    assert relbase.base(data, kind="mail", url="http://u.example/").url == "http://c.example/"
    page = f"<base href='{long}'>".encode() + LINK
    assert relbase.base(page, kind="html", url="http://u.example/").url == long
    assert relbase.rewrite(page, kind="html", url="http://u.example/").data is page
    item = f"<rss><item><link>{long}</link><description>&lt;a href='x'></description></item></rss>"
    policy = relbase.Policy(item_links=True)
    links = [*relbase.links(item.encode(), kind="xml", url="http://u.example/", policy=policy)]
    assert links[-1].url == "http://u.example/x"
