"""Threat M3: what Dovecot's test-message-parser.c tries, by the names of its cases.

The messages are our own. What is expected is what Dovecot finds, or, in `DEPARTURES`, what we find
and why. Of the cases on its cache of parsed parts ("preparsed") only the messages are of use here:
we keep no such cache. "In small blocks" and "stop early" are `test_any_prefix` of test_mail.py.
"""

from __future__ import annotations

from typing import Any, Final
from unittest.mock import patch

import pytest

from relbase.containers import fields, mail
from relbase.containers.mail import Opaque, walk
from relbase.edit import Span

PLAIN: Final = b"Content-Type: text/plain\n"
PAGE: Final = b"Content-Type: text/html\n"
FORWARD: Final = b"Content-Type: message/rfc822\n\n"
LONG: Final = "1234567890" * 8


def mixed(boundary: str) -> bytes:
    return f'Content-Type: multipart/mixed; boundary="{boundary}"\n\n'.encode()


# What is in a part: None for a multipart or a message with parts of its own.
Tree = list[tuple[str, bytes | None]]

CASES: Final[list[tuple[str, bytes, Tree]]] = [
    (
        "truncated mime headers",
        mixed(":x")
        + b"--:x\n--:x\n"
        + PLAIN
        + b"--:x\n"
        + PLAIN[:-1]
        + b"\r\n--:x\n"
        + PAGE
        # no empty line anywhere
        + b"--:x--\n",
        [("1", b""), ("2", b""), ("3", b""), ("4", b"")],
    ),
    (
        "truncated mime headers 2",
        mixed("xy") + b"--xy\n" + mixed("x") + b"--xy\n" + PLAIN + b"\n--x\n\n",
        [("1", None), ("2", b"--x\n\n")],
    ),
    ("truncated mime headers 3", mixed("xy")[:-1], []),
    ("empty multipart", mixed("xy") + b"text\n", []),
    (
        "duplicate mime boundary",
        mixed("x") + b"--x\n" + mixed("x") + b"--x\n" + PLAIN + b"\ntext\n",
        [("1", None), ("1.1", b"text\n")],
    ),
    (
        "duplicate mime boundary, closed one by one",
        mixed("x") + b"--x\n" + mixed("x") + b"--x\n\n1\n--x--\n--x\n\n2\n--x--\n--x\n",
        [("1", None), ("1.1", b"1"), ("2", b"2")],
    ),
    (
        "trailing dashes",
        mixed("x--")
        + b"--x--\n"
        + mixed("x----")
        + b"--x----\n"
        + PLAIN
        + b"\n1\n--x------\n"
        + PAGE
        + b"\n2\n--x----",
        [("1", None), ("1.1", b"1")],
    ),
    (
        "continuing mime boundary",
        mixed("x") + b"--x\n" + mixed("xy") + b"--xy\n" + PLAIN + b"\ntext\n",
        [("1", None), ("1.1", b"text\n")],
    ),
    (
        "continuing mime boundary reverse",
        mixed("xy") + b"--xy\n" + mixed("x") + b"--x\n\n1\n--xy\n" + PAGE + b"\n2\n",
        [("1", None), ("1.1", b"1"), ("2", b"2\n")],
    ),
    ("no EOH", b"a:b\n", []),
    (
        "mime version",
        b"MIME-Version: 2.0\n" + mixed("1") + b"--1\n" + PLAIN + b"\ntext\n--1\n",
        [("1", b"text"), ("2", b"")],
    ),
    (
        "mime version, odd",
        b"MIME-Version: (none)\n" + mixed("1") + b"--1\n" + PLAIN + b"\ntext\n--1--\n",
        [("1", b"text")],
    ),
    (
        "too many header bytes default",
        mixed("1")
        + b"--1\n"
        + mixed("2")
        + b"--2\n"
        + FORWARD
        + PLAIN
        + b"\na\n--2\n"
        + FORWARD
        + PLAIN
        + b"\nb\n--1\n"
        + FORWARD
        + PLAIN
        + b"\nc\n",
        [
            *(("1", None), ("1.1", None), ("1.1.1", b"a"), ("1.2", None), ("1.2.1", b"b")),
            *(("2", None), ("2.1", b"c\n")),
        ],
    ),
    (
        "preparsed empty preamble",
        (mixed("b") + b"--b\n" + PLAIN + b"\ntext\n--b--\n").replace(b"\n", b"\r\n"),
        [("1", b"text")],
    ),
    (
        "preparsed empty preamble lf",
        mixed("bb") + b"--bb\n" + PLAIN + b"\ntext\n--bb--\n",
        [("1", b"text")],
    ),
    (
        "preparsed epilogue without newline",
        mixed("b") + b"--b\n" + PLAIN + b"\ntext\n--b--",
        [("1", b"text")],
    ),
    (
        "preparsed epilogue truncated",
        mixed("b") + b"--b\n" + PLAIN + b"\ntext\n--b-",
        [("1", b"text\n--b-")],
    ),
    (
        "preparsed epilogue boundary dashes",
        mixed("b") + b"--b\n" + PLAIN + b"\ntext\n-xb--\n",
        [("1", b"text\n-xb--\n")],
    ),
    (
        "preparsed epilogue boundary long line",
        mixed("b") + b"--b\n" + PLAIN + b"\ntext\n--b--" + b" " * 100 + b"\nepilogue\n",
        [("1", b"text")],
    ),
    # Of "preparsed buffer sizes" what the cases above do not have.
    (
        "preparsed buffer sizes: padding after delimiters",
        (mixed("b") + b"pre\n--b  \n\n1\n--b\t\n\n2\n--b--  \nepi\n").replace(b"\n", b"\r\n"),
        [("1", b"1"), ("2", b"2")],
    ),
    (
        "preparsed buffer sizes: a line that ends in dashes",
        mixed("z") + b"--z\n\ndashes--\n--zzz no\ntext\n--z--\n",
        [("1", b"dashes--\n--zzz no\ntext")],
    ),
    (
        "preparsed buffer sizes: a longer boundary inside, both closed",
        mixed("x") + b"--x\n" + mixed("xy") + b"--xy\n\n1\n--xy--\n--x\n\n2\n--x--\n",
        [("1", None), ("1.1", b"1"), ("2", b"2")],
    ),
    (
        "preparsed sibling overlap",
        (mixed("b") + b"--b\n\n1\n--b\n\n2\n--b--\n").replace(b"\n", b"\r\n"),
        [("1", b"1"), ("2", b"2")],
    ),
]

# Where we find something else, and why.
DEPARTURES: Final[list[tuple[str, bytes, Tree]]] = [
    # "--xy" is a delimiter of "x" to Dovecot, as RFC 2046 §5.1.1 compares beginnings: parts 1 and
    # 1.1. To Python's email, Go and Thunderbird it is text. What we write never makes such a line.
    (
        "garbage suffix mime boundary",
        mixed("x") + b"--xy\n" + mixed("x") + b"--xz\n" + PLAIN + b"\ntext\n",
        [],
    ),
    # Without the empty line Dovecot enters no multipart: "this will not be a child [...] it would
    # complicate the message-parser even more". To us part 2.1 is a child all the same.
    (
        "continuing truncated mime boundary",
        mixed("x")
        + b"--x\n"
        + mixed("xy")[:-1]
        + b"MIME-Version: 1.0\n--xy\n"
        + PLAIN
        + b"\n--xy--\n--x--\n\n",
        [("1", None), ("1.1", b"")],
    ),
    # Dovecot cuts boundaries off at 80 characters, so that these are one: parts 1.1.1 to 1.1.4. We
    # compare all of them.
    (
        "long mime boundary",
        mixed(LONG + "12")
        + f"--{LONG}12\n".encode()
        + mixed(LONG + "1")
        + f"--{LONG}1\n".encode()
        + mixed(LONG)
        + f"--{LONG}\n\n1\n--{LONG}12\n\n22\n--{LONG}1\n\n333\n--{LONG}\n\n4444\n".encode(),
        [
            *(("1", None), ("1.1", None), ("1.1.1", b"1")),
            ("2", f"22\n--{LONG}1\n\n333\n--{LONG}\n\n4444\n".encode()),
        ],
    ),
    # Dovecot is asked there to take no message for MIME that does not say so. Nobody asks us:
    # mailers forget it, and readers show the parts.
    (
        "mime version missing",
        mixed("1") + b"--1\n" + PLAIN + b"\ntext\n--1\n",
        [("1", b"text"), ("2", b"")],
    ),
]


def tree(data: bytes) -> Tree:
    parts = walk(data)
    has_parts = {part.parent for part in parts}
    return [
        (
            part.number,
            None
            if part.multipart or part.message or index in has_parts
            else data[slice(*part.body)],
        )
        for index, part in enumerate(parts)
        if index
    ]


ROWS: Final = [*CASES, *DEPARTURES]


@pytest.mark.parametrize(
    ("data", "expected"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_as_in_dovecot(data: bytes, expected: Tree) -> None:
    assert tree(data) == expected


# ---- limits

NESTED: Final = mixed("1") + b"--1\n" + mixed("2") + b"--2\n\n1\n--2\n\n22\n--1\n\n333\n"
FORWARDED: Final = (
    mixed("1")
    + b"--1\n"
    + mixed("2")
    + b"--2\n"
    + FORWARD
    + b"\n1\n--2\n"
    + FORWARD
    + b"\n22\n--1\n"
    + FORWARD
    + b"\n333\n"
)


def limited(data: bytes, **limits: Any) -> list[tuple[str, Opaque | None, bytes]]:
    with patch.multiple(mail, **limits):
        return [(part.number, part.opaque, data[slice(*part.body)]) for part in walk(data)]


def test_mime_part_nested_limit() -> None:
    _, first, second = limited(NESTED, MAX_DEPTH=1)
    assert first == ("1", Opaque.DEPTH, b"--2\n\n1\n--2\n\n22")
    assert second == ("2", None, b"333\n")


def test_mime_part_nested_limit_rfc822() -> None:
    data = FORWARD + FORWARD + b"\n1\n"
    _, inner = limited(data, MAX_DEPTH=1)
    assert inner == ("1.1", Opaque.DEPTH, b"\n1\n")


def test_mime_part_limit() -> None:
    """The last part that Dovecot reads holds the rest; we put it into one part more."""
    *_, last, rest = limited(NESTED, MAX_PARTS=3)
    assert last == ("1.1", None, b"1")
    assert rest == ("1.2", Opaque.PARTS, b"\n22\n--1\n\n333\n")


def test_mime_part_limit_rfc822() -> None:
    """The message that would be too many is not entered, in Dovecot it holds the rest."""
    *_, message, rest = limited(FORWARDED, MAX_PARTS=3)
    assert message == ("1.1", Opaque.PARTS, b"\n1")
    assert rest[:2] == ("1.2", Opaque.PARTS)
    assert FORWARDED.endswith(rest[2])


def test_too_many_header_bytes_100(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dovecot counts the bytes of all headers together, we those of each one."""
    monkeypatch.setattr(fields, "MAX_HEADER", 50)
    long = b"Content-X: " + b"y" * 50 + b"\n"
    data = mixed("1") + b"--1\n" + long + b"\n1\n--1\n" + PLAIN + b"\n2\n"
    message, first, second = walk(data)
    assert (message.opaque, first.opaque, second.opaque) == (None, Opaque.HEADER, None)
    assert message.body == Span(len(mixed("1")), len(data))
