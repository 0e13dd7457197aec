"""Directories: no symbolic link on the way, what killed runs left, and systems with fewer calls."""

from __future__ import annotations

import fcntl
import os
import resource
from pathlib import Path

import pytest
from running import done, run

from relbase.cli import directories
from relbase.cli.directories import new_file, opened_below, opened_directory, sweep

LEFT = ".page.html.0123456789abcdef.relbase-tmp"


# ---- what killed runs left


def test_what_a_killed_run_left_is_removed() -> None:
    for name in (LEFT, ".page.html.0123456789abcdef.tmp", "x.relbase-tmp", ".a.12.relbase-tmp"):
        Path(name).touch()
    with opened_directory(".") as here:
        sweep(here)
    assert len(list(Path().iterdir())) == 3
    assert not Path(LEFT).exists()


def test_the_file_of_a_run_that_lives_stays() -> None:
    Path(LEFT).touch()
    with Path(LEFT).open("rb") as held, opened_directory(".") as here:
        fcntl.flock(held, fcntl.LOCK_EX)
        sweep(here)
        assert Path(LEFT).exists()
        with new_file(here, "page.html") as made:
            sweep(here)
            assert Path(made.name).exists()


def test_a_link_and_a_pipe_of_such_a_name_stay() -> None:
    Path("target").touch()
    Path(LEFT).symlink_to("target")
    os.mkfifo(LEFT.replace("page", "pipe"))
    with opened_directory(".") as here:
        sweep(here)
    assert len(list(Path().iterdir())) == 3


def test_a_file_that_another_run_removed_before_it_was_locked_is_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = os.open
    removed: list[str] = []

    def removing(path: str, *arguments: int, **more: int) -> int:
        descriptor = real(path, *arguments, **more)
        if str(path).endswith("relbase-tmp") and len(removed) < 2:
            os.unlink(path)  # noqa: PTH108
            removed.append(path)
        return descriptor

    with opened_directory(".") as here:
        monkeypatch.setattr(os, "open", removing)
        with new_file(here, "page.html") as made:
            assert made.name not in removed
            assert Path(made.name).exists()
    assert len(removed) == 2


# ---- ways


def test_no_symbolic_link_is_on_the_way() -> None:
    Path("tree/inner").mkdir(parents=True)
    Path("elsewhere/inner").mkdir(parents=True)
    Path("tree/link").symlink_to("../elsewhere")
    Path("link").symlink_to("tree")
    with opened_below("link", ["inner"]) as opened:
        assert opened.names() == []
    with pytest.raises(OSError, match="link"), opened_below("tree", ["link", "inner"]):
        pass
    with opened_below("tree", ["new", "newer"], make=True):
        assert Path("tree/new/newer").is_dir()
    with pytest.raises(OSError, match="link"), opened_below("tree", ["link", "new"], make=True):
        pass
    assert not Path("elsewhere/new").exists()


def test_more_trees_than_files_can_be_open() -> None:
    trees = [f"tree{number}" for number in range(200)]
    for tree in trees:
        Path(tree).mkdir()
        Path(tree, "page.html").write_bytes(b"<a href=x>")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = sum(1 for _ in Path("/dev/fd").iterdir())  # of the tests before, in this process
    resource.setrlimit(resource.RLIMIT_NOFILE, (others + 140, before[1]))
    try:
        result = run("rewrite", *trees, "--root", ".=http://h/", "-i")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert result.exit_code == 0, result.output
    assert all(b"http://h/" in Path(tree, "page.html").read_bytes() for tree in trees)


# ---- a system without descriptors of directories, and without most flags and calls


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Windows lacks is taken away; `os.name` stays, or pathlib would be another."""
    for name in ("O_NOFOLLOW", "O_DIRECTORY", "O_NONBLOCK", "O_NOCTTY", "fchmod", "fchown"):
        monkeypatch.delattr(os, name)
    for name in ("listxattr", "getxattr", "setxattr"):
        monkeypatch.delattr(os, name)
    for name in ("supports_dir_fd", "supports_fd", "supports_follow_symlinks"):
        monkeypatch.setattr(os, name, set())
    monkeypatch.setattr(directories, "BY_DESCRIPTOR", False)
    monkeypatch.setattr(directories, "_CLOSED_FIRST", True)
    monkeypatch.setattr(directories, "fcntl", None)
    monkeypatch.setattr("mailbox.fcntl", None)


@pytest.mark.usefixtures("windows")
def test_a_system_that_has_less() -> None:
    Path("tree/inner").mkdir(parents=True)
    Path("tree/inner/page.html").write_bytes(b"<a href=x>\r\n")
    os.utime("tree/inner/page.html", ns=(10**18, 10**18))
    root = ("--root", "tree=http://h/")
    result = done("rewrite", "-r", "tree", *root, "-o", "out")
    content = b"<a href=http://h/inner/x>\r\n"
    assert Path("out/inner/page.html").read_bytes() == content
    assert Path("out/inner/page.html").stat().st_mtime_ns == 10**18
    result = done("rewrite", "-r", "tree", *root, "-i", "--backup", ".bak")
    assert Path("tree/inner/page.html").read_bytes() == content
    assert Path("tree/inner/page.html.bak").exists()
    result = run("rewrite", "tree/inner/page.html", "-o", "out.html")
    assert (result.exit_code, Path("out.html").read_bytes()) == (0, content)


@pytest.mark.usefixtures("windows")
def test_links_are_refused_there_too() -> None:
    Path("page.html").write_bytes(b"<a href=x>")
    Path("link.html").symlink_to("page.html")
    result = run("rewrite", "link.html", "--url", "http://h/", "-i")
    assert (result.exit_code, Path("page.html").read_bytes()) == (3, b"<a href=x>")


@pytest.mark.usefixtures("windows")
def test_an_mbox_there() -> None:
    head = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
    Path("in.mbox").write_bytes(head + b"<a href=x>\n")
    assert run("rewrite", "in.mbox", "--url", "http://h/", "-i").exit_code == 0
    assert Path("in.mbox").read_bytes() == head + b"<a href=http://h/x>\n"
