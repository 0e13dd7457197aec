"""Progress: on a terminal alone, over the line before."""

from __future__ import annotations

import pytest

from relbase.cli import streams
from relbase.cli.archive_progress import Progress


@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_to_people(
    is_terminal: bool,  # noqa: FBT001
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(streams, "is_terminal", lambda: is_terminal)
    times = iter(range(100))
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    progress = Progress("x.warc.gz")
    progress.pages = 1234
    assert list(progress.counted([b"a" * 10**6] * 3)) == [b"a" * 10**6] * 3
    progress.clear()
    shown = capsys.readouterr().err
    assert ("x.warc.gz: 1,234 pages, 3.0 MB read" in shown) is is_terminal
    assert bool(shown) is is_terminal
