"""Threat W8: which files are read, and what is reported of those that cannot be."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from running import run

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
