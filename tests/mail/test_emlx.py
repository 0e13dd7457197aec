"""Messages of Apple Mail: the first line counts the message, and the property list is not of it."""

from __future__ import annotations

import plistlib

import pytest

import relbase
from relbase.mail.message import read_envelope

URL = "http://h.example/d/p.html"
PLIST = plistlib.dumps({"flags": 8623750145, "subject": "<a href=z>"})
MESSAGE = b"Content-Type: text/html\n\n<a href=x>\n"
DONE = MESSAGE.replace(b"=x", b"=http://h.example/d/x")


def emlx(message: bytes, after: bytes = PLIST, width: int = 11) -> bytes:
    return (
        b"%d" % len(message) + b" " * (width - len(b"%d" % len(message))) + b"\n" + message + after
    )


@pytest.mark.parametrize("after", [PLIST, b"\n" + PLIST, b"", b"\n", b"<plist/>"])
@pytest.mark.parametrize("width", [0, 3, 11])
def test_the_count_follows_and_the_property_list_stays(after: bytes, width: int) -> None:
    data = emlx(MESSAGE, after, width)
    result = relbase.rewrite(data, kind="mail", url=URL)
    assert result.data == emlx(DONE, after, width)
    assert not result.notes
    (link,) = result.links
    assert data[slice(*link.span)] == b"x"
    assert not relbase.rewrite(result.data, kind="mail", url=URL).changed
    (entity,) = relbase.entities(data, kind="mail", url=URL)
    assert data[slice(*entity.span)] == MESSAGE
    assert result.base.url == URL


def test_one_digit_more() -> None:
    message = MESSAGE + b"y" * (99 - len(MESSAGE))
    data = emlx(message, width=0)
    output = relbase.rewrite(data, kind="mail", url=URL).data
    assert output == emlx(message.replace(MESSAGE, DONE), width=0)


def test_a_message_in_which_nothing_is_relative_is_the_same() -> None:
    data = emlx(DONE)
    assert relbase.rewrite(data, kind="mail", url=URL).data is data


@pytest.mark.parametrize("more", [-2, 1, 10**6])
def test_a_wrong_count_is_noted(more: int) -> None:
    data = emlx(MESSAGE).replace(b"%d" % len(MESSAGE), b"%d" % (len(MESSAGE) + more), 1)
    result = relbase.rewrite(data, kind="mail", url=URL)
    assert result.data is data
    assert [note.reason.value for note in result.notes] == ["field-stale"]


@pytest.mark.parametrize(
    "data", [b"", b"12\n", b"12\n\nA: b", b"A: b\n\n", b"x12\nA: b\n", MESSAGE]
)
def test_what_is_not_one(data: bytes) -> None:
    assert read_envelope(data) is None
