"""Threats W7, W8 and P1: which files are read and written, and what stands there afterwards."""

from __future__ import annotations

import errno
import os
import stat
import threading
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

import click
import pytest

from relbase.cli import files
from relbase.cli.files import InputError, Source, Written, settle
from relbase.cli.outcome import OutputError, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator

SECOND: Final = 10**9


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Run in an empty directory; no temporary file may be left in it."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert not list(tmp_path.rglob("*relbase-tmp*"))


def make(name: str, data: bytes = b"") -> str:
    Path(name).write_bytes(data)
    return name


# ---- reading


class Read(NamedTuple):
    shown: str
    data: bytes
    status: os.stat_result | None


def read(name: str) -> Read:
    with files.opened(name) as source:
        assert source.name == name
        return Read(source.shown, b"".join(source.pieces), source.status)


def test_a_file() -> None:
    source = read(make("a b\udcff\n", b"\xff\r\n"))
    assert (source.shown, source.data) == ("a b\\udcff\\n", b"\xff\r\n")
    assert source.status is not None


def test_a_pipe_with_a_name() -> None:
    os.mkfifo("fifo")
    writer = threading.Thread(target=Path("fifo").write_bytes, args=(b"x" * 100_000,), daemon=True)
    writer.start()
    source = read("fifo")
    writer.join(timeout=10)
    assert (source.data, source.status) == (b"x" * 100_000, None)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nowhere", "No such file or directory"),
        (".", "it is a directory: give the files in it, as in directory/*.html"),
        ("/dev/null", "it is a device: give a file, or - for standard input"),
        ("file/x", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
    ],
)
def test_what_is_no_input(name: str, told: str) -> None:
    make("file")
    Path("loop").symlink_to("loop")
    with pytest.raises(InputError, match=told.replace("*", r"\*")):
        read(name)


def test_a_file_that_grows_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    make("a", b"1")
    real = os.fstat

    def growing(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        with Path("a").open("ab") as file:
            file.write(b"2")
        return status

    monkeypatch.setattr(os, "fstat", growing)
    with pytest.raises(InputError, match="it changed while it was read"):
        read("a")


def test_bad_inputs_are_counted_and_stop_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    done: list[str] = []

    def work(source: Source) -> None:
        done.append(source.name)
        if source.name == "b":
            raise MemoryError
        if source.name == "c":
            raise RuntimeError("x\x1b")

    tally = Tally()
    files.process(["a", "nowhere", make("b"), make("c"), make("d")], work, tally)
    assert (done, tally.failed) == (["b", "c", "d"], 4)
    told = capsys.readouterr().err.splitlines()
    assert told[:3] == [
        "a: error: No such file or directory",
        "nowhere: error: No such file or directory",
        "b: error: it is too large for the memory",
    ]
    assert told[3].startswith("c: error: a defect of relbase, please report it with the document:")
    assert "RuntimeError: x\\x1b, in line " in told[3]
    assert len(told) == 4


@pytest.mark.parametrize(
    "error", [OutputError("x"), BrokenPipeError(), click.UsageError("x"), KeyboardInterrupt()]
)
def test_what_ends_a_run_is_passed_on(error: BaseException) -> None:
    def work(_source: Source) -> NoReturn:
        raise error

    with pytest.raises(type(error)):
        files.process([make("a")], work, Tally())


# ---- where outputs go


def test_one_input_goes_to_a_file() -> None:
    assert files.plan([make("a")], "out") == {"a": "out"}
    assert files.plan(["-"], "out") == {"-": "out"}
    assert not Path("out").exists()


@pytest.mark.parametrize("inputs", [["sub/a"], ["sub/a", "b"]])
@pytest.mark.parametrize("there", [[], ["out"]])
def test_a_directory(inputs: list[str], there: list[str]) -> None:
    Path("sub").mkdir()
    for name in inputs:
        make(name)
    for directory in there:
        Path(directory).mkdir()
    output = "out/" if len(inputs) == 1 and not there else "out"
    paths = files.plan(inputs, output)
    assert paths == {name: f"out/{Path(name).name}" for name in inputs}
    assert Path("out").is_dir()


def test_names_come_from_the_inputs_alone() -> None:
    Path("sub").mkdir()
    make("sub/..html")
    assert files.plan(["sub/../sub/..html"], "out/") == {"sub/../sub/..html": "out/..html"}


def test_a_directory_among_the_inputs_has_no_output() -> None:
    Path("sub").mkdir()
    assert files.plan(["sub", "..", "sub/", make("a")], "out") == {"a": "out/a"}


def test_clashes_are_refused_before_anything_is_made() -> None:
    for name in ("one", "two"):
        Path(name).mkdir()
        make(f"{name}/a")
    with pytest.raises(click.UsageError, match="'one/a' and 'two/a' would have one output"):
        files.plan(["one/a", "two/a"], "out")
    with pytest.raises(click.UsageError, match="would have one output"):
        files.plan(["one/a", "one/a"], "out")
    with pytest.raises(click.UsageError, match="standard input has no name"):
        files.plan(["-"], "out/")
    assert not Path("out").exists()


@pytest.mark.parametrize("way", ["same", "spelled", "hard", "soft", "directory"])
def test_an_output_that_is_an_input_is_refused(way: str) -> None:
    make("a", b"old")
    output = {"same": "a", "spelled": "./a", "hard": "b", "soft": "c", "directory": "."}[way]
    os.link("a", "b")
    Path("c").symlink_to("a")
    with pytest.raises(click.UsageError, match=r"is the input 'a': give another name"):
        files.plan(["a"], output)


def test_an_output_that_is_another_input_is_refused() -> None:
    Path("out").mkdir()
    os.link(make("a"), "out/b")
    with pytest.raises(click.UsageError, match=r"the output 'out/b' is the input 'a'"):
        files.plan(["a", make("b")], "out")


def test_what_is_no_regular_file_is_not_replaced() -> None:
    make("a")
    make("b")
    Path("link").symlink_to("elsewhere")
    Path("out").mkdir()
    Path("out/a").mkdir()
    for output, told in [
        ("link", "is a symbolic link: leave -o out"),
        ("/dev/null", "is no regular file"),
        ("out", "'out/a' is a directory"),
    ]:
        with pytest.raises(click.UsageError, match=told):
            files.plan(["a"], output)
    with pytest.raises(click.UsageError, match="'b' is no directory: several inputs need one"):
        files.plan(["a", "c"], "b")
    with pytest.raises(OutputError, match=r"b/x/: Not a directory"):
        files.plan(["a"], "b/x/")


# ---- writing


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o4755, 0o444])
def test_the_output_has_the_mode_and_the_time_of_the_input(mode: int) -> None:
    os.utime(make("a"), ns=(3 * SECOND, 5 * SECOND + 7))
    Path("a").chmod(mode)
    Written().write("out", (b"n", b"ew"), Path("a").stat())
    status = Path("out").stat()
    assert Path("out").read_bytes() == b"new"
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (mode & 0o777, 5 * SECOND + 7)


def test_without_an_input_file_the_mode_is_that_of_new_files() -> None:
    before = os.umask(0o027)
    try:
        Written().write("out", (b"n", b"ew"), None)
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o640


def test_an_old_output_is_replaced_and_not_written_into() -> None:
    os.link(make("out", b"old"), "other")
    Written().write("out", (b"n", b"ew"), None)
    assert (Path("out").read_bytes(), Path("other").read_bytes()) == (b"new", b"old")


def test_long_names_and_names_that_are_no_text() -> None:
    for name in ("\u4e2d" * 85, "\udcff" * 255, "x" * 255):
        Written().write(name, (b"n", b"ew"), None)
        assert read(name).data == b"new"


def test_what_came_into_the_place_of_an_output_stays() -> None:
    Path("link").symlink_to("target")
    Path("directory").mkdir()
    for name in ("link", "directory"):
        with pytest.raises(OutputError, match=f"{name}: it is no regular file: not replaced"):
            Written().write(name, (b"n", b"ew"), None)
    assert not Path("target").exists()


def test_what_this_run_has_written_is_not_replaced() -> None:
    written = Written()
    written.write("a", [b"1"], None)
    os.link("a", "A")  # as a file system that does not tell them apart shows it
    with pytest.raises(OutputError, match="another output of this run has this name here"):
        written.write("A", [b"2"], None)
    Written().write("A", [b"2"], None)


@pytest.mark.parametrize("call", ["fsync", "fchmod", "utime", "replace"])
def test_a_failure_leaves_the_old_output(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make("out", b"old")

    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OutputError, match="out: No space left on device"):
        Written().write("out", (b"n", b"ew"), Path("out").stat())
    assert Path("out").read_bytes() == b"old"


def test_an_interruption_leaves_the_old_output(monkeypatch: pytest.MonkeyPatch) -> None:
    make("out", b"old")

    def interrupt(*_arguments: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Written().write("out", (b"n", b"ew"), None)
    assert Path("out").read_bytes() == b"old"


def test_a_directory_that_is_not_there() -> None:
    with pytest.raises(OutputError, match=r"nowhere/out: No such file or directory"):
        Written().write("nowhere/out", (), None)


def test_the_names_of_a_run_are_brought_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("d").mkdir()
    written = Written()
    for name in ("d/a", "d/b", "c"):
        written.write(name, [b"1"], None)
    assert written.directories == {".", "d"}
    settled = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: settled.append(os.fstat(descriptor).st_ino))
    settle(written.directories)
    assert settled == [Path().stat().st_ino, Path("d").stat().st_ino]


@pytest.mark.parametrize(("number", "fails"), [(errno.EIO, True), (errno.EINVAL, False)])
def test_a_disk_that_fails_at_the_end(
    number: int, monkeypatch: pytest.MonkeyPatch, *, fails: bool
) -> None:
    def fail(_descriptor: int) -> NoReturn:
        raise OSError(number, "the disk fails")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OutputError, match=r"\.: the disk fails") if fails else nullcontext():
        settle({"."})
