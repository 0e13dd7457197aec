"""Mail, from bytes to bytes: relbase against Python's `email` with lxml.

email, compat32:    parse, walk, rewrite each HTML part with lxml, encode it again by the codecs in
                    C, `set_payload`, `as_bytes`: the fastest way there is.
email, set_content: the same with `policy.default` and `set_content`, as its documentation shows.

On messages with a plain and an HTML part, the HTML about 200 KB long, in base64, in 8bit and in
quoted-printable, and on an mbox of 1,000 messages with 4 to 20 KB of HTML. The HTML are real pages
of `--data`, or one that is made up, with links as often as in real pages, when there are none.
"""

from __future__ import annotations

import email
import email.policy
import quopri
from base64 import encodebytes
from email.message import EmailMessage
from functools import partial
from typing import TYPE_CHECKING, Final

import lxml.html

import relbase
from benchmarks.scanners import SCANNERS, scanning
from benchmarks.timing import Contender, measure, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from email.message import Message
    from pathlib import Path
    from typing import TypeAlias

    _Job: TypeAlias = Callable[[bytes], bytes]

_BASE: Final = "http://example.com/2015/03/a-page.html?id=1"
_MESSAGES: Final = 1_000
_PAGES: Final = "real-pages/mozilla-readability"

# The sizes of the pages that are sent as one message: about 200 KB.
_LARGE: Final = range(150_000, 260_000)

# How much HTML the messages of the mbox have, in turn: newsletters are longer than replies.
_SIZES: Final = (20_000, 4_000, 8_000, 4_000, 12_000)

_HEADER: Final = b"""\
Return-Path: <list-owner@example.org>
Received: from mx.example.org (mx.example.org [192.0.2.1])
\tby mail.example.com (Postfix) with ESMTPS id 4F1A2; Mon,  2 Mar 2015 10:00:00 +0000
Date: Mon, 2 Mar 2015 10:00:00 +0000
From: =?utf-8?q?A_Newsletter?= <news@example.org>
To: reader@example.com
Subject: News of the week
Message-ID: <1@example.org>
MIME-Version: 1.0
Content-Base: %s
Content-Type: multipart/alternative; boundary="=_boundary"

--=_boundary
Content-Type: text/plain; charset=utf-8

News of the week, which is a web page.

--=_boundary
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: %s

%s
--=_boundary--
"""

_ENCODERS: Final[dict[str, Callable[[bytes], bytes]]] = {
    "base64": encodebytes,
    "8bit": bytes,
    "quoted-printable": quopri.encodestring,
}


def run(data: Path | None, rounds: int) -> Iterator[str]:
    """Yield a table for each transfer encoding, and one for the mbox."""
    pages, source = _pages(data)
    large = [page for page in pages if len(page) in _LARGE]
    for encoding in _ENCODERS:
        messages = [message_of(page, encoding) for page in large]
        title = f"Mail with 200 KB of HTML in {encoding}, bytes to bytes: {len(large)} of {source}"
        yield _compared(title, _JOBS, messages, rounds)
    mbox = _mbox(pages)
    title = f"An mbox of {_MESSAGES:,} messages, {len(mbox) / 1e6:.1f} MB: pieces of {source}"
    yield _compared(title, _MBOX_JOBS, [mbox], rounds)


def _compared(title: str, jobs: dict[str, _Job], data: list[bytes], rounds: int) -> str:
    contenders = [Contender(name, partial(_all, rewrite, data)) for name, rewrite in jobs.items()]
    megabytes = sum(map(len, data)) / 1e6
    return table(title, measure(contenders, rounds), megabytes, "MB", _PEER)


def _all(rewrite: _Job, data: list[bytes]) -> None:
    for one in data:
        assert rewrite(one) != one


# ---- what is rewritten


def _pages(data: Path | None) -> tuple[list[bytes], str]:
    paths = sorted((data / _PAGES).rglob("source.html")) if data else []
    if not paths:
        return [_made_up()], "a page that is made up (no --data)"
    # CRLF is written as LF: lxml does so, and mail in files has LF.
    pages = [path.read_bytes().replace(b"\r\n", b"\n") for path in paths]
    return pages, f"{len(pages)} pages of {_PAGES}"


def _made_up() -> bytes:
    """A page of 200 KB: 1.2 links a KB, two of five relative, among them anchors."""
    words = "Some words of news, one after the other, caf\u00e9 and all. " * 14
    item = (
        f'<div class="item" id="item-{{0}}"><p>{words}</p>\n'
        f'<a href="https://example.org/{{0}}?a=1&amp;b=2" title="more">the rest of it</a>\n'
        f'<a href="/news/{{0}}.html">here</a><p class="more">{words}</p></div>\n'
    )
    return "".join(map(item.format, range(110))).encode()


def message_of(page: bytes, encoding: str) -> bytes:
    """A message of two parts, of which the second is a page."""
    encoded = _ENCODERS[encoding](page).removesuffix(b"\n")
    return _HEADER % (_BASE.encode(), encoding.encode(), encoded)


def _mbox(pages: list[bytes]) -> bytes:
    encodings = list(_ENCODERS)
    messages = []
    for number in range(_MESSAGES):
        page, size = pages[number % len(pages)], _SIZES[number % len(_SIZES)]
        message = message_of(page[-size:], encodings[number % 2])
        messages.append(b"From list-owner@example.org Mon Mar  2 10:00:00 2015\n" + message + b"\n")
    return b"".join(messages)


# ---- the contenders


def _by_relbase(name: str, kind: relbase.Kind, data: bytes) -> bytes:
    with scanning(name):
        return relbase.rewrite(data, kind=kind).data


def _ours(kind: relbase.Kind) -> dict[str, _Job]:
    """The scanners, the compiled one where it was built."""
    return {f"relbase, {name}": partial(_by_relbase, name, kind) for name in SCANNERS}


def by_email(data: bytes) -> bytes:
    """What `email`, in its fastest way, and lxml make of a message."""
    message = email.message_from_bytes(data)
    base = message["Content-Base"]
    for part in message.walk():
        if part.get_content_type() == "text/html":
            _rewrite_part(part, base)
    return message.as_bytes()


def _rewrite_part(part: Message, base: str) -> None:
    html = part.get_payload(decode=True)
    assert isinstance(html, bytes)
    parser = lxml.html.HTMLParser(encoding=part.get_content_charset())
    tree = lxml.html.document_fromstring(html, parser=parser)
    tree.make_links_absolute(base, handle_failures="ignore")
    encoding = part["Content-Transfer-Encoding"]
    encoded = _ENCODERS[encoding](lxml.html.tostring(tree, encoding="utf-8"))
    part.set_payload(encoded.decode("ascii", "surrogateescape"))


def _by_set_content(data: bytes) -> bytes:
    message = email.message_from_bytes(data, policy=email.policy.default)
    base = str(message["Content-Base"])
    for part in message.walk():
        if part.get_content_type() == "text/html":
            assert isinstance(part, EmailMessage)
            tree = lxml.html.document_fromstring(part.get_content())
            tree.make_links_absolute(base, handle_failures="ignore")
            html = lxml.html.tostring(tree, encoding="unicode")
            part.set_content(html, subtype="html", cte=str(part["Content-Transfer-Encoding"]))
    return message.as_bytes()


def _each(rewrite: _Job, mbox: bytes) -> bytes:
    """Split, as `mailbox.mbox` does, at the lines that begin with `From `."""
    pieces = mbox.split(b"\nFrom ")
    pieces = [pieces[0].removeprefix(b"From "), *pieces[1:]]
    rewritten: list[bytes] = []
    for piece in pieces:
        separator, _, message = piece.partition(b"\n")
        rewritten += (b"From ", separator, b"\n", rewrite(message), b"\n")
    return b"".join(rewritten)


_PEER: Final = "email, compat32"
_JOBS: Final[dict[str, _Job]] = {
    **_ours(relbase.Kind.MAIL),
    _PEER: by_email,
    "email, set_content": _by_set_content,
}
_MBOX_JOBS: Final[dict[str, _Job]] = {
    **_ours(relbase.Kind.MBOX),
    _PEER: partial(_each, by_email),
    "email, set_content": partial(_each, _by_set_content),
}
