"""An mbox on the command line: message by message, all other bytes as they are, bounded memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

import pytest
from running import PROGRAM, meanwhile, run

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
