"""`relbase.cli.main`: what ends the program, without a traceback, and --delivery."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from running import PROGRAM, program

if TYPE_CHECKING:
    pass

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
        # One process may take the new file of the other, not locked yet, for that of a killed run.
        assert b"writing\n" in iter(ran.stdout.readline, b"")
        os.killpg(ran.pid, signal.SIGHUP)
        assert b"cleaning\n" in iter(ran.stdout.readline, b"")
        os.killpg(ran.pid, signal.SIGTERM)
        ran.stdout.read()
    assert ran.returncode == 128 + signal.SIGHUP
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "b.html"]


# ---- --delivery: no message is lost, whatever fails

HEAD: Final = b"From: a@b\nTo: c@d\nSubject: x\nContent-Type: text/html\n"
MAIL: Final = HEAD + b"Content-Base: http://h/\n\n<a href=x>\n"
DONE: Final = MAIL.replace(b"=x", b"=http://h/x")
FILTER: Final = ("rewrite", "--delivery")


# The program, of which the process that rewrites fails.
BROKEN: Final = """
import sys
import relbase.cli as delivery
from relbase.cli import main
delivery._PROGRAM = (sys.executable, "-c", sys.argv.pop(1))
delivery._PATIENCE = 1
main()
"""


@pytest.mark.parametrize(
    ("failing", "reported"),
    [
        ("import os; os.kill(os.getpid(), 9)", b"ended with status -9"),
        ("import os; os.write(1, b'half'); raise MemoryError", b"ended with status 1"),
        ("import time; time.sleep(60)", b"rewriting took longer than 1 seconds"),
        ("pass", b"ended with status 0"),
    ],
)
def test_a_process_that_fails_leaves_the_message(failing: str, reported: bytes) -> None:
    command = [sys.executable, "-c", BROKEN, failing, *FILTER]
    ran = subprocess.run(command, input=MAIL, capture_output=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (0, MAIL)
    assert reported in ran.stderr


def test_who_is_ended_has_written_nothing() -> None:
    begun, patient = Path("begun"), BROKEN.replace("_PATIENCE = 1", "_PATIENCE = 60")
    waiting = "import time; open('begun', 'w').close(); time.sleep(60)"
    command = [sys.executable, "-c", patient, waiting, *FILTER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as ran:
        assert ran.stdin is not None
        ran.stdin.write(MAIL)
        ran.stdin.close()
        while ran.poll() is None and not begun.exists():
            time.sleep(0.02)
        ran.send_signal(signal.SIGTERM)
        assert ran.stdout is not None
        assert ran.stdout.read() == b""
    assert ran.returncode == 75


# ---- programs that deliver

LETTERS: Final = f"{sys.executable} -m relbase rewrite --delivery"
SIEVE: Final = """\
base_dir = {0}
log_path = /dev/stderr
protocols =
plugin {{
  sieve_plugins = sieve_extprograms
  sieve_extensions = +vnd.dovecot.filter
  sieve_filter_bin_dir = {0}
}}
"""
# The rules of each program, and how it is called with them; {0} is the directory.
PROGRAMS: Final = {
    "procmail": ("DEFAULT={0}/box\n\n:0 fw\n| {1}\n", ["{0}/rules"]),
    "maildrop": ('xfilter "{1}"\nto "{0}/box"\n', ["{0}/rules"]),
    "sieve-test": (
        'require "vnd.dovecot.filter"; filter "letters";',
        ["-e", "-c", "conf", "-l", "maildir:{0}/box", "rules", "message"],
    ),
}


@pytest.mark.parametrize("flags", ["-q", "--no-such-option"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_that_deliver(program: str, flags: str, tmp_path: Path) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"needs {program}")
    rules, arguments = PROGRAMS[program]
    for name, mode, text in (
        ("rules", 0o600, rules.format(tmp_path, f"{LETTERS} {flags}")),
        ("letters", 0o700, f"#!/bin/sh\nexec {LETTERS} {flags}\n"),
        ("conf", 0o600, SIEVE.format(tmp_path)),
        ("message", 0o600, MAIL.decode()),
    ):
        Path(name).write_text(text)
        Path(name).chmod(mode)
    command = [program, *(one.format(tmp_path) for one in arguments)]
    if program == "sieve-test" and os.getuid() == 0:  # Dovecot delivers nothing as root
        command[:0] = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    for _ in range(3):
        subprocess.run(command, input=MAIL, check=True, timeout=60)
    wanted, box = DONE if flags == "-q" else MAIL, Path("box")
    if box.is_dir():
        assert [path.read_bytes() for path in (box / "new").iterdir()] == [wanted] * 3
    else:
        assert box.read_bytes().count(wanted) == 3
