"""Fields that follow a body (rule 11; RFC 1864; threat M12)."""

from __future__ import annotations

import base64
import hashlib
import math
import time
from pathlib import Path
from typing import Final

from hypothesis import given
from hypothesis import strategies as st
from rows import cases

import relbase
from relbase.containers.mail import walk
from relbase.edit import Edit, splice
from relbase.mail.dependent_fields import follow_bodies
from relbase.notes import Reason

TABLES: Final = Path(__file__).with_name("dependent_fields.txt")


def md5(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body).digest()).decode()


BODY = b"one\ntwo\nthree"
AFTER = b"one\nTWO\n\nthree"


@cases(TABLES, "fields", before=str, after=str)
def test_a_field_follows_or_is_left_with_a_remark(before: str, after: str | None) -> None:
    header = f"Subject: x\n{before}\nX-Lines: 2\n\n".encode()
    data = header + BODY
    at = len(header) + 4
    edits, stale = follow_bodies(data, walk(data), [Edit(at, at + 4, b"TWO\n\n")])
    expected = f"Subject: x\n{before if after is None else after}\nX-Lines: 2\n\n".encode() + AFTER
    assert splice(data, edits) == expected
    assert [one.reason for one in stale] == [Reason.FIELD_STALE] * (after is None)
    for one in stale:
        assert one.span is not None
        assert before.encode().endswith(data[slice(*one.span)])


def test_nothing_follows_a_body_that_does_not_change() -> None:
    data = b"Content-Length: 9\nSubject: x\n\nbody"
    edits = [Edit(27, 28, b"yy")]  # in the header
    assert follow_bodies(data, walk(data), edits) == (edits, [])
    assert follow_bodies(data, walk(data), []) == ([], [])


def test_a_field_of_the_same_value_is_no_edit() -> None:
    data = b"Content-Length: 4\nLines: 0\n\nbody"
    edits = [Edit(28, 29, b"B")]
    assert follow_bodies(data, walk(data), edits) == (edits, [])


def test_of_two_fields_of_a_name_the_second_is_left() -> None:
    data = b"Content-Length: 4\nContent-Length: 4\n\nbody"
    edits, stale = follow_bodies(data, walk(data), [Edit(37, 37, b"x")])
    assert splice(data, edits) == b"Content-Length: 5\nContent-Length: 4\n\nxbody"
    assert len(stale) == 1


def test_a_field_follows_beside_an_edit_of_the_header() -> None:
    data = b"Content-Location: c\nContent-Length: 4\n\nbody"
    edits, _ = follow_bodies(data, walk(data), [Edit(18, 18, b"/"), Edit(39, 39, b"x")])
    assert splice(data, edits) == b"Content-Location: /c\nContent-Length: 5\n\nxbody"


def nested(depth: int, body: bytes) -> bytes:
    text = b"Content-Type: text/html\nContent-Length: %d\n\n%b" % (len(body), body)
    for _ in range(depth):
        text = b"Content-Length: %d\nContent-Type: message/rfc822\n\n%b" % (len(text), text)
    return text


@given(st.integers(0, 8), st.integers(0, 1200), st.integers(0, 3))
def test_lengths_of_messages_in_messages_are_right_after_as_before(
    depth: int, size: int, links: int
) -> None:
    """The numbers have more digits afterwards, which the messages around count."""
    old = nested(depth, b"<a href=x>" * links + b"y" * size)
    new = nested(depth, b"<a href=http://h.example/x>" * links + b"y" * size)
    result = relbase.rewrite(old, url="http://h.example/", kind="mail")
    assert result.data == new
    assert result.changed == (links > 0)
    assert [note.reason for note in result.notes] in ([], [Reason.LINE_LENGTH])


def test_only_what_is_digested_is_counted_for_its_cost() -> None:
    body = nested(8, b"<a href=x>" + b"y" * 900)
    head = b"Content-Type: message/rfc822\nContent-MD5: %b\n\n"
    result = relbase.rewrite(head % md5(body).encode() + body, url="http://h/", kind="mail")
    after = nested(8, b"<a href=http://h/x>" + b"y" * 900)
    assert result.data == head % md5(after).encode() + after
    assert result.notes == ()


def multiparts(depth: int, body: bytes, *, told: bool) -> bytes:
    """A page in nested multiparts, each of which describes its body or does not."""
    text = b"Content-Type: text/html\n\n" + body
    for at in range(depth):
        inner = b"--b%d\n%b\n--b%d--\n" % (at, text, at)
        counts = len(inner), inner.count(b"\n"), md5(inner).encode()
        fields = b"Content-Length: %d\nLines: %d\nContent-MD5: %b\n" % counts
        type_ = b"Content-Type: multipart/mixed; boundary=b%d\n" % at
        text = type_ + fields * told + b"\n" + inner
    return text


def test_fields_of_nested_multiparts_cost_little() -> None:
    """Threat N8: within three times of the same message without them."""
    body = b"<p>words of a page\n<a href=x>y</a>\n" * 6000
    new = body.replace(b"=x", b"=http://h.example/x")
    messages = [multiparts(90, body, told=told) for told in (False, True)]
    for told, data in enumerate(messages):
        result = relbase.rewrite(data, kind="mail", url="http://h.example/")
        assert result.changed
        assert [note.reason for note in result.notes] == [Reason.FIELD_STALE] * (86 * told)
        output = multiparts(90, new, told=bool(told))
        innermost = -14 if told else 0
        assert _fields(result.data)[innermost:] == _fields(output)[innermost:]
    without, with_fields = fastest(messages)
    if with_fields >= 3 * without:  # a machine that was busy with something else is asked again
        without, with_fields = fastest(messages, rounds=12)
    assert with_fields < 3 * without


def _fields(message: bytes) -> list[bytes]:
    return [line for line in message.split(b"\n") if line.startswith((b"Con", b"Lin"))]


def fastest(messages: list[bytes], rounds: int = 3) -> list[float]:
    """The processor time that each message takes, in turns with the others."""
    best = [math.inf] * len(messages)
    for _ in range(rounds):
        for number, data in enumerate(messages):
            start = time.process_time()
            relbase.rewrite(data, kind="mail", url="http://h.example/")
            best[number] = min(best[number], time.process_time() - start)
    return best
