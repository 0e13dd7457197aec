"""HTML in invitations: X-ALT-DESC of text/calendar."""

from __future__ import annotations

from typing import Final

import pytest

import relbase

HEAD: Final = b"Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\n"
URL: Final = "http://h/d/"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b"X-ALT-DESC;FMTTYPE=text/html:<a href=x>", b"X-ALT-DESC;FMTTYPE=text/html:<a href=%bx>"),
        (
            b'x-alt-desc;LANGUAGE=en;FMTTYPE="text/html":<p>\\n<a hre\r\n f="x\\,y">',
            b'x-alt-desc;LANGUAGE=en;FMTTYPE="text/html":<p>\\n<a hre\r\n f="%bx\\,y">',
        ),
        (
            b"X-ALT-DESC;FMTTYPE=text/h\n tml:<a href=x>",
            b"X-ALT-DESC;FMTTYPE=text/h\n tml:<a href=%bx>",
        ),
        (b"X-ALT-DESC;FMTTYPE=text/plain:<a href=x>", None),
        (b"X-ALT-DESC:<a href=x>", None),
        (b"DESCRIPTION:<a href=x>", None),
        (b"X-ALT-DESC-X;FMTTYPE=text/html:<a href=x>", None),
    ],
)
def test_descriptions(line: bytes, expected: bytes | None) -> None:
    data = HEAD + line + b"\nEND:VCALENDAR\n"
    result = relbase.rewrite(data, url=URL, kind="mail")
    after = line if expected is None else expected % URL.encode()
    assert result.data == HEAD + after + b"\nEND:VCALENDAR\n"
    assert result.notes == ()
    assert [link.url for link in result.links] == [
        f"{URL}x{',y' if b'y' in line else ''}" for _ in range(expected is not None)
    ]
    for link in result.links:
        assert data[slice(*link.span)].startswith(b"x")


def test_a_base_with_what_text_escapes() -> None:
    data = HEAD + b'X-ALT-DESC;FMTTYPE=text/html:<a href="x">\n'
    result = relbase.rewrite(data, url="http://h/a,b/", kind="mail")
    assert result.data == data.replace(b'"x', b'"http://h/a\\,b/x')
    assert relbase.rewrite(result.data, url="http://h/a,b/", kind="mail").data == result.data


def test_a_calendar_in_another_charset_stays_with_a_note() -> None:
    data = HEAD.replace(b"text/calendar", b"text/calendar; charset=koi8-r")
    data += b"X-ALT-DESC;FMTTYPE=text/html:\xc1<a href=x>\n"
    result = relbase.rewrite(data, url=URL, kind="mail")
    assert not result.changed
    assert [note.reason.value for note in result.notes] == ["charset-unsupported"]
