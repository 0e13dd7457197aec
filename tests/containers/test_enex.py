"""Evernote's exports: the notes in them, and what cannot be read."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from growth import assert_linear_from_10_ms
from held import ENML, enex, note
from hypothesis import given
from hypothesis import strategies as st

from relbase.compression.codings import MAX_DECODED
from relbase.containers.enex import MAX_DEPTH, begins, saved
from relbase.containers.saved import Saved
from relbase.containers.warc import MAX_HEAD, Fault, Trouble

URL = "http://h.example/a/b.html?c=1&d=2"
BODY = ENML.format("<a href='x'>é &amp; &nbsp;</a>")


def documents(data: bytes) -> list[Saved]:
    notes = list(saved([data]))
    assert all(isinstance(document, Saved) for document in notes)
    return [document for document in notes if isinstance(document, Saved)]


@pytest.mark.parametrize("is_old", [False, True])
def test_notes(*, is_old: bool) -> None:
    notes = [
        note(BODY, url=URL, title="A & B/C", attached="QUFB\nQUFB\n", is_old=is_old),
        note(BODY, title="", is_old=is_old),
    ]
    data = enex(*notes)
    assert begins.match(data)
    first, second = documents(data)
    assert (first.url, first.name, first.date) == (URL, "A & B_C", "20240102T030405Z")
    assert first.type == "text/html; charset=utf-8"
    assert (second.url, second.name) == ("", "")
    assert [document.body for document in (first, second)] == [BODY.encode()] * 2
    assert data[first.offset :].startswith(b"<content>")


def test_pieces_do_not_matter() -> None:
    data = enex(*(note(BODY, url=f"{URL}{n}", attached="QUFB") for n in range(9)))
    assert list(saved(data[at : at + 1] for at in range(len(data)))) == documents(data)
    assert list(saved([b"", data[:99], b"", data[99:], b""])) == documents(data)


@pytest.mark.parametrize(
    ("content", "body"),
    [
        ("<content>&lt;p&gt;&amp;amp;</content>", b"<p>&amp;"),
        ("<content><![CDATA[<p>]]><![CDATA[<q>]]></content>", b"<p><q>"),
        ("<content><![CDATA[a\r\nb\rc]]></content>", b"a\nb\nc"),
        ("<content> \n </content>", None),
        ("<content/>", None),
        ("", None),
    ],
)
def test_the_content_is_text(content: str, body: bytes | None) -> None:
    notes = documents(enex(f"<note><title>x</title>{content}</note>"))
    assert [document.body for document in notes] == [body] * (body is not None)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("<content><en-note><a href='x'/></en-note></content>", "is not a single text"),
        ("<content>a</content><content>b</content>", "is not a single text"),
        ('<content encoding="base64:aes">AAAA</content>', "is encoded: base64:aes"),
        ("<content>&unknown;</content>", "'unknown' in its content is not defined"),
    ],
)
def test_a_content_that_is_not_certain_is_a_fault_of_the_note(content: str, why: str) -> None:
    data = enex(note(BODY), f"<note><title>&x;y</title>{content}</note>", note(BODY))
    notes = documents(data)
    assert [why in document.fault for document in notes] == [False, True, False]
    assert notes[1].name == "y"


def test_only_the_elements_of_the_note_itself_count() -> None:
    more = (
        "<note-attributes><x><source-url>http://no/</source-url></x></note-attributes>"
        "<source-url>http://no/</source-url><task><title>no</title><content>no</content></task>"
        "<resource><content>no</content></resource><content>x</content>"
        "<note-attributes><source-url> http://h/ </source-url></note-attributes>"
        "<note-attributes><source-url>http://second/</source-url></note-attributes>"
    )
    [document] = documents(enex(f"<note>{more}</note>"))
    assert (document.url, document.name, document.body) == ("http://h/", "", b"x")
    assert documents(enex(f"<x><note>{more}</note></x>")) == []


DECLARED = b'<!DOCTYPE en-export [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]>'


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "no element found"),
        (b"x", "syntax error"),
        (b"<rss><note><content>x</content></note></rss>", "it has no en-export"),
        (enex(note(BODY))[:-5], "unclosed token"),
        (enex(note(BODY), "\v", note(BODY)), "not well-formed"),
        (DECLARED + b"<en-export><note><content>&b;</content></note></en-export>", "entity 'a'"),
        (b'<!DOCTYPE en-export [<!ENTITY % p SYSTEM "file:///x">]><en-export/>', "entity 'p'"),
        (b"<en-export>" + b"<note>" * MAX_DEPTH, "nest deeper than 100"),
        (enex(note("é")).decode().encode("latin-1"), "not well-formed"),
        (b'<?xml version="1.0" encoding="x-none"?><en-export/>', "the encoding 'x-none'"),
    ],
)
def test_what_cannot_be_read_is_a_fault_and_the_notes_before_it_are_there(
    data: bytes, why: str
) -> None:
    *before, fault = saved([data])
    assert isinstance(fault, Fault)
    assert (fault.trouble, why in fault.text) == (Trouble.DAMAGED, True)
    assert len(before) == data[: fault.offset].count(b"</note>")


def test_a_file_entity_is_never_opened() -> None:
    data = b'<!DOCTYPE en-export SYSTEM "file:///etc/passwd"><en-export><note><content>&x;'
    assert "not defined" in documents(data + b"</content></note></en-export>")[0].fault


def test_a_long_tag_is_not_read_again_and_again() -> None:
    pieces = [b"<en-export a='", *[b"x" * (1 << 16)] * 99]
    read = 0

    def counted() -> Iterator[bytes]:
        nonlocal read
        for piece in pieces:
            read += len(piece)
            yield piece

    [fault] = saved(counted())
    assert isinstance(fault, Fault)
    assert "a tag has more than" in fault.text
    assert read < 2 * MAX_HEAD


def test_a_long_note_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_DECODED == 64 << 20
    monkeypatch.setattr("relbase.containers.enex.MAX_DECODED", 4 << 20)
    long, short = (note("x" * size) for size in ((4 << 20) + 1, 4 << 19))
    notes = documents(enex(long, short))
    assert [(len(document.body), bool(document.fault)) for document in notes] == [
        (0, True),
        (4 << 19, False),
    ]
    assert "more than 4 MiB" in notes[0].fault


@pytest.mark.parametrize("line", ["A" * 76 + "\n", "A"])
def test_what_is_attached_is_not_kept_in_memory(line: str) -> None:
    start, end = enex(note(BODY, attached="@")).split(b"@")
    piece = line.encode() * ((1 << 18) // len(line))

    def pieces() -> Iterator[bytes]:
        yield start
        for _ in range(128):  # 32 MiB
            yield piece
        yield end

    tracemalloc.start()
    try:
        [document] = saved(pieces())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert isinstance(document, Saved)
    assert document.body == BODY.encode()
    assert peak < 4 << 20


@given(st.data())
def test_law_6_no_bytes_raise(data: st.DataObject) -> None:
    sound = enex(note(BODY, url=URL), note(BODY, attached="QUFB"))
    at, new = data.draw(st.integers(0, len(sound))), data.draw(st.binary(max_size=30))
    list(saved([sound[:at]]))
    list(saved([sound[:at], new, sound[at + len(new) :]]))


@pytest.mark.parametrize(
    "data",
    [
        b"<?xml version='1.0'?><rss></rss>",
        b"<en-exporter>",
        b"<!doctype html><en-export>",
        b"<?xml version='1.0'?><plist>",
        b"{}",
    ],
)
def test_what_does_not_begin_like_it(data: bytes) -> None:
    assert not begins.match(data)
    assert begins.match(b"\xef\xbb\xbf\n<en-export\n>")


def _notes(n: int) -> bytes:
    made = note(BODY, url=URL)
    return enex(made * (n // len(made)))


HOSTILE: dict[str, Callable[[int], bytes]] = {
    "notes": _notes,
    "one long note": lambda n: enex(note("<p>é\n" * (n // 5))),
    "long notes": lambda n: enex(note("x" * int(n**0.5)) * int(n**0.5)),
    "attached": lambda n: enex(note(BODY, attached="A" * n)),
    "lines attached": lambda n: enex(note(BODY, attached="A\n" * (n // 2))),
    "titles": lambda n: enex(f"<note>{'<title>x</title>' * (n // 16)}</note>"),
    "elements in a content": lambda n: enex(f"<note><content>{'<p/>' * (n // 4)}</content></note>"),
    "elements below long names": lambda n: enex(
        f"<note><{'x' * n}>{'<y/>' * (n // 4)}</{'x' * n}></note>"
    ),
    "undefined entities": lambda n: enex(f"<note><content>{'&x;' * (n // 3)}</content></note>"),
    "attributes": lambda n: enex(f"<note {' '.join(f'a{k}=?' for k in range(n // 9))}/>").replace(
        b"=?", b"=''"
    ),
    "broken off": lambda n: _notes(n)[:-9],
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear(name: str) -> None:
    def read(data: bytes) -> int:
        return sum(1 for _ in saved(data[at : at + 65536] for at in range(0, len(data), 65536)))

    assert_linear_from_10_ms(read, HOSTILE[name])
