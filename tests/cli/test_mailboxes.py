"""Mailboxes and Maildirs: locked while they are replaced, compressed, in bounded memory."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest
from as_windows import fcntl
from running import PROGRAM, meanwhile, run, told

from relbase.cli import documents, locks

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("each_system")

URL: Final = ("--url", "http://h/")
HEAD: Final = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
BOX: Final = HEAD + b"<p>\n\n" + HEAD + b"<a href=x>\n\n" + HEAD + b"<a href=y>\n"
DONE: Final = BOX.replace(b"=x", b"=http://h/x").replace(b"=y", b"=http://h/y")


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    Path("in.mbox").write_bytes(BOX)


def test_a_message_that_cannot_be_done_is_passed_through(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(data: bytes) -> None:
        if b"=x" in data:
            raise MemoryError

    meanwhile(monkeypatch, failing)
    Path("map").write_text("a@b\thttp://h/\n")  # the message that failed might be of this sender
    result = run("rewrite", "in.mbox", *URL, "--message-map", "map")
    assert (result.exit_code, result.stdout_bytes) == (3, DONE.replace(b"=http://h/x", b"=x"))
    assert result.stderr.startswith("in.mbox: message 2, left unchanged: error: it does not fit")
    assert "selects no message" not in result.stderr


def test_what_is_read_again_under_the_lock_counts_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    bar = nullcontext(lambda read, _done=0: sizes.append(read))
    monkeypatch.setattr("relbase.cli.streams.progress", lambda *_, **__: bar)
    assert run("rewrite", "in.mbox", *URL, "-i").exit_code == 0
    assert sum(sizes) == len(BOX)


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


# ---- locks: fcntl and the dot lock, and nobody's is broken

HOLD: Final = """
import sys
if sys.platform != "win32":
    import fcntl
    file = open(sys.argv[1], "r+b")
    fcntl.lockf(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["dot", "directory", "fcntl"])
def test_a_lock_of_somebody_else_stops_the_run(how: str, each_system: str) -> None:
    if each_system == "Windows" and how == "fcntl":
        pytest.skip("Windows has no such lock")
    command = [sys.executable, "-c", HOLD, "in.mbox"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        if how != "fcntl":
            holder.communicate()
            lock = Path("in.mbox.lock")
            lock.mkdir() if how == "directory" else lock.write_bytes(b"1\n")
        result = run("rewrite", "in.mbox", "--url", "http://h/", "-i")
        holder.communicate()
    assert result.exit_code == 4
    why = (
        "another program has locked it" if how == "fcntl" else "it is locked (in.mbox.lock exists)"
    )
    fix = "wait until it is released, or rewrite a copy with -o"
    assert result.stderr == f"Error: in.mbox: {why}: {fix}\n"
    assert Path("in.mbox").read_bytes() == BOX
    assert Path("in.mbox.lock").exists() is (how != "fcntl")


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


def test_the_dot_lock_of_a_run_is_removed_once_that_was_killed(each_system: str) -> None:
    Path("in.mbox.lock").write_bytes(b"relbase\n")
    with Path("in.mbox.lock").open("rb") as held:
        if each_system != "Windows":  # where a file that is open is locked
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


@pytest.mark.usefixtures("native")
def test_what_is_delivered_while_it_waits_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 10.0)
    Path("more").write_bytes(BOX)
    command = [sys.executable, "-c", DELIVER]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
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


# ---- compressed mail: streams in and out, the same coding, broken streams and bombs

FOLD: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
UNFOLD: Final = {"gz": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress}


def put(name: str, data: bytes = BOX) -> bytes:
    packed = FOLD[name.rpartition(".")[2]](data)
    Path(name).write_bytes(packed)
    return packed


@pytest.mark.parametrize("coding", FOLD)
def test_several_members_are_read(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relbase.cli.files.PIECE", 50)
    packed = b"".join(FOLD[coding](BOX[at : at + 40]) for at in range(0, len(BOX), 40))
    Path(f"in.mbox.{coding}").write_bytes(packed + b"\0" * 8)
    output = run("rewrite", f"in.mbox.{coding}", "--kind", "mbox", *URL).stdout_bytes
    assert UNFOLD[coding](output) == DONE


@pytest.mark.parametrize("coding", FOLD)
def test_a_broken_stream_is_not_written(coding: str) -> None:
    whole = put(f"in.mbox.{coding}")
    name = f"in.mbox.{coding}"
    cuts = (12, len(whole) // 2, len(whole) - 1)
    for broken in (*(whole[:cut] for cut in cuts), whole[:-20] + bytes(20), whole + b"rubbish"):
        Path(name).write_bytes(broken)
        for arguments in ([], ["-o", "out"], ["-i"]):
            result = run("rewrite", name, *URL, *arguments)
            assert result.exit_code == 3, (broken, arguments)
            assert f"{name}: error: " in result.stderr
            assert f" {coding} data" in result.stderr
        assert {path.name for path in Path().iterdir()} == {"in.mbox", name}
        assert Path(name).read_bytes() == broken


@pytest.mark.parametrize("coding", FOLD)
def test_a_bomb_is_refused(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "_LEAST", 1 << 20)
    put(f"in.mbox.{coding}", BOX + b"a" * (8 << 20))
    assert "expands to more than 100 times its size and 1 MiB: decompress it" in told(
        3, "rewrite", f"in.mbox.{coding}", *URL, "-o", "out"
    )


@pytest.mark.usefixtures("native")
def test_a_file_that_was_swapped_is_not_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    put("in.mbox.gz")
    put("other.mbox.gz")

    def swapping(_: bytes) -> None:
        if Path("other.mbox.gz").exists():
            Path("other.mbox.gz").replace("in.mbox.gz")

    meanwhile(monkeypatch, swapping)
    result = run("rewrite", "in.mbox.gz", *URL, "-o", "out")
    assert (result.exit_code, Path("out").exists()) == (3, False)
    assert "it was replaced by another file" in result.stderr


# ---- memory

MEGABYTES: Final = 40

RUNNER: Final = """
import resource, subprocess, sys
ran = subprocess.run(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, file=sys.stderr)
sys.exit(ran.returncode)
"""


@pytest.mark.usefixtures("native")
@pytest.mark.skipif(sys.platform != "linux", reason="the unit of ru_maxrss is that of Linux")
def test_memory_is_bounded_by_the_largest_message() -> None:
    filler = b"words of a message, one line after the other, as they come\n" * 250
    messages = b"".join(HEAD + b"<a href=%d>\n" % one + filler + b"\n" for one in range(64))
    count = MEGABYTES * 1_000_000 // len(messages)
    with Path("in.mbox").open("wb") as file:
        file.writelines(messages for _ in range(count))
    command = [*PROGRAM, "rewrite", "in.mbox", *URL, "-q", "-o", "out"]
    ran = subprocess.run([sys.executable, "-c", RUNNER, *command], capture_output=True, check=True)
    grown = Path("out").stat().st_size - Path("in.mbox").stat().st_size
    assert grown == 64 * count * len(b"http://h/")
    Path("in.mbox").unlink()  # the last three directories of tests are kept
    Path("out").unlink()
    assert int(ran.stderr) < 45


# ---- a Maildir in which other programs move messages meanwhile: each stays, and stays once

MAIL: Final = b"Content-Type: text/html\nSubject: a\r\n\n<a href=x>\n"
MADE: Final = b"Content-Type: text/html\nSubject: a\r\n\n<a href=http://h/x>\n"


def deliver(name: str) -> None:
    for box in ("cur", "new", "tmp"):
        Path("Maildir", box).mkdir(parents=True, exist_ok=True)
    Path("Maildir", name).write_bytes(MAIL)


def tree(directory: str) -> dict[str, bytes]:
    root = Path(directory)
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_an_output_that_cannot_be_written_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    deliver("new/1.host")

    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", fail)
    result = run("rewrite", "Maildir", *URL, "-o", "out")
    assert result.exit_code == 4
    name = os.path.join("out", "new", "1.host")  # noqa: PTH118
    assert result.stderr == f"Error: {name}: No space left on device\n"
    assert tree("out") == {}


@pytest.mark.parametrize(
    ("name", "call"), [("1.host,S=9", "link"), ("1.host", "replace"), ("1.host", "fsync")]
)
def test_a_program_that_moves_a_message_meanwhile_leaves_one(
    name: str, call: str, each_system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if each_system == "Windows" and call != "link":
        pytest.skip("Windows moves no file that is open, and sees none that is replaced")
    deliver(f"new/{name}")
    real = getattr(os, call)

    def moving(*arguments: Any, **more: Any) -> None:
        Path(f"Maildir/new/{name}").rename(f"Maildir/cur/{name}:2,S")
        real(*arguments, **more)

    monkeypatch.setattr(os, call, moving)
    assert "it was moved while it was read: nothing was written" in told(
        3, "rewrite", "Maildir", *URL, "-i"
    )
    assert tree("Maildir") == {f"cur/{name}:2,S": MAIL}


@pytest.mark.usefixtures("each_system")
@pytest.mark.parametrize("has_written", [[], [MADE]])
def test_a_run_that_another_one_overtakes_removes_nothing(
    has_written: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the new name and the removal of the old one, or before both."""
    deliver("cur/1.host,S=9:2,")
    new, real = Path(f"Maildir/cur/1.host,S={len(MADE)}:2,"), os.link

    def overtaken(*arguments: Any, **more: Any) -> None:
        try:
            for message in has_written:
                new.write_bytes(message)
            real(*arguments, **more)
        finally:
            Path("Maildir/cur/1.host,S=9:2,").unlink()

    monkeypatch.setattr(os, "link", overtaken)
    run("rewrite", "Maildir", *URL, "-i")
    assert tree("Maildir") == {f"cur/{new.name}": MADE}


def test_a_second_name_that_a_killed_run_left_is_no_hard_link(each_system: str) -> None:
    if each_system == "Windows":
        pytest.skip("Windows removes no name of a file that is open")
    names = {f"cur/{number}.host,S={len(MADE)}:2,": MADE for number in range(2)}
    for name in ("cur/0.host,S=9:2,", *names):
        deliver(name)
    for number, name in enumerate(names):
        Path("Maildir", name).write_bytes(MADE)
        left = f"Maildir/tmp/.{name.removeprefix('cur/')}.{number:016x}.relbase-tmp"
        Path(left).hardlink_to(Path("Maildir", name))
    result = run("rewrite", "Maildir", *URL, "-i")
    assert (result.exit_code, tree("Maildir")) == (0, names)
    Path("other").hardlink_to(f"Maildir/cur/1.host,S={len(MADE)}:2,")
    assert "it has 2 hard links" in told(3, "rewrite", "Maildir", *URL, "-i")


def test_two_runs_at_once_leave_each_message_once() -> None:
    names = [f"cur/{number}.host,S=9:2," for number in range(40)]
    for name in names:
        deliver(name)
    command = [*PROGRAM, "rewrite", "Maildir", *URL, "-i"]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    reported = [one.communicate(timeout=300)[1] for one in runs]
    assert all(one.returncode in {0, 3} for one in runs), reported
    assert tree("Maildir") == {name.replace("S=9", f"S={len(MADE)}"): MADE for name in names}


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("swapped", ["Maildir", "Maildir/cur"])
def test_what_is_swapped_during_the_run_leads_nowhere(
    swapped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliver("cur/1.host")
    deliver("cur/2.host")
    victim = Path("victim") if swapped == "Maildir" else Path("victim/cur")
    for box in ("cur", "new", "tmp"):
        Path("victim", box).mkdir(parents=True)
    for number in (1, 2):
        Path(f"victim/cur/{number}.host").write_bytes(MAIL)

    def swapping(_: bytes) -> None:
        if not Path("kept").exists():
            Path(swapped).rename("kept")
            Path(swapped).symlink_to(Path.cwd() / victim)

    meanwhile(monkeypatch, swapping)
    run("rewrite", "Maildir", *URL, "-i")
    assert [Path(f"victim/cur/{number}.host").read_bytes() for number in (1, 2)] == [MAIL, MAIL]
