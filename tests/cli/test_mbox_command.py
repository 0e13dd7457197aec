"""An mbox on the command line: message by message, all other bytes as they are, bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import PROGRAM, meanwhile, run

import relbase
from relbase.containers import mbox

if TYPE_CHECKING:
    from collections.abc import Sequence


URL: Final = ("--url", "http://h/")

FIRST: Final = (
    b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n<a href=x>\n>From me\n\n"
)
SECOND: Final = (
    b"From c@d Mon Jan  1 00:00:00 2024\r\nContent-Base: http://s/\r\n"
    b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\ntext\r\n--b\r\n"
    b"Content-Type: text/html\r\n\r\n<p>\r\n<a href=y>\r\n--b--\r\n\r\n"
)
LAST: Final = b"From e@f Mon Jan  1 00:00:00 2024\nSubject: no line end"
MBOX: Final = FIRST + SECOND + LAST
DONE: Final = MBOX.replace(b"=x", b"=http://h/x").replace(b"=y", b"=http://s/y")


@pytest.fixture(autouse=True)
def here() -> None:
    Path("in.mbox").write_bytes(MBOX)


# ---- rewrite


def test_it_is_what_the_library_makes_of_the_whole() -> None:
    assert relbase.rewrite(MBOX, url="http://h/").data == DONE


def test_a_message_that_cannot_be_done_is_passed_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(data: bytes) -> None:
        if b"Content-Base" in data:
            raise MemoryError

    meanwhile(monkeypatch, failing)
    result = run("rewrite", "in.mbox", *URL)
    assert (result.exit_code, result.stdout_bytes) == (3, DONE.replace(b"=http://s/y", b"=y"))
    assert result.stderr.startswith("in.mbox: message 2, left unchanged: error: it is too large")


def test_an_input_that_fails_leaves_no_output(monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fstat

    def growing(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        with Path("in.mbox").open("ab") as file:
            file.write(b"2")
        return status

    monkeypatch.setattr(os, "fstat", growing)
    result = run("rewrite", "in.mbox", *URL, "-o", "out.mbox")
    assert result.exit_code == 3
    assert result.stderr == "in.mbox: error: it changed while it was read: try again\n"
    assert [path.name for path in Path().iterdir()] == ["in.mbox"]


# ---- laws

LINES: Final = st.sampled_from(
    [
        b"From a@b Mon Jan  1 00:00:00 2024",
        b"From here",
        b"From <a href=y>",
        b"From -",
        b"<img/src=x>",
        b">From me",
        b"",
        b"",
        b"Content-Type: text/html",
        b"Content-Transfer-Encoding: quoted-printable",
        b"Content-Length: 40",
        b"<a href=x>",
        b'<a href=3D"=',
        b"<a href='",
        b"From y'>",
        b"../'>",
    ]
)
ENDS: Final = st.sampled_from([b"\n", b"\r\n"])


def test_no_separator_comes_or_goes() -> None:
    changed = []

    @settings(max_examples=int(os.environ.get("RELBASE_EXAMPLES", "150")), deadline=None)
    @given(
        st.lists(LINES, max_size=30),
        ENDS,
        st.sampled_from(
            ["http://h/", "http://h/\nFrom x", "http://h/From /", "http://h:8:00/2001/"]
        ),
    )
    def law(lines: Sequence[bytes], end: bytes, url: str) -> None:
        header = b"From a@b Mon Jan  1 00:00:00 2024", b"Content-Type: text/html"
        data = end.join([*header, *lines, b"<a href=x>", b""])
        output = relbase.rewrite(data, kind="mbox", url=url).data
        changed.append(output != data)
        before, after = list(mbox.split([data])), list(mbox.split([output]))
        assert [message.separator for message in before] == [one.separator for one in after]
        assert [message.ending for message in before] == [one.ending for one in after]

    law()
    assert sum(changed) > 0.3 * len(changed)


# ---- memory

MEGABYTES: Final = 40

RUNNER: Final = """
import resource, subprocess, sys
ran = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)
sys.exit(ran.returncode)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")
def test_memory_is_bounded_by_the_largest_message() -> None:
    filler = b"words of a message, one line after the other, as they come\n" * 250
    messages = b"".join(
        FIRST.replace(b">From me\n", filler).replace(b"href=x", b"href=x%d" % number)
        for number in range(64)
    )
    count = MEGABYTES * 1_000_000 // len(messages)
    with tempfile.TemporaryDirectory() as directory:
        large, output = Path(directory, "large.mbox"), Path(directory, "out.mbox")
        with large.open("wb") as file:
            for _ in range(count):
                file.write(messages)
        command = [*PROGRAM, "rewrite", str(large), *URL, "-q", "-o", str(output)]
        ran = subprocess.run(
            [sys.executable, "-c", RUNNER, *command], capture_output=True, check=True
        )
        assert output.stat().st_size == large.stat().st_size + 64 * count * len(b"http://h/")
    assert int(ran.stderr) < 45
