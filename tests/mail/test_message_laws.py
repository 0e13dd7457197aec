"""The laws of a rewriting, on messages that a grammar makes."""

from __future__ import annotations

import base64
import email
import email.policy
import quopri
import re
from operator import attrgetter
from typing import TYPE_CHECKING, Final

import laws
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import Call
from strategies import HOSTILE, PLAIN, pages
from test_message import URL

import relbase
from relbase.containers.mail import walk

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message

    from relbase import Link, Result

_hosts: Final = st.sampled_from(
    (
        *("http://m.example/m/", "sub/", "/abs/", "../", "mailto:a@b", ""),
        "http://x.example/--b0/From /",
    )
)
_base_fields: Final = st.builds(
    "{}: {}\n".format,
    st.sampled_from(("Base", "Content-Base", "Content-Location", "content-LOCATION")),
    st.builds(
        lambda form, host: form.format(host),  # PyPy has no code of str.format to be looked at
        st.sampled_from(("{}", "<URL:{}>", '"{}"', "<\n {}>", "<URL:{}>")),
        _hosts,
    ),
)
_reference_fields: Final = st.sampled_from(
    (
        "Link: <x>; rel=y, <http://h.example/>\n",
        "List-Unsubscribe: <mailto:a@b>,\n\t<../leave\n  /now>\n",
        "Archived-At: <a/b>\n",
        "List-Help: (a <b>, c) <../a/\n b> (d\n e), <a(b)>\n",
        'Link: <?q>; rel="a, <b>",\n <#f>\n',
        'Refresh: 0;url="x" y\n',
        "Refresh: 5; url='x'\n",
        "Content-Location: =?utf-8?Q?x=C3=A9?=\n",
        "Location: Room 5\n",
        "Subject: <x>\n",
        "DKIM-Signature: x\n",
        "Content-Length: 3\n",
        "Lines: 0\n",
    )
)
_headers: Final = st.lists(st.one_of(_base_fields, _reference_fields), max_size=3).map("".join)


def _qp(text: bytes) -> bytes:
    return quopri.encodestring(text)


def _short_lines(text: bytes) -> bytes:
    return re.sub(rb"(.{55})", rb"\1=\n", text.replace(b"=", b"=3D"))


_encodings: Final[dict[str, Callable[[bytes], bytes]]] = {
    "7bit": bytes,
    "8bit": bytes,
    "binary": bytes,
    "quoted-printable": _qp,
    "Quoted-Printable": _short_lines,
    "base64": base64.encodebytes,
    "BASE64": lambda text: re.sub(rb"(.{10})", rb"\1\n", base64.b64encode(text)),
}
_styles: Final = st.sampled_from((b"a{b:url(x)}", b"@import 'x';", b"--b0: url(/x);"))


@st.composite
def leaf(draw: st.DrawFn) -> bytes:
    """Draw a part without parts, most often HTML."""
    type_ = draw(
        st.sampled_from(("text/html", "text/html; charset=utf-8", "text/css", "text/plain"))
    )
    text = draw(_styles if type_ == "text/css" else pages)
    encoding = draw(st.sampled_from(sorted(_encodings)))
    header = f"Content-Type: {type_}\nContent-Transfer-Encoding: {encoding}\n{draw(_headers)}\n"
    return header.encode() + _encodings[encoding](text)


@st.composite
def entity(draw: st.DrawFn, depth: int = 0) -> bytes:
    """Draw a leaf, a multipart or a message in a message."""
    kind = draw(st.sampled_from(("leaf", "multipart", "multipart", "message")[: 4 - depth]))
    header = draw(_headers).encode()
    if kind == "leaf":
        return draw(leaf())
    if kind == "message":
        return b"Content-Type: message/rfc822\n" + header + b"\n" + draw(entity(depth + 1))
    subtype = draw(st.sampled_from((b"related", b"mixed", b"alternative", b"signed")))
    parts = draw(st.lists(entity(depth + 1), min_size=1, max_size=3))
    delimiter = b"\n--b%d\n" % depth
    return (
        b"Content-Type: multipart/%b; boundary=b%d\n%b\n" % (subtype, depth, header)
        + b"text"
        + delimiter
        + delimiter.join(parts)
        + b"\n--b%d--\n" % depth
    )


message: Final = st.builds(
    lambda text, eol: text.replace(b"\n", eol), entity(), st.sampled_from((b"\n", b"\n", b"\r\n"))
)
calls: Final = st.fixed_dictionaries(
    {
        "url": st.sampled_from((None, None, PLAIN, PLAIN, *HOSTILE)),
        "profile": st.sampled_from(relbase.Profile),
        "kind": st.just("mail"),
    }
)


def law_4_the_links_after_are_the_links_before(data: bytes, call: Call, result: Result) -> None:
    laws.assert_links_alike(comparable(data, call), comparable(result.data, call))


def comparable(data: bytes, call: Call) -> list[Link]:
    """Return the links but those of import maps, of which the absolute ones are not listed."""
    return [link for link in relbase.links(data, **call) if link.syntax != "import map"]


def law_6_any_prefix(data: bytes, call: Call, _: Result) -> None:
    for prefix in laws.prefixes(data):
        assert len(relbase.rewrite(prefix, **call).links) >= 0
        assert len(list(relbase.entities(prefix, **call))) >= 1


def law_7_the_decoded_bytes_at_a_span_contain_the_reference(
    data: bytes, _: Call, result: Result
) -> None:
    parts = walk(data)
    previous = (0, 0)
    for link in result.links:
        start, end = link.span
        assert previous <= (start, end) <= (len(data), len(data))
        previous = (start, end)
        if re.search(r"[^!-~]|&", link.reference) or not link.element:
            continue
        part = next(part for part in reversed(parts) if part.body.start <= start)
        raw = data[start:end]
        if part.encoding == "base64":
            raw = base64.b64decode(b"".join(raw.split()))
        elif part.encoding == "quoted-printable":
            raw = quopri.decodestring(raw)
        if not re.search(rb"[&\\\r\n\0\x80-\xff]", raw):
            assert link.reference in raw.decode()


def tree(data: bytes) -> list[tuple[str, list[str], bytes]]:
    """Return what `email` sees: types, names of fields, and payloads of what is not a document."""
    parsed = email.message_from_bytes(data, policy=email.policy.compat32)
    return [(part.get_content_type(), part.keys(), _other(part)) for part in parsed.walk()]


def _other(part: Message) -> bytes:
    payload = part.get_payload(decode=True)
    is_document = part.get_content_type() in {"text/html", "text/css"}
    return b"" if is_document or not isinstance(payload, bytes) else payload


def law_8_email_sees_the_same_tree_and_fields(data: bytes, _: Call, result: Result) -> None:
    before, after = walk(data), walk(result.data)
    stated = attrgetter("number", "parent", "type", "charset", "encoding", "disputed")
    assert list(map(stated, before)) == list(map(stated, after))
    for one, other in zip(before, after, strict=True):
        assert [field.name for field in one.header.fields] == [
            field.name for field in other.header.fields
        ]
        assert (one.opaque, one.message, one.multipart is None) == (
            other.opaque,
            other.message,
            other.multipart is None,
        )
    assert tree(data) == tree(result.data)


LAWS: Final = (
    laws.law_2_outside_of_the_edits_every_byte_is_the_same,
    laws.law_3_a_second_rewriting_changes_nothing,
    law_4_the_links_after_are_the_links_before,
    law_6_any_prefix,
    law_7_the_decoded_bytes_at_a_span_contain_the_reference,
    law_8_email_sees_the_same_tree_and_fields,
)


def test_laws_of_messages() -> None:
    laws.check(LAWS, message, calls, 100)


def test_law_6_any_lines() -> None:
    words = (
        *("Content-Type: ", "multipart/mixed", "; boundary=b", "--b", "--", "\n", "\r", "\n\n"),
        *("message/rfc822", "text/html", "<a href=x>", "=", "=3D", "From ", "Base: x/", "\0", "é"),
        *("Content-Transfer-Encoding: ", "base64", "quoted-printable", "PGEgaHJlZj14Pg==", '"'),
        *("(", " "),
    )

    @settings(max_examples=400)
    @given(
        st.lists(st.sampled_from(words), max_size=25).map("".join),
        st.sampled_from((relbase.Kind.MAIL, relbase.Kind.MBOX)),
    )
    def law(text: str, kind: relbase.Kind) -> None:
        data = text.encode()
        result = relbase.rewrite(data, url=URL, kind=kind)
        assert relbase.rewrite(result.data, url=URL, kind=kind).data is result.data
        assert len(list(relbase.entities(data, url=URL, kind=kind))) >= (kind is relbase.Kind.MAIL)

    law()
