"""The documents of an input: joined they are the input, and places in them are places in it."""

from __future__ import annotations

import pytest

import relbase
from relbase import Layer, Note, Reason, Span
from relbase.cli import options
from relbase.cli.documents import Document, base_in, documents, entity_in, note_in
from relbase.cli.files import Source
from relbase.cli.inputs import Input
from relbase.kind import Kind

SETTINGS = options.Settings(
    None, (), (), None, None, "rfc1808", relbase.Policy(), detect=True, strict=False
)
TWO = b"\n\nFrom a 2024\n\nx\n\nFrom b\r\n\r\ny\r\n\r\n"


def read(data: bytes, name: str = "-", size: int = 1 << 18) -> list[Document]:
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    return list(documents(Source(Input(name), name, pieces, None), SETTINGS))


@pytest.mark.parametrize("data", [b"", b"<p>", b"A: b\n\nc", TWO, b"From a 2024\n", b"no mbox"])
@pytest.mark.parametrize("name", ["-", "a.mbox", "a.html"])
def test_joined_they_are_the_input(data: bytes, name: str) -> None:
    found = read(data, name)
    assert found
    assert b"".join(one.before + one.data + one.after for one in found) == data
    for one in found:
        assert data[one.start :].startswith(one.data)
        assert one.lines == data.count(b"\n", 0, one.start)


def test_messages_of_an_mbox() -> None:
    found = read(TWO, size=40)
    assert [(one.number, one.data) for one in found] == [("1", b"\nx\n"), ("2", b"\r\ny\r\n")]
    assert {one.arguments["kind"] for one in found} == {Kind.MAIL}


def test_places_in_the_input() -> None:
    message = Document(b"", b"", b"", "7", 100, 9, {})
    note = Note(Reason.BASE_LATE, "1.2", Span(1, 2), "x")
    moved = Note(Reason.BASE_LATE, "7/1.2", Span(101, 102), "x")
    assert note_in(message, note) == moved
    assert note_in(message, note._replace(part="", span=None))[1:3] == ("7", None)
    outer = relbase.Base("", Layer.NONE, "", None, (note,))
    base = relbase.Base("http://h/", Layer.ENTITY, "", outer)
    assert base_in(message, base).outer == relbase.Base("", Layer.NONE, "", None, (moved,))
    entity = relbase.Entity("", "text/html", Span(0, 3), base)
    assert entity_in(message, entity).part == "7"
    assert entity_in(message._replace(number=""), entity) is entity
