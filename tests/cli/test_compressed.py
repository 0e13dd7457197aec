"""Compressed mail: streams in and out, the same coding, broken streams and bombs."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from running import meanwhile, run, told

from relbase.cli import compressed

if TYPE_CHECKING:
    from collections.abc import Callable


URL: Final = ("--url", "http://h/")
HEAD: Final = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
BOX: Final = HEAD + b"<p>\n\n" + HEAD + b"<a href=x>\n\n" + HEAD + b"<a href=y>\n"
DONE: Final = BOX.replace(b"=x", b"=http://h/x").replace(b"=y", b"=http://h/y")

FOLD: Final[dict[str, Callable[[bytes], bytes]]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
}
UNFOLD: Final = {"gz": gzip.decompress, "bz2": bz2.decompress, "xz": lzma.decompress}


def put(name: str, data: bytes = BOX) -> bytes:
    packed = FOLD[name.rpartition(".")[2]](data)
    Path(name).write_bytes(packed)
    return packed


@pytest.mark.parametrize("coding", FOLD)
def test_several_members_are_read(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relbase.cli.files.PIECE", 50)
    packed = b"".join(FOLD[coding](BOX[at : at + 40]) for at in range(0, len(BOX), 40))
    Path(f"in.mbox.{coding}").write_bytes(packed + b"\0" * 8)
    output = run("rewrite", f"in.mbox.{coding}", "--kind", "mbox", *URL).stdout_bytes
    assert UNFOLD[coding](output) == DONE


@pytest.mark.parametrize("coding", FOLD)
def test_a_broken_stream_is_not_written(coding: str) -> None:
    whole = put(f"in.mbox.{coding}")
    name = f"in.mbox.{coding}"
    cuts = (12, len(whole) // 2, len(whole) - 1)
    for broken in (*(whole[:cut] for cut in cuts), whole[:-20] + bytes(20), whole + b"rubbish"):
        Path(name).write_bytes(broken)
        for arguments in ([], ["-o", "out"], ["-i"]):
            result = run("rewrite", name, *URL, *arguments)
            assert result.exit_code == 3, (broken, arguments)
            assert f"{name}: error: " in result.stderr
            assert f" {coding} data" in result.stderr
        assert {path.name for path in Path().iterdir()} == {name}
        assert Path(name).read_bytes() == broken


@pytest.mark.parametrize("coding", FOLD)
def test_a_bomb_is_refused(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "_LEAST", 1 << 20)
    put(f"in.mbox.{coding}", BOX + b"a" * (8 << 20))
    assert "unfolds to more than 100 times its size and 1 MiB: decompress it" in told(
        3, "rewrite", f"in.mbox.{coding}", *URL, "-o", "out"
    )


def test_a_file_that_was_swapped_is_not_read_once_more(monkeypatch: pytest.MonkeyPatch) -> None:
    put("in.mbox.gz")
    put("other.mbox.gz")

    def swapping(_: bytes) -> None:
        if Path("other.mbox.gz").exists():
            Path("other.mbox.gz").replace("in.mbox.gz")

    meanwhile(monkeypatch, swapping)
    result = run("rewrite", "in.mbox.gz", *URL, "-o", "out")
    assert (result.exit_code, Path("out").exists()) == (3, False)
    assert "it is not the file any more that it was" in result.stderr
