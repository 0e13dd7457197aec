"""What the wheel holds beside the package: the manual page, and nothing that only the docs need."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.manual import manual
from tools.wheels import PURE, make


def test_the_wheel_brings_the_manual_page(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="hatchling: extra `docs`")
    with ZipFile(make(PURE, tmp_path)) as wheel:
        names = wheel.namelist()
        [page] = [name for name in names if name.endswith("/data/share/man/man1/relbase.1")]
        assert wheel.read(page).decode("utf-8") == manual()
    assert "relbase/notes.py" in names
    assert "relbase/notes.toml" not in names
