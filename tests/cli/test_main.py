"""`relbase.cli.main`: what ends the program, with which status, and that no traceback is shown."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from running import PROGRAM, program

# Its warning is on standard error when standard input is being read after it.
PAGE: Final = b"<a href=x>"


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
