"""The library's functions over whole documents: layers, limits, kinds, charsets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rows import cases
from scanners import SCANNERS, scanning

from relbase import Base, Layer, Profile, Reason, Span, base, entities, links, rewrite
from relbase.html import visit as walk

URL = "http://h.example/d/p.html"
LINK = b"<a href=x>"
TABLES = Path(__file__).with_name("api.txt")


def reasons(document: bytes, **call: Any) -> list[Reason]:
    return [note.reason for note in rewrite(document, **call).notes]


# --- Rule 1: (document, url, redirects, headers) -> the chain, innermost first
CHAINS = [
    (b"", None, [], {}, [(Layer.NONE, "", "nothing states a base URL")]),
    (
        b"\n <base href=b/>",
        URL,
        ["/r/", "s/"],
        {"Base": "h/"},
        [
            (Layer.EMBEDDED, "http://h.example/r/s/h/b/", "<base href> at 2:13"),
            (Layer.ENTITY, "http://h.example/r/s/h/", "Base of the HTTP header"),
            (Layer.RETRIEVAL, "http://h.example/r/s/", "redirect 2"),
            (Layer.NONE, "", "nothing states a base URL"),
        ],
    ),
]


@pytest.mark.parametrize(("document", "url", "redirects", "headers", "chain"), CHAINS)
def test_the_chain_of_bases(
    document: bytes,
    url: str | None,
    redirects: list[str],
    headers: dict[str, str],
    chain: list[tuple[Layer, str, str]],
) -> None:
    """Headers count in every profile."""
    for profile in Profile:
        call: dict[str, Any] = {"url": url, "redirects": redirects, "headers": headers}
        found = base(document, kind="html", profile=profile, **call)
        assert [(each.layer, each.url, each.source) for each in _outward(found)] == chain
        assert rewrite(document, kind="html", profile=profile, **call).base == found
        (entity,) = entities(document, kind="html", profile=profile, **call)
        assert entity.base == found


def _outward(found: Base | None) -> Iterator[Base]:
    while found is not None:
        yield found
        found = found.outer


def test_each_refusal_is_noted_once_and_kept_in_the_chain() -> None:
    call: dict[str, Any] = {
        "url": "http://u:p@h.example/",
        "redirects": ["about:blank"],
        "headers": [("Base", "mailto:a@b"), ("Content-Location", "/x"), ("Base", "sub/")],
    }
    result = rewrite(b"<base href='data:,'>" + LINK, **call)
    assert [note.reason for note in result.notes] == [
        Reason.BASE_UNSUITABLE,  # about:blank
        Reason.CONTENT_LOCATION_HTTP,
        Reason.BASE_UNSUITABLE,  # mailto:
        Reason.BASE_RELATIVE,  # sub/, on nothing
        Reason.BASE_UNSUITABLE,  # data:
        Reason.BASE_NONE,
    ]
    refused = [note.text for note in result.base.refused]
    assert [text.partition(":")[0] for text in refused] == [
        "<base href> at 1",
        "Content-Location of the HTTP header",
        "Base of the HTTP header",
        "Base of the HTTP header",
        "redirect 1",
    ]
    assert result.base.layer is Layer.NONE


# --- What is left without a base
@pytest.mark.parametrize(
    ("document", "text"),
    [
        (b"<a href=x>", "1 relative link left unchanged"),
        (b"<a href=x><img src=y>", "2 relative links left unchanged"),
    ],
)
def test_references_without_a_base_are_counted(document: bytes, text: str) -> None:
    (note,) = rewrite(document).notes
    assert (note.reason, note.span) == (Reason.BASE_NONE, None)
    assert text in note.text
    assert "(pass url=)" in note.text


def test_what_needs_no_base_is_not_counted() -> None:
    document = b"<a href='http://a.example/'><svg><use href='#u'/></svg><img src='' usemap='#m'>"
    assert rewrite(document).notes == ()


def test_a_base_that_nothing_can_be_resolved_against_is_named() -> None:
    notes = rewrite(b"<base href='mailto:a@b.example'><a href=x>", url=URL).notes
    assert [note.reason for note in notes] == [Reason.BASE_UNSUITABLE, Reason.BASE_NONE]
    assert "mailto:a@b.example" in notes[1].text


@cases(TABLES, "late", document=bytes, late=bool)
def test_links_before_the_base_element_are_noted(document: bytes, *, late: bool) -> None:
    found = [note for note in rewrite(document, url=URL).notes if note.reason is Reason.BASE_LATE]
    assert bool(found) == late
    if late:
        span = found[0].span
        assert span is not None
        assert document[span.start : span.end].startswith(b"http:")


@cases(TABLES, "kinds", document=bytes, kind=str, stated=str, type_=str, read=str)
def test_kinds_and_types(
    document: bytes, kind: str | None, stated: str | None, type_: str, read: str
) -> None:
    call: dict[str, Any] = {"kind": kind, "headers": {"content-Type": stated} if stated else None}
    (entity,) = entities(document, **call)
    assert (entity.type, entity.span) == (type_, Span(0, len(document)))
    css, html = (
        rewrite(document + text, url=URL, **call).changed
        for text in (b" a{b:url(x)}", b"<a href=x>")
    )
    assert (css, html) == (read == "css", read == "html")


def test_what_is_no_document_passes_through() -> None:
    for document in (b"", b"\x89PNG<a href=x>", b"plain text"):
        call: dict[str, Any] = {"url": URL, "kind": "other"}
        result = rewrite(document, **call)
        assert (result.data is document, result.notes, result.links) == (True, (), ())
        assert list(links(document, **call)) == []
        assert base(document, **call).url == URL


@cases(TABLES, "queries", text=str, query=str)
def test_the_charset_of_queries(text: str, query: str) -> None:
    document = f"<meta charset=windows-1252>{text}".encode("windows-1252")
    (url,) = [link.url for link in links(document, url=URL, profile="whatwg")]
    assert url is not None
    assert url.endswith(f"?{query}")
    written = rewrite(document, url=URL, profile="whatwg").data
    assert f"?{query}".encode() in written


@cases(TABLES, "charsets", document=bytes, charset=str, type_=str, query=str)
def test_the_charset_decides_how_whatwg_encodes_a_query(
    document: bytes, charset: str | None, type_: str | None, query: str
) -> None:
    headers = {"Content-Type": type_} if type_ else None
    (link,) = links(document, url=URL, profile="whatwg", charset=charset, headers=headers)
    assert link.url == f"http://h.example/d/p.html?{query}"


@pytest.mark.parametrize(
    ("content_range", "is_whole"), [("bytes 5-9/20", False), ("bytes 0-9/10", True)]
)
def test_a_part_of_a_document_is_left_unchanged(content_range: str, is_whole: bool) -> None:  # noqa: FBT001
    """RFC 9110 §14.4: what decides its base may stand in another part."""
    for more in ({}, {"kind": "html"}):
        call: dict[str, Any] = {"url": URL, "headers": {"content-range": content_range}, **more}
        result = rewrite(b"<a href=x>", **call)
        assert result.changed is is_whole
        assert [note.reason for note in result.notes] == [Reason.BODY_PARTIAL][is_whole:]


def test_a_charset_that_moves_is_noted_whatever_has_its_name() -> None:
    """`charset` is an attribute of links, too."""
    document = b"<a charset=x href=y>" + b" " * 940 + b"<meta charset=utf-8>"
    assert len(document) < 1024
    url = "http://h.example/" + "d" * 40 + "/"
    assert reasons(document, url=url) == [Reason.CHARSET_MOVED]
    assert reasons(document, url=url, kind="html") == [Reason.CHARSET_MOVED]
    assert reasons(document.replace(b" " * 940, b" " * 9), url=url) == []


@pytest.mark.parametrize("at", [0, 100, 500, 900, 980])
@pytest.mark.parametrize("meta", [b"<meta charset=koi8-r>\xc1", b"<meta charset=utf-8>"])
def test_a_charset_that_moves_is_noted_wherever_the_link_before_it_is(at: int, meta: bytes) -> None:
    document = (b"<p>" * (at // 3) + b"<a href=x>").ljust(1000) + meta
    for more in ({}, {"kind": "html"}):
        assert reasons(document, url="http://h.example/d/", **more) == [Reason.CHARSET_MOVED]


def test_a_charset_that_moves_out_of_sight_is_noted() -> None:
    """Threat E6: the prescan sees 1024 bytes."""
    padding = b"<p>" * 330
    document = b"<a href=x>" + padding + b"<meta charset=koi8-r>\xc1"
    assert len(document) < 1024
    assert reasons(document, url="http://h.example/" + "d" * 40 + "/") == [Reason.CHARSET_MOVED]
    assert (
        reasons(
            document, url="http://h.example/", headers={"Content-Type": "text/html; charset=koi8-r"}
        )
        == []
    )
    assert reasons(b"<a href=x><meta charset=koi8-r>\xc1", url=URL) == []


@cases(TABLES, "unstated", document=bytes, charset=str)
@pytest.mark.parametrize("name", SCANNERS)
def test_what_depends_on_a_charset_that_nothing_states(
    document: bytes, charset: str | None, name: str
) -> None:
    with scanning(name):
        notes = rewrite(document, url=URL, profile="whatwg", kind="html").notes
    assert [note.reason for note in notes] == ([Reason.CHARSET_UNSTATED] if charset else [])
    assert charset is None or f"{charset} is assumed" in notes[0].text
    assert reasons(document, url=URL, kind="html") == []
    label = {"url": URL, "profile": "whatwg", "kind": "html", "charset": "koi8-r"}
    assert reasons(document, **label) == []


# --- Rule 12: limits at N-1, N, N+1
def nested(depth: int) -> bytes:
    document = b"<a href=x>"
    for _ in range(depth):
        escaped = document.replace(b"&", b"&amp;").replace(b'"', b"&quot;")
        document = b'<iframe srcdoc="' + escaped + b'"></iframe>'
    return document


@pytest.mark.parametrize(
    "depth", [walk.MAX_SRCDOC_DEPTH - 1, walk.MAX_SRCDOC_DEPTH, walk.MAX_SRCDOC_DEPTH + 1]
)
def test_srcdoc_depth(depth: int) -> None:
    """Threat H13."""
    document = nested(depth)
    result = rewrite(document, url=URL)
    passes = depth <= walk.MAX_SRCDOC_DEPTH
    assert result.changed == passes
    assert [note.reason for note in result.notes] == [Reason.LIMIT_SRCDOC] * (not passes)
    assert len(result.links) == passes
    if not passes:
        (note,) = result.notes
        assert note.span is not None
        assert b"<a href=x>" in document[note.span.start : note.span.end]


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_srcdoc_bytes(more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threat H13: the second level and those in it are counted together."""
    document = nested(3)
    below = len(nested(1)) + len(nested(0))
    monkeypatch.setattr(walk, "MAX_SRCDOC_BYTES", below + more)
    result = rewrite(document, url=URL)
    assert result.changed == (more >= 0)
    assert [note.reason for note in result.notes] == [Reason.LIMIT_SRCDOC] * (more < 0)
    assert len(result.links) == (more >= 0)


def test_the_note_on_links_that_no_base_resolves_names_the_base_of_the_first() -> None:
    feed = b"<a xmlns='http://www.w3.org/2005/Atom' xml:base='http://n/'><link href='x'/>%b</a>"
    entry = b"<entry xml:base='http:g'><link href='y'/></entry>"
    *_, note = rewrite(feed % entry, url=URL, kind="xml").notes
    assert note.reason is Reason.BASE_NONE
    assert note.text == "1 relative link left unchanged: none can be resolved against 'http:g'"
