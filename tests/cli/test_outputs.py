"""Threats W7, W8 and P1: where outputs go, and what stands there afterwards."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

import click
import pytest

from relbase.cli import outputs
from relbase.cli.files import InputError
from relbase.cli.inputs import Input
from relbase.cli.outcome import OutputError
from relbase.cli.outputs import Output
from relbase.cli.writing import Writer, settle

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

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


def plan(names: Sequence[str], output: str) -> dict[str, str]:
    planned = outputs.plan([Input(name) for name in names], output)
    return {name: one.path for name, one in planned.items()}


def write(path: str, pieces: Iterable[bytes], like: os.stat_result | None = None) -> None:
    outputs.write(Writer(), at(path), pieces, like)


def at(path: str) -> Output:
    directory, name = os.path.split(path)
    return Output(directory, (name,), replaces=True)


# ---- where outputs go


def test_one_input_goes_to_a_file() -> None:
    assert plan([make("a")], "out") == {"a": "out"}
    assert plan(["-"], "out") == {"-": "out"}
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
    paths = plan(inputs, output)
    assert paths == {name: f"out/{Path(name).name}" for name in inputs}
    assert Path("out").is_dir()


def test_names_come_from_the_inputs_alone() -> None:
    Path("sub").mkdir()
    make("sub/..html")
    assert plan(["sub/../sub/..html"], "out/") == {"sub/../sub/..html": "out/..html"}


def test_a_directory_among_the_inputs_has_no_output() -> None:
    Path("sub").mkdir()
    assert plan(["sub", "..", "sub/", make("a")], "out") == {"a": "out/a"}


def test_clashes_are_refused_before_anything_is_made() -> None:
    for name in ("one", "two"):
        Path(name).mkdir()
        make(f"{name}/a")
    with pytest.raises(click.UsageError, match="'one/a' and 'two/a' would have one output"):
        plan(["one/a", "two/a"], "out")
    with pytest.raises(click.UsageError, match="would have one output"):
        plan(["one/a", "one/a"], "out")
    with pytest.raises(click.UsageError, match="standard input has no name"):
        plan(["-"], "out/")
    assert not Path("out").exists()


@pytest.mark.parametrize("way", ["same", "spelled", "hard", "soft", "directory"])
def test_an_output_that_is_an_input_is_refused(way: str) -> None:
    make("a", b"old")
    output = {"same": "a", "spelled": "./a", "hard": "b", "soft": "c", "directory": "."}[way]
    os.link("a", "b")
    Path("c").symlink_to("a")
    with pytest.raises(click.UsageError, match=r"is the input 'a': give -i"):
        plan(["a"], output)


def test_an_output_that_is_another_input_is_refused() -> None:
    Path("out").mkdir()
    os.link(make("a"), "out/b")
    with pytest.raises(click.UsageError, match=r"the output 'out/b' is the input 'a'"):
        plan(["a", make("b")], "out")


def test_what_is_no_regular_file_is_not_replaced() -> None:
    make("a")
    make("b")
    Path("link").symlink_to("elsewhere")
    Path("out").mkdir()
    Path("out/a").mkdir()
    for output, reported in [
        ("link", "is a symbolic link: leave -o out"),
        ("/dev/null", "is not a regular file"),
        ("out", "'out/a' is a directory"),
    ]:
        with pytest.raises(click.UsageError, match=reported):
            plan(["a"], output)
    with pytest.raises(click.UsageError, match="'b' is not a directory: several inputs need one"):
        plan(["a", "c"], "b")
    with pytest.raises(OutputError, match=r"b/x/: Not a directory"):
        plan(["a"], "b/x/")


# ---- writing


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o4755, 0o444])
def test_the_output_has_the_mode_and_the_time_of_the_input(mode: int) -> None:
    os.utime(make("a"), ns=(3 * SECOND, 5 * SECOND + 7))
    Path("a").chmod(mode)
    write("out", (b"n", b"ew"), Path("a").stat())
    status = Path("out").stat()
    assert Path("out").read_bytes() == b"new"
    assert (stat.S_IMODE(status.st_mode), status.st_mtime_ns) == (mode & 0o777, 5 * SECOND + 7)


def test_without_an_input_file_the_mode_is_that_of_new_files() -> None:
    before = os.umask(0o027)
    try:
        write("out", (b"n", b"ew"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path("out").stat().st_mode) == 0o640


def test_an_old_output_is_replaced_and_not_written_into() -> None:
    os.link(make("out", b"old"), "other")
    write("out", (b"n", b"ew"))
    assert (Path("out").read_bytes(), Path("other").read_bytes()) == (b"new", b"old")


def test_long_names_and_names_that_are_no_text() -> None:
    for name in ("\u4e2d" * 85, "\udcff" * 255, "x" * 255):
        write(name, (b"n", b"ew"))
        assert Path(name).read_bytes() == b"new"


def test_what_came_into_the_place_of_an_output_stays() -> None:
    Path("link").symlink_to("target")
    Path("directory").mkdir()
    for name in ("link", "directory"):
        with pytest.raises(InputError, match=f"{name} is not a regular file: not replaced"):
            write(name, (b"n", b"ew"))
    assert not Path("target").exists()


def test_what_this_run_has_written_is_not_replaced() -> None:
    writer = Writer()
    outputs.write(writer, at("a"), [b"1"], None)
    os.link("a", "A")  # as a file system that takes them for one shows it
    with pytest.raises(InputError, match="another output of this run has this name here"):
        outputs.write(writer, at("A"), [b"2"], None)
    write("A", [b"2"])


@pytest.mark.parametrize("call", ["fsync", "fchmod", "utime", "replace"])
def test_a_failure_leaves_the_old_output(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make("out", b"old")

    def fail(*_arguments: object, **_more: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(OutputError, match="out: No space left on device"):
        write("out", (b"n", b"ew"), Path("out").stat())
    assert Path("out").read_bytes() == b"old"


def test_an_interruption_leaves_the_old_output(monkeypatch: pytest.MonkeyPatch) -> None:
    make("out", b"old")

    def interrupt(*_arguments: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write("out", (b"n", b"ew"))
    assert Path("out").read_bytes() == b"old"


def test_a_directory_that_is_not_there() -> None:
    for is_only, error in ((True, OutputError), (False, InputError)):
        output = at("nowhere/out")._replace(is_only=is_only)
        with pytest.raises(error, match=r"nowhere/out: No such file or directory"):
            outputs.write(Writer(), output, (), None)


def test_the_names_of_a_run_are_brought_to_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("d").mkdir()
    settled = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: settled.append(os.fstat(descriptor).st_ino))
    settle({".", "d"})
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
