"""Directories with files of other runs, many of them, systems with fewer calls, attributes."""

from __future__ import annotations

import json
import os
import plistlib
from pathlib import Path
from typing import Final, NoReturn

import pytest
from as_windows import InUseError, fcntl
from running import done, run

from relbase.cli import directories, locks

LEFT = ".page.html.0123456789abcdef.relbase-tmp"
IN_PLACE = ("rewrite", "--url", "http://h/", "-i")


@pytest.fixture(autouse=True)
def page() -> None:
    Path("page.html").write_bytes(b"<a href=x>")


@pytest.mark.usefixtures("native")
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


@pytest.mark.usefixtures("native")
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


@pytest.mark.usefixtures("native")
def test_more_trees_than_files_can_be_open() -> None:
    trees = [f"tree{number}" for number in range(200)]
    for tree in trees:
        Path(tree).mkdir()
        Path(tree, "page.html").write_bytes(b"<a href=x>")
    import resource  # Windows has none

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


@pytest.mark.usefixtures("as_windows")
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


@pytest.mark.usefixtures("as_windows")
def test_links_are_refused_there_too() -> None:
    Path("link.html").symlink_to("page.html")
    result = run("rewrite", "link.html", "--url", "http://h/", "-i")
    assert (result.exit_code, Path("page.html").read_bytes()) == (3, b"<a href=x>")


@pytest.mark.usefixtures("as_windows")
def test_an_mbox_there() -> None:
    head = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
    Path("in.mbox").write_bytes(head + b"<a href=x>\n")
    assert run("rewrite", "in.mbox", "--url", "http://h/", "-i").exit_code == 0
    assert Path("in.mbox").read_bytes() == head + b"<a href=http://h/x>\n"


@pytest.mark.usefixtures("as_windows")
def test_a_mailbox_that_another_program_shares_with_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str, mode: str) -> NoReturn:
        raise InUseError(13, "another program has the file open", name, mode)

    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    monkeypatch.setattr(directories, "open", refuse, raising=False)
    Path("in.mbox").write_bytes(b"From a@b Mon Jan  1 00:00:00 2024\n\n<a href=x>\n")
    result = run("rewrite", "in.mbox", "--url", "http://h/", "-i")
    assert (result.exit_code, "another program has locked it" in result.stderr) == (4, True)
    assert sorted(path.name for path in Path().iterdir()) == ["in.mbox", "page.html"]


@pytest.mark.usefixtures("as_windows")
def test_what_killed_runs_left_goes_there_and_what_is_open_stays() -> None:
    head = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
    Path("in.mbox").write_bytes(head + b"<a href=x>\n")
    other = LEFT.replace("page", "other")
    for name in (LEFT, other):
        Path(name).touch()
    Path("in.mbox.lock").write_bytes(b"relbase\n")
    with Path(other).open("rb"):
        done("rewrite", "in.mbox", "--url", "http://h/", "-i")
        assert sorted(path.name for path in Path().iterdir()) == [other, "in.mbox", "page.html"]
    done(*IN_PLACE, "page.html")
    assert sorted(path.name for path in Path().iterdir()) == ["in.mbox", "page.html"]


@pytest.mark.usefixtures("as_windows")
def test_a_file_that_another_program_has_open_keeps_all_that_it_is() -> None:
    with Path("page.html").open("rb"):
        result = run(*IN_PLACE, "page.html", "--backup", ".bak")
    assert (result.exit_code, "page.html: error: " in result.stderr) == (3, True)
    assert [path.name for path in Path().iterdir()] == ["page.html"]
    assert Path("page.html").read_bytes() == b"<a href=x>"


@pytest.mark.usefixtures("as_windows")
def test_an_unfinished_file_that_another_run_removed_is_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, removed = os.utime, list[str]()

    def removing(path: str, **times: object) -> None:
        real(path, **times)  # type: ignore[arg-type]
        if not removed:
            removed.append(path)
            Path(path).unlink()

    monkeypatch.setattr(os, "utime", removing)
    done(*IN_PLACE, "page.html")
    assert (len(removed), Path("page.html").read_bytes()) == (1, b"<a href=http://h/x>")


@pytest.mark.usefixtures("as_windows")
def test_the_zone_of_a_file_stays() -> None:
    zone = b"[ZoneTransfer]\r\nHostUrl=http://h/\r\n"
    Path("page.html:Zone.Identifier").write_bytes(zone)
    done("rewrite", "-i", "page.html")
    assert Path("page.html").read_bytes() == b"<a href=http://h/x>"
    assert Path("page.html:Zone.Identifier").read_bytes() == zone


# ---- extended attributes in which browsers and macOS leave the URL of a file

WHERE_FROMS: Final = "user.com.apple.metadata:kMDItemWhereFroms"
ITEMS: Final = ["http://h/a", "http://referrer/"]


@pytest.mark.usefixtures("native")
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
