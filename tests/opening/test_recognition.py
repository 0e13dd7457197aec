"""What bytes are: by media type, by file name, by themselves."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from growth import assert_linear_from_10_ms

import relbase
from relbase.kind import Kind
from relbase.notes import Reason
from relbase.opening.recognition import kind_of_bytes, kind_of_file, kind_of_name, kind_of_type

# Media types, and names of files, by the kind that they say.
TYPES = {
    Kind.HTML: ["text/html", "TEXT/HTML", " text/html ; charset=utf-8", "text/html;"],
    Kind.CSS: ["text/css"],
    Kind.XML: [
        *("application/xhtml+xml", "image/svg+xml", "application/atom+xml;type=entry"),
        *("text/xml", "application/xml"),
    ],
    Kind.MAIL: [
        *("message/rfc822", "message/global", "multipart/related; boundary=x", "multipart/x-y")
    ],
    Kind.MBOX: ["application/mbox"],
    Kind.HTTP: ["message/http"],
    Kind.OTHER: ["text/plain", "image/png"],
    None: ["", "html", "application/octet-stream"],  # the bytes decide
}
NAMES = {
    Kind.HTML: ["page.html", "PAGE.HTM", "a/b.c/index.shtml"],
    Kind.CSS: ["style.css"],
    Kind.XML: ["feed.atom", "x.xhtml", "drawing.svg"],
    Kind.MAIL: ["message.eml", "page.mht", "page.mhtml"],
    Kind.MBOX: ["inbox.mbox"],
    Kind.OTHER: ["page.html.gz", "x.png"],
    None: ["README", "", ".html."],
}


@pytest.mark.parametrize(("said", "by"), [(TYPES, kind_of_type), (NAMES, kind_of_name)])
def test_kinds_of_media_types_and_of_names(said: Any, by: Any) -> None:
    for kind, ones in said.items():
        assert {one: by(one) for one in ones} == dict.fromkeys(ones, kind)


BYTES = [
    # HTML
    (b"<!DOCTYPE html>", Kind.HTML),
    (b"\xef\xbb\xbf\r\n <!doctype HTML PUBLIC>", Kind.HTML),
    (b"<!-- saved from url=(0014)about:internet -->\n<HTML>", Kind.HTML),
    (b"text before <a href=x>", Kind.OTHER),
    (b"<custom-element>", Kind.HTML),
    (b"<!doctype html><svg><a href=x>", Kind.HTML),
    (b"<!-- a --><!DOCTYPE HTML><feed>", Kind.HTML),
    (b"<p><feed>", Kind.HTML),
    (b"<feeds><a href=x>", Kind.OTHER),
    # text before the first message of an mbox, and pages that show one
    (b"Text.\n\nFrom a@b Sat Nov 21 12:00:00 2026\nSubject: x\n\n<a href=x>", Kind.MBOX),
    (b"<pre>\n\nFrom a@b Sat Nov 21 12:00:00 2026\nSubject: x\n\n<a href=x>", Kind.HTML),
    (b"Text.\n\nFrom here to 2026\n\n<a href=x>", Kind.OTHER),
    # a header goes on after a line that is not a field
    (b"no field\nFrom: a\nContent-Type: text/html\n\n<a href=x>", Kind.MAIL),
    (b"From: a\nno field\nMIME-Version: 1.0\nSubject: x\n\n<a href=x>", Kind.MAIL),
    (b"no field\nContent-Type: text/html\n\n<a href=x>", Kind.OTHER),
    (b"no field\nFrom: a\nSubject: b\n\n<a href=x>", Kind.OTHER),
    (b"<a>\nFrom: a\nContent-Type: text/html\n\n<a href=x>", Kind.HTML),
    # feeds without an XML declaration
    (b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="c"/></feed>', Kind.XML),
    (b"<!-- a feed -->\n<rss version='2.0'><channel><link>x</link>", Kind.XML),
    (b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><image>", Kind.XML),
    (b"<opml version='2.0'><head><title>", Kind.XML),
    (b"x" * 20_000 + b"<a>", Kind.OTHER),
    ("\ufeff<html>".encode("utf-16-le"), Kind.HTML),
    ("\ufeff<html>".encode("utf-16-be"), Kind.HTML),
    ("<html>".encode("utf-16-le"), Kind.HTML),
    (b"Hello {name}, <a href=x>", Kind.OTHER),
    # With an XML declaration the root element decides
    (b'<?xml version="1.0"?>\n<html xmlns="x">', Kind.HTML),
    (
        b'<?xml version="1.0"?><!-- <feed> --><!DOCTYPE html [ <!ENTITY a ">"> ]><?p?><html>',
        Kind.HTML,
    ),
    (b'<?xml version="1.0"?><xhtml:html>', Kind.HTML),
    (b'<?xml version="1.0"?><feed><title>x</title><link href="y"/>', Kind.XML),
    (b'<?xml version="1.0"?><!DOCTYPE svg><svg:svg><a>', Kind.XML),
    (b"<?xml version='1.0'?>", Kind.XML),
    (b"<?xml-stylesheet?><html>", Kind.HTML),
    # what may stand before the first tag, and what may not
    (b"---\ntitle: a\n---\n<p>", Kind.HTML),
    (b"---\ntitle: a\n<p>", Kind.OTHER),
    (b"{% extends 'a' %}{{ b }}\n{# c > d #}<div class=x>", Kind.HTML),
    (b"<?php if ($a > 1) { ?>\n<h1>", Kind.HTML),
    (b"<%@ page %><%-- x > y --%><table>", Kind.HTML),
    (b"<!-- a comment that does not end <p>", Kind.HTML),
    (b"</div>\n<p>", Kind.HTML),
    (b"<product><a href=x>", Kind.OTHER),
    (b"<!doctype book><a href=x>", Kind.OTHER),
    (b'{"a": "<a href=x>"}', Kind.OTHER),
    (b"# Title\n\n<a href=x>", Kind.OTHER),
    (b"function f(){}\nx('<a href=x>')", Kind.OTHER),
    (b"var a = {b: '<a href=x>'}", Kind.OTHER),
    (b"$(function(){ $('<a href=x>') })", Kind.OTHER),
    (b"(function(){a:b})", Kind.OTHER),
    # CSS
    (b"a{b:c}", Kind.CSS),
    (b'@charset "utf-8";', Kind.CSS),
    (b"/* <div class=x> and <p> */ a > b { c: d }", Kind.CSS),
    (b"a[b='c']:not(.d > e):nth-child(2n + 1), f::g { h: i }", Kind.CSS),
    (b'a{b:url("data:image/svg+xml,<svg><a >")}', Kind.CSS),
    # mail: fields one after the other, one that mail has
    (b"Base: <URL:http://a/>\n\nText", Kind.MAIL),
    (b"From: a@b\r\nSubject: x\r\n\r\n<html>", Kind.MAIL),
    (b"X-Odd: x\n folded\nMIME-Version: 1.0\n", Kind.MAIL),
    (b"\r\nContent-Type: text/html\r\n\r\n", Kind.MAIL),
    (b"From: a@b\rContent-Type: text/html\r\r<a href=x>", Kind.MAIL),
    (b"X: y\r y\nFrom: a@b\r\n\r\n<p>", Kind.MAIL),
    (b"From a@b\rContent-Type: text/html\r\r<a href=x>", Kind.MAIL),
    (b">From a@b Sat Nov 21 12:00:00 2026\nSubject: x\n\n<a href=x>", Kind.MAIL),
    (b"From a@b.example Mon Jan  1 00:00:00 2024\nFrom: x\n", Kind.MBOX),
    (b"From - Mon Jan  1 00:00:00 2024 +0100\r\nX: y\r\n", Kind.MBOX),
    (b"From here on 12 <a>", Kind.OTHER),
    (b"HTTP/1.1 200 OK\r\n\r\n<html>", Kind.HTTP),
    # nothing
    (b"", Kind.OTHER),
    (b"plain text: nothing else", Kind.OTHER),
    (b"\x89PNG\r\n\x1a\n", Kind.OTHER),
    (b"Note: x\nTo do: y\n", Kind.OTHER),
    # archives, in which messages may stand as they are
    (b"PK\x03\x04a.emlSubject: x\nMIME-Version: 1.0\nContent-Type: text/html\n\n", Kind.OTHER),
    (b"a.eml\0\0ustar\0From: x\nMIME-Version: 1.0\nContent-Type: text/html\n\n", Kind.OTHER),
    (b"box\0\0ustar\0x\n\nFrom a@b Mon Jan  1 00:00:00 2024\nFrom: x\n", Kind.OTHER),
]


@pytest.mark.parametrize(("data", "kind"), BYTES)
def test_kind_of_bytes(data: bytes, kind: Kind) -> None:
    assert kind_of_bytes(data) is kind


# Rule 15: (name, bytes, kind)
FILES = [
    ("a.html", b"text <a href=x>", Kind.HTML),
    ("a.js", b"<p>", Kind.OTHER),
    ("crawl.warc.gz", b"<p>", Kind.OTHER),
    ("a.txt", b"<!doctype html><p>", Kind.OTHER),
    ("a.log", b"a{b:c}", Kind.OTHER),
    ("2026-November.txt", b"From a at b  Sat Nov 21 12:00:00 2026\nFrom: a at b\n\nx", Kind.MBOX),
    ("a.txt", b"From: a\nSubject: b\n\nx", Kind.MAIL),
    ("index.php?id=3", b"<!doctype html>", Kind.HTML),
    ("index.php@id=3", b"some <b>text</b>", Kind.OTHER),
    ("a.html", b"HTTP/1.1 200 OK\r\n\r\n<p>", Kind.HTTP),
    ("", b"<p>", Kind.HTML),
]


@pytest.mark.parametrize(("name", "data", "kind"), FILES)
def test_kind_of_a_file(name: str, data: bytes, kind: Kind) -> None:
    assert kind_of_file(name, data) is kind


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ({"name": "a.js"}, "by its name, *.js, this is not"),
        ({"name": "a.txt"}, "by its name, *.txt, this is not"),
        ({}, "by its first bytes, this is not"),
        ({"headers": {"Content-Type": "image/png"}}, "by its media type, image/png, this is not"),
        ({"kind": "other"}, None),
        ({"kind": "html"}, None),
    ],
)
def test_what_passes_through_for_its_kind_is_noted(call: dict[str, Any], text: str | None) -> None:
    data = b"text <a href=x>"
    result = relbase.rewrite(data, url="http://h.example/", **call)
    assert (result.data is data) == (call != {"kind": "html"})
    assert [note.text.partition(" HTML")[0] for note in result.notes] == ([text] if text else [])
    assert not relbase.rewrite(b"", url="http://h.example/", **({"kind": None} | call)).notes


# (name, bytes, what the name says it is and what it begins like)
DOUBTS = [
    ("a.html", b"MIME-Version: 1.0\nContent-Type: text/html\n\n<a href=3D'x'>", "html mail"),
    ("a.htm", b"From a@b Sat Nov 21 12:00:00 2026\nSubject: x\n\n<a href=x>", "html mbox"),
    ("index.html", b'{"a": "<a href=x>"}', "html JSON"),
    ("index.html", b'[{"a": "<a href=x>"}]', "html JSON"),
    ("a.html", b"\x1f\x8b\x08<a href=x>", "html a compressed or binary file"),
    ("a.html", b"a{b:url(x)}", "html css"),
    ("a.css", b"<!doctype html><a href=x>", "css html"),
    ("a.mht", b"<html><a href=x>", "mail html"),
    ("a.eml", b"PK\x03\x04<a href=x>", "mail a compressed or binary file"),
    ("a.eml", b"From a@b Sat Nov 21 12:00:00 2026\nSubject: x\n\ny\n\n" * 2, "mail mbox"),
    # no doubt
    ("a.eml", b"From a@b Sat Nov 21 12:00:00 2026\nSubject: x\n\ny\n", ""),
    ("a.html", b"<!doctype html>", ""),
    ("a.html", b"some text <a href=x>", ""),
    ("a.html", b"{{ header }}<a href=x>", ""),
    ("a.html", b"<svg><a href=x>", ""),
    ("a.html", b"<?xml version='1.0'?><rss>", ""),
    ("a.html", b"HTTP/1.1 200 OK\r\n\r\n<p>", ""),
    ("a.html", b"", ""),
    ("a.eml", b"X: y\n\nz", ""),
    ("a.emlx", b"5\nA: b\n", ""),
    ("a.xml", b"<html>", ""),  # it is not well-formed, or is a page
    ("a.js", b'{"a": 1}', ""),
    ("a", b'{"a": 1}', ""),
]


@pytest.mark.parametrize(("name", "data", "doubt"), DOUBTS)
def test_a_file_that_does_not_begin_like_its_name_is_noted(
    name: str, data: bytes, doubt: str
) -> None:
    def doubts(**call: Any) -> list[str]:
        notes = relbase.rewrite(data, name=name, **call).notes
        return [note.text for note in notes if note.reason is Reason.KIND_DOUBTFUL]

    kind, _, seems = doubt.partition(" ")
    expected = f"taken for {kind}, but it begins like {seems}:"
    assert [expected in text for text in doubts()] == ([True] if doubt else [])
    assert doubts(kind=kind_of_file(name, data)) == []
    assert doubts(headers={"Content-Type": "text/html"}) == []


HOSTILE = [
    *(b"/*", b"<!--", b"{", b"a{", b'"', b"A: b\n", b"A: b\n ", b"<?xml ?><!x[", b"- ", b"<!"),
    b"\n",
]


@pytest.mark.parametrize("piece", HOSTILE)
@pytest.mark.parametrize("start", [b"", b"<?xml ?>"])
def test_time_is_linear(piece: bytes, start: bytes) -> None:
    assert_linear_from_10_ms(
        lambda data: [kind_of_bytes(data) for _ in range(20)],
        lambda n: start + piece * (n // len(piece)),
    )


def test_what_is_looked_at_is_read_in_linear_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on what is looked at must not hide quadratic time from the rows above."""
    monkeypatch.setattr("relbase.containers.sniffing.LOOKED_AT", 1 << 30)
    for piece in HOSTILE:
        assert_linear_from_10_ms(kind_of_bytes, partial(_repeated, piece))


def _repeated(piece: bytes, size: int) -> bytes:
    return piece * (size // len(piece))
