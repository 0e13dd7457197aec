"""What is said of a run: lines of a diff in colour on a terminal, and numbers in words."""

from __future__ import annotations

import pytest

from relbase.cli.run import _coloured


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("--- a", "\x1b[1m--- a\x1b[m"),
        ("+++ a", "\x1b[1m+++ a\x1b[m"),
        ("@@ -1 +1 @@", "\x1b[36m@@ -1 +1 @@\x1b[m"),
        ("-x", "\x1b[31m-x\x1b[m"),
        ("+x", "\x1b[32m+x\x1b[m"),
        (" x", " x"),
        ("", ""),
    ],
)
def test_lines_of_a_diff(line: str, shown: str) -> None:
    assert _coloured(line) == shown
