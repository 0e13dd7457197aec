"""Messages and mailboxes: bases down the tree, limits, signatures, and laws on drawn messages."""

from __future__ import annotations

import base64
import email
import email.policy
import quopri
import re
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import laws
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import Call
from strategies import HOSTILE, PLAIN, pages

import relbase
from relbase.containers import fields, mail
from relbase.containers.mail import walk
from relbase.mail.parts import MAX_BASE, MAX_STATED_BASE

if TYPE_CHECKING:
    from collections.abc import Callable
    from email.message import Message

    from relbase import Link, Result

URL: Final = "http://h.example/d/p.html"
HTML: Final = b"Content-Type: text/html\n"
LINK: Final = b"<a href=x>"
DONE: Final = b"<a href=http://h.example/d/x>"


def rewrite(data: bytes, **call: Any) -> Result:
    return relbase.rewrite(data, **({"url": URL, "kind": "mail"} | call))


def reasons(result: Result) -> list[str]:
    return [note.reason.value for note in result.notes]


# ---- Bases


def test_the_tree_of_entities() -> None:
    data = (
        b"Base: <URL:http://a.example/>\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\nContent-Type: message/rfc822\nContent-Base: http://b.example/\n\n"
        b"Content-Type: multipart/mixed; boundary=c\n\n"
        b"--c\nContent-Type: text/html\n\n<base href=c/>\n--c--\n"
        b"--b\nContent-Location: y/z\nContent-Type: text/css\n\n"
        b"--b\nContent-Base: mailto:x\n\n--b--"
    )
    found = list(relbase.entities(data, kind="mail"))
    assert [(one.part, one.type, one.base.url, one.base.source) for one in found] == [
        ("", "message/rfc822", "http://a.example/", "Base of the message"),
        ("1", "message/rfc822", "http://b.example/", "Content-Base of part 1"),
        ("1", "multipart/mixed", "http://b.example/", "Content-Base of part 1"),
        ("1.1", "text/html", "http://b.example/c/", "<base href> at 1:12 of part 1.1"),
        ("2", "text/css", "http://a.example/y/z", "Content-Location of part 2"),
        ("3", "text/plain", "http://a.example/", "Base of the message"),
    ]
    layers = ["embedded", "embedded", "entity", "embedded", "entity", "entity"]
    assert [one.base.layer.value for one in found] == layers
    assert found[3].base.outer == found[2].base
    assert [note.reason.value for note in found[5].base.refused] == ["base-unsuitable"]
    for one in found[1:]:
        assert found[0].span.start <= one.span.start <= one.span.end <= found[0].span.end


def test_for_references_in_a_header_its_own_base_is_embedded() -> None:
    """RFC 1808 §3.1: the message is the document, and its header a part of that."""
    data = (
        b"Base: <URL:http://a.example/>\nLink: <x>\nContent-Type: multipart/mixed; boundary=b\n\n"
        b"--b\nLink: <x>\n\n--b\nContent-Location: y/\nLink: <x>\n\n--b--"
    )
    found = list(relbase.links(data, kind="mail"))
    assert [(one.part, one.attribute, one.url, one.base.layer.value) for one in found] == [
        ("", "base", "http://a.example/", "none"),
        ("", "link", "http://a.example/x", "embedded"),
        ("1", "link", "http://a.example/x", "entity"),
        ("2", "content-location", "http://a.example/y/", "entity"),
        ("2", "link", "http://a.example/y/x", "embedded"),
    ]


# (the fields of a part, what becomes of them): a base is made absolute as a `<base>` is. The
# message around is on http://h.example/d/p.html.
BASES: Final = [
    (b"Base: <URL:e/> (c)\n", b"Base: <URL:http://h.example/d/e/> (c)\n"),
    (b'Content-Base: "/e/"\n', b'Content-Base: "http://h.example/e/"\n'),
    # Neither is a base of the other; the second does not count.
    (
        b"Content-Base: f/\nBase: e/\n",
        b"Content-Base: http://h.example/d/f/\nBase: http://h.example/d/e/\n",
    ),
    (
        b"Content-Location: f/g\nBase: e/\n",
        b"Content-Location: http://h.example/d/e/f/g\nBase: http://h.example/d/e/\n",
    ),
    (b"Base: http://h.example/d/\n", b"Base: http://h.example/d/\n"),
    (b"Base: <URL:e/\n", b"Base: <URL:e/\n"),  # refused
]


@pytest.mark.parametrize(("fields", "expected"), BASES)
def test_a_relative_base_is_made_absolute(fields: bytes, expected: bytes) -> None:
    message = b"Content-Type: multipart/mixed; boundary=b\n\n--b\n%b\ntext\n--b--\n"
    assert rewrite(message % fields).data == message % expected


def test_a_base_that_is_not_a_url_is_refused_with_a_note() -> None:
    result = rewrite(b"Base: <URL:http://a.example/\n" + HTML + b"\n" + LINK)
    assert result.base.url == URL
    assert reasons(result) == ["base-unparsable"]
    assert "'<URL:http://a.example/' is not one URL" in result.notes[0].text


def test_the_base_of_a_message_in_a_message_is_not_its_own() -> None:
    """Both have the same number: IMAP counts a multipart as the text of its message."""
    data = (
        b"Content-Type: message/rfc822\nContent-Base: http://a.example/\n\n"
        b"Content-Type: multipart/mixed; boundary=b\nLink: <x>\n\n--b--"
    )
    stated, link = relbase.links(data, kind="mail")
    assert (stated.attribute, stated.status.value) == ("content-base", "absolute")
    assert (link.url, link.base.layer.value) == ("http://a.example/x", "entity")


SNAPSHOT: Final = b"Snapshot-Content-Location: http://s.example/p\n" + HTML + b"\n" + LINK

# (call, the base): what the caller says counts before a mark in the file
SNAPSHOTS: Final = [
    ({"url": None}, "http://s.example/p"),
    ({"url": URL}, URL),
    ({"url": None, "detect": False}, ""),
    ({"url": None, "headers": {"Content-Base": "http://t.example/"}}, "http://t.example/"),
]


@pytest.mark.parametrize(("call", "base"), SNAPSHOTS)
def test_a_mark_of_chromium_is_a_retrieval_url(call: dict[str, Any], base: str) -> None:
    assert rewrite(SNAPSHOT, **call).base.url == base


def test_a_mark_that_names_a_file_is_refused() -> None:
    """Threat A7: a link must not tell where the page was saved."""
    data = b"Snapshot-Content-Location: file:///home/alice/p.html\n" + HTML + b"\n" + LINK
    result = rewrite(data, url=None)
    assert result.data is data
    assert sorted(reasons(result)) == ["base-none", "base-unsuitable"]
    assert [note.reason.value for note in result.base.refused] == ["base-unsuitable"]


def test_a_mark_counts_in_the_outermost_header_only() -> None:
    data = b"Content-Type: message/rfc822\n\n" + SNAPSHOT
    assert rewrite(data, url=None).data is data


@pytest.mark.parametrize("length", [-1, 0, 1])
def test_bases_have_a_greatest_length(length: int) -> None:
    """That of a base that is stated, and of one that another may be relative to."""
    base = "http://b.example/".ljust(MAX_STATED_BASE + length - 1, "d") + "/"
    result = rewrite(b"Base: %b\n%b\n%b" % (base.encode(), HTML, LINK))
    assert result.base.url == (URL if length > 0 else base)
    assert ("base-unsuitable" in reasons(result)) == (length > 0)
    url = "http://b.example/".ljust(MAX_BASE + length - 1, "d") + "/"
    result = rewrite(b"Content-Base: sub/\n%b\n%b" % (HTML, LINK), url=url)
    assert result.base.url == (url if length > 0 else url + "sub/")
    assert ("base-unsuitable" in reasons(result)) == (length > 0)
    assert ("base-relative" in reasons(result)) == (length <= 0)


# ---- Limits at N-1, N, N+1


def test_notes_have_the_number_of_their_part() -> None:
    data = (
        b"Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: application/xhtml+xml\n\n"
        b"<p xml:base='x'>\n--b\nContent-Type: text/html\n"
        b"Content-Transfer-Encoding: x\n\n<p>\n--b\n"
        b"Content-Type: message/rfc822\n\nLink: <%b>\nContent-Type: text/xml\n\n"
        b"<p xml:base='x'>\n--b--\n" % (b"x" * 990)
    )
    noted = [
        (note.part, note.reason.value)
        for note in relbase.rewrite(data, url="http://h/", kind="mail").notes
    ]
    assert noted == [
        ("1", "xml-unsound"),
        ("2", "encoding-unsupported"),
        ("3.1", "line-length"),
        ("3.1", "xml-unsound"),
    ]
    mbox = b"From a@b Sat Nov 21 12:00:00 2026\n" + data
    parts = [note.part for note in relbase.rewrite(mbox, url="http://h/", kind="mbox").notes]
    assert parts == [f"1/{part}" for part, _ in noted]


def test_what_a_line_has_no_room_for_is_not_listed_as_rewritten() -> None:
    """`--<a href=x>` would become the delimiter of the multipart around it."""
    boundary = b"<a href=http://h/x>"
    data = (
        b'Content-Type: multipart/mixed; boundary="%b"\n\n--%b\nContent-Type: text/html\n\n'
        b"<a href=v>\n--<a href=x>\n<a href=y>\n--%b--\n" % (boundary, boundary, boundary)
    )
    result = relbase.rewrite(data, url="http://h/", kind="mail")
    assert b"<a href=http://h/v>\n--<a href=x>\n<a href=http://h/y>\n" in result.data
    listed = [(link.reference, link.status.value) for link in result.links]
    assert listed == [("v", "rewritten"), ("x", "kept"), ("y", "rewritten")]
    assert [note.reason.value for note in result.notes] == ["mime-boundary"]


def multiparts(depth: int) -> bytes:
    heads = (b"Content-Type: multipart/x; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(depth))
    return b"".join(heads) + HTML + b"\n" + LINK


def parts(count: int) -> bytes:
    """The message itself is one of them."""
    end = b"--b\n" + HTML + b"\n" + LINK + b"\n--b--\n"
    return b"Content-Type: multipart/mixed; boundary=b\n\n" + b"--b\n\n\n" * (count - 2) + end


class Limit(NamedTuple):
    make: Callable[[int], bytes]  # a message of a size
    module: Any
    name: str
    reason: str
    lowered: int | None = None  # for the test


LIMITS: Final = [
    Limit(multiparts, mail, "MAX_DEPTH", "limit-mime-depth"),
    Limit(
        lambda depth: b"Content-Type: message/rfc822\n\n" * depth + HTML + b"\n" + LINK,
        *(mail, "MAX_DEPTH", "limit-mime-depth"),
    ),
    Limit(parts, mail, "MAX_PARTS", "limit-mime-parts"),
    Limit(
        lambda size: b"Content-ID: ".ljust(size - 1, b"x") + b"\n" + HTML + b"\n" + LINK,
        *(fields, "MAX_FIELD", "limit-header", 200),
    ),
    Limit(
        lambda size: HTML + b"X: ".ljust(size - len(HTML) - 1, b"x") + b"\n\n" + LINK,
        *(fields, "MAX_HEADER", "limit-header", 300),
    ),
    Limit(
        lambda count: HTML + b"Content-ID: y\n" * (count - 1) + b"\n" + LINK,
        *(fields, "MAX_FIELDS", "limit-header"),
    ),
]


@pytest.mark.parametrize("more", [-1, 0, 1])
@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.name)
def test_limits(limit: Limit, more: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if limit.lowered is not None:
        monkeypatch.setattr(limit.module, limit.name, limit.lowered)
    data = limit.make(getattr(limit.module, limit.name) + more)
    result = rewrite(data)
    assert result.data == (data if more > 0 else data.replace(LINK, DONE))
    assert reasons(result) == [limit.reason] * (more > 0)


# ---- Laws on messages that a grammar makes

_hosts: Final = st.sampled_from(
    (
        "http://m.example/m/",
        "sub/",
        "/abs/",
        "../",
        "mailto:a@b",
        "",
        "http://x.example/--b0/From /",
    )
)
_base_fields: Final = st.builds(
    "{}: {}\n".format,
    st.sampled_from(("Base", "Content-Base", "Content-Location", "content-LOCATION")),
    st.builds(
        str.format, st.sampled_from(("{}", "<URL:{}>", '"{}"', "<\n {}>", "<URL:{}>")), _hosts
    ),
)
_reference_fields: Final = st.sampled_from(
    (
        "Link: <x>; rel=y, <http://h.example/>\n",
        "List-Unsubscribe: <mailto:a@b>,\n\t<../leave\n  /now>\n",
        "Archived-At: <a/b>\n",
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
    laws.check(LAWS, message, calls, 200)


def test_law_6_any_lines() -> None:
    words = (
        *(
            "Content-Type: ",
            "multipart/mixed",
            "; boundary=b",
            "--b",
            "--",
            "\n",
            "\r",
            "\n\n",
            " ",
        ),
        *("message/rfc822", "text/html", "<a href=x>", "=", "=3D", "From ", "Base: x/", "\0", "é"),
        *(
            "Content-Transfer-Encoding: ",
            "base64",
            "quoted-printable",
            "PGEgaHJlZj14Pg==",
            '"',
            "(",
        ),
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
