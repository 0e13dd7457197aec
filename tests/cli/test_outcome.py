"""The exit statuses."""

from __future__ import annotations

import pytest

from relbase.cli.outcome import ExitStatus, OutputError, Tally


def test_the_statuses() -> None:
    assert {status.name: status.value for status in ExitStatus} == {
        "DONE": 0,
        "FOUND": 1,
        "USAGE": 2,
        "FAILED": 3,
        "IO": 4,
        "UNSAFE": 5,
        "INTERRUPTED": 130,
        "PIPE_CLOSED": 141,
    }
    assert OutputError("x").exit_code == 4


@pytest.mark.parametrize(
    ("tally", "status", "strict"),
    [
        (Tally(), 0, 0),
        (Tally(warnings=1), 0, 1),
        (Tally(found=1), 1, 1),
        (Tally(failed=1), 3, 3),
        (Tally(failed=1, warnings=1, found=1), 3, 3),
        (Tally(failed=1, unsafe=1), 5, 5),
    ],
)
def test_what_a_run_ends_with(tally: Tally, status: int, strict: int) -> None:
    assert tally.status(strict=False) == status
    assert tally.status(strict=True) == strict
