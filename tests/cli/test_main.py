"""`relbase.cli.main`: what ends the program, with which status, and that no traceback is shown."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from running import PROGRAM, program

if TYPE_CHECKING:
    from collections.abc import Callable

# Its warning is on standard error when standard input is being read after it.
PAGE: Final = b"<a href=x>"

full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture
def page() -> Path:
    path = Path("page.html")
    path.write_bytes(PAGE)
    return path


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_without_a_traceback(page: Path, number: int, status: int) -> None:
    with subprocess.Popen(
        [*PROGRAM, "links", page, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert b"unresolved" in running.stderr.readline()
        running.send_signal(number)
        assert running.wait(60) == status
        assert running.stderr.read() == b""
        assert b"a/@href: x" in running.stdout.read()


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["links"], ["rewrite"], ["rewrite", "--diff"]])
def test_it_ends_quietly_when_nobody_reads_on(arguments: list[str], unbuffered: str) -> None:
    large = Path("large.html")
    large.write_bytes(PAGE * 20_000)
    with subprocess.Popen(
        [*PROGRAM, *arguments, large, "--url", "http://h/"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.read(100)
        running.stdout.close()
        assert running.wait(60) == 141
        assert running.stderr.read() == b""


@full
@pytest.mark.parametrize("arguments", [["rewrite"], ["links"], ["base"], ["--help"]])
def test_a_full_output_is_told(page: Path, arguments: list[str]) -> None:
    files = [str(page)] if arguments != ["--help"] else []
    with Path("/dev/full").open("wb") as output:
        ran = subprocess.run(
            [*PROGRAM, *arguments, *files],
            stdout=output,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert ran.returncode == 4
    error = ran.stderr.splitlines()[-1]
    assert error.startswith(b"Error: ")
    assert b"No space left on device" in error
    assert b"Traceback" not in ran.stderr


def closed(number: int) -> Callable[[], None]:
    return lambda: os.close(number)


def test_a_closed_output_is_told(page: Path) -> None:
    for command in ("rewrite", "links"):
        ran = program(command, page, preexec_fn=closed(1))
        assert (ran.returncode, b"standard output is closed" in ran.stderr) == (4, True)


def test_a_closed_input_is_told() -> None:
    ran = program("rewrite", preexec_fn=closed(0))
    assert ran.returncode == 3
    assert ran.stderr == b"<stdin>: error: standard input is closed: give a file\n"


def test_nobody_needs_to_read_the_warnings(page: Path) -> None:
    ran = program("rewrite", page, preexec_fn=closed(2))
    assert (ran.returncode, ran.stdout) == (0, PAGE)
    reading, writing = os.pipe()
    os.close(reading)
    try:
        gone = subprocess.run(
            [*PROGRAM, "rewrite", page],
            stdout=subprocess.PIPE,
            stderr=writing,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert (gone.returncode, gone.stdout) == (0, PAGE)


def test_an_output_that_cannot_be_completed_leaves_the_old_one(tmp_path: Path) -> None:
    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))

    page = tmp_path / "page.html"
    page.write_bytes(PAGE * 10_000)
    output = tmp_path / "out.html"
    output.write_bytes(b"old")
    ran = program("rewrite", page, "--url", "http://h/", "-o", output, preexec_fn=limited)
    assert ran.returncode == 4
    assert b"out.html: File too large" in ran.stderr
    assert output.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.html", "page.html"]


def test_a_mistake_in_hostile_arguments_shows_escapes() -> None:
    for arguments in (["\x1b[2J"], ["rewrite", "--\x1b[2J"], [b"\xff/\x07"]):
        ran = program(*arguments)
        assert ran.returncode == 2
        assert b"\x1b" not in ran.stderr
        assert b"\x07" not in ran.stderr
        # click before 8.4 leaves the character out of what it calls an option
        shown = (b"\\x", b"\\udcff", b"No such option: --\n")
        assert any(text in ran.stderr for text in shown)


def test_an_encoding_without_the_characters_shows_escapes() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "koi8-r"}
    for arguments in (["base", "--help"], ["check", "{"], ["resolve", "x", "\u4e2d"]):
        ran = program(*arguments, env=environment)
        assert ran.returncode in {0, 1}
        assert b"Traceback" not in ran.stderr
        assert re.search(rb"\\xa7|\\u4e2d", ran.stdout)


def test_the_console_script_and_the_module_are_one() -> None:
    code = "import sys; from relbase.cli import main; sys.argv = ['elsewhere', '-h']; main()"
    script = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, timeout=60, check=False
    )
    module = program("-h")
    assert script.stdout == module.stdout
    assert module.stdout.startswith(b"Usage: relbase [OPTIONS] COMMAND")


# A run under nohup would ignore SIGHUP, and so would its children.
SLOW: Final = """
import os, signal, sys, time
from relbase.cli import main
signal.signal(signal.SIGHUP, signal.SIG_DFL)
unlink = os.unlink
def slow(*arguments, **more):
    os.write(1, b"cleaning\\n")
    time.sleep(0.5)
    unlink(*arguments, **more)
os.unlink = slow
os.fsync = lambda descriptor: os.write(1, b"writing\\n") and time.sleep(30)
main()
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_second_signal_does_not_disturb_the_cleaning(jobs: str, tmp_path: Path) -> None:
    for name in ("a.html", "b.html"):
        (tmp_path / name).write_bytes(PAGE)
    command = [sys.executable, "-c", SLOW, "rewrite", "-r", ".", "--root", ".=http://h/", "-i"]
    command += ["-j", jobs]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, start_new_session=True
    ) as ran:
        assert ran.stdout is not None
        assert ran.stdout.readline() == b"writing\n"
        os.killpg(ran.pid, signal.SIGHUP)
        while ran.stdout.readline() != b"cleaning\n":
            pass
        os.killpg(ran.pid, signal.SIGTERM)
        ran.stdout.read()
    assert ran.returncode == 128 + signal.SIGHUP
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]
