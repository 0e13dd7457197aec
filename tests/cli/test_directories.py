"""Directories with files of other runs, many of them, systems with fewer calls, attributes."""

from __future__ import annotations

import fcntl
import json
import os
import plistlib
import resource
from pathlib import Path
from typing import Final

import pytest
from running import done, run

from relbase.cli import directories

LEFT = ".page.html.0123456789abcdef.relbase-tmp"
IN_PLACE = ("rewrite", "--url", "http://h/", "-i")


@pytest.fixture(autouse=True)
def page() -> None:
    Path("page.html").write_bytes(b"<a href=x>")


def test_the_file_of_a_run_that_lives_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    Path(LEFT).touch()
    Path("other.html").write_bytes(b"<a href=x>")
    fsync = os.fsync

    def meanwhile(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", fsync)
        fsync(descriptor)
        done(*IN_PLACE, "other.html")

    monkeypatch.setattr(os, "fsync", meanwhile)
    with Path(LEFT).open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        done(*IN_PLACE, "page.html")
    assert sorted(path.name for path in Path().iterdir()) == [LEFT, "other.html", "page.html"]
    for name in ("other.html", "page.html"):
        assert Path(name).read_bytes() == b"<a href=http://h/x>"


def test_a_file_that_another_run_removed_before_it_was_locked_is_made_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = os.open
    removed: list[str] = []

    def removing(path: str, *arguments: int, **more: int) -> int:
        descriptor = real(path, *arguments, **more)
        if str(path).endswith("relbase-tmp") and len(removed) < 2:
            os.unlink(path, dir_fd=more.get("dir_fd"))
            removed.append(path)
        return descriptor

    monkeypatch.setattr(os, "open", removing)
    done(*IN_PLACE, "page.html")
    assert (len(removed), Path("page.html").read_bytes()) == (2, b"<a href=http://h/x>")


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
    Path("link.html").symlink_to("page.html")
    result = run("rewrite", "link.html", "--url", "http://h/", "-i")
    assert (result.exit_code, Path("page.html").read_bytes()) == (3, b"<a href=x>")


@pytest.mark.usefixtures("windows")
def test_an_mbox_there() -> None:
    head = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
    Path("in.mbox").write_bytes(head + b"<a href=x>\n")
    assert run("rewrite", "in.mbox", "--url", "http://h/", "-i").exit_code == 0
    assert Path("in.mbox").read_bytes() == head + b"<a href=http://h/x>\n"


# ---- extended attributes in which browsers and macOS leave the URL of a file

WHERE_FROMS: Final = "user.com.apple.metadata:kMDItemWhereFroms"
ITEMS: Final = ["http://h/a", "http://referrer/"]


@pytest.mark.parametrize(
    ("name", "value", "url"),
    [
        ("user.xdg.origin.url", b"http://h/\xc3\xa9", "http://h/%C3%A9"),
        ("user.xdg.origin.url", b" http://h/\0", "http://h/"),
        ("user.xdg.referrer.url", b"http://h/", ""),
        (WHERE_FROMS, plistlib.dumps(ITEMS, fmt=plistlib.FMT_BINARY), "http://h/a"),
        (WHERE_FROMS, plistlib.dumps(ITEMS), "http://h/a"),
        (WHERE_FROMS, plistlib.dumps([], fmt=plistlib.FMT_BINARY), ""),
        (WHERE_FROMS, plistlib.dumps({"a": "http://h/"}), ""),
        (WHERE_FROMS, b"bplist00\xff\xff\xff", ""),
        (WHERE_FROMS, b"", ""),
    ],
)
def test_attributes(name: str, value: bytes, url: str) -> None:
    Path("page.html").write_bytes(b"<p>")
    try:
        os.setxattr("page.html", name, value)
    except OSError:
        pytest.skip("the file system has no extended attributes")
    assert json.loads(done("base", "page.html", "--json").stdout)["base"]["url"] == url
