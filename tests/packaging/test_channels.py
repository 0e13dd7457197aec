"""relbase as people get it: by uvx, pipx, a zipapp, pre-commit, and from the sdist.

Each of these installs relbase's dependencies, and needs its program and the network.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.commands import ROOT, pip
from tools.wheels import PURE, SDIST, make

PAGE = b"<a href=c>"
MADE = b"<a href=http://a.example/b/c>"
REWRITE = ("rewrite", "-", "--url", "http://a.example/b/")

pytestmark = pytest.mark.long


def run(
    *command: str | Path, page: bytes = b"", environment: dict[str, str] | None = None
) -> bytes:
    done = subprocess.run(
        [str(part) for part in command],
        input=page,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def needs(program: str) -> str:
    found = shutil.which(program)
    return found or pytest.skip(f"{program} is not installed")


@pytest.fixture(name="wheel", scope="module")
def _wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling")
    return make(PURE, tmp_path_factory.mktemp("wheel"))


def test_uvx_runs_the_wheel(wheel: Path) -> None:
    assert run(needs("uvx"), "--from", wheel, "relbase", *REWRITE, page=PAGE) == MADE


def test_pipx_installs_the_wheel(wheel: Path, tmp_path: Path) -> None:
    places = {"PIPX_HOME": str(tmp_path / "home"), "PIPX_BIN_DIR": str(tmp_path / "bin")}
    run(needs("pipx"), "install", "--quiet", wheel, environment=places)
    assert run(tmp_path / "bin" / "relbase", *REWRITE, page=PAGE) == MADE


def test_a_zipapp_by_shiv_rewrites(wheel: Path, tmp_path: Path) -> None:
    made, places = tmp_path / "relbase.pyz", {"SHIV_ROOT": str(tmp_path)}
    run(needs("shiv"), "-q", "-c", "relbase", "-o", made, wheel)
    assert run(sys.executable, made, *REWRITE, page=PAGE, environment=places) == MADE


def test_pre_commit_runs_the_hook_of_this_repository(tmp_path: Path) -> None:
    program, repository, used = needs("pre-commit"), tmp_path / "relbase", tmp_path / "site"
    ignored = shutil.ignore_patterns(".git", ".venv*", ".cache", "node_modules", "*.so")
    shutil.copytree(ROOT, repository, ignore=ignored)
    used.mkdir()
    for folder in (repository, used):
        run("git", "-C", folder, "init", "-q")
    (used / "page.html").write_bytes(PAGE)
    for folder in (repository, used):
        run("git", "-C", folder, "add", "-A")
    names = ("-c", "user.name=a", "-c", "user.email=a@h.example")
    run("git", "-C", repository, *names, "commit", "-q", "-m", "all")
    done = subprocess.run(
        [program, "try-repo", str(repository), "--all-files"],
        cwd=used,
        env={**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "home")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "page.html:1:9: " in done.stdout


def test_the_sdist_is_installed_without_a_compiler(tmp_path: Path) -> None:
    pytest.importorskip("hatchling")
    sdist = make(SDIST, tmp_path)
    site = tmp_path / "site"
    command = [*pip(), "install", "-q", "--no-deps", "--target", str(site), str(sdist)]
    run(*command, environment={"CC": "no-compiler"})
    told = run(
        *(sys.executable, "-P", "-c", "import relbase; print(relbase.scanner, relbase.__file__)"),
        environment={"PYTHONPATH": str(site)},
    )
    assert told.decode().split() == ["exact", str(site / "relbase" / "__init__.py")]
