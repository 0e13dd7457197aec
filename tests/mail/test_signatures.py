"""Which edits break a signature: RFC 6376 as a table, its odd spellings, its time."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear_from_10_ms
from rows import cases, texts

from relbase.containers.mail import walk
from relbase.edit import Edit
from relbase.mail.dependent_fields import broken_signatures, signed

TABLES: Final = Path(__file__).with_name("signatures.txt")

BODY: Final = b"a \t b \n\n<X>"


def message(signature: bytes, fields: bytes = b"") -> bytes:
    return signature + fields + b"\n" + BODY


def verdicts(data: bytes, *places: bytes) -> list[str]:
    """What is said when something is put in front of each of the places."""
    edits = sorted(Edit(data.index(place), data.index(place), b"/") for place in places)
    found = broken_signatures(data, walk(data), edits)
    return [note.text.rpartition(" the signature ")[2] for note in found]


@cases(TABLES, "what breaks", signature=bytes, fields=bytes, edited=list[bytes], expected=texts)
@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_what_breaks(
    signature: bytes, fields: bytes, edited: list[bytes], expected: list[str], eol: bytes
) -> None:
    data = message(signature, fields).replace(b"\n", eol)
    assert verdicts(data, *(place.replace(b"\n", eol) for place in edited)) == expected


def test_what_stays_the_same_at_the_beginning_of_an_edit_is_no_change() -> None:
    data = message(b"DKIM-Signature: l=12; h=from\n")
    at = data.index(b"X>")
    (edit,) = [Edit(at, at + 1, b"XY")]
    assert list(broken_signatures(data, walk(data), [edit])) == []
    assert list(broken_signatures(data, walk(data), [edit._replace(new=b"Y")])) != []


def test_the_remark_stands_on_the_signature() -> None:
    data = message(b"X: y\nDKIM-Signature: h=from\n")
    at = data.index(b"X>")
    (found,) = broken_signatures(data, walk(data), [Edit(at, at, b"/")])
    assert found.span is not None
    assert data[slice(*found.span)] == b"DKIM-Signature: h=from\n"
    assert found.text == "the message is signed (dkim-signature), and the signature no longer holds"


SIGNED: Final = b"DKIM-Signature: h=from\n\ntext"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (SIGNED, {0}),
        (b"\n" + SIGNED, set()),
        (b"Content-Type: message/rfc822\n\n" + SIGNED, {1}),
        (b"ARC-Seal: i=1\nContent-Type: message/rfc822\n\nSubject: x\n\n", {0, 1}),
        (b"ARC-Message-Signature: i=1\n\n", set()),
        # A part is not a message: nobody signs it so
        (b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + SIGNED, set()),
    ],
)
def test_what_is_signed(data: bytes, expected: set[int]) -> None:
    assert signed(walk(data)) == expected


@cases(TABLES, "linear", field=bytes)
def test_linear_time(field: bytes) -> None:
    def make(size: int) -> bytes:
        one = b"DKIM-Signature: l=0; h=from\n" + field * 400 + b"\n" + b"text \t " * 100
        return b"Content-Type: multipart/digest; boundary=b\n\n" + (b"--b\n\n" + one) * size

    def run(data: bytes) -> None:
        parts = walk(data)
        edits = [
            Edit(part.header.end - 2, part.header.end - 2, b"/")
            for part in parts
            if part.header.fields
        ]
        edits += [Edit(part.body.end, part.body.end, b"/") for part in parts]
        list(broken_signatures(data, parts, sorted(edits)))

    assert_linear_from_10_ms(run, make, 1 << 4)
