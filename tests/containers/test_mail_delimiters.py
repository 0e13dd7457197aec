"""Threat M3: delimiters, and what Dovecot's test-message-parser.c tries, by its names.

The messages are our own. What is expected is what Dovecot finds, or, in `DEPARTURES`, what we find
and why. Of the cases on its cache of parsed parts ("preparsed") only the messages are of use here:
we keep no such cache. "In small blocks" and "stop early" are `test_any_prefix` of test_mail.py.
"""

from __future__ import annotations

from typing import Final

import pytest
from mime import leaves, message, walked

from relbase.containers import fields
from relbase.containers.mail import walk
from relbase.notes import Reason

LONG: Final = "1234567890" * 8

# RFC 2046 §5.1.1
# (what, message, its leaves)
DELIMITERS: Final[list[tuple[str, str, list[tuple[str, bytes]]]]] = [
    ("two parts", "{b}--b\n\none\n--b\n\ntwo\n--b--\n", [("1", b"one"), ("2", b"two")]),
    ("CR alone", "Content-Type: multipart/x; boundary=b\r\r--b\r\r1\r--b--\r", [("1", b"1")]),
    (
        "LF with one CRLF delimiter",
        "{b}--b\n\none\r\n--b\r\n\ntwo\n--b--\n",
        [("1", b"one"), ("2", b"two")],
    ),
    ("CR alone beside LF is text", "{b}--b\n\none\r--b\rtwo\n--b--", [("1", b"one\r--b\rtwo")]),
    ("CR CR LF", "{b}--b\r\r\n\none\r\r\n--b--\r\r\n", [("1", b"one\r")]),
    (
        "letters after",
        "{b}--bX\n--b\n\none\n--bX\n--b--X\n-- b\n--b--\n",
        [("1", b"one\n--bX\n--b--X\n-- b")],
    ),
    ("white space before", "{b} --b\n--b\n\none\n --b\n--b--", [("1", b"one\n --b")]),
    ("within a line", "{b}x--b\n--b\n\none --b\n--b--", [("1", b"one --b")]),
    ("another case", "{b}--b\n\none\n--B\n--b--", [("1", b"one\n--B")]),
    ("more after the end", "{b}--b\n\none\n--b--\n--b\n\ntwo\n--b--\n", [("1", b"one")]),
    ("ends in a delimiter", "{b}--b\n\none\n--b", [("1", b"one"), ("2", b"")]),
    ("only an end", "{b}--b--\n--b\n\none", []),
    ("nothing after the header", "Content-Type: multipart/mixed; boundary=b", []),
    (
        "empty bodies",
        "{b}--b\n\n--b\n\n\n--b\n--b\nX: y\n--b--",
        [("1", b""), ("2", b""), ("3", b""), ("4", b"")],
    ),
    ("empty lines are of the body", "{b}--b\n\n\n\n--b--", [("1", b"\n")]),
    ("no empty line", "{b}--b\none\n--b\nX: y\ntwo\n--b--", [("1", b"one"), ("2", b"two")]),
    ("NUL and 8 bit", "{b}--b\n\n\0\xff\n--b--", [("1", b"\0\xff")]),
    ("mbox", "From a@b x\n{b}--b\n\none\n--b--\n", [("1", b"one")]),
    ("byte order mark", "\xef\xbb\xbf{b}--b\n\none\n--b--\n", [("1", b"one")]),
    # more than one boundary
    (
        "an outer delimiter ends inner parts",
        "{a}--a\n{b}--b\n\n1\n--a\n\n2\n--b\n--a--",
        [("1.1", b"1"), ("2", b"2\n--b")],
    ),
    ("an outer end ends inner parts", "{a}--a\n{b}--b\n\n1\n--a--\n--b\n\n2", [("1.1", b"1")]),
    (
        "a delimiter in a header ends it",
        "{a}--a\nX: y\n--a\nContent-Type: multipart/x;\n boundary=b\n--b\n\n2\n--a--",
        [("1", b""), ("2.1", b"2")],
    ),
    (
        "b-- inside of b: the longer one",
        "{b}--b\n{b--}--b--\n\n1\n--b----\n--b--\n--b\n\n2",
        [("1.1", b"1")],
    ),
    (
        "b inside of b--: the longer one",
        "{b--}--b--\n{b}--b\n\n1\n--b--\n\n2\n--b----",
        [("1.1", b"1"), ("2", b"2")],
    ),
    (
        "three lengths",
        "{123}--123\n{12}--12\n{1}--1\n\n1\n--123\n\n22\n--12\n",
        [("1.1.1", b"1"), ("2", b"22\n--12\n")],
    ),
]

# (the name of the case, the message, its leaves)
CASES: Final[list[tuple[str, str, list[tuple[str, bytes]]]]] = [
    (
        "truncated mime headers",  # no empty line anywhere
        "{:x}--:x\n--:x\nX: y\n--:x\nX: y\r\n--:x\nX: y\n--:x--\n",
        [("1", b""), ("2", b""), ("3", b""), ("4", b"")],
    ),
    ("truncated mime headers 2", "{xy}--xy\n{x}--xy\nX: y\n\n--x\n\n", [("2", b"--x\n\n")]),
    ("truncated mime headers 3", "Content-Type: multipart/mixed; boundary=xy\n", []),
    ("empty multipart", "{xy}text\n", []),
    ("duplicate mime boundary", "{x}--x\n{x}--x\nX: y\n\ntext\n", [("1.1", b"text\n")]),
    (
        "duplicate mime boundary, closed one by one",
        "{x}--x\n{x}--x\n\n1\n--x--\n--x\n\n2\n--x--\n--x\n",
        [("1.1", b"1"), ("2", b"2")],
    ),
    (
        "trailing dashes",
        "{x--}--x--\n{x----}--x----\nX: y\n\n1\n--x------\nX: y\n\n2\n--x----",
        [("1.1", b"1")],
    ),
    ("continuing mime boundary", "{x}--x\n{xy}--xy\nX: y\n\ntext\n", [("1.1", b"text\n")]),
    (
        "continuing mime boundary reverse",
        "{xy}--xy\n{x}--x\n\n1\n--xy\nX: y\n\n2\n",
        [("1.1", b"1"), ("2", b"2\n")],
    ),
    ("no EOH", "a:b\n", []),
    ("mime version", "MIME-Version: 2.0\n{1}--1\n\ntext\n--1\n", [("1", b"text"), ("2", b"")]),
    ("mime version, odd", "MIME-Version: (none)\n{1}--1\n\ntext\n--1--\n", [("1", b"text")]),
    (
        "too many header bytes default",
        "{1}--1\n{2}--2\n{>}X: y\n\na\n--2\n{>}X: y\n\nb\n--1\n{>}X: y\n\nc\n",
        [("1.1.1", b"a"), ("1.2.1", b"b"), ("2.1", b"c\n")],
    ),
    ("preparsed empty preamble lf", "{bb}--bb\n\ntext\n--bb--\n", [("1", b"text")]),
    ("preparsed epilogue without newline", "{b}--b\n\ntext\n--b--", [("1", b"text")]),
    ("preparsed epilogue truncated", "{b}--b\n\ntext\n--b-", [("1", b"text\n--b-")]),
    ("preparsed epilogue boundary dashes", "{b}--b\n\ntext\n-xb--\n", [("1", b"text\n-xb--\n")]),
    (
        "preparsed epilogue boundary long line",
        "{b}--b\n\ntext\n--b--" + " " * 100 + "\nepilogue\n",
        [("1", b"text")],
    ),
    # Of "preparsed buffer sizes" what the cases above do not have.
    (
        "preparsed buffer sizes: padding after delimiters",
        "{b}pre\n--b  \n\n1\n--b\t\n\n2\n--b--  \nepi\n",
        [("1", b"1"), ("2", b"2")],
    ),
    (
        "preparsed buffer sizes: a line that ends in dashes",
        "{z}--z\n\ndashes--\n--zzz no\ntext\n--z--\n",
        [("1", b"dashes--\n--zzz no\ntext")],
    ),
    (
        "preparsed buffer sizes: a longer boundary inside, both closed",
        "{x}--x\n{xy}--xy\n\n1\n--xy--\n--x\n\n2\n--x--\n",
        [("1.1", b"1"), ("2", b"2")],
    ),
    ("preparsed sibling overlap", "{b}--b\n\n1\n--b\n\n2\n--b--\n", [("1", b"1"), ("2", b"2")]),
]

# Where we find something else, and why.
DEPARTURES: Final[list[tuple[str, str, list[tuple[str, bytes]]]]] = [
    # "--xy" is a delimiter of "x" to Dovecot, as RFC 2046 §5.1.1 compares beginnings: parts 1 and
    # 1.1. To Python's email, Go and Thunderbird it is text. What we write never makes such a line.
    ("garbage suffix mime boundary", "{x}--xy\n{x}--xz\nX: y\n\ntext\n", []),
    # Without the empty line Dovecot enters no multipart: "this will not be a child [...] it would
    # complicate the message-parser even more". To us part 2.1 is a child all the same.
    (
        "continuing truncated mime boundary",
        "{x}--x\nContent-Type: multipart/x; boundary=xy\nA: b\n--xy\nX: y\n\n--xy--\n--x--\n",
        [("1.1", b"")],
    ),
    # Dovecot cuts boundaries off at 80 characters, so that these are one: parts 1.1.1 to 1.1.4. We
    # compare all of them.
    (
        "long mime boundary",
        "{L12}--L12\n{L1}--L1\n{L}--L\n\n1\n--L12\n\n22\n--L1\n\n333\n--L\n\n4444\n",
        [("1.1.1", b"1"), ("2", b"22\n--L1\n\n333\n--L\n\n4444\n")],
    ),
    # Dovecot is asked there to take no message for MIME that does not say so. Nobody asks us:
    # mailers forget it, and readers show the parts.
    ("mime version missing", "{1}--1\n\ntext\n--1\n", [("1", b"text"), ("2", b"")]),
]
ROWS: Final = {name: (text, expected) for name, text, expected in (*CASES, *DEPARTURES)}


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_as_in_dovecot(name: str, eol: bytes) -> None:
    text, expected = ROWS[name]
    data = message(text.replace("L", LONG)).replace(b"\r\n", b"\n").replace(b"\n", eol)
    found = [(number, body.replace(eol, b"\n")) for number, body in leaves(data)]
    assert found == [(number, body.replace(b"L", LONG.encode())) for number, body in expected]


@pytest.mark.parametrize(
    ("text", "expected"), [row[1:] for row in DELIMITERS], ids=[row[0] for row in DELIMITERS]
)
def test_delimiters(text: str, expected: list[tuple[str, bytes]]) -> None:
    assert leaves(message(text)) == expected


# ---- limits


def limited(text: str, **limits: int) -> list[tuple[str, Reason | None, bytes]]:
    data = message(text)
    return [(one.number, one.opaque, data[slice(*one.body)]) for one in walked(data, **limits)]


NESTED: Final = "{1}--1\n{2}--2\n\n1\n--2\n\n22\n--1\n\n333\n"


def test_mime_part_nested_limit() -> None:
    _, first, second = limited(NESTED, depth=1)
    assert first == ("1", Reason.LIMIT_MIME_DEPTH, b"--2\n\n1\n--2\n\n22")
    assert second == ("2", None, b"333\n")
    _, inner = limited("{>}{>}\n1\n", depth=1)  # mime part nested limit rfc822
    assert inner == ("1.1", Reason.LIMIT_MIME_DEPTH, b"\n1\n")


def test_mime_part_limit() -> None:
    """The last part that Dovecot reads holds the rest; we put it into one part more."""
    *_, last, rest = limited(NESTED, parts=3)
    assert last == ("1.1", None, b"1")
    assert rest == ("1.2", Reason.LIMIT_MIME_PARTS, b"\n22\n--1\n\n333\n")


def test_mime_part_limit_rfc822() -> None:
    """The message that would be too many is not entered, in Dovecot it holds the rest."""
    *_, inner, rest = limited("{1}--1\n{2}--2\n{>}\n1\n--2\n{>}\n22\n--1\n{>}\n333\n", parts=3)
    assert inner == ("1.1", Reason.LIMIT_MIME_PARTS, b"\n1")
    assert rest == ("1.2", Reason.LIMIT_MIME_PARTS, message("{>}\n22\n--1\n{>}\n333\n"))


def test_too_many_header_bytes_100(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dovecot counts the bytes of all headers together, we those of each one."""
    monkeypatch.setattr(fields, "MAX_HEADER", 50)
    long = "Content-X: " + "y" * 50
    whole, first, second = walk(message("{1}--1\n" + long + "\n\n1\n--1\nX: y\n\n2\n"))
    assert (whole.opaque, first.opaque, second.opaque) == (None, Reason.LIMIT_HEADER, None)


def test_parts_beyond_the_limit_are_in_the_last() -> None:
    data = message("{a}--a\n{b}--b\n\n1\n--b\n\n2\n--b--\n--a\n\n3\n--a--\n")
    for limit in range(1, 8):
        parts = walked(data, limit)
        assert len(parts) == min(limit + 1, 5)
        assert (parts[-1].opaque is Reason.LIMIT_MIME_PARTS) == (limit < 5)


@pytest.mark.parametrize(("limit", "opaque"), [(2, Reason.LIMIT_MIME_PARTS), (3, None), (4, None)])
def test_the_limit_of_parts_at_a_message(limit: int, opaque: Reason | None) -> None:
    parts = walked(message("{b}--b\n{>}Subject: x\n\nbody"), limit)
    assert len(parts) == min(limit, 3)
    assert parts[1].opaque is opaque
    assert parts[1].message is (opaque is None)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        # Past the limit nobody knows where it ends: nothing after it is read.
        (3, [None, Reason.LIMIT_MIME_PARTS]),
        (4, [None, Reason.MIME_SIGNED, Reason.LIMIT_MIME_PARTS]),
        (5, [None, Reason.MIME_SIGNED, None]),
        (6, [None, Reason.MIME_SIGNED, None]),
    ],
)
def test_the_limit_of_parts_counts_what_is_sealed(limit: int, expected: list[Reason]) -> None:
    data = message("{a}--a\n{a signed}--a\n\n1\n--a\n\n2\n--a--\n--a\n\n3\n--a--")
    assert [part.opaque for part in walked(data, limit)] == expected
