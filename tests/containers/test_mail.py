"""The MIME tree: RFC 2046 as tables, its limits, its laws over any bytes, its time and memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Final

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from mime import leaves, message, tree, walked
from rows import cases, texts

from relbase.containers import fields, mail
from relbase.containers.mail import walk
from relbase.edit import Span
from relbase.notes import Reason

TABLES: Final = Path(__file__).with_name("mail.txt")

MEGABYTE: Final = 1_000_000

# ---- Boundaries (RFC 2046 §5.1.1); their delimiters are in test_mail_delimiters.py


@cases(TABLES, "boundaries", type_=bytes, boundary=bytes)
def test_boundaries(type_: bytes, boundary: bytes) -> None:
    data = b"Content-Type: %b\n\n--%b\n\none\n--%b--\n" % (type_, boundary, boundary)
    assert leaves(data) == [("1", b"one")]
    whole, part = walk(data)
    assert whole.multipart is not None
    assert whole.multipart.boundary == boundary
    assert part.boundaries == (boundary,)


@pytest.mark.parametrize("stated", ["", 'boundary=""'])
def test_no_boundary(stated: str) -> None:
    (part,) = walked(f"Content-Type: multipart/mixed; {stated}\n\n--\n\none\n----\n".encode())
    assert part.opaque is Reason.MIME_BOUNDARY


def test_open_boundaries() -> None:
    inner = "{b}--b\n\n1\n--b--\n"
    data = message("{a}--a\n" + inner + "--a\n{>}" + inner + "--a\n\n2")
    assert {part.number + part.type: part.boundaries for part in walk(data)} == {
        "multipart/mixed": (),
        "1multipart/mixed": (b"a",),
        "1.1text/plain": (b"a", b"b"),
        "2message/rfc822": (b"a",),
        "2multipart/mixed": (b"a",),
        "2.1text/plain": (b"a", b"b"),
        "3text/plain": (b"a",),
    }


def test_what_is_around_the_parts() -> None:
    data = message("{b}pre\r\n--b\n\n1\n--b-- \r\nepi\n")
    (whole, part) = walk(data)
    assert whole.multipart is not None
    boundary, preamble, close, epilogue = whole.multipart
    spans = (preamble, part.delimiter, part.body, close, epilogue)
    assert boundary == b"b"
    assert [data[slice(*span)] for span in spans] == [
        *(b"pre", b"\r\n--b\n", b"1", b"\n--b-- ", b"\r\nepi\n")
    ]
    assert whole.body == Span(preamble.start, len(data))


# ---- Numbers (RFC 3501 §6.4.5)

# The example of §6.4.5, and how messages that are not multipart are numbered.
IMAP: Final = message(
    "{x}--x\n\n1\n--x\nContent-Type: application/octet-stream\n\n2\n--x\n{>}Subject: x\n"
    "{3}--3\n\n3.1\n--3\nContent-Type: application/octet-stream\n\n3.2\n--3--\n--x\n"
    "{4}--4\nContent-Type: image/gif\n\n4.1\n--4\n{>}{42}--42\n\n4.2.1\n--42\n"
    "{422 alternative}--422\n\n4.2.2.1\n--422\nContent-Type: text/richtext\n\n4.2.2.2\n--422--\n"
    "--42--\n--4--\n--x\n{>}Subject: x\n\n5.1\n--x\n{>}{>}\n6.1.1\n--x--\n"
)


def test_numbers_and_parents() -> None:
    assert [f"{part.number} {part.type} {part.parent}" for part in walk(IMAP)] == [
        *(" multipart/mixed None", "1 text/plain 0", "2 application/octet-stream 0"),
        *("3 message/rfc822 0", "3 multipart/mixed 3", "3.1 text/plain 4"),
        *("3.2 application/octet-stream 4", "4 multipart/mixed 0", "4.1 image/gif 7"),
        *("4.2 message/rfc822 7", "4.2 multipart/mixed 9", "4.2.1 text/plain 10"),
        *("4.2.2 multipart/alternative 10", "4.2.2.1 text/plain 12", "4.2.2.2 text/richtext 12"),
        *("5 message/rfc822 0", "5.1 text/plain 15"),
        *("6 message/rfc822 0", "6.1 message/rfc822 17", "6.1.1 text/plain 18"),
    ]
    # Each leaf says its number.
    assert all(body.strip().decode() == number for number, body in leaves(IMAP))


@cases(TABLES, "numbers", data=bytes, expected=list[str])
def test_numbers_without_a_multipart_around(data: bytes, expected: list[str]) -> None:
    assert [number for number, _, _ in tree(data)] == expected


# ---- What a part says of itself


@cases(TABLES, "types and names", header=str, type_=str, name=str)
def test_types_and_names(header: str, type_: str, name: str) -> None:
    (part,) = walk(f"{header}\n\n".encode())
    assert (part.type, part.name) == (type_, name)


def test_what_is_stated() -> None:
    data = (
        b'Content-Type: Text/HTML; charset=" UTF-8 "\nContent-Transfer-Encoding: Base64 (x)\n'
        b"Content-Disposition: Inline; filename=x\nContent-Base: http://a/\n\nbody"
    )
    (part,), (bare,) = walk(data), walk(b"Subject: x\n\nbody")
    assert (part.charset, part.encoding, part.disputed) == ("UTF-8", "base64", "")
    assert (part.type, part.disposition, part.opaque) == ("text/html", "inline", None)
    assert fields.first(data, part.header, "content-base") == "http://a/"
    assert (bare.type, bare.charset, bare.encoding, bare.disposition, bare.boundaries) == (
        *("text/plain", None, "7bit", None, ()),
    )


@cases(TABLES, "default types", stated=bytes, in_mixed=str, in_digest=str)
def test_default_types(stated: bytes, in_mixed: str, in_digest: str) -> None:
    assert tree(message("{b}--b\n") + stated + b"\n")[1][1] == in_mixed
    assert tree(message("{b digest}--b\n") + stated + b"\n")[1][1] == in_digest


def test_a_digest() -> None:
    assert tree(message("{b digest}--b\n\nBase: x\n\none\n--b\n\n{c}--c\n\ntwo\n--b--\n")) == [
        ("", "multipart/digest", None),
        ("1", "message/rfc822", None),
        ("1.1", "text/plain", b"one"),
        ("2", "message/rfc822", None),
        ("2", "multipart/mixed", None),
        ("2.1", "text/plain", b"two"),
    ]


@pytest.mark.parametrize("type_", ["message/rfc822", "MESSAGE/Global", "message/news"])
def test_messages_are_entered(type_: str) -> None:
    data = f"Content-Type: {type_}\n\nBase: x\n\nbody".encode()
    outer, inner = walk(data)
    assert (outer.message, inner.message) == (True, False)
    assert outer.body == Span(inner.header.start, inner.body.end)
    assert [field.name for field in inner.header.fields] == ["base"]


# ---- What is not entered

MIXED: Final = message("{b}")
INSIDE: Final = b"--b\nContent-Type: text/html\n\n<a href=x>\n--b--\n"


@cases(TABLES, "not entered", header=str, opaque=Reason)
def test_what_is_not_entered(header: str, opaque: Reason) -> None:
    data = header.encode() + b"\n\n" + INSIDE
    (part,) = walk(data)
    assert (part.opaque, part.multipart, part.message) == (opaque, None, False)
    assert data[slice(*part.body)] == INSIDE


@pytest.mark.parametrize(
    "encoding", ["7bit", "8BIT", "Binary", "7-bit", "8bits", "7bit; x", "", "(x)"]
)
def test_encodings_that_change_nothing(encoding: str) -> None:
    stated = f"Content-Transfer-Encoding: {encoding}\n".encode()
    assert len(walk(stated + MIXED + INSIDE)) == 2
    assert len(walk(stated + b"Content-Type: message/rfc822\n\nSubject: x\n\n")) == 2


@cases(TABLES, "encodings", stated=texts, expected=str, disputed=str)
def test_encodings(stated: list[str], expected: str, disputed: str) -> None:
    header = "".join(f"Content-Transfer-Encoding: {value}\n" for value in stated)
    (part,) = walk(f"{header}Content-Type: text/html\n\nx".encode())
    assert (part.encoding, part.disputed) == (expected, disputed)
    (part, *inner) = walk(f"{header}".encode() + MIXED + INSIDE)
    assert part.opaque is None
    assert inner, "its delimiters stand in the clear: RFC 2045 §6.4"


@pytest.mark.parametrize("encoding", ["base64", "Quoted-Printable"])
@pytest.mark.parametrize("preamble", [b"", b"text\n"])
def test_a_multipart_whose_delimiters_are_in_the_clear_is_not_encoded(
    encoding: str, preamble: bytes
) -> None:
    """RFC 2045 §6.4 allows no other encoding than identity."""
    stated = f"Content-Transfer-Encoding: {encoding}\n".encode()
    data = stated + MIXED + preamble + b"--b\n" + stated + b"\nx\n--b--\n"
    whole, part = walk(data)
    assert (whole.encoding, whole.opaque) == ("8bit", None)
    assert (part.encoding, data[slice(*part.body)]) == (encoding.lower(), b"x")
    (closed,) = walk(stated + MIXED + b"--" + b"x" * (1 << 16) + b"\n--b\n\nx\n--b--\n")
    assert closed.opaque is Reason.MIME_ENCODED


@pytest.mark.parametrize(
    "type_", ["message/delivery-status", "message/http", "text/rfc822-headers", "application/mbox"]
)
def test_what_holds_no_parts(type_: str) -> None:
    (part,) = walk(f"Content-Type: {type_}; boundary=b\n\n".encode() + INSIDE)
    assert (part.opaque, part.multipart, part.message) == (None, None, False)


@cases(TABLES, "sealed", inside=lambda cell: cell.encode().decode("unicode_escape"))
def test_what_is_sealed_is_followed_to_its_end(inside: str | None) -> None:
    inside = inside or ""
    assert tree(message("{a}--a\n{s signed}" + inside + "\n--a\n\nafter\n--a--\n")) == [
        ("", "multipart/mixed", None),
        ("1", "multipart/signed", message(inside)),
        ("2", "text/plain", b"after"),
    ]


# ---- Limits (rule 12)


def nested(levels: int) -> bytes:
    """Multiparts in multiparts, `levels` of them, and a leaf."""
    return message("".join(f"{{b{level}}}--b{level}\n" for level in range(levels)) + "\nleaf")


def test_a_header_past_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_HEADER", 100)
    long = b"X: " + b"y" * 100 + b"\n"
    data = MIXED + b"--b\nContent-Type: text/html\n" + long + b"\n1\n--b\n\n2\n--b--\n"
    parts = walked(data)
    assert [part.opaque for part in parts] == [None, Reason.LIMIT_HEADER, None]
    assert data[slice(*parts[1].body)] == long + b"\n1"
    (whole,) = walk(long + MIXED + b"--b\n\n1\n")
    assert whole.opaque is Reason.LIMIT_HEADER


@pytest.mark.parametrize(("more", "opaque"), [(-1, None), (0, None), (1, Reason.LIMIT_HEADER)])
def test_the_limit_of_fields_of_all_headers(
    monkeypatch: pytest.MonkeyPatch, more: int, opaque: Reason | None
) -> None:
    monkeypatch.setattr(mail, "MAX_FIELDS", 10)
    data = MIXED + b"--b\nBase: x\nBase: x\n\n" + b"\n--b\n" + b"Base: x\n" * (7 + more) + b"\n"
    assert [part.opaque for part in walked(data)] == [None, None, opaque]


# ---- Laws

_starts = st.sampled_from(["{a}", "{a}", "{>}{a}", ""])
_tokens = [
    "{a}", "{b}", "{a--}", "{b signed}", "{b digest}", "{>}", "Content-Type: text/html\n\n",
    "--a\n", "--b\n", "--a--\n", "--b--\n", "--a----\n", "--a", "--b \r\n", "--c\n", "--a\r",
    "--ab\n", "--\n", "\n", "\n", "\r\n", "\r", "text\n", "X: y\n", " ", "From x\n", "\0\xff", "-",
    "Content-Type: multipart/x\n", "Content-Transfer-Encoding: base64\n", "boundary=a",
]  # fmt: skip
_lines = st.lists(st.sampled_from(_tokens), max_size=24).map("".join)
_soup = st.builds(str.__add__, _starts, _lines).map(message)


@given(_soup, st.sampled_from((b"\n", b"\r\n", b"\r")), st.integers(0, 5), st.integers(1, 9))
def test_every_byte_belongs_to_one_piece(
    data: bytes, eol: bytes, max_depth: int, max_parts: int
) -> None:
    data = data.replace(b"\n", eol)
    parts = walked(data, max_parts, max_depth)
    assert len(parts) <= max_parts + 1
    for index, part in enumerate(parts[1:], 1):
        assert part.parent is not None
        parent = parts[part.parent]
        assert part.parent < index
        assert parent.opaque is None
        assert parent.multipart or parent.message
        assert parent.body.start <= part.delimiter.start <= part.body.end <= parent.body.end
        assert part.number.startswith(parent.number)
    assert sum(part.message for part in parts) + 1 == sum(
        part.parent is None or parts[part.parent].message for part in parts
    )


@pytest.mark.parametrize("data", [IMAP, IMAP.replace(b"\n", b"\r\n"), nested(3)])
def test_any_prefix(data: bytes) -> None:
    for end in range(len(data) + 1):
        walked(data[:end])


# ---- Time and memory


def test_the_time_does_not_grow_with_the_open_boundaries() -> None:
    body = b"\n--b\n" * 100_000

    def make(levels: int) -> bytes:
        return nested(levels) + body

    # 98 levels may cost their headers, not a search of the body each. A single boundary is
    # searched for by itself, which is faster still.
    assert_linear(walk, make, (2, 98), 3)


def test_headers_full_of_fields_need_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mail, "MAX_FIELDS", 20_000)
    data = MIXED + (b"--b\n" + b"base:\n" * fields.MAX_FIELDS) * 30
    tracemalloc.start()
    try:
        parts = walk(data)
        assert tracemalloc.get_traced_memory()[1] < 10 * MEGABYTE
    finally:
        tracemalloc.stop()
    assert len(parts) == 31
    assert parts[-1].opaque is Reason.LIMIT_HEADER
