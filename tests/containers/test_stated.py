"""What headers state of bodies (RFC 2045 §5.1, RFC 2183 §2.3)."""

from __future__ import annotations

import pytest

from relbase.containers.content_type import read_type
from relbase.containers.mail import walk

# (the header, the type, the name of the file)
HEADERS = [
    ("Content-Type: text/html; name=a.html", "text/html", "a.html"),
    ('Content-Disposition: attachment; filename="b.html"', "text/plain", "b.html"),
    (
        "Content-Type: application/octet-stream; name=a.html\nContent-Disposition: x; FileName=b",
        "application/octet-stream",
        "b",
    ),
    ("Content-Type: image/png; name==?utf-8?Q?=C3=A9=2Epng?=", "image/png", "é.png"),
    ("Content-Disposition: inline; filename*=utf-8''%C3%A9.html", "text/plain", "é.html"),
    ("Content-Disposition: inline", "text/plain", ""),
    # what is not a type: RFC 2045 §5.2 says text/plain
    ("Content-Type: html", "text/html", ""),
    ("Content-Type: HTML; charset=utf-8", "text/html", ""),
    ("Content-Type: text", "text/plain", ""),
    ("Content-Type: text/", "text/plain", ""),
    ("Content-Type: message", "text/plain", ""),
]


@pytest.mark.parametrize(("header", "type_", "name"), HEADERS)
def test_types_and_names(header: str, type_: str, name: str) -> None:
    (part,) = walk(f"{header}\n\n".encode())
    assert (part.type, part.name) == (type_, name)


def test_boundaries_and_charsets() -> None:
    stated = read_type('multipart/x; boundary="a b  "; charset=" utf-8 "')
    assert (stated.boundary, stated.charset) == (b"a b", "utf-8")
    assert read_type("multipart/x; boundary=; charset=")[1:3] == (None, None)
