"""Threat M8: what relbase says of signatures is what dkimpy finds (RFC 6376, RFC 8617)."""

from base64 import b64encode
from functools import cache
from itertools import product
from typing import Final

import pytest

pytest.importorskip("dkim", reason="dkim: extra `ci`")
import dkim
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

import relbase
from relbase import Policy, Result

SELECTOR: Final = b"test"
DOMAIN: Final = b"h.example"
URL: Final = "http://h.example/d/p.html"


@cache
def key() -> tuple[bytes, bytes]:
    """A private key, and the public one as a name server has it."""
    made = rsa.generate_private_key(65537, 1024)
    private = made.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    public = made.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return private, b64encode(public)


def lookup(name: bytes, timeout: int = 5) -> bytes:
    """What the domain's name server would say."""
    del timeout
    assert name.startswith(SELECTOR + b"._domainkey." + DOMAIN)
    return b"v=DKIM1; k=rsa; p=" + key()[1]


def signed(message: bytes, **how: object) -> bytes:
    field = dkim.sign(message, SELECTOR, DOMAIN, key()[0], **how)
    assert isinstance(field, bytes)
    return field.replace(b"\r\n", eol_of(message)) + message


def sealed(message: bytes) -> bytes:
    results = b"Authentication-Results: h.example; spf=pass smtp.mailfrom=a@h.example"
    message = results + eol_of(message) + message
    fields = dkim.arc_sign(message, SELECTOR, DOMAIN, key()[0], DOMAIN)
    return b"".join(fields).replace(b"\r\n", eol_of(message)) + message


def eol_of(message: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in message else b"\n"


def holds(message: bytes) -> bool:
    verified = dkim.verify(message, dnsfunc=lookup)
    assert isinstance(verified, bool)
    return verified


def chain_holds(message: bytes) -> bool:
    verdict, _, _ = dkim.arc_verify(message, dnsfunc=lookup)
    return bool(verdict == dkim.CV_Pass)


def rewrite(message: bytes, *, dkim_signed: bool = True) -> Result:
    policy = Policy(dkim_signed=dkim_signed)
    return relbase.rewrite(message, kind="mail", url=URL, policy=policy)


def remarks(result: Result) -> list[str]:
    return [note.text for note in result.notes if note.reason.value == "signature-broken"]


# ---- messages

HEADER: Final = (
    b"From: a@h.example\nTo: b@h.example\nSubject: x\nDate: Sat, 21 Nov 2026 12:00:00 +0000\n"
    b"Message-Id: <1@h.example>\nMIME-Version: 1.0\n"
)
HTML: Final = b"Content-Type: text/html; charset=utf-8\n"
QP: Final = b"Content-Transfer-Encoding: quoted-printable\n"
RELATIVE: Final = HEADER + HTML + b"\n<p>text \t and  text \n\n<a href=x>x</a>\n\n\n"
ABSOLUTE: Final = HEADER + HTML + b"\n<a href=http://h.example/>x</a>\n"
MULTIPART: Final = (
    HEADER
    + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n"
    + HTML
    + QP
    + b"\n<a href=3Dx>x</a>=20\n\n--b\nContent-Location: y\n\n\n--b--\n"
)

FORMS: Final = tuple(product((b"simple", b"relaxed"), repeat=2))


@pytest.mark.parametrize("canonicalize", FORMS)
@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
@pytest.mark.parametrize("message", [RELATIVE, MULTIPART])
def test_a_changed_body_breaks_the_signature_and_is_remarked(
    message: bytes, eol: bytes, canonicalize: tuple[bytes, bytes]
) -> None:
    message = signed(message.replace(b"\n", eol), canonicalize=canonicalize)
    assert holds(message)
    result = rewrite(message)
    assert result.changed
    assert not holds(result.data)
    expected = "the message is signed (dkim-signature), and the signature no longer holds"
    assert remarks(result) == [expected]


@pytest.mark.parametrize("message", [signed(ABSOLUTE), sealed(ABSOLUTE)], ids=["DKIM", "ARC"])
def test_what_holds_nothing_relative_holds_afterwards(message: bytes) -> None:
    result = rewrite(message)
    assert result.data is message
    assert remarks(result) == []
    assert holds(message) or chain_holds(message)


@pytest.mark.parametrize(
    "message",
    [signed(RELATIVE), signed(MULTIPART), sealed(RELATIVE)],
    ids=["DKIM", "of parts", "ARC"],
)
def test_signed_messages_can_be_left_alone(message: bytes) -> None:
    result = rewrite(message, dkim_signed=False)
    assert result.data is message
    assert remarks(result) == []
    assert holds(message) or chain_holds(message)
    assert rewrite(message).changed


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_a_changed_body_breaks_the_chain_of_seals(eol: bytes) -> None:
    message = sealed(sealed(RELATIVE.replace(b"\n", eol)))
    assert chain_holds(message)
    result = rewrite(message)
    assert not chain_holds(result.data)
    expected = "the message is signed (arc-message-signature), and the signature no longer holds"
    assert remarks(result) == [expected]


# ---- signatures over fields alone (RFC 6376 §5.4)

LOCATED: Final = HEADER + b"Content-Location: x\nContent-Location: y\nList-Help: <z>\n\ntext\n"
FROM: Final = [b"from"]


@pytest.mark.parametrize("canonicalize", FORMS)
@pytest.mark.parametrize(
    ("names", "breaks"),
    [
        ([], False),
        ([b"subject"], False),
        ([b"list-help"], True),
        ([b"LIST-HELP", b"subject"], True),
        # The last one of a name is the first that is covered: both are edited
        ([b"content-location"], True),
        # As many as are named; to name more says that there are no more
        ([b"content-location"] * 2, True),
        ([b"content-location"] * 3, True),
    ],
)
def test_a_changed_field_breaks_a_signature_that_covers_it(
    names: list[bytes], canonicalize: tuple[bytes, bytes], *, breaks: bool
) -> None:
    message = signed(LOCATED, include_headers=FROM + names, canonicalize=canonicalize)
    assert holds(message)
    result = rewrite(message)
    assert result.changed
    assert holds(result.data) is not breaks
    assert len(remarks(result)) == breaks


@pytest.mark.parametrize(("count", "breaks"), [(0, False), (1, False), (2, True), (3, True)])
def test_fields_are_covered_from_the_last_one_on(count: int, *, breaks: bool) -> None:
    data = HEADER + b"List-Help: <x>\nList-Help: <http://h.example/>\n\ntext\n"
    message = signed(data, include_headers=FROM + [b"list-help"] * count)
    result = rewrite(message)
    assert result.changed
    assert holds(result.data) is not breaks
    assert len(remarks(result)) == breaks


def test_a_field_that_is_sealed() -> None:
    message = sealed(LOCATED.replace(b"List-Help", b"List-Post"))
    assert chain_holds(message)
    result = rewrite(message)
    assert result.changed
    assert chain_holds(result.data) is not bool(remarks(result))


# ---- `l=` (RFC 6376 §3.5): what follows the octets that it counts is not covered


@pytest.mark.parametrize("canonicalize", FORMS)
@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
def test_every_length_of_the_signed_part(
    eol: bytes, canonicalize: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b"<p>text \t and  text \n \n\n<a href=x>\nmore\n"
    message = (HEADER + HTML + b"\n" + body).replace(b"\n", eol)
    outcomes = set()
    for size in range(len(body) + 1):
        with monkeypatch.context() as patched:
            cut_bodies(patched, size)
            made = signed(message, canonicalize=canonicalize, length=True)
        assert holds(made)
        result = rewrite(made)
        after = holds(result.data)
        assert after is not bool(remarks(result)), f"l={size}"
        outcomes.add(after)
    assert outcomes == {True, False}


def cut_bodies(patched: pytest.MonkeyPatch, size: int) -> None:
    """Let dkimpy sign the first octets of the canonical body: its own `l=` counts all of them."""
    whole = dkim.CanonicalizationPolicy.canonicalize_body
    patched.setattr(
        dkim.CanonicalizationPolicy,
        "canonicalize_body",
        lambda form, body: whole(form, body)[:size],
    )


# ---- messages in messages


def test_a_signed_message_that_is_forwarded() -> None:
    inner = signed(RELATIVE)
    message = HEADER + b"Content-Type: message/rfc822\n\n" + inner
    result = rewrite(message)
    (remark,) = remarks(result)
    assert remark.startswith("this part is signed")
    assert not holds(result.data.partition(b"message/rfc822\n\n")[2])
    left = rewrite(message, dkim_signed=False)
    assert left.data is message
