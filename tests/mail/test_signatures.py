"""Which edits break a signature: RFC 6376 as a table, its odd spellings, its time."""

from __future__ import annotations

from typing import Final

import pytest
from growth import assert_linear_from_10_ms

from relbase.containers.mail import walk
from relbase.edit import Edit
from relbase.mail.derived import broken_signatures, signed

BODY: Final = b"a \t b \n\n<X>"


def message(signature: bytes, fields: bytes = b"") -> bytes:
    return signature + fields + b"\n" + BODY


def verdicts(data: bytes, *places: bytes) -> list[str]:
    """What is said when something is put in front of each of the places."""
    edits = sorted(Edit(data.index(place), data.index(place), b"/") for place in places)
    found = broken_signatures(data, walk(data), edits)
    return [note.text.rpartition(" the signature ")[2] for note in found]


NO_MORE: Final = ["no longer holds"]
MAYBE: Final = ["may no longer hold"]

# (the fields of signatures, other fields, what is edited, what is said)
TABLE: Final[list[tuple[bytes, bytes, list[bytes], list[str]]]] = [
    # RFC 6376 §3.5: bh= is of the body
    (b"DKIM-Signature: v=1; h=from; b=x\n", b"", [b"X>"], NO_MORE),
    (b"dkim-signature: x\n", b"", [b"X>"], NO_MORE),
    (b"DKIM-Signature: v=1; h=from; b=x\n", b"", [], []),
    # §3.5 h=: "A colon-separated list of header field names", with FWS around
    (b"DKIM-Signature: h=from:list-help\n", b"List-Help: y\n", [b"y\n"], NO_MORE),
    (b"DKIM-Signature: h =\n from :\n\tLIST-\n Help ; b=\n", b"List-Help: y\n", [b"y\n"], NO_MORE),
    (b"DKIM-Signature: h=from:list-helper\n", b"List-Help: y\n", [b"y\n"], []),
    (b"DKIM-Signature: x=list-help; h=from\n", b"List-Help: y\n", [b"y\n"], []),
    # §5.4.2: "from the bottom of the header block to the top"
    (b"DKIM-Signature: h=link\n", b"Link: y\nLink: z\n", [b"y\n"], []),
    (b"DKIM-Signature: h=link\n", b"Link: y\nLink: z\n", [b"z\n"], NO_MORE),
    (b"DKIM-Signature: h=link:link\n", b"Link: y\nLink: z\n", [b"y\n"], NO_MORE),
    # without h= nobody knows
    (b"DKIM-Signature: x\n", b"Link: y\n", [b"y\n"], MAYBE),
    (b"DomainKey-Signature: a=x\n", b"Link: y\n", [b"y\n"], MAYBE),
    # l=: octets of the canonical body, CRLF counted; simple is the default, for the body too
    (b"DKIM-Signature: l=0; h=from\n", b"", [b"X>"], []),
    (b"DKIM-Signature: l=11; h=from\n", b"", [b"X>"], []),  # "a _ b _" CRLF CRLF "<"
    (b"DKIM-Signature: l=12; h=from\n", b"", [b"X>"], NO_MORE),
    (b"DKIM-Signature: c=relaxed; l=11; h=from\n", b"", [b"X>"], []),
    (b"DKIM-Signature: c=relaxed/simple; l=12; h=from\n", b"", [b"X>"], NO_MORE),
    (b"DKIM-Signature: c=simple/Relaxed; l=8; h=from\n", b"", [b"X>"], []),  # "a b" ... "<"
    (b"DKIM-Signature: c=simple/relaxed; l=9; h=from\n", b"", [b"X>"], NO_MORE),
    (b"DKIM-Signature: l= 1\n 1; h=from\n", b"", [b"X>"], []),
    *(
        (b"DKIM-Signature: l=%b; h=from\n" % odd, b"", [b"X>"], NO_MORE)
        for odd in (b"", b"-1", b"x", b"\xd9\xa3", b"9" * 5000)
    ),
    # One of two breaks
    (b"DKIM-Signature: h=from; l=0\nDKIM-Signature: h=from\n", b"", [b"X>"], NO_MORE),
    # RFC 8617 §5.2 step 4: the newest one counts
    (b"ARC-Seal: i=1\n", b"", [b"X>"], NO_MORE),
    (b"ARC-Seal: i=1\nARC-Message-Signature: i=1; h=from\n", b"Link: y\n", [b"y\n"], []),
    (b"ARC-Seal: i=1\nARC-Message-Signature: i=1; h=link\n", b"Link: y\n", [b"y\n"], NO_MORE),
    (
        b"ARC-Seal: i=1\nARC-Message-Signature: i=1; h=link\nARC-Message-Signature: i=2; h=from\n",
        b"Link: y\n",
        [b"y\n"],
        [],
    ),
    (b"ARC-Message-Signature: i=1; h=link\n", b"Link: y\n", [b"y\n"], []),  # nothing seals it
]


@pytest.mark.parametrize(("signature", "fields", "edited", "expected"), TABLE)
def test_what_breaks(
    signature: bytes, fields: bytes, edited: list[bytes], expected: list[str]
) -> None:
    assert verdicts(message(signature, fields), *edited) == expected


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


@pytest.mark.parametrize(
    "field",
    [
        b"DKIM-Signature: l=1; c=relaxed/relaxed\n",
        b"DKIM-Signature: h=from; l=0\n",
        b"ARC-Seal: i=1; h=from\n",
        b"Link: y\n",
    ],
)
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
