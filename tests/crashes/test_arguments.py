"""The commands that take minutes say what they are, and refuse what they cannot read, at once."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

TESTS: Final = Path(__file__).parent.parent
COMMANDS: Final = (
    "crashes/many_files.py",
    "crashes/kill_runs.py",
    "savers/save_site.py",
    "slopes.py",
)


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_help_and_what_cannot_be_read(name: str) -> None:
    for argument, status, said in (("--help", 0, "usage: "), ("x", 2, "error: ")):
        command = [sys.executable, str(TESTS / name), argument]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (ran.returncode, said in ran.stdout + ran.stderr) == (status, True)
