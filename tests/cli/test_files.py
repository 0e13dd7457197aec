"""Threat W8: which files are read, and what is reported of those that cannot be."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

import click
import pytest

from relbase.cli import files
from relbase.cli.files import InputError, OpenInput
from relbase.cli.inputs import Input
from relbase.cli.outcome import OutputError, Tally

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    with files.opened(Input(name)) as source:
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
    ("name", "reported"),
    [
        ("nowhere", "No such file or directory"),
        (".", "it is a directory: give it as an INPUT, or list the files in it"),
        ("/dev/null", "it is a device: give a file, or - for standard input"),
        ("file/x", "Not a directory"),
        ("loop", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
    ],
)
def test_what_is_no_input(name: str, reported: str) -> None:
    make("file")
    Path("loop").symlink_to("loop")
    with pytest.raises(InputError, match=reported.replace("*", r"\*")):
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

    def work(source: OpenInput) -> None:
        done.append(source.name)
        if source.name == "b":
            raise MemoryError
        if source.name == "c":
            raise RuntimeError("x\x1b")

    tally = Tally()
    names = ["a", "nowhere", make("b"), make("c"), make("d")]
    files.process([Input(name) for name in names], work, tally)
    assert (done, tally.failed) == (["b", "c", "d"], 4)
    reported = capsys.readouterr().err.splitlines()
    assert reported[:3] == [
        "a: error: No such file or directory",
        "nowhere: error: No such file or directory",
        "b: error: it is too large for the memory",
    ]
    assert reported[3].startswith(
        "c: error: a defect of relbase, please report it with the document:"
    )
    assert "RuntimeError: x\\x1b, in line " in reported[3]
    assert len(reported) == 4


@pytest.mark.parametrize(
    "error", [OutputError("x"), BrokenPipeError(), click.UsageError("x"), KeyboardInterrupt()]
)
def test_what_ends_a_run_is_passed_on(error: BaseException) -> None:
    def work(_source: OpenInput) -> NoReturn:
        raise error

    with pytest.raises(type(error)):
        files.process([Input(make("a"))], work, Tally())
