"""What parts say under their transfer encoding: the same references, and what becomes of them."""

from __future__ import annotations

import email
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Final

from relbase import Status, links, rewrite
from relbase.edit import splice
from relbase.mail.mbox import decoded_in_mbox
from relbase.mail.message import decoded_in_mail
from relbase.session.session import check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.mail.documents import DecodedBody

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
URL: Final = "http://h.example/d/p.html"
# Where Python's email decodes otherwise, and why.
PYTHON_DIFFERS: Final = {
    "encoding-ambiguous": "it does not decode what has quotes around its encoding",
    "base64-unreadable": "it reads on after the end of base64",
    "encoding-unknown": "it reads no encoding that has a comment after it",
    "line-ends-cr-qp": "to it a CR alone ends no line",
    "qp-illegal": "it drops a lone = at the end of all",
    "qp-short-lines": "it keeps blanks at the end of a line (RFC 2045 §6.7 rule 3)",
}
QP: Final = b"""Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html; charset=iso-8859-1
Content-Transfer-Encoding: Quoted-Printable

<p>caf=E9</p><base href=3D/x/><a href=3D"a=
b">
--b
Content-Type: text/plain
Content-Transfer-Encoding: base64

PGEgaHJlZj14Pg==
--b
Content-Type: text/html

<a href=c>
--b--
"""


def decoded(data: bytes, url: str | None = URL) -> Iterator[DecodedBody]:
    document = check(url=url, kind="mail").opened(data).document
    return decoded_in_mail(data, document.context)


def spelled(body: DecodedBody) -> list[str]:
    label = body.label or "utf-8"
    places = zip(body.spans[::2], body.spans[1::2], strict=True)
    return [
        unescape(body.inner[start:end].decode(label, "replace")).strip() for start, end in places
    ]


def test_a_document_is_as_it_decodes() -> None:
    [one] = decoded(QP)
    assert (one.part, one.encoding, one.label) == ("1", "quoted-printable", "iso-8859-1")
    assert one.inner == b'<p>caf\xe9</p><base href=/x/><a href="ab">'
    assert QP[one.span.start : one.span.end].startswith(b"<p>caf=E9")
    assert spelled(one) == ["/x/", "ab"]
    assert splice(one.inner, one.edits) == (
        b'<p>caf\xe9</p><base href=http://h.example/x/><a href="http://h.example/x/ab">'
    )


def test_in_an_mbox_parts_have_the_numbers_of_their_messages() -> None:
    data = b"".join(b"From a@b Thu Jan  1 00:00:00 2015\n%b\n" % QP for _ in range(2))
    document = check(url=URL, kind="mbox").opened(data).document
    found = list(decoded_in_mbox(data, document.context))
    assert [one.part for one in found] == ["1/1", "2/1"]
    assert all(data[one.span.start :].startswith(b"<p>caf=E9") for one in found)


def test_it_agrees_with_links_with_the_rewriting_and_with_pythons_email() -> None:
    compared = changed = 0
    for path in sorted((FIXTURES / "mail").glob("*.eml")):
        data = path.read_bytes()
        payloads = {
            part.get_payload(decode=True).strip()  # type: ignore[union-attr]
            for part in email.message_from_bytes(data).walk()
            if not part.is_multipart()
        }
        result = rewrite(data, url=URL, kind="mail")
        after = {one.part: one for one in decoded(result.data)}
        listed = list(links(data, url=URL, kind="mail"))
        for one in decoded(data):
            own = [
                link
                for link in listed
                if link.part == one.part and one.span.start <= link.span.start < one.span.end
            ]
            if 2 * len(own) != len(one.spans):  # the message is left alone as a whole
                assert not own
                continue
            compared += len(own)
            assert spelled(one) == [link.reference for link in own], path
            if path.name.partition(".")[0] not in PYTHON_DIFFERS:
                assert one.inner.strip() in payloads, path
            if any(link.status is Status.REWRITTEN for link in own):
                changed += 1
                assert splice(one.inner, one.edits) == after[one.part].inner, path
    assert compared > 30
    assert changed > 10
