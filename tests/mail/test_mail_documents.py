"""What parts hold: transfer encodings that break off, sheets without a URL, texts left alone."""

from __future__ import annotations

import base64
import email
import email.policy
from pathlib import Path
from typing import Final

import pytest
from rows import cases
from test_message import DONE, LINK, URL, reasons, rewrite

import relbase

TABLES: Final = Path(__file__).with_name("mail_documents.txt")

BASE64 = b"Content-Type: text/html\nContent-Transfer-Encoding: base64\n\n"
FOOTER = b"\n_______\nlist mailing list\nlist@h.example\n"


@cases(TABLES, "footers", text=bytes, footer=bytes, is_done=bool)
def test_base64_with_a_footer_in_the_clear(text: bytes, footer: bytes, *, is_done: bool) -> None:
    coded = base64.encodebytes(text).rstrip()
    result = rewrite(BASE64 + coded + footer)
    assert reasons(result) == ["encoding-unsupported"]
    if is_done:
        done = base64.b64encode(text.replace(LINK, DONE))
        written = result.data[len(BASE64) : len(result.data) - len(footer)]
        assert written.replace(b"\n", b"") == done
        assert result.data.endswith(footer)
        (note,) = result.notes
        assert (BASE64 + coded + footer)[slice(*note.span or ())].strip() == footer.strip()
        assert "text after its base64" in note.text
    else:
        assert not result.changed


def test_a_footer_does_not_hide_the_base() -> None:
    coded = base64.b64encode(b"<base href=/b/>" + LINK)
    result = rewrite(BASE64 + coded + FOOTER)
    assert [entity.base.url for entity in relbase.entities(BASE64 + coded + FOOTER, url=URL)] == [
        "http://h.example/b/"
    ]
    assert result.links[1].url == "http://h.example/b/x"


# ---- Pages and messages that are not called so


@cases(TABLES, "names", part=bytes, is_done=bool)
def test_pages_by_their_names(part: bytes, *, is_done: bool) -> None:
    data = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + part + b"\n--b--\n"
    assert rewrite(data).data == (data.replace(LINK, DONE) if is_done else data)
    if b"attachment" in part:
        assert not rewrite(data, policy=relbase.Policy(attachments=False)).changed


def encoded(message: bytes, depth: int, how: bytes = b"base64") -> bytes:
    for _ in range(depth):
        coded = base64.encodebytes(message) if how == b"base64" else message.replace(b"=", b"=3D")
        message = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: %b\n\n%b" % (
            how,
            coded,
        )
    return message


PAGE = b"Content-Type: text/html\nContent-Base: http://i.example/i/\n\n" + LINK


@pytest.mark.parametrize("how", [b"base64", b"quoted-printable"])
@pytest.mark.parametrize(("depth", "is_entered"), [(1, True), (3, True), (4, False)])
def test_a_message_that_is_encoded_as_a_whole(how: bytes, depth: int, *, is_entered: bool) -> None:
    data = encoded(PAGE, depth, how)
    result = rewrite(data)
    assert result.changed == is_entered
    assert reasons(result) == ([] if is_entered else ["mime-encoded"])
    if is_entered:
        assert result.links[-1].url == "http://i.example/i/x"
        assert [entity.type for entity in relbase.entities(data, kind="mail")] == (
            ["message/rfc822"] * (depth + 1)
        )
        assert not rewrite(result.data).changed
        whole = result.data
        for _ in range(depth):
            body = whole.partition(b"\n\n")[2]
            whole = base64.b64decode(body) if how == b"base64" else body
        if how == b"base64":
            assert whole == PAGE.replace(b"=x", b"=http://i.example/i/x")


def test_an_encoded_message_that_does_not_decode_is_left_alone() -> None:
    data = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + PAGE
    assert reasons(rewrite(data)) == ["mime-encoded"]


@pytest.mark.parametrize("name", ["a.eml", "A.MHT", "page.mhtml", "a.msg"])
@pytest.mark.parametrize("how", [b"7bit", b"base64", b"quoted-printable"])
@pytest.mark.parametrize("field", ["Content-Type: application/octet-stream; name=", "filename="])
def test_a_message_that_only_its_name_tells(name: str, how: bytes, field: str) -> None:
    coded = encoded(PAGE, how != b"7bit", how).partition(b"\n\n")[2] if how != b"7bit" else PAGE
    if field.startswith("f"):
        field = "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename="
    head = f'{field}"{name}"\nContent-Transfer-Encoding: {how.decode()}\n\n'.encode()
    data = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n%b%b\n--b--\n" % (head, coded)
    is_read = name != "a.msg"
    assert [link.url for link in rewrite(data).links][-1:] == ["http://i.example/i/x"] * is_read
    assert rewrite(data).changed == is_read
    kept = rewrite(data, policy=relbase.Policy(attachments=False)).changed
    assert kept == (is_read and "attachment" not in field)


# ---- What passes in silence is said

_TNEF: Final = "is winmail.dat of Outlook (TNEF) and "


@cases(TABLES, "silent", type_=str, count=int)
def test_what_is_not_looked_into_is_said_once(type_: str, count: int) -> None:
    part = f"--b\nContent-Type: {type_}\n\n[x](y)\n".encode()
    data = b"Content-Type: multipart/mixed; boundary=b\n\n" + part * 3 + b"--b--\n"
    result = rewrite(data)
    assert reasons(result) == ["kind-unsupported"] * count
    for note in result.notes:
        assert note.part == "1"
        name = {"rtf": "is Rich Text and ", "tnef": _TNEF, "Winmail": _TNEF}
        known = next((words for word, words in name.items() if word in type_), "")
        type_only = type_.partition(";")[0]
        assert note.text.startswith(f"this part ({type_only}) {known}is not read")


def test_a_page_by_its_name_is_not_spoken_of_where_attachments_are_left_alone() -> None:
    attached = (
        b"Content-Type: text/plain; name=a.html\nContent-Disposition: attachment\n\n<a href=x>"
    )
    data = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + attached + b"\n--b--\n"
    assert reasons(rewrite(data)) == ["kind-unsupported"]
    assert reasons(rewrite(data, policy=relbase.Policy(attachments=False))) == []


@cases(TABLES, "without a header", data=bytes, part=str)
def test_a_message_without_a_header_is_noted(data: bytes, part: str | None) -> None:
    """To Python's `email` too the body begins at once: nothing says that it is a page."""
    result = rewrite(data)
    assert result.data is data
    assert reasons(result) == ([] if part is None else ["kind-unsupported"])
    assert [note.part for note in result.notes] == ([] if part is None else [part])
    if data.startswith(b"\xff\xfe"):
        assert result.notes[0].span == (0, 2)


def test_a_text_signed_in_a_page_is_noted_when_it_changes() -> None:
    page = b"Content-Type: text/html\n\n<pre>-----BEGIN PGP SIGNED MESSAGE-----\n%b</pre>"
    assert reasons(rewrite(page % LINK)) == ["signature-broken"]
    assert reasons(rewrite(page % b"")) == []


BOUNDARIES = [("b", 0), ("B", 1), ("bc", 1), ("b-", 1)]


@pytest.mark.parametrize(("boundary", "count"), BOUNDARIES)
def test_a_boundary_that_stands_nowhere_is_noted(boundary: str, count: int) -> None:
    """Python's `email` calls that a StartBoundaryNotFoundDefect."""
    header = f"Content-Type: multipart/mixed; boundary={boundary}\n\n".encode()
    data = header + b"text\n--b\nContent-Type: text/html\n\n<a href=x>\n--b--\n"
    parsed = email.message_from_bytes(data, policy=email.policy.default)
    assert len(parsed.defects) >= count
    result = rewrite(data)
    assert (result.changed, reasons(result)) == (not count, ["mime-boundary"] * count)
    nested = b"Content-Type: multipart/mixed; boundary=z\n\n--z\n" + data + b"\n--z--\n"
    assert [(note.part, note.reason.value) for note in rewrite(nested).notes] == (
        [("1", "mime-boundary")] * count
    )
    assert reasons(rewrite(header)) == []


def test_what_only_a_document_links_is_on_its_base() -> None:
    data = (Path(__file__).parents[2] / "fixtures/mail/mhtml-chromium-linked.eml").read_bytes()
    found = [entity.base.url for entity in relbase.entities(data)]
    own = ["http://h.example/p", "http://h.example/css/s"]
    assert found[2:] == ["http://h.example/e/"] * 3 + own


@pytest.mark.parametrize("how", ["utf-16", "utf-16le", "utf-16be"])
def test_a_page_that_is_said_to_be_in_utf_16_and_is_not_is_noted(how: str) -> None:
    """Read as it says it has no tag, to browsers too; without a word its links would be lost."""
    header = f"Content-Type: text/html; charset={how}\n\n".encode()
    result = rewrite(header + LINK)
    assert (result.changed, reasons(result)) == (False, ["charset-unsupported"])
    page = LINK.decode().encode(how)
    result = rewrite(header.replace(b"\n\n", b"\nContent-Transfer-Encoding: binary\n\n") + page)
    assert (result.changed, reasons(result)) == (True, [])
    assert reasons(rewrite(header)) == []


# ---- disputed encodings

_DISPUTED: Final = "encoding-disputed"


@pytest.mark.parametrize(
    "encoding", ["quoted-printable;", '"quoted-printable"', "Quoted-Printable,"]
)
@cases(TABLES, "disputed", body=bytes, expected=bytes)
def test_what_only_some_decode_is_edited_so_that_all_show_it_alike(
    encoding: str, body: bytes, expected: bytes
) -> None:
    head = b"Content-Type: text/html\nContent-Transfer-Encoding: %b\n\n" % encoding.encode()
    result = relbase.rewrite(head + body, url="http://h/", kind="mail")
    assert result.data == head + expected
    assert [note.reason.value for note in result.notes] == [_DISPUTED]
    written = [link for link in result.links if link.status is relbase.Status.REWRITTEN]
    assert len(written) == len(result.edits)
    assert relbase.rewrite(result.data, url="http://h/", kind="mail").data == result.data


def test_an_edit_that_would_write_an_escape_is_left_out() -> None:
    head = b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable;\n\n"
    result = relbase.rewrite(head + b'<a href=3D"x">', url="http://h/?a=b", kind="mail")
    assert result.data == head + b'<a href=3D"http://h/x">'
    page = b'<a href=3D";x"><a href=3D"http://h/y">'
    result = relbase.rewrite(head + page, url="http://h/a=b/", kind="mail")
    assert not result.changed
    assert [link.status.value for link in result.links] == ["kept", "absolute"]
    # a line that LF alone ends, in a message of CRLF
    mixed = head.replace(b"\n", b"\r\n") + b"<a href=3Dx>\n" + page + b"\r\n"
    result = relbase.rewrite(mixed, url="http://h/a=b/", kind="mail")
    statuses = [link.status.value for link in result.links]
    assert statuses == ["rewritten", "kept", "absolute"]


def test_base64_that_only_some_decode_is_listed_and_stays() -> None:
    encoded = base64.b64encode(b"<a href=x>")
    data = b"Content-Type: text/html\nContent-Transfer-Encoding: base64;\n\n" + encoded
    result = relbase.rewrite(data, url="http://h/", kind="mail")
    assert result.data is data
    assert [(link.url, link.status) for link in result.links] == [
        ("http://h/x", relbase.Status.KEPT)
    ]
    assert [note.reason.value for note in result.notes] == [_DISPUTED]


# ---- HTML in invitations: X-ALT-DESC of text/calendar

DIRECTORY: Final = "http://h/d/"
INVITATION: Final = b"Content-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\n"


@cases(TABLES, "invitations", line=bytes, expected=bytes)
def test_descriptions(line: bytes, expected: bytes | None) -> None:
    data = INVITATION + line + b"\nEND:VCALENDAR\n"
    result = relbase.rewrite(data, url=DIRECTORY, kind="mail")
    after = line if expected is None else expected % DIRECTORY.encode()
    assert result.data == INVITATION + after + b"\nEND:VCALENDAR\n"
    assert result.notes == ()
    assert [link.url for link in result.links] == [
        f"{DIRECTORY}x{',y' if b'y' in line else ''}" for _ in range(expected is not None)
    ]
    for link in result.links:
        assert data[slice(*link.span)].startswith(b"x")


def test_a_base_with_what_text_escapes() -> None:
    data = INVITATION + b'X-ALT-DESC;FMTTYPE=text/html:<a href="x">\n'
    result = relbase.rewrite(data, url="http://h/a,b/", kind="mail")
    assert result.data == data.replace(b'"x', b'"http://h/a\\,b/x')
    assert relbase.rewrite(result.data, url="http://h/a,b/", kind="mail").data == result.data


def test_a_calendar_in_another_charset_stays_with_a_note() -> None:
    data = INVITATION.replace(b"text/calendar", b"text/calendar; charset=koi8-r")
    data += b"X-ALT-DESC;FMTTYPE=text/html:\xc1<a href=x>\n"
    result = relbase.rewrite(data, url=DIRECTORY, kind="mail")
    assert not result.changed
    assert [note.reason.value for note in result.notes] == ["charset-unsupported"]


# ---- AMP: in the part of its type, whatever its root, and in a part whose root says it


@pytest.mark.parametrize(
    ("type_", "root", "is_amp"),
    [
        ("text/x-amp-html", "<html ⚡4email>", True),
        ('TEXT/X-AMP-HTML; charset="utf-8"', "<p>", True),
        ("text/html", "<html amp4email>", True),
        ("text/html", "<html>", False),
        ("text/html", "<html ⚡4ads>", False),
    ],
)
def test_amp(type_: str, root: str, is_amp: bool) -> None:  # noqa: FBT001
    amp = f"{root}<amp-img src=x></amp-img><form action-xhr=/y>"
    encoded = base64.b64encode(amp.encode()).decode()
    mail = (
        'Content-Type: multipart/alternative; boundary="b"\n\n'
        "--b\nContent-Type: text/plain\n\ntext\n"
        f"--b\nContent-Type: {type_}\nContent-Transfer-Encoding: base64\n\n{encoded}\n"
        "--b\nContent-Type: text/html\n\n<amp-img src=x></amp-img><a href=z>\n--b--\n"
    )
    for data in (mail, f"From a@b Thu Jan  1 00:00:00 1970\n{mail}\n"):
        listed = [link.url for link in relbase.links(data.encode(), url=DIRECTORY)]
        assert listed == [DIRECTORY + "x", "http://h/y"] * is_amp + [DIRECTORY + "z"]
        again = relbase.rewrite(data.encode(), url=DIRECTORY).data
        assert {link.status for link in relbase.links(again)} == {relbase.Status.ABSOLUTE}
