"""The MIME tree: RFC 2046 as tables, its limits, its laws over any bytes, its time and memory."""

from __future__ import annotations

import tracemalloc
from typing import Final
from unittest.mock import patch

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st

from relbase.containers import fields, mail
from relbase.containers.mail import MAX_DEPTH, MAX_PARTS, Opaque, Part, walk
from relbase.edit import Span

MEGABYTE: Final = 1_000_000

LEAF: Final = "text/plain"


def mixed(boundary: str = "b", subtype: str = "mixed") -> bytes:
    return f'Content-Type: multipart/{subtype}; boundary="{boundary}"\n\n'.encode()


def pieces(part: Part) -> list[Span]:
    """What of a message a part is alone: its delimiter, its header, its leaf or what is around."""
    spans = [part.delimiter, Span(part.header.start, part.header.body)]
    if part.multipart is not None:
        return [*spans, part.multipart.preamble, part.multipart.close, part.multipart.epilogue]
    return spans if part.message else [*spans, part.body]


def assert_lossless(data: bytes, parts: list[Part]) -> None:
    spans = sorted(span for part in parts for span in pieces(part))
    at = 0
    for span in spans:
        assert (at, span.start) == (span.start, at), f"{data!r} at {at}: {span}"
        at = span.end
    assert at == len(data)


def tree(data: bytes) -> list[tuple[str, str, bytes | None]]:
    """The number, the type and, of a leaf, the body of each part; all bytes are somewhere."""
    parts = walk(data)
    assert_lossless(data, parts)
    return [
        (
            part.number,
            part.type,
            None if part.multipart or part.message else data[slice(*part.body)],
        )
        for part in parts
    ]


def leaves(data: bytes) -> list[bytes]:
    return [body for _, _, body in tree(data) if body is not None]


# ---- Delimiters (RFC 2046 §5.1.1)

# (what, message, the bodies of its leaves)
DELIMITERS: Final[list[tuple[str, bytes, list[bytes]]]] = [
    ("two parts", mixed() + b"--b\n\none\n--b\n\ntwo\n--b--\n", [b"one", b"two"]),
    ("CRLF", b"Content-Type: multipart/x; boundary=b\r\n\r\n--b\r\n\r\n1\r\n--b--\r\n", [b"1"]),
    ("CR alone", b"Content-Type: multipart/x; boundary=b\r\r--b\r\r1\r--b--\r", [b"1"]),
    (
        "LF with one CRLF delimiter",
        mixed() + b"--b\n\none\r\n--b\r\n\ntwo\n--b--\n",
        [b"one", b"two"],
    ),
    ("CR alone beside LF is text", mixed() + b"--b\n\none\r--b\rtwo\n--b--", [b"one\r--b\rtwo"]),
    ("CR CR LF", mixed() + b"--b\r\r\n\none\r\r\n--b--\r\r\n", [b"one\r"]),
    ("white space after", mixed() + b"--b   \n\none\n--b\t \n\ntwo\n--b-- \n", [b"one", b"two"]),
    (
        "letters after",
        mixed() + b"--bX\n--b\n\none\n--bX\n--b--X\n-- b\n--b--\n",
        [b"one\n--bX\n--b--X\n-- b"],
    ),
    ("white space before", mixed() + b" --b\n--b\n\none\n --b\n--b--", [b"one\n --b"]),
    ("within a line", mixed() + b"x--b\n--b\n\none --b\n--b--", [b"one --b"]),
    ("another case", mixed() + b"--b\n\none\n--B\n--b--", [b"one\n--B"]),
    ("more after the end", mixed() + b"--b\n\none\n--b--\n--b\n\ntwo\n--b--\n", [b"one"]),
    ("no end", mixed() + b"--b\n\none\n", [b"one\n"]),
    ("no end, no line end", mixed() + b"--b\n\none", [b"one"]),
    ("ends in a delimiter", mixed() + b"--b\n\none\n--b", [b"one", b""]),
    ("end without line end", mixed() + b"--b\n\none\n--b--", [b"one"]),
    ("only an end", mixed() + b"--b--\n--b\n\none", []),
    ("no delimiter", mixed() + b"one\ntwo\n", []),
    ("nothing after the header", b"Content-Type: multipart/mixed; boundary=b", []),
    ("preamble and epilogue", mixed() + b"pre\n--b\n\none\n--b--\nepi\n", [b"one"]),
    ("empty bodies", mixed() + b"--b\n\n--b\n\n\n--b\n--b\nX: y\n--b--", [b"", b"", b"", b""]),
    ("empty lines are of the body", mixed() + b"--b\n\n\n\n--b--", [b"\n"]),
    ("no empty line before the delimiter", mixed()[:-1] + b"--b\n\none\n--b--", [b"one"]),
    (
        "no empty line before the body",
        mixed() + b"--b\none\n--b\nX: y\ntwo\n--b--",
        [b"one", b"two"],
    ),
    ("NUL and 8 bit", mixed() + b"--b\n\n\0\xff\n--b--", [b"\0\xff"]),
    ("mbox", b"From a@b x\n" + mixed() + b"--b\n\none\n--b--\n", [b"one"]),
    ("byte order mark", b"\xef\xbb\xbf" + mixed() + b"--b\n\none\n--b--\n", [b"one"]),
]

# (what, the Content-Type, the boundary it states)
BOUNDARIES: Final[list[tuple[str, bytes, bytes]]] = [
    ("unquoted", b"multipart/mixed; boundary=b", b"b"),
    ("odd characters, unquoted", b"multipart/mixed; boundary=--=_a/1:2?3=", b"--=_a/1:2?3="),
    ("with a colon", b'multipart/mixed; boundary=":foo"', b":foo"),
    ("ends in a space", b'multipart/mixed; boundary="b "', b"b"),
    ("space within", b'multipart/mixed; boundary="a b"', b"a b"),
    ("folded", b'multipart/mixed;\n boundary="simple\n boundary"', b"simple boundary"),
    ("5,000 characters", b"multipart/mixed; boundary=" + b"b" * 5000, b"b" * 5000),
    ("dashes", b"multipart/mixed; boundary=" + b"-" * 60, b"-" * 60),
    ("comment", b"multipart/mixed (c); boundary=b (c)", b"b"),
    ("8 bit", b"multipart/mixed; boundary=\xff\xc3\xa9", b"\xff\xc3\xa9"),
    ("two", b"multipart/mixed; boundary=b; boundary=c", b"b"),
    ("RFC 2231 section", b"multipart/mixed; boundary*0=a; boundary*1=b", b"ab"),
    ("RFC 2231 encoding", b"multipart/mixed; boundary*=us-ascii''%62", b"b"),
    ("two fields", b"multipart/mixed; boundary=b\nContent-Type: text/plain", b"b"),
]


@pytest.mark.parametrize(
    ("data", "expected"), [row[1:] for row in DELIMITERS], ids=[row[0] for row in DELIMITERS]
)
def test_delimiters(data: bytes, expected: list[bytes]) -> None:
    assert leaves(data) == expected


@pytest.mark.parametrize(
    ("type_", "boundary"), [row[1:] for row in BOUNDARIES], ids=[row[0] for row in BOUNDARIES]
)
def test_boundaries(type_: bytes, boundary: bytes) -> None:
    data = b"Content-Type: %b\n\n--%b\n\none\n--%b--\n" % (type_, boundary, boundary)
    assert leaves(data) == [b"one"]
    message, part = walk(data)
    assert message.multipart is not None
    assert message.multipart.boundary == boundary
    assert part.boundaries == (boundary,)


@pytest.mark.parametrize(
    "type_",
    [
        "multipart/mixed",
        'multipart/mixed; boundary=""',
        "multipart/x; boundary=' '*0; boundary=\" \"",
    ],
)
def test_no_boundary(type_: str) -> None:
    data = f"Content-Type: {type_}\n\n--\n\none\n----\n".encode()
    (part,) = walk(data)
    expected = Opaque.BOUNDARY if "'" not in type_ else None
    assert part.opaque is expected
    assert_lossless(data, [part])


# ---- More than one boundary

NESTED: Final[list[tuple[str, bytes, list[tuple[str, bytes]]]]] = [
    (
        "an outer delimiter ends inner parts",
        mixed("a") + b"--a\n" + mixed("b") + b"--b\n\n1\n--a\n\n2\n--b\n--a--",
        [("1.1", b"1"), ("2", b"2\n--b")],
    ),
    (
        "an outer end ends inner parts",
        mixed("a") + b"--a\n" + mixed("b") + b"--b\n\n1\n--a--\n--b\n\n2",
        [("1.1", b"1")],
    ),
    (
        "the inner epilogue ends at the outer delimiter",
        mixed("a") + b"--a\n" + mixed("b") + b"--b\n\n1\n--b--\n--a\n\n2\n--a--",
        [("1.1", b"1"), ("2", b"2")],
    ),
    (
        "a delimiter in a header ends it",
        mixed("a") + b"--a\nX: y\n--a\nContent-Type: multipart/x;\n boundary=b\n--b\n\n2\n--a--",
        [("1", b""), ("2.1", b"2")],
    ),
    # What Dovecot tries is in test_mail_dovecot.py.
    (
        "b-- inside of b: the longer one",
        mixed("b") + b"--b\n" + mixed("b--") + b"--b--\n\n1\n--b----\n--b--\n--b\n\n2",
        [("1.1", b"1")],
    ),
    (
        "b inside of b--: the longer one",
        mixed("b--") + b"--b--\n" + mixed("b") + b"--b\n\n1\n--b--\n\n2\n--b----",
        [("1.1", b"1"), ("2", b"2")],
    ),
    (
        "three lengths",
        mixed("123")
        + b"--123\n"
        + mixed("12")
        + b"--12\n"
        + mixed("1")
        + b"--1\n\n1\n--123\n\n22\n--12\n",
        [("1.1.1", b"1"), ("2", b"22\n--12\n")],
    ),
]


@pytest.mark.parametrize(
    ("data", "expected"), [row[1:] for row in NESTED], ids=[row[0] for row in NESTED]
)
def test_nested_boundaries(data: bytes, expected: list[tuple[str, bytes]]) -> None:
    found = [(number, body) for number, _, body in tree(data) if body is not None]
    assert found == expected


def test_open_boundaries() -> None:
    inner = mixed("b") + b"--b\n\n1\n--b--\n"
    data = (
        mixed("a")
        + b"--a\n"
        + inner
        + b"--a\nContent-Type: message/rfc822\n\n"
        + inner
        + b"--a\n\n2"
    )
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
    data = mixed() + b"pre\r\n--b\n\n1\n--b-- \r\nepi\n"
    (message, part) = walk(data)
    assert message.multipart is not None
    boundary, preamble, close, epilogue = message.multipart
    assert boundary == b"b"
    assert data[slice(*preamble)] == b"pre"
    assert data[slice(*close)] == b"\n--b-- "
    assert data[slice(*epilogue)] == b"\r\nepi\n"
    assert data[slice(*part.delimiter)] == b"\r\n--b\n"
    assert data[slice(*part.body)] == b"1"
    assert message.body == Span(len(mixed()), len(data))


# ---- Numbers (RFC 3501 §6.4.5)

# The example of §6.4.5, and how messages that are not multipart are numbered.
IMAP: Final = (
    mixed("x")
    + b"--x\n\n1\n--x\nContent-Type: application/octet-stream\n\n2\n"
    + b"--x\nContent-Type: message/rfc822\n\nSubject: x\n"
    + mixed("3")
    + b"--3\n\n3.1\n--3\nContent-Type: application/octet-stream\n\n3.2\n--3--\n--x\n"
    + mixed("4")
    + b"--4\nContent-Type: image/gif\n\n4.1\n--4\nContent-Type: message/rfc822\n\n"
    + mixed("42")
    + b"--42\n\n4.2.1\n--42\n"
    + mixed("422", "alternative")
    + b"--422\n\n4.2.2.1\n--422\nContent-Type: text/richtext\n\n4.2.2.2\n"
    + b"--422--\n--42--\n--4--\n--x\nContent-Type: message/rfc822\n\nSubject: x\n\n5.1\n"
    + b"--x\nContent-Type: message/rfc822\n\nContent-Type: message/rfc822\n\n\n6.1.1\n--x--\n"
)


def test_numbers() -> None:
    assert [(number, type_) for number, type_, _ in tree(IMAP)] == [
        ("", "multipart/mixed"),
        ("1", "text/plain"),
        ("2", "application/octet-stream"),
        ("3", "message/rfc822"),
        ("3", "multipart/mixed"),
        ("3.1", "text/plain"),
        ("3.2", "application/octet-stream"),
        ("4", "multipart/mixed"),
        ("4.1", "image/gif"),
        ("4.2", "message/rfc822"),
        ("4.2", "multipart/mixed"),
        ("4.2.1", "text/plain"),
        ("4.2.2", "multipart/alternative"),
        ("4.2.2.1", "text/plain"),
        ("4.2.2.2", "text/richtext"),
        ("5", "message/rfc822"),
        ("5.1", "text/plain"),
        ("6", "message/rfc822"),
        ("6.1", "message/rfc822"),
        ("6.1.1", "text/plain"),
    ]
    # Each leaf says its number.
    assert all(body.strip().decode() == number for number, _, body in tree(IMAP) if body)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"Subject: x\n\nbody", [""]),
        (b"", [""]),
        (b"Content-Type: message/rfc822\n\nSubject: x\n\nbody", ["", "1.1"]),
        (b"Content-Type: message/rfc822\n\n" + mixed() + b"--b\n\n1\n", ["", "1", "1.1"]),
        (
            b"Content-Type: message/rfc822\n\n" * 2 + mixed() + b"--b\n\n1\n",
            ["", "1.1", "1.1", "1.1.1"],
        ),
    ],
)
def test_numbers_without_a_multipart_around(data: bytes, expected: list[str]) -> None:
    assert [number for number, _, _ in tree(data)] == expected


def test_parents() -> None:
    assert [part.parent for part in walk(IMAP)] == [
        *(None, 0, 0, 0, 3, 4, 4, 0, 7, 7, 9, 10, 10, 12, 12, 0, 15, 0, 17, 18)
    ]


# ---- What a part says of itself


def test_what_is_stated() -> None:
    data = (
        b'Content-Type: Text/HTML; charset=" UTF-8 "\nContent-Transfer-Encoding: Base64 (x)\n'
        b"Content-Disposition: Inline; filename=x\nContent-Base: http://a/\n\nbody"
    )
    (part,) = walk(data)
    assert (part.type, part.charset, part.encoding, part.disposition) == (
        *("text/html", "UTF-8", "base64", "inline"),
    )
    assert fields.first(data, part.header, "content-base") == "http://a/"
    assert part.opaque is None


def test_what_is_not_stated() -> None:
    (part,) = walk(b"Subject: x\n\nbody")
    assert (part.type, part.charset, part.encoding, part.disposition, part.boundaries) == (
        *(LEAF, None, "7bit", None, ()),
    )
    assert part.parent is None


@pytest.mark.parametrize(
    ("stated", "in_mixed", "in_digest"),
    [
        # RFC 2045 §5.2, RFC 2046 §5.1.5
        (b"", "text/plain", "message/rfc822"),
        (b"Subject: x\n", "text/plain", "message/rfc822"),
        (b"Content-Type: text/html\n", "text/html", "text/html"),
        (b"Content-Type: text\n", "text/plain", "text/plain"),
        (b"Content-Type:\n", "text/plain", "text/plain"),
        (b"Content-Type: text/html\nContent-Type: text/css\n", "text/html", "text/html"),
    ],
)
def test_default_types(stated: bytes, in_mixed: str, in_digest: str) -> None:
    assert tree(mixed() + b"--b\n" + stated + b"\n")[1][1] == in_mixed
    assert tree(mixed("b", "digest") + b"--b\n" + stated + b"\n")[1][1] == in_digest


def test_a_digest() -> None:
    data = (
        mixed("b", "digest")
        + b"--b\n\nBase: x\n\none\n--b\n\n"
        + mixed("c")
        + b"--c\n\ntwo\n--b--\n"
    )
    assert tree(data) == [
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
    assert outer.message
    assert not inner.message
    assert outer.body == Span(inner.header.start, inner.body.end)
    assert [field.name for field in inner.header.fields] == ["base"]


# ---- What is not entered

INSIDE: Final = b"--b\nContent-Type: text/html\n\n<a href=x>\n--b--\n"
CLOSED: Final[list[tuple[str, Opaque]]] = [
    # RFC 1847 §2.1, §2.2; RFC 8551; RFC 3156
    ("Content-Type: multipart/signed; boundary=b; micalg=x", Opaque.SIGNED),
    ("Content-Type: multipart/signed", Opaque.SIGNED),
    ("Content-Type: multipart/encrypted; boundary=b", Opaque.SEALED),
    ("Content-Type: application/pkcs7-mime; boundary=b", Opaque.SEALED),
    ("Content-Type: application/x-pkcs7-mime", Opaque.SEALED),
    ("Content-Type: application/pgp-encrypted", Opaque.SEALED),
    ("Content-Type: application/pgp; x-action=sign", Opaque.SEALED),
    # RFC 2046 §5.2.2, §5.2.3
    ("Content-Type: message/partial; id=x", Opaque.PARTIAL),
    ("Content-Type: message/external-body; access-type=URL", Opaque.EXTERNAL),
    # RFC 2045 §6.4
    (
        "Content-Type: multipart/mixed; boundary=c\nContent-Transfer-Encoding: base64",
        Opaque.ENCODED,
    ),
    ("Content-Type: multipart/x; boundary=c\nContent-Transfer-Encoding: x", Opaque.ENCODED),
    ("Content-Type: message/rfc822\nContent-Transfer-Encoding: base64", Opaque.ENCODED),
    ("Content-Type: message/global\nContent-Transfer-Encoding: quoted-printable", Opaque.ENCODED),
    ("Content-Type: multipart/mixed", Opaque.BOUNDARY),
]


@pytest.mark.parametrize(("header", "opaque"), CLOSED)
def test_what_is_not_entered(header: str, opaque: Opaque) -> None:
    data = header.encode() + b"\n\n" + INSIDE
    (part,) = walk(data)
    assert (part.opaque, part.multipart, part.message) == (opaque, None, False)
    assert data[slice(*part.body)] == INSIDE


@pytest.mark.parametrize(
    "encoding", ["7bit", "8BIT", "Binary", "7-bit", "8bits", "7bit; x", "", "(x)"]
)
def test_encodings_that_change_nothing(encoding: str) -> None:
    stated = f"Content-Transfer-Encoding: {encoding}\n".encode()
    assert len(walk(stated + mixed() + INSIDE)) == 2
    assert len(walk(stated + b"Content-Type: message/rfc822\n\nSubject: x\n\n")) == 2


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        # RFC 2045 §6.1: one token, in any case; comments may be around (§6.1 with RFC 822 §3.4.3)
        (["Base64"], "base64"),
        (["(a) QUOTED-Printable (b)"], "quoted-printable"),
        (["7bit", "8bit"], "7bit"),
        (["base64", "BASE64 "], "base64"),
        (["", "base64", "(none)"], "base64"),
        # Several, or no token: some readers undo it and some do not
        (["7bit", "quoted-printable"], "7bit, quoted-printable"),
        (["base64", "quoted-printable", "base64"], "base64, quoted-printable"),
        (["=?us-ascii?q?base64?="], "=?us-ascii?q?base64?="),
        (["x" * 200], "x" * 100),
    ],
)
def test_encodings(stated: list[str], expected: str) -> None:
    header = "".join(f"Content-Transfer-Encoding: {value}\n" for value in stated)
    (part,) = walk(f"{header}Content-Type: text/html\n\nx".encode())
    assert part.encoding == expected
    (part, *inner) = walk(f"{header}".encode() + mixed() + INSIDE)
    assert part.opaque is None
    assert inner, "its delimiters stand in the clear: RFC 2045 §6.4"


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        (["base64;"], ("base64", "base64;")),
        (["quoted-printable, x"], ("quoted-printable", "quoted-printable, x")),
        (["(a) Base64 (b) charset=utf-8"], ("base64", "(a) Base64 (b) charset=utf-8")),
        (['"Base64"'], ("base64", '"Base64"')),
        (["base64", "base64;"], ("base64", "base64;")),
        (["8bit;"], ("8bit", "")),  # the same to those that do not read it
        (['"8bit"'], ("8bit", "")),
        (["base64;", "7bit"], ("base64, 7bit", "")),
    ],
)
def test_encodings_that_only_some_readers_read(
    stated: list[str], expected: tuple[str, str]
) -> None:
    header = "".join(f"Content-Transfer-Encoding: {value}\n" for value in stated)
    (part,) = walk(f"{header}Content-Type: text/html\n\nx".encode())
    assert (part.encoding, part.disputed) == expected


@pytest.mark.parametrize("encoding", ["base64", "Quoted-Printable"])
@pytest.mark.parametrize("preamble", [b"", b"text\n"])
def test_a_multipart_whose_delimiters_are_in_the_clear_is_not_encoded(
    encoding: str, preamble: bytes
) -> None:
    """RFC 2045 §6.4 allows no other encoding than identity."""
    stated = f"Content-Transfer-Encoding: {encoding}\n".encode()
    data = stated + mixed() + preamble + b"--b\n" + stated + b"\nx\n--b--\n"
    whole, part = walk(data)
    assert (whole.encoding, whole.opaque) == ("8bit", None)
    assert (part.encoding, data[slice(*part.body)]) == (encoding.lower(), b"x")
    (closed,) = walk(stated + mixed() + b"--" + b"x" * (1 << 16) + b"\n--b\n\nx\n--b--\n")
    assert closed.opaque is Opaque.ENCODED


@pytest.mark.parametrize(
    "type_", ["message/delivery-status", "message/http", "text/rfc822-headers", "application/mbox"]
)
def test_what_holds_no_parts(type_: str) -> None:
    (part,) = walk(f"Content-Type: {type_}; boundary=b\n\n".encode() + INSIDE)
    assert (part.opaque, part.multipart, part.message) == (None, None, False)


@pytest.mark.parametrize(
    "inside",
    [
        b"--s\n" + mixed("a") + b"--a\n\nx\n--a--\n--s--",  # the boundary of the outer one, again
        b"--s\n" + mixed("s") + b"--s\n\nx\n--s--\n--s\n\ny\n--s--\n",  # its own
        b"--s\nContent-Type: message/rfc822\n\n" + mixed("a") + b"--a\n\nx\n--a--\n--s--",
        b"--s\n" + mixed("a", "signed") + b"--a\n\nx\n--a\n\ny\n--a--\n--s--\n",
        b"--s\n\nx\n",
        b"",
    ],
)
def test_what_is_sealed_is_followed_to_its_end(inside: bytes) -> None:
    data = mixed("a") + b"--a\n" + mixed("s", "signed") + inside + b"\n--a\n\nafter\n--a--\n"
    assert tree(data) == [
        ("", "multipart/mixed", None),
        ("1", "multipart/signed", inside),
        ("2", "text/plain", b"after"),
    ]


# ---- Limits (rule 12)


def nested(levels: int) -> bytes:
    """Multiparts in multiparts, `levels` of them, and a leaf."""
    return (
        b"".join(mixed(f"b{number}") + b"--b%d\n" % number for number in range(levels)) + b"\nleaf"
    )


def forwarded(levels: int) -> bytes:
    """Messages in messages, `levels` of them, and a leaf."""
    return b"Content-Type: message/rfc822\n\n" * levels + b"Subject: x\n\nleaf"


def limited(data: bytes, parts: int = MAX_PARTS, depth: int = MAX_DEPTH) -> list[Part]:
    with patch.multiple(mail, MAX_PARTS=parts, MAX_DEPTH=depth):
        return walk(data)


def test_the_limit_of_depth_is_what_is_asked_for() -> None:
    assert len(limited(nested(5), depth=2)) == 3
    assert len(limited(nested(5), depth=0)) == 1
    # What is beside goes on.
    data = mixed("a") + b"--a\n" + mixed("b") + b"--b\n\n1\n--a\n\n2\n--a--"
    assert [part.opaque for part in limited(data, depth=1)] == [None, Opaque.DEPTH, None]


def test_parts_beyond_the_limit_are_in_the_last() -> None:
    data = mixed("a") + b"--a\n" + mixed("b") + b"--b\n\n1\n--b\n\n2\n--b--\n--a\n\n3\n--a--\n"
    for limit in range(1, 8):
        parts = limited(data, limit)
        assert_lossless(data, parts)
        assert len(parts) == min(limit + 1, 5)
        assert (parts[-1].opaque is Opaque.PARTS) == (limit < 5)


@pytest.mark.parametrize(("limit", "opaque"), [(2, Opaque.PARTS), (3, None), (4, None)])
def test_the_limit_of_parts_at_a_message(limit: int, opaque: Opaque | None) -> None:
    data = mixed() + b"--b\nContent-Type: message/rfc822\n\nSubject: x\n\nbody"
    parts = limited(data, limit)
    assert len(parts) == min(limit, 3)
    assert parts[1].opaque is opaque
    assert parts[1].message is (opaque is None)


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        # Past the limit nobody knows where it ends: nothing after it is read.
        (3, [None, Opaque.PARTS]),
        (4, [None, Opaque.SIGNED, Opaque.PARTS]),
        (5, [None, Opaque.SIGNED, None]),
        (6, [None, Opaque.SIGNED, None]),
    ],
)
def test_the_limit_of_parts_counts_what_is_sealed(limit: int, expected: list[Opaque]) -> None:
    sealed = mixed("a", "signed") + b"--a\n\n1\n--a\n\n2\n--a--\n"
    data = mixed("a") + b"--a\n" + sealed + b"--a\n\n3\n--a--"
    parts = limited(data, limit)
    assert_lossless(data, parts)
    assert [part.opaque for part in parts] == expected


def test_a_header_past_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fields, "MAX_HEADER", 100)
    long = b"X: " + b"y" * 100 + b"\n"
    data = mixed() + b"--b\nContent-Type: text/html\n" + long + b"\n1\n--b\n\n2\n--b--\n"
    parts = walk(data)
    assert_lossless(data, parts)
    assert [part.opaque for part in parts] == [None, Opaque.HEADER, None]
    assert data[slice(*parts[1].body)] == long + b"\n1"
    (message,) = walk(long + mixed() + b"--b\n\n1\n")
    assert message.opaque is Opaque.HEADER


@pytest.mark.parametrize(("more", "opaque"), [(-1, None), (0, None), (1, Opaque.HEADER)])
def test_the_limit_of_fields_of_all_headers(
    monkeypatch: pytest.MonkeyPatch, more: int, opaque: Opaque | None
) -> None:
    monkeypatch.setattr(mail, "MAX_FIELDS", 10)
    data = mixed() + b"--b\nBase: x\nBase: x\n\n" + b"\n--b\n" + b"Base: x\n" * (7 + more) + b"\n"
    parts = walk(data)
    assert_lossless(data, parts)
    assert [part.opaque for part in parts] == [None, None, opaque]


def test_the_limits_are_those_of_the_design() -> None:
    assert (MAX_DEPTH, MAX_PARTS) == (100, 10_000)


# ---- Laws

_starts = st.sampled_from(
    (mixed("a"), mixed("a"), b"Content-Type: message/rfc822\n\n" + mixed("a"), b"")
)
_lines = st.lists(
    st.sampled_from(
        (
            *(mixed("a"), mixed("b"), mixed("a--"), mixed("b", "signed"), mixed("b", "digest")),
            *(mixed("a")[:-1], b"Content-Type: message/rfc822\n\n", b"Content-Type: text/html\n\n"),
            *(
                b"--a\n",
                b"--b\n",
                b"--a--\n",
                b"--b--\n",
                b"--a----\n",
                b"--a",
                b"--b \r\n",
                b"--c\n",
            ),
            *(
                b"--a\r",
                b"--ab\n",
                b"--\n",
                b"\n",
                b"\n",
                b"\r\n",
                b"\r",
                b"text\n",
                b"X: y\n",
                b" ",
            ),
            *(b"Content-Transfer-Encoding: base64\n", b"From x\n", b"\0\xff", b"-", b"boundary=a"),
        )
    ),
    max_size=24,
).map(b"".join)
_soup = st.builds(bytes.__add__, _starts, _lines)


@given(_soup, st.sampled_from((b"\n", b"\r\n", b"\r")), st.integers(0, 5), st.integers(1, 9))
def test_every_byte_belongs_to_one_piece(
    data: bytes, eol: bytes, max_depth: int, max_parts: int
) -> None:
    data = data.replace(b"\n", eol)
    parts = limited(data, max_parts, max_depth)
    assert_lossless(data, parts)
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


def test_the_soup_has_parts() -> None:
    counts = []

    @given(_soup)
    def count(data: bytes) -> None:
        counts.append(len(walk(data)))

    count()
    assert sum(number > 1 for number in counts) > len(counts) / 5


@given(st.binary(max_size=200))
def test_any_bytes(data: bytes) -> None:
    assert_lossless(data, walk(data))


@pytest.mark.parametrize("data", [IMAP, IMAP.replace(b"\n", b"\r\n"), nested(3), forwarded(3)])
def test_any_prefix(data: bytes) -> None:
    for end in range(len(data) + 1):
        assert_lossless(data[:end], walk(data[:end]))


# ---- Time and memory


def test_the_time_does_not_grow_with_the_open_boundaries() -> None:
    body = b"\n--b\n" * 100_000

    def make(levels: int) -> bytes:
        return nested(levels) + body

    # 98 levels may cost their headers, not a search of the body each. A single boundary is
    # searched for by itself, which is faster still.
    assert_linear(walk, make, (2, 98), 3)


def test_headers_full_of_fields_need_bounded_memory() -> None:
    data = mixed() + (b"--b\n" + b"base:\n" * fields.MAX_FIELDS) * 150
    tracemalloc.start()
    try:
        parts = walk(data)
        assert tracemalloc.get_traced_memory()[1] < 48 * MEGABYTE
    finally:
        tracemalloc.stop()
    assert len(parts) == 151
    assert parts[-1].opaque is Opaque.HEADER
