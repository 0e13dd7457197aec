"""The progress bar: on a terminal, for runs that a person waits for, and without a thread."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from relbase.cli import streams
from relbase.cli.files import Input
from relbase.cli.progress import progress


@pytest.mark.parametrize(
    ("count", "terminal", "wanted", "shown"),
    [
        (60, True, True, True),
        (60, False, True, False),
        (60, True, False, False),
        (3, True, True, False),
    ],
)
def test_when_there_is_a_bar(  # noqa: PLR0917 (a table)
    count: int,
    terminal: bool,  # noqa: FBT001
    wanted: bool,  # noqa: FBT001
    shown: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(streams, "is_terminal", lambda: terminal)
    monkeypatch.setenv("TERM", "xterm")
    path = Path("a")
    path.write_bytes(b"x" * 1000)
    inputs = [Input(str(path))] * count
    threads = threading.active_count()
    with progress(inputs, wanted=wanted) as bar:
        for _ in inputs:
            bar.read(1000)
            bar.done()
        assert threading.active_count() == threads
    assert (f"{count}/{count} files" in capsys.readouterr().err) is shown
