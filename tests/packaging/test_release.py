"""What a release consists of besides its wheels, and the workflows that make it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

import relbase
from tools.commands import ROOT
from tools.sbom import bill

WORKFLOWS: Final = sorted(ROOT.glob(".github/workflows/*.yml"))
ACTION: Final = ROOT / "action.yml"
HAS_WORKFLOWS: Final = pytest.mark.skipif(not WORKFLOWS, reason="an sdist has no workflows")


@pytest.mark.long
def test_the_list_of_what_is_needed_has_all_dependencies_with_their_licences() -> None:
    pytest.importorskip("cyclonedx_py", reason="cyclonedx-bom is not installed")
    listed = json.loads(bill())
    root = listed["metadata"]["component"]
    assert (root["name"], root["version"]) == ("relbase", relbase.__version__)
    assert root["licenses"][0]["license"]["id"] == "Apache-2.0"
    components = {component["bom-ref"]: component for component in listed["components"]}
    assert all(re.match("pkg:pypi/", one["purl"]) and one["version"] for one in components.values())
    assert all(one["licenses"] for one in components.values())
    direct = {edge["ref"]: edge.get("dependsOn", ()) for edge in listed["dependencies"]}
    names = {components[name]["name"] for name in direct[root["bom-ref"]]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert names == {re.split("[>=]", needed)[0] for needed in project["dependencies"]}


def ran(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    found = shutil.which(program, path=places) or pytest.skip(f"{program} is not installed")
    command = [found, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def checked(program: str, *arguments: str | Path) -> None:
    done = ran(program, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr


SCHEMA: Final = ("check-jsonschema", "--builtin-schema")
ZIZMOR: Final = ("zizmor", "--offline", "--no-progress")


@HAS_WORKFLOWS
def test_the_workflows_keep_to_the_schema_of_github() -> None:
    checked(*SCHEMA, "vendor.github-workflows", *WORKFLOWS)
    checked(*SCHEMA, "vendor.github-actions", ACTION)


@HAS_WORKFLOWS
def test_zizmor_finds_nothing_in_the_workflows() -> None:
    checked(*ZIZMOR, *WORKFLOWS, ACTION)


@HAS_WORKFLOWS
def test_actionlint_finds_nothing_in_the_workflows() -> None:
    checked("actionlint", *WORKFLOWS)


FLAWED: Final = """\
on: issues
jobs:
  greet:
    {runner}
    steps:
      - run: echo ${{{{ github.event.issue.title }}}}
"""


@pytest.mark.parametrize(
    ("checker", "runner"),
    [
        ((*SCHEMA, "vendor.github-workflows"), "name: without a runner"),
        (ZIZMOR, "runs-on: ubuntu-latest"),
        (("actionlint",), "runs-on: ubuntu-latest"),
    ],
)
def test_each_checker_finds_a_flaw(checker: tuple[str, ...], runner: str, tmp_path: Path) -> None:
    flawed = tmp_path / ".github" / "workflows" / "flawed.yml"
    flawed.parent.mkdir(parents=True)
    flawed.write_text(FLAWED.format(runner=runner), "utf-8")
    assert ran(*checker, flawed).returncode != 0
