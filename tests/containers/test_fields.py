"""Headers by spans, and the grammar of RFC 2045 and RFC 2231 inside of their fields."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import cases, pairs

from relbase.containers import fields
from relbase.containers.fields import Header, eol_of, first, read_header, text_of
from relbase.containers.known_fields import REMEMBERED

TABLES: Final = Path(__file__).with_name("fields.txt")

MEGABYTE: Final = 1_000_000


def read(data: bytes) -> Header:
    return read_header(data, 0, len(data), eol_of(data, 0, len(data)))


def seen(data: bytes) -> tuple[list[tuple[str, str]], bytes]:
    """The fields that are remembered, and the body."""
    header = read(data)
    return [(field.name, text_of(data, field)) for field in header.fields], data[header.body :]


# ---- Headers


@pytest.mark.parametrize(
    ("data", "eol"),
    [(b"\nA\r", b"\n"), (b"A\n\r", b"\n"), (b"A\r", b"\r"), (b"\rA", b"\r"), (b"A", b"\n")],
)
def test_what_ends_lines(data: bytes, eol: bytes) -> None:
    assert eol_of(data, 0, len(data)) == eol


@cases(TABLES, "headers", data=bytes, expected=pairs, body=bytes)
def test_headers(data: bytes, expected: list[tuple[str, str]], body: bytes) -> None:
    assert seen(data) == (expected, body)


@pytest.mark.parametrize("name", sorted(REMEMBERED))
def test_what_is_remembered(name: str) -> None:
    for spelling in (name.title(), name.upper(), name):
        assert seen(f"X: y\n{spelling}: v\nSubject: z\n\n".encode())[0] == [(name, "v")]


@pytest.mark.parametrize(
    "name",
    ["Subject", "From", "Received", "X-Base", "List", "List-Id", "Content", "Content-X", "Arc"],
)
def test_what_is_not_remembered(name: str) -> None:
    assert seen(f"{name}: v\n\nb".encode()) == ([], b"b")


def test_spans() -> None:
    data = b"..A: b\r\nBase:\r\n  <x> \r\nURI: y\r\n\r\nbody.."
    header = read_header(data, 2, len(data) - 2)
    assert [data[slice(*field.span)] for field in header.fields] == [
        b"Base:\r\n  <x> \r\n",
        b"URI: y\r\n",
    ]
    assert [data[slice(*field.value)] for field in header.fields] == [b"<x>", b"y"]
    assert data[header.start : header.end].endswith(b"URI: y\r\n")
    assert data[header.end : header.body] == b"\r\n"
    assert data[header.body :] == b"body.."


def test_a_header_ends_with_its_entity() -> None:
    data = b"Base: x\n y\n\nbody"
    for end in range(len(data) + 1):
        header = read_header(data, 0, end)
        assert 0 <= header.end <= header.body <= end
        assert all(field.span.end <= end for field in header.fields)


def test_first() -> None:
    data = b"Content-Type: a\nBase: x\nContent-Type: b\n\n"
    assert first(data, read(data), "content-type") == "a"
    assert first(data, read(data), "uri") is None


_lines = st.sampled_from([
    b"Base: x", b"X: y", b"Base: \rx", b" fold", b"\tfold", b"", b" ", b"no colon", b"--b", b":",
    b"Content-Type: x", b"From a", b"\r", b"\0", b"\xff: \xe9",
])  # fmt: skip
_ends = st.sampled_from((b"\n", b"\r\n", b"\r"))


@given(st.lists(st.tuples(_lines, _ends), max_size=12))
def test_spans_are_sorted_and_hold_their_fields(lines: list[tuple[bytes, bytes]]) -> None:
    data = b"".join(line + end for line, end in lines)
    header = read(data)
    assert 0 == header.start <= header.end <= header.body <= len(data)
    assert data[header.end : header.body].strip(b"\r\n") == b""
    at = 0
    for field in header.fields:
        assert at <= field.span.start <= field.value.start <= field.value.end <= field.span.end
        assert data[field.span.start :].lower().startswith(field.name.encode())
        value = data[slice(*field.value)]
        text = value.removeprefix(b"\r")  # no fold
        assert text == text.strip(b"\t\r\n ")
        at = field.span.end
    assert at <= header.end


# ---- Limits of headers


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
@pytest.mark.parametrize(("more", "cut"), [(-1, False), (0, False), (1, True)])
def test_the_limit_of_a_header(
    monkeypatch: pytest.MonkeyPatch, eol: bytes, more: int, *, cut: bool
) -> None:
    monkeypatch.setattr(fields, "MAX_HEADER", 100)
    start = b"Base: x" + eol
    block = start + b"A: " + b"y" * (97 + more - len(start) - len(eol)) + eol
    assert len(block) == 100 + more
    header = read(block + eol + b"body")
    assert header.cut is cut
    assert len(header.fields) == (0 if cut else 1)
    # Past the limit the body begins at a line that the limit halves.
    assert header.body == (len(start) if cut else len(block) + len(eol))


def test_where_the_limit_of_a_header_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_HEADER", 100)
    for size in range(96, 106):  # within a line that has its colon later
        header = read(b"A: " + b"y" * (size - 4) + b"\nBase-and-a-long-name: x\n\nbody")
        assert (header.cut, header.body) == (True, size if size <= 100 else 0)
    for body in (b"no field at all\n\n", b"--b: c\n", b"\nBase: x\n"):  # right behind it
        header = read(b"A: " + b"y" * 96 + b"\n" + body)
        assert (header.end, header.cut) == (100, False)


def test_a_field_that_is_too_long_is_not_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_FIELD", 20)
    data = b"".join(b"Base: %b\n" % (b"x" * size) for size in (13, 14, 13))
    assert len(fields.fields_of_paragraph(data, 0, len(data))) == 2
    header = read(data + b"\n")
    assert (len(header.fields), header.cut) == (2, True)


def test_the_limits_are_those_of_the_threat_model() -> None:
    assert (fields.MAX_HEADER, fields.MAX_FIELD) == (50 * MEGABYTE, 10 * MEGABYTE)


@pytest.mark.parametrize("line", [b"X: y\n", b" y\n", b"X: \xff\0\r\n", b"List-X: y\n"])
def test_many_fields_need_little_memory(line: bytes) -> None:
    data = b"Subject: y\n" + line * (MEGABYTE // len(line))
    tracemalloc.start()
    try:
        read(data)
        assert tracemalloc.get_traced_memory()[1] < len(data) / 2
    finally:
        tracemalloc.stop()
