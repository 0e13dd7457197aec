"""Threats P1, P2, W7 and W8: what fails or happens meanwhile leaves whole files, and no others."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import pytest
from as_windows import fcntl
from running import done, meanwhile, run, told

import relbase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from relbase.results import Result
    from relbase.session.session import OpenedDocument

pytestmark = pytest.mark.usefixtures("each_system")

PAGE: Final = b"<p>\xff\r\n<a href=x>\x00\r"
DONE: Final = b"<p>\xff\r\n<a href=http://h/x>\x00\r"
URL: Final = ("--url", "http://h/")
IN_PLACE: Final = ("rewrite", "page.html", *URL, "-i")


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[None]:
    Path("page.html").write_bytes(PAGE)
    yield
    assert not list(tmp_path.rglob("*relbase-tmp*"))


@pytest.mark.usefixtures("native")
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
    done(*IN_PLACE)
    assert {name: os.getxattr("page.html", name) for name in os.listxattr("page.html")} == wanted


@pytest.mark.usefixtures("native")
def test_the_group_stays_where_the_owner_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def own(_descriptor: int, owner: int, group: int) -> None:
        asked.append((owner, group))
        if owner != -1:
            raise PermissionError

    monkeypatch.setattr(os, "fchown", own)
    status = Path("page.html").stat()
    done(*IN_PLACE)
    assert asked == [(status.st_uid, status.st_gid), (-1, status.st_gid)]


# ---- what happens meanwhile


def linked(name: str, target: str) -> None:
    Path(name).symlink_to(target)
    if not Path(name).is_symlink():
        pytest.skip("this system makes no symbolic links")


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_that_changes_meanwhile_is_tried_again_once(
    times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = [PAGE + bytes([number]) for number in range(times)]
    last = left[-1]
    fsync = os.fsync

    def changing(descriptor: int) -> None:
        fsync(descriptor)
        if left:
            Path("page.html").write_bytes(left.pop(0))

    monkeypatch.setattr(os, "fsync", changing)
    result = run(*IN_PLACE)
    error = "page.html: error: it changed while it was read: nothing was written, try again\n"
    assert (result.exit_code, result.stderr) == ((0, "") if times == 1 else (3, error))
    assert Path("page.html").read_bytes() == (DONE + b"\0" if times == 1 else last)


@pytest.mark.parametrize(
    ("what", "error"),
    [
        (lambda: linked("out/b.html", "../x"), "is not a regular file: not replaced"),
        (lambda: Path("out/b.html").mkdir(), "is not a regular file: not replaced"),
        # as a file system that takes both names for one shows it
        (
            lambda: Path("out/b.html").hardlink_to("out/page.html"),
            "another output of this run has the same name",
        ),
    ],
)
def test_what_came_into_the_place_of_an_output_stays(
    what: Callable[[], None], error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("a.html").write_bytes(PAGE)
    Path("b.html").write_bytes(PAGE)

    def coming(_: bytes) -> None:
        if Path("out/page.html").exists() and not os.path.lexists("out/b.html"):
            what()

    meanwhile(monkeypatch, coming)
    command = ("rewrite", "page.html", "a.html", "b.html", "--root", ".=http://h/", "-o", "out")
    assert error in told(3, *command, "--force")
    assert not Path("x").exists()


@pytest.mark.usefixtures("native")
def test_a_file_that_another_run_is_removing_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
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
    done(*IN_PLACE)
    assert Path("page.html").read_bytes() == DONE
    assert len(removed) == 1


@pytest.mark.usefixtures("native")
def test_a_backup_of_another_program_that_was_faster_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def late(*names: str, **how: Any) -> None:
        if names[1] == "page.html.bak":
            Path(names[1]).write_bytes(b"another")
        link(*names, **how)

    monkeypatch.setattr(os, "link", late)
    monkeypatch.setattr(os, "supports_follow_symlinks", {late})
    done(*IN_PLACE, "--backup", ".bak")
    assert Path("page.html").read_bytes() == DONE
    assert Path("page.html.bak").read_bytes() == b"another"
    assert Path("page.html.bak.1").read_bytes() == PAGE


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("how", [(), ("--follow-symlinks",), ("--backup", ".bak")])
def test_a_directory_that_is_swapped_leads_nowhere(
    how: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("saved", "victim"):
        Path(folder).mkdir()
        Path(folder, "page.html").write_bytes(PAGE)

    def swapping(_: bytes) -> None:
        if not Path("kept").exists():
            Path("saved").rename("kept")
            Path("saved").symlink_to("victim")

    meanwhile(monkeypatch, swapping)
    reported = told(3, "rewrite", "saved/page.html", *URL, "-i", *how)
    assert "page.html: error: its directory was replaced while it was read" in reported
    for folder in ("kept", "victim"):
        assert {path.name: path.read_bytes() for path in Path(folder).iterdir()} == {
            "page.html": PAGE
        }


# ---- what fails


NUMBERS: Final = (errno.ENOSPC, errno.EIO, errno.EPERM, errno.EDQUOT)
FAILS: Final = [*(OSError(one, os.strerror(one)) for one in NUMBERS), KeyboardInterrupt()]


@pytest.mark.parametrize("error", FAILS)
@pytest.mark.parametrize("call", ["write", "fsync", "fchmod", "utime", "replace"])
@pytest.mark.parametrize("where", ["-i --backup .bak", "-o out"])
def test_a_fault_leaves_what_was_there(
    where: str, call: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("out").write_bytes(b"old")

    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise error

    if not hasattr(os, call):
        pytest.skip("Windows has no such call")
    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail)
        result = run("rewrite", "page.html", *URL, *where.split())
    assert (Path("page.html").read_bytes(), Path("out").read_bytes()) == (PAGE, b"old")
    if isinstance(error, OSError):
        name = "page.html" if where.startswith("-i") else f".{os.sep}out"
        costs_itself = name == "page.html" and error.errno == errno.EPERM
        start = "page.html: error" if costs_itself else f"Error: {name}"
        assert result.stderr == f"{start}: {error.strerror}\n"
        assert result.exit_code == (3 if costs_itself else 4)


def test_a_rewriting_that_fails_the_self_check_is_not_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = relbase.session.run.rewrite

    def wrong(given: OpenedDocument) -> Result:
        result = real(given)
        return result._replace(data=result.data.replace(b"<p>", b"<b>"))

    monkeypatch.setattr("relbase.session.run.rewrite", wrong)
    Path("out.html").write_bytes(b"old")
    for where in (["-i"], ["-o", "out.html"]):
        reported = told(5, "rewrite", "page.html", *URL, *where)
        assert "bytes from 0 to 14 changed outside of links: nothing was written" in reported
    assert (Path("page.html").read_bytes(), Path("out.html").read_bytes()) == (PAGE, b"old")


# ---- the disk


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize("folders", [("", "d"), ("cur", "new", "tmp", ".Sent/cur", ".Sent/new")])
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the names of open files: /proc")
def test_what_was_made_is_on_the_disk_when_the_run_is_done(
    folders: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in folders:
        Path("tree", folder).mkdir(parents=True, exist_ok=True)
        Path("tree", folder, "1").write_bytes(b"Content-Type: text/html\n\n")
    settled: set[Path] = set()
    fsync = os.fsync

    def settle(descriptor: int) -> None:
        fsync(descriptor)
        settled.add(Path(f"/proc/self/fd/{descriptor}").readlink())

    monkeypatch.setattr(os, "fsync", settle)
    done("rewrite", "tree", "-o", "out")
    made = (path for path in (Path("out"), *Path("out").rglob("*")) if path.is_dir())
    assert {path.resolve() for path in made if any(path.iterdir())} <= settled


@pytest.mark.usefixtures("native")
@pytest.mark.parametrize(
    ("number", "status", "error"),
    [(errno.EIO, 4, "Error: .: the disk fails\n"), (errno.EINVAL, 0, "")],
)
def test_a_disk_that_fails_at_the_end(
    number: int, status: int, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(number, "the disk fails")

    monkeypatch.setattr(os, "fsync", fail)
    result = run(*IN_PLACE)
    assert (result.exit_code, result.stderr) == (status, error)
