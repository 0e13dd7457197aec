"""Mailboxes: the numbers of parts, and the lengths that tell where messages begin."""

from __future__ import annotations

from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import examples
from test_message import DONE, HTML, LINK, URL

import relbase
from relbase.containers.mbox import split

FROM: Final = b"From a@h.example Sat Nov 21 12:00:00 2026\n"


def test_parts_of_a_mailbox_are_numbered_by_their_messages() -> None:
    data = (
        b"Base: <URL:http://lost.example/>\n\n"
        + FROM
        + HTML
        + b"\n"
        + LINK
        + b"\n\n"
        + (FROM + b"Content-Type: multipart/mixed; boundary=b\n\n--b\n" + HTML + b"\n" + LINK)
    )
    result = relbase.rewrite(data, kind="mbox", url=URL)
    assert result.data == data.replace(LINK, DONE)
    assert [link.part for link in result.links] == ["1", "2/1"]
    assert [data[slice(*link.span)] for link in result.links] == [b"x", b"x"]
    found = list(relbase.entities(data, kind="mbox", url=URL))
    assert [entity.part for entity in found] == ["1", "2", "2/1"]
    assert result.base.url == URL


@pytest.mark.parametrize("eol", [b"\n", b"\r\n"])
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.booleans(), st.sampled_from((b"", b"\n\nFrom x\n", b"."))),
        min_size=1,
        max_size=4,
    )
)
def test_an_mbox_with_lengths_holds_the_same_messages_afterwards(
    eol: bytes, drawn: list[tuple[int, bool, bytes]]
) -> None:
    text = b""
    for links, is_broken, tail in drawn:
        body = (LINK * links + tail + b"\n").replace(b"\n", eol)
        broken = b"no field\n" if is_broken else b""
        header = b"%b%bContent-Length: %d\n%b\n" % (FROM, HTML, len(body), broken)
        text += header.replace(b"\n", eol) + body + eol
    before = list(split([text]))
    assert len(before) == len(drawn)
    after = list(split([relbase.rewrite(text, kind="mbox", url=URL).data]))
    assert len(after) == len(drawn)
    for one, other in zip(before, after, strict=True):
        assert one.length is not None
        assert other.length is not None
        assert (one.separator, one.ending) == (other.separator, other.ending)
        assert one.content.count(LINK) == other.content.count(DONE)


def test_of_the_lines_that_may_begin_a_message_the_first_is_told() -> None:
    text = FROM + HTML + b"\n" + (b"x\n" + FROM) * 2
    notes = relbase.rewrite(text, kind="mbox", url=URL).notes
    assert [(note.reason.value, note.span and note.span.start) for note in notes] == [
        ("mbox-separator", text.index(b"x\n") + 2)
    ]


def test_no_wrong_length_becomes_right() -> None:
    """Whoever reads the output finds the same messages."""
    header = FROM + HTML
    others = (header + b"\n" + LINK + b"\n\n") * 2 + header + b"\n" + LINK + b"\n"
    refused = 0
    for length in range(160, 420):
        text = header + b"Content-Length: %d\n\n" % length + LINK + b"\n\n" + others
        result = relbase.rewrite(text, kind="mbox", url=URL)
        before, after = list(split([text])), list(split([result.data]))
        assert [one.separator for one in before] == [one.separator for one in after]
        kept = [link.part for link in result.links if link.status.value == "kept"]
        assert [note.part for note in result.notes if "read as one" in note.text] == kept
        refused += len(kept)
    assert refused >= 5


LINES: Final = (
    *(b"From a@b Mon Jan  1 00:00:00 2024", b"From here", b"From <a href=y>", b"From -", b""),
    *(b"<img/src=x>", b">From me", b"", b"Content-Type: text/html", b"Content-Length: 40"),
    *(b"Content-Transfer-Encoding: quoted-printable", b"<a href=x>", b'<a href=3D"=', b"<a href='"),
    *(b"From y'>", b"../'>"),
)


def test_no_separator_comes_or_goes() -> None:
    changed = []

    @examples(75)
    @given(
        st.lists(st.sampled_from(LINES), max_size=30),
        st.sampled_from([b"\n", b"\r\n"]),
        st.sampled_from(
            ["http://h/", "http://h/\nFrom x", "http://h/From /", "http://h:8:00/2001/"]
        ),
    )
    def law(lines: list[bytes], end: bytes, url: str) -> None:
        header = b"From a@b Mon Jan  1 00:00:00 2024", b"Content-Type: text/html"
        data = end.join([*header, *lines, b"<a href=x>", b""])
        output = relbase.rewrite(data, kind="mbox", url=url).data
        changed.append(output != data)
        before, after = list(split([data])), list(split([output]))
        assert [one.separator for one in before] == [one.separator for one in after]
        assert [one.ending for one in before] == [one.ending for one in after]

    law()
    assert sum(changed) > 0.3 * len(changed)
