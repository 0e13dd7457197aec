"""Writes what a release consists of, for scanners: a CycloneDX list of relbase and what it needs.

    python -m tools.sbom -o FILE

Strategy: pip installs relbase's dependencies into a new environment, and cyclonedx-py (extra
`wheels`) describes that: each package with the version, the licence and the address that it has on
PyPI. relbase bundles nothing: its wheels hold its own files alone.

To mind: the versions are those that pip takes on that day, for this Python. Equal versions give
equal bytes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tools.commands import ROOT, ToolError, pip, told

_KEPT: Final = ("name", "description", "license")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.sbom", description="Write a CycloneDX list of what relbase needs."
    )
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE")
    given = parser.parse_args(arguments)
    try:
        given.output.write_text(bill(), "utf-8")
    except ToolError as problem:
        sys.exit(f"{problem}")


def bill() -> str:
    """Return the list, as JSON that keeps to the schema of CycloneDX 1.6.

    Raises:
        ToolError: if the dependencies cannot be installed, or cyclonedx-py is missing.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = project["dependencies"]
    with tempfile.TemporaryDirectory() as directory:
        described, environment = Path(directory, "pyproject.toml"), Path(directory, "environment")
        described.write_text(_root({name: project[name] for name in _KEPT}, needed), "utf-8")
        venv.create(environment, with_pip=False)
        python = str(environment / ("Scripts" if sys.platform == "win32" else "bin") / "python")
        told([*pip(), "--python", python, "install", "-q", *needed])
        command = (sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible")
        about = ("--pyproject", str(described), "--mc-type", "library", "--spec-version", "1.6")
        return told([*command, *about, "--validate", "--of", "JSON", "-o", "-", python])


def _root(known: dict[str, str], needed: Sequence[str]) -> str:
    """The project as cyclonedx-py reads it: with its version, which stands elsewhere."""
    version = told([sys.executable, "-c", "import relbase; print(relbase.__version__)"]).strip()
    values = {**known, "version": version}
    lines = [f"{name} = '{value}'" for name, value in sorted(values.items())]
    return "\n".join(["[project]", *lines, f"dependencies = {[*needed]}", ""])


if __name__ == "__main__":
    main()
