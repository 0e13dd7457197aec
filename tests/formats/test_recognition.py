"""What bytes are: by media type, by file name, by themselves."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from growth import assert_linear_from_10_ms
from rows import cases

import relbase
from relbase.formats.recognition import kind_of_bytes, kind_of_file, kind_of_name, kind_of_type
from relbase.formats.rows import READ
from relbase.kind import Kind
from relbase.notes import Reason

TABLES = Path(__file__).with_name("recognition.txt")

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


@pytest.mark.parametrize(
    ("data", "fix"),
    [
        (b"text <a href=x>", "if it is HTML, pass kind='html' (--kind html)"),
        (b"%PDF-1.7", "if it is HTML, pass kind='html' (--kind html)"),
        (b"\x1f\x8b\x08\0", "it is compressed: decompress it first"),  # gzip
        (b"BZh91AY", "it is compressed: decompress it first"),  # bzip2
        (b"\xfd7zXZ\0", "it is compressed: decompress it first"),  # xz
        (b"\x28\xb5\x2f\xfd", "it is compressed: decompress it first"),  # Zstandard
    ],
)
@pytest.mark.parametrize("name", ["k.html.gz", "k.zip", "k", None])
def test_the_note_says_what_to_do(data: bytes, fix: str, name: str | None) -> None:
    [note] = relbase.rewrite(data, name=name).notes
    assert note.text.endswith(f" this is not {READ}: left unchanged; {fix}")


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
    monkeypatch.setattr("relbase.formats.sniffing.LOOKED_AT", 1 << 30)
    for piece in HOSTILE:
        assert_linear_from_10_ms(kind_of_bytes, partial(_repeated, piece))


def _repeated(piece: bytes, size: int) -> bytes:
    return piece * (size // len(piece))
