"""What the wheel holds beside the package: the manual page, and nothing that only the docs need."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest

from tools.manual import manual

ROOT: Final = Path(__file__).parents[1]
_BUILD: Final = "import sys, hatchling.build as build; print(build.build_wheel(sys.argv[1]))"


def test_the_wheel_brings_the_manual_page(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling: extra `docs`")
    built = subprocess.run(
        [sys.executable, "-c", _BUILD, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "RELBASE_PURE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    with ZipFile(tmp_path / built.stdout.splitlines()[-1]) as wheel:
        names = wheel.namelist()
        [page] = [name for name in names if name.endswith("/data/share/man/man1/relbase.1")]
        assert wheel.read(page).decode("utf-8") == manual()
    assert "relbase/notes.py" in names
    assert "relbase/notes.toml" not in names
