"""The wheels of tools/wheels.py, and what hatch_build.py makes of a binary."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from relbase import rewrite_text
from tools.commands import ROOT
from tools.wheels import build_hook


@pytest.fixture(name="builder", scope="module")
def _builder() -> ModuleType:
    pytest.importorskip("hatchling")
    return build_hook()


def test_a_binary_that_there_is_not_is_an_error(builder: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"no\.so, which is not a file"):
        builder.taken(tmp_path / "no.so", "win_amd64")


@pytest.mark.parametrize("name", ["", "any tag", "../x", "a-b"])
def test_a_binary_has_a_platform(builder: ModuleType, name: str) -> None:
    with pytest.raises(SystemExit, match="set RELBASE_PLATFORM to the platform"):
        builder.taken(Path(__file__), name)


@pytest.mark.parametrize(
    ("binary", "tag"),
    [
        (b"", 17),
        (b"\0GLIBC_2.2.5\0libc.so.6\0", 17),
        (b"\0GLIBC_2.34\0GLIBC_2.4\0libc.so.6\0libpthread.so.0\0", 34),
        (b"\0GLIBC_2.34\0libc.so.6\0libasan.so.8\0", None),
        (b"libc.musl-x86_64.so.1\0", None),
    ],
)
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="tags of another system")
def test_the_tag_of_what_is_built_here_keeps_to_the_binary(
    builder: ModuleType,
    tmp_path: Path,
    binary: bytes,
    tag: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(builder.sysconfig, "get_platform", lambda: "linux-x86_64")
    built = tmp_path / "_scanner.abi3.so"
    built.write_bytes(binary)
    expected = "linux_x86_64" if tag is None else f"manylinux_2_{tag}_x86_64"
    assert builder.platform_tag(built) == expected


def test_a_free_threaded_python_has_its_own_tag(
    builder: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert builder.interpreter_tag() == "cp311-abi3"
    monkeypatch.setattr(builder, "FREE_THREADED", True)
    monkeypatch.setattr(builder.sys, "version_info", (3, 14))
    assert builder.interpreter_tag() == "cp314-cp314t"


# What the build needs for the README, which it imports from the tree; and what it leaves loaded.
_README = """
import json, sys, tomllib
import tools.wheels
build = tools.wheels.build_hook()
urls = tomllib.load(open("pyproject.toml", "rb"))["project"]["urls"]
before, project = {*sys.modules}, {"urls": urls}
build.ReadmeHook(".", {}).update(project)
top = {name.partition(".")[0] for name in {*sys.modules} - before} - sys.stdlib_module_names
from relbase.scan import binding
print(json.dumps([project["readme"], sorted(top), binding.NAME]))
"""


def test_the_readme_is_that_of_the_hook_for_others() -> None:
    pytest.importorskip("hatchling")
    ran = subprocess.run(
        [sys.executable, "-c", _README], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    readme, loaded, scanner = json.loads(ran.stdout)
    home = "https://github.com/relbase-placeholder/relbase"
    url, images = (f"{home}/{kind}/HEAD/README.md" for kind in ("blob", "raw"))
    text = (ROOT / "README.md").read_text("utf-8")
    wanted = rewrite_text(text, url=url, images_url=images, kind="markdown")
    assert readme == {"content-type": "text/markdown", "text": wanted}
    assert f"]({home}/blob/HEAD/docs/rules.md)" in wanted
    assert scanner == "exact"  # Windows replaces no module that is loaded
    # Beside hatchling (with pluggy) and markdown-it-py (with mdurl):
    others = {"hatchling", "pluggy", "markdown_it", "mdurl"}
    assert {*loaded} - others == {"relbase", "webencodings"}


def test_the_build_requires_what_the_package_does() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    required = project["build-system"]["requires"]
    shared = {"click", "markdown-it-py", "webencodings"}
    dependencies = project["project"]["dependencies"]
    wanted = [each for each in dependencies if each.partition(">")[0] in shared]
    assert len(wanted) == len(shared)
    assert {*wanted} <= {*required}


# What differs between the platforms: how a binary is linked.
MADE = ("manylinux-x86_64", "manylinux-armv7l", "macos-arm64", "win-32")


def made(root: Path, output: Path) -> dict[str, bytes]:
    command = [sys.executable, "-m", "tools.wheels", *MADE, "-o", str(output)]
    subprocess.run(command, cwd=root, check=True)
    return {path.name: path.read_bytes() for path in output.iterdir()}


@pytest.mark.long
def test_wheels_of_two_directories_are_equal_and_as_their_names_say(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    copied = tmp_path / "copied"
    ignored = shutil.ignore_patterns(".*", "node_modules", "*.so", "__pycache__", "dist")
    shutil.copytree(ROOT, copied, ignore=ignored)
    first, second = made(ROOT, tmp_path / "first"), made(copied, tmp_path / "second")
    assert len(first) == len(MADE)
    assert first == second


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="other")
def test_a_wheel_is_installed_and_rewrites_with_its_compiled_scanner(tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    command = [sys.executable, "-m", "tools.wheels", "manylinux-x86_64", "--no-check"]
    subprocess.run([*command, "-o", str(tmp_path)], cwd=ROOT, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    ran = subprocess.run(
        [sys.executable, "-m", "relbase", "rewrite", "-", "--url", "http://a.example/b/"],
        input=b"<a href=c>",
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path / "site"),
            "RELBASE_SCANNER": "compiled",
        },
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert ran.stdout == b"<a href=http://a.example/b/c>"
