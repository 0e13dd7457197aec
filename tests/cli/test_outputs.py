"""Threats W7, W8 and P1: where outputs go, and what stands there afterwards."""

from __future__ import annotations

import errno
import os
import stat
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import pytest
from running import run

from relbase.cli.files import InputError, Output
from relbase.cli.streams import OutputError
from relbase.cli.writing import Writer, settle

if TYPE_CHECKING:
    from collections.abc import Iterator

SECOND: Final = 10**9


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[Path]:
    """Run in an empty directory; no temporary file may be left in it."""
    yield tmp_path
    assert not list(tmp_path.rglob("*relbase-tmp*"))


def make(name: str, data: bytes = b"") -> str:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(data)
    return name


def tree(directory: str = ".") -> set[str]:
    paths = Path(directory).rglob("*")
    return {str(path.relative_to(directory)) for path in paths if path.is_file()}


# ---- where outputs go


@pytest.mark.parametrize(
    ("inputs", "output", "made"),
    [
        (["a"], "out", {"out"}),
        (["-"], "out", {"out"}),
        (["a"], "out/", {"out/a"}),
        (["a"], "there", {"there/a"}),
        (["a", "sub/b"], "out", {"out/a", "out/b"}),
        (["sub/../sub/..html"], "out/", {"out/..html"}),  # names come from the inputs alone
    ],
)
def test_where_outputs_go(inputs: list[str], output: str, made: set[str]) -> None:
    Path("there").mkdir()
    given = {make("a"), make("sub/b"), make("sub/..html")}
    assert run("rewrite", *inputs, "-o", output).exit_code == 0
    assert tree() == given | made


# ---- writing


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o4755, 0o444])
def test_the_output_has_the_mode_and_the_time_of_the_input(mode: int) -> None:
    os.utime(make("a", b"new"), ns=(3 * SECOND, 5 * SECOND + 7))
    Path("a").chmod(mode)
    assert run("rewrite", "a", "-o", "out").exit_code == 0
    status = Path("out").stat()
    assert Path("out").read_bytes() == b"new"
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (mode & 0o777, 5 * SECOND + 7)


def test_without_an_input_file_the_mode_is_that_of_new_files() -> None:
    before = os.umask(0o027)
    try:
        run("rewrite", "-o", "out", stdin=b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o640


def test_an_old_output_is_replaced_and_not_written_into() -> None:
    os.link(make("out", b"old"), "other")
    run("rewrite", "-o", "out", stdin=b"new")
    assert (Path("out").read_bytes(), Path("other").read_bytes()) == (b"new", b"old")


def test_long_names_and_names_that_are_no_text() -> None:
    for name in ("\u4e2d" * 85, "\udcff" * 255, "x" * 255):
        run("rewrite", "-o", name, stdin=b"new")
        assert Path(name).read_bytes() == b"new"


def write(name: str, writer: Writer | None = None) -> None:
    (writer or Writer()).write(Output(".", (name,), replaces=True), (b"n", b"ew"), None)


def test_what_came_into_the_place_of_an_output_stays() -> None:
    Path("link").symlink_to("target")
    Path("directory").mkdir()
    for name in ("link", "directory"):
        with pytest.raises(InputError, match=f"{name} is not a regular file: not replaced"):
            write(name)
    assert not Path("target").exists()


def test_what_this_run_has_written_is_not_replaced() -> None:
    writer = Writer()
    write("a", writer)
    os.link("a", "A")  # as a file system that takes them for one shows it
    with pytest.raises(InputError, match="another output of this run has this name here"):
        write("A", writer)
    write("A")


@pytest.mark.parametrize("call", ["fsync", "fchmod", "utime", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_goes_wrong_leaves_the_old_output(
    call: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("out", b"old")
    make("in", b"new")

    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(os, call, fail)
        result = run("rewrite", "in", "-o", "out")
    if isinstance(error, OSError):
        assert (result.exit_code, result.stderr) == (4, f"Error: ./out: {error.strerror}\n")
    assert Path("out").read_bytes() == b"old"


def test_the_names_of_a_run_are_brought_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("tree/a", "tree/d/b"):
        Path(name).parent.mkdir(exist_ok=True)
        make(name)
    settled: list[str] = []
    monkeypatch.setattr("relbase.cli.run.settle", settled.extend)
    assert run("rewrite", "tree", "-o", "out").exit_code == 0
    assert sorted(settled) == ["out", "out/d"]


@pytest.mark.parametrize(("number", "fails"), [(errno.EIO, True), (errno.EINVAL, False)])
def test_a_disk_that_fails_at_the_end(
    number: int, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    def fail(_descriptor: int) -> NoReturn:
        raise OSError(number, "the disk fails")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=r"\.: the disk fails") if fails else nullcontext():
        settle({"."})


URL = ("--url", "http://h/")


def test_a_pipe_with_a_name() -> None:
    os.mkfifo("fifo")
    page = b"<a href=x>" + b"x" * 100_000
    writer = threading.Thread(target=Path("fifo").write_bytes, args=(page,), daemon=True)
    writer.start()
    result = run("rewrite", "fifo", *URL)
    writer.join(timeout=10)
    assert result.stdout_bytes == page.replace(b"=x", b"=http://h/x")


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("nowhere", "No such file or directory"),
        ("/dev/null", "it is a device: give a file, or - for standard input"),
        ("file/x", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
    ],
)
@pytest.mark.parametrize("command", ["rewrite", "links"])
def test_what_is_no_input(command: str, name: str, reported: str) -> None:
    Path("file").touch()
    Path("loop").symlink_to("loop")
    result = run(command, name)
    assert (result.exit_code, result.stderr) == (3, f"{name}: error: {reported}\n")
