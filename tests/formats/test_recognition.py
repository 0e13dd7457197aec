"""What bytes are: by media type, by file name, by themselves."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from growth import assert_linear_from_10_ms
from rows import cases

import relbase
from relbase.formats import sniffing
from relbase.formats.recognition import kind_of_bytes, kind_of_file, kind_of_name, kind_of_type
from relbase.formats.rows import READ
from relbase.kind import Kind
from relbase.notes import Reason

TABLES = Path(__file__).with_name("recognition.txt")

# Media types, and names of files, by the kind that they say.
TYPES = {
    Kind.HTML: [
        "text/html charset=utf-8",
        "text/html",
        "TEXT/HTML",
        " text/html ; charset=utf-8",
        "text/html;",
    ],
    Kind.CSS: ["text/css"],
    Kind.XML: [
        *("application/xhtml+xml", "image/svg+xml", "application/atom+xml;type=entry"),
        *("text/xml", "application/xml", "text/x-opml", "application/x-opml", "application/x-xml"),
        *("text/rss", "application/rss", "application/x-rss+xml", "application/atom"),
    ],
    Kind.MAIL: [
        *("message/rfc822", "message/global", "multipart/related; boundary=x", "multipart/x-y")
    ],
    Kind.MBOX: ["application/mbox"],
    Kind.HTTP: ["message/http"],
    Kind.OTHER: ["text/plain", "image/png"],
    # the bytes decide
    None: [
        *("", "html", "application/octet-stream", "*/*", "unknown/unknown", "application/unknown"),
        *(
            "/html",
            "text/",
            "text/html=utf-8",
            "text html",
            ";charset=utf-8",
            "Application/Unknown;x",
        ),
    ],
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


@cases(TABLES, "bytes", data=bytes, kind=Kind)
def test_kind_of_bytes(data: bytes, kind: Kind) -> None:
    assert kind_of_bytes(data) is kind


@cases(TABLES, "files", name=str, data=bytes, kind=Kind)
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


_PAGES = "it contains pages: 'relbase rewrite FILE -o DIR/' extracts them with absolute links"


@pytest.mark.parametrize(
    ("data", "fix"),
    [
        (b"text <a href=x>", "if it is HTML, pass kind='html' (--kind html)"),
        (b"%PDF-1.7", ""),
        (b"\x89PNG\r\n", ""),
        (b"PK\3\4", "it is a ZIP archive: unzip it, and give the pages in it"),
        (b"bplist00", ""),
        (b"bplist00\xd1\1\2_\x10\x0fWebMainResource", _PAGES),
        (b"<?xml version='1.0'?>\n<!DOCTYPE en-export SYSTEM 'x'>\n<en-export>", _PAGES),
        (b"<en-export\n>", _PAGES),
        (b"\xd0\xcf\x11\xe0", "save it as HTML or .eml to get a page"),
        (b"\x1f\x8b\x08\0", "it is compressed: decompress it first"),  # gzip
        (b"BZh91AY", "it is compressed: decompress it first"),  # bzip2
        (b"\xfd7zXZ\0", "it is compressed: decompress it first"),  # xz
        (b"\x28\xb5\x2f\xfd", "it is compressed: decompress it first"),  # Zstandard
    ],
)
@pytest.mark.parametrize("name", ["k.html.gz", "k.zip", "k", None])
def test_the_note_says_what_to_do(data: bytes, fix: str, name: str | None) -> None:
    [note] = relbase.rewrite(data, name=name).notes
    assert note.text.endswith(f" {READ}: left unchanged; {fix}" if fix else ": left unchanged")


@cases(TABLES, "containers", name=str, text=str)
def test_the_note_on_a_file_of_pages_says_what_it_is(name: str, text: str) -> None:
    for data in (b"<a href=x>", b"{}", b"PK\3\4", b"bplist00"):
        [note] = relbase.rewrite(data, name=name).notes
        assert text in note.text
        assert "--kind" not in note.text


@pytest.mark.parametrize("start", [b"\x1f\x8b", b"PK\3\4", b"bplist00", b"%PDF-", b"\x89PNG"])
@pytest.mark.parametrize("kind", ["html", "css", "xml", "json"])
@pytest.mark.parametrize("call", [{}, {"name": "a"}, {"headers": {"Content-Type": "text/html"}}])
def test_no_kind_makes_a_text_of_a_binary_file(start: bytes, kind: Any, call: Any) -> None:
    data = start + b" <a href=x> a{b:url(x)}"
    for told in (call | {"kind": kind}, {"name": f"a.{kind}"}):
        result = relbase.rewrite(data, url="http://h.example/", **told)
        assert result.data is data
        assert [note.reason for note in result.notes] == [Reason.KIND_UNSUPPORTED]
        assert kind in result.notes[0].text
        assert [*relbase.links(data, url="http://h.example/", **told)] == []


# ---- labels of the wild: types, names and bytes that disagree

URL = "http://h.example/d/"
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/b/"><link href="x"/></feed>'


@cases(TABLES, "labels", label=str, data=bytes, kind=Kind, reason=str)
def test_what_a_document_is_in_spite_of_its_label(
    label: str, data: bytes, kind: Kind, reason: str
) -> None:
    """A type or a name, in every way in which a document comes."""
    labelled: Any = {"headers": {"Content-Type": label}} if "/" in label else {"name": label}
    right = relbase.rewrite(data, url=URL, kind=kind)
    result = relbase.rewrite(data, url=URL, **labelled)
    assert result.data == right.data
    found = [note.reason.value for note in result.notes]
    assert found == ([reason] if reason else []) + [note.reason.value for note in right.notes]
    links = [*relbase.links(data, url=URL, **labelled)]
    assert links == [*relbase.links(data, url=URL, kind=kind)]
    assert relbase.base(data, url=URL, **labelled) == relbase.base(data, url=URL, kind=kind)
    if b"\0" in data:  # no body of mail has these
        return
    field = f"Content-Type: {label}" if "/" in label else f'Content-Type: */*; name="{label}"'
    part = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n%b\n\n%b\n--b--\n"
    mail = relbase.rewrite(part % (field.encode(), data), url=URL)
    is_seen = kind is not Kind.OTHER and sniffing.known_type(label) != "" if "/" in label else True
    if is_seen and b"\n" not in data:
        assert right.data in mail.data
        assert [note.reason.value for note in mail.notes if note.part == "1"] == found
    if "/" in label:
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {label}\r\n\r\n".encode()
        http = relbase.rewrite(head + data, url=URL)
        assert http.data == head + right.data
        assert [note.reason.value for note in http.notes] == found


def test_a_type_without_a_semicolon_states_its_charset() -> None:
    data = b"<a href='?\xe9'>"
    for value in ("text/html charset=iso-8859-1", "text/html  Charset = 'x'; charset=iso-8859-1"):
        call: Any = {"url": URL, "profile": "whatwg", "headers": {"Content-Type": value}}
        assert relbase.rewrite(data, **call).data == b"<a href='http://h.example/d/?%E9'>"


@cases(TABLES, "doubts", name=str, data=bytes, doubt=str)
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
    monkeypatch.setattr("relbase.formats.sniffing.LOOKED_AT", 1 << 30)
    for piece in HOSTILE:
        assert_linear_from_10_ms(kind_of_bytes, partial(_repeated, piece))


def _repeated(piece: bytes, size: int) -> bytes:
    return piece * (size // len(piece))


PAGE = b"<!doctype html>\n<a href=x>"
XHTML = b'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><a href="x"/></html>'
ATOM = b'<feed xmlns="http://www.w3.org/2005/Atom"><link href="x"/></feed>'


@pytest.mark.parametrize(
    ("type_", "data", "told"),
    [
        ("text/markdown", PAGE, "taken for markdown, but it begins like html"),
        ("text/markdown", ATOM, "taken for markdown, but it begins like xml"),
        ("text/markdown", b"<p align=center>[a](b)</p>", ""),
        ("application/rss+xml", XHTML, "taken for xml, but it begins like html"),
        ("text/x-opml", XHTML, "taken for xml, but it begins like html"),
        ("application/xhtml+xml", XHTML, ""),
        ("text/xml", XHTML, ""),
    ],
)
def test_labels_that_the_first_bytes_contradict(type_: str, data: bytes, told: str) -> None:
    call: dict[str, Any] = {"url": "http://h.example/", "headers": {"Content-Type": type_}}
    notes = relbase.rewrite(data, **call).notes
    texts = [note.text for note in notes if note.reason is Reason.KIND_DOUBTFUL]
    assert len(texts) == bool(told)
    assert all(told in text for text in texts)


@pytest.mark.parametrize("data", [PAGE, XHTML, ATOM, b"PK\3\4", b"text"])
@pytest.mark.parametrize("type_", ["text/plain", "application/json", "application/pdf"])
def test_pages_with_a_type_that_is_not_read_have_a_note(type_: str, data: bytes) -> None:
    field = b"Content-Type: %b\n\n" % type_.encode()
    part = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + field + data + b"\n--b--\n"
    response = b"HTTP/1.1 200 OK\n" + field + data
    for document, kind, begun in (
        (part, "mail", f"this part ({type_}) is not read, but begins like "),
        (response, "http", f"the body ({type_}) is not read, but begins like "),
    ):
        call: dict[str, Any] = {"url": "http://h.example/", "kind": kind}
        result = relbase.rewrite(document, **call)
        assert not result.changed
        texts = [note.text for note in result.notes if note.reason is Reason.KIND_DOUBTFUL]
        assert len(texts) == (data in {PAGE, XHTML, ATOM})
        assert all(text.startswith(begun) for text in texts)
