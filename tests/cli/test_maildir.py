"""A Maildir in which other programs move messages meanwhile: each stays, and stays once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest
from running import PROGRAM, meanwhile, run, told

URL: Final = ("--url", "http://h/")
MAIL: Final = b"Content-Type: text/html\nSubject: a\r\n\n<a href=x>\n"
DONE: Final = b"Content-Type: text/html\nSubject: a\r\n\n<a href=http://h/x>\n"


@pytest.fixture(autouse=True)
def maildir(tmp_path: Path) -> None:
    for box in ("cur", "new", "tmp"):
        (tmp_path / "Maildir" / box).mkdir(parents=True)


def put(name: str) -> None:
    Path("Maildir", name).write_bytes(MAIL)


def tree(directory: str) -> dict[str, bytes]:
    root = Path(directory)
    return {
        os.fspath(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def test_an_output_that_cannot_be_written_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    put("new/1.host")

    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "link", fail)
    result = run("rewrite", "Maildir", *URL, "-o", "out")
    assert result.exit_code == 4
    assert result.stderr == "Error: out/new/1.host: No space left on device\n"
    assert tree("out") == {}


@pytest.mark.parametrize(
    ("name", "call"), [("1.host,S=9", "link"), ("1.host", "replace"), ("1.host", "fsync")]
)
def test_a_program_that_moves_a_message_meanwhile_leaves_one(
    name: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(f"new/{name}")
    real = getattr(os, call)

    def moving(*arguments: Any, **more: Any) -> None:
        Path(f"Maildir/new/{name}").rename(f"Maildir/cur/{name}:2,S")
        real(*arguments, **more)

    monkeypatch.setattr(os, call, moving)
    assert "it was moved while it was read: nothing was written" in told(
        3, "rewrite", "Maildir", *URL, "-i"
    )
    assert tree("Maildir") == {f"cur/{name}:2,S": MAIL}


def test_two_runs_at_once_leave_each_message_once() -> None:
    names = [f"cur/{number}.host,S=9:2," for number in range(40)]
    for name in names:
        put(name)
    command = [*PROGRAM, "rewrite", "Maildir", *URL, "-i"]
    runs = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in range(2)]
    reported = [one.communicate(timeout=60)[1] for one in runs]
    assert all(one.returncode in {0, 3} for one in runs), reported
    assert tree("Maildir") == {name.replace("S=9", f"S={len(DONE)}"): DONE for name in names}


@pytest.mark.parametrize("swapped", ["Maildir", "Maildir/cur"])
def test_what_is_swapped_during_the_run_leads_nowhere(
    swapped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("cur/1.host")
    put("cur/2.host")
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
