"""Threat M3: delimiters, and what Dovecot's test-message-parser.c tries, by its names.

The messages are our own. What is expected is what Dovecot finds, or, where the table says why, what
we find.
Of the cases on its cache of parsed parts ("preparsed") only the messages are of use here:
we keep no such cache. "In small blocks" and "stop early" are `test_any_prefix` of test_mail.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from mime import leaves, message, walked
from rows import cases, pairs

from relbase.containers import fields
from relbase.containers.mail import walk
from relbase.notes import Reason

TABLES: Final = Path(__file__).with_name("mail_delimiters.txt")
LONG: Final = "1234567890" * 8


def text_of(cell: str) -> str:
    return cell.encode().decode("unicode_escape")


@cases(TABLES, "of Dovecot", text=text_of, expected=pairs)
@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_as_in_dovecot(text: str, expected: list[tuple[str, str]], eol: bytes) -> None:
    data = message(text.replace("L", LONG)).replace(b"\r\n", b"\n").replace(b"\n", eol)
    found = [(number, body.replace(eol, b"\n").decode()) for number, body in leaves(data)]
    assert found == [(number, body.replace("L", LONG)) for number, body in expected]


@cases(TABLES, "delimiters", text=text_of, expected=pairs)
def test_delimiters(text: str, expected: list[tuple[str, str]]) -> None:
    found = [(number, body.decode("latin-1")) for number, body in leaves(message(text))]
    assert found == expected


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
