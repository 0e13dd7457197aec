"""Type checkers see right and wrong calls as they are: mypy and pyright over `calls.py`."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from extras import needed

CALLS: Final = Path(__file__).with_name("calls.py")
pytestmark = pytest.mark.long
ROOT: Final = Path(__file__).parents[2]
WRONG: Final = {
    number
    for number, line in enumerate(CALLS.read_text("utf-8").splitlines(), 1)
    if line.endswith("# wrong")
}


def test_mypy() -> None:
    needed("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(CALLS)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = re.findall(r"calls\.py:(\d+): error", ran.stdout)
    assert {int(number) for number in found} == WRONG, ran.stdout + ran.stderr
    assert len(WRONG) > 30


def test_pyright() -> None:
    beside = str(Path(sys.executable).parent)
    pyright = shutil.which("pyright", path=beside) or shutil.which("pyright")
    if pyright is None:
        pytest.skip("pyright: extra `ci`")
    command = [pyright, "--outputjson", "--pythonpath", sys.executable, str(CALLS)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not ran.stdout.lstrip().startswith("{"):
        pytest.skip(f"pyright does not run here: {ran.stderr[-200:]}")
    found = json.loads(ran.stdout)["generalDiagnostics"]
    errors = {
        one["range"]["start"]["line"] + 1: one["message"]
        for one in found
        if one["severity"] == "error"
    }
    assert errors.keys() == WRONG, {line: errors.get(line) for line in errors.keys() ^ WRONG}
