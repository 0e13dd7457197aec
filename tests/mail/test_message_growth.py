"""Hostile messages through `relbase.rewrite`: the time grows with the message, memory is bounded.

The rows are those of the threat model for mail (M1 to M5, M13 to M15), and what the code of
messages could do too often: once for each part or edit what takes as long as the message.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from growth import assert_linear_from_10_ms
from memory import SLACK, memory_of, needs_status
from rows import filled, rows
from test_growth import numbered, repeated

import relbase
from relbase.bases.layers import MAX_BASE
from relbase.mail.parts import MAX_OUTER_BASE

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[int], bytes]

URL: Final = "http://h.example/d/p.html"
MIXED: Final = b"Content-Type: multipart/mixed; boundary=b\n\n"
HTML: Final = b"Content-Type: text/html\n"
QP: Final = HTML + b"Content-Transfer-Encoding: quoted-printable\n\n"
BASE64: Final = HTML + b"Content-Transfer-Encoding: base64\n\n"
CALENDAR: Final = b"Content-Type: text/calendar\n\n"
FROM: Final = b"From a@h.example Sat Nov 21 12:00:00 2026\n"


def multiparts(size: int) -> bytes:
    levels = range(size // 60)
    return b"".join(
        b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (i, i) for i in levels
    )


def encoded(inner: Make) -> Make:
    return lambda size: BASE64 + base64.encodebytes(inner(size * 3 // 4))


def wrapped(size: int) -> bytes:
    """Wrap a message in base64 in a message, time and again."""
    text = HTML + b"\n<a href=x>"
    while len(text) < size:
        text = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n" + (
            base64.encodebytes(text)
        )
    return text


def _base(length: int) -> bytes:
    start = b"http://h.example/"
    return b"Content-Base: %b%b/\n" % (start, b"d" * (length - len(start) - 1))


def lengths(size: int) -> bytes:
    """Messages in messages, each with the right length of the ones in it."""
    text = HTML + b"\n" + b"<a href=x>\n" * (size // 11)
    for _ in range(20):
        text = b"Content-Length: %d\nContent-Type: message/rfc822\n\n%b" % (len(text), text)
    return text


_TABLES: Final = Path(__file__).with_name("message_growth.txt")
_read: Final = filled(
    MIXED=MIXED,
    HTML=HTML,
    QP=QP,
    BASE64=BASE64,
    CALENDAR=CALENDAR,
    FROM=FROM,
    BASE=_base(MAX_OUTER_BASE),
    LONGEST=_base(MAX_BASE),
)
ROWS: Final[dict[str, Make]] = {
    **{
        name: made(unit, before, after)
        for made in (repeated, numbered)
        for name, before, unit, after in rows(_TABLES, made.__name__, str, _read, _read, _read)
    },
    "M1 multiparts": multiparts,
    "M3 100 open boundaries": lambda size: multiparts(60 * 99) + b"\n--b\n" * (size // 5),
    "M3 long boundary": lambda size: (
        MIXED.replace(b"=b", b"=" + b"b" * (size // 2)) + (b"--" + b"b" * (size // 20) + b"\n") * 10
    ),
    "M5 base64": encoded(repeated(b"<a href=x>")),
    "M5 base64, one line": lambda size: BASE64 + base64.b64encode(b"<a href=x>" * (size // 14)),
    "M14 only CR": lambda size: repeated(b"<a href=x>\n", HTML + b"\n")(size).replace(b"\n", b"\r"),
    "M15 base64": wrapped,
    "lengths": lengths,
}


def rewrite(data: bytes) -> relbase.Result:
    return relbase.rewrite(data, url=URL, kind="mbox" if data.startswith(b"From ") else "mail")


@pytest.mark.parametrize("name", ROWS)
def test_time_is_linear(name: str) -> None:
    assert_linear_from_10_ms(rewrite, ROWS[name])


SIZE: Final = 4 << 20
_TEXT: Final = b"<p>Some text of a page in which there are a few links.</p>\n" * 50
_PAGE: Final = _TEXT + b"<a href='x/y.html'>link</a>\n"

# A message with a part that is nearly all of it, and one with many parts.
MEMORY: Final[dict[str, Make]] = {
    "base64": encoded(repeated(_PAGE)),
    "quoted-printable": repeated(_PAGE.replace(b"=", b"=3D"), QP),
    "7bit": repeated(_PAGE, HTML + b"\n"),
    "base64, attached picture": lambda size: (
        MIXED
        + b"--b\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\n"
        + base64.encodebytes(bytes(size * 3 // 4))
        + b"--b\n"
        + HTML
        + b"\n<a href=x>\n--b--\n"
    ),
    "M1 messages": ROWS["M1 messages"],
    "M2 parts": ROWS["M2 parts"],
    "M4 fields": ROWS["M4 fields"],
    "M4 bases": repeated(b"Base: x\n"),
    "M5 quoted-printable, soft breaks": repeated(b"word=\n", QP, b"<a href=3Dx>"),
    "inherited bases": lambda size: ROWS["inherited bases"](size // 4),
}

# Nothing but links: what is written is many times as long.
DENSE: Final[dict[str, Make]] = {
    "one field of links": lambda size: b"List-Post: " + b"<a>, " * (size // 75) + b"<a>\n\nx",
    "one line of links": lambda size: HTML + b"\n" + b"<a href=x>" * (size // 30),
    "one line of links in a part": lambda size: (
        MIXED + b"--b\n" + HTML + b"\n" + b"<a href=x>" * (size // 30) + b"\n--b--\n"
    ),
    "one line in quoted-printable": ROWS["M5 quoted-printable, one line"],
    "broken words": ROWS["M4 broken words"],
    "links one by one": lambda size: ROWS["M4 unsubscribe"](size // 4),
}
MEMORY.update(DENSE)

# No base: each reference is counted, and none is kept until the end.
UNRESOLVED: Final[dict[str, Make]] = {
    "no base, field": repeated(b"<x>,", b"List-Post: "),
    "no base, 7bit": repeated(b"<a href=x>", HTML + b"\n"),
    "no base, between boundaries": repeated(b"<a href=x>", MIXED + b"--b\n" + HTML + b"\n"),
    "no base, mbox": repeated(b"<a href=x>\n", FROM + HTML + b"\n"),
}
MEMORY.update(UNRESOLVED)


@needs_status
@pytest.mark.parametrize("name", MEMORY)
def test_memory_is_bounded(name: str, tmp_path: Path) -> None:
    """At most 6 times the largest part, which is nearly the whole message."""
    kind = "mbox" if name.endswith("mbox") else "mail"
    url, size = ("", SIZE // 4) if name in UNRESOLVED else (URL, SIZE)
    used = memory_of(tmp_path, MEMORY[name](size), url, kind)
    assert bool(used.given) == (
        name
        in {"base64", "quoted-printable", "7bit", "base64, attached picture", "M4 bases", *DENSE}
    ) | ("soft breaks" in name)
    assert used.taken > SIZE // 16
    largest = used.taken + used.given if name in DENSE else used.taken  # law 9
    # Each of the many parts has 64 KB of base: as many are kept as may be written.
    slack = 4 * SLACK if name == "inherited bases" else SLACK
    assert used.grown <= 6 * largest + slack, used.grown / largest
