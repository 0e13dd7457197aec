"""The documents of an input are what the library reads in it, and what is verified of them."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

import relbase
from relbase import Edit, Reason
from relbase.bases.layers import UNKNOWN
from relbase.cli import options
from relbase.cli.documents import InputDocument, documents, in_input, links_of, rewritten
from relbase.cli.files import Input, OpenInput, SelfCheckError
from relbase.cli.self_check import verify
from relbase.containers import mbox
from relbase.edit import splice
from relbase.results import Result
from relbase.session import run
from relbase.session.session import check as called

SETTINGS = options.Settings(
    None, (), (), None, None, relbase.Profile.RFC1808, relbase.Policy(), detect=True, strict=False
)
A = b"From a Mon Jan  1 00:00:00 2024"


def read(
    data: bytes, name: str = "-", size: int = 1 << 18, settings: options.Settings = SETTINGS
) -> list[InputDocument]:
    pieces = (data[at : at + size] for at in range(0, len(data), size))
    source = OpenInput(Input(name), name, name, pieces, None, BytesIO(data))
    return list(documents(source, settings.call(name)))


TWO = b"\n\n" + A + b"\n\nx\n\n" + A + b"\r\n\r\ny\r\n\r\n"


@pytest.mark.parametrize("data", [b"", b"<p>", b"A: b\n\nc", TWO, A + b"\n", b"no mbox"])
@pytest.mark.parametrize("name", ["-", "a.mbox", "a.html"])
def test_joined_they_are_the_input(data: bytes, name: str) -> None:
    found = read(data, name)
    assert found
    assert b"".join(one.before + one.data + one.after for one in found) == data
    for one in found:
        assert data[one.start :].startswith(one.data)
        assert one.lines == data.count(b"\n", 0, one.start)


# ---- The command line equals the library

B = b"From b Tue Jan  2 00:00:00 2024"
LINES = st.sampled_from(
    [
        *(A, B, b"From -", b"From here", b"From <a href=x>", b">From me"),
        *(b"", b"", b"--x", b"no field", b" fold", b"text", b"<img/src=x>", b"<a href=x>"),
        *(b"Content-Type: text/html", b"Link: <x>", b"Base: sub/", b"Content-Base: http://b/"),
        *(b'<a href=3D"=', b"<a href='", b"From y'>", b"../'>"),
        b"Content-Transfer-Encoding: quoted-printable",
        b"Content-Type: multipart/mixed; boundary=x",
    ]
)


@st.composite
def mailboxes(draw: st.DrawFn) -> bytes:
    """Draw an mbox whose messages have lengths, mostly true ones, anywhere in their headers."""
    file = b""
    for _ in range(draw(st.integers(1, 3))):
        header = draw(st.lists(LINES, max_size=4))
        body = b"\n".join([*draw(st.lists(LINES, max_size=6)), b"<a href=x>", b""])
        length = len(body) + draw(st.sampled_from([0, 0, 0, 1, 40]))
        if draw(st.integers(0, 3)):
            header.insert(draw(st.integers(0, len(header))), b"Content-Length: %d" % length)
        head = [line for line in header if line or draw(st.booleans())]
        file += b"\n".join([A, b"Content-Type: text/html", *head, b"", body, b""])
    return file


@given(
    mailboxes(),
    st.sampled_from([7, 1 << 18]),
    st.sampled_from(["http://h/", "http://8:00/2001", "http://h:8:00/2001/"]),
)
def test_the_command_line_equals_the_library(file: bytes, size: int, url: str) -> None:
    settings = SETTINGS._replace(url=url, kind="mbox")
    result = relbase.rewrite(file, url=url, kind="mbox")
    event(f"{min(3, len(result.edits))} edits")
    found = read(file, "-", size, settings)
    done = [rewritten(document) for document in found]
    output = b"".join(
        document.before + one.data + document.after
        for document, one in zip(found, done, strict=True)
    )
    assert output == result.data
    before, after = list(mbox.split([file])), list(mbox.split([output]))
    assert [one.separator for one in before] == [one.separator for one in after]
    assert [one.ending for one in before] == [one.ending for one in after]
    notes = [
        in_input(document, note)
        for document, one in zip(found, done, strict=True)
        for note in one.notes
        if note.reason is not Reason.BASE_NONE  # counted for a whole input
    ]
    assert sorted(map(repr, notes)) == sorted(map(repr, result.notes))
    again = read(file, "-", size, settings)
    links = [link for document in again for link in links_of(document)]
    assert [_shown(link) for link in links] == [_shown(link) for link in result.links]


def _shown(link: relbase.Link) -> tuple[object, ...]:
    return (link.part, link.span, link.line, link.column, link.url, link.status, link.base.url)


PAGE = b'<p title=t><a href="x">a</a><img src=y>'
GIVEN = called(url="http://h/").opened(PAGE)


def result(data: bytes, *edits: Edit) -> Result:
    good = run.rewrite(GIVEN)
    return Result(data, edits, (), base=lambda: good.base, links=tuple)


def test_a_good_one() -> None:
    verify(GIVEN, run.rewrite(GIVEN))
    mail = b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<a href=3Dx>"
    opened = called(url="http://h/").opened(mail)
    verify(opened, run.rewrite(opened))


def test_another_part_is_seen() -> None:
    head = b"Content-Type: multipart/mixed; boundary=b\nX: "
    body = b"\n\n--b\nContent-Type: text/plain\n\nx\n--b--\n"
    mail, start = head + b"y" + body, len(head) + 1 + len(b"\n\n--b\n")
    opened = called(url="http://h/").opened(mail)
    edit = Edit(start, start, b"\n\n--b\n")
    changed = splice(mail, [edit])
    with pytest.raises(SelfCheckError, match="the parts would not be the same"):
        verify(opened, Result(changed, (edit,), (), base=lambda: UNKNOWN, links=tuple))


@pytest.mark.parametrize(
    ("data", "edits", "reported"),
    [
        (PAGE.replace(b"<p", b"<b"), (), "bytes changed where no link did"),
        (PAGE.replace(b"<p", b"<b"), (Edit(20, 20, b""),), "from 0 to 20 changed outside"),
        (PAGE.replace(b"src=y", b"src=z"), (Edit(20, 20, b""),), "from 20 on changed outside"),
        (PAGE, (Edit(20, 20, b"http://h/"),), "from 0 to 20 changed outside"),
        (PAGE, (Edit(30, 20, b""),), "the edits are not in order"),
        (
            PAGE.replace(b'"x"', b'"http://h/" src=x"'),
            (Edit(20, 21, b'http://h/" src=x'),),
            "the tags would not be the same, from byte 11 on",
        ),
        (
            PAGE.replace(b'"x"', b'"http://h/"><b id="x"'),
            (Edit(20, 21, b'http://h/"><b id="x'),),
            "the tags would not be the same, from byte 11 on",
        ),
        (
            PAGE.replace(b'"x"', b'"http://h/"><a href="x"'),
            (Edit(20, 21, b'http://h/"><a href="x'),),
            "the references would not be the same, from number 2 on",
        ),
    ],
)
def test_bad_ones(data: bytes, edits: tuple[Edit, ...], reported: str) -> None:
    with pytest.raises(SelfCheckError, match=reported):
        verify(GIVEN, result(data, *edits))
