"""What is checked before a file is replaced: laws 2 and 8, on rewritings that break them."""

from __future__ import annotations

import pytest

from relbase import Edit, pipeline
from relbase.call import check as called
from relbase.cli.documents import SelfCheckError, verify
from relbase.results import Result

PAGE = b'<p title=t><a href="x">a</a><img src=y>'
CALL = called(PAGE, url="http://h/")


def result(data: bytes, *edits: Edit) -> Result:
    good = pipeline.rewrite_called(PAGE, CALL)
    return Result(data, edits, (), base=lambda: good.base, links=tuple)


def test_a_good_one() -> None:
    verify(PAGE, pipeline.rewrite_called(PAGE, CALL), CALL)
    mail = b"Content-Type: text/html\nContent-Transfer-Encoding: quoted-printable\n\n<a href=3Dx>"
    verify(mail, pipeline.rewrite_called(mail, called(mail, url="http://h/")), called(mail))


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
            "the tags would not be the same, from number 2 on",
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
        verify(PAGE, result(data, *edits), CALL)
