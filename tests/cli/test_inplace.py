"""Files that are replaced (threats P1, P2, W8): whole, checked, and as they were beside."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import pytest
from running import run, told

from relbase import pipeline
from relbase.cli import writing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from relbase.call import Call
    from relbase.results import Result

PAGE: Final = b"<p>\xff\r\n<a href=x>\x00\r"
DONE: Final = b"<p>\xff\r\n<a href=http://h/x>\x00\r"
URL: Final = ("--url", "http://h/")


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[None]:
    Path("page.html").write_bytes(PAGE)
    yield
    assert not list(tmp_path.rglob("*relbase-tmp*"))


def test_the_new_content_stands_in_the_place_of_the_old() -> None:
    path = Path("page.html")
    os.utime(path, ns=(10**9, 10**18 + 7))
    path.chmod(0o640)
    before = path.stat()
    result = run("rewrite", path, *URL, "-i")
    assert (result.exit_code, result.output) == (0, "")
    after = path.stat()
    assert path.read_bytes() == DONE
    assert stat.S_IMODE(after.st_mode) == 0o640
    assert (after.st_mtime_ns, after.st_uid, after.st_gid) == (
        before.st_mtime_ns,
        before.st_uid,
        before.st_gid,
    )
    assert after.st_ino != before.st_ino


def test_a_file_in_which_nothing_changes_is_not_touched() -> None:
    path = Path("page.html")
    path.write_bytes(b"<p>")
    before = path.stat()
    assert run("rewrite", path, *URL, "-i").exit_code == 0
    assert path.stat() == before


def test_attributes_and_access_control_lists_stay() -> None:
    if shutil.which("setfacl") is None:
        pytest.skip("setfacl is not installed")
    try:
        os.setxattr("page.html", "user.origin", b"x\0y")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    acl = subprocess.run(["setfacl", "-m", "u:1:r", "page.html"], check=False, capture_output=True)
    wanted = {name: os.getxattr("page.html", name) for name in os.listxattr("page.html")}
    assert len(wanted) == 1 + (acl.returncode == 0)
    assert run("rewrite", "page.html", *URL, "-i").exit_code == 0
    assert {name: os.getxattr("page.html", name) for name in os.listxattr("page.html")} == wanted


def test_backups_are_never_replaced() -> None:
    Path("page.html.bak").write_bytes(b"older")
    for number in range(2):
        Path("page.html").write_bytes(PAGE + b"%d" % number)
        assert run("rewrite", "page.html", *URL, "-i", "--backup", ".bak").exit_code == 0
    kept = {path.name: path.read_bytes() for path in Path().glob("page.html.bak*")}
    assert kept == {
        "page.html.bak": b"older",
        "page.html.bak.1": PAGE + b"0",
        "page.html.bak.2": PAGE + b"1",
    }


# ---- what is refused


def test_a_symbolic_link() -> None:
    Path("link.html").symlink_to("page.html")
    result = run("rewrite", "link.html", *URL, "-i")
    assert (result.exit_code, Path("page.html").read_bytes()) == (3, PAGE)
    assert "it is a symbolic link: give --follow-symlinks" in result.stderr
    assert run("rewrite", "link.html", *URL, "-i", "--follow-symlinks").exit_code == 0
    assert (Path("page.html").read_bytes(), Path("link.html").is_symlink()) == (DONE, True)


def test_a_pipe_is_not_replaced() -> None:
    os.mkfifo("pipe")
    box = b"From a@b Mon Jan  1 00:00:00 2024\nSubject: x\n\n"
    writer = threading.Thread(target=Path("pipe").write_bytes, args=(box,), daemon=True)
    writer.start()
    result = run("rewrite", "pipe", *URL, "-i")
    writer.join(timeout=10)
    reported = "pipe: error: it is not a regular file: nothing can be written in its place\n"
    assert (result.exit_code, result.stderr) == (3, reported)


def test_a_file_with_two_names() -> None:
    os.link("page.html", "other.html")
    result = run("rewrite", "page.html", *URL, "-i")
    assert (result.exit_code, Path("page.html").read_bytes()) == (3, PAGE)
    assert "it has 2 names (hard links)" in result.stderr
    assert run("rewrite", "page.html", *URL, "-i", "--break-hardlinks").exit_code == 0
    assert (Path("page.html").read_bytes(), Path("other.html").read_bytes()) == (DONE, PAGE)


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_that_changes_meanwhile_is_tried_again_once(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = writing.keep_attributes
    written = [PAGE + bytes([number]) for number in range(times)]
    left = list(written)

    def meanwhile(*arguments: object) -> None:
        real(*arguments)  # type: ignore[arg-type]
        if left:
            Path("page.html").write_bytes(left.pop(0))

    monkeypatch.setattr(writing, "keep_attributes", meanwhile)
    result = run("rewrite", "page.html", *URL, "-i")
    if times == 1:
        assert (result.exit_code, Path("page.html").read_bytes()) == (0, DONE + b"\0")
        return
    assert result.exit_code == 3
    assert (
        result.stderr
        == "page.html: error: it changed while it was read: nothing was written, try again\n"
    )
    assert Path("page.html").read_bytes() == written[-1]


# ---- what fails


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EPERM, errno.EDQUOT])
@pytest.mark.parametrize("call", ["write", "fsync", "fchmod", "utime", "replace"])
def test_a_fault_leaves_the_original(
    call: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail)
        result = run("rewrite", "page.html", *URL, "-i", "--backup", ".bak")
    stops = number != errno.EPERM  # which is of this file alone
    assert result.exit_code == (4 if stops else 3)
    text = "Error:" if stops else "page.html: error:"
    assert result.stderr == f"{text} ./page.html: {os.strerror(number)}\n"
    assert Path("page.html").read_bytes() == PAGE


def test_a_rewriting_that_fails_the_self_check_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = pipeline.rewrite_called

    def wrong(data: bytes, call: Call) -> Result:
        result = real(data, call)
        return result._replace(data=result.data.replace(b"<p>", b"<b>"))

    monkeypatch.setattr(pipeline, "rewrite_called", wrong)
    assert "bytes from 0 to 14 changed outside of links: nothing was written" in told(
        5, "rewrite", "page.html", *URL, "-i"
    )
    assert Path("page.html").read_bytes() == PAGE
    Path("out.html").write_bytes(b"old")
    assert run("rewrite", "page.html", *URL, "-o", "out.html").exit_code == 5
    assert Path("out.html").read_bytes() == b"old"


def test_a_name_that_is_too_long_costs_its_file() -> None:
    long = f"{'x' * 240}.html"
    Path(long).write_bytes(PAGE)
    root = ("--root", ".=http://h/")
    assert f"{long}: error: ./{long}: File name too long" in told(
        3, "rewrite", long, "page.html", *root, "-i", "--backup", ".of-yesterday"
    )
    assert (Path(long).read_bytes(), Path("page.html").read_bytes()) == (PAGE, DONE)
    Path("y" * 253).write_bytes(PAGE)
    assert "File name too long" in told(3, "explain", "y" * 253, "page.html", *root, "-o", "out")
    assert sorted(path.name for path in Path("out").iterdir()) == ["index.html", "page.html.html"]


def test_the_group_stays_where_the_owner_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def own(_descriptor: int, owner: int, group: int) -> None:
        asked.append((owner, group))
        if owner != -1:
            raise PermissionError

    monkeypatch.setattr(os, "fchown", own)
    status = Path("page.html").stat()
    assert run("rewrite", "page.html", *URL, "-i").exit_code == 0
    assert asked == [(status.st_uid, status.st_gid), (-1, status.st_gid)]
