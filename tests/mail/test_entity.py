"""Edits that mail does not allow: no line of a body becomes a field (threat N5)."""

from __future__ import annotations

import email
from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from rows import cases

import relbase

TABLES: Final = Path(__file__).with_name("entity.txt")

URL = "http://h.example/d/p.html"
HTML = b"Content-Type: text/html\n"


@cases(TABLES, "lines", data=bytes, is_kept=bool)
def test_a_line_of_a_body_does_not_become_a_field(data: bytes, *, is_kept: bool) -> None:
    result = relbase.rewrite(data, kind="mail", url=URL)
    assert [note.reason.value for note in result.notes] == ["mime-header"] * is_kept
    assert (b"http://h.example/d/y" in result.data) == (b"\n\n<a" in data.replace(b"\r", b"\n")[1:])
    images = [link for link in result.links if link.element == "img"]
    assert [link.status.value for link in images] == ["kept" if is_kept else "rewritten"]
    fields = email.message_from_bytes(data).keys()
    assert email.message_from_bytes(result.data).keys() == fields


def test_in_a_part() -> None:
    data = b"Content-Type: multipart/x; boundary=b\n\n--b\n%b<img/src=x>\n--b--\n" % HTML
    result = relbase.rewrite(data, kind="mail", url=URL)
    assert result.data is data
    (note,) = result.notes
    assert (note.part, data[slice(*note.span or ())]) == ("1", b"<img/src=x>")
    assert note.text.startswith("this part (text/html) has no empty line after its header")


def test_an_empty_line_in_a_value_that_changes() -> None:
    data = b"Content-Type: text/html\nno field\n<a href='x\n\ny'>"
    result = relbase.rewrite(data, kind="mail", url=URL)
    assert result.data.endswith(b"<a href='http://h.example/d/xy'>")


LINES = st.sampled_from(
    [
        *(HTML.strip(), b"<img/src=x>", b"<img/src=", b"content-y>", b"<a href='", b"'>", b"text"),
        *(b"", b" fold", b"Base: /", b"--x", b"Link: <x>", b"MIME-Version:1"),
    ]
)


@given(
    st.lists(LINES, max_size=8),
    st.sampled_from(["http://h/", "content-type://h/", "mime-version:/"]),
)
def test_the_header_ends_where_it_ended(lines: list[bytes], url: str) -> None:
    data = b"\n".join([HTML.strip(), *lines])
    result = relbase.rewrite(data, kind="mail", url=url)
    before, after = email.message_from_bytes(data), email.message_from_bytes(result.data)
    assert before.keys() == after.keys()
    assert relbase.rewrite(result.data, kind="mail", url=url).data == result.data
