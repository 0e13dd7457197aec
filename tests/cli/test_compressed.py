"""Compressed mail: streams in and out, the same coding, broken streams and bombs."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from running import done, meanwhile, program, run, told

from relbase.cli import compressed

if TYPE_CHECKING:
    from collections.abc import Callable


URL: Final = ("--url", "http://h/")
HEAD: Final = b"From a@b Mon Jan  1 00:00:00 2024\nContent-Type: text/html\n\n"
MESSAGE: Final = b"Content-Type: text/html\n\n<a href=x>\n"
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
@pytest.mark.parametrize("name", ["in.mbox", "2024-January.txt", "in.eml"])
def test_the_same_coding_comes_out(name: str, coding: str) -> None:
    data, done = BOX, DONE
    if name == "in.eml":
        data, done = MESSAGE, MESSAGE.replace(b"=x", b"=http://h/x")
    packed = put(f"{name}.{coding}", data)
    unfold = UNFOLD[coding]
    assert unfold(run("rewrite", f"{name}.{coding}", *URL).stdout_bytes) == done
    assert run("rewrite", f"{name}.{coding}", *URL, "-o", "out").exit_code == 0
    assert unfold(Path("out").read_bytes()) == done
    assert unfold(program("rewrite", *URL, input=packed).stdout) == done
    assert run("rewrite", f"{name}.{coding}", *URL, "-i").exit_code == 0
    assert unfold(Path(f"{name}.{coding}").read_bytes()) == done


@pytest.mark.parametrize("coding", FOLD)
def test_where_nothing_is_relative_the_own_bytes_come_out(coding: str) -> None:
    packed = put(f"in.mbox.{coding}", DONE) + FOLD[coding](DONE)
    Path(f"in.mbox.{coding}").write_bytes(packed)
    before = Path(f"in.mbox.{coding}").stat()
    assert run("rewrite", f"in.mbox.{coding}", *URL).stdout_bytes == packed
    assert program("rewrite", *URL, input=packed).stdout == packed
    assert run("rewrite", f"in.mbox.{coding}", *URL, "-i").exit_code == 0
    assert Path(f"in.mbox.{coding}").stat() == before


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


def test_what_was_written_before_it_broke_is_told() -> None:
    data = HEAD + b"<a href=x>\n" + b"%s\n\n" % os.urandom(1 << 18).hex().encode()
    Path("in.mbox.gz").write_bytes(gzip.compress(data * 4)[:-10_000])
    result = run("rewrite", "in.mbox.gz", *URL)
    size = len(result.stdout_bytes)
    assert (result.exit_code, size > 0) == (3, True)
    assert f"its gz data breaks off; {size} bytes of its output were written" in result.stderr


@pytest.mark.parametrize("coding", FOLD)
def test_a_bomb_is_refused(coding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "_LEAST", 1 << 20)
    put(f"in.mbox.{coding}", BOX + b"a" * (8 << 20))
    assert "unfolds to more than 100 times its size and 1 MiB: decompress it" in told(
        3, "rewrite", f"in.mbox.{coding}", *URL, "-o", "out"
    )


def test_other_commands_read_it_too() -> None:
    put("in.mbox.gz")
    line = "in.mbox.gz:9:9: message 2: a/@href: x -> http://h/x [rewritten]"
    assert line in run("links", "in.mbox.gz", *URL).stdout
    assert "in.mbox.gz: message 3: message/rfc822" in run("base", "in.mbox.gz", *URL).stdout
    found = "in.mbox.gz:9:9: relative link x in a/@href: http://h/x"
    assert found in run("rewrite", "in.mbox.gz", *URL, "--check").stdout
    assert "+<a href=http://h/y>" in run("rewrite", "in.mbox.gz", *URL, "--diff").stdout
    assert "http://h/y" in run("explain", "in.mbox.gz", *URL).stdout


@pytest.mark.parametrize("name", ["page.html.gz", "x.tar.gz", "notes.gz"])
def test_what_is_no_mail_stays_compressed(name: str) -> None:
    packed = put(name, b"<!DOCTYPE html><a href=x>")
    assert run("rewrite", name, *URL).stdout_bytes == packed


def test_a_message_that_a_server_compressed_says_its_own_size() -> None:
    for box in ("cur", "new", "tmp"):
        Path("Maildir", box).mkdir(parents=True)
    Path("Maildir/cur/1.host,S=38:2,SZ").write_bytes(zlib_of(MESSAGE))
    assert run("rewrite", "Maildir", *URL, "-i").exit_code == 0
    done = MESSAGE.replace(b"=x", b"=http://h/x")
    [path] = Path("Maildir/cur").iterdir()
    assert path.name == f"1.host,S={len(done)}:2,SZ"
    assert gzip.decompress(path.read_bytes()) == done


def zlib_of(data: bytes) -> bytes:
    writer = zlib.compressobj(9, zlib.DEFLATED, 31)
    return writer.compress(data) + writer.flush()


@pytest.mark.parametrize("name", ["out.mbox", "out.mbox.zst"])
def test_a_name_that_says_otherwise_is_refused(name: str) -> None:
    put("in.mbox.gz")
    told = run("rewrite", "in.mbox.gz", *URL, "-o", name)
    assert (told.exit_code, Path(name).exists()) == (3, False)
    assert "compressed as the input is: give -o FILE.gz, or decompress the input" in told.stderr


def test_a_zip_archive_of_messages_is_told() -> None:
    for name, is_told in (("mail/1.eml", True), ("page.html", False)):
        with zipfile.ZipFile("export.zip", "w") as file:
            file.writestr("mail/", b"")
            file.writestr(name, MESSAGE)
        result = done("rewrite", "export.zip", *URL, "-o", "out")
        assert ("a ZIP archive of messages: unpack it" in result.stderr) is is_told


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
