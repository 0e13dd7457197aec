"""A mailbox is locked while it is replaced: fcntl and the dot lock, and nobody's lock is broken."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from running import meanwhile, run

from relbase.cli import writing

HEAD: Final = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
BOX: Final = HEAD + b"<a href=x>\n\n" + HEAD + b"<a href=y>\n"
DONE: Final = BOX.replace(b"=x", b"=http://h/x").replace(b"=y", b"=http://h/y")

HOLD: Final = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PATIENCE", 0.2)
    Path("in.mbox").write_bytes(BOX)


@pytest.mark.parametrize("how", ["dot", "fcntl"])
def test_a_lock_of_somebody_else_stops_the_run(how: str) -> None:
    command = [sys.executable, "-c", HOLD, "in.mbox"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        if how == "dot":
            holder.communicate()
            Path("in.mbox.lock").write_bytes(b"1\n")
        result = run("rewrite", "in.mbox", "--url", "http://h/", "-i")
        holder.communicate()
    assert result.exit_code == 4
    why = "there is a lock, in.mbox.lock" if how == "dot" else "another program has locked it"
    fix = "wait for it, or rewrite a copy with -o"
    assert result.stderr == f"Error: in.mbox: {why}: {fix}\n"
    assert Path("in.mbox").read_bytes() == BOX
    assert Path("in.mbox.lock").exists() is (how == "dot")


@pytest.mark.parametrize("lock", [None, b"1\n"])
def test_a_file_system_without_hard_links(
    lock: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(errno.EPERM, "no hard links")

    monkeypatch.setattr(os, "link", refused)
    if lock is not None:
        Path("in.mbox.lock").write_bytes(lock)
    result = run("rewrite", "in.mbox", "--url", "http://h/", "-i")
    assert (result.exit_code, Path("in.mbox").read_bytes()) == ((4, BOX) if lock else (0, DONE))
    assert len(list(Path().iterdir())) == 1 + (lock is not None)


def test_a_directory_without_a_place_for_the_lock_costs_its_mailbox(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    Path("other.mbox").write_bytes(BOX)
    real = os.open

    def refused(path: str, flags: int, *more: int, **ends: int) -> int:
        if flags & os.O_CREAT and ".in.mbox" in str(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return real(path, flags, *more, **ends)

    monkeypatch.setattr(os, "open", refused)
    result = run("rewrite", "in.mbox", "other.mbox", "--root", ".=http://h/", "-i")
    assert (result.exit_code, Path("in.mbox").read_bytes()) == (3, BOX)
    assert (Path("other.mbox").read_bytes(), "Permission denied" in result.stderr) == (DONE, True)


def test_the_dot_lock_of_a_run_is_removed_once_that_was_killed() -> None:
    Path("in.mbox.lock").write_bytes(b"relbase\n")
    with Path("in.mbox.lock").open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run("rewrite", "in.mbox", "--url", "http://h/", "-i").exit_code == 4
        assert Path("in.mbox.lock").exists()
    assert run("rewrite", "in.mbox", "--url", "http://h/", "-i").exit_code == 0
    assert Path("in.mbox").read_bytes() == DONE
    assert not Path("in.mbox.lock").exists()


DELIVER: Final = """
import fcntl, sys, time
with open("in.mbox", "r+b") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    time.sleep(0.5)
    file.seek(0, 2)
    file.write(b"\\n" + open("more", "rb").read())
"""


def test_what_is_delivered_while_it_waits_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "PATIENCE", 10.0)
    Path("more").write_bytes(BOX)
    command = [sys.executable, "-c", DELIVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        result = run("rewrite", "in.mbox", "--url", "http://h/", "-i")
    assert (result.exit_code, Path("in.mbox").read_bytes()) == (0, DONE + b"\n" + DONE)


def test_a_delivery_without_locks_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    left = [b"\n" + BOX]

    def delivering(_: bytes) -> None:
        if left:
            with Path("in.mbox").open("ab") as file:
                file.write(left.pop())

    meanwhile(monkeypatch, delivering)
    result = run("rewrite", "in.mbox", "--url", "http://h/", "-i")
    assert (result.exit_code, Path("in.mbox").read_bytes()) == (0, DONE + b"\n" + DONE)


def test_a_file_that_another_run_is_removing_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("page.html").write_bytes(b"<a href=x>")
    flock, fsync, removed = fcntl.flock, os.fsync, list[Path]()

    def taken(descriptor: int, operation: int) -> None:
        if not removed:
            removed.extend(Path().glob(".*.relbase-tmp"))
            raise BlockingIOError
        flock(descriptor, operation)

    def late(descriptor: int) -> None:
        removed[0].unlink(missing_ok=True)
        fsync(descriptor)

    monkeypatch.setattr(fcntl, "flock", taken)
    monkeypatch.setattr(os, "fsync", late)
    assert run("rewrite", "page.html", "-u", "http://h/", "-i").exit_code == 0
    assert Path("page.html").read_bytes() == b"<a href=http://h/x>"
    assert len(removed) == 1
