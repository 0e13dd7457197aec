"""A signal at any system call of a run that writes leaves nothing: a part of signals.py."""

from pathlib import Path

import kill_runs
import pytest
from power_cuts import has_strace
from signals import trials


@pytest.mark.long
@pytest.mark.skipif(not has_strace(), reason="strace records no run here")
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("way", ["in place", "backup", "Maildir", "mbox"])
def test_nothing_is_left_whenever_a_signal_comes(
    way: str, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kill_runs, "FILES", 4)
    counts = trials(way, tmp_path / "t", every=37, jobs=jobs)
    assert counts.pop("runs") >= counts.pop("ended") > 0
    assert not counts
